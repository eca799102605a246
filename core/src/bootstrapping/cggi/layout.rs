//! What the evaluation keys consist of, computed from the parameters alone.

use alloc::{format, string::String, vec, vec::Vec};
use core::ops::Range;

use super::methods;
use crate::{arith::Word, schemes::cggi::CggiParams};

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
}

/// Number of ring samples of the blind rotation's key.
pub fn rotation_samples<W: Word>(params: &CggiParams<W>) -> usize {
    let products = methods::key_of(params).products(params);
    products.into_iter().map(|(count, samples)| count * samples).sum()
}

/// Words of one of those samples in memory.
pub fn rotation_sample_words<W: Word>(params: &CggiParams<W>) -> usize {
    methods::key_of(params).columns() * params.n()
}

/// The parts of a set's evaluation keys, in order.
pub fn key_parts<W: Word>(params: &CggiParams<W>) -> Vec<CggiKeyPart> {
    let mut parts =
        vec![CggiKeyPart { index: 0, kind: CggiPartKind::KeySwitch, label: "key-switching key".into() }];
    let samples = rotation_samples(params);
    let bits = u64::BITS - params.modulus().value_u64().leading_zeros();
    let row = params.n() * bits as usize / 8;
    let each = (MAX_PART_BYTES / row).max(1);
    for first in (0..samples).step_by(each) {
        let range = first..samples.min(first + each);
        let label = format!("bootstrapping key, samples {} to {} of {samples}", range.start + 1, range.end);
        parts.push(CggiKeyPart { index: parts.len(), kind: CggiPartKind::Rotation(range), label });
    }
    parts
}
