//! Functions of integers that are declared to be small: interpolation.
//!
//! A function of any integer modulo p takes a polynomial of degree p - 1, 65536 for p = 65537. For integers of absolute value up to B a
//! polynomial of degree 2B is enough, and for an odd function one of degree 2B - 1. Nobody without the key can tell whether the integers
//! are as small as declared: for others the polynomial has some value modulo p, which means nothing.

use alloc::{format, vec::Vec};

use super::{
    MAX_COEFFICIENTS,
    lagrange::{nodes, odd_part, through},
};
use crate::{arith::PrimePower, error::Error};

/// The coefficients below p^e of an odd polynomial whose value at x is the sign of x, -1, 0 or 1, for all integers |x| <= `bound`. Its
/// degree is at most 2 `bound` - 1. The sign of x - y compares two integers.
///
/// # Errors
/// [`Error::InvalidArgument`] unless 0 < 2 `bound` < p, and for a bound of 2^13 or more.
pub fn sign_of_small(ring: PrimePower, bound: u64) -> Result<Vec<u64>, Error> {
    odd_function(ring, bound, "the sign", i64::signum)
}

/// The coefficients below p^e of an odd polynomial whose value at x is the integer nearest to x / `divisor`, for all integers |x| <=
/// `bound`. Of two that are equally near, it is the one farther from 0. Its degree is at most 2 `bound` - 1.
///
/// # Errors
/// As [`sign_of_small`]; [`Error::InvalidArgument`] for a divisor of 0.
pub fn quotient_of_small(ring: PrimePower, divisor: u64, bound: u64) -> Result<Vec<u64>, Error> {
    if divisor == 0 {
        return Err(Error::InvalidArgument("a quotient by 0; give a divisor of at least 1".into()));
    }
    odd_function(ring, bound, "a quotient", |x| {
        // |x| is below 2^13: every divisor above 2^14 gives 0.
        let divisor = divisor.min(1 << 20) as i64;
        x.signum() * ((x.abs() + divisor / 2) / divisor)
    })
}

/// The polynomial through the values of an odd function at -`bound`, .., `bound`.
fn odd_function(ring: PrimePower, bound: u64, what: &str, f: impl Fn(i64) -> i64) -> Result<Vec<u64>, Error> {
    let p = ring.prime();
    if bound == 0 || bound >= p.div_ceil(2) {
        return Err(Error::InvalidArgument(format!(
            "{what} of integers up to {bound} modulo {p}^{}: beyond {p}/2 two of them are the same modulo {p}; declare a bound of 1 or \
             more, below {p}/2",
            ring.exponent()
        )));
    }
    if 2 * u128::from(bound) + 1 > MAX_COEFFICIENTS {
        return Err(Error::InvalidArgument(format!(
            "{what} of integers up to {bound} takes a polynomial through {} values, and at most {MAX_COEFFICIENTS} are interpolated; declare \
             a smaller bound, below {}",
            2 * u128::from(bound) + 1,
            MAX_COEFFICIENTS / 2
        )));
    }
    let nodes = nodes(bound);
    let values: Vec<u64> = nodes.iter().map(|&x| ring.reduce_signed(f(x))).collect();
    Ok(odd_part(through(ring, &nodes, &values)))
}

#[cfg(test)]
mod tests {
    use super::super::lagrange::value;
    use super::*;

    fn holds(ring: PrimePower, bound: u64, polynomial: &[u64], f: impl Fn(i64) -> i64) {
        assert!(polynomial.len() as u64 <= 2 * bound, "degree {}", polynomial.len() - 1);
        for x in -(bound as i64)..=bound as i64 {
            let found = value(ring, polynomial, ring.reduce_signed(x));
            assert_eq!(found, ring.reduce_signed(f(x)), "{x} of {bound} modulo {}", ring.value());
        }
    }

    #[test]
    fn signs_and_quotients_are_right_on_all_that_was_declared() {
        // Every integer modulo 17 and modulo 257, and a few modulo larger ones.
        for (p, e, bound) in
            [(3, 1, 1), (17, 1, 8), (257, 1, 128), (257, 2, 40), (65537, 1, 16), (65537, 2, 3)]
        {
            let ring = PrimePower::new(p, e).expect("a prime");
            holds(ring, bound, &sign_of_small(ring, bound).expect("small"), i64::signum);
            for divisor in [1, 2, 3, 4, 7, 17, 257, u64::MAX] {
                let polynomial = quotient_of_small(ring, divisor, bound).expect("small");
                // The nearest integer by its definition: none is nearer, and of two that are as near the one farther from 0 is taken.
                let nearest = |x: i64| {
                    let (x, d) = (i128::from(x), i128::from(divisor));
                    let distance = |q: i128| (2 * (x - q * d)).abs();
                    let near = (-200..=200i128).map(|q| (distance(q), -q.abs(), q)).min();
                    near.map_or(0, |(_, _, q)| q as i64)
                };
                holds(ring, bound, &polynomial, nearest);
            }
        }
    }

    #[test]
    fn bounds_that_no_polynomial_is_made_for_are_refused() {
        let ring = |p, e| PrimePower::new(p, e).expect("a prime");
        for (ring, bound, words) in [
            (ring(17, 1), 9, "below 17/2"),
            (ring(17, 3), 0, "1 or more"),
            (ring(65537, 1), 32769, "below 65537/2"),
            (ring(65537, 1), u64::MAX, "below 65537/2"),
            (ring(65537, 1), 8192, "smaller bound"),
            (ring((1 << 61) - 1, 1), 1 << 59, "smaller bound"),
        ] {
            for refused in [sign_of_small(ring, bound), quotient_of_small(ring, 3, bound)] {
                match refused {
                    Err(Error::InvalidArgument(text)) => assert!(text.contains(words), "{text}"),
                    other => panic!("{bound}: {other:?}"),
                }
            }
        }
        let Err(Error::InvalidArgument(text)) = quotient_of_small(ring(17, 1), 0, 3) else { panic!("by 0") };
        assert!(text.contains("at least 1"), "{text}");
    }
}
