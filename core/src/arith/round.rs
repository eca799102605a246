//! Rounding of doubles.

/// Nearest integer, ties to even: without the standard library, the same everywhere, and without a branch on x.
pub fn round_ties_even(x: f64) -> f64 {
    // From 2^52 on every double is an integer, and sums with 2^52 are rounded to integers.
    const INTEGERS: f64 = 4_503_599_627_370_496.0;
    let shift = libm::copysign(INTEGERS, x);
    let rounded = (x + shift) - shift;
    let rounds = u64::from(x.abs() < INTEGERS).wrapping_neg();
    f64::from_bits((rounded.to_bits() & rounds) | (x.to_bits() & !rounds))
}
