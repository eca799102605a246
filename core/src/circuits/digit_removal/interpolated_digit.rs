//! The digit I of I + `step` J, both small, by interpolation.

use alloc::{format, vec::Vec};

use super::{
    MAX_COEFFICIENTS,
    lagrange::{nodes, odd_part, through},
};
use crate::{arith::PrimePower, error::Error};

/// The coefficients below p of an odd polynomial f with f(I + `step` J) = I modulo p for all |I|, |J| <= `bound`: the second approach of
/// Ma, Huang, Wang, Wang (EUROCRYPT 2024), whose plaintexts stay modulo p. Its degree is below (2 `bound` + 1)^2.
///
/// # Errors
/// [`Error::InvalidArgument`] unless `ring` is of p itself, 2 `bound` < `step` and `bound` (1 + `step`) < p/2, so that all of these are
/// different; and for 2^14 points or more.
pub fn digit_beside(ring: PrimePower, step: u64, bound: u64) -> Result<Vec<u64>, Error> {
    let (p, width) = (ring.prime(), 2 * u128::from(bound) + 1);
    let largest = u128::from(bound) * (1 + u128::from(step));
    if ring.exponent() != 1 || u128::from(step) < width || 2 * largest >= u128::from(p) {
        return Err(Error::InvalidArgument(format!(
            "digits up to {bound} beside multiples up to {bound} of {step} modulo {p}^{}; take {p} itself, a step above twice the bound, \
             and their largest sum, {largest}, below {p}/2",
            ring.exponent()
        )));
    }
    if width * width > MAX_COEFFICIENTS {
        return Err(Error::InvalidArgument(format!(
            "digits up to {bound} beside multiples of {step} take a polynomial of {} coefficients, at most {MAX_COEFFICIENTS} are made; \
             take a smaller bound",
            width * width
        )));
    }
    // Sums are below p/2, and `step` below p.
    let pairs = nodes(bound)
        .into_iter()
        .flat_map(|i| nodes(bound).into_iter().map(move |j| (i, i + step as i64 * j)));
    let (digits, points): (Vec<i64>, Vec<i64>) = pairs.unzip();
    let values: Vec<u64> = digits.into_iter().map(|i| ring.reduce_signed(i)).collect();
    Ok(odd_part(through(ring, &points, &values)))
}

#[cfg(test)]
mod tests {
    use super::super::lagrange::value;
    use super::*;

    #[test]
    fn digits_are_read_beside_all_multiples() {
        for (p, step, bound) in [(97, 7, 3), (127, 5, 2), (257, 3, 1), (8191, 19, 9), (17, 1, 0)] {
            let ring = PrimePower::new(p, 1).expect("a prime");
            let f = digit_beside(ring, step, bound).expect("small");
            assert!((f.len() as u64) < (2 * bound + 1).pow(2).max(2));
            for i in nodes(bound) {
                for j in nodes(bound) {
                    let x = ring.reduce_signed(i + step as i64 * j);
                    assert_eq!(value(ring, &f, x), ring.reduce_signed(i), "{i} + {step} {j} modulo {p}");
                }
            }
        }
    }

    #[test]
    fn points_that_are_not_different_are_refused() {
        let ring = |p, e| PrimePower::new(p, e).expect("a prime");
        for (ring, step, bound) in
            [(ring(97, 1), 6, 3), (ring(97, 1), 16, 3), (ring(97, 2), 7, 3), (ring(786_433, 1), 1000, 100)]
        {
            assert!(
                matches!(digit_beside(ring, step, bound), Err(Error::InvalidArgument(_))),
                "{step}, {bound}"
            );
        }
        let large = ring((1 << 61) - 1, 1);
        assert!(digit_beside(large, u64::MAX, u64::MAX).is_err());
    }
}
