//! The methods there are: one line each.

use refloat::Error;
use refloat::bootstrapping::method::{MethodInfo, Preset, SetSpec};

use crate::clients::{Client, Which};
use crate::engine::{JobSet, SetInfo};
use crate::{conventional, gates, ship};

/// Which sets are to be made, and for how much memory.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The set of this name alone.
    pub only: Option<&'a str>,
    /// What there is for them: a set that could take less memory for more time does so where it must.
    pub memory: Memory,
}

/// A bound on memory, in bytes.
#[derive(Debug, Clone, Copy)]
pub enum Memory {
    /// For loaded keys, with what is precomputed for them.
    Keys(u64),
    /// For everything, runs included, if there is a bound; a set that needs more is refused.
    Total(Option<u64>),
}

impl Wanted<'_> {
    /// Those of a method that are wanted, of today and of earlier versions.
    pub fn presets<S: SetSpec>(self) -> impl Iterator<Item = &'static Preset<S>> {
        Preset::<S>::readable().filter(move |preset| self.only.is_none_or(|name| name == preset.name))
    }
}

/// Sets that were checked, in the order to show them.
pub type Sets = Vec<Box<dyn JobSet>>;

/// A method with named sets.
#[derive(Debug, Clone, Copy)]
pub struct Registered {
    /// What it is.
    pub method: MethodInfo,
    /// Checks the sets that are wanted.
    pub sets: fn(Wanted<'_>) -> Result<Sets, Error>,
    /// The set that is meant, for the owner of data, if it is one of the method.
    pub client: fn(Which<'_>) -> Result<Option<Client>, Error>,
}

/// Methods, in the order to show them.
#[derive(Debug, Clone)]
pub struct Registry(Vec<Registered>);

impl Default for Registry {
    /// Every method of this version.
    fn default() -> Self {
        Self(vec![ship::METHOD, conventional::METHOD, gates::METHOD])
    }
}

impl Registry {
    /// With a method more.
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
    /// keys find their set by either. None for the sets of a released version; they are checked all the same.
    pub fn sets(&self, wanted: Wanted<'_>) -> Result<Sets, Error> {
        let mut all = Sets::new();
        for registered in &self.0 {
            for set in (registered.sets)(wanted)? {
                check(set.info(), registered.method.id, &all)?;
                all.push(set);
            }
        }
        Ok(all)
    }

    /// The set that is meant, for the owner of data; `None` if there is none.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn client(&self, which: Which<'_>) -> Result<Option<Client>, Error> {
        self.0.iter().find_map(|registered| (registered.client)(which).transpose()).transpose()
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
    use super::*;

    #[test]
    fn sets_that_could_be_taken_for_each_other_are_refused() {
        let wanted = Wanted { only: Some("toy10"), memory: Memory::Total(None) };
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
