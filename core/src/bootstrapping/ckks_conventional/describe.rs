//! The description of a conventional set.

use alloc::{format, string::ToString, vec, vec::Vec};

use super::{ConventionalParams, ConventionalPreset, ConventionalSpec};
use crate::{
    arith::Word,
    bootstrapping::method::{Fact, ParamSet, SetInfo, SlotMode},
    error::Error,
};

impl<W: Word> ParamSet for ConventionalParams<W> {
    type Spec = ConventionalSpec;

    fn checked(spec: &ConventionalSpec) -> Result<Self, Error> {
        Self::new(spec)
    }

    fn info(&self, preset: &ConventionalPreset) -> SetInfo {
        SetInfo { mode: SlotMode::Real, gain_bits: preset.gain_bits().ok(), ..self.described(preset) }
    }

    fn facts(&self, preset: &ConventionalPreset) -> Vec<Fact> {
        let [fewest, most] = preset.promised.log_slots.map(|log| 1u32 << log);
        let range = if fewest == most { format!("{most}") } else { format!("{fewest} to {most}") };
        let mut facts = vec![
            Fact::new("slots that the promise is for", range),
            Fact::new("products between bootstraps", self.levels().left().to_string()),
        ];
        facts.extend(self.size_facts());
        // Only if losing precision is likelier than failing.
        if let Some(log) = self.log2_imprecise().filter(|_| self.log2_imprecise() > self.log2_failure()) {
            facts.push(Fact::new(
                "probability that a bootstrap is less precise than promised",
                format!("2^{log:.1}"),
            ));
        }
        facts
    }
}
