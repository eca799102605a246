//! The description of a set for modular reduction.

use alloc::{format, string::ToString, vec::Vec};

use super::{MsbParams, MsbPreset, MsbSpec, radix::MAX_MODULUS};
use crate::{
    arith::Word,
    bootstrapping::method::{Fact, ParamSet, SetInfo, SlotMode},
    error::Error,
};

impl<W: Word> ParamSet for MsbParams<W> {
    type Spec = MsbSpec;

    fn checked(spec: &MsbSpec) -> Result<Self, Error> {
        Self::new(spec)
    }

    fn info(&self, preset: &MsbPreset) -> SetInfo {
        SetInfo { mode: SlotMode::Real, ..self.described(preset) }
    }

    fn facts(&self, preset: &MsbPreset) -> Vec<Fact> {
        let mut facts = alloc::vec![
            Fact::new("largest base of a digit", preset.promised.base.to_string()),
            Fact::new("largest modulus", MAX_MODULUS.to_string()),
            Fact::new("levels for tables and products between bootstraps", self.levels().left().to_string()),
        ];
        facts.extend(self.size_facts());
        facts.push(Fact::new("largest message", format!("{}", super::LARGEST_MESSAGE)));
        facts
    }
}
