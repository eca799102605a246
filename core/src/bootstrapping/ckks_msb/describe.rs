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

    fn info(&self, preset: &MsbPreset) -> SetInfo {
        self.with_digits(self.described(preset))
    }

    fn facts(&self, preset: &MsbPreset) -> Vec<Fact> {
        let mut facts = self.digit_facts(preset.promised.base);
        facts.extend(self.size_facts());
        facts.push(Fact::new("largest message", format!("{}", super::LARGEST_MESSAGE)));
        facts
    }
}

impl<W: Word> MsbParams<W> {
    /// The description of a set with bootstraps as programs use them; its probability of a failure is for as many digits as a number can
    /// have.
    pub(in crate::bootstrapping) fn with_digits(&self, set: SetInfo) -> SetInfo {
        let tables = self.levels().output - self.refreshed_level();
        let passes = f64::from(MAX_MODULUS.ilog2());
        SetInfo {
            mode: SlotMode::Real,
            output_level: self.refreshed_level(),
            log_failure: set.log_failure.map(|one| one + libm::log2(passes)),
            stages: stages::of_pass(self.spec(), true, tables).iter().map(Stage::from).collect(),
            ..set
        }
    }

    /// The facts about digits in bases up to `base`.
    pub(in crate::bootstrapping) fn digit_facts(&self, base: u32) -> Vec<Fact> {
        alloc::vec![
            Fact::new("largest base of a digit", base.to_string()),
            Fact::new("largest modulus", MAX_MODULUS.to_string()),
            Fact::new("levels for tables and products between bootstraps", self.levels().left().to_string()),
            Fact::new("bootstraps", "keep real numbers in (-1/2, 1/2), rounded to 15 bits"),
        ]
    }
}
