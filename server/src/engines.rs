//! The parameter sets that are served, of all methods, by name and by fingerprint.

use refloat::Error;

use crate::engine::{JobSet, Operation, SetInfo, Task};
use crate::id::Id;
use crate::registry::{Memory, Registry, SetFilter, Sets};

/// Sets, in the order to show them.
pub struct Engines {
    sets: Sets,
    /// All sets of this version, to name one that can do what those served cannot.
    registry: Registry,
}

impl Engines {
    /// Every set of this version. Loaded keys, with what is precomputed for them, are to take at most `budget` bytes: a set that
    /// could take less memory for more time does so where it must.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn new(budget: u64) -> Result<Self, Error> {
        Self::with(&Registry::default(), SetFilter { only: None, memory: Memory::Keys(budget) })
    }

    /// The wanted sets of a registry.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn with(registry: &Registry, wanted: SetFilter<'_>) -> Result<Self, Error> {
        Ok(Self { sets: registry.sets(wanted)?, registry: registry.clone() })
    }

    /// Any sets, without a registry.
    pub fn of(sets: Sets) -> Self {
        Self { sets, registry: Registry::empty() }
    }

    /// All sets.
    pub fn sets(&self) -> impl Iterator<Item = &dyn JobSet> {
        self.sets.iter().map(AsRef::as_ref)
    }

    /// The descriptions of all sets.
    pub fn infos(&self) -> impl Iterator<Item = &SetInfo> {
        self.sets().map(JobSet::info)
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
        self.sets().find(|set| is(set.info()))
    }

    /// Bytes of memory that a run of any set takes at most: see [`JobSet::working_bytes`].
    pub fn largest_working(&self) -> u64 {
        self.sets.iter().map(|set| set.working_bytes()).max().unwrap_or(0)
    }

    /// Checks that the set of a name has all of these operations.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is no such set, or if it lacks an operation: the message names the first one that it lacks, the
    /// ones that it has, and a set that has the missing one.
    pub fn check_operations(&self, name: &str, operations: &[Operation]) -> Result<(), Error> {
        let set = self.named(name)?;
        let has = |operation: &&Operation| set.operations().contains(&operation.name());
        let Some(other) = operations.iter().find(|operation| !has(operation)) else { return Ok(()) };
        let other = other.name();
        let repair = match self.with_operation(other) {
            Some(name) => format!("take keys of a set that has it, such as {name}"),
            None => "take one of those".to_owned(),
        };
        Err(Error::InvalidArgument(format!(
            "{name} has the operations {}, and the job asks for {other}; {repair}",
            set.operations().join(", "),
        )))
    }

    /// Checks a job for the set of a name: its operations, then [`JobSet::check`].
    ///
    /// # Errors
    /// As [`Self::check_operations`] and [`JobSet::check`].
    pub fn check(&self, name: &str, key: Id, task: &Task, input: &[u8]) -> Result<u64, Error> {
        self.check_operations(name, &task.operations)?;
        self.named(name)?.check(key, task, input)
    }

    /// The name of the first secure current set with an operation.
    fn with_operation(&self, operation: &str) -> Option<String> {
        let first = |sets: &Sets| {
            let suits = |set: &&dyn JobSet| {
                let info = set.info();
                info.secure && info.successor.is_none() && set.operations().contains(&operation)
            };
            sets.iter().map(AsRef::as_ref).find(suits).map(|set| set.info().name.clone())
        };
        first(&self.sets).or_else(|| first(&self.registry.sets(SetFilter::all()).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_a_set_that_has_the_operation() {
        // From the sets that are served, or from all sets where only one is served.
        let one = SetFilter { only: Some("ship13"), ..SetFilter::all() };
        for engines in [Engines::new(0).unwrap(), Engines::with(&Registry::default(), one).unwrap()] {
            for (operation, repair) in
                [("circuit", "bool-128"), ("program", "n16"), ("hop", "take one of those")]
            {
                let error = engines.check_operations("ship13", &[Operation::new(operation)]).unwrap_err();
                let error = error.to_string();
                assert!(error.contains("square, bootstrap") && error.ends_with(repair), "{error}");
            }
            assert!(engines.check_operations("ship13", &[Operation::new("square")]).is_ok());
        }
        assert!(Engines::of(Sets::new()).check_operations("ship13", &[]).is_err());
    }
}
