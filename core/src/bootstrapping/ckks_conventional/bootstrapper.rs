//! Conventional bootstrapping as a [`Method`].

use super::evaluator::ConventionalEvaluator;
use crate::{
    arith::Word,
    bootstrapping::{Method, raising::KeySource},
    error::Error,
    schemes::ckks::{Ciphertext, CkksEvaluator},
    trace::{Observer, StageInfo},
};

/// An evaluator with its keys.
pub struct ConventionalBootstrapper<'a, W: Word = u64> {
    /// The evaluator.
    pub evaluator: &'a ConventionalEvaluator<W>,
    /// The evaluation keys.
    pub keys: &'a dyn KeySource<W>,
}

impl<W: Word> Method<W> for ConventionalBootstrapper<'_, W> {
    fn ckks(&self) -> &CkksEvaluator<W> {
        self.evaluator.ckks()
    }

    fn input_level(&self) -> usize {
        self.evaluator.params().levels().input
    }

    fn output_level(&self) -> usize {
        self.evaluator.params().levels().output
    }

    fn stages(&self) -> &[StageInfo] {
        self.evaluator.params().stages()
    }

    fn bootstrap(&self, x: &Ciphertext<W>, observer: &mut dyn Observer) -> Result<Ciphertext<W>, Error> {
        self.evaluator.bootstrap(x, self.keys, observer)
    }
}
