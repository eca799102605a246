//! The description of a set for modular reduction.

use alloc::{format, string::ToString, vec::Vec};

use super::{MsbParams, MsbPreset, MsbSpec, radix::MAX_MODULUS, stages};
use crate::{
    arith::Word,
    bootstrapping::method::{Fact, ParamSet, SetInfo, SlotMode, Stage},
    error::Error,
};

impl<W: Word> ParamSet for MsbParams<W> {
    type Spec = MsbSpec;

    fn checked(spec: &MsbSpec) -> Result<Self, Error> {
        Self::new(spec)
    }

    /// Bootstraps as programs have them; as many digits as a number can have, for the probability of a failure.
    fn info(&self, preset: &MsbPreset) -> SetInfo {
        let tables = self.levels().output - self.refreshed_level();
        let passes = f64::from(MAX_MODULUS.ilog2());
        let set = self.described(preset);
        SetInfo {
            mode: SlotMode::Real,
            output_level: self.refreshed_level(),
            log_failure: set.log_failure.map(|one| one + libm::log2(passes)),
            stages: stages::of_pass(self.spec(), true, tables).iter().map(Stage::from).collect(),
            ..set
        }
    }

    fn facts(&self, preset: &MsbPreset) -> Vec<Fact> {
        let mut facts = alloc::vec![
            Fact::new("largest base of a digit", preset.promised.base.to_string()),
            Fact::new("largest modulus", MAX_MODULUS.to_string()),
            Fact::new("levels for tables and products between bootstraps", self.levels().left().to_string()),
        ];
        facts.push(Fact::new("bootstraps", "keep real numbers in (-1/2, 1/2), rounded to 15 bits"));
        facts.extend(self.size_facts());
        facts.push(Fact::new("largest message", format!("{}", super::LARGEST_MESSAGE)));
        facts
    }
}
