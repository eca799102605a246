//! AVX-512 with IFMA: transforms and products modulo primes below 2^50 in lanes of 52 bits, everything else in whole words.

mod multiples;
mod sums;
mod wide_convert;
mod wide_sums;

use super::gates::{OwnOrder, gate_backend};
use super::macros::{backend, kernel};
use crate::arith::kernels::{Kernels, KeyProduct, gate_product, ntt, pointwise, unrolled_product};
use crate::arith::simd::avx512_wide;
use crate::arith::simd::ifma::{Ifma, LANE_BITS, Lanes, PRIME_BITS};
use crate::arith::simd::prefetch::prefetch;
use crate::arith::{Modulus, NttTable, Shoup};

/// All kernels, for primes of up to 61 bits.
#[derive(Clone, Copy)]
struct Wide(Ifma);

impl From<Wide> for avx512_wide::Lanes {
    #[inline(always)]
    fn from(wide: Wide) -> Self {
        wide.0.into()
    }
}

backend!(
    Wide,
    u64,
    "avx512",
    features = ["avx512f,avx512dq,avx512ifma"],
    transforms = [ntt::forward::<16, _>, ntt::inverse::<16, _>],
    rows = avx512_wide::Lanes,
    products = avx512_wide::Lanes,
    sums = wide_sums
);

/// Transforms and products modulo a prime below 2^50.
#[derive(Clone, Copy)]
struct Narrow(Ifma);

impl From<Narrow> for Lanes {
    #[inline(always)]
    fn from(narrow: Narrow) -> Self {
        narrow.0.into()
    }
}

impl Wide {
    kernel!(add_multiples = multiples::wide, avx512_wide::Lanes, ["avx512f,avx512dq,avx512ifma"], m: &Modulus<u64>, acc: &mut [u64], terms: &[&[u64]], scalars: &[Shoup<u64>]);
}

impl Narrow {
    kernel!(evaluate = gate_product::evaluate::<16, _>, Lanes, ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64], rough: bool, near: &[u64]);
    kernel!(interpolate = gate_product::interpolate::<16, _>, Lanes, ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64], near: &[u64]);
    kernel!(reorder = gate_product::reorder::<16, _>, Lanes, ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64]);
    kernel!(unrolled_product = unrolled_product::product, Lanes, ["avx512f,avx512ifma"], m: &Modulus<u64>, out: [&mut [u64]; 2], rows: &[u64], key: &[u64], turns: &unrolled_product::Turns<u64>, rough: bool);
    kernel!(ntt_forward = ntt::forward::<16, _>, Lanes, ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64]);
    kernel!(ntt_inverse = ntt::inverse::<16, _>, Lanes, ["avx512f,avx512ifma"], t: &NttTable<u64>, row: &mut [u64]);
    kernel!(sub_mul_scalar_assign = pointwise::sub_mul_scalar_assign, Lanes, ["avx512f,avx512ifma"], m: &Modulus<u64>, a: &mut [u64], b: &[u64], s: &Shoup<u64>);
    kernel!(add_multiples = multiples::narrow, Lanes, ["avx512f,avx512ifma"], m: &Modulus<u64>, acc: &mut [u64], terms: &[&[u64]], scalars: &[Shoup<u64>]);
    kernel!(mul_assign = narrow::mul_assign, Lanes, ["avx512f,avx512ifma"], m: &Modulus<u64>, a: &mut [u64], b: &[u64]);
    kernel!(inner_product = narrow::inner_product, Lanes, ["avx512f,avx512ifma"], m: &Modulus<u64>, out: &mut [u64], lhs: &[&[u64]], rhs: &[&[u64]], accumulate: bool);
    kernel!(key_products = narrow::key_products, Lanes, ["avx512f,avx512ifma"], m: &Modulus<u64>, products: &mut [KeyProduct<'_, u64>], accumulate: bool);
}

/// The products of [`kernels`](crate::arith::kernels) by lanes of 52 bits.
mod narrow {
    use super::Lanes;
    use crate::arith::Modulus;
    use crate::arith::backends::ifma::sums::IfmaSums;
    use crate::arith::kernels::{KeyProduct, key_products::key_products_by, products};

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

/// Methods that all primes share.
macro_rules! passed_on {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name(&self, $($argument: $kind),*) {
            Wide(*self).$name($($argument),*);
        })*
    };
}

/// Methods of [`Narrow`] for the primes that it serves, and of [`Wide`] for others. A choice of sums in `backend!` would not do: the
/// two have transforms and lanes of their own.
macro_rules! by_prime {
    ($($name:ident($modulus:expr; $($argument:ident: $kind:ty),*);)*) => {
        $(fn $name(&self, $($argument: $kind),*) {
            if is_narrow($modulus) { Narrow(*self).$name($($argument),*) } else { Wide(*self).$name($($argument),*) }
        })*
    };
}

#[rustfmt::skip]
impl Kernels<u64> for Ifma {
    fn name(&self) -> &'static str {
        "avx512"
    }
    by_prime! {
        ntt_forward(t.modulus(); t: &NttTable<u64>, row: &mut [u64]);
        ntt_inverse(t.modulus(); t: &NttTable<u64>, row: &mut [u64]);
        mul_assign(m; m: &Modulus<u64>, a: &mut [u64], b: &[u64]);
        inner_product(m; m: &Modulus<u64>, out: &mut [u64], lhs: &[&[u64]], rhs: &[&[u64]], accumulate: bool);
        key_products(m; m: &Modulus<u64>, products: &mut [KeyProduct<'_, u64>], accumulate: bool);
        sub_mul_scalar_assign(m; m: &Modulus<u64>, a: &mut [u64], b: &[u64], s: &Shoup<u64>);
        add_multiples(m; m: &Modulus<u64>, acc: &mut [u64], terms: &[&[u64]], scalars: &[Shoup<u64>]);
    }
    kernel!(crt_combine = wide_convert::crt_combine, avx512_wide::Lanes, ["avx512f,avx512dq,avx512ifma"], to: &Modulus<u64>, out: &mut [u64], ys: &[&[u64]], w: &[Shoup<u64>], v: &[u64], d: &Shoup<u64>);
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

/// Primes that [`Narrow`] does not serve have the ordinary order.
impl OwnOrder for Ifma {
    fn evaluate(&self, t: &NttTable<u64>, row: &mut [u64], near: &[u64]) {
        if has_own_order(*self, t) {
            return Narrow(*self).evaluate(t, row, false, near);
        }
        prefetch(near);
        self.ntt_forward(t, row);
    }
    fn interpolate(&self, t: &NttTable<u64>, row: &mut [u64], near: &[u64]) {
        if has_own_order(*self, t) {
            return Narrow(*self).interpolate(t, row, near);
        }
        prefetch(near);
        self.ntt_inverse(t, row);
    }
    fn reorder(&self, t: &NttTable<u64>, row: &mut [u64]) {
        if has_own_order(*self, t) {
            Narrow(*self).reorder(t, row);
        }
    }
    fn prepare_unrolled(&self, m: &Modulus<u64>, n: usize, out: &mut [u64], key: &[u64]) {
        if is_narrow(m) {
            unrolled_product::prepare(m, LANE_BITS, n, out, key);
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
        turns: &unrolled_product::Turns<u64>,
    ) {
        if is_narrow(m) {
            Narrow(*self).unrolled_product(m, out, rows, key, turns, false);
        } else {
            unrolled_product::product_of_rows(self, m, out, rows, key, turns);
        }
    }
}

fn has_own_order(token: Ifma, t: &NttTable<u64>) -> bool {
    is_narrow(t.modulus()) && gate_product::has_own_order::<16, _>(Lanes::from(token), t)
}

gate_backend!(Ifma, u64, "avx512", features = ["avx512f,avx512ifma"], registers = 8, rows = Lanes);
