//! AVX-512 IFMA: eight 64-bit lanes that multiply 52-bit numbers. It transforms rows modulo primes below 2^50;
//! larger primes, and operations whose words may exceed 52 bits, go to AVX2.
//!
//! SAFETY, for every block here: the only value of [`Ifma`] is reached through [`Ifma::detect`], which returns
//! it only where the CPU has AVX-512F and AVX-512 IFMA; loads and stores go through references to
//! whole packs and are unaligned.

use super::avx2::Avx2;
use super::backend::kernel;
use super::vector::Vector;
use crate::arith::kernels::{Kernels, ntt};
use crate::arith::ntt::Twiddles;
use crate::arith::{Modulus, NttTable, Shoup};
use core::arch::x86_64::*;

/// Proof that the CPU has AVX-512F and AVX-512 IFMA.
#[derive(Clone, Copy)]
pub(crate) struct Ifma(());

static TOKEN: Ifma = Ifma(());

impl Ifma {
    /// The token, if the CPU has the instructions, AVX2 included.
    pub(crate) fn detect() -> Option<&'static Self> {
        #[cfg(feature = "std")]
        let usable = std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512ifma");
        #[cfg(not(feature = "std"))]
        let usable = cfg!(all(target_feature = "avx512f", target_feature = "avx512ifma"));
        (usable && Avx2::detect().is_some()).then_some(&TOKEN)
    }
}

/// Bits of a lane's product operands.
const LANE_BITS: u32 = 52;
/// Primes below this many bits leave room for lazy butterflies, whose words are below `4p`.
const PRIME_BITS: u32 = LANE_BITS - 2;

/// Vector operations on eight `u64`.
#[derive(Clone, Copy)]
struct Lanes(#[allow(dead_code)] Ifma);

/// A factor and `floor(value * 2^52 / p)`.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    value: __m512i,
    quotient: __m512i,
}

/// Intrinsics, allowed by the token (see the module above).
macro_rules! ifma {
    ($e:expr) => {
        // SAFETY: the token proves AVX-512F and AVX-512 IFMA.
        unsafe { $e }
    };
}

impl Vector for Lanes {
    type Word = u64;
    type Pack = [u64; 8];
    type Reg = __m512i;
    type Factor = Factor;

    const LANES: usize = 8;
    const LAZY_BITS: u32 = PRIME_BITS;

    #[inline(always)]
    fn packs(self, row: &[u64]) -> (&[[u64; 8]], &[u64]) {
        row.as_chunks()
    }
    #[inline(always)]
    fn packs_mut(self, row: &mut [u64]) -> (&mut [[u64; 8]], &mut [u64]) {
        row.as_chunks_mut()
    }
    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        ifma!(_mm512_set1_epi64(x as i64))
    }
    #[inline(always)]
    fn load(self, from: &[u64; 8]) -> __m512i {
        ifma!(_mm512_loadu_si512(from.as_ptr().cast()))
    }
    #[inline(always)]
    fn store(self, to: &mut [u64; 8], x: __m512i) {
        ifma!(_mm512_storeu_si512(to.as_mut_ptr().cast(), x));
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
    fn factor(self, w: &Shoup<u64>) -> Factor {
        Factor { value: self.splat(w.value), quotient: self.splat(w.quotient >> (64 - LANE_BITS)) }
    }
    #[inline(always)]
    fn mul_lazy(self, a: __m512i, w: &Factor, p: __m512i) -> __m512i {
        // Both low halves are modulo 2^52, and so is their difference, which is below 2p.
        ifma!({
            let zero = _mm512_setzero_si512();
            let quotient = _mm512_madd52hi_epu64(zero, a, w.quotient);
            let product = _mm512_madd52lo_epu64(zero, a, w.value);
            let multiple = _mm512_madd52lo_epu64(zero, quotient, p);
            let mask = _mm512_set1_epi64((1 << LANE_BITS) - 1);
            _mm512_and_si512(_mm512_sub_epi64(product, multiple), mask)
        })
    }
    #[inline(always)]
    fn factors<const T: usize>(self, w: &Twiddles<u64>, chunk: usize) -> Factor {
        let quotient = self.spread::<T>(&w.quotients, chunk);
        // From floor(value 2^64 / p) to floor(value 2^52 / p).
        let quotient = ifma!(_mm512_srli_epi64::<12>(quotient));
        Factor { value: self.spread::<T>(&w.values, chunk), quotient }
    }
    #[inline(always)]
    fn split<const T: usize>(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        let (low, high) = const { (split_order(T, 0), split_order(T, T as u64)) };
        ifma!((
            _mm512_permutex2var_epi64(a, self.load(&low), b),
            _mm512_permutex2var_epi64(a, self.load(&high), b),
        ))
    }
    #[inline(always)]
    fn merge<const T: usize>(self, low: __m512i, high: __m512i) -> (__m512i, __m512i) {
        let (first, second) = const { (merge_order(T, 0), merge_order(T, 8)) };
        ifma!((
            _mm512_permutex2var_epi64(low, self.load(&first), high),
            _mm512_permutex2var_epi64(low, self.load(&second), high),
        ))
    }
}

impl Lanes {
    /// The `chunk`-th run of `8 / T` words, each `T` times: the order of the groups that `split` makes.
    #[inline(always)]
    fn spread<const T: usize>(self, words: &[u64], chunk: usize) -> __m512i {
        let run = match T {
            4 => {
                let two: &[u64; 2] = &words.as_chunks().0[chunk];
                ifma!(_mm512_castsi128_si512(_mm_loadu_si128(two.as_ptr().cast())))
            }
            2 => {
                let four: &[u64; 4] = &words.as_chunks().0[chunk];
                ifma!(_mm512_castsi256_si512(_mm256_loadu_si256(four.as_ptr().cast())))
            }
            _ => return self.load(&words.as_chunks().0[chunk]),
        };
        ifma!(_mm512_permutexvar_epi64(self.load(const { &spread_order(T) }), run))
    }
}

/// Where the lanes of a half come from in two consecutive registers: groups of `2 t` words, from `offset` on.
const fn split_order(t: usize, offset: u64) -> [u64; 8] {
    let mut order = [0; 8];
    let mut lane = 0;
    while lane < 8 {
        order[lane] = (lane / t * 2 * t + lane % t) as u64 + offset;
        lane += 1;
    }
    order
}

/// Where 8 consecutive words, from `start` on, come from in the halves made by `split`.
const fn merge_order(t: usize, start: usize) -> [u64; 8] {
    let mut order = [0; 8];
    let mut lane = 0;
    while lane < 8 {
        let (group, rest) = ((start + lane) / (2 * t), (start + lane) % (2 * t));
        let half = if rest < t { 0 } else { 8 };
        order[lane] = (group * t + rest % t + half) as u64;
        lane += 1;
    }
    order
}

/// Each of `8 / t` words `t` times.
const fn spread_order(t: usize) -> [u64; 8] {
    let mut order = [0; 8];
    let mut lane = 0;
    while lane < 8 {
        order[lane] = (lane / t) as u64;
        lane += 1;
    }
    order
}

/// The transforms modulo a prime below 2^50.
struct Narrow;

impl Narrow {
    kernel!(forward = ntt::forward, Lanes(TOKEN), ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64]);
    kernel!(inverse = ntt::inverse, Lanes(TOKEN), ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64]);
}

fn is_narrow(m: &Modulus<u64>) -> bool {
    m.value_u64() >> PRIME_BITS == 0
}

/// What the lanes cannot do. A token exists only where AVX2 does.
fn wide() -> &'static dyn Kernels<u64> {
    match Avx2::detect() {
        Some(token) => token,
        None => unreachable!("IFMA is not used without AVX2"),
    }
}

/// Methods passed on as they are.
macro_rules! passed_on {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name(&self, $($argument: $kind),*) {
            wide().$name($($argument),*);
        })*
    };
}

#[rustfmt::skip]
impl Kernels<u64> for Ifma {
    fn name(&self) -> &'static str {
        "avx512"
    }
    fn ntt_forward(&self, t: &NttTable<u64>, row: &mut [u64]) {
        if is_narrow(t.modulus()) { Narrow.forward(t, row) } else { wide().ntt_forward(t, row) }
    }
    fn ntt_inverse(&self, t: &NttTable<u64>, row: &mut [u64]) {
        if is_narrow(t.modulus()) { Narrow.inverse(t, row) } else { wide().ntt_inverse(t, row) }
    }
    passed_on! {
        add_assign(m: &Modulus<u64>, a: &mut [u64], b: &[u64]);
        sub_assign(m: &Modulus<u64>, a: &mut [u64], b: &[u64]);
        neg_assign(m: &Modulus<u64>, a: &mut [u64]);
        mul_assign(m: &Modulus<u64>, a: &mut [u64], b: &[u64]);
        mul_scalar_assign(m: &Modulus<u64>, a: &mut [u64], s: &Shoup<u64>);
        mul_scalar_add_assign(m: &Modulus<u64>, acc: &mut [u64], a: &[u64], s: &Shoup<u64>);
        sub_mul_scalar_assign(m: &Modulus<u64>, a: &mut [u64], b: &[u64], s: &Shoup<u64>);
        inner_product(m: &Modulus<u64>, out: &mut [u64], lhs: &[&[u64]], rhs: &[&[u64]], accumulate: bool);
        key_product(m: &Modulus<u64>, out0: &mut [u64], out1: &mut [u64], lhs: &[&[u64]], key: &[u64], accumulate: bool);
        permute(out: &mut [u64], x: &[u64], perm: &[u32]);
        permute_add_assign(m: &Modulus<u64>, out: &mut [u64], x: &[u64], perm: &[u32]);
        lift_centered(from: &Modulus<u64>, to: &Modulus<u64>, out: &mut [u64], x: &[u64]);
        crt_overflow(v: &mut [u64], ys: &[&[u64]], inv_d: &[f64]);
        crt_combine(to: &Modulus<u64>, out: &mut [u64], ys: &[&[u64]], w: &[Shoup<u64>], v: &[u64], d: &Shoup<u64>);
        reduce_i64(m: &Modulus<u64>, out: &mut [u64], x: &[i64]);
    }
}
