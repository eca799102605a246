//! Named sets, and the sets of earlier versions whose keys are still read.
//!
//! When the numbers of a set change, its name goes to the new numbers. The old ones stay for one minor version as a [`Retired`]
//! set, under the old name with the year and a letter (`bool-128-2026a`). Its fingerprint is the one that old secret keys,
//! ciphertexts and evaluation keys carry, so the set is found by it, and they still decrypt and compute. New keys are made for
//! a set given by name, and names find current sets only: the name of a retired set gives an error that says which set to take.

use alloc::{format, vec::Vec};
use core::fmt;

use super::{MethodInfo, ParamSet, Promise, SetInfo};
use crate::{
    error::{Error, hex},
    schemes::set_names::set_name,
    security::SecurityPolicy,
};

/// The public numbers of a method's sets, and where its named ones are listed.
pub trait SetSpec: Sized + 'static {
    /// The method.
    const METHOD: MethodInfo;
    /// What its sets are called in messages, such as "DM/CGGI set".
    const WHAT: &'static str;
    /// The part of a promise that the table of sets states; [`Self::promise`] completes it.
    type Promised: Copy + 'static;

    /// The named sets.
    fn catalogue() -> &'static Catalogue<Self>;

    /// What a set with these numbers promises.
    fn promise(&self, stated: &Self::Promised) -> Promise;

    /// 16 bytes that identify the numbers.
    fn fingerprint(&self) -> [u8; 16];
}

/// A named set: its numbers, where they come from, and what they promise.
pub struct Preset<S: SetSpec> {
    /// Name, as users write it.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Security policy the set is validated against.
    pub policy: SecurityPolicy,
    /// What one bootstrap promises: see the type of the method's presets.
    pub promised: S::Promised,
    /// Where the numbers come from.
    pub source: &'static str,
    /// The numbers.
    pub spec: fn() -> S,
}

/// A set of an earlier version: its keys are read and used, and no new ones made.
pub struct Retired<S: SetSpec> {
    /// The set under its present name: the old one with the year and a letter.
    pub preset: Preset<S>,
    /// The set to take now, which has the name that this one had.
    pub now: &'static str,
}

/// The named sets of a method.
pub struct Catalogue<S: SetSpec> {
    /// Current sets, for which keys are made: the default first, insecure ones last.
    pub current: &'static [Preset<S>],
    /// Sets of earlier versions.
    pub retired: &'static [Retired<S>],
}

impl<S: SetSpec> fmt::Debug for Preset<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Preset").field(&self.name).finish()
    }
}

impl<S: SetSpec> Preset<S> {
    /// Every current set, the default first, insecure ones last.
    pub fn all() -> &'static [Self] {
        S::catalogue().current
    }

    /// Sets of earlier versions: their keys are read, and no new ones made.
    pub fn retired() -> &'static [Retired<S>] {
        S::catalogue().retired
    }

    /// Every set whose keys are read: current sets, then those of earlier versions.
    pub fn readable() -> impl Iterator<Item = &'static Self> {
        S::catalogue().readable()
    }

    /// The current set called `name`, to make keys for.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] listing the names there are, or naming the set to take instead of a retired one.
    pub fn named(name: &str) -> Result<&'static Self, Error> {
        S::catalogue().named(name)
    }

    /// The set called `name`, current or of an earlier version.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] listing the names there are.
    pub fn readable_named(name: &str) -> Result<&'static Self, Error> {
        Self::readable().find(|preset| preset.name == name).map_or_else(|| Self::named(name), Ok)
    }

    /// The set that keys or ciphertexts belong to, current or of an earlier version.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if no set has the fingerprint.
    pub fn by_fingerprint(fingerprint: &[u8; 16]) -> Result<&'static Self, Error> {
        S::catalogue().by_fingerprint(fingerprint)
    }

    /// Whether the set claims security at all.
    pub fn secure(&self) -> bool {
        self.policy != SecurityPolicy::InsecureForTests
    }

    /// The set to make new keys for instead of this one; `None` for a current set.
    pub fn successor(&self) -> Option<&'static str> {
        Self::retired().iter().find(|old| old.preset.name == self.name).map(|old| old.now)
    }

    /// 16 bytes that identify the numbers.
    pub fn fingerprint(&self) -> [u8; 16] {
        (self.spec)().fingerprint()
    }

    /// What one bootstrap promises.
    pub fn promise(&self) -> Promise {
        (self.spec)().promise(&self.promised)
    }

    /// The validated parameters, over the word of `P`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a prime does not fit the word.
    pub fn checked<P: ParamSet<Spec = S>>(&self) -> Result<P, Error> {
        P::checked(&(self.spec)())
    }

    /// The description of the set, whose checked parameters are `params`, with all its facts.
    pub fn describe<P: ParamSet<Spec = S>>(&self, params: &P) -> SetInfo {
        SetInfo { facts: params.facts(self), ..params.info(self) }
    }
}

impl<S: SetSpec> Catalogue<S> {
    /// The current set called `name`, to make keys for.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] listing the names there are, or naming the set to take instead of a retired one.
    pub fn named(&self, name: &str) -> Result<&'static Preset<S>, Error> {
        if let Some(preset) = self.current.iter().find(|preset| preset.name == name) {
            return Ok(preset);
        }
        let what = S::WHAT;
        if let Some(Retired { now, .. }) = self.retired.iter().find(|old| old.preset.name == name) {
            return Err(Error::InvalidArgument(format!(
                "{name} is the {now} of an earlier version: its keys and ciphertexts are read, and no new keys made of it; \
                 take {now}"
            )));
        }
        let names: Vec<&str> = self.current.iter().map(|preset| preset.name).collect();
        Err(Error::InvalidArgument(format!("no {what} is called {name:?}; there are {}", names.join(", "))))
    }

    /// The set that keys or ciphertexts belong to, retired or not.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if no set has the fingerprint.
    pub fn by_fingerprint(&self, fingerprint: &[u8; 16]) -> Result<&'static Preset<S>, Error> {
        self.readable().find(|preset| preset.fingerprint() == *fingerprint).ok_or_else(|| {
            let (name, number) = (set_name(fingerprint), hex(fingerprint));
            Error::ParamsMismatch(if name == number {
                format!(
                    "no {} of this version has fingerprint {number}; use the version that made it",
                    S::WHAT
                )
            } else {
                format!("a {} was expected, and {name} is none; take what belongs to one", S::WHAT)
            })
        })
    }

    /// Every set whose keys are read.
    pub fn readable(&self) -> impl Iterator<Item = &'static Preset<S>> + use<S> {
        self.current.iter().chain(self.retired.iter().map(|old| &old.preset))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::bootstrapping::method::Messages;

    struct Spec(u8);

    const fn set(name: &'static str, spec: fn() -> Spec) -> Preset<Spec> {
        Preset {
            name,
            title: "a set",
            policy: SecurityPolicy::InsecureForTests,
            promised: 8.0,
            source: "none",
            spec,
        }
    }

    static SETS: Catalogue<Spec> = Catalogue {
        current: &[set("main", || Spec(2)), set("other", || Spec(3))],
        retired: &[Retired { preset: set("main-2026a", || Spec(1)), now: "main" }],
    };

    impl SetSpec for Spec {
        const METHOD: MethodInfo = MethodInfo { id: "test", title: "Test", source: "none" };
        const WHAT: &'static str = "test set";
        type Promised = f64;

        fn catalogue() -> &'static Catalogue<Self> {
            &SETS
        }

        fn promise(&self, &worst: &f64) -> Promise {
            Promise::Precision { worst, mean: None, messages: Messages::Any }
        }

        fn fingerprint(&self) -> [u8; 16] {
            [self.0; 16]
        }
    }

    type TestPreset = Preset<Spec>;

    #[test]
    fn old_sets_are_read_and_not_chosen() {
        assert_eq!(TestPreset::named("main").map(Preset::fingerprint).unwrap(), [2; 16]);
        assert_eq!(TestPreset::by_fingerprint(&[1; 16]).unwrap().name, "main-2026a");
        assert_eq!(TestPreset::by_fingerprint(&[3; 16]).unwrap().name, "other");
        let old = TestPreset::readable_named("main-2026a").unwrap();
        assert_eq!((old.successor(), TestPreset::all()[0].successor()), (Some("main"), None));
        assert_eq!((TestPreset::readable().count(), TestPreset::retired().len()), (3, 1));
        let refused = |name: &str| TestPreset::named(name).err().unwrap().to_string();
        assert!(refused("main-2026a").ends_with("take main"), "{}", refused("main-2026a"));
        let unknown = refused("man");
        assert!(unknown.contains("test set") && unknown.ends_with("there are main, other"), "{unknown}");
        assert_eq!(TestPreset::readable_named("man").err().unwrap().to_string(), unknown);
        let error = TestPreset::by_fingerprint(&[9; 16]).err().unwrap();
        assert!(error.code() == "PARAMS_MISMATCH" && error.to_string().contains("0909"), "{error}");
    }
}
