//! The registry of bootstrapping methods, one line each.

use refloat::Error;
use refloat::bootstrapping::method::{MethodInfo, Preset, SetSpec};

use crate::clients::{KeyOwnerSet, SetQuery};
use crate::engine::{JobSet, SetInfo};
use crate::{bgv, conventional, gates, memory, msb, scheme_switching, ship};

/// Which sets are to be made, and for how much memory.
#[derive(Debug, Clone, Copy)]
pub struct SetFilter<'a> {
    /// The set of this name alone.
    pub only: Option<&'a str>,
    /// The memory for them: a set that could take less memory for more time does so where it must.
    pub memory: Memory,
}

/// A bound on memory, in bytes. [`Registry::sets`] refuses a set that needs more than [`Total`](Self::Total) all the same.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    /// For loaded keys, with what is precomputed for them.
    Keys(u64),
    /// For everything, runs included, if there is a bound.
    Total(Option<u64>),
}

impl Memory {
    /// Bytes for loaded keys, with what is precomputed for them, beside a run that takes `working` bytes.
    pub fn for_keys(self, working: u64) -> u64 {
        match self {
            Self::Keys(bytes) => bytes,
            Self::Total(None) => u64::MAX,
            Self::Total(Some(total)) => total.saturating_sub(working),
        }
    }
}

impl SetFilter<'_> {
    /// All sets, in as much memory as they take.
    pub fn all() -> Self {
        Self { only: None, memory: Memory::Keys(u64::MAX) }
    }

    /// The wanted presets of a method, of this version and of earlier ones.
    pub fn presets<S: SetSpec>(self) -> impl Iterator<Item = &'static Preset<S>> {
        Preset::<S>::readable().filter(move |preset| self.only.is_none_or(|name| name == preset.name))
    }
}

/// Sets that were checked, in the order to show them.
pub type Sets = Vec<Box<dyn JobSet>>;

/// A method with named sets.
#[derive(Debug, Clone, Copy)]
pub struct Registered {
    /// The description of the method.
    pub method: MethodInfo,
    /// Checks the sets that are wanted.
    pub sets: fn(SetFilter<'_>) -> Result<Sets, Error>,
    /// Finds a set of the method, for the owner of keys.
    pub client: fn(SetQuery<'_>) -> Result<Option<KeyOwnerSet>, Error>,
}

/// Methods, in the order to show them.
#[derive(Debug, Clone)]
pub struct Registry(Vec<Registered>);

impl Default for Registry {
    /// Every method of this version.
    fn default() -> Self {
        Self(vec![
            ship::METHOD,
            conventional::METHOD,
            msb::METHOD,
            scheme_switching::METHOD,
            bgv::METHOD,
            gates::METHOD,
        ])
    }
}

impl Registry {
    /// No method.
    pub fn empty() -> Self {
        Self(Vec::new())
    }

    /// Adds a method.
    #[must_use]
    pub fn with(mut self, method: Registered) -> Self {
        self.0.push(method);
        self
    }

    /// The methods.
    pub fn methods(&self) -> impl Iterator<Item = &MethodInfo> {
        self.0.iter().map(|registered| &registered.method)
    }

    /// The sets that are wanted.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a set that says it is of another method, or whose name or fingerprint another set has:
    /// keys find their set by either. [`Error::Limit`] for a set that takes more than [`Memory::Total`] with its keys and a run.
    /// Without that bound none for the sets of a released version; they are checked all the same.
    pub fn sets(&self, wanted: SetFilter<'_>) -> Result<Sets, Error> {
        let mut all = Sets::new();
        for registered in &self.0 {
            for set in (registered.sets)(wanted)? {
                check(set.info(), registered.method.id, &all)?;
                fits(set.as_ref(), wanted.memory)?;
                all.push(set);
            }
        }
        Ok(all)
    }

    /// Finds a set, for the owner of keys; `None` if there is none.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn client(&self, which: SetQuery<'_>) -> Result<Option<KeyOwnerSet>, Error> {
        self.0.iter().find_map(|registered| (registered.client)(which).transpose()).transpose()
    }
}

/// Refuses a set whose keys and one run take more than there is for everything.
fn fits(set: &dyn JobSet, memory: Memory) -> Result<(), Error> {
    let needed = set.info().expanded_key_bytes.saturating_add(set.working_bytes());
    match memory {
        Memory::Total(Some(available)) if available < needed => {
            Err(memory::too_little(&set.info().name, needed, available))
        }
        _ => Ok(()),
    }
}

/// Checks the description of a set of method `id` against those before it.
fn check(info: &SetInfo, id: &str, before: &Sets) -> Result<(), Error> {
    let refused =
        |why: String| Err(Error::InvalidArgument(format!("set {}, registered as {id}, {why}", info.name)));
    if info.method != id {
        return refused(format!("says that it is of {}; register it there", info.method));
    }
    for other in before.iter().map(|set| set.info()) {
        let (theirs, name) = (&other.method, &other.name);
        if *name == info.name {
            return refused(format!("has the name of a set of {theirs}; give it a name of its own"));
        }
        if other.fingerprint == info.fingerprint {
            return refused(format!(
                "has the numbers of {name} of {theirs}: keys of one would be taken for those of the other"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Methods of the core whose sets no job can use, and why.
    const NOT_SERVED: [(&str, &str); 0] = [];

    /// Identifiers of the methods that the core has, as its sources say.
    fn methods_of_the_core() -> BTreeSet<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/bootstrapping");
        let mut found = BTreeSet::new();
        for folder in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
            let files = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
            for text in files.filter_map(|path| std::fs::read_to_string(path).ok()) {
                let Some((_, rest)) = text.split_once("pub const METHOD: MethodInfo") else { continue };
                let id = rest.split_once("id: \"").unwrap().1.split('"').next().unwrap();
                found.insert(id.to_owned());
            }
        }
        found
    }

    #[test]
    fn every_method_of_the_core_is_served_or_said_not_to_be() {
        let registry = Registry::default();
        let served = registry.methods().map(|method| method.id.to_owned());
        let not = NOT_SERVED.iter().map(|(id, why)| {
            assert!(!why.is_empty());
            (*id).to_owned()
        });
        let listed: Vec<String> = served.chain(not).collect();
        assert_eq!(listed.len(), listed.iter().collect::<BTreeSet<_>>().len(), "served, and said not to be");
        assert_eq!(methods_of_the_core(), listed.into_iter().collect());
    }

    #[test]
    fn a_set_that_needs_more_memory_than_there_is_is_refused_whatever_its_method() {
        for name in ["ship14", "ship13", "n16", "bgv15", "bool-128"] {
            let sets = |memory| Registry::default().sets(SetFilter { only: Some(name), memory });
            let least = sets(Memory::Keys(0)).unwrap().remove(0);
            let needed = least.info().expanded_key_bytes + least.working_bytes();
            let error = sets(Memory::Total(Some(needed - 1))).err().unwrap();
            assert_eq!(error.code(), "LIMIT", "{name}");
            assert!(error.to_string().contains(name), "{error}");
            assert_eq!(sets(Memory::Total(Some(needed))).unwrap().len(), 1, "{name}");
            assert_eq!(sets(Memory::Total(None)).unwrap().len(), 1, "{name}");
        }
    }

    #[test]
    fn sets_that_could_be_taken_for_each_other_are_refused() {
        let wanted = SetFilter { only: Some("toy10"), memory: Memory::Total(None) };
        let twice = Registry::default().with(ship::METHOD);
        let error = twice.sets(wanted).err().unwrap().to_string();
        assert!(error.contains("toy10") && error.contains("name"), "{error}");
        let foreign = Registered { method: gates::METHOD.method, ..ship::METHOD };
        let error = Registry(vec![foreign]).sets(wanted).err().unwrap().to_string();
        assert!(error.contains("toy10") && error.contains(ship::METHOD.method.id), "{error}");
        let info = Registry::default().sets(wanted).unwrap()[0].info().clone();
        let renamed = SetInfo { name: "another".into(), ..info };
        let error = check(&renamed, ship::METHOD.method.id, &Registry::default().sets(wanted).unwrap());
        assert!(error.unwrap_err().to_string().contains("numbers of toy10"));
    }
}
