//! One small digit: a closed form.

use alloc::{format, vec::Vec};

use super::{
    MAX_COEFFICIENTS,
    lagrange::{add_to, hasse, interpolate, inverse_derivatives, nodes, product, trimmed, value, vanishing},
};
use crate::{arith::PrimePower, error::Error};

/// The coefficients below p^e, from low to high degree, of a polynomial f with f(I + p^t y) = I modulo p^e for all |I| <= `bound`
/// and all y, for `ring` of p^e and 2 `bound` < p. It is odd.
///
/// With N the product of x - I over the digits, f = x + sum_j L_j N^j, j < ceil(e/t): L_j makes the j-th Hasse derivative of f vanish at
/// every digit, modulo p^(e - jt), since that derivative is the factor of p^(jt) y^j in the expansion about I. The degree is at most
/// ceil(e/t) (2 `bound` + 1) - 1, and 4 `bound` + 1 for e = 2, t = 1.
///
/// # Errors
/// [`Error::InvalidArgument`] unless 0 < t <= e and 2 `bound` < p, and for a degree of 2^14 or more.
pub fn small_digit(ring: PrimePower, t: u32, bound: u64) -> Result<Vec<u64>, Error> {
    let (p, e) = (ring.prime(), ring.exponent());
    if t == 0 || t > e || bound >= p.div_ceil(2) {
        return Err(Error::InvalidArgument(format!(
            "a digit of at most {bound} beside multiples of {p}^{t} modulo {p}^{e}; take a bound below {p}/2 and an exponent from 1 \
             to {e}"
        )));
    }
    if e == t {
        return Ok(alloc::vec![0, 1]);
    }
    let coefficients = u128::from(e.div_ceil(t)) * (2 * u128::from(bound) + 1);
    if coefficients > MAX_COEFFICIENTS {
        return Err(Error::InvalidArgument(format!(
            "a digit of at most {bound} beside multiples of {p}^{t} modulo {p}^{e} takes a polynomial of {coefficients} coefficients, \
             at most {MAX_COEFFICIENTS} are made; take a smaller bound"
        )));
    }
    around(ring, t, &nodes(bound))
}

/// The polynomial of [`small_digit`] for the digits `nodes`, whose differences are units, and 0 < t < e.
pub(super) fn around(ring: PrimePower, t: u32, nodes: &[i64]) -> Result<Vec<u64>, Error> {
    let e = ring.exponent();
    let zero = vanishing(ring, nodes);
    let mut f = alloc::vec![0, 1];
    let mut power = alloc::vec![1];
    for j in 1..e.div_ceil(t) {
        power = product(ring, &power, &zero);
        let smaller = ring.with_exponent(e - j * t)?;
        let wanted = hasse(smaller, &f, j as usize);
        let inverses = inverse_derivatives(smaller, nodes, &zero);
        let values: Vec<u64> = nodes
            .iter()
            .zip(&inverses)
            .map(|(&node, &inverse)| {
                let slope = value(smaller, &wanted, smaller.reduce_signed(node));
                smaller.neg(smaller.mul(slope, smaller.pow(inverse, j.into())))
            })
            .collect();
        let factor = interpolate(smaller, nodes, &zero, &inverses, &values);
        add_to(ring, &mut f, &product(ring, &factor, &power));
    }
    Ok(trimmed(f))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// f(I + p^t y) = I for every I and y.
    fn holds_everywhere(p: u64, e: u32, t: u32, bound: u64) {
        let ring = PrimePower::new(p, e).expect("a prime");
        let f = small_digit(ring, t, bound).expect("a small digit");
        let step = p.pow(t);
        for node in nodes(bound) {
            let digit = ring.reduce_signed(node);
            for y in 0..ring.value() / step {
                let x = ring.add(digit, ring.mul(y, step));
                assert_eq!(value(ring, &f, x), digit, "{p}^{e}, t = {t}, {node} + {p}^{t} {y}");
            }
        }
        assert!(f.iter().step_by(2).all(|&c| c == 0), "odd");
        assert!(f.len() as u64 <= u64::from(e.div_ceil(t)) * (2 * bound + 1));
    }

    #[test]
    fn digits_are_read_on_whole_supports() {
        for bound in 0..=3 {
            holds_everywhere(7, 4, 1, bound);
            holds_everywhere(7, 4, 2, bound);
            holds_everywhere(7, 5, 3, bound);
        }
        holds_everywhere(3, 7, 1, 1);
        holds_everywhere(5, 5, 2, 2);
        holds_everywhere(17, 3, 1, 8);
        holds_everywhere(127, 2, 1, 22);
        holds_everywhere(257, 2, 1, 15);
        holds_everywhere(257, 1, 1, 5);
    }

    #[test]
    fn a_digit_that_is_not_small_is_refused() {
        let ring = PrimePower::new(17, 2).expect("a prime");
        for (t, bound) in [(1, 9), (0, 3), (3, 3)] {
            assert!(small_digit(ring, t, bound).is_err());
        }
        assert!(small_digit(ring, 1, 8).is_ok());
        assert_eq!(small_digit(ring, 2, 8), Ok(alloc::vec![0, 1]));
        // A bound that p allows, but no memory holds.
        let large = PrimePower::new((1 << 61) - 1, 1).expect("a prime");
        assert_eq!(small_digit(large, 1, 1 << 59), Ok(alloc::vec![0, 1]));
        let large = PrimePower::new(786_433, 3).expect("a prime");
        assert!(matches!(small_digit(large, 1, 390_000), Err(Error::InvalidArgument(_))));
    }
}
