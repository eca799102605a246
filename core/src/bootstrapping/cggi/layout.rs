//! What the evaluation keys consist of, computed from the parameters alone.

use alloc::{format, string::String, vec, vec::Vec};
use core::ops::Range;

use super::methods;
use crate::{arith::Word, bootstrapping::wire_sizes::PART_OVERHEAD, schemes::cggi::CggiParams};

/// Largest part on the wire, in bytes of packed residues.
pub const MAX_PART_BYTES: usize = 4 << 20;

/// What a part holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CggiPartKind {
    /// The bodies of the key-switching key.
    KeySwitch,
    /// The bodies of these ring samples of the blind rotation.
    Rotation(Range<usize>),
}

/// One part of the evaluation keys, as it travels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CggiKeyPart {
    /// Position in the list of parts.
    pub index: usize,
    /// What it holds.
    pub kind: CggiPartKind,
    /// Name for people.
    pub label: String,
    /// Exact length on the wire.
    pub bytes: usize,
}

impl CggiKeyPart {
    /// Bytes of its packed residues.
    pub(crate) fn residue_bytes(&self) -> usize {
        self.bytes - PART_OVERHEAD
    }
}

/// Bytes of a ciphertext on the wire, alone in its list, beside its residues: header 64, encoding and weight 8, digest 32.
const CIPHERTEXT_OVERHEAD: usize = 64 + 8 + 32;

/// Bytes of `residues` residues modulo p, packed to the bit length of p.
fn packed_bytes<W: Word>(params: &CggiParams<W>, residues: usize) -> usize {
    let bits = u64::BITS - (params.modulus().value_u64() - 1).leading_zeros();
    (residues * bits as usize).div_ceil(8)
}

/// Bytes of a ciphertext on the wire, alone in its list.
pub(super) fn ciphertext_bytes<W: Word>(params: &CggiParams<W>) -> usize {
    CIPHERTEXT_OVERHEAD + packed_bytes(params, params.n() + 1)
}

/// Number of ring samples of the blind rotation's key.
pub fn rotation_samples<W: Word>(params: &CggiParams<W>) -> usize {
    let products = methods::key_of(params).products(params);
    products.into_iter().map(|(count, samples)| count * samples).sum()
}

/// Words that one sample of the blind rotation's key takes in memory.
pub fn rotation_sample_words<W: Word>(params: &CggiParams<W>) -> usize {
    methods::key_of(params).columns() * params.n()
}

/// The parts of a set's evaluation keys, in order.
pub fn key_parts<W: Word>(params: &CggiParams<W>) -> Vec<CggiKeyPart> {
    let switch = params.switch();
    let bytes = PART_OVERHEAD + (switch.log_q as usize * switch.samples()).div_ceil(8);
    let (kind, label) = (CggiPartKind::KeySwitch, "key-switching key".into());
    let mut parts = vec![CggiKeyPart { index: 0, kind, label, bytes }];
    let (samples, row) = (rotation_samples(params), packed_bytes(params, params.n()));
    let each = (MAX_PART_BYTES / row).max(1);
    for first in (0..samples).step_by(each) {
        let range = first..samples.min(first + each);
        let label = format!("bootstrapping key, samples {} to {} of {samples}", range.start + 1, range.end);
        let bytes = PART_OVERHEAD + range.len() * row;
        parts.push(CggiKeyPart { index: parts.len(), kind: CggiPartKind::Rotation(range), label, bytes });
    }
    parts
}
