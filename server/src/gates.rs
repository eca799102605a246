//! The engine of DM/CGGI: circuits of gates on encrypted bits, and look-ups on encrypted integers.
//!
//! A job's body is a [`CircuitJob`] or a [`LookUpJob`]; its result is the list of the circuit's outputs or of the entries
//! found, as the library writes lists of ciphertexts.

use refloat::Error;
use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys, CggiPreset, key_parts};
use refloat::circuits::netlist::{MAX_INPUTS, MAX_TEXT, Netlist};
use refloat::schemes::cggi::{CggiCiphertext, CggiParams, Encoding};
use refloat::trace::Observer;
use refloat::wire::{self, WireWord};

use crate::engine::{Engine, LoadError, LoadedKeys, Operation, ReadPart, SetInfo, SlotMode, Task};
use crate::id::{Id, hex};
use crate::look_ups::LookUpJob;

/// A set over the words that its prime takes.
enum Set {
    Narrow(CggiParams<u32>),
    Wide(CggiParams<u64>),
}

/// Does the same with the parameters of a set of either width.
macro_rules! over {
    ($set:expr, $params:ident => $body:expr) => {
        match $set {
            Set::Narrow($params) => $body,
            Set::Wide($params) => $body,
        }
    };
}

/// Every DM/CGGI set.
pub struct GateEngine {
    sets: Vec<Set>,
    described: Vec<SetInfo>,
}

impl GateEngine {
    /// Validates every set.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn new() -> Result<Self, Error> {
        let mut engine = Self { sets: Vec::new(), described: Vec::new() };
        for preset in CggiPreset::readable() {
            let set =
                if preset.wide() { Set::Wide(preset.params_over()?) } else { Set::Narrow(preset.params()?) };
            engine.described.push(over!(&set, params => preset.describe(params)));
            engine.sets.push(set);
        }
        Ok(engine)
    }

    fn find(&self, name: &str) -> Result<&Set, Error> {
        self.sets
            .iter()
            .find(|set| over!(set, params => params.name() == name))
            .ok_or_else(|| Error::InvalidArgument(format!("there is no DM/CGGI set {name:?}")))
    }
}

/// A circuit and what it is applied to.
///
/// Bytes: length of the text as u32, little-endian; the text; the list of ciphertexts, one for each input.
pub struct CircuitJob<W: WireWord = u32> {
    /// The circuit.
    pub netlist: Netlist,
    /// A bit for each of its inputs.
    pub inputs: Vec<CggiCiphertext<W>>,
}

impl<W: WireWord> CircuitJob<W> {
    /// The bytes of a job.
    ///
    /// # Errors
    /// The ciphertexts are of another set or of several keys.
    pub fn to_bytes(
        params: &CggiParams<W>,
        netlist: &Netlist,
        inputs: &[CggiCiphertext<W>],
    ) -> Result<Vec<u8>, Error> {
        framed(&netlist.to_string(), params, inputs)
    }

    /// Reads an untrusted job of the set.
    ///
    /// # Errors
    /// The text or the list is not understood, or there is not one bit of one key for each input.
    pub fn from_bytes(params: &CggiParams<W>, bytes: &[u8]) -> Result<Self, Error> {
        let (text, list) = split(bytes)?;
        let netlist = Netlist::parse(text)?;
        let inputs = wire::cggi_ciphertexts_from_bytes(params, list)?;
        if inputs.len() != netlist.inputs() {
            return Err(Error::InvalidArgument(format!(
                "the circuit has {} inputs and the list {} ciphertexts; send one for each",
                netlist.inputs(),
                inputs.len()
            )));
        }
        if let Some(other) = inputs.iter().find(|input| input.encoding() != Encoding::Bit) {
            return Err(Error::InvalidArgument(format!(
                "gates take bits, and the list holds an {}",
                other.encoding().describe()
            )));
        }
        Ok(Self { netlist, inputs })
    }
}

/// A text and a list of ciphertexts as the body of a job.
pub(crate) fn framed<W: WireWord>(
    text: &str,
    params: &CggiParams<W>,
    inputs: &[CggiCiphertext<W>],
) -> Result<Vec<u8>, Error> {
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(&wire::cggi_ciphertexts_to_bytes(params, inputs)?);
    Ok(bytes)
}

/// The text and the list of the body of a job.
pub(crate) fn split(bytes: &[u8]) -> Result<(&str, &[u8]), Error> {
    let parts = || {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (text, list) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some((std::str::from_utf8(text).ok()?, list))
    };
    parts().ok_or_else(|| {
        Error::BadBytes(format!(
            "{} bytes are no circuit or table with its inputs: the length of the text as 4 bytes, the text in UTF-8, a \
             list of ciphertexts",
            bytes.len()
        ))
    })
}

impl Engine for GateEngine {
    fn sets(&self) -> &[SetInfo] {
        &self.described
    }

    fn backend(&self) -> String {
        refloat::about().backend_u32.to_owned()
    }

    fn largest_input(&self, set: &SetInfo) -> usize {
        let list = self
            .find(&set.name)
            .map_or(0, |set| over!(set, params => wire::cggi_ciphertexts_len(params, MAX_INPUTS)));
        4 + MAX_TEXT + list
    }

    fn verify_part(&self, set: &str, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        over!(self.find(set)?, params => wire::verify_cggi_part(params, key.0, index, bytes))
    }

    fn check_ciphertext(&self, set: &str, key: Id, task: &Task, bytes: &[u8]) -> Result<u64, Error> {
        over!(self.find(set)?, params => check_job(params, key.0, task, bytes))
    }

    fn load_keys(&self, set: &str, key: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError> {
        over!(self.find(set).map_err(LoadError::Engine)?, params => load(params, key.0, read))
    }

    fn run(
        &self,
        set: &str,
        keys: &LoadedKeys,
        task: &Task,
        input: &[u8],
        observer: &mut dyn Observer,
    ) -> Result<Vec<u8>, Error> {
        over!(self.find(set)?, params => run(params, keys, task, input, observer))
    }
}

/// Checks the body of a job, and gives the bytes of its result.
fn check_job<W: WireWord>(
    params: &CggiParams<W>,
    key: [u8; 16],
    task: &Task,
    bytes: &[u8],
) -> Result<u64, Error> {
    if task.rounds != 1 {
        return Err(Error::InvalidArgument(format!(
            "rounds={} is for bootstraps of CKKS ciphertexts, and {} is a set for bits; leave it out",
            task.rounds,
            params.name()
        )));
    }
    let outputs = match (&task.operations[..], task.mode) {
        ([Operation::Circuit], SlotMode::Bits) => {
            let job = CircuitJob::from_bytes(params, bytes)?;
            check_key(&job.inputs, key)?;
            job.netlist.outputs().len()
        }
        ([Operation::LookUp], SlotMode::Bits) => {
            let job = LookUpJob::from_bytes(params, bytes)?;
            check_key(&job.inputs, key)?;
            job.inputs.len()
        }
        _ => {
            return Err(Error::InvalidArgument(format!(
                "{} serves circuit or lookup, one of them in a job, on bits; the job asks for {} on {} values",
                params.name(),
                crate::engine::operation_list(&task.operations),
                task.mode.name()
            )));
        }
    };
    Ok(wire::cggi_ciphertexts_len(params, outputs) as u64)
}

/// Evaluation keys from their parts.
fn load<W: WireWord>(
    params: &CggiParams<W>,
    key: [u8; 16],
    read: ReadPart<'_>,
) -> Result<LoadedKeys, LoadError> {
    let mut builder = CggiKeys::builder(params, key);
    for index in 0..key_parts(params).len() {
        let bytes = read(index).map_err(LoadError::Io)?;
        builder.add(index, &bytes).map_err(LoadError::Engine)?;
    }
    let keys = builder.finish().map_err(LoadError::Engine)?;
    let bytes = keys.memory_bytes() as u64;
    Ok(LoadedKeys { bytes, inner: Box::new(CggiEvaluator::new(keys)) })
}

/// Does a job.
fn run<W: WireWord>(
    params: &CggiParams<W>,
    keys: &LoadedKeys,
    task: &Task,
    input: &[u8],
    observer: &mut dyn Observer,
) -> Result<Vec<u8>, Error> {
    let evaluator = keys
        .inner
        .downcast_ref::<CggiEvaluator<W>>()
        .ok_or_else(|| Error::InvalidArgument("the loaded keys were not loaded by this engine".to_owned()))?;
    let key = evaluator.keys().key_id();
    let outputs = if task.operations == [Operation::LookUp] {
        let job = LookUpJob::from_bytes(params, input)?;
        check_key(&job.inputs, key)?;
        job.run(evaluator, observer)?
    } else {
        let job = CircuitJob::from_bytes(params, input)?;
        check_key(&job.inputs, key)?;
        job.netlist.plan().run(evaluator, &job.inputs, observer)?
    };
    wire::cggi_ciphertexts_to_bytes(params, &outputs)
}

fn check_key<W: WireWord>(inputs: &[CggiCiphertext<W>], key: [u8; 16]) -> Result<(), Error> {
    match inputs.iter().find(|input| input.key_id() != key) {
        None => Ok(()),
        Some(other) => Err(Error::ParamsMismatch(format!(
            "the ciphertexts are under key {}, the evaluation keys belong to {}; use those of the ciphertexts' key",
            hex(&other.key_id()),
            hex(&key)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use refloat::bootstrapping::cggi::CggiKeys;
    use refloat::circuits::netlist::arithmetic::{Form, adder};
    use refloat::random::Seed;
    use refloat::schemes::cggi::CggiSecretKey;

    use super::*;

    fn toy() -> (GateEngine, CggiSecretKey) {
        let engine = GateEngine::new().unwrap();
        let Set::Narrow(params) = engine.find("toy-bool").unwrap() else { panic!("a narrow set") };
        let secret = CggiSecretKey::generate(params, &Seed::from_bytes([3; 32]));
        (engine, secret)
    }

    #[test]
    fn sets_are_described_with_their_sizes() {
        let (engine, secret) = toy();
        let set = engine.set("bool-128").unwrap();
        assert!(set.secure && set.key_bytes < 9_300_000 && set.log_failure == Some(-128.0));
        assert!(set.key_parts.iter().all(|part| part.bytes <= 8 << 20));
        let toy = engine.set("toy-bool").unwrap();
        for part in &toy.key_parts {
            assert_eq!(secret.key_part(part.index).unwrap().len(), part.bytes);
        }
        let keys = CggiKeys::generate(&secret).unwrap();
        let estimate = toy.expanded_key_bytes as f64 / keys.memory_bytes() as f64;
        assert!((0.9..1.2).contains(&estimate), "{estimate} of the memory it takes");
    }

    #[test]
    fn sets_over_wide_words_are_served_too() {
        let engine = GateEngine::new().unwrap();
        let (name, Set::Wide(params)) = ("fbs16-50", engine.find("fbs16-50").unwrap()) else {
            panic!("a wide set")
        };
        let secret = CggiSecretKey::generate(params, &Seed::from_bytes([8; 32]));
        let (set, key) = (engine.set(name).unwrap(), Id(secret.key_id()));
        let part = secret.key_part(1).unwrap();
        assert_eq!(part.len(), set.key_parts[1].bytes);
        engine.verify_part(name, key, 1, &part).unwrap();
        assert!(engine.verify_part(name, key, 0, &part).is_err());
        let keys = engine.load_keys(name, key, &mut |index| Ok(secret.key_part(index).unwrap())).unwrap();
        let estimate = set.expanded_key_bytes as f64 / keys.bytes as f64;
        assert!((0.9..1.2).contains(&estimate), "{estimate} of the memory it takes");
        let encoding = Encoding::Padded { messages: 16 };
        let table: Vec<u32> = (0..16).map(|m| 15 - m).collect();
        let inputs = secret.encrypt(encoding, &[3, 12], &Seed::from_bytes([9; 32])).unwrap();
        let job = LookUpJob { table, output: encoding, inputs };
        let body = job.to_bytes(params).unwrap();
        let task = Task { mode: SlotMode::Bits, operations: vec![Operation::LookUp], rounds: 1 };
        engine.check_ciphertext(name, key, &task, &body).unwrap();
        assert!(engine.check_ciphertext("fbs16", key, &task, &body).is_err(), "of another set");
        let result = engine.run(name, &keys, &task, &body, &mut ()).unwrap();
        let outputs = wire::cggi_ciphertexts_from_bytes(params, &result).unwrap();
        assert_eq!(outputs.iter().map(|y| secret.decrypt(y).unwrap()).collect::<Vec<_>>(), [12, 3]);
    }

    #[test]
    fn a_circuit_is_evaluated_on_uploaded_keys() {
        let (engine, secret) = toy();
        let (set, key) = ("toy-bool", Id(secret.key_id()));
        let mut read = |index| Ok(secret.key_part(index).unwrap());
        let keys = engine.load_keys(set, key, &mut read).unwrap();
        let netlist = adder(4, Form::Ripple).unwrap();
        let bits: Vec<bool> = (0..8).map(|i| 0x6b >> i & 1 == 1).collect();
        let inputs = secret.encrypt_bits(&bits, &Seed::from_bytes([4; 32]));
        let task = Task { mode: SlotMode::Bits, operations: vec![Operation::Circuit], rounds: 1 };
        let body = CircuitJob::to_bytes(secret.params(), &netlist, &inputs).unwrap();
        engine.check_ciphertext(set, key, &task, &body).unwrap();
        assert!(body.len() < engine.largest_input(engine.set(set).unwrap()));
        let most = engine.check_ciphertext(set, key, &task, &body).unwrap();
        let result = engine.run(set, &keys, &task, &body, &mut ()).unwrap();
        assert_eq!(most, result.len() as u64);
        let outputs = wire::cggi_ciphertexts_from_bytes(secret.params(), &result).unwrap();
        let sum = secret.decrypt_bits(&outputs).unwrap();
        assert_eq!((0..5).map(|i| usize::from(sum[i]) << i).sum::<usize>(), 17);

        // What does not fit is refused with its reason, before it waits in any queue.
        let refusal =
            |task: &Task, key, body: &[u8]| engine.check_ciphertext(set, key, task, body).unwrap_err().code();
        let bootstrap = Task { operations: vec![Operation::Bootstrap], ..task.clone() };
        assert_eq!(refusal(&bootstrap, key, &body), "INVALID_ARGUMENT");
        assert_eq!(refusal(&task, Id([0; 16]), &body), "PARAMS_MISMATCH");
        let few = CircuitJob::to_bytes(secret.params(), &netlist, &inputs[1..]).unwrap();
        assert_eq!(refusal(&task, key, &few), "INVALID_ARGUMENT");
        for length in [0, 3, 4, 100, body.len() - 1] {
            assert!(engine.check_ciphertext(set, key, &task, &body[..length]).is_err(), "{length} bytes");
        }
        let mut long = body.clone();
        long[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(refusal(&task, key, &long), "BAD_BYTES");
    }
}
