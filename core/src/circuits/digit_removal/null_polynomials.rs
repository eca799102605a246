//! Polynomials that vanish where a digit stands beside multiples of a power of p.

use alloc::{format, vec, vec::Vec};

use super::{
    MAX_COEFFICIENTS,
    lagrange::{add_to, divide, factorial_valuation, nodes, product, trimmed, vanishing},
};
use crate::{arith::PrimePower, error::Error};

/// The polynomials that vanish modulo p^e at all I + p^t y, |I| <= B, and can be built from N, the product of x - I over the digits.
///
/// At such integers N is a multiple of p^s, s = t + min_I v_p((B + I)! (B - I)!): one factor is p^t y, and the others have the valuations
/// of differences of digits. The product of N - i p^s over i < j, which are j numbers with differences p^s, is then a multiple of p^(js)
/// j!. Multiplied by the power of p that is missing to p^e it vanishes, and the first product that lacks nothing is monic.
#[derive(Debug, Clone)]
pub struct NullPolynomials {
    ring: PrimePower,
    /// N.
    zero: Vec<u64>,
    /// s, then the exponents of the powers of p that divide the products for j = 0, 1, .., the last of them e or more.
    step: u32,
    exponents: Vec<u32>,
}

impl NullPolynomials {
    /// The polynomials for `ring` modulo p^e and digits up to `bound`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless 0 < t <= e and 2 `bound` < p^t, and for a degree of 2^14 or more.
    pub fn new(ring: PrimePower, t: u32, bound: u64) -> Result<Self, Error> {
        let (p, e) = (ring.prime(), ring.exponent());
        let digits = 2 * u128::from(bound) + 1;
        if t == 0 || t > e || digits > u128::from(p).pow(t) {
            return Err(Error::InvalidArgument(format!(
                "digits of at most {bound} beside multiples of {p}^{t} modulo {p}^{e}; take an exponent from 1 to {e}, and a bound \
                 below half of that power"
            )));
        }
        let too_many = || {
            Error::InvalidArgument(format!(
                "digits of at most {bound} beside multiples of {p}^{t} modulo {p}^{e}: no polynomial of degree up to \
                 {MAX_COEFFICIENTS} vanishes at them; take a smaller bound"
            ))
        };
        if digits > MAX_COEFFICIENTS {
            return Err(too_many());
        }
        let valuation = |i: u64| factorial_valuation(p, bound + i) + factorial_valuation(p, bound - i);
        let step = t + (0..=bound).map(valuation).min().unwrap_or_default();
        let mut exponents = vec![0];
        while exponents.last().is_some_and(|&have| have < e) {
            let j = exponents.len() as u32;
            exponents.push(j * step + factorial_valuation(p, j.into()));
        }
        if (exponents.len() as u128 - 1) * digits > MAX_COEFFICIENTS {
            return Err(too_many());
        }
        Ok(Self { ring, zero: vanishing(ring, &nodes(bound)), step, exponents })
    }

    /// The degree of the monic polynomial.
    pub fn degree(&self) -> usize {
        (self.exponents.len() - 1) * (self.zero.len() - 1)
    }

    /// The monic polynomial that vanishes.
    pub fn monic(&self) -> Vec<u64> {
        self.falling(self.exponents.len() - 1)
    }

    /// A polynomial of degree below [`Self::degree`] with the values of `f` at all I + p^t y.
    ///
    /// It is f written in products of N - i p^s, where the coefficients of each product are reduced modulo the power of p that it lacks.
    /// For 2B < p it is the only polynomial of that form.
    pub fn reduce(&self, f: &[u64]) -> Vec<u64> {
        let (ring, e) = (self.ring, self.ring.exponent());
        let mut rest: Vec<u64> = f.iter().map(|&c| ring.reduce(c)).collect();
        let mut out = Vec::new();
        for (j, &have) in self.exponents.iter().enumerate().filter(|(_, have)| **have < e) {
            let quotient = divide(ring, &mut rest, &self.factor(j));
            // At most p^e.
            let missing = ring.prime().pow(e - have);
            let digit: Vec<u64> = rest.iter().map(|c| c % missing).collect();
            add_to(ring, &mut out, &product(ring, &digit, &self.falling(j)));
            rest = quotient;
        }
        trimmed(out)
    }

    /// N - j p^s.
    fn factor(&self, j: usize) -> Vec<u64> {
        let ring = self.ring;
        let mut out = self.zero.clone();
        let shift = ring.mul(ring.reduce(j as u64), ring.pow(ring.prime(), self.step.into()));
        out[0] = ring.sub(out[0], shift);
        out
    }

    /// The product of the first `j` factors.
    fn falling(&self, j: usize) -> Vec<u64> {
        (0..j).fold(vec![1], |out, i| product(self.ring, &out, &self.factor(i)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{lagrange::value, lowest_digit, small_digit};
    use super::*;

    /// Every I + p^t y.
    fn support(ring: PrimePower, t: u32, bound: u64) -> impl Iterator<Item = (u64, u64)> {
        let step = ring.prime().pow(t);
        nodes(bound).into_iter().flat_map(move |node| {
            let digit = ring.reduce_signed(node);
            (0..ring.value() / step).map(move |y| (digit, ring.add(digit, ring.mul(y, step))))
        })
    }

    #[test]
    fn they_vanish_on_whole_supports() {
        for (p, e, t, bound) in [
            (7, 4, 1, 2),
            (7, 4, 2, 20),
            (3, 8, 2, 4),
            (3, 8, 3, 13),
            (5, 6, 2, 3),
            (17, 4, 2, 23),
            (3, 7, 1, 1),
        ] {
            let ring = PrimePower::new(p, e).expect("a prime");
            let null = NullPolynomials::new(ring, t, bound).expect("digits");
            let monic = null.monic();
            assert_eq!((monic.len() - 1, monic.last()), (null.degree(), Some(&1)));
            assert!(
                support(ring, t, bound).all(|(_, x)| value(ring, &monic, x) == 0),
                "{p}^{e}, {t}, {bound}"
            );
            // The reduced polynomial keeps its values there; elsewhere it need not.
            let f: Vec<u64> =
                (0..2 * monic.len() as u64).map(|i| ring.reduce(i * i * 97 + 13 * i + 5)).collect();
            let reduced = null.reduce(&f);
            assert!(reduced.len() <= null.degree());
            assert!(support(ring, t, bound).all(|(_, x)| value(ring, &reduced, x) == value(ring, &f, x)));
        }
    }

    /// Of all polynomials that read a small digit, only one is reduced.
    #[test]
    fn chen_and_hans_polynomial_reduces_to_that_of_the_closed_form() {
        for (p, e, t, bound) in [(7, 4, 1, 2), (7, 3, 2, 3), (17, 3, 1, 4), (31, 3, 1, 6), (127, 2, 1, 22)] {
            let ring = PrimePower::new(p, e).expect("a prime");
            let null = NullPolynomials::new(ring, t, bound).expect("digits");
            let any = null.reduce(&lowest_digit(ring).expect("a small prime"));
            let small = small_digit(ring, t, bound).expect("a small digit");
            assert_eq!(any, null.reduce(&small), "{p}^{e}, {t}, {bound}");
            assert_eq!(any.len(), small.len(), "the closed form is no longer");
        }
    }

    #[test]
    fn supports_that_are_too_wide_are_refused() {
        let ring = PrimePower::new(17, 6).expect("a prime");
        for (t, bound) in [(0, 3), (7, 3), (1, 9), (4, 20_000)] {
            assert!(
                matches!(NullPolynomials::new(ring, t, bound), Err(Error::InvalidArgument(_))),
                "{t}, {bound}"
            );
        }
        assert!(NullPolynomials::new(ring, 1, 8).is_ok());
        let large = PrimePower::new((1 << 61) - 1, 1).expect("a prime");
        assert!(NullPolynomials::new(large, 1, 1 << 59).is_err());
    }
}
