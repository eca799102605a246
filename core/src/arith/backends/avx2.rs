//! AVX2: integer words, except where primes below 2^50 allow computing in `f64`.

use super::{
    gates::gate_backend,
    macros::{backend, products_by},
};
use crate::arith::Modulus;
use crate::arith::kernels::{ntt, products, reals};
use crate::arith::simd::avx2::{Avx2, reals::Lanes as Reals, words32, words64};

/// Products of rows of 64-bit words.
mod wide {
    use super::{Modulus, Reals, products_by, reals, words64};

    products_by!(words64::Lanes, in_reals);

    /// None if the prime is too large.
    #[inline(always)]
    fn in_reals(v: words64::Lanes, m: &Modulus<u64>) -> Option<reals::Residues<Reals>> {
        if reals::fits(m) { Some(reals::Residues::new(v.into(), m)) } else { None }
    }
}

backend!(
    Avx2,
    u32,
    "avx2",
    features = ["avx2,bmi1,bmi2,fma"],
    transforms = [ntt::forward::<8, _>, ntt::inverse::<8, _>],
    rows = words32::Lanes,
    products = words32::Lanes,
    sums = products
);
backend!(
    Avx2,
    u64,
    "avx2",
    features = ["avx2,bmi1,bmi2,fma"],
    transforms = [reals::forward::<4, Reals, _>, reals::inverse::<4, Reals, _>],
    rows = words64::Lanes,
    products = words64::Lanes,
    sums = wide
);
gate_backend!(Avx2, u32, "avx2", features = ["avx2,bmi1,bmi2,fma"], registers = 8, rows = words32::Lanes);
gate_backend!(Avx2, u64, "avx2", features = ["avx2,bmi1,bmi2,fma"], registers = 8, rows = words64::Lanes);
