//! AVX-512F: sixteen 32-bit lanes.
//!
//! SAFETY, for every block here: the only value of [`Avx512`] is reached through [`Avx512::detect`], which
//! returns it only where the CPU has AVX-512F; loads and stores go through references to whole
//! packs and are unaligned.

use super::vector::{Products, Redc, Registers, Transpose, Vector, registers};
use crate::arith::Shoup;
use crate::arith::unrolled_loop::unrolled;
use core::arch::x86_64::*;

/// Proof that the CPU has AVX-512F.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

static TOKEN: Avx512 = Avx512(());

impl Avx512 {
    /// The token, if the CPU has the instructions.
    pub(crate) fn detect() -> Option<&'static Self> {
        #[cfg(feature = "std")]
        let usable = std::arch::is_x86_feature_detected!("avx512f");
        #[cfg(not(feature = "std"))]
        let usable = cfg!(target_feature = "avx512f");
        usable.then_some(&TOKEN)
    }
}

lanes! {
    /// Vector operations on sixteen `u32`.
    Avx512
}

/// A Shoup factor; the odd lanes' quotients also where `vpmuludq` reads them.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    value: __m512i,
    quotient: __m512i,
    quotient_odd: __m512i,
}

/// The double words of the even and of the odd lanes.
#[derive(Clone, Copy)]
pub(crate) struct Acc {
    even: __m512i,
    odd: __m512i,
}

/// The odd lanes, as a mask.
const ODD: __mmask16 = 0xaaaa;

/// Intrinsics, allowed by the token (see the module above).
macro_rules! avx512 {
    ($e:expr) => {
        // SAFETY: the token proves AVX-512F.
        unsafe { $e }
    };
}

/// The odd 32-bit lanes moved to the even ones.
#[inline(always)]
fn odd(x: __m512i) -> __m512i {
    avx512!(_mm512_srli_epi64::<32>(x))
}

registers! {
    Lanes: [u32; 16] as __m512i,
    |from| avx512!(_mm512_loadu_si512(from.as_ptr().cast())),
    |to, x| avx512!(_mm512_storeu_si512(to.as_mut_ptr().cast(), x))
}

impl Vector for Lanes {
    type Factor = Factor;

    const LAZY_BITS: u32 = 30;

    #[inline(always)]
    fn splat(self, x: u32) -> __m512i {
        avx512!(_mm512_set1_epi32(x as i32))
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_add_epi32(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_sub_epi32(a, b))
    }
    #[inline(always)]
    fn reduce_once(self, x: __m512i, c: __m512i) -> __m512i {
        avx512!(_mm512_min_epu32(x, _mm512_sub_epi32(x, c)))
    }
    #[inline(always)]
    fn correct(self, d: __m512i, c: __m512i) -> __m512i {
        avx512!(_mm512_min_epu32(d, _mm512_add_epi32(d, c)))
    }
    #[inline(always)]
    fn add_if_greater(self, x: __m512i, bound: __m512i, addend: __m512i) -> __m512i {
        avx512!(_mm512_mask_add_epi32(x, _mm512_cmpgt_epu32_mask(x, bound), x, addend))
    }
    #[inline(always)]
    fn shift_right(self, x: __m512i, bits: u32) -> __m512i {
        avx512!(_mm512_srl_epi32(x, _mm_cvtsi32_si128(bits as i32)))
    }
    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        avx512!(_mm512_and_si512(a, b))
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u32>) -> Factor {
        let quotient = self.splat(w.quotient);
        Factor { value: self.splat(w.value), quotient, quotient_odd: quotient }
    }
    #[inline(always)]
    fn mul_lazy(self, a: __m512i, w: &Factor, p: __m512i) -> __m512i {
        avx512!({
            let even = _mm512_mul_epu32(a, w.quotient);
            let odd_lanes = _mm512_mul_epu32(odd(a), w.quotient_odd);
            // The high words of the even lanes, put between those of the odd ones.
            let high = _mm512_mask_shuffle_epi32::<_MM_PERM_DDBB>(odd_lanes, !ODD, even);
            _mm512_sub_epi32(_mm512_mullo_epi32(a, w.value), _mm512_mullo_epi32(high, p))
        })
    }
    #[inline(always)]
    fn factors(self, value: __m512i, quotient: __m512i) -> Factor {
        Factor { value, quotient, quotient_odd: odd(quotient) }
    }
}

impl Transpose<16> for Lanes {
    #[inline(always)]
    fn transpose(self, mut tile: [__m512i; 16]) -> [__m512i; 16] {
        unrolled!(i < 8, {
            let (a, b) = (tile[2 * i], tile[2 * i + 1]);
            tile[2 * i] = avx512!(_mm512_unpacklo_epi32(a, b));
            tile[2 * i + 1] = avx512!(_mm512_unpackhi_epi32(a, b));
        });
        // Words 0 and 1 of every run of 128 bits are in the even registers now, words 2 and 3 in the odd ones.
        let words = tile;
        unrolled!(i < 4, {
            let (low, high) = ([words[4 * i], words[4 * i + 2]], [words[4 * i + 1], words[4 * i + 3]]);
            tile[4 * i] = avx512!(_mm512_unpacklo_epi64(low[0], low[1]));
            tile[4 * i + 1] = avx512!(_mm512_unpackhi_epi64(low[0], low[1]));
            tile[4 * i + 2] = avx512!(_mm512_unpacklo_epi64(high[0], high[1]));
            tile[4 * i + 3] = avx512!(_mm512_unpackhi_epi64(high[0], high[1]));
        });
        unrolled!(i < 4, {
            let quarters = transpose_quarters([tile[i], tile[i + 4], tile[i + 8], tile[i + 12]]);
            [tile[i], tile[i + 4], tile[i + 8], tile[i + 12]] = quarters;
        });
        tile
    }
}

/// Transposes a square of four registers of four runs of 128 bits; for lanes whose token proves AVX-512F.
#[inline(always)]
pub(super) fn transpose_quarters([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // Runs 0 and 2, or 1 and 3, of both operands.
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    avx512!({
        let (even0, odd0) = (_mm512_shuffle_i64x2::<EVEN>(a, b), _mm512_shuffle_i64x2::<ODD>(a, b));
        let (even1, odd1) = (_mm512_shuffle_i64x2::<EVEN>(c, d), _mm512_shuffle_i64x2::<ODD>(c, d));
        [
            _mm512_shuffle_i64x2::<EVEN>(even0, even1),
            _mm512_shuffle_i64x2::<EVEN>(odd0, odd1),
            _mm512_shuffle_i64x2::<ODD>(even0, even1),
            _mm512_shuffle_i64x2::<ODD>(odd0, odd1),
        ]
    })
}

/// The even and the odd words of two registers.
const HALVES: ([u32; 16], [u32; 16]) = {
    let (mut even, mut odd) = ([0; 16], [0; 16]);
    let mut lane = 0;
    while lane < 16 {
        even[lane] = 2 * lane as u32;
        odd[lane] = 2 * lane as u32 + 1;
        lane += 1;
    }
    (even, odd)
};

impl Products for Lanes {
    type Acc = Acc;
    type Real = [__m512d; 2];

    #[inline(always)]
    fn acc_zero(self) -> Acc {
        let zero = avx512!(_mm512_setzero_si512());
        Acc { even: zero, odd: zero }
    }
    #[inline(always)]
    fn acc_from(self, x: __m512i) -> Acc {
        Acc { even: avx512!(_mm512_maskz_mov_epi32(!ODD, x)), odd: odd(x) }
    }
    #[inline(always)]
    fn acc_mul_add(self, acc: Acc, a: __m512i, b: __m512i) -> Acc {
        avx512!(Acc {
            even: _mm512_add_epi64(acc.even, _mm512_mul_epu32(a, b)),
            odd: _mm512_add_epi64(acc.odd, _mm512_mul_epu32(odd(a), odd(b))),
        })
    }
    #[inline(always)]
    fn acc_split(self, acc: Acc) -> (__m512i, __m512i) {
        avx512!((
            _mm512_mask_blend_epi32(ODD, acc.even, _mm512_slli_epi64::<32>(acc.odd)),
            _mm512_mask_blend_epi32(ODD, odd(acc.even), acc.odd),
        ))
    }
    #[inline(always)]
    fn split_biased(self, x: &[i64], bias: u64) -> (__m512i, __m512i) {
        let x: &[i64; 16] = &x.as_chunks().0[0];
        avx512!({
            let bias = _mm512_set1_epi64(bias as i64);
            let a = _mm512_add_epi64(_mm512_loadu_si512(x.as_ptr().cast()), bias);
            let b = _mm512_add_epi64(_mm512_loadu_si512(x.as_ptr().add(8).cast()), bias);
            (
                _mm512_permutex2var_epi32(a, self.load(&HALVES.0), b),
                _mm512_permutex2var_epi32(a, self.load(&HALVES.1), b),
            )
        })
    }
    #[inline(always)]
    fn real_zero(self) -> [__m512d; 2] {
        [avx512!(_mm512_setzero_pd()); 2]
    }
    #[inline(always)]
    fn real_mul_add(self, sum: [__m512d; 2], y: __m512i, factor: f64) -> [__m512d; 2] {
        avx512!({
            let factor = _mm512_set1_pd(factor);
            let low = _mm512_cvtepu32_pd(_mm512_castsi512_si256(y));
            let high = _mm512_cvtepu32_pd(_mm512_extracti64x4_epi64::<1>(y));
            [
                _mm512_add_pd(sum[0], _mm512_mul_pd(low, factor)),
                _mm512_add_pd(sum[1], _mm512_mul_pd(high, factor)),
            ]
        })
    }
    #[inline(always)]
    fn real_round(self, x: [__m512d; 2]) -> __m512i {
        avx512!({
            let half = _mm512_set1_pd(0.5);
            let low = _mm512_cvttpd_epu32(_mm512_add_pd(x[0], half));
            let high = _mm512_cvttpd_epu32(_mm512_add_pd(x[1], half));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        })
    }
    #[inline(always)]
    fn gather(self, x: &[u32], perm: &[u32], origin: u32) -> __m512i {
        let perm: &[u32; 16] = &perm.as_chunks().0[0];
        let pack = perm[0].wrapping_sub(origin) as usize / 16;
        if let Some(words) = self.packs(x).0.get(pack) {
            let from = self.sub(self.load(perm), self.splat(16 * pack as u32 + origin));
            if avx512!(_mm512_cmpgt_epu32_mask(from, self.splat(15))) == 0 {
                return avx512!(_mm512_permutexvar_epi32(from, self.load(words)));
            }
        }
        let mut words = [0; 16];
        let mut lane = 0;
        while lane < 16 {
            words[lane] = x[perm[lane].wrapping_sub(origin) as usize];
            lane += 1;
        }
        self.load(&words)
    }
}

impl Redc for Lanes {
    #[inline(always)]
    fn acc_redc(self, acc: Acc, negative_inverse: __m512i, p: __m512i) -> __m512i {
        avx512!({
            let even = _mm512_mul_epu32(_mm512_mul_epu32(acc.even, negative_inverse), p);
            let odd_lanes = _mm512_mul_epu32(_mm512_mul_epu32(acc.odd, negative_inverse), p);
            let even = _mm512_add_epi64(acc.even, even);
            let odd_lanes = _mm512_add_epi64(acc.odd, odd_lanes);
            _mm512_mask_blend_epi32(ODD, odd(even), odd_lanes)
        })
    }
}
