//! What these tests share.

use num_complex::Complex64;
use refloat::rlwe::RlweSpec;
use refloat::schemes::ckks::Scale;
pub use refloat_tests::chain::{KEY_ID, ours, spec_by_levels as spec, theirs};
pub use refloat_tests::refusals::refused;
use refloat_tests::rns::Lottery;

pub use crate::toy::{ERROR, Toy, WORST};

/// 31-bit words, one prime per level, scale 2^25.
pub fn single(n: usize) -> (RlweSpec, Scale) {
    (spec(n, &[&[30.9], &[25.0], &[25.3], &[24.8]], &[30.5]), Scale::exp2(25.0))
}

/// 31-bit words, two primes per level, scale near 2^41 and no power of two.
pub fn double(n: usize) -> (RlweSpec, Scale) {
    let levels: &[&[f64]] = &[&[30.0, 28.0], &[20.3, 20.8], &[20.0, 21.0], &[19.6, 21.4]];
    (spec(n, levels, &[30.9, 30.7]), Scale::from_integer(2_199_023_300_001))
}

/// 61-bit words, one prime per level, scale 2^45.
pub fn wide(n: usize) -> (RlweSpec, Scale) {
    (spec(n, &[&[60.0], &[45.0], &[45.2], &[44.9]], &[60.9]), Scale::exp2(45.0))
}

pub fn slots(count: usize, lottery: &mut Lottery) -> Vec<Complex64> {
    (0..count).map(|_| Complex64::new(lottery.unit(), lottery.unit())).collect()
}

pub fn pairwise(
    x: &[Complex64],
    y: &[Complex64],
    f: impl Fn(Complex64, Complex64) -> Complex64,
) -> Vec<Complex64> {
    x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect()
}

pub fn largest(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().fold(0.0, |m, x| if x.is_nan() { x } else { m.max(x.abs()) })
}
