//! Sizes of the parts in which evaluation keys of CKKS sets travel.

use crate::{arith::Word, ring::Basis};

/// Largest part on the wire, in bytes, unless a single sample is larger.
pub const MAX_PART_BYTES: usize = 8 << 20;

/// Bytes of a part beside its residues: header 64, public seed 32, index 8, digest 32.
pub const PART_OVERHEAD: usize = 64 + 32 + 8 + 32;

/// Bytes of one sample on the wire: its first component, residues packed to the bit length of their prime.
pub(super) fn sample_bytes<W: Word>(basis: &Basis<W>) -> usize {
    basis.primes().map(|p| (basis.n() * (64 - (p - 1).leading_zeros()) as usize).div_ceil(8)).sum()
}
