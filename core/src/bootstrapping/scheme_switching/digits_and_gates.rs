//! Programs on sets for modular reduction that are linked to gates: digits are read, and questions about the order of numbers answered
//! by gates or by digits.

use alloc::{sync::Arc, vec::Vec};
use core::fmt;

use super::{
    evaluator::{LinkEvaluator, LinkTables},
    keys::LinkKeys,
    params::LinkParams,
    questions,
    run::OrderRun,
};
use crate::{
    bootstrapping::{
        Method,
        ckks_msb::{MsbBootstrapper, RootsSpec},
        program::ProgramMethod,
        raising::KeySource,
    },
    circuits::program::{DigitReader, PlannedDigits, Reading, Readings, Target},
    error::Error,
    schemes::ckks::{Ciphertext, CkksEvaluator, Scale},
    trace::{Observer, StageInfo},
};

impl LinkParams<RootsSpec> {
    /// The target that programs are planned for: that of the set for modular reduction, with questions about the order of numbers.
    pub fn program_target(&self) -> Result<Target, Error> {
        let target = self.ckks().program_target()?;
        let Some(digits) = target.digit_reader() else { return Ok(target) };
        let both = Both { params: self.clone(), digits };
        Ok(target.with_digits(Arc::new(both)).with_orders_by_digits(self.ckks().digit_orders()))
    }
}

/// What plans need to know of a set.
struct Both {
    params: LinkParams<RootsSpec>,
    digits: Arc<dyn DigitReader>,
}

impl fmt::Debug for Both {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "digits and orders of {}", self.params.name())
    }
}

impl DigitReader for Both {
    fn plan(&self, scale: Scale, readings: Readings<'_>) -> Result<PlannedDigits, Error> {
        if are_orders(readings) {
            questions::planned(&self.params, scale, readings)
        } else {
            self.digits.plan(scale, readings)
        }
    }
}

fn are_orders(readings: Readings<'_>) -> bool {
    matches!(readings.list.first(), Some(Reading::Order(_)))
}

/// An evaluator with its keys as a [`Method`]: bootstraps are those of the set for modular reduction.
pub struct DigitLinkBootstrapper<'a> {
    evaluator: LinkEvaluator<RootsSpec>,
    digits: MsbBootstrapper<'a>,
}

impl<'a> DigitLinkBootstrapper<'a> {
    /// A bootstrapper with the tables that evaluators of the set share, and with keys.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for keys of another set.
    pub fn new(tables: &'a Arc<LinkTables<RootsSpec>>, keys: &'a Arc<LinkKeys>) -> Result<Self, Error> {
        let evaluator = LinkEvaluator::with(tables, keys)?;
        let radix = evaluator.params().ckks().refreshing_radix()?;
        Ok(Self { evaluator, digits: MsbBootstrapper::new(tables.ckks(), keys.ckks(), &radix)? })
    }
}

impl ProgramMethod<u64> for DigitLinkBootstrapper<'_> {
    fn program_keys(&self) -> &dyn KeySource<u64> {
        self.evaluator.keys().ckks()
    }
}

impl Method<u64> for DigitLinkBootstrapper<'_> {
    fn ckks(&self) -> &CkksEvaluator<u64> {
        self.digits.ckks()
    }

    fn input_level(&self) -> usize {
        self.digits.input_level()
    }

    fn output_level(&self) -> usize {
        self.digits.output_level()
    }

    fn stages(&self) -> &[StageInfo] {
        self.digits.stages()
    }

    fn bootstrap(&self, x: &Ciphertext<u64>, observer: &mut dyn Observer) -> Result<Ciphertext<u64>, Error> {
        self.digits.bootstrap(x, observer)
    }

    fn read_digits(
        &self,
        x: &Ciphertext<u64>,
        readings: Readings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<u64>>, Error> {
        if !are_orders(readings) {
            return self.digits.read_digits(x, readings, observer);
        }
        let mut run = OrderRun::new(&self.evaluator, x, readings)?;
        while !run.step(observer)? {}
        run.finish()
    }
}
