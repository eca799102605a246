//! The list of kernels, compiled for each instruction set from its vector operations.

/// One method of a token: the kernel's text, inlined into a function compiled with the CPU features. `$vectors` is the type of the vector
/// operations, which are made from the token.
macro_rules! kernel {
    ($name:ident = $text:path, $vectors:ty, [$($features:literal)?], $($argument:ident: $kind:ty),*) => {
        fn $name(&self, $($argument: $kind),*) {
            $(#[target_feature(enable = $features)])?
            fn compiled(vectors: $vectors, $($argument: $kind),*) {
                $text(vectors, $($argument),*);
            }
            // SAFETY: `self` is a token, which exists only where the CPU has these features.
            #[allow(unused_unsafe)]
            unsafe {
                compiled(<$vectors>::from(*self), $($argument),*);
            }
        }
    };
}
pub(crate) use kernel;

/// Implements [`Kernels`](crate::arith::Kernels) for a token type. The vector operations made from the token have the type `rows` for
/// single words and `products` for double words (plain words where a backend gains nothing from vectors); `transforms` are the two
/// transforms by `rows`, and `sums` is the module with the products of rows.
macro_rules! backend {
    ($token:ty, $word:ty, $name:literal, features = $features:tt, transforms = [$forward:path, $inverse:path], rows = $rows:ty, products = $products:ty, sums = $sums:ident) => {
        const _: () = {
            use $crate::arith::kernels::{Kernels, convert, permute, pointwise};
            use $crate::arith::backends::macros::kernel;
            use $crate::arith::{KeyProduct, Modulus, NttTable, Shoup};

            #[rustfmt::skip]
            impl Kernels<$word> for $token {
                fn name(&self) -> &'static str {
                    $name
                }
                kernel!(ntt_forward = $forward, $rows, $features, t: &NttTable<$word>, row: &mut [$word]);
                kernel!(ntt_inverse = $inverse, $rows, $features, t: &NttTable<$word>, row: &mut [$word]);
                kernel!(add_assign = pointwise::add_assign, $rows, $features, m: &Modulus<$word>, a: &mut [$word], b: &[$word]);
                kernel!(sub_assign = pointwise::sub_assign, $rows, $features, m: &Modulus<$word>, a: &mut [$word], b: &[$word]);
                kernel!(neg_assign = pointwise::neg_assign, $rows, $features, m: &Modulus<$word>, a: &mut [$word]);
                kernel!(mul_assign = $sums::mul_assign, $products, $features, m: &Modulus<$word>, a: &mut [$word], b: &[$word]);
                kernel!(mul_scalar_assign = pointwise::mul_scalar_assign, $rows, $features, m: &Modulus<$word>, a: &mut [$word], s: &Shoup<$word>);
                kernel!(mul_scalar_add_assign = pointwise::mul_scalar_add_assign, $rows, $features, m: &Modulus<$word>, acc: &mut [$word], a: &[$word], s: &Shoup<$word>);
                kernel!(sub_mul_scalar_assign = pointwise::sub_mul_scalar_assign, $rows, $features, m: &Modulus<$word>, a: &mut [$word], b: &[$word], s: &Shoup<$word>);
                kernel!(inner_product = $sums::inner_product, $products, $features, m: &Modulus<$word>, out: &mut [$word], lhs: &[&[$word]], rhs: &[&[$word]], accumulate: bool);
                kernel!(key_products = $sums::key_products, $products, $features, m: &Modulus<$word>, products: &mut [KeyProduct<'_, $word>], accumulate: bool);
                kernel!(permute = permute::permute, $products, $features, out: &mut [$word], x: &[$word], perm: &[u32]);
                kernel!(permute_to_lines = permute::permute_to_lines, $products, $features, out: &mut [$word], place: (usize, usize), x: &[$word], perm: &[u32], origin: u32);
                kernel!(permute_add_assign = permute::permute_add_assign, $products, $features, m: &Modulus<$word>, out: &mut [$word], x: &[$word], perm: &[u32]);
                kernel!(lift_centered = convert::lift_centered, $rows, $features, from: &Modulus<$word>, to: &Modulus<$word>, out: &mut [$word], x: &[$word]);
                kernel!(crt_overflow = convert::crt_overflow, $products, $features, v: &mut [$word], ys: &[&[$word]], inv_d: &[f64]);
                kernel!(crt_combine = convert::crt_combine, $products, $features, to: &Modulus<$word>, out: &mut [$word], ys: &[&[$word]], w: &[Shoup<$word>], v: &[$word], d: &Shoup<$word>);
                kernel!(reduce_i64 = convert::reduce_i64, $products, $features, m: &Modulus<$word>, out: &mut [$word], x: &[i64]);
            }
        };
    };
}
pub(crate) use backend;

/// The three kernels of products by the sums that `$sums` makes for a modulus, and by double words where it makes none.
#[cfg(target_arch = "x86_64")]
macro_rules! products_by {
    ($lanes:ty, $sums:path) => {
        #[inline(always)]
        pub(in crate::arith::backends) fn mul_assign(v: $lanes, m: &Modulus<u64>, a: &mut [u64], b: &[u64]) {
            match $sums(v, m) {
                Some(sums) => $crate::arith::kernels::products::mul_assign_by(sums, m, a, b),
                None => $crate::arith::kernels::products::mul_assign(v, m, a, b),
            }
        }

        #[inline(always)]
        pub(in crate::arith::backends) fn inner_product(
            v: $lanes,
            m: &Modulus<u64>,
            out: &mut [u64],
            lhs: &[&[u64]],
            rhs: &[&[u64]],
            accumulate: bool,
        ) {
            match $sums(v, m) {
                Some(sums) => {
                    $crate::arith::kernels::products::inner_product_by(sums, m, out, lhs, rhs, accumulate);
                }
                None => $crate::arith::kernels::products::inner_product(v, m, out, lhs, rhs, accumulate),
            }
        }

        #[inline(always)]
        pub(in crate::arith::backends) fn key_products(
            v: $lanes,
            m: &Modulus<u64>,
            products: &mut [$crate::arith::KeyProduct<'_, u64>],
            accumulate: bool,
        ) {
            match $sums(v, m) {
                Some(sums) => {
                    $crate::arith::kernels::key_products::key_products_by(sums, m, products, accumulate);
                }
                None => $crate::arith::kernels::key_products::key_products(v, m, products, accumulate),
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(crate) use products_by;
