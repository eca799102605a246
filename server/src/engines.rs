//! The parameter sets that are served, of whichever methods.

use refloat::Error;

use crate::engine::{JobSet, SetInfo};
use crate::registry::{Memory, Registry, Wanted};

/// Sets, in the order to show them.
pub struct Engines(Vec<Box<dyn JobSet>>);

impl Engines {
    /// Every set of this version. Loaded keys, with what is precomputed for them, are to take at most `budget` bytes: a set that
    /// could take less memory for more time does so where it must.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn new(budget: u64) -> Result<Self, Error> {
        Self::with(&Registry::default(), Wanted { only: None, memory: Memory::Keys(budget) })
    }

    /// Those of the methods of a registry that are wanted.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn with(registry: &Registry, wanted: Wanted<'_>) -> Result<Self, Error> {
        registry.sets(wanted).map(Self)
    }

    /// Any sets.
    pub fn of(sets: Vec<Box<dyn JobSet>>) -> Self {
        Self(sets)
    }

    /// What there is to know of each.
    pub fn infos(&self) -> impl Iterator<Item = &SetInfo> {
        self.0.iter().map(|set| set.info())
    }

    /// The set of a name.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is none.
    pub fn named(&self, name: &str) -> Result<&dyn JobSet, Error> {
        self.find(|set| set.name == name)
            .ok_or_else(|| Error::InvalidArgument(format!("there is no parameter set {name:?}")))
    }

    /// The set with a fingerprint, whatever its name was when keys were made of it.
    pub fn by_fingerprint(&self, fingerprint: &str) -> Option<&dyn JobSet> {
        self.find(|set| set.fingerprint == fingerprint)
    }

    fn find(&self, is: impl Fn(&SetInfo) -> bool) -> Option<&dyn JobSet> {
        self.0.iter().map(AsRef::as_ref).find(|set| is(set.info()))
    }
}
