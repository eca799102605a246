//! What is common to the descriptions of all sets whose method raises the modulus.

use alloc::{string::ToString, vec::Vec};

use super::{params::RaisingParams, reduction::ReductionSpec, spec::RaisingSpec};
use crate::{
    arith::Word,
    bootstrapping::{
        method::{Fact, Part, Preset, Scheme, SetInfo, SetSpec, Stage},
        wire_sizes::ciphertext_bytes,
    },
    circuits::linear_transform::PlaintextStorage,
};

impl<R: ReductionSpec, W: Word> RaisingParams<R, W>
where
    RaisingSpec<R>: SetSpec,
{
    /// What follows from the parameters.
    pub(in crate::bootstrapping) fn described(&self, preset: &Preset<RaisingSpec<R>>) -> SetInfo {
        let key_parts = Part::list(self.key_parts().iter().map(|part| (part.label.clone(), part.bytes)));
        let levels = self.levels();
        SetInfo {
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
            stages: self.stages().iter().map(Stage::from).collect(),
            ciphertext_bytes: ciphertext_bytes(self.ckks().rlwe()),
            expanded_key_bytes: self.expanded_key_bytes() + self.diagonal_bytes(PlaintextStorage::Evaluated),
            ..SetInfo::of(preset, Scheme::Ckks, key_parts)
        }
    }

    /// Order and sizes, for people.
    pub(in crate::bootstrapping) fn size_facts(&self) -> Vec<Fact> {
        alloc::vec![
            Fact::new("order of stages", self.spec().order.name()),
            Fact::new("automorphisms", self.galois_elements().count().to_string()),
            Fact::diagonals(|storage| self.diagonal_bytes(storage)),
        ]
    }
}
