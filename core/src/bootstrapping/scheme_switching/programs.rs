//! Programs on sets that link numbers to gates: those of numbers, and questions about their order.

use alloc::{sync::Arc, vec::Vec};
use core::fmt;

use zeroize::Zeroizing;

use super::{evaluator::LinkEvaluator, params::LinkParams, questions, run::OrderRun, secret::LinkSecretKey};
use crate::{
    bootstrapping::{
        Method,
        ckks_conventional::Reduction,
        method::{NumberSecret, NumberSet, SlotMode},
        program::ProgramMethod,
        raising::{KeySource, ReductionSpec},
    },
    circuits::program::{DigitReader, PlannedDigits, Readings, Target},
    error::Error,
    schemes::ckks::{Ciphertext, CkksContext, CkksEvaluator, Complex, MainSecret, Private, Scale},
    trace::{Observer, StageInfo},
};

impl LinkParams<Reduction> {
    /// The target that programs are planned for: that of numbers, with questions about their order.
    pub fn program_target(&self) -> Result<Target, Error> {
        Ok(self.ckks().program_target()?.with_digits(Arc::new(Reader(self.clone()))))
    }
}

/// What plans need to know of a set.
pub(super) struct Reader<R: ReductionSpec>(pub LinkParams<R>);

impl<R: ReductionSpec> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "orders of {}", self.0.name())
    }
}

impl<R: ReductionSpec> DigitReader for Reader<R> {
    fn plan(&self, scale: Scale, readings: Readings<'_>) -> Result<PlannedDigits, Error> {
        questions::planned(&self.0, scale, readings)
    }
}

/// An evaluator with its keys as a [`Method`]: bootstraps are those of numbers.
pub struct LinkBootstrapper {
    evaluator: LinkEvaluator<Reduction>,
}

impl LinkBootstrapper {
    /// A bootstrapper with this evaluator.
    pub fn new(evaluator: LinkEvaluator<Reduction>) -> Self {
        Self { evaluator }
    }
}

impl ProgramMethod<u64> for LinkBootstrapper {
    fn program_keys(&self) -> &dyn KeySource<u64> {
        self.evaluator.keys().ckks()
    }
}

impl Method<u64> for LinkBootstrapper {
    fn ckks(&self) -> &CkksEvaluator<u64> {
        self.evaluator.ckks().ckks()
    }

    fn input_level(&self) -> usize {
        self.evaluator.params().ckks().levels().input
    }

    fn output_level(&self) -> usize {
        self.evaluator.params().ckks().levels().output
    }

    fn stages(&self) -> &[StageInfo] {
        self.evaluator.params().ckks().stages()
    }

    fn bootstrap(&self, x: &Ciphertext<u64>, observer: &mut dyn Observer) -> Result<Ciphertext<u64>, Error> {
        self.evaluator.ckks().bootstrap(x, self.evaluator.keys().ckks(), observer)
    }

    fn read_digits(
        &self,
        x: &Ciphertext<u64>,
        readings: Readings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<u64>>, Error> {
        let mut run = OrderRun::new(&self.evaluator, x, readings)?;
        while !run.step(observer)? {}
        run.finish()
    }
}

impl<R: ReductionSpec> NumberSet<u64> for LinkParams<R> {
    fn context(&self) -> &CkksContext<u64> {
        self.ckks().context()
    }

    fn message_scale(&self) -> Scale {
        self.ckks().message_scale()
    }

    fn lowest_message_level(&self) -> usize {
        self.ckks().lowest_message_level()
    }

    fn check_message_level(&self, level: usize) -> Result<(), Error> {
        self.ckks().check_message_level(level)
    }

    fn slots_of_numbers(&self, numbers: &[f64], mode: SlotMode) -> Result<Zeroizing<Vec<Complex>>, Error> {
        self.ckks().slots_of_numbers(numbers, mode)
    }
}

impl<R: ReductionSpec> NumberSecret<u64> for LinkSecretKey<R> {
    fn number_set(&self) -> &dyn NumberSet<u64> {
        self.ckks().number_set()
    }

    fn main_secret(&self) -> Result<MainSecret<'_, u64>, Error> {
        self.ckks().main_secret()
    }

    fn decrypt_numbers(&self, x: &Ciphertext<u64>, mode: SlotMode) -> Result<Private<Vec<f64>>, Error> {
        self.ckks().decrypt_numbers(x, mode)
    }

    /// The largest error of a bootstrap of numbers. Nothing is promised for what comes back from gates: its bound has to be stated.
    fn largest_error(&self, public: bool) -> Result<f64, Error> {
        self.ckks().largest_error(public)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bootstrapping::scheme_switching::{DigitLinkPreset, LinkPreset},
        random::Seed,
        schemes::ckks::{ErrorBound, Release, ReleaseBudget, flooding::assert_deviation},
    };

    #[test]
    fn numbers_of_a_link_are_flooded_as_those_of_their_set() {
        let params = DigitLinkPreset::named("toy-msb-link").unwrap().params().unwrap();
        let key = LinkSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let values = alloc::vec![0.75; params.ckks().slots()];
        let x = key.encrypt_numbers(&values, SlotMode::Real, 3, &Seed::from_bytes([2; 32])).unwrap();
        let mut budget = ReleaseBudget::new(1, 30).unwrap();
        let own = Release { error: ErrorBound::Secret(1.0), ..Release::default() };
        let mut told =
            || key.decrypt_for_release(&x, SlotMode::Real, &own, &mut budget, &Seed::from_bytes([3; 32]));
        let sigma = libm::sqrt(12.0 * 1024.0) * libm::exp2(15.0) * key.ckks().largest_error(false).unwrap();
        assert_deviation(&told().unwrap(), &values, sigma);
        assert_eq!(told().unwrap_err().code(), "LIMIT");
        // Its chain is not that of a named set of numbers.
        let toy = LinkPreset::named("toy-link").unwrap().params().unwrap();
        let key = LinkSecretKey::generate(&toy, &Seed::from_bytes([1; 32]));
        assert!(key.largest_error(false).unwrap_err().repair().is_some());
    }
}
