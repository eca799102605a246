//! Sizes on the wire for sets with levels: parts of evaluation keys, and ciphertexts.

use alloc::vec::Vec;

use crate::{arith::Word, ring::Basis, rlwe::RlweContext};

/// Largest part on the wire, in bytes, unless a single sample is larger.
pub const MAX_PART_BYTES: usize = 8 << 20;

/// Bytes of a part besides its residues: header 64, public seed 32, index 8, digest 32.
pub const PART_OVERHEAD: usize = 64 + 32 + 8 + 32;

/// Bytes of one sample on the wire: its first component, residues packed to the bit length of their prime.
pub(super) fn sample_bytes<W: Word>(basis: &Basis<W>) -> usize {
    basis.primes().map(|p| (basis.degree() * (64 - (p - 1).leading_zeros()) as usize).div_ceil(8)).sum()
}

/// Bytes of a ciphertext on the wire besides its residues: header 64, level, components and fields of its scheme 24, digest 32.
const CIPHERTEXT_OVERHEAD: usize = 64 + 24 + 32;

/// Bytes of a ciphertext on the wire at each level from 0.
pub(super) fn ciphertext_bytes<W: Word>(rlwe: &RlweContext<W>) -> Vec<usize> {
    (0..=rlwe.max_level()).map(|level| CIPHERTEXT_OVERHEAD + 2 * sample_bytes(rlwe.q(level))).collect()
}
