//! AVX-512 IFMA: eight 64-bit lanes that multiply 52-bit numbers, for rows modulo primes below 2^50; larger words are left
//! to [`avx512_wide`](super::avx512_wide).
//!
//! SAFETY, for every block here: the only value of [`Ifma`] is reached through [`Ifma::detect`], which returns
//! it only where the CPU has AVX-512F, AVX-512DQ and AVX-512 IFMA; loads and stores go through references to
//! whole packs and are unaligned.

use super::avx2::Avx2;
use super::avx512::transpose_quarters;
use super::vector::{Montgomery, Transpose, Vector, registers};
use crate::arith::Shoup;
use crate::arith::unrolled_loop::unrolled;
use core::arch::x86_64::*;

/// Proof that the CPU has AVX-512F, AVX-512DQ and AVX-512 IFMA.
#[derive(Clone, Copy)]
pub(crate) struct Ifma(());

static TOKEN: Ifma = Ifma(());

impl Ifma {
    /// The token, if the CPU has the instructions, AVX2 included.
    pub(crate) fn detect() -> Option<&'static Self> {
        #[cfg(feature = "std")]
        let usable = std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512ifma");
        #[cfg(not(feature = "std"))]
        let usable =
            cfg!(all(target_feature = "avx512f", target_feature = "avx512dq", target_feature = "avx512ifma"));
        (usable && Avx2::detect().is_some()).then_some(&TOKEN)
    }
}

/// Bits of a lane's product operands.
pub(in crate::arith) const LANE_BITS: u32 = 52;
/// Primes of at most this many bits leave room for lazy butterflies, whose words are below `4p`.
pub(in crate::arith) const PRIME_BITS: u32 = LANE_BITS - 2;

lanes! {
    /// Vector operations on eight `u64`.
    Ifma
}

/// A factor and `floor(value * 2^52 / p)`.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    pub(in crate::arith) value: __m512i,
    pub(in crate::arith) quotient: __m512i,
}

/// Intrinsics, allowed by the token.
macro_rules! ifma {
    ($e:expr) => {
        // SAFETY: users of this hold lanes, or values made from them, whose token proves AVX-512F, AVX-512DQ and AVX-512 IFMA; loads
        // and stores are unaligned, through references to whole packs.
        unsafe { $e }
    };
}

pub(in crate::arith) use ifma;

registers! {
    Lanes: [u64; 8] as __m512i,
    |from| ifma!(_mm512_loadu_si512(from.as_ptr().cast())),
    |to, x| ifma!(_mm512_storeu_si512(to.as_mut_ptr().cast(), x))
}

impl Vector for Lanes {
    type Factor = Factor;

    const LAZY_BITS: u32 = PRIME_BITS;

    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        ifma!(_mm512_set1_epi64(x as i64))
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        ifma!(_mm512_add_epi64(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        ifma!(_mm512_sub_epi64(a, b))
    }
    #[inline(always)]
    fn reduce_once(self, x: __m512i, c: __m512i) -> __m512i {
        ifma!(_mm512_min_epu64(x, _mm512_sub_epi64(x, c)))
    }
    #[inline(always)]
    fn correct(self, d: __m512i, c: __m512i) -> __m512i {
        ifma!(_mm512_min_epu64(d, _mm512_add_epi64(d, c)))
    }
    #[inline(always)]
    fn add_if_greater(self, x: __m512i, bound: __m512i, addend: __m512i) -> __m512i {
        ifma!(_mm512_mask_add_epi64(x, _mm512_cmpgt_epu64_mask(x, bound), x, addend))
    }
    #[inline(always)]
    fn shift_right(self, x: __m512i, bits: u32) -> __m512i {
        ifma!(_mm512_srl_epi64(x, _mm_cvtsi32_si128(bits as i32)))
    }
    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        ifma!(_mm512_and_si512(a, b))
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u64>) -> Factor {
        Factor { value: self.splat(w.value), quotient: self.splat(w.quotient >> (64 - LANE_BITS)) }
    }
    #[inline(always)]
    fn mul_lazy(self, a: __m512i, w: &Factor, p: __m512i) -> __m512i {
        // Both low halves are modulo 2^52. So is their difference, which is below 2p.
        ifma!({
            let zero = _mm512_setzero_si512();
            let quotient = _mm512_madd52hi_epu64(zero, a, w.quotient);
            let product = _mm512_madd52lo_epu64(zero, a, w.value);
            let difference = _mm512_madd52lo_epu64(product, quotient, _mm512_sub_epi64(zero, p));
            let mask = _mm512_set1_epi64((1 << LANE_BITS) - 1);
            _mm512_and_si512(difference, mask)
        })
    }
    #[inline(always)]
    fn factors(self, value: __m512i, quotient: __m512i) -> Factor {
        // From floor(value 2^64 / p) to floor(value 2^52 / p).
        Factor { value, quotient: ifma!(_mm512_srli_epi64::<12>(quotient)) }
    }
}

impl Transpose<8> for Lanes {
    #[inline(always)]
    fn transpose(self, mut tile: [__m512i; 8]) -> [__m512i; 8] {
        unrolled!(i < 4, {
            let (a, b) = (tile[2 * i], tile[2 * i + 1]);
            tile[2 * i] = ifma!(_mm512_unpacklo_epi64(a, b));
            tile[2 * i + 1] = ifma!(_mm512_unpackhi_epi64(a, b));
        });
        unrolled!(i < 2, {
            let quarters = transpose_quarters([tile[i], tile[i + 2], tile[i + 4], tile[i + 6]]);
            [tile[i], tile[i + 2], tile[i + 4], tile[i + 6]] = quarters;
        });
        tile
    }
}

/// Two squares.
impl Transpose<16> for Lanes {
    #[inline(always)]
    fn transpose(self, tile: [__m512i; 16]) -> [__m512i; 16] {
        let ([mut low, mut high], mut tile) = ([[tile[0]; 8]; 2], tile);
        unrolled!(i < 8, {
            (low[i], high[i]) = (tile[i], tile[i + 8]);
        });
        (low, high) = (self.transpose(low), self.transpose(high));
        unrolled!(i < 8, {
            (tile[i], tile[i + 8]) = (low[i], high[i]);
        });
        tile
    }
}

/// `low + 2^52 high`; `low` is any word.
#[derive(Clone, Copy)]
pub(crate) struct Acc {
    pub(in crate::arith) low: __m512i,
    pub(in crate::arith) high: __m512i,
}

impl Montgomery for Lanes {
    type Sum = Acc;

    const RADIX_BITS: u32 = LANE_BITS;

    #[inline(always)]
    fn sum_zero(self) -> Acc {
        let zero = ifma!(_mm512_setzero_si512());
        Acc { low: zero, high: zero }
    }
    #[inline(always)]
    fn sum_mul_add(self, Acc { low, high }: Acc, a: __m512i, b: __m512i) -> Acc {
        ifma!(Acc { low: _mm512_madd52lo_epu64(low, a, b), high: _mm512_madd52hi_epu64(high, a, b) })
    }
    #[inline(always)]
    fn sum_redc(self, Acc { low, high }: Acc, negative_inverse: __m512i, p: __m512i) -> __m512i {
        ifma!({
            // The products read the low 52 bits; what is above them in `low` stays, as a carry.
            let multiple = _mm512_madd52lo_epu64(_mm512_setzero_si512(), low, negative_inverse);
            let carry = _mm512_srli_epi64::<LANE_BITS>(_mm512_madd52lo_epu64(low, multiple, p));
            _mm512_add_epi64(_mm512_madd52hi_epu64(high, multiple, p), carry)
        })
    }
}
