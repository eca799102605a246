//! A digit that is wider than p: two digits, read one after the other.

use alloc::{format, vec::Vec};

use super::{lagrange, small_digit, unbounded::lowest_digit};
use crate::{arith::PrimePower, error::Error};

/// Polynomials that read I in x = I + p^t y modulo p^e, |I| <= B with p <= 2B and 2B + 1 < p^2, t >= 2.
///
/// No polynomial of x alone does it, since f(I + p) = f(I) + p f'(I) modulo p^2. I = d + p d', |d| < p/2: [`Self::low`] reads d in x
/// modulo p^e, and [`Self::lift`] modulo p^t, so that z = (x - lift(x))/p = d' + p^(t - 1) w modulo p^(e - 1) for some w, and
/// [`Self::high`] reads d' in z. Then I = low(x) + p high(z).
#[derive(Debug, Clone)]
pub struct TwoDigits {
    ring: PrimePower,
    /// The ring modulo p^(e - 1).
    below: PrimePower,
    lift: Vec<u64>,
    low: Vec<u64>,
    high: Vec<u64>,
}

impl TwoDigits {
    /// The polynomials for `ring` modulo p^e and I up to `bound`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for p = 2, and unless 2 <= t < e, p <= 2 `bound` and 2 `bound` + 1 < p^2; and as [`lowest_digit`].
    pub fn new(ring: PrimePower, t: u32, bound: u64) -> Result<Self, Error> {
        let (p, e) = (ring.prime(), ring.exponent());
        let width = 2 * u128::from(bound) + 1;
        if p == 2 || !(2..e).contains(&t) || width <= u128::from(p) || width >= u128::from(p).pow(2) {
            return Err(Error::InvalidArgument(format!(
                "two digits of {p} for at most {bound} beside multiples of {p}^{t} modulo {p}^{e}; take an odd prime, an exponent \
                 of at least 2 and below {e}, and 2 bound + 1 between {p} and {p}^2"
            )));
        }
        // The largest d': what the largest d leaves of the bound.
        let high = (bound - p / 2).div_ceil(p);
        let below = ring.with_exponent(e - 1)?;
        Ok(Self {
            ring,
            below,
            lift: lowest_digit(ring.with_exponent(t)?)?,
            low: lowest_digit(ring)?,
            high: small_digit(below, t - 1, high)?,
        })
    }

    /// The polynomial that reads d modulo p^t, from low to high degree.
    pub fn lift(&self) -> &[u64] {
        &self.lift
    }

    /// The polynomial that reads d modulo p^e.
    pub fn low(&self) -> &[u64] {
        &self.low
    }

    /// The polynomial modulo p^(e - 1) that reads d' from (x - lift(x))/p.
    pub fn high(&self) -> &[u64] {
        &self.high
    }

    /// I for a residue x modulo p^e, as a homomorphic evaluation computes it: p divides x - lift(x), and p high(z) is known modulo p^e.
    pub fn value(&self, x: u64) -> u64 {
        let (ring, below) = (self.ring, self.below);
        let z = ring.sub(x, lagrange::value(ring, &self.lift, x)) / ring.prime();
        ring.add(
            lagrange::value(ring, &self.low, x),
            ring.mul(ring.prime(), lagrange::value(below, &self.high, below.reduce(z))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_are_read_on_whole_supports() {
        for (p, e, t, bound) in [
            (17, 4, 2, 23),
            (17, 4, 3, 143),
            (7, 5, 2, 23),
            (7, 5, 3, 10),
            (5, 6, 2, 3),
            (3, 8, 2, 3),
            (3, 8, 4, 2),
        ] {
            let ring = PrimePower::new(p, e).expect("a prime");
            let two = TwoDigits::new(ring, t, bound).expect("two digits");
            let step = p.pow(t);
            for node in -(bound as i64)..=bound as i64 {
                let digit = ring.reduce_signed(node);
                for y in 0..ring.value() / step {
                    let x = ring.add(digit, ring.mul(y, step));
                    assert_eq!(two.value(x), digit, "{node} + {p}^{t} {y} modulo {p}^{e}");
                }
            }
        }
    }

    #[test]
    fn what_one_digit_or_three_take_is_refused() {
        let ring = PrimePower::new(17, 6).expect("a prime");
        for (t, bound) in [(2, 8), (2, 144), (1, 23), (6, 23)] {
            assert!(matches!(TwoDigits::new(ring, t, bound), Err(Error::InvalidArgument(_))), "{t}, {bound}");
        }
        assert!(TwoDigits::new(ring, 2, 9).is_ok() && TwoDigits::new(ring, 2, 143).is_ok());
    }
}
