//! NEON: signed residues in transforms of 32-bit words; residues modulo primes below 2^50 as `f64`, four in two registers. Larger
//! primes stay with `mul` and `umulh`: there is no 64-bit product of lanes.

mod halves;
mod signed;

use super::{gates::gate_backend, macros::backend};
use crate::arith::kernels::{products, reals};
use crate::arith::simd::{
    neon::{Neon, reals::Pairs},
    scalar::Scalar,
};

/// Words of 64 bits that stay plain.
impl From<Neon> for Scalar<u64> {
    #[inline(always)]
    fn from(_: Neon) -> Self {
        Self::new()
    }
}

backend!(
    Neon,
    u32,
    "neon",
    features = [],
    transforms = [signed::forward, signed::inverse],
    rows = Neon,
    products = Neon,
    sums = products
);
backend!(
    Neon,
    u64,
    "neon",
    features = [],
    transforms = [reals::forward::<8, Pairs, _>, reals::inverse::<8, Pairs, _>],
    rows = Scalar<u64>,
    products = Scalar<u64>,
    sums = halves
);
gate_backend!(Neon, u32, "neon", features = [], registers = 8, rows = Neon);
gate_backend!(Neon, u64, "neon", features = [], registers = 8, rows = Scalar<u64>);
