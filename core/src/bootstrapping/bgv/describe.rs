//! The description of a BGV set.

use alloc::{string::ToString, vec, vec::Vec};

use super::{BgvParams, BgvPreset, BgvSpec};
use crate::{
    arith::Word,
    bootstrapping::{
        method::{Fact, ParamSet, Part, Scheme, SetInfo, SlotMode, Stage},
        wire_sizes::ciphertext_bytes,
    },
    circuits::linear_transform::PlaintextStorage,
    error::Error,
};

impl<W: Word> ParamSet for BgvParams<W> {
    type Spec = BgvSpec;

    fn checked(spec: &BgvSpec) -> Result<Self, Error> {
        Self::new(spec)
    }

    fn info(&self, preset: &BgvPreset) -> SetInfo {
        let key_parts = Part::list(self.key_parts().iter().map(|part| (part.label.clone(), part.bytes)));
        let levels = self.levels();
        SetInfo {
            mode: SlotMode::Integers,
            modulus: Some(self.messages().value()),
            slot_degree: Some(self.context().slot_degree()),
            security_bits: self.security().bits,
            security_statement: self.security().statement.clone(),
            log_n: self.n().ilog2(),
            slots: self.context().slots(),
            log_qp: self.log_qp(),
            log_q0p: self.log_q0_p(),
            max_level: levels.coeffs_to_slots,
            input_level: levels.input,
            output_level: levels.output,
            stages: self.stages().iter().map(Stage::from).collect(),
            ciphertext_bytes: ciphertext_bytes(self.context().rlwe()),
            expanded_key_bytes: self.expanded_key_bytes() + self.diagonal_bytes(PlaintextStorage::Evaluated),
            ..SetInfo::of(preset, Scheme::Bgv, key_parts)
        }
    }

    fn facts(&self, _preset: &BgvPreset) -> Vec<Fact> {
        vec![
            Fact::new("products between bootstraps", self.levels().left().to_string()),
            Fact::new("largest digit that is removed", self.spec().bound.to_string()),
            Fact::new("degree of the removal", self.removal().degree().to_string()),
            Fact::new("automorphisms", self.galois_elements().count().to_string()),
            Fact::diagonals(|storage| self.diagonal_bytes(storage)),
        ]
    }
}
