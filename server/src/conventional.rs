//! The engine: conventional CKKS bootstrapping of the `refloat` crate.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use refloat::Error;
use refloat::bootstrapping::ckks_conventional::{
    ConventionalBootstrapper, ConventionalEvaluator, ConventionalKeys, ConventionalParams,
    ConventionalPreset, KeySource,
};
use refloat::bootstrapping::program::conventional_key_bytes;
use refloat::bootstrapping::{MetaBootstrapper, Method};
use refloat::trace::Observer;
use refloat::wire;

use crate::ckks_jobs::{self, Levels};
use crate::engine::{
    Engine, LoadError, LoadedKeys, Operation, PartReader, ReadPart, SetInfo, SlotMode, Task,
};
use crate::id::Id;
use crate::plan::MemoryPlan;
use crate::programs::{ProgramJob, result_bytes};
use crate::streamed::StreamedKeys;

/// Conventional sets, with what their keys and diagonals may take.
pub struct ConventionalEngine {
    sets: Vec<Set>,
    described: Vec<SetInfo>,
}

struct Set {
    params: ConventionalParams,
    /// Bits that a further round gains.
    gain_bits: u32,
    plan: MemoryPlan,
    /// The evaluator, as long as keys of the set are loaded: its diagonals take gigabytes.
    evaluator: Mutex<Weak<ConventionalEvaluator>>,
}

/// What a run needs.
struct Loaded {
    evaluator: Arc<ConventionalEvaluator>,
    /// In memory, or in files.
    keys: Box<dyn KeySource<u64> + Send>,
}

impl ConventionalEngine {
    /// Validates every set. A set keeps its diagonals evaluated if they fit `budget` bytes together with one set of keys, and
    /// as coefficients otherwise.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn new(budget: u64) -> Result<Self, Error> {
        Self::of(ConventionalPreset::readable(), budget)
    }

    /// [`Self::new`] for some sets.
    ///
    /// # Errors
    /// None for the sets of a released version.
    pub fn of<'a>(
        presets: impl IntoIterator<Item = &'a ConventionalPreset>,
        budget: u64,
    ) -> Result<Self, Error> {
        let mut engine = Self { sets: Vec::new(), described: Vec::new() };
        for preset in presets {
            let params = preset.params()?;
            let plan = MemoryPlan::keeping(&params, budget);
            engine.described.push(SetInfo { expanded_key_bytes: plan.kept(), ..preset.describe(&params) });
            engine.sets.push(Set {
                params,
                gain_bits: preset.gain_bits()?,
                plan,
                evaluator: Mutex::default(),
            });
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
    fn evaluator(&self) -> Result<Arc<ConventionalEvaluator>, Error> {
        let mut known = self.evaluator.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(evaluator) = known.upgrade() {
            return Ok(evaluator);
        }
        let made = Arc::new(ConventionalEvaluator::new(&self.params, self.plan.storage())?);
        *known = Arc::downgrade(&made);
        Ok(made)
    }
}

impl Engine for ConventionalEngine {
    fn sets(&self) -> &[SetInfo] {
        &self.described
    }

    fn backend(&self) -> String {
        refloat::about().backend_u64.to_owned()
    }

    fn largest_input(&self, set: &SetInfo) -> usize {
        let programs = self.find(&set.name).map_or(0, |set| ProgramJob::largest(&set.params));
        programs.max(set.largest_ciphertext())
    }

    fn verify_part(&self, set: &str, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        wire::verify_conventional_part(&self.find(set)?.params, key.0, index, bytes)
    }

    fn check_ciphertext(&self, set: &str, key: Id, task: &Task, bytes: &[u8]) -> Result<u64, Error> {
        let Set { params, gain_bits, plan, .. } = self.find(set)?;
        check_mode(params, task.mode)?;
        let rounds = ckks_jobs::rounds(task, *gain_bits)?;
        if task.operations == [Operation::Program] {
            let job = ProgramJob::from_bytes(params, bytes)?;
            let program = job.plan(params, key)?;
            let takes = conventional_key_bytes(params, &program)?;
            if plan.streamed && plan.keys < takes {
                return Err(Error::Limit(format!(
                    "the program holds {takes} bytes of keys of {} at once, and {} are set aside for them; give keys more \
                     memory, or divide the matrices of the program",
                    params.name(),
                    plan.keys
                )));
            }
            return Ok(result_bytes(params, &program));
        }
        if task.operations.contains(&Operation::Program) {
            return Err(ckks_jobs::program_alone());
        }
        let ciphertext = wire::ciphertext_from_bytes(params.ckks(), bytes)?;
        let levels = params.levels();
        let levels = Levels { square: 1, input: levels.input, output: levels.output };
        let level = ckks_jobs::check(levels, rounds, key, &ciphertext, &task.operations)?;
        Ok(wire::ciphertext_len(params.ckks(), level, 2) as u64)
    }

    fn load_keys(&self, set: &str, key: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError> {
        let set = self.find(set).map_err(LoadError::Engine)?;
        let mut builder = ConventionalKeys::builder(&set.params, key.0);
        for index in 0..set.params.key_parts().len() {
            let bytes = read(index).map_err(LoadError::Io)?;
            builder.add(index, &bytes).map_err(LoadError::Engine)?;
        }
        let keys = builder.finish().map_err(LoadError::Engine)?;
        let evaluator = set.evaluator().map_err(LoadError::Engine)?;
        let bytes = (keys.memory_bytes() + evaluator.memory_bytes()) as u64;
        Ok(LoadedKeys { bytes, inner: Box::new(Loaded { evaluator, keys: Box::new(keys) }) })
    }

    fn open_keys(&self, set: &str, key: Id, read: &PartReader) -> Option<Result<LoadedKeys, Error>> {
        let set = self.find(set).ok().filter(|set| set.plan.streamed)?;
        let open = || {
            let keys = StreamedKeys::new(&set.params, key.0, set.plan.keys, Arc::clone(read))?;
            let inner = Loaded { evaluator: set.evaluator()?, keys: Box::new(keys) };
            Ok(LoadedKeys { bytes: set.plan.kept(), inner: Box::new(inner) })
        };
        Some(open())
    }

    fn run(
        &self,
        set: &str,
        keys: &LoadedKeys,
        task: &Task,
        ciphertext: &[u8],
        observer: &mut dyn Observer,
    ) -> Result<Vec<u8>, Error> {
        let Set { params, gain_bits, .. } = self.find(set)?;
        let (context, rounds) = (params.ckks(), ckks_jobs::rounds(task, *gain_bits)?);
        let Loaded { evaluator, keys } = keys.inner.downcast_ref().ok_or_else(|| {
            Error::InvalidArgument("the loaded keys were not loaded by this engine".to_owned())
        })?;
        let keys = keys.as_ref();
        let method = ConventionalBootstrapper { evaluator, keys };
        if task.operations == [Operation::Program] {
            return ProgramJob::from_bytes(evaluator.params(), ciphertext)?.run(&method, observer);
        }
        let method = MetaBootstrapper::with(&method, rounds)?;
        let input = wire::ciphertext_from_bytes(context, ciphertext)?;
        let output = ckks_jobs::apply(Id(keys.key_id()), task, input, observer, |operation, x, observer| {
            match operation {
                Operation::Square => evaluator.multiply(x, x, keys),
                Operation::Bootstrap => method.bootstrap(x, observer),
                Operation::Circuit | Operation::LookUp => Err(ckks_jobs::no_circuit()),
                Operation::Program => Err(ckks_jobs::program_alone()),
            }
        })?;
        wire::ciphertext_to_bytes(context, &output)
    }
}

/// Slots are complex numbers; real ones are those without an imaginary part.
///
/// # Errors
/// [`Error::InvalidArgument`] for bits.
pub fn check_mode(params: &ConventionalParams, mode: SlotMode) -> Result<(), Error> {
    if mode != SlotMode::Bits {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "slots were said to hold bits values, {} serves real and complex numbers; choose another set",
        params.name()
    )))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use refloat::bootstrapping::ckks_conventional::{ConventionalSecretKey, EVAL_MOD, SwitchingKeyId};
    use refloat::circuits::program::{Bootstraps, Builder};
    use refloat::params::conventional_preset;
    use refloat::random::Seed;
    use refloat::schemes::ckks::Complex;
    use refloat::trace::StageEvent;

    use super::*;

    const TOY: &str = "toy-conventional10-sparse";

    /// Stops when the reduction begins.
    struct Stop(Vec<&'static str>);
    impl Observer for Stop {
        fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
            self.0.push(event.stage());
            if event.stage() == EVAL_MOD { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    #[test]
    fn sets_are_described_with_their_sizes_and_keep_what_the_budget_allows() {
        let sets = ["n16", TOY].map(|name| conventional_preset(name).unwrap());
        let [rich, poor] = [u64::MAX, 0].map(|budget| ConventionalEngine::of(sets, budget).unwrap());
        let [n16, toy] = rich.sets() else { panic!("two sets") };
        assert!(n16.secure && n16.slots == 1 << 15 && n16.output_level == 9 && !toy.secure);
        assert_eq!(n16.key_bytes, n16.key_parts.iter().map(|part| part.bytes as u64).sum::<u64>());
        assert!(n16.expanded_key_bytes > 2 * n16.key_bytes, "seeded and packed against expanded");
        assert!(poor.sets()[0].expanded_key_bytes < n16.expanded_key_bytes);
        assert_eq!((n16.stages.len(), n16.ciphertext_bytes.len()), (4, n16.max_level + 1));
    }

    #[test]
    fn programs_have_their_keys_at_hand_or_are_refused() {
        let sets = [conventional_preset(TOY).unwrap()];
        let params = sets[0].params().unwrap();
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
        let (key, least) = (Id(secret.key_id()), MemoryPlan::keeping(&params, 0).kept());
        let mut builder = Builder::new();
        let x = builder.input("x");
        let (fresh, turned) = (builder.bootstrap(x), builder.rotate(x, 1));
        let product = builder.multiply(fresh, turned);
        builder.output("y", product);
        let values = vec![Complex::new(0.5, 0.25); params.slots()];
        let input = secret.encrypt(&values, 1, &Seed::from_bytes([4; 32])).unwrap();
        let (program, bootstraps) = (builder.finish().unwrap(), Bootstraps::AsWritten);
        let job = ProgramJob { program, bootstraps, inputs: vec![input] }.to_bytes(&params).unwrap();
        let task = Task { mode: SlotMode::Complex, operations: vec![Operation::Program], rounds: 1 };
        let read: PartReader = {
            let parts: Vec<_> =
                (0..params.key_parts().len()).map(|index| secret.key_part(index).unwrap()).collect();
            Arc::new(move |index: usize| Ok(parts[index].clone()))
        };
        let of = |budget: u64| ConventionalEngine::of(sets, budget).unwrap();
        let refused = of(least).check_ciphertext(TOY, key, &task, &job).unwrap_err();
        assert!(refused.code() == "LIMIT" && refused.to_string().contains("give keys more"), "{refused}");
        let relinearization = params.switching_key_bytes(SwitchingKeyId::Relinearization);
        let results = [least + relinearization, u64::MAX].map(|budget| {
            let engine = of(budget);
            engine.check_ciphertext(TOY, key, &task, &job).unwrap();
            let opened = engine.open_keys(TOY, key, &read);
            assert_eq!(opened.is_some(), budget < u64::MAX);
            let keys = match opened {
                Some(keys) => keys.unwrap(),
                None => engine.load_keys(TOY, key, &mut |index| read(index)).unwrap(),
            };
            engine.run(TOY, &keys, &task, &job, &mut ()).unwrap()
        });
        assert!(results[0] == results[1]);
    }

    #[test]
    fn a_ciphertext_is_refreshed_with_uploaded_keys_and_what_does_not_fit_is_refused() {
        let engine = ConventionalEngine::of([conventional_preset(TOY).unwrap()], u64::MAX).unwrap();
        let params = &engine.find(TOY).unwrap().params;
        let secret = ConventionalSecretKey::generate(params, &Seed::from_bytes([3; 32]));
        let key = Id(secret.key_id());
        let keys = engine.load_keys(TOY, key, &mut |index| Ok(secret.key_part(index).unwrap())).unwrap();
        assert_eq!(keys.bytes, engine.sets()[0].expanded_key_bytes);
        let values: Vec<Complex> = (0..params.slots()).map(|i| Complex::new(0.5, i as f64 / 64.0)).collect();
        let encrypt = |level| {
            let ciphertext = secret.encrypt(&values, level, &Seed::from_bytes([4; 32])).unwrap();
            wire::ciphertext_to_bytes(params.ckks(), &ciphertext).unwrap()
        };
        let task = |operations: &[Operation]| Task {
            mode: SlotMode::Complex,
            operations: operations.to_vec(),
            rounds: 1,
        };
        let plan = task(&[Operation::Square, Operation::Bootstrap, Operation::Square]);
        let input = encrypt(1);
        engine.check_ciphertext(TOY, key, &plan, &input).unwrap();
        let output = engine.run(TOY, &keys, &plan, &input, &mut ()).unwrap();
        let output = wire::ciphertext_from_bytes(params.ckks(), &output).unwrap();
        assert_eq!(output.level(), params.levels().output - 1);
        let slots = secret.decrypt(&output).unwrap();
        for (found, z) in slots.reveal_to_key_owner().iter().zip(&values) {
            let expected = *z * *z * *z * *z;
            assert!((*found - expected).abs() < 1e-3, "{found:?} {expected:?}");
        }

        let mut stop = Stop(Vec::new());
        let stopped = engine.run(TOY, &keys, &plan, &input, &mut stop).unwrap_err();
        assert_eq!((stopped.code(), stop.0.len()), ("ABORTED", 7), "{stopped}");

        let refusal = |key, task: &Task, bytes: &[u8]| {
            engine.check_ciphertext(TOY, key, task, bytes).unwrap_err().code()
        };
        assert_eq!(refusal(key, &task(&[Operation::Square]), &encrypt(0)), "LEVEL_MISMATCH");
        assert_eq!(refusal(key, &task(&[Operation::Circuit]), &input), "INVALID_ARGUMENT");
        assert_eq!(refusal(Id([0; 16]), &plan, &input), "PARAMS_MISMATCH");
        assert_eq!(refusal(key, &Task { mode: SlotMode::Bits, ..plan.clone() }, &input), "INVALID_ARGUMENT");
        assert_eq!(refusal(key, &plan, &input[1..]), "BAD_BYTES");
    }
}
