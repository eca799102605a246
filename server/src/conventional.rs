//! Conventional CKKS sets as jobs use them, fitted to the memory that there is.

use std::sync::Arc;

use refloat::bootstrapping::Method;
use refloat::bootstrapping::ckks_conventional::{
    self, ConventionalBootstrapper, ConventionalEvaluator, ConventionalKeys, ConventionalParams,
    ConventionalPreset, KeySource,
};
use refloat::circuits::program::Plan;
use refloat::rlwe::{GaloisSource, RelinearizationSource};
use refloat::{Error, wire};

use crate::ckks_jobs::{CkksJobs, CkksMethod, working_bytes};
use crate::engine::{JobSet, LoadError, PartReader, ReadPart, SetInfo, SlotMode, read_parts};
use crate::id::Id;
use crate::memory_plan::{MemoryPlan, Planned};
use crate::registry::{Registered, SetFilter};
use crate::streamed::StreamedKeys;

/// Conventional bootstrapping, for the registry.
pub const METHOD: Registered = Registered {
    method: ckks_conventional::METHOD,
    sets,
    client: |which| which.ckks::<ConventionalParams>(),
};

fn sets(wanted: SetFilter<'_>) -> Result<Vec<Box<dyn JobSet>>, Error> {
    let set = |preset: &ConventionalPreset| {
        let params = preset.params()?;
        let plan = MemoryPlan::keeping(&params, wanted.memory.for_keys(working_bytes(params.ckks().rlwe())));
        let info = SetInfo { expanded_key_bytes: plan.kept(), ..preset.describe(&params) };
        Ok(Box::new(CkksJobs::new(info, Planned { params, plan })?) as Box<dyn JobSet>)
    };
    wanted.presets().map(set).collect()
}

impl CkksMethod for Planned<ConventionalParams> {
    type Evaluator = ConventionalEvaluator;
    type Keys = Box<dyn KeySource<u64> + Send>;

    fn evaluator(&self) -> Result<ConventionalEvaluator, Error> {
        ConventionalEvaluator::new(&self.params, self.plan.storage())
    }

    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        wire::verify_key_part(&self.params, key.0, index, bytes)
    }

    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<Self::Keys, LoadError> {
        let mut builder = ConventionalKeys::builder(&self.params, key.0);
        read_parts(self.params.key_parts().len(), read, |index, bytes| builder.add(index, bytes))?;
        Ok(Box::new(builder.finish()?))
    }

    fn open(&self, key: Id, read: &PartReader) -> Option<Result<Self::Keys, Error>> {
        let open = || StreamedKeys::new(&self.params, key.0, self.plan.keys, Arc::clone(read));
        self.plan.streamed.then(|| Ok(Box::new(open()?) as Self::Keys))
    }

    fn bootstrapper<'a>(
        evaluator: &'a ConventionalEvaluator,
        keys: &'a Self::Keys,
        _mode: SlotMode,
    ) -> Result<impl Method<u64> + 'a, Error> {
        Ok(ConventionalBootstrapper { evaluator, keys: keys.as_ref() })
    }

    fn relinearization(keys: &Self::Keys) -> Option<impl RelinearizationSource<u64>> {
        let keys: &dyn KeySource<u64> = keys.as_ref();
        Some(keys)
    }

    fn galois(keys: &Self::Keys) -> Option<&dyn GaloisSource<u64>> {
        Some(keys.as_ref())
    }

    fn runs_programs(&self) -> bool {
        true
    }

    fn check_plan(&self, plan: &Plan<'_>) -> Result<(), Error> {
        let Self { params, plan: MemoryPlan { streamed, keys, .. } } = self;
        let takes = params.program_key_bytes(plan)?;
        if *streamed && *keys < takes {
            return Err(Error::Limit(format!(
                "the program holds {takes} bytes of keys of {} at once, and {keys} are set aside for them; give keys more \
                 memory, or divide the matrices of the program",
                params.name()
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use refloat::bootstrapping::ckks_conventional::{ConventionalSecretKey, EVAL_MOD};
    use refloat::circuits::program::{Bootstraps, Builder};
    use refloat::params::conventional_preset;
    use refloat::random::Seed;
    use refloat::schemes::ckks::Complex;
    use refloat::trace::{Observer, StageEvent};
    use refloat::wire;

    use super::*;
    use crate::engine::{Operation, Task};
    use crate::programs::{PROGRAM, ProgramJob};
    use crate::registry::Memory;

    const TOY: &str = "toy-conventional10-sparse";

    fn set(name: &str, budget: u64) -> Box<dyn JobSet> {
        sets(SetFilter { only: Some(name), memory: Memory::Keys(budget) }).unwrap().remove(0)
    }

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
        let [rich, poor] = [u64::MAX, 0].map(|budget| set("n16", budget));
        let (n16, toy) = (rich.info(), set(TOY, 0));
        assert!(n16.secure && n16.slots == 1 << 15 && n16.output_level == 9 && !toy.info().secure);
        assert_eq!(n16.key_bytes, n16.key_parts.iter().map(|part| part.bytes as u64).sum::<u64>());
        assert!(n16.expanded_key_bytes > 2 * n16.key_bytes, "seeded and packed against expanded");
        assert!(poor.info().expanded_key_bytes < n16.expanded_key_bytes);
        assert_eq!((n16.stages.len(), n16.ciphertext_bytes.len()), (4, n16.max_level + 1));
    }

    #[test]
    fn programs_have_their_keys_at_hand_or_are_refused() {
        let params = conventional_preset(TOY).unwrap().params().unwrap();
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
        let (key, little) = (Id(secret.key_id()), MemoryPlan::keeping(&params, 0));
        let mut builder = Builder::new();
        let x = builder.input("x");
        let (fresh, turned) = (builder.bootstrap(x), builder.rotate(x, 1));
        let product = builder.multiply(fresh, turned);
        builder.output("y", product);
        let values = vec![Complex::new(0.5, 0.25); params.slots()];
        let input = secret.encrypt(&values, 1, &Seed::from_bytes([4; 32])).unwrap();
        let (program, bootstraps) = (builder.finish().unwrap(), Bootstraps::AsWritten);
        let job = ProgramJob { program, bootstraps, inputs: vec![input] }.to_bytes(params.ckks()).unwrap();
        let task = Task { mode: SlotMode::Complex, operations: vec![Operation::new(PROGRAM)], rounds: 1 };
        let read: PartReader = {
            let parts: Vec<_> =
                (0..params.key_parts().len()).map(|index| secret.key_part(index).unwrap()).collect();
            Arc::new(move |index: usize| Ok(parts[index].clone()))
        };
        let written = ProgramJob::from_bytes(params.ckks(), &job).unwrap();
        let plan = written.plan(&params.program_target().unwrap(), key).unwrap();
        let takes = params.program_key_bytes(&plan).unwrap();
        let refused = Planned { plan: MemoryPlan { keys: takes - 1, ..little }, params: params.clone() }
            .check_plan(&plan)
            .unwrap_err();
        assert!(refused.code() == "LIMIT" && refused.to_string().contains("give keys more"), "{refused}");
        let results = [little.kept(), u64::MAX].map(|budget| {
            let set = set(TOY, budget);
            set.check(key, &task, &job).unwrap();
            let opened = set.open(key, &read);
            assert_eq!(opened.is_some(), budget < u64::MAX);
            let keys = match opened {
                Some(keys) => keys.unwrap(),
                None => set.load(key, &mut |index| read(index)).unwrap(),
            };
            keys.runner.run(&task, &job, &mut ()).unwrap()
        });
        assert!(results[0] == results[1]);
    }

    #[test]
    fn a_ciphertext_is_refreshed_with_uploaded_keys_and_what_does_not_fit_is_refused() {
        let set = set(TOY, u64::MAX);
        let params = &conventional_preset(TOY).unwrap().params().unwrap();
        let secret = ConventionalSecretKey::generate(params, &Seed::from_bytes([3; 32]));
        let key = Id(secret.key_id());
        let keys = set.load(key, &mut |index| Ok(secret.key_part(index).unwrap())).unwrap();
        let values: Vec<Complex> = (0..params.slots()).map(|i| Complex::new(0.5, i as f64 / 64.0)).collect();
        let encrypt = |level| {
            let ciphertext = secret.encrypt(&values, level, &Seed::from_bytes([4; 32])).unwrap();
            wire::ciphertext_to_bytes(params.ckks(), &ciphertext).unwrap()
        };
        let task = |operations: &str| Task {
            mode: SlotMode::Complex,
            operations: Operation::parse_list(operations).unwrap(),
            rounds: 1,
        };
        let plan = task("square,bootstrap,square");
        let input = encrypt(1);
        set.check(key, &plan, &input).unwrap();
        let output = keys.runner.run(&plan, &input, &mut ()).unwrap();
        let output = wire::ciphertext_from_bytes(params.ckks(), &output).unwrap();
        assert_eq!(output.level(), params.levels().output - 1);
        let slots = secret.decrypt(&output).unwrap();
        for (found, z) in slots.reveal_to_key_owner().iter().zip(&values) {
            let expected = *z * *z * *z * *z;
            assert!((*found - expected).abs() < 1e-3, "{found:?} {expected:?}");
        }

        let mut stop = Stop(Vec::new());
        let stopped = keys.runner.run(&plan, &input, &mut stop).unwrap_err();
        assert_eq!((stopped.code(), stop.0.len()), ("ABORTED", 7), "{stopped}");

        let refusal = |key, task: &Task, bytes: &[u8]| set.check(key, task, bytes).unwrap_err().code();
        assert_eq!(refusal(key, &task("square"), &encrypt(0)), "LEVEL_MISMATCH");
        assert_eq!(refusal(key, &task("circuit"), &input), "INVALID_ARGUMENT");
        assert_eq!(refusal(Id([0; 16]), &plan, &input), "PARAMS_MISMATCH");
        assert_eq!(refusal(key, &Task { mode: SlotMode::Bits, ..plan.clone() }, &input), "INVALID_ARGUMENT");
        assert_eq!(refusal(key, &plan, &input[1..]), "BAD_BYTES");
    }
}
