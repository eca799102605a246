//! Sets for modular reduction as jobs use them.

use refloat::bootstrapping::Method;
use refloat::bootstrapping::ckks_msb::{self, MsbBootstrapper, MsbEvaluator, MsbKeys, MsbParams, MsbPreset};
use refloat::bootstrapping::raising::KeySource;
use refloat::rlwe::{GaloisSource, RelinearizationSource};
use refloat::{Error, wire};

use crate::ckks_jobs::{CkksJobs, CkksMethod, working_bytes};
use crate::engine::{JobSet, LoadError, ReadPart, SetInfo, SlotMode, read_parts};
use crate::id::Id;
use crate::memory_plan::{MemoryPlan, Planned};
use crate::registry::{Registered, SetFilter};

/// Modular reduction, for the registry.
pub const METHOD: Registered =
    Registered { method: ckks_msb::METHOD, sets, client: |which| which.ckks::<MsbParams>() };

fn sets(wanted: SetFilter<'_>) -> Result<Vec<Box<dyn JobSet>>, Error> {
    let set = |preset: &MsbPreset| {
        let params = preset.params()?;
        let plan =
            MemoryPlan::keeping_all(&params, wanted.memory.for_keys(working_bytes(params.ckks().rlwe())));
        let info = SetInfo { expanded_key_bytes: plan.kept(), ..preset.describe(&params) };
        Ok(Box::new(CkksJobs::new(info, Planned { params, plan })?) as Box<dyn JobSet>)
    };
    wanted.presets().map(set).collect()
}

impl CkksMethod for Planned<MsbParams> {
    type Evaluator = MsbEvaluator;
    type Keys = MsbKeys;

    fn evaluator(&self) -> Result<MsbEvaluator, Error> {
        MsbEvaluator::new(&self.params, self.plan.storage())
    }

    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        wire::verify_key_part(&self.params, key.0, index, bytes)
    }

    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<MsbKeys, LoadError> {
        let mut builder = MsbKeys::builder(&self.params, key.0);
        read_parts(self.params.key_parts().len(), read, |index, bytes| builder.add(index, bytes))?;
        Ok(builder.finish()?)
    }

    fn bootstrapper<'a>(
        evaluator: &'a MsbEvaluator,
        keys: &'a MsbKeys,
        _mode: SlotMode,
    ) -> Result<impl Method<u64> + 'a, Error> {
        MsbBootstrapper::new(evaluator, keys, &evaluator.params().refreshing_radix()?)
    }

    fn relinearization(keys: &MsbKeys) -> Option<impl RelinearizationSource<u64>> {
        let keys: &dyn KeySource<u64> = keys;
        Some(keys)
    }

    fn galois(keys: &MsbKeys) -> Option<&dyn GaloisSource<u64>> {
        Some(keys)
    }

    fn keeps_imaginary_parts(&self) -> bool {
        false
    }

    fn runs_programs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use refloat::bootstrapping::ckks_msb::MsbSecretKey;
    use refloat::circuits::program::{Bootstraps, Program};
    use refloat::params::msb_preset;
    use refloat::random::Seed;
    use refloat::schemes::ckks::{Ciphertext, Complex};
    use refloat::wire::CkksSet;

    use super::*;
    use crate::engine::{BOOTSTRAP, Operation, Task};
    use crate::programs::{PROGRAM, ProgramJob, list_from_bytes};
    use crate::registry::Memory;

    const TOY: &str = "toy-msb10";

    #[test]
    fn sets_keep_what_there_is_memory_for() {
        let set =
            |budget| sets(SetFilter { only: Some("msb16"), memory: Memory::Keys(budget) }).unwrap().remove(0);
        let [rich, poor] = [u64::MAX, 0].map(|budget| set(budget).info().expanded_key_bytes);
        assert!(poor < rich && poor > 6 << 30, "{poor}, {rich}");
    }

    #[test]
    fn programs_read_digits_with_uploaded_keys_and_numbers_are_refreshed() {
        let set = sets(SetFilter { only: Some(TOY), memory: Memory::Keys(u64::MAX) }).unwrap().remove(0);
        let params = &msb_preset(TOY).unwrap().params().unwrap();
        let secret = MsbSecretKey::generate(params, &Seed::from_bytes([3; 32]));
        let key = Id(secret.key_id());
        let keys = set.load(key, &mut |index| Ok(secret.key_part(index).unwrap())).unwrap();
        let slots: Vec<Complex> =
            (0..params.slots()).map(|i| Complex::new(i as f64 / 1024.0 - 0.25, 0.0)).collect();
        let x = secret.encrypt(&slots, params.output_level(), &Seed::from_bytes([4; 32])).unwrap();
        let task = |operation: &str| Task {
            mode: SlotMode::Real,
            operations: vec![Operation::new(operation)],
            rounds: 1,
        };
        let decrypt = |y: &Ciphertext<u64>| secret.decrypt(y).unwrap().reveal_to_key_owner().clone();

        let input = wire::ciphertext_to_bytes(params.ckks(), &x).unwrap();
        let refresh = task(BOOTSTRAP);
        set.check(key, &refresh, &input).unwrap();
        let output = keys.runner.run(&refresh, &input, &mut ()).unwrap();
        let fresh = decrypt(&wire::ciphertext_from_bytes(params.ckks(), &output).unwrap());
        assert!(fresh.iter().zip(&slots).all(|(a, b)| (a.re - b.re).abs() < 1e-3));

        let text = "x = input\nm = mod x 0.125\nb = bit x 3 2\nm = output m\nb = output b";
        let program = Program::parse(text).unwrap();
        let clear = program.evaluate(params.slots(), std::slice::from_ref(&slots)).unwrap();
        let job = ProgramJob { program, bootstraps: Bootstraps::AsWritten, inputs: vec![x] };
        let job = job.to_bytes(params.ckks()).unwrap();
        let most = set.check(key, &task(PROGRAM), &job).unwrap();
        let output = keys.runner.run(&task(PROGRAM), &job, &mut ()).unwrap();
        assert!(output.len() as u64 <= most);
        let found: Vec<Vec<Complex>> =
            list_from_bytes(params.ckks(), &output).unwrap().iter().map(decrypt).collect();
        let near = |a: f64, b: f64, modulus: f64| {
            ((a - b) / modulus - ((a - b) / modulus).round()).abs() * modulus < 1e-3
        };
        assert!(found[0].iter().zip(&clear[0]).all(|(a, b)| near(a.re, b.re, 0.125)));
        let wrong = found[1].iter().zip(&clear[1]).filter(|(a, b)| (a.re - b.re).abs() > 1e-3).count();
        // One in thirty is within a rounding of the end of a step.
        assert!(wrong < params.slots() / 16, "{wrong}");
    }
}
