//! Plain words: what every other backend is compared with.

use super::{gates::gate_backend, macros::backend};
use crate::arith::kernels::{ntt, products};
use crate::arith::simd::scalar::Scalar;

backend!(
    Scalar<u32>,
    u32,
    "scalar",
    features = [],
    transforms = [ntt::forward::<8, _>, ntt::inverse::<8, _>],
    rows = Scalar<u32>,
    products = Scalar<u32>,
    sums = products
);
backend!(
    Scalar<u64>,
    u64,
    "scalar",
    features = [],
    transforms = [ntt::forward::<8, _>, ntt::inverse::<8, _>],
    rows = Scalar<u64>,
    products = Scalar<u64>,
    sums = products
);
gate_backend!(Scalar<u32>, u32, "scalar", features = [], registers = 8, rows = Scalar<u32>);
gate_backend!(Scalar<u64>, u64, "scalar", features = [], registers = 8, rows = Scalar<u64>);
