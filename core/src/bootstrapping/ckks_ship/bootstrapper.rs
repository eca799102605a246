//! SHIP as a [`Method`].

use super::{evaluator::ShipEvaluator, keys::KeySource};
use crate::{
    arith::Word,
    bootstrapping::{Method, MethodInfo, method::SlotMode},
    error::Error,
    schemes::ckks::{Ciphertext, CkksEvaluator},
    trace::{Observer, StageInfo},
};

/// SHIP in the registry.
pub const METHOD: MethodInfo = MethodInfo {
    id: "ckks-ship",
    title: "SHIP: CKKS bootstrapping through roots of unity",
    source: "Cheon, Hanrot, Kim, Stehlé, ePrint 2025/784",
};

/// An evaluator with its keys and a mode.
pub struct ShipBootstrapper<'a, W: Word = u32> {
    /// The evaluator.
    pub evaluator: &'a ShipEvaluator<W>,
    /// The evaluation keys.
    pub keys: &'a dyn KeySource<W>,
    /// What the slots hold.
    pub mode: SlotMode,
}

impl<W: Word> Method<W> for ShipBootstrapper<'_, W> {
    fn ckks(&self) -> &CkksEvaluator<W> {
        self.evaluator.ckks()
    }

    fn input_level(&self) -> usize {
        self.evaluator.params().input_level()
    }

    fn output_level(&self) -> usize {
        self.evaluator.params().output_level()
    }

    fn stages(&self) -> &[StageInfo] {
        self.evaluator.params().stages()
    }

    fn bootstrap(
        &self,
        ciphertext: &Ciphertext<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        self.evaluator.bootstrap(ciphertext, self.mode, self.keys, observer)
    }
}
