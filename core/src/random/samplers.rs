//! The samplers of a [`Stream`]: uniform residues, binary and ternary secrets, centred binomial errors.

use rand_core::Rng;
use zeroize::Zeroize;

use super::Stream;
use super::keystream::{MADE, keep_scaled};

/// Words drawn from the stream at a time: nine times those that it makes at once, which the groups of two, three and nine words of the
/// samplers divide.
const CHUNK: usize = 9 * MADE;

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
        let mut words = [0; CHUNK];
        let mut rest = out;
        while !rest.is_empty() {
            let drawn = &mut words[..rest.len().min(CHUNK)];
            self.rng.fill(drawn);
            // No more words are drawn than are missing.
            let kept = keep_scaled(drawn, p, least, rest);
            rest = &mut rest[kept..];
        }
    }

    /// As [`fill_uniform_u32`](Self::fill_uniform_u32), for moduli of up to 64 bits. A modulus below
    /// 2^32 takes the same 32-bit words and gives the same residues, so that a seed means the same
    /// in either representation; a larger one takes 64-bit little-endian words.
    pub fn fill_uniform_u64(&mut self, p: u64, out: &mut [u64]) {
        debug_assert!(p != 0, "a modulus is at least 1");
        if let Ok(p) = u32::try_from(p) {
            let mut narrow = [0; CHUNK];
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
        let mut words = [0; CHUNK];
        let mut rest = out;
        while !rest.is_empty() {
            let drawn = &mut words[..2 * rest.len().min(CHUNK / 2)];
            self.rng.fill(drawn);
            let mut kept = 0;
            for pair in drawn.as_chunks::<2>().0 {
                let product = u128::from(joined(*pair)) * u128::from(p);
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
        self.sample(out, |&pair| [multiply_high(joined(pair), 3) as i8 - 1]);
    }

    /// Fills `out` with independent samples of the centred binomial distribution CBD(21): the
    /// difference of two sums of 21 fair bits. They lie in `[-21, 21]`, have mean 0 and variance
    /// 21/2 exactly (standard deviation 3.24). Takes six bytes a value, without a branch on what
    /// they are.
    pub fn cbd21(&mut self, out: &mut [i8]) {
        self.sample(out, |&[a, b, c]| [cbd21_of(joined([a, b])), cbd21_of(joined([b, c]) >> 16)]);
    }

    /// Fills `out` with independent samples of the centred binomial distribution CBD(32): the
    /// difference of two sums of 32 fair bits. They lie in `[-32, 32]`, have mean 0 and variance 16
    /// exactly (standard deviation 4). Takes eight bytes a value, without a branch on what they are.
    pub fn cbd32(&mut self, out: &mut [i8]) {
        self.sample(out, |&[a, b]| [a.count_ones() as i8 - b.count_ones() as i8]);
    }

    /// Fills `out` with independent samples of the centred binomial distribution CBD(36): the
    /// difference of two sums of 36 fair bits. They lie in `[-36, 36]`, have mean 0 and variance 18
    /// exactly (standard deviation 4.24). Takes nine bytes a value, without a branch on what they are.
    pub fn cbd36(&mut self, out: &mut [i8]) {
        self.sample(out, |&[a, b, c, d, e, f, g, h, i]| {
            [cbd36_of([a, b, c], 0), cbd36_of([c, d, e], 8), cbd36_of([e, f, g], 16), cbd36_of([g, h, i], 24)]
        });
    }

    /// Fills `out` with independent fair bits, 0 or 1. Takes one byte a value and uses its lowest bit, without a branch on what it is.
    pub fn binary(&mut self, out: &mut [i8]) {
        self.sample(out, |&[word]| word.to_le_bytes().map(|byte| (byte & 1) as i8));
    }

    /// Fills `out` with values that `of` makes, `VALUES` of them from `WORDS` words of the stream. The last values take only the words that
    /// they have a part in.
    #[inline(always)]
    fn sample<const WORDS: usize, const VALUES: usize>(
        &mut self,
        out: &mut [i8],
        of: impl Fn(&[u32; WORDS]) -> [i8; VALUES],
    ) {
        let mut words = [0; CHUNK];
        for part in out.chunks_mut(CHUNK / WORDS * VALUES) {
            let drawn = &mut words[..(part.len() * WORDS).div_ceil(VALUES)];
            self.rng.fill(drawn);
            let (groups, last) = part.as_chunks_mut::<VALUES>();
            let (whole, left) = drawn.split_at(groups.len() * WORDS);
            for (values, words) in groups.iter_mut().zip(whole.as_chunks::<WORDS>().0) {
                *values = of(words);
            }
            if !last.is_empty() {
                let mut words = [0; WORDS];
                words[..left.len()].copy_from_slice(left);
                let mut values = of(&words);
                last.copy_from_slice(&values[..last.len()]);
                values.zeroize();
                words.zeroize();
            }
        }
        words.zeroize();
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

/// The sample of a word: bits 0..21 count up, bits 21..42 count down, the others are ignored.
#[inline(always)]
pub(super) fn cbd21_of(word: u64) -> i8 {
    const BITS: u64 = (1 << 21) - 1;
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

/// The sample of the 72 bits from bit `at` of three words: the first half counts up, the second down.
#[inline(always)]
fn cbd36_of([a, b, c]: [u32; 3], at: u32) -> i8 {
    const BITS: u64 = (1 << 36) - 1;
    let bits = (u128::from(joined([a, b])) | u128::from(c) << 64) >> at;
    let (up, down) = (bits as u64 & BITS, (bits >> 36) as u64 & BITS);
    up.count_ones() as i8 - down.count_ones() as i8
}

/// The 64-bit word of two words of the stream, which are little-endian.
#[inline(always)]
pub(super) fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
