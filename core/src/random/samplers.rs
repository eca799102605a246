//! The samplers of a [`Stream`]: uniform residues, binary and ternary secrets, centred binomial errors.

use rand_core::Rng;
use zeroize::Zeroize;

use super::{Stream, keystream::keep_scaled};

/// Bytes drawn from the stream at a time: a multiple of 4, 6 and 8.
const CHUNK: usize = 1536;

/// Bytes of one centred binomial sample: 48 bits, of which 42 are used.
pub(super) const CBD21_BYTES: usize = 6;

impl Stream {
    /// Fills `out` with independent uniform residues in `[0, p)`. **For public values**: the number
    /// of bytes taken reveals how many words were rejected.
    ///
    /// Takes 32-bit little-endian words w in order: each gives floor(w p / 2^32), but those with w p mod 2^32 below 2^32 mod p are skipped,
    /// which leaves floor(2^32 / p) words for every residue: exactly uniform (Lemire, "Fast Random Integer Generation in an Interval",
    /// 2019, section 4). `p = 0` is refused by a debug assertion and otherwise gives zeros.
    pub fn fill_uniform_u32(&mut self, p: u32, out: &mut [u32]) {
        debug_assert!(p != 0, "a modulus is at least 1");
        let least = p.wrapping_neg().checked_rem(p).unwrap_or(0);
        let mut bytes = [0u8; CHUNK];
        let mut rest = out;
        while !rest.is_empty() {
            let drawn = &mut bytes[..4 * rest.len().min(CHUNK / 4)];
            self.bytes(drawn);
            // No more words are drawn than are missing.
            let kept = keep_scaled(drawn.as_chunks::<4>().0, p, least, rest);
            rest = &mut rest[kept..];
        }
    }

    /// As [`fill_uniform_u32`](Self::fill_uniform_u32), for moduli of up to 64 bits. A modulus below
    /// 2^32 takes the same 32-bit words and gives the same residues, so that a seed means the same
    /// in either representation; a larger one takes 64-bit little-endian words.
    pub fn fill_uniform_u64(&mut self, p: u64, out: &mut [u64]) {
        debug_assert!(p != 0, "a modulus is at least 1");
        if let Ok(p) = u32::try_from(p) {
            let mut narrow = [0u32; CHUNK / 4];
            for part in out.chunks_mut(narrow.len()) {
                let narrow = &mut narrow[..part.len()];
                self.fill_uniform_u32(p, narrow);
                for (x, &narrow) in part.iter_mut().zip(&*narrow) {
                    *x = narrow.into();
                }
            }
            return;
        }
        let least = p.wrapping_neg() % p;
        let mut bytes = [0u8; CHUNK];
        let mut rest = out;
        while !rest.is_empty() {
            let drawn = &mut bytes[..8 * rest.len().min(CHUNK / 8)];
            self.bytes(drawn);
            let mut kept = 0;
            for word in drawn.as_chunks::<8>().0 {
                let product = u128::from(u64::from_le_bytes(*word)) * u128::from(p);
                // A word that is skipped is overwritten by the next one.
                rest[kept] = (product >> 64) as u64;
                kept += usize::from(product as u64 >= least);
            }
            rest = &mut rest[kept..];
        }
    }

    /// Fills `out` with independent values of {-1, 0, 1}, each with probability 1/3 to within
    /// 2^-64. Takes eight bytes a value, without a branch on what they are.
    pub fn ternary(&mut self, out: &mut [i8]) {
        let mut bytes = [0u8; CHUNK];
        for part in out.chunks_mut(CHUNK / 8) {
            let drawn = &mut bytes[..8 * part.len()];
            self.bytes(drawn);
            for (value, word) in part.iter_mut().zip(drawn.as_chunks::<8>().0) {
                *value = multiply_high(u64::from_le_bytes(*word), 3) as i8 - 1;
            }
        }
        bytes.zeroize();
    }

    /// Fills `out` with independent samples of the centred binomial distribution CBD(21): the
    /// difference of two sums of 21 fair bits. They lie in `[-21, 21]`, have mean 0 and variance
    /// 21/2 exactly (standard deviation 3.24). Takes six bytes a value, without a branch on what
    /// they are.
    pub fn cbd21(&mut self, out: &mut [i8]) {
        let mut bytes = [0u8; CHUNK];
        for part in out.chunks_mut(CHUNK / CBD21_BYTES) {
            // An even count of six-byte samples ends on a word of the stream; an odd one skips
            // two bytes, so every call takes a whole number of words.
            let drawn = &mut bytes[..CBD21_BYTES * part.len()];
            self.bytes(drawn);
            for (value, six) in part.iter_mut().zip(drawn.as_chunks::<CBD21_BYTES>().0) {
                *value = cbd21_of(*six);
            }
        }
        bytes.zeroize();
    }

    /// Fills `out` with independent samples of the centred binomial distribution CBD(32): the
    /// difference of two sums of 32 fair bits. They lie in `[-32, 32]`, have mean 0 and variance 16
    /// exactly (standard deviation 4). Takes eight bytes a value, without a branch on what they are.
    pub fn cbd32(&mut self, out: &mut [i8]) {
        let mut bytes = [0u8; CHUNK];
        for part in out.chunks_mut(CHUNK / 8) {
            let drawn = &mut bytes[..8 * part.len()];
            self.bytes(drawn);
            for (value, word) in part.iter_mut().zip(drawn.as_chunks::<8>().0) {
                let word = u64::from_le_bytes(*word);
                *value = (word as u32).count_ones() as i8 - ((word >> 32) as u32).count_ones() as i8;
            }
        }
        bytes.zeroize();
    }

    /// Fills `out` with independent samples of the centred binomial distribution CBD(36): the
    /// difference of two sums of 36 fair bits. They lie in `[-36, 36]`, have mean 0 and variance 18
    /// exactly (standard deviation 4.24). Takes nine bytes a value, without a branch on what they are.
    pub fn cbd36(&mut self, out: &mut [i8]) {
        const BYTES: usize = 9;
        let mut bytes = [0u8; CHUNK];
        // Whole words of the stream for every chunk but the last: a multiple of four values.
        for part in out.chunks_mut(CHUNK / BYTES / 4 * 4) {
            let drawn = &mut bytes[..BYTES * part.len()];
            self.bytes(drawn);
            for (value, [low @ .., high]) in part.iter_mut().zip(drawn.as_chunks::<BYTES>().0) {
                let word = u64::from_le_bytes(*low);
                let plus = (word & ((1 << 36) - 1)).count_ones();
                *value = plus as i8 - ((word >> 36).count_ones() + high.count_ones()) as i8;
            }
        }
        bytes.zeroize();
    }

    /// Fills `out` with independent fair bits, 0 or 1. Takes one byte a value and uses its lowest bit, without a branch on what it is.
    pub fn binary(&mut self, out: &mut [i8]) {
        let mut bytes = [0u8; CHUNK];
        for part in out.chunks_mut(CHUNK) {
            let drawn = &mut bytes[..part.len()];
            self.bytes(drawn);
            for (value, byte) in part.iter_mut().zip(&*drawn) {
                *value = (byte & 1) as i8;
            }
        }
        bytes.zeroize();
    }

    /// Fills `out` with `weight` signs, each -1 or 1 with probability 1/2, at positions that are uniform among all sets of `weight`
    /// positions, and with zeros elsewhere.
    ///
    /// The values are tagged with 62 random bits each and sorted by a bitonic network: which words are compared, and what is done with
    /// them, does not depend on their values. Values with equal tags (probability N^2 / 2^63) are not in random order, which moves the
    /// distribution by no more than that.
    ///
    /// # Panics
    /// If `weight` exceeds the length of `out`.
    pub fn sparse_ternary(&mut self, out: &mut [i8], weight: usize) {
        assert!(weight <= out.len(), "{weight} signs do not fit {} values", out.len());
        // Padded to a power of two with words that have no value and sort behind all others.
        let n = out.len().next_power_of_two();
        let mut tagged = alloc::vec![!3u64; n];
        for (i, x) in tagged[..out.len()].iter_mut().enumerate() {
            // Two lowest bits: 0 for nothing, 1 for +1, 2 for -1. The sign is the word's lowest bit, which the tag does not use.
            let word = self.next_u64();
            *x = word & !3 | if i < weight { 1 + (word & 1) } else { 0 };
        }
        for block in (1..=n.trailing_zeros()).map(|k| 1usize << k) {
            for half in (0..block.trailing_zeros()).rev().map(|k| 1usize << k) {
                for low in (0..n).filter(|i| i & half == 0) {
                    let (a, b) = (tagged[low], tagged[low | half]);
                    // All ones where the pair stands in the wrong order for its block.
                    let descending = u64::from(low & block != 0);
                    let swap = (u64::from(b < a) ^ descending).wrapping_neg() & (a ^ b);
                    (tagged[low], tagged[low | half]) = (a ^ swap, b ^ swap);
                }
            }
        }
        for (value, x) in out.iter_mut().zip(&tagged) {
            *value = (x & 1) as i8 - (x >> 1 & 1) as i8;
        }
        tagged.zeroize();
    }

    /// A value in `[0, bound)`, each with probability `1/bound` to within 2^-64; 0 when `bound` is
    /// 0. Takes eight bytes, and does not branch on what they are.
    pub fn below(&mut self, bound: u32) -> u32 {
        let mut word = self.next_u64();
        let value = multiply_high(word, bound);
        word.zeroize();
        value
    }
}

/// `floor(word * bound / 2^64)`, by two 64-bit products.
#[inline(always)]
pub(super) fn multiply_high(word: u64, bound: u32) -> u32 {
    let bound = u64::from(bound);
    let low = (word & 0xffff_ffff) * bound;
    let high = (word >> 32) * bound + (low >> 32);
    (high >> 32) as u32
}

/// The sample of 48 bits: bits 0..21 count up, bits 21..42 count down, the last six are ignored.
#[inline(always)]
pub(super) fn cbd21_of(six: [u8; CBD21_BYTES]) -> i8 {
    const BITS: u64 = (1 << 21) - 1;
    let [a, b, c, d, e, f] = six;
    let word = u64::from_le_bytes([a, b, c, d, e, f, 0, 0]);
    let (up, down) = (word & BITS, word >> 21 & BITS);
    if cfg!(target_family = "wasm") {
        // A bit count is one instruction there; where it may be a dozen, counting both at once is faster.
        return up.count_ones() as i8 - down.count_ones() as i8;
    }
    let mut x = up | down << 32;
    x -= x >> 1 & 0x5555_5555_5555_5555;
    x = (x & 0x3333_3333_3333_3333) + (x >> 2 & 0x3333_3333_3333_3333);
    x = (x + (x >> 4)) & 0x0f0f_0f0f_0f0f_0f0f;
    x += x >> 8;
    x += x >> 16;
    (x as i8 & 0x3f) - ((x >> 32) as i8 & 0x3f)
}
