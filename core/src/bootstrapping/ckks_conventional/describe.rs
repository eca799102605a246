//! The description of a conventional set.

use alloc::{format, string::ToString, vec, vec::Vec};

use super::{ConventionalParams, ConventionalPreset, ConventionalSpec};
use crate::{
    arith::Word,
    bootstrapping::{
        method::{Fact, ParamSet, Part, Scheme, SetInfo, SlotMode, Stage},
        parts::ciphertext_bytes,
    },
    circuits::linear_transform::PlaintextStorage,
    error::Error,
};

impl<W: Word> ParamSet for ConventionalParams<W> {
    type Spec = ConventionalSpec;

    fn checked(spec: &ConventionalSpec) -> Result<Self, Error> {
        Self::new(spec)
    }

    fn info(&self, preset: &ConventionalPreset) -> SetInfo {
        let key_parts = Part::list(self.key_parts().iter().map(|part| (part.label.clone(), part.bytes)));
        let levels = self.levels();
        SetInfo {
            mode: SlotMode::Real,
            security_bits: self.security().bits,
            security_statement: self.security().statement.clone(),
            log_n: self.n().ilog2(),
            slots: self.slots(),
            log_qp: self.log_qp(),
            log_q0p: self.log_q0_p(),
            max_level: levels.coeffs_to_slots,
            input_level: levels.input,
            output_level: levels.output,
            log_failure: self.log2_failure(),
            gain_bits: preset.gain_bits().ok(),
            stages: self.stages().iter().map(Stage::from).collect(),
            ciphertext_bytes: ciphertext_bytes(self.ckks()),
            expanded_key_bytes: self.expanded_key_bytes() + self.diagonal_bytes(PlaintextStorage::Evaluated),
            ..SetInfo::of(preset, Scheme::Ckks, key_parts)
        }
    }

    fn facts(&self, preset: &ConventionalPreset) -> Vec<Fact> {
        let [fewest, most] = preset.promised.log_slots.map(|log| 1u32 << log);
        let megabytes = |storage| self.diagonal_bytes(storage) / 1_000_000;
        let range = if fewest == most { format!("{most}") } else { format!("{fewest} to {most}") };
        let mut facts = vec![
            Fact::new("slots that the promise is for", range),
            Fact::new("products between bootstraps", self.levels().left().to_string()),
            Fact::new("order of stages", self.spec().order.name()),
            Fact::new("automorphisms", self.galois_elements().count().to_string()),
            Fact::new(
                "diagonals",
                format!(
                    "{} MB evaluated, {} MB as coefficients",
                    megabytes(PlaintextStorage::Evaluated),
                    megabytes(PlaintextStorage::Coefficients)
                ),
            ),
        ];
        // Only where precision is lost before the range of the reduction ends.
        if let Some(log) = self.log2_imprecise().filter(|_| self.log2_imprecise() > self.log2_failure()) {
            facts.push(Fact::new("a bootstrap is less precise with", format!("2^{log:.1}")));
        }
        facts
    }
}
