//! Programs on integers, with the levels and keys of a set.

use alloc::vec::Vec;

use super::{bootstrapper::BgvBootstrapper, params::BgvParams};
use crate::{
    arith::Word,
    bootstrapping::raising::KeySource,
    circuits::program::integer_program::{IntegerBootstrap, IntegerMachine, IntegerPlan, IntegerTarget},
    error::Error,
    schemes::bgv::BgvCiphertext,
    trace::Observer,
};

impl<W: Word> BgvParams<W> {
    /// The target that programs are planned for: levels of messages, and all keys of the set.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a set of odd index, for which no programs are planned.
    pub fn program_target(&self) -> Result<IntegerTarget<W>, Error> {
        let levels = self.levels();
        let target = IntegerTarget::new(self.context(), levels.output)?;
        Ok(target
            .with_relinearization(levels.removal)
            .with_galois(self.galois_elements())
            .with_bootstrapping(IntegerBootstrap {
                input: levels.input,
                takes: self.noise_taken(),
                leaves: self.noise_left()?,
            }))
    }
}

impl<W: Word> BgvBootstrapper<W> {
    /// Runs a plan that was made for [`BgvParams::program_target`].
    ///
    /// # Errors
    /// As [`IntegerPlan::run`]; [`Error::ParamsMismatch`] for inputs of another set, and for keys that are not their owner's.
    pub fn run_program(
        &self,
        plan: &IntegerPlan<'_, W>,
        keys: &dyn KeySource<W>,
        inputs: &[BgvCiphertext<W>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<BgvCiphertext<W>>, Error> {
        inputs.iter().try_for_each(|x| self.check(x, keys))?;
        let relinearization = keys.relinearization_key()?;
        let refresh = |x: &BgvCiphertext<W>, observer: &mut dyn Observer| self.bootstrap(x, keys, observer);
        let machine = IntegerMachine {
            evaluator: self.bgv(),
            relinearization: Some(&*relinearization),
            galois: Some(keys),
            refresh: Some(&refresh),
        };
        plan.run(&machine, inputs, observer)
    }
}
