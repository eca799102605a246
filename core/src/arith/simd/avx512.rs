//! AVX-512F: sixteen 32-bit lanes.
//!
//! SAFETY, for every block here: the only value of [`Avx512`] is reached through [`Avx512::detect`], which
//! returns it only where the CPU has AVX-512F; loads and stores go through references to whole
//! packs and are unaligned.

use super::vector::{Products, Vector};
use crate::arith::Shoup;
use crate::arith::ntt::Twiddles;
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

/// Vector operations on sixteen `u32`.
#[derive(Clone, Copy)]
struct Lanes(#[allow(dead_code)] Avx512);

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

impl Vector for Lanes {
    type Word = u32;
    type Pack = [u32; 16];
    type Reg = __m512i;
    type Factor = Factor;

    const LANES: usize = 16;
    const LAZY_BITS: u32 = 30;

    #[inline(always)]
    fn packs(self, row: &[u32]) -> (&[[u32; 16]], &[u32]) {
        row.as_chunks()
    }
    #[inline(always)]
    fn packs_mut(self, row: &mut [u32]) -> (&mut [[u32; 16]], &mut [u32]) {
        row.as_chunks_mut()
    }
    #[inline(always)]
    fn splat(self, x: u32) -> __m512i {
        avx512!(_mm512_set1_epi32(x as i32))
    }
    #[inline(always)]
    fn load(self, from: &[u32; 16]) -> __m512i {
        avx512!(_mm512_loadu_si512(from.as_ptr().cast()))
    }
    #[inline(always)]
    fn store(self, to: &mut [u32; 16], x: __m512i) {
        avx512!(_mm512_storeu_si512(to.as_mut_ptr().cast(), x));
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
    fn factor(self, w: &Shoup<u32>) -> Factor {
        let quotient = self.splat(w.quotient);
        Factor { value: self.splat(w.value), quotient, quotient_odd: quotient }
    }
    #[inline(always)]
    fn mul_lazy(self, a: __m512i, w: &Factor, p: __m512i) -> __m512i {
        avx512!({
            let even = _mm512_mul_epu32(a, w.quotient);
            let odd_lanes = _mm512_mul_epu32(odd(a), w.quotient_odd);
            let high = _mm512_mask_blend_epi32(ODD, odd(even), odd_lanes);
            _mm512_sub_epi32(_mm512_mullo_epi32(a, w.value), _mm512_mullo_epi32(high, p))
        })
    }
    #[inline(always)]
    fn factors<const T: usize>(self, w: &Twiddles<u32>, chunk: usize) -> Factor {
        let quotient = self.spread::<T>(&w.quotients, chunk);
        Factor { value: self.spread::<T>(&w.values, chunk), quotient, quotient_odd: odd(quotient) }
    }
    #[inline(always)]
    fn split<const T: usize>(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        let (low, high) = const { (split_order(T, 0), split_order(T, T as u32)) };
        avx512!((
            _mm512_permutex2var_epi32(a, self.load(&low), b),
            _mm512_permutex2var_epi32(a, self.load(&high), b),
        ))
    }
    #[inline(always)]
    fn merge<const T: usize>(self, low: __m512i, high: __m512i) -> (__m512i, __m512i) {
        let (first, second) = const { (merge_order(T, 0), merge_order(T, 16)) };
        avx512!((
            _mm512_permutex2var_epi32(low, self.load(&first), high),
            _mm512_permutex2var_epi32(low, self.load(&second), high),
        ))
    }
}

impl Lanes {
    /// The `chunk`-th run of `16 / T` words, each `T` times.
    #[inline(always)]
    fn spread<const T: usize>(self, words: &[u32], chunk: usize) -> __m512i {
        let run = match T {
            8 => {
                let [a, b]: [u32; 2] = words.as_chunks().0[chunk];
                avx512!(_mm512_set1_epi64(i64::from(a) | (i64::from(b) << 32)))
            }
            4 => {
                let four: &[u32; 4] = &words.as_chunks().0[chunk];
                avx512!(_mm512_castsi128_si512(_mm_loadu_si128(four.as_ptr().cast())))
            }
            2 => {
                let eight: &[u32; 8] = &words.as_chunks().0[chunk];
                avx512!(_mm512_castsi256_si512(_mm256_loadu_si256(eight.as_ptr().cast())))
            }
            _ => return self.load(&words.as_chunks().0[chunk]),
        };
        avx512!(_mm512_permutexvar_epi32(self.load(const { &spread_order(T) }), run))
    }
}

/// Where the lanes of a half come from in two consecutive registers: groups of `2 t` words, from `offset` on.
const fn split_order(t: usize, offset: u32) -> [u32; 16] {
    let mut order = [0; 16];
    let mut lane = 0;
    while lane < 16 {
        order[lane] = (lane / t * 2 * t + lane % t) as u32 + offset;
        lane += 1;
    }
    order
}

/// Where 16 consecutive words, from `start` on, come from in the halves made by `split`.
const fn merge_order(t: usize, start: usize) -> [u32; 16] {
    let mut order = [0; 16];
    let mut lane = 0;
    while lane < 16 {
        let (group, rest) = ((start + lane) / (2 * t), (start + lane) % (2 * t));
        let half = if rest < t { 0 } else { 16 };
        order[lane] = (group * t + rest % t + half) as u32;
        lane += 1;
    }
    order
}

/// Each of `16 / t` words `t` times.
const fn spread_order(t: usize) -> [u32; 16] {
    let mut order = [0; 16];
    let mut lane = 0;
    while lane < 16 {
        order[lane] = (lane / t) as u32;
        lane += 1;
    }
    order
}

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
            self.split::<1>(a, b)
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
    fn gather(self, x: &[u32], perm: &[u32]) -> __m512i {
        let perm: &[u32; 16] = &perm.as_chunks().0[0];
        let mut words = [0; 16];
        let mut lane = 0;
        while lane < 16 {
            words[lane] = x[perm[lane] as usize];
            lane += 1;
        }
        self.load(&words)
    }
}

super::backend::backend!(
    Avx512,
    u32,
    "avx512",
    features = ["avx512f"],
    rows = Lanes(TOKEN),
    products = Lanes(TOKEN)
);
