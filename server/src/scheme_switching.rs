//! Sets that link numbers to gates, as jobs use them: sets of numbers, whose programs compare, and sets for modular reduction, whose
//! programs also read digits.

use std::sync::Arc;

use refloat::bootstrapping::Method;
use refloat::bootstrapping::method::{ParamSet, Preset, SetSpec};
use refloat::bootstrapping::raising::{KeySource, RaisingParams, ReductionSpec};
use refloat::bootstrapping::scheme_switching::{
    self, DigitLinkBootstrapper, LinkBootstrapper, LinkEvaluator, LinkKeys, LinkParams, LinkSpec, LinkTables,
    Reduction, RootsSpec,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::rlwe::{GaloisSource, RelinearizationSource};
use refloat::wire::{CkksSet, WireKeySet};
use refloat::{Error, wire};

use crate::ckks_jobs::{CkksJobs, CkksMethod, working_bytes};
use crate::engine::{JobSet, LoadError, ReadPart, SetInfo, SlotMode, read_parts};
use crate::id::Id;
use crate::memory_plan::{MemoryPlan, Planned};
use crate::registry::{Registered, SetFilter};

/// Scheme switching, for the registry.
pub const METHOD: Registered = Registered {
    method: scheme_switching::METHOD,
    sets,
    client: |which| match which.ckks::<LinkParams<Reduction>>()? {
        None => which.ckks::<LinkParams<RootsSpec>>(),
        found => Ok(found),
    },
};

fn sets(wanted: SetFilter<'_>) -> Result<Vec<Box<dyn JobSet>>, Error> {
    let mut all = sets_of::<Reduction>(wanted)?;
    all.extend(sets_of::<RootsSpec>(wanted)?);
    Ok(all)
}

/// The differences between sets of numbers and sets for modular reduction.
trait Numbers: ReductionSpec {
    /// Whether bootstraps keep imaginary parts.
    const IMAGINARY: bool;

    /// Evaluator and keys, ready to refresh ciphertexts.
    fn bootstrapper<'a>(
        tables: &'a Arc<LinkTables<Self>>,
        keys: &'a Arc<LinkKeys>,
    ) -> Result<impl Method<u64> + 'a, Error>;
}

impl Numbers for Reduction {
    const IMAGINARY: bool = true;

    fn bootstrapper<'a>(
        tables: &'a Arc<LinkTables<Self>>,
        keys: &'a Arc<LinkKeys>,
    ) -> Result<impl Method<u64> + 'a, Error> {
        Ok(LinkBootstrapper::new(LinkEvaluator::with(tables, keys)?))
    }
}

impl Numbers for RootsSpec {
    const IMAGINARY: bool = false;

    fn bootstrapper<'a>(
        tables: &'a Arc<LinkTables<Self>>,
        keys: &'a Arc<LinkKeys>,
    ) -> Result<impl Method<u64> + 'a, Error> {
        DigitLinkBootstrapper::new(tables, keys)
    }
}

fn sets_of<R: Numbers>(wanted: SetFilter<'_>) -> Result<Vec<Box<dyn JobSet>>, Error>
where
    LinkSpec<R>: SetSpec,
    LinkParams<R>: CkksSet<Word = u64> + ParamSet<Spec = LinkSpec<R>>,
    RaisingParams<R, u64>: WireKeySet<Word = u64>,
{
    let set = |preset: &Preset<LinkSpec<R>>| {
        let params: LinkParams<R> = preset.checked()?;
        // Reckons with the larger way to keep the diagonals of the map to the lowest levels.
        let base = params.base_diagonal_bytes(PlaintextStorage::Evaluated);
        let beside = params.gate_key_bytes() + base + working_bytes(params.ckks().ckks().rlwe());
        let plan = MemoryPlan::keeping_all(params.ckks(), wanted.memory.for_keys(beside));
        let expanded_key_bytes =
            plan.kept() + params.base_diagonal_bytes(plan.storage()) + params.gate_key_bytes();
        let info = SetInfo { expanded_key_bytes, ..preset.describe(&params) };
        Ok(Box::new(CkksJobs::new(info, Planned { params, plan })?) as Box<dyn JobSet>)
    };
    wanted.presets().map(set).collect()
}

impl<R: Numbers> CkksMethod for Planned<LinkParams<R>>
where
    LinkParams<R>: CkksSet<Word = u64>,
    RaisingParams<R, u64>: WireKeySet<Word = u64>,
{
    type Evaluator = Arc<LinkTables<R>>;
    type Keys = Arc<LinkKeys>;

    fn evaluator(&self) -> Result<Self::Evaluator, Error> {
        Ok(Arc::new(LinkTables::new(&self.params, self.plan.storage())?))
    }

    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        wire::verify_link_part(&self.params, key.0, index, bytes)
    }

    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<Self::Keys, LoadError> {
        let mut builder = LinkKeys::builder(&self.params, key.0);
        read_parts(self.params.key_parts().len(), read, |index, bytes| builder.add(index, bytes))?;
        Ok(Arc::new(builder.finish()?))
    }

    fn bootstrapper<'a>(
        evaluator: &'a Self::Evaluator,
        keys: &'a Self::Keys,
        _mode: SlotMode,
    ) -> Result<impl Method<u64> + 'a, Error> {
        R::bootstrapper(evaluator, keys)
    }

    fn relinearization(keys: &Self::Keys) -> Option<impl RelinearizationSource<u64>> {
        let keys: &dyn KeySource<u64> = keys.ckks();
        Some(keys)
    }

    fn galois(keys: &Self::Keys) -> Option<&dyn GaloisSource<u64>> {
        Some(keys.ckks())
    }

    fn keeps_imaginary_parts(&self) -> bool {
        R::IMAGINARY
    }

    fn runs_programs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use refloat::bootstrapping::scheme_switching::LinkSecretKey;
    use refloat::circuits::program::{Bootstraps, Program};
    use refloat::params::link_preset;
    use refloat::random::Seed;
    use refloat::schemes::ckks::{Ciphertext, Complex};

    use super::*;
    use crate::engine::{BOOTSTRAP, Operation, Task};
    use crate::programs::{PROGRAM, ProgramJob, list_from_bytes};
    use crate::registry::Memory;

    const TOY: &str = "toy-link";

    #[test]
    fn programs_compare_with_uploaded_keys_and_numbers_are_refreshed() {
        let set = sets(SetFilter { only: Some(TOY), memory: Memory::Keys(u64::MAX) }).unwrap().remove(0);
        let params = &link_preset(TOY).unwrap().params().unwrap();
        let secret = LinkSecretKey::generate(params, &Seed::from_bytes([3; 32]));
        let key = Id(secret.key_id());
        for index in 0..params.key_parts().len() {
            set.verify_part(key, index, &secret.key_part(index).unwrap()).unwrap();
        }
        let keys = set.load(key, &mut |index| Ok(secret.key_part(index).unwrap())).unwrap();
        let numbers = [0.2, -0.4, 0.9, 0.5, -0.8];
        let slots: Vec<Complex> = numbers.map(|x| Complex::new(x, 0.0)).to_vec();
        let level = params.ckks().levels().output;
        let x = secret.ckks().encrypt(&slots, level, &Seed::from_bytes([4; 32])).unwrap();
        let task = |operation: &str| Task {
            mode: SlotMode::Real,
            operations: vec![Operation::new(operation)],
            rounds: 1,
        };
        let decrypt = |y: &Ciphertext<u64>| secret.ckks().decrypt(y).unwrap().reveal_to_key_owner().clone();

        let input = wire::ciphertext_to_bytes(CkksSet::ckks(params), &x).unwrap();
        let refresh = task(BOOTSTRAP);
        set.check(key, &refresh, &input).unwrap();
        let output = keys.runner.run(&refresh, &input, &mut ()).unwrap();
        let fresh = decrypt(&wire::ciphertext_from_bytes(CkksSet::ckks(params), &output).unwrap());
        assert!(fresh.iter().zip(&slots).all(|(a, b)| (a.re - b.re).abs() < 1e-3));

        let text = "x = input\nm = argmax x 5\nt = top x 5 2\nr = rank x 5\ns = sign x 5\nm = output m\nt = output t\n\
                    r = output r\ns = output s";
        let program = Program::parse(text).unwrap();
        let mut all = slots.clone();
        all.resize(params.ckks().slots(), Complex::ZERO);
        let clear = program.evaluate(params.ckks().slots(), std::slice::from_ref(&all)).unwrap();
        let job = ProgramJob { program, bootstraps: Bootstraps::AsWritten, inputs: vec![x] };
        let job = job.to_bytes(CkksSet::ckks(params)).unwrap();
        let most = set.check(key, &task(PROGRAM), &job).unwrap();
        let output = keys.runner.run(&task(PROGRAM), &job, &mut ()).unwrap();
        assert!(output.len() as u64 <= most);
        let found: Vec<Vec<Complex>> =
            list_from_bytes(CkksSet::ckks(params), &output).unwrap().iter().map(decrypt).collect();
        for (found, clear) in found.iter().zip(&clear) {
            assert!(found.iter().zip(clear).all(|(a, b)| (a.re - b.re).abs() < 1e-2));
        }
        let ranks: Vec<f64> = found[2].iter().take(5).map(|z| z.re.round()).collect();
        assert_eq!(ranks, [2.0, 1.0, 4.0, 3.0, 0.0]);

        let digits = Program::parse("x = input\nm = mod x 0.25\nm = output m").unwrap();
        let input = wire::ciphertext_from_bytes(CkksSet::ckks(params), &input).unwrap();
        let job = ProgramJob { program: digits, bootstraps: Bootstraps::AsWritten, inputs: vec![input] };
        let job = job.to_bytes(CkksSet::ckks(params)).unwrap();
        let error = set.check(key, &task(PROGRAM), &job).unwrap_err().to_string();
        assert!(error.contains("modular reduction"), "{error}");
    }
}
