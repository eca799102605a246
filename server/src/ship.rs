//! The engine: SHIP bootstrapping of the `refloat` crate.

use std::sync::OnceLock;

use refloat::Error;
use refloat::bootstrapping::ckks_ship::{
    INPUT_LEVEL, KeySource, OUTPUT_LEVEL, ShipBootstrapper, ShipEvaluator, ShipKeys, ShipParams, ShipPreset,
};
use refloat::bootstrapping::{MetaBootstrapper, Method};
use refloat::schemes::ckks::Ciphertext;
use refloat::trace::Observer;
use refloat::wire;

use crate::ckks_jobs::{self, Levels};
use crate::engine::{Engine, LoadError, LoadedKeys, Operation, ReadPart, SetInfo, SlotMode, Task};
use crate::id::Id;

/// Every SHIP set of this version.
pub struct ShipEngine {
    sets: Vec<Set>,
    described: Vec<SetInfo>,
}

struct Set {
    params: ShipParams,
    /// Bits that a further round gains.
    gain_bits: u32,
    /// Made when keys of the set are first loaded: it holds hundreds of megabytes.
    evaluator: OnceLock<ShipEvaluator>,
}

impl ShipEngine {
    /// Validates every set.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn new() -> Result<Self, Error> {
        Self::of(ShipPreset::readable())
    }

    /// [`Self::new`] for some sets.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn of<'a>(presets: impl IntoIterator<Item = &'a ShipPreset>) -> Result<Self, Error> {
        let mut engine = Self { sets: Vec::new(), described: Vec::new() };
        for preset in presets {
            let params = preset.params()?;
            engine.described.push(preset.describe(&params));
            engine.sets.push(Set { params, gain_bits: preset.gain_bits(), evaluator: OnceLock::new() });
        }
        Ok(engine)
    }

    fn find(&self, name: &str) -> Result<&Set, Error> {
        self.sets
            .iter()
            .find(|set| set.params.name() == name)
            .ok_or_else(|| Error::InvalidArgument(format!("there is no parameter set {name:?}")))
    }
}

impl Set {
    fn evaluator(&self) -> Result<&ShipEvaluator, Error> {
        if let Some(evaluator) = self.evaluator.get() {
            return Ok(evaluator);
        }
        let made = ShipEvaluator::new(&self.params)?;
        Ok(self.evaluator.get_or_init(|| made))
    }
}

impl Engine for ShipEngine {
    fn sets(&self) -> &[SetInfo] {
        &self.described
    }

    fn backend(&self) -> String {
        refloat::about().backend_u32.to_owned()
    }

    fn verify_part(&self, set: &str, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        wire::verify_part(&self.find(set)?.params, key.0, index, bytes)
    }

    fn check_ciphertext(&self, set: &str, key: Id, task: &Task, bytes: &[u8]) -> Result<u64, Error> {
        let Set { params, gain_bits, .. } = self.find(set)?;
        let ciphertext: Ciphertext = wire::ciphertext_from_bytes(params.ckks(), bytes)?;
        check_mode(params, task.mode)?;
        let rounds = ckks_jobs::rounds(task, *gain_bits)?;
        let levels = Levels { square: OUTPUT_LEVEL, input: INPUT_LEVEL, output: OUTPUT_LEVEL };
        let level = ckks_jobs::check(levels, rounds, key, &ciphertext, &task.operations)?;
        Ok(wire::ciphertext_len(params.ckks(), level, 2) as u64)
    }

    fn load_keys(&self, set: &str, key: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError> {
        let set = self.find(set).map_err(LoadError::Engine)?;
        let mut builder = ShipKeys::builder(&set.params, key.0);
        for index in 0..set.params.key_parts().len() {
            let bytes = read(index).map_err(LoadError::Io)?;
            builder.add(index, &bytes).map_err(LoadError::Engine)?;
        }
        let keys = builder.finish().map_err(LoadError::Engine)?;
        set.evaluator().map_err(LoadError::Engine)?;
        Ok(LoadedKeys { bytes: keys.memory_bytes() as u64, inner: Box::new(keys) })
    }

    fn run(
        &self,
        set: &str,
        keys: &LoadedKeys,
        task: &Task,
        ciphertext: &[u8],
        observer: &mut dyn Observer,
    ) -> Result<Vec<u8>, Error> {
        let set = self.find(set)?;
        let keys = keys.inner.downcast_ref::<ShipKeys>().ok_or_else(|| {
            Error::InvalidArgument("the loaded keys were not loaded by this engine".to_owned())
        })?;
        let context = set.params.ckks();
        let input = wire::ciphertext_from_bytes(context, ciphertext)?;
        let (evaluator, mode) = (set.evaluator()?, task.mode);
        let method = ShipBootstrapper { evaluator, keys, mode };
        let method = MetaBootstrapper::with(&method, ckks_jobs::rounds(task, set.gain_bits)?)?;
        let output = ckks_jobs::apply(Id(keys.key_id()), task, input, observer, |operation, x, observer| {
            match operation {
                Operation::Square => evaluator.square(x, keys),
                Operation::Bootstrap => method.bootstrap(x, observer),
                Operation::Circuit | Operation::LookUp => Err(ckks_jobs::no_circuit()),
                Operation::Program => Err(ckks_jobs::program_alone()),
            }
        })?;
        wire::ciphertext_to_bytes(context, &output)
    }
}

fn check_mode(params: &ShipParams, mode: SlotMode) -> Result<(), Error> {
    if (mode == SlotMode::Bits) == (params.mode() == SlotMode::Bits) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "slots were said to hold {} values, {} serves {}; choose another set",
        mode.name(),
        params.name(),
        if params.mode() == SlotMode::Bits { "bits" } else { "real and complex numbers" }
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_described_with_their_sizes() {
        let engine = ShipEngine::new().unwrap();
        let toy = engine.set("toy10").unwrap();
        assert_eq!((toy.slots, toy.tracks, toy.tree_levels, toy.secure), (512, 15, 4, false));
        assert_eq!(toy.key_bytes, toy.key_parts.iter().map(|part| part.bytes as u64).sum::<u64>());
        assert!(toy.expanded_key_bytes > 2 * toy.key_bytes, "seeded and packed against expanded");
        let ship = engine.set("ship13").unwrap();
        assert!(ship.secure && ship.expanded_key_bytes > 3 << 30);
        assert!(ship.key_parts.iter().all(|part| part.bytes <= 8 << 20));
    }
}
