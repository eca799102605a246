//! SIMD128 of WebAssembly. Words of 64 bits stay plain, since there is no high product of 64-bit lanes.

use super::{gates::gate_backend, macros::backend};
use crate::arith::kernels::{ntt, products};
use crate::arith::simd::simd128::Simd128;

backend!(
    Simd128,
    u32,
    "simd128",
    features = [],
    transforms = [ntt::forward::<8, _>, ntt::inverse::<8, _>],
    rows = Simd128,
    products = Simd128,
    sums = products
);
gate_backend!(Simd128, u32, "simd128", features = [], registers = 8, rows = Simd128);
