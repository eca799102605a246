//! The `ChaCha20` keystream, read in order by words of 32 bits. Four blocks are made at once: by the `chacha20` crate, except in wasm
//! with SIMD128, for which that crate has no kernel and takes almost three times as long.

use rand_core::SeedableRng;
use rand_core::block::Generator;
use zeroize::Zeroize;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
type Blocks = chacha20::ChaChaCore<chacha20::R20, chacha20::variants::Legacy>;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use simd128::Blocks;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) use simd128::keep_scaled;

/// Words of the blocks that are made at once.
pub(super) const MADE: usize = 64;

/// The keystream of a seed. Its state and what it has made are zeroed on drop.
pub(super) struct Keystream {
    blocks: Blocks,
    made: [u32; MADE],
    /// How many words of `made` have been read.
    read: usize,
}

impl Keystream {
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self { blocks: Blocks::from_seed(seed), made: [0; MADE], read: MADE }
    }

    pub fn next(&mut self) -> u32 {
        if self.read == MADE {
            self.blocks.generate(&mut self.made);
            self.read = 0;
        }
        self.read += 1;
        self.made[self.read - 1]
    }

    /// The next `out.len()` words. Once the words made before are used up, whole groups of blocks are made in `out` itself.
    // Every sampler calls it, once for many words: a copy in each of them would make the modules of the npm package larger.
    #[inline(never)]
    pub fn fill(&mut self, out: &mut [u32]) {
        let left = (MADE - self.read).min(out.len());
        let (front, rest) = out.split_at_mut(left);
        front.copy_from_slice(&self.made[self.read..self.read + left]);
        self.read += left;
        let (whole, last) = rest.as_chunks_mut::<MADE>();
        for made in whole {
            self.blocks.generate(made);
        }
        if !last.is_empty() {
            self.blocks.generate(&mut self.made);
            last.copy_from_slice(&self.made[..last.len()]);
            self.read = last.len();
        }
    }

    /// The next `out.len()` bytes, then skips to the next word.
    pub fn fill_bytes(&mut self, out: &mut [u8]) {
        let mut words = [0; 9 * MADE];
        for part in out.chunks_mut(size_of_val(&words)) {
            let drawn = &mut words[..part.len().div_ceil(4)];
            self.fill(drawn);
            let (whole, last) = part.as_chunks_mut::<4>();
            for (bytes, word) in whole.iter_mut().zip(&*drawn) {
                *bytes = word.to_le_bytes();
            }
            if let [.., word] = drawn {
                last.copy_from_slice(&word.to_le_bytes()[..last.len()]);
            }
        }
        words.zeroize();
    }
}

impl Drop for Keystream {
    fn drop(&mut self) {
        self.made.zeroize();
    }
}

/// Writes the high half of w p for each word w, unless the low half is below `least`, to the front of `out` in order, and returns how many
/// it kept. `out` has room for all of them, and words behind those kept may be overwritten. Public values only.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub(super) fn keep_scaled(words: &[u32], p: u32, least: u32, out: &mut [u32]) -> usize {
    let mut kept = 0;
    for &word in words {
        kept += keep_one(word, p, least, &mut out[kept]);
    }
    kept
}

/// Writes one scaled word and returns 1 if it is kept. If not, the next word goes to the same place.
#[inline(always)]
fn keep_one(word: u32, p: u32, least: u32, out: &mut u32) -> usize {
    let product = u64::from(word) * u64::from(p);
    *out = (product >> 32) as u32;
    usize::from(product as u32 >= least)
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128 {
    //! Four blocks at a time, one in each lane. The intrinsics used are safe: no pointers.

    use core::arch::wasm32::{
        i32x4_shuffle, u8x16, u8x16_shuffle, u8x16_swizzle, u32x4, u32x4_add, u32x4_bitmask,
        u32x4_extract_lane, u32x4_ge, u32x4_shl, u32x4_shr, u32x4_splat, u64x2_extmul_high_u32x4,
        u64x2_extmul_low_u32x4, v128, v128_or, v128_xor,
    };

    use rand_core::SeedableRng;
    use rand_core::block::Generator;
    use zeroize::Zeroize;

    /// "expand 32-byte k".
    const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

    pub struct Blocks {
        key: [u32; 8],
        /// Number of the next block.
        counter: u64,
    }

    impl Drop for Blocks {
        fn drop(&mut self) {
            self.key.zeroize();
            self.counter.zeroize();
        }
    }

    impl SeedableRng for Blocks {
        type Seed = [u8; 32];

        fn from_seed(seed: [u8; 32]) -> Self {
            let mut key = [0; 8];
            for (word, bytes) in key.iter_mut().zip(seed.as_chunks::<4>().0) {
                *word = u32::from_le_bytes(*bytes);
            }
            Self { key, counter: 0 }
        }
    }

    impl Generator for Blocks {
        type Output = [u32; 64];

        #[inline(never)]
        fn generate(&mut self, output: &mut [u32; 64]) {
            let start = self.state();
            let mut x = start;
            for _ in 0..10 {
                quarter_round::<0, 4, 8, 12>(&mut x);
                quarter_round::<1, 5, 9, 13>(&mut x);
                quarter_round::<2, 6, 10, 14>(&mut x);
                quarter_round::<3, 7, 11, 15>(&mut x);
                quarter_round::<0, 5, 10, 15>(&mut x);
                quarter_round::<1, 6, 11, 12>(&mut x);
                quarter_round::<2, 7, 8, 13>(&mut x);
                quarter_round::<3, 4, 9, 14>(&mut x);
            }
            for four in 0..4 {
                let row = |i: usize| u32x4_add(x[4 * four + i], start[4 * four + i]);
                for (block, words) in transpose([row(0), row(1), row(2), row(3)]).into_iter().enumerate() {
                    let at = 16 * block + 4 * four;
                    output[at..at + 4].copy_from_slice(&words_of(words));
                }
            }
            self.counter = self.counter.wrapping_add(4);
        }
    }

    impl Blocks {
        /// The states of the next four blocks: constants, key, 64-bit counter, nonce 0.
        fn state(&self) -> [v128; 16] {
            let mut state = [u32x4_splat(0); 16];
            for (row, word) in state.iter_mut().zip(CONSTANTS.iter().chain(&self.key)) {
                *row = u32x4_splat(*word);
            }
            let counter = |lane: u64| self.counter.wrapping_add(lane);
            state[12] = u32x4(counter(0) as u32, counter(1) as u32, counter(2) as u32, counter(3) as u32);
            let high = |lane: u64| (counter(lane) >> 32) as u32;
            state[13] = u32x4(high(0), high(1), high(2), high(3));
            state
        }
    }

    #[inline(always)]
    fn quarter_round<const A: usize, const B: usize, const C: usize, const D: usize>(x: &mut [v128; 16]) {
        x[A] = u32x4_add(x[A], x[B]);
        x[D] = v128_xor(x[D], x[A]);
        x[D] = u8x16_shuffle::<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(x[D], x[D]);
        x[C] = u32x4_add(x[C], x[D]);
        x[B] = rotate::<12, 20>(v128_xor(x[B], x[C]));
        x[A] = u32x4_add(x[A], x[B]);
        x[D] = v128_xor(x[D], x[A]);
        // Not by a byte shuffle: V8 makes the constant for it anew at every use.
        x[D] = rotate::<8, 24>(x[D]);
        x[C] = u32x4_add(x[C], x[D]);
        x[B] = rotate::<7, 25>(v128_xor(x[B], x[C]));
    }

    /// Rotates each lane left by `LEFT` bits; `RIGHT` is what is left of 32.
    #[inline(always)]
    fn rotate<const LEFT: u32, const RIGHT: u32>(x: v128) -> v128 {
        v128_or(u32x4_shl(x, LEFT), u32x4_shr(x, RIGHT))
    }

    /// Lane `j` of row `i` goes to lane `i` of row `j`.
    #[inline(always)]
    fn transpose([a, b, c, d]: [v128; 4]) -> [v128; 4] {
        let (ab_low, ab_high) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<2, 6, 3, 7>(a, b));
        let (cd_low, cd_high) = (i32x4_shuffle::<0, 4, 1, 5>(c, d), i32x4_shuffle::<2, 6, 3, 7>(c, d));
        [
            i32x4_shuffle::<0, 1, 4, 5>(ab_low, cd_low),
            i32x4_shuffle::<2, 3, 6, 7>(ab_low, cd_low),
            i32x4_shuffle::<0, 1, 4, 5>(ab_high, cd_high),
            i32x4_shuffle::<2, 3, 6, 7>(ab_high, cd_high),
        ]
    }

    #[inline(always)]
    fn words_of(x: v128) -> [u32; 4] {
        [
            u32x4_extract_lane::<0>(x),
            u32x4_extract_lane::<1>(x),
            u32x4_extract_lane::<2>(x),
            u32x4_extract_lane::<3>(x),
        ]
    }

    /// For each set of lanes, the byte indices that move them to the front in order.
    const KEPT_FIRST: [v128; 16] = {
        let mut table = [u32x4(0, 0, 0, 0); 16];
        let mut set = 0;
        while set < 16 {
            let mut index = [0x80u8; 16];
            let (mut lane, mut to) = (0, 0);
            while lane < 4 {
                if set >> lane & 1 == 1 {
                    let mut byte = 0;
                    while byte < 4 {
                        index[4 * to + byte] = (4 * lane + byte) as u8;
                        byte += 1;
                    }
                    to += 1;
                }
                lane += 1;
            }
            let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = index;
            table[set] = u8x16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
            set += 1;
        }
        table
    };

    /// Writes the high half of w p for each word w, unless the low half is below `least`, to the front of `out` in order, and returns how
    /// many it kept. `out` has room for all of them, and words behind those kept may be overwritten.
    ///
    /// Public values only: the lanes that are kept choose an entry of a table.
    pub fn keep_scaled(words: &[u32], p: u32, least: u32, out: &mut [u32]) -> usize {
        let (factors, bound) = (u32x4_splat(p), u32x4_splat(least));
        let mut kept = 0;
        let (fours, rest) = words.as_chunks::<4>();
        for four in fours {
            let &[a, b, c, d] = four;
            let x = u32x4(a, b, c, d);
            let (front, back) = (u64x2_extmul_low_u32x4(x, factors), u64x2_extmul_high_u32x4(x, factors));
            let low = i32x4_shuffle::<0, 2, 4, 6>(front, back);
            let high = i32x4_shuffle::<1, 3, 5, 7>(front, back);
            let set = u32x4_bitmask(u32x4_ge(low, bound));
            let front = words_of(u8x16_swizzle(high, KEPT_FIRST[usize::from(set & 15)]));
            // No more words were kept than were read, so the four written stay inside.
            out[kept..kept + 4].copy_from_slice(&front);
            kept += set.count_ones() as usize;
        }
        for &word in rest {
            kept += super::keep_one(word, p, least, &mut out[kept]);
        }
        kept
    }
}
