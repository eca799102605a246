//! AVX-512F, for words of 32 bits: transforms of sixteen registers a tile. Words of 64 bits are in [`ifma`](super::ifma), under the same
//! name.

use super::{gates::gate_backend, macros::backend};
use crate::arith::kernels::{ntt, products};
use crate::arith::simd::avx512::{Avx512, Lanes};

backend!(
    Avx512,
    u32,
    "avx512",
    features = ["avx512f"],
    transforms = [ntt::forward::<16, _>, ntt::inverse::<16, _>],
    rows = Lanes,
    products = Lanes,
    sums = products
);
gate_backend!(Avx512, u32, "avx512", features = ["avx512f"], registers = 16, rows = Lanes);
