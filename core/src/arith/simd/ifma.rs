//! AVX-512 IFMA: eight 64-bit lanes that multiply 52-bit numbers. It transforms and multiplies rows modulo primes
//! below 2^50; larger words are the matter of [`avx512_wide`].
//!
//! SAFETY, for every block here: the only value of [`Ifma`] is reached through [`Ifma::detect`], which returns
//! it only where the CPU has AVX-512F, AVX-512DQ and AVX-512 IFMA; loads and stores go through references to
//! whole packs and are unaligned.

use super::avx2::Avx2;
use super::avx512::transpose_quarters;
use super::backend::kernel;
use super::vector::{Transpose, Vector};
use super::{avx512_wide, avx512_wide_convert, avx512_wide_sums};
use crate::arith::kernels::{Kernels, KeyProduct, gate_product, ntt, pointwise, unrolled};
use crate::arith::unroll::unrolled;
use crate::arith::{Modulus, NttTable, Shoup};
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
const LANE_BITS: u32 = 52;
/// Primes below this many bits leave room for lazy butterflies, whose words are below `4p`.
const PRIME_BITS: u32 = LANE_BITS - 2;

/// Vector operations on eight `u64`.
#[derive(Clone, Copy)]
pub(crate) struct Lanes(#[allow(dead_code)] Ifma);

/// A factor and `floor(value * 2^52 / p)`.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    pub(super) value: __m512i,
    pub(super) quotient: __m512i,
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
        // Both low halves are modulo 2^52, and so is their sum, which is below 2p.
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

/// Everything for words of up to 61 bits.
struct Wide;

super::backend::backend!(
    Wide,
    u64,
    "avx512",
    features = ["avx512f,avx512dq,avx512ifma"],
    transforms = [ntt::forward::<16, _>, ntt::inverse::<16, _>],
    rows = avx512_wide::Lanes(Lanes(TOKEN)),
    products = avx512_wide::Lanes(Lanes(TOKEN)),
    sums = avx512_wide_sums
);

/// Transforms and products modulo a prime below 2^50.
struct Narrow;

impl Narrow {
    kernel!(evaluate = gate_product::evaluate::<16, _>, Lanes(TOKEN), ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64], rough: bool, near: &[u64]);
    kernel!(interpolate = gate_product::interpolate::<16, _>, Lanes(TOKEN), ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64], near: &[u64]);
    kernel!(reorder = gate_product::reorder::<16, _>, Lanes(TOKEN), ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64]);
    kernel!(unrolled_product = unrolled::product, Lanes(TOKEN), ["avx512f,avx512ifma"], m: &Modulus<u64>, out: [&mut [u64]; 2], rows: &[u64], key: &[u64], turns: &unrolled::Turns<u64>, rough: bool);
    kernel!(forward = ntt::forward::<16, _>, Lanes(TOKEN), ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64]);
    kernel!(inverse = ntt::inverse::<16, _>, Lanes(TOKEN), ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64]);
    kernel!(sub_mul_scalar_assign = pointwise::sub_mul_scalar_assign, Lanes(TOKEN), ["avx512f,avx512ifma"], m: &Modulus<u64>, a: &mut [u64], b: &[u64], s: &Shoup<u64>);
    kernel!(add_multiples = sums::add_multiples, Lanes(TOKEN), ["avx512f,avx512ifma"], m: &Modulus<u64>, acc: &mut [u64], terms: &[&[u64]], scalars: &[Shoup<u64>]);
    kernel!(mul_assign = sums::mul_assign, Lanes(TOKEN), ["avx512f,avx512ifma"], m: &Modulus<u64>, a: &mut [u64], b: &[u64]);
    kernel!(inner_product = sums::inner_product, Lanes(TOKEN), ["avx512f,avx512ifma"], m: &Modulus<u64>, out: &mut [u64], lhs: &[&[u64]], rhs: &[&[u64]], accumulate: bool);
    kernel!(key_products = sums::key_products, Lanes(TOKEN), ["avx512f,avx512ifma"], m: &Modulus<u64>, products: &mut [KeyProduct<'_, u64>], accumulate: bool);
}

/// The products of [`kernels`](crate::arith::kernels) by these lanes.
mod sums {
    use super::Lanes;
    use crate::arith::kernels::{KeyProduct, key_products::key_products_by, pointwise, products};
    use crate::arith::simd::ifma_sums::{IfmaSums, sums_of_multiples};
    use crate::arith::{Modulus, Shoup};

    #[inline(always)]
    pub(super) fn add_multiples(
        v: Lanes,
        m: &Modulus<u64>,
        acc: &mut [u64],
        terms: &[&[u64]],
        scalars: &[Shoup<u64>],
    ) {
        if let ([x], [s]) = (terms, scalars) {
            pointwise::mul_scalar_add_assign(v, m, acc, x, s);
        } else {
            sums_of_multiples(v, m, acc, terms, scalars);
        }
    }

    #[inline(always)]
    pub(super) fn mul_assign(v: Lanes, m: &Modulus<u64>, a: &mut [u64], b: &[u64]) {
        products::mul_assign_by(IfmaSums::new(v, m), m, a, b);
    }

    #[inline(always)]
    pub(super) fn inner_product(
        v: Lanes,
        m: &Modulus<u64>,
        out: &mut [u64],
        lhs: &[&[u64]],
        rhs: &[&[u64]],
        accumulate: bool,
    ) {
        products::inner_product_by(IfmaSums::new(v, m), m, out, lhs, rhs, accumulate);
    }

    #[inline(always)]
    pub(super) fn key_products(
        v: Lanes,
        m: &Modulus<u64>,
        products: &mut [KeyProduct<'_, u64>],
        accumulate: bool,
    ) {
        key_products_by(IfmaSums::new(v, m), m, products, accumulate);
    }
}

fn is_narrow(m: &Modulus<u64>) -> bool {
    m.value_u64() >> PRIME_BITS == 0
}

/// Methods passed on as they are.
macro_rules! passed_on {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name(&self, $($argument: $kind),*) {
            Wide.$name($($argument),*);
        })*
    };
}

#[rustfmt::skip]
impl Kernels<u64> for Ifma {
    fn name(&self) -> &'static str {
        "avx512"
    }
    fn ntt_forward(&self, t: &NttTable<u64>, row: &mut [u64]) {
        if is_narrow(t.modulus()) { Narrow.forward(t, row) } else { Wide.ntt_forward(t, row) }
    }
    fn ntt_inverse(&self, t: &NttTable<u64>, row: &mut [u64]) {
        if is_narrow(t.modulus()) { Narrow.inverse(t, row) } else { Wide.ntt_inverse(t, row) }
    }
    fn mul_assign(&self, m: &Modulus<u64>, a: &mut [u64], b: &[u64]) {
        if is_narrow(m) { Narrow.mul_assign(m, a, b) } else { Wide.mul_assign(m, a, b) }
    }
    fn inner_product(&self, m: &Modulus<u64>, out: &mut [u64], lhs: &[&[u64]], rhs: &[&[u64]], accumulate: bool) {
        if is_narrow(m) {
            Narrow.inner_product(m, out, lhs, rhs, accumulate);
        } else {
            Wide.inner_product(m, out, lhs, rhs, accumulate);
        }
    }
    fn key_products(&self, m: &Modulus<u64>, products: &mut [KeyProduct<'_, u64>], accumulate: bool) {
        if is_narrow(m) {
            Narrow.key_products(m, products, accumulate);
        } else {
            Wide.key_products(m, products, accumulate);
        }
    }
    fn sub_mul_scalar_assign(&self, m: &Modulus<u64>, a: &mut [u64], b: &[u64], s: &Shoup<u64>) {
        if is_narrow(m) { Narrow.sub_mul_scalar_assign(m, a, b, s) } else { Wide.sub_mul_scalar_assign(m, a, b, s) }
    }
    fn add_multiples(&self, m: &Modulus<u64>, acc: &mut [u64], terms: &[&[u64]], scalars: &[Shoup<u64>]) {
        if is_narrow(m) { Narrow.add_multiples(m, acc, terms, scalars) } else { Wide.add_multiples(m, acc, terms, scalars) }
    }
    kernel!(crt_combine = avx512_wide_convert::crt_combine, avx512_wide::Lanes(Lanes(TOKEN)), ["avx512f,avx512dq,avx512ifma"], to: &Modulus<u64>, out: &mut [u64], ys: &[&[u64]], w: &[Shoup<u64>], v: &[u64], d: &Shoup<u64>);
    passed_on! {
        add_assign(m: &Modulus<u64>, a: &mut [u64], b: &[u64]);
        sub_assign(m: &Modulus<u64>, a: &mut [u64], b: &[u64]);
        neg_assign(m: &Modulus<u64>, a: &mut [u64]);
        mul_scalar_assign(m: &Modulus<u64>, a: &mut [u64], s: &Shoup<u64>);
        mul_scalar_add_assign(m: &Modulus<u64>, acc: &mut [u64], a: &[u64], s: &Shoup<u64>);
        permute(out: &mut [u64], x: &[u64], perm: &[u32]);
        permute_to_lines(out: &mut [u64], place: (usize, usize), x: &[u64], perm: &[u32], origin: u32);
        permute_add_assign(m: &Modulus<u64>, out: &mut [u64], x: &[u64], perm: &[u32]);
        lift_centered(from: &Modulus<u64>, to: &Modulus<u64>, out: &mut [u64], x: &[u64]);
        crt_overflow(v: &mut [u64], ys: &[&[u64]], inv_d: &[f64]);
        reduce_i64(m: &Modulus<u64>, out: &mut [u64], x: &[i64]);
    }
}

/// Larger primes have the ordinary order.
impl super::gates::OwnOrder for Ifma {
    fn evaluate(&self, t: &NttTable<u64>, row: &mut [u64], near: &[u64]) {
        if has_own_order(t) {
            return Narrow.evaluate(t, row, false, near);
        }
        super::gates::prefetch(near);
        self.ntt_forward(t, row);
    }
    fn interpolate(&self, t: &NttTable<u64>, row: &mut [u64], near: &[u64]) {
        if has_own_order(t) {
            return Narrow.interpolate(t, row, near);
        }
        super::gates::prefetch(near);
        self.ntt_inverse(t, row);
    }
    fn reorder(&self, t: &NttTable<u64>, row: &mut [u64]) {
        if has_own_order(t) {
            Narrow.reorder(t, row);
        }
    }
    fn prepare_unrolled(&self, m: &Modulus<u64>, n: usize, out: &mut [u64], key: &[u64]) {
        if is_narrow(m) {
            unrolled::prepare(m, LANE_BITS, n, out, key);
        } else {
            out.copy_from_slice(key);
        }
    }
    fn unrolled_product(
        &self,
        m: &Modulus<u64>,
        out: [&mut [u64]; 2],
        rows: &[u64],
        key: &[u64],
        turns: &unrolled::Turns<u64>,
    ) {
        if is_narrow(m) {
            Narrow.unrolled_product(m, out, rows, key, turns, false);
        } else {
            unrolled::product_of_rows(self, m, out, rows, key, turns);
        }
    }
}

fn has_own_order(t: &NttTable<u64>) -> bool {
    is_narrow(t.modulus()) && gate_product::has_own_order::<16, _>(Lanes(TOKEN), t)
}

super::gates::gate_backend!(
    Ifma,
    u64,
    "avx512",
    features = ["avx512f,avx512ifma"],
    registers = 8,
    rows = Lanes(TOKEN)
);
