//! All engines as one: each parameter set belongs to the engine that knows it.

use refloat::Error;
use refloat::trace::Observer;

use crate::conventional::ConventionalEngine;
use crate::engine::{Engine, LoadError, LoadedKeys, PartReader, ReadPart, SetInfo, Task};
use crate::gates::GateEngine;
use crate::id::Id;
use crate::ship::ShipEngine;

/// Every set of this version.
pub struct Engines {
    engines: [Box<dyn Engine>; 3],
    sets: Vec<SetInfo>,
}

impl Engines {
    /// Validates every set. Loaded keys, with what is precomputed for them, are to take at most `budget` bytes: a set that could
    /// take less memory for more time does so where it must.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn new(budget: u64) -> Result<Self, Error> {
        let engines: [Box<dyn Engine>; 3] = [
            Box::new(ShipEngine::new()?),
            Box::new(ConventionalEngine::new(budget)?),
            Box::new(GateEngine::new()?),
        ];
        let sets = engines.iter().flat_map(|engine| engine.sets().to_vec()).collect();
        Ok(Self { engines, sets })
    }

    fn of(&self, set: &str) -> Result<&dyn Engine, Error> {
        let engine = self.engines.iter().find(|engine| engine.set(set).is_some());
        engine
            .map(AsRef::as_ref)
            .ok_or_else(|| Error::InvalidArgument(format!("there is no parameter set {set:?}")))
    }
}

impl Engine for Engines {
    fn sets(&self) -> &[SetInfo] {
        &self.sets
    }

    fn backend(&self) -> String {
        refloat::about().backend_u32.to_owned()
    }

    fn largest_input(&self, set: &SetInfo) -> usize {
        self.of(&set.name).map_or(0, |engine| engine.largest_input(set))
    }

    fn verify_part(&self, set: &str, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        self.of(set)?.verify_part(set, key, index, bytes)
    }

    fn check_ciphertext(&self, set: &str, key: Id, task: &Task, bytes: &[u8]) -> Result<u64, Error> {
        self.of(set)?.check_ciphertext(set, key, task, bytes)
    }

    fn open_keys(&self, set: &str, key: Id, read: &PartReader) -> Option<Result<LoadedKeys, Error>> {
        self.of(set).ok()?.open_keys(set, key, read)
    }

    fn load_keys(&self, set: &str, key: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError> {
        self.of(set).map_err(LoadError::Engine)?.load_keys(set, key, read)
    }

    fn run(
        &self,
        set: &str,
        keys: &LoadedKeys,
        task: &Task,
        input: &[u8],
        observer: &mut dyn Observer,
    ) -> Result<Vec<u8>, Error> {
        self.of(set)?.run(set, keys, task, input, observer)
    }
}
