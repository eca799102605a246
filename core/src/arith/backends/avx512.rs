//! AVX-512F: transforms of sixteen registers a tile.

use super::{gates::gate_backend, macros::backend};
use crate::arith::kernels::{ntt, products};
use crate::arith::simd::avx512::{Avx512, Lanes, TOKEN};

backend!(
    Avx512,
    u32,
    "avx512",
    features = ["avx512f"],
    transforms = [ntt::forward::<16, _>, ntt::inverse::<16, _>],
    rows = Lanes(TOKEN),
    products = Lanes(TOKEN),
    sums = products
);
gate_backend!(Avx512, u32, "avx512", features = ["avx512f"], registers = 16, rows = Lanes(TOKEN));
