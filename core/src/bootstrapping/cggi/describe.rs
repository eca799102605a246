//! The description of a DM/CGGI set.

use alloc::{borrow::ToOwned, vec};

use super::{
    CggiPreset,
    layout::{ciphertext_bytes, key_parts, rotation_sample_words, rotation_samples},
};
use crate::{
    arith::Word,
    bootstrapping::method::{GateInfo, ParamSet, Part, Scheme, SetInfo, Stage},
    circuits::netlist::STAGE,
    error::Error,
    schemes::cggi::{CggiParams, CggiSpec},
};

impl<W: Word> ParamSet for CggiParams<W> {
    type Spec = CggiSpec;

    fn checked(spec: &CggiSpec) -> Result<Self, Error> {
        Self::new(spec)
    }

    fn info(&self, preset: &CggiPreset) -> SetInfo {
        let spec = self.spec();
        let key_parts = Part::list(key_parts(self).into_iter().map(|part| (part.label, part.bytes)));
        SetInfo {
            security_bits: self.security().bits,
            security_statement: self.security().statement.clone(),
            log_n: spec.log_n,
            log_qp: libm::log2(spec.prime as f64),
            log_q0p: f64::from(spec.log_q),
            stages: vec![Stage::from(&STAGE)],
            ciphertext_bytes: vec![ciphertext_bytes(self)],
            expanded_key_bytes: expanded_bytes(self),
            gates: Some(GateInfo {
                rotation: spec.method.name().to_owned(),
                lwe_dimension: spec.lwe_dimension,
                messages: spec.messages,
                gate_log_failure: self.gate_failure(),
            }),
            ..SetInfo::of(preset, Scheme::Cggi, key_parts)
        }
    }
}

/// Bytes of the evaluation keys in memory: the rows of the bootstrapping key, and those of the
/// key-switching key at 2 or 4 bytes a residue.
pub(in crate::bootstrapping) fn expanded_bytes<W: Word>(params: &CggiParams<W>) -> u64 {
    let spec = params.spec();
    let lane = if spec.log_q <= 16 { 2 } else { 4 };
    let rotation = rotation_samples(params) * rotation_sample_words(params) * size_of::<W>();
    let switch = params.n() * spec.switch_digits * (spec.lwe_dimension + 1) * lane;
    (rotation + switch) as u64
}
