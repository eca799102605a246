//! DM/CGGI sets as jobs use them: circuits of gates on encrypted bits, and look-ups on encrypted integers.
//!
//! A job's body is a [`CircuitJob`] or a [`LookUpJob`]; its result is the list of the circuit's outputs or of the entries
//! found, as the library writes lists of ciphertexts.

use refloat::Error;
use refloat::bootstrapping::cggi::{self, CggiEvaluator, CggiKeys, CggiPreset, key_parts};
use refloat::circuits::netlist::{MAX_INPUTS, MAX_OUTPUTS, MAX_TEXT, Netlist};
use refloat::schemes::cggi::{CggiCiphertext, CggiParams, Encoding};
use refloat::trace::Observer;
use refloat::wire::{self, WireWord};

use crate::clients::{KeyOwnerSet, SetQuery};
use crate::engine::{
    Described, JobSet, LoadError, LoadedKeys, ReadPart, Runner, SetInfo, SlotMode, Task, read_parts,
};
use crate::id::{Id, hex};
use crate::look_ups::LookUpJob;
use crate::memory::BESIDE;
use crate::registry::{Registered, SetFilter};

/// Operation: evaluate a circuit of gates, which comes with its inputs.
pub const CIRCUIT: &str = "circuit";

/// Operation: look encrypted integers up in a table, which comes with them.
pub const LOOK_UP: &str = "lookup";

/// DM/CGGI, for the registry.
pub const METHOD: Registered = Registered { method: cggi::METHOD, sets, client };

fn sets(wanted: SetFilter<'_>) -> Result<Vec<Box<dyn JobSet>>, Error> {
    let set =
        |preset| if CggiPreset::wide(preset) { set_over::<u64>(preset) } else { set_over::<u32>(preset) };
    wanted.presets().map(set).collect()
}

fn set_over<W: WireWord>(preset: &CggiPreset) -> Result<Box<dyn JobSet>, Error> {
    Ok(Box::new(Described::<CggiParams<W>>::of(preset)?))
}

fn client(which: SetQuery<'_>) -> Result<Option<KeyOwnerSet>, Error> {
    let Some(preset) = which.preset() else { return Ok(None) };
    Ok(Some(KeyOwnerSet::Other(if CggiPreset::wide(preset) {
        Box::new(Described::<CggiParams<u64>>::of(preset)?)
    } else {
        Box::new(Described::<CggiParams<u32>>::of(preset)?)
    })))
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
            "{} bytes are not a circuit or table with its inputs: the length of the text as 4 bytes, the text in UTF-8, a \
             list of ciphertexts",
            bytes.len()
        ))
    })
}

/// A set, over the words that its prime takes.
impl<W: WireWord> JobSet for Described<CggiParams<W>> {
    fn info(&self) -> &SetInfo {
        &self.info
    }

    fn operations(&self) -> &'static [&'static str] {
        &[CIRCUIT, LOOK_UP]
    }

    /// Room for the values of as many wires as a circuit may have inputs and outputs; gates themselves need little. A circuit that holds
    /// more values at once takes more.
    fn working_bytes(&self) -> u64 {
        let value = size_of::<W>() * (self.params.n() + 1);
        BESIDE + ((MAX_INPUTS + MAX_OUTPUTS) * value) as u64
    }

    fn largest_input(&self) -> usize {
        4 + MAX_TEXT + wire::cggi_ciphertexts_len(&self.params, MAX_INPUTS)
    }

    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        wire::verify_cggi_part(&self.params, key.0, index, bytes)
    }

    fn check(&self, key: Id, task: &Task, input: &[u8]) -> Result<u64, Error> {
        let params = &self.params;
        if task.rounds != 1 {
            return Err(Error::InvalidArgument(format!(
                "rounds={} is for bootstraps of CKKS ciphertexts, and {} is a set for bits; leave it out",
                task.rounds,
                params.name()
            )));
        }
        let outputs = match (task.only(), task.mode) {
            (Some(CIRCUIT), SlotMode::Bits) => {
                let job = CircuitJob::from_bytes(params, input)?;
                check_key(&job.inputs, key.0)?;
                job.netlist.outputs().len()
            }
            (Some(LOOK_UP), SlotMode::Bits) => {
                let job = LookUpJob::from_bytes(params, input)?;
                check_key(&job.inputs, key.0)?;
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

    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError> {
        let mut builder = CggiKeys::builder(&self.params, key.0);
        read_parts(key_parts(&self.params).len(), read, |index, bytes| builder.add(index, bytes))?;
        let keys = builder.finish()?;
        Ok(LoadedKeys::new(keys.memory_bytes() as u64, CggiEvaluator::new(keys)))
    }
}

impl<W: WireWord> Runner for CggiEvaluator<W> {
    fn run(&self, task: &Task, input: &[u8], observer: &mut dyn Observer) -> Result<Vec<u8>, Error> {
        let (params, key) = (self.params(), self.keys().key_id());
        let outputs = if task.only() == Some(LOOK_UP) {
            let job = LookUpJob::from_bytes(params, input)?;
            check_key(&job.inputs, key)?;
            job.run(self, observer)?
        } else {
            let job = CircuitJob::from_bytes(params, input)?;
            check_key(&job.inputs, key)?;
            job.netlist.plan().run(self, &job.inputs, observer)?
        };
        wire::cggi_ciphertexts_to_bytes(params, &outputs)
    }
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
    use refloat::params::cggi_preset;
    use refloat::random::Seed;
    use refloat::schemes::cggi::CggiSecretKey;

    use super::*;
    use crate::engine::Operation;
    use crate::registry::Memory;

    fn set(name: &str) -> Box<dyn JobSet> {
        sets(SetFilter { only: Some(name), memory: Memory::Keys(0) }).unwrap().remove(0)
    }

    fn toy() -> (Box<dyn JobSet>, CggiSecretKey) {
        let params = cggi_preset("toy-bool").unwrap().params().unwrap();
        (set("toy-bool"), CggiSecretKey::generate(&params, &Seed::from_bytes([3; 32])))
    }

    #[test]
    fn sets_are_described_with_their_sizes() {
        let (toy, secret) = toy();
        let (secure, toy) = (set("bool-128"), toy.info());
        let secure = secure.info();
        assert!(secure.secure && secure.key_bytes < 9_300_000 && secure.log_failure == Some(-128.0));
        assert!(secure.key_parts.iter().all(|part| part.bytes <= 8 << 20));
        for part in &toy.key_parts {
            assert_eq!(secret.key_part(part.index).unwrap().len(), part.bytes);
        }
        let keys = CggiKeys::generate(&secret).unwrap();
        let estimate = toy.expanded_key_bytes as f64 / keys.memory_bytes() as f64;
        assert!((0.9..1.2).contains(&estimate), "{estimate} of the memory it takes");
    }

    #[test]
    fn sets_over_wide_words_are_served_too() {
        let wide = set("fbs16-50");
        let params = &cggi_preset("fbs16-50").unwrap().params_over::<u64>().unwrap();
        let secret = CggiSecretKey::generate(params, &Seed::from_bytes([8; 32]));
        let key = Id(secret.key_id());
        let part = secret.key_part(1).unwrap();
        assert_eq!(part.len(), wide.info().key_parts[1].bytes);
        wide.verify_part(key, 1, &part).unwrap();
        assert!(wide.verify_part(key, 0, &part).is_err());
        let keys = wide.load(key, &mut |index| Ok(secret.key_part(index).unwrap())).unwrap();
        let estimate = wide.info().expanded_key_bytes as f64 / keys.bytes as f64;
        assert!((0.9..1.2).contains(&estimate), "{estimate} of the memory it takes");
        let encoding = Encoding::Padded { messages: 16 };
        let table: Vec<u32> = (0..16).map(|m| 15 - m).collect();
        let inputs = secret.encrypt(encoding, &[3, 12], &Seed::from_bytes([9; 32])).unwrap();
        let job = LookUpJob { table, output: encoding, inputs };
        let body = job.to_bytes(params).unwrap();
        let task = Task { mode: SlotMode::Bits, operations: vec![Operation::new(LOOK_UP)], rounds: 1 };
        wide.check(key, &task, &body).unwrap();
        assert!(set("fbs16").check(key, &task, &body).is_err(), "of another set");
        let result = keys.runner.run(&task, &body, &mut ()).unwrap();
        let outputs = wire::cggi_ciphertexts_from_bytes(params, &result).unwrap();
        assert_eq!(outputs.iter().map(|y| secret.decrypt(y).unwrap()).collect::<Vec<_>>(), [12, 3]);
    }

    #[test]
    fn a_circuit_is_evaluated_on_uploaded_keys() {
        let (toy, secret) = toy();
        let key = Id(secret.key_id());
        let keys = toy.load(key, &mut |index| Ok(secret.key_part(index).unwrap())).unwrap();
        let netlist = adder(4, Form::Ripple).unwrap();
        let bits: Vec<bool> = (0..8).map(|i| 0x6b >> i & 1 == 1).collect();
        let inputs = secret.encrypt_bits(&bits, &Seed::from_bytes([4; 32]));
        let task = Task { mode: SlotMode::Bits, operations: vec![Operation::new(CIRCUIT)], rounds: 1 };
        let body = CircuitJob::to_bytes(secret.params(), &netlist, &inputs).unwrap();
        assert!(body.len() < toy.largest_input());
        let most = toy.check(key, &task, &body).unwrap();
        let result = keys.runner.run(&task, &body, &mut ()).unwrap();
        assert_eq!(most, result.len() as u64);
        let outputs = wire::cggi_ciphertexts_from_bytes(secret.params(), &result).unwrap();
        let sum = secret.decrypt_bits(&outputs).unwrap();
        assert_eq!((0..5).map(|i| usize::from(sum[i]) << i).sum::<usize>(), 17);

        // A job that does not fit is refused with its reason, before it waits in any queue.
        let refusal = |task: &Task, key, body: &[u8]| toy.check(key, task, body).unwrap_err().code();
        let bootstrap = Task { operations: vec![Operation::new("bootstrap")], ..task.clone() };
        assert_eq!(refusal(&bootstrap, key, &body), "INVALID_ARGUMENT");
        assert_eq!(refusal(&task, Id([0; 16]), &body), "PARAMS_MISMATCH");
        let few = CircuitJob::to_bytes(secret.params(), &netlist, &inputs[1..]).unwrap();
        assert_eq!(refusal(&task, key, &few), "INVALID_ARGUMENT");
        for length in [0, 3, 4, 100, body.len() - 1] {
            assert!(toy.check(key, &task, &body[..length]).is_err(), "{length} bytes");
        }
        let mut long = body.clone();
        long[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(refusal(&task, key, &long), "BAD_BYTES");
    }
}
