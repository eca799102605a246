//! AVX2: integer words, except where primes below 2^50 allow computing in `f64`.

mod reals;

use super::{gates::gate_backend, macros::backend};
use crate::arith::kernels::{ntt, products};
use crate::arith::simd::avx2::{Avx2, words32, words64};

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
    transforms = [reals::forward, reals::inverse],
    rows = words64::Lanes,
    products = words64::Lanes,
    sums = reals
);
gate_backend!(Avx2, u32, "avx2", features = ["avx2,bmi1,bmi2,fma"], registers = 8, rows = words32::Lanes);
gate_backend!(Avx2, u64, "avx2", features = ["avx2,bmi1,bmi2,fma"], registers = 8, rows = words64::Lanes);
