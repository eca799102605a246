//! The engine: SHIP bootstrapping of the `refloat` crate.

use std::sync::OnceLock;

use refloat::Error;
use refloat::bootstrapping::ckks_ship::{
    INPUT_LEVEL, KeySource, OUTPUT_LEVEL, ShipEvaluator, ShipKeys, ShipMode, ShipParams,
};
use refloat::params::{self, Preset};
use refloat::schemes::ckks::Ciphertext;
use refloat::trace::Observer;
use refloat::wire;

use crate::engine::{
    Engine, LoadError, LoadedKeys, Operation, ParameterSet, Part, ReadPart, Scheme, SlotMode, Stage, Task,
};
use crate::id::{Id, hex};

/// Every SHIP set of this version.
pub struct ShipEngine {
    sets: Vec<Set>,
    described: Vec<ParameterSet>,
}

struct Set {
    params: ShipParams,
    /// Made when keys of the set are first loaded: it holds hundreds of megabytes.
    evaluator: OnceLock<ShipEvaluator>,
}

impl ShipEngine {
    /// Validates every set.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn new() -> Result<Self, Error> {
        let mut engine = Self { sets: Vec::new(), described: Vec::new() };
        for preset in params::presets() {
            let params = preset.params()?;
            engine.described.push(describe(preset, &params));
            engine.sets.push(Set { params, evaluator: OnceLock::new() });
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
    fn sets(&self) -> &[ParameterSet] {
        &self.described
    }

    fn backend(&self) -> String {
        refloat::about().backend_u32.to_owned()
    }

    fn verify_part(&self, set: &str, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        wire::verify_part(&self.find(set)?.params, key.0, index, bytes)
    }

    fn check_ciphertext(&self, set: &str, key: Id, task: &Task, bytes: &[u8]) -> Result<(), Error> {
        let params = &self.find(set)?.params;
        let ciphertext: Ciphertext = wire::ciphertext_from_bytes(params.ckks(), bytes)?;
        if ciphertext.key_id() != key.0 {
            return Err(Error::ParamsMismatch(format!(
                "the ciphertext is under key {}, the job names evaluation keys of {key}; use those of the ciphertext's key",
                hex(&ciphertext.key_id())
            )));
        }
        if ciphertext.components() != 2 {
            return Err(Error::InvalidArgument(format!(
                "the ciphertext has {} components, operations take 2; relinearise it first",
                ciphertext.components()
            )));
        }
        check_mode(params, task.mode)?;
        check_levels(ciphertext.level(), &task.operations)
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
        let output = apply(set.evaluator()?, keys, task, &input, observer)?;
        wire::ciphertext_to_bytes(context, &output)
    }
}

/// Applies the operations of a task in order.
///
/// # Errors
/// As the operations; [`Error::Cancelled`] if the observer says so.
pub fn apply(
    evaluator: &ShipEvaluator,
    keys: &ShipKeys,
    task: &Task,
    input: &Ciphertext,
    observer: &mut dyn Observer,
) -> Result<Ciphertext, Error> {
    if input.key_id() != keys.key_id() {
        return Err(Error::ParamsMismatch(format!(
            "the ciphertext is under key {}, the evaluation keys belong to {}; use those of the ciphertext's key",
            hex(&input.key_id()),
            hex(&keys.key_id())
        )));
    }
    let mut ciphertext = input.clone();
    for operation in &task.operations {
        if observer.is_cancelled() {
            return Err(Error::Cancelled(operation.name().to_owned()));
        }
        ciphertext = match operation {
            Operation::Square => evaluator.square(&ciphertext, keys)?,
            Operation::Bootstrap => evaluator.bootstrap(&ciphertext, ship_mode(task.mode), keys, observer)?,
            Operation::Circuit | Operation::LookUp => return Err(no_circuit()),
        };
    }
    Ok(ciphertext)
}

/// Describes a set to clients.
pub fn describe(preset: &Preset, params: &ShipParams) -> ParameterSet {
    let security = params.security();
    let part = |part: &refloat::bootstrapping::ckks_ship::KeyPart| Part {
        index: part.index,
        label: part.label.clone(),
        bytes: part.bytes,
    };
    let stage = |stage: &refloat::trace::StageInfo| Stage {
        id: stage.id.to_owned(),
        title: stage.title.to_owned(),
        symbol: stage.symbol.to_owned(),
        levels: stage.levels,
    };
    ParameterSet {
        scheme: Scheme::Ckks,
        name: preset.name.to_owned(),
        title: preset.title.to_owned(),
        mode: slot_mode(params.mode()),
        secure: preset.secure(),
        security_bits: security.bits,
        security_statement: security.statement.clone(),
        policy: security.policy.name().to_owned(),
        fingerprint: hex(&params.fingerprint()),
        log_n: params.log_n(),
        slots: params.slots(),
        log_qp: params.log_qp(),
        log_q0p: params.log_q0_p(),
        max_level: params.max_level(),
        input_level: params.input_level(),
        output_level: params.output_level(),
        promised_bits: preset.promised_bits,
        log_failure: None,
        stages: params.stages().iter().map(stage).collect(),
        tracks: params.tracks(),
        tree_levels: params.tree_levels(),
        key_parts: params.key_parts().iter().map(part).collect(),
        parts: params.key_parts().len(),
        key_bytes: params.key_bytes(),
        ciphertext_bytes: (0..=params.max_level())
            .map(|level| wire::ciphertext_len(params.ckks(), level, 2))
            .collect(),
        expanded_key_bytes: params.expanded_key_bytes(),
        expected_seconds: None,
    }
}

/// The core's name for what slots hold.
pub fn ship_mode(mode: SlotMode) -> ShipMode {
    match mode {
        SlotMode::Real => ShipMode::Real,
        SlotMode::Complex => ShipMode::Complex,
        SlotMode::Bits => ShipMode::Bits,
    }
}

/// The name on this side for what slots hold.
pub fn slot_mode(mode: ShipMode) -> SlotMode {
    match mode {
        ShipMode::Real => SlotMode::Real,
        ShipMode::Complex => SlotMode::Complex,
        ShipMode::Bits => SlotMode::Bits,
    }
}

fn check_mode(params: &ShipParams, mode: SlotMode) -> Result<(), Error> {
    if (mode == SlotMode::Bits) == (params.mode() == ShipMode::Bits) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "slots were said to hold {} values, {} serves {}; choose another set",
        mode.name(),
        params.name(),
        if params.mode() == ShipMode::Bits { "bits" } else { "real and complex numbers" }
    )))
}

fn no_circuit() -> Error {
    Error::InvalidArgument(
        "circuits and look-ups take ciphertexts of a DM/CGGI set such as bool-128, not CKKS ciphertexts"
            .into(),
    )
}

/// Follows the level through the operations.
fn check_levels(input: usize, operations: &[Operation]) -> Result<(), Error> {
    let mut level = input;
    for (position, operation) in operations.iter().enumerate() {
        let (needed, next) = match operation {
            Operation::Square => (OUTPUT_LEVEL, level.saturating_sub(1)),
            Operation::Bootstrap => (INPUT_LEVEL, OUTPUT_LEVEL),
            Operation::Circuit | Operation::LookUp => return Err(no_circuit()),
        };
        if level < needed {
            return Err(Error::LevelMismatch(format!(
                "operation {} ({}) needs a ciphertext at level {needed} or above and would get one at level {level}; bootstrap it first",
                position + 1,
                operation.name()
            )));
        }
        level = next;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_followed_through_a_job() {
        use Operation::{Bootstrap, Square};
        assert!(check_levels(2, &[Square, Bootstrap, Square, Bootstrap]).is_ok());
        assert!(check_levels(1, &[Bootstrap]).is_ok());
        for (level, operations) in [(1, &[Square][..]), (0, &[Bootstrap]), (2, &[Square, Square])] {
            assert_eq!(check_levels(level, operations).unwrap_err().code(), "LEVEL_MISMATCH");
        }
    }

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
