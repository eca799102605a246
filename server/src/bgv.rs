//! BGV sets as jobs use them: integers are multiplied and refreshed, exactly.
//!
//! A job is a program: either the one in its body, or its named operations one after the other. The latter are applied to the first
//! ciphertext of the body, and each `multiply` takes the next ciphertext.

use std::sync::Arc;

use refloat::bootstrapping::bgv::{self, BgvBootstrapper, BgvKeys, BgvParams, BgvSecretKey, BgvSpec};
use refloat::bootstrapping::method::Preset;
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::circuits::program::integer_program::IntegerPlan;
use refloat::circuits::program::{Bootstraps, Program};
use refloat::random::Seed;
use refloat::schemes::bgv::{BgvCiphertext, BgvPublicKey, BgvShape};
use refloat::trace::Observer;
use refloat::{Error, wire};
use zeroize::Zeroizing;

use crate::ckks_jobs::{OfBootstraps, check_mode, working_bytes};
use crate::clients::{
    CiphertextBytes, IntegerClient, IntegerSecret, KeyOwnerSet, Outline, PlannedProgram, SetQuery,
};
use crate::encryptors::{IntegerEncryptor, is_public};
use crate::engine::{
    BOOTSTRAP, Described, JobSet, LoadError, LoadedKeys, ReadPart, Runner, SetInfo, Task, read_parts,
};
use crate::id::{Id, hex};
use crate::programs::{self, MULTIPLY, PROGRAM, SQUARE, check_size, of_operations, parts, split_list};
use crate::registry::{Registered, SetFilter, Sets};
use crate::shared::Shared;

/// BGV, for the registry.
pub const METHOD: Registered = Registered { method: bgv::METHOD, sets, client };

fn sets(wanted: SetFilter<'_>) -> Result<Sets, Error> {
    let set = |preset: &Preset<BgvSpec>| {
        let params = preset.params()?;
        let kept = |storage| params.expanded_key_bytes() + params.diagonal_bytes(storage);
        let room = wanted.memory.for_keys(working_bytes(params.context().rlwe()));
        let [fast, frugal] = [PlaintextStorage::Evaluated, PlaintextStorage::Coefficients];
        let storage = if kept(fast) <= room { fast } else { frugal };
        let info = SetInfo { expanded_key_bytes: kept(storage), ..preset.describe(&params) };
        let set = Arc::new(Described { info, params });
        Ok(Box::new(BgvJobs { set, storage, bootstrapper: Shared::default() }) as Box<dyn JobSet>)
    };
    wanted.presets().map(set).collect()
}

fn client(which: SetQuery<'_>) -> Result<Option<KeyOwnerSet>, Error> {
    let Some(preset) = which.preset::<BgvSpec>() else { return Ok(None) };
    Ok(Some(KeyOwnerSet::Integers(Box::new(Described::<BgvParams>::of(preset)?))))
}

/// A BGV set, as jobs use it.
struct BgvJobs {
    set: Arc<Described<BgvParams>>,
    /// How diagonals are kept.
    storage: PlaintextStorage,
    /// The bootstrapper, which exists while keys of the set are loaded.
    bootstrapper: Shared<BgvBootstrapper>,
}

/// Keys of a set, and the bootstrapper that uses them.
struct BgvRunner {
    set: Arc<Described<BgvParams>>,
    key: Id,
    bootstrapper: Arc<BgvBootstrapper>,
    keys: BgvKeys<u64>,
}

impl BgvJobs {
    fn bootstrapper(&self) -> Result<Arc<BgvBootstrapper>, Error> {
        self.bootstrapper.get(|| BgvBootstrapper::new(&self.set.params, self.storage))
    }
}

impl JobSet for BgvJobs {
    fn info(&self) -> &SetInfo {
        &self.set.info
    }

    fn operations(&self) -> &[&'static str] {
        &[SQUARE, MULTIPLY, BOOTSTRAP, PROGRAM]
    }

    fn working_bytes(&self) -> u64 {
        working_bytes(self.set.params.context().rlwe())
    }

    fn largest_input(&self) -> usize {
        let params = &self.set.params;
        programs::largest(wire::bgv_ciphertext_len(params.context(), params.levels().output, 2))
    }

    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        wire::verify_key_part(&self.set.params, key.0, index, bytes)
    }

    fn check(&self, key: Id, task: &Task, input: &[u8]) -> Result<u64, Error> {
        let job = IntegerJob::read(&self.set, task, input)?;
        let plan = job.plan(&self.set.params, key)?;
        let context = self.set.params.context();
        Ok(plan.outputs().map(|(_, shape)| wire::bgv_ciphertext_len(context, shape.level, 2) as u64).sum())
    }

    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError> {
        let Described { info, params } = self.set.as_ref();
        let mut builder = BgvKeys::builder(params, key.0);
        read_parts(params.key_parts().len(), read, |index, bytes| builder.add(index, bytes))?;
        let (keys, bootstrapper) = (builder.finish()?, self.bootstrapper()?);
        Ok(LoadedKeys::new(
            info.expanded_key_bytes,
            BgvRunner { set: Arc::clone(&self.set), key, bootstrapper, keys },
        ))
    }
}

impl Runner for BgvRunner {
    fn run(&self, task: &Task, input: &[u8], observer: &mut dyn Observer) -> Result<Vec<u8>, Error> {
        let Self { set, key, bootstrapper, keys } = self;
        let job = IntegerJob::read(set, task, input)?;
        let plan = job.plan(&set.params, *key)?;
        // A job of named operations reports only the stages that its set lists.
        let mut bootstraps = OfBootstraps(observer);
        let observer: &mut dyn Observer =
            if task.only() == Some(PROGRAM) { bootstraps.0 } else { &mut bootstraps };
        let outputs = bootstrapper.run_program(&plan, keys, &job.inputs, observer)?;
        let bytes = outputs.iter().map(|x| wire::bgv_ciphertext_to_bytes(set.params.context(), x));
        Ok(bytes.collect::<Result<Vec<_>, _>>()?.concat())
    }
}

/// A program and what it is applied to.
struct IntegerJob {
    program: Program,
    bootstraps: Bootstraps,
    inputs: Vec<BgvCiphertext>,
}

impl IntegerJob {
    /// Reads an untrusted job of a set.
    fn read(set: &Described<BgvParams>, task: &Task, body: &[u8]) -> Result<Self, Error> {
        let Described { info, params } = set;
        check_mode(info, task.mode)?;
        if task.rounds != 1 {
            return Err(Error::InvalidArgument(format!(
                "rounds={} is for numbers of limited precision, and {} is a set for exact integers; leave it out",
                task.rounds, info.name
            )));
        }
        if task.only() == Some(PROGRAM) {
            return Self::of_body(params, body);
        }
        let program = of_operations(&task.operations, &[SQUARE, MULTIPLY, BOOTSTRAP])?;
        let (inputs, wanted) = (ciphertexts(params, body)?, program.input_names().count());
        if inputs.len() != wanted {
            return Err(Error::InvalidArgument(format!(
                "{} ciphertexts for {} operations of {MULTIPLY}; give {wanted}: what is operated on, and what it is multiplied by, \
                 in order",
                inputs.len(),
                wanted - 1
            )));
        }
        Ok(Self { program, bootstraps: Bootstraps::AsWritten, inputs })
    }

    /// Reads a body that contains a program.
    fn of_body(params: &BgvParams, body: &[u8]) -> Result<Self, Error> {
        let (bootstraps, program, list) = parts(body)?;
        Ok(Self { program, bootstraps, inputs: ciphertexts(params, list)? })
    }

    /// The plan of the job; an error if its ciphertexts are under another key, or if the levels of the set do not suffice.
    fn plan(&self, params: &BgvParams, key: Id) -> Result<IntegerPlan<'_>, Error> {
        if let Some(other) = self.inputs.iter().find(|x| x.key_id() != key.0) {
            return Err(Error::ParamsMismatch(format!(
                "a ciphertext is under key {}, the evaluation keys belong to {key}; use those of the ciphertext's key",
                hex(&other.key_id())
            )));
        }
        let shapes: Vec<BgvShape> = self.inputs.iter().map(BgvShape::of).collect();
        let plan = IntegerPlan::new(&self.program, &params.program_target()?, &shapes, self.bootstraps)?;
        check_size(plan.bootstraps(), plan.peak_bytes())?;
        Ok(plan)
    }
}

/// Untrusted ciphertexts, one after the other.
fn ciphertexts(params: &BgvParams, bytes: &[u8]) -> Result<Vec<BgvCiphertext>, Error> {
    let read = |bytes: &[u8]| {
        let x = wire::bgv_ciphertext_from_bytes(params.context(), bytes)?;
        if x.components() == 2 {
            return Ok(x);
        }
        Err(Error::InvalidArgument(format!(
            "a ciphertext has {} components, jobs take 2; relinearise it first",
            x.components()
        )))
    };
    split_list(bytes)?.into_iter().map(read).collect()
}

impl IntegerClient for Described<BgvParams> {
    fn read_integer_secret(&self, bytes: &[u8]) -> Result<Box<dyn IntegerSecret>, Error> {
        Ok(Box::new(wire::secret_key_from_bytes(&self.params, bytes)?))
    }

    fn read_integer_encryptor(&self, bytes: &[u8]) -> Result<Box<dyn IntegerEncryptor>, Error> {
        if is_public(bytes)? {
            let (context, level) = (self.params.context(), self.params.levels().output);
            let key = wire::bgv_public_key_from_bytes(context, level, bytes)?;
            return Ok(Box::new(PublicKey { params: self.params.clone(), key }));
        }
        Ok(Box::new(wire::secret_key_from_bytes(&self.params, bytes)?))
    }

    fn outline(&self) -> Result<Outline, Error> {
        let target = self.params.program_target()?;
        let rlwe = self.params.context().rlwe();
        Ok(Outline {
            rotations: Outline::rotations(target.rotations(), target.columns()),
            inversion: target.swap(),
            products: target.relinearization(),
            log_q: (0..=target.top()).map(|level| rlwe.q(level).log2()).collect(),
        })
    }

    fn plan(&self, key: Id, body: &[u8]) -> Result<PlannedProgram, Error> {
        let job = IntegerJob::of_body(&self.params, body)?;
        let plan = job.plan(&self.params, key)?;
        Ok(PlannedProgram {
            steps: plan.steps(),
            key_switches: plan.key_switches(),
            bootstraps: plan.bootstraps(),
            inserted: plan.inserted(),
            digits: 0,
            log_failure: (plan.bootstraps() > 0)
                .then(|| self.params.log2_failure() + (plan.bootstraps() as f64).log2()),
            least_distance: 0.0,
            compared: Vec::new(),
            final_outputs: plan.final_outputs().map(str::to_owned).collect(),
        })
    }

    fn ciphertext(&self, bytes: Vec<u8>) -> Result<CiphertextBytes, Error> {
        let x = wire::bgv_ciphertext_from_bytes(self.params.context(), &bytes)?;
        Ok(described(&x, bytes))
    }
}

/// A public key, and its set.
struct PublicKey {
    params: BgvParams,
    key: BgvPublicKey,
}

impl IntegerEncryptor for PublicKey {
    fn encrypt(&self, integers: &[u64], level: usize, randomness: &Seed) -> Result<CiphertextBytes, Error> {
        let x = self.key.encrypt(self.params.context(), integers, level, randomness)?;
        let bytes = wire::bgv_ciphertext_to_bytes(self.params.context(), &x)?;
        Ok(described(&x, bytes))
    }
}

impl IntegerEncryptor for BgvSecretKey {
    fn encrypt(&self, integers: &[u64], level: usize, randomness: &Seed) -> Result<CiphertextBytes, Error> {
        let x = BgvSecretKey::encrypt(self, integers, level, randomness)?;
        let bytes = wire::bgv_ciphertext_to_bytes(self.params().context(), &x)?;
        Ok(described(&x, bytes))
    }
}

impl IntegerSecret for BgvSecretKey {
    fn public_key(&self) -> Result<Vec<u8>, Error> {
        let key = BgvSecretKey::public_key(self)?;
        Ok(wire::bgv_public_key_to_bytes(self.params().context(), &key))
    }

    fn decrypt(&self, bytes: &[u8]) -> Result<Zeroizing<Vec<u64>>, Error> {
        let x = wire::bgv_ciphertext_from_bytes(self.params().context(), bytes)?;
        Ok(Zeroizing::new(BgvSecretKey::decrypt(self, &x)?.reveal_to_key_owner().clone()))
    }
}

/// The bytes of a ciphertext, and its description.
fn described(x: &BgvCiphertext, bytes: Vec<u8>) -> CiphertextBytes {
    CiphertextBytes {
        bytes,
        key: Id(x.key_id()),
        level: x.level(),
        log_q: x.log_q(),
        log_scale: None,
        capacity: Some(x.capacity()),
    }
}

#[cfg(test)]
mod tests {
    use refloat::bootstrapping::bgv::BgvPreset;

    use super::*;
    use crate::engine::{Operation, SlotMode};
    use crate::registry::Memory;

    const TOY: &str = "toy-bgv10";

    fn set(budget: u64) -> Box<dyn JobSet> {
        sets(SetFilter { only: Some(TOY), memory: Memory::Keys(budget) }).unwrap().remove(0)
    }

    fn task(operations: &str) -> Task {
        Task { mode: SlotMode::Integers, operations: Operation::parse_list(operations).unwrap(), rounds: 1 }
    }

    #[test]
    fn integers_are_multiplied_and_refreshed_with_uploaded_keys_and_what_does_not_fit_is_refused() {
        let params = BgvPreset::named(TOY).unwrap().params().unwrap();
        let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
        let (set, key, ring) = (set(u64::MAX), Id(secret.key_id()), params.messages());
        let keys = set.load(key, &mut |index| Ok(secret.key_part(index).unwrap())).unwrap();
        let estimate = set.info().expanded_key_bytes as f64;
        let made = BgvKeys::generate(&secret).unwrap().memory_bytes() as u64
            + params.diagonal_bytes(PlaintextStorage::Evaluated);
        assert!((0.99..1.01).contains(&(estimate / made as f64)), "{estimate} of {made}");
        let values = |factor: u64| (0..params.n() as u64).map(|i| factor * i * i % ring.value()).collect();
        let (x, y): (Vec<u64>, Vec<u64>) = (values(7), values(31));
        let (input, output) = (params.levels().input, params.levels().output);
        let encrypt = |values: &[u64], level| {
            IntegerEncryptor::encrypt(&secret, values, level, &Seed::from_bytes([4; 32])).unwrap().bytes
        };
        let decrypt = |bytes: &[u8]| IntegerSecret::decrypt(&secret, bytes).unwrap();
        let product =
            |x: &[u64], y: &[u64]| -> Vec<u64> { x.iter().zip(y).map(|(&x, &y)| ring.mul(x, y)).collect() };
        let both = [encrypt(&x, output), encrypt(&y, output)].concat();
        assert!(both.len() <= set.largest_input());
        let all = task("multiply,bootstrap,square");
        let most = set.check(key, &all, &both).unwrap();
        let result = keys.runner.run(&all, &both, &mut ()).unwrap();
        assert_eq!(most, result.len() as u64);
        let xy = product(&x, &y);
        assert_eq!(*decrypt(&result), product(&xy, &xy));

        let refusal = |key, task: &Task, bytes: &[u8]| set.check(key, task, bytes).unwrap_err().code();
        let one = encrypt(&x, input);
        assert_eq!(refusal(key, &task("square,bootstrap"), &one), "LEVEL_MISMATCH");
        assert_eq!(refusal(key, &task("square"), &encrypt(&x, 0)), "LEVEL_MISMATCH");
        let error = set.check(key, &task("multiply,multiply"), &both).unwrap_err().to_string();
        assert!(error.contains("2 ciphertexts for 2 operations of multiply; give 3"), "{error}");
        let error = set.check(key, &task(&format!("bootstrap{}", ",square".repeat(6))), &one);
        // A bootstrap leaves five levels.
        let error = error.unwrap_err().to_string();
        assert!(error.contains("operation 7, square"), "{error}");
        // Bootstraps decide themselves what they take: here a square of a ciphertext one level higher, whose factor is not that of results.
        set.check(key, &task("square,bootstrap"), &encrypt(&x, input + 1)).unwrap();
        assert_eq!(refusal(key, &task("bootstrap"), &both), "INVALID_ARGUMENT");
        assert_eq!(refusal(Id([0; 16]), &task("bootstrap"), &one), "PARAMS_MISMATCH");
        let real = Task { mode: SlotMode::Real, ..task("bootstrap") };
        assert_eq!(refusal(key, &real, &one), "INVALID_ARGUMENT");
        let twice = Task { rounds: 2, ..task("bootstrap") };
        assert_eq!(refusal(key, &twice, &one), "INVALID_ARGUMENT");
        assert_eq!(refusal(key, &task("bootstrap"), &one[..one.len() - 1]), "BAD_BYTES");
        assert!(refusal(key, &task("bootstrap"), b"") == "INVALID_ARGUMENT");
        set.check(key, &task("bootstrap"), &one).unwrap();
    }

    #[test]
    fn diagonals_take_less_where_there_is_less() {
        let [rich, poor] = [u64::MAX, 0].map(|budget| set(budget).info().expanded_key_bytes);
        assert!(poor < rich);
    }
}
