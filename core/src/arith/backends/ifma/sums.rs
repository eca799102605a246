//! Sums of products modulo a prime below 2^50 with AVX-512 IFMA: the low and the high 52 bits of the products are summed
//! separately, by one instruction each.
//!
//! SAFETY, for every block here: the lanes are those of [`Ifma`](crate::arith::simd::ifma::Ifma), whose token is reached only where
//! the CPU has AVX-512F and AVX-512 IFMA.

use crate::arith::Modulus;
use crate::arith::kernels::products::Sums;
use crate::arith::simd::ifma::{Acc, Factor, LANE_BITS, Lanes, ifma};
use crate::arith::simd::vector::{OnLanes, Vector};
use core::arch::x86_64::*;

/// Arithmetic modulo one prime.
#[derive(Clone, Copy)]
pub(crate) struct IfmaSums {
    lanes: Lanes,
    p: __m512i,
    twice: __m512i,
    /// 2^52 - p.
    minus_p: __m512i,
    /// floor(2^52 / p).
    one: __m512i,
    /// 2^52 modulo p.
    high: Factor,
}

/// Bits of the halves of a product.
const HALF: u32 = LANE_BITS;
/// Products in a sum: high halves are below 2^48, so 15 of them and the carries of the low halves stay below 2^52.
const ROOM: usize = 15;

impl IfmaSums {
    #[inline(always)]
    pub(crate) fn new(lanes: Lanes, m: &Modulus<u64>) -> Self {
        let p = lanes.splat(m.value());
        Self {
            lanes,
            p,
            twice: lanes.add(p, p),
            minus_p: lanes.splat((1 << HALF) - m.value()),
            one: lanes.splat((1 << HALF) / m.value()),
            high: lanes.factor(&m.shoup(m.reduce_u64(1 << HALF))),
        }
    }
}

impl OnLanes for IfmaSums {
    type Lanes = Lanes;

    #[inline(always)]
    fn lanes(self) -> Lanes {
        self.lanes
    }
}

impl Sums for IfmaSums {
    type Acc = Acc;

    #[inline(always)]
    fn zero(self) -> Acc {
        self.of(ifma!(_mm512_setzero_si512()))
    }
    #[inline(always)]
    fn of(self, x: __m512i) -> Acc {
        Acc { low: x, high: ifma!(_mm512_setzero_si512()) }
    }
    #[inline(always)]
    fn mul_add(self, acc: Acc, a: __m512i, b: __m512i) -> Acc {
        ifma!(Acc { low: _mm512_madd52lo_epu64(acc.low, a, b), high: _mm512_madd52hi_epu64(acc.high, a, b) })
    }
    #[inline(always)]
    fn residue(self, Acc { low, high }: Acc) -> __m512i {
        // The products read only the low 52 bits of `low`; the mask removes what is above them. Either quotient is at
        // most 2 less than the true one: the remainder is below 4 p.
        let v = self.lanes;
        let remainder = ifma!({
            let high = _mm512_add_epi64(high, _mm512_srli_epi64::<HALF>(low));
            let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), high, self.high.quotient);
            let quotient = _mm512_madd52hi_epu64(quotient, low, self.one);
            let sum = _mm512_madd52lo_epu64(low, high, self.high.value);
            _mm512_madd52lo_epu64(sum, quotient, self.minus_p)
        });
        let remainder = v.and(remainder, v.splat((1 << HALF) - 1));
        v.reduce_once(v.reduce_once(remainder, self.twice), self.p)
    }
    #[inline(always)]
    fn room(self) -> usize {
        ROOM
    }
}
