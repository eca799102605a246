//! The error of a number after its digits have been read.

/// The largest error that a readout may leave, with all digits together, as a distance from an integer.
pub(super) const TOLERANCE: f64 = 0.25;

/// The error with which numbers off by `off` come out, in units of 1 / `grid`, when digits of these bases and factors are read; infinite
/// where a digit may be read as its neighbour.
pub(super) fn after(off: f64, grid: u64, passes: impl Iterator<Item = (u32, u64)>) -> f64 {
    let (mut off, mut left) = (off, 0.0);
    for (base, factor) in passes {
        let factor = factor as f64;
        if off * factor * f64::from(base) > 0.25 {
            return f64::INFINITY;
        }
        let angle = core::f64::consts::TAU * factor * off;
        let digit = bend(base) * angle * angle / factor;
        left += digit;
        off += digit;
    }
    left * grid as f64
}

/// Whether an error that [`after`] gives is small enough.
pub(super) fn is_borne(left: f64) -> bool {
    left <= TOLERANCE
}

/// A bound of half the absolute second derivatives, at the roots of unity, of the table of j/t whose first derivatives vanish there.
fn bend(t: u32) -> f64 {
    let t = f64::from(t);
    t * t * libm::log2(t) / 10.0
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{
        arith::{ComplexDoubleDouble, DoubleDouble},
        circuits::polynomial::{Polynomial, PolynomialBasis, roots},
    };

    #[test]
    fn bends_are_those_of_the_tables() {
        for t in (2..=24).chain([31, 32, 33, 64, 100, 127, 128]) {
            let line: Vec<ComplexDoubleDouble> = (0..t).map(|j| DoubleDouble::ratio(j, t).into()).collect();
            let table = roots::hermite(&line).expect("a table");
            let second = table.coefficients().iter().enumerate().skip(2);
            let second = second.map(|(k, c)| c.times(DoubleDouble::from_u64((k * (k - 1)) as u64)));
            let second = Polynomial::new(PolynomialBasis::Monomial, second).expect("finite");
            let at = |j: i64| {
                let (cos, sin) = DoubleDouble::ratio(j, t).cos_sin_turns();
                second.value(ComplexDoubleDouble::new(cos, sin)).abs() / 2.0
            };
            let largest = (0..t).map(at).fold(0.0, f64::max);
            let bound = bend(t as u32);
            assert!((0.75..=1.0).contains(&(largest / bound)), "{t}: {largest}, bound {bound}");
        }
    }

    #[test]
    fn small_bases_first_bear_more() {
        let after = |off: f64, bases: &[u32]| {
            let grid: u64 = bases.iter().copied().map(u64::from).product();
            let factor = |i: usize| bases[i + 1..].iter().copied().map(u64::from).product();
            after(off, grid, bases.iter().enumerate().map(|(i, &base)| (base, factor(i))))
        };
        let off = libm::exp2(-22.0);
        assert!(!is_borne(after(off, &[64, 64, 64])) && is_borne(after(off, &[2, 2, 2, 2, 2, 4, 8, 16, 16])));
        assert!(after(1.0, &[2]).is_infinite());
        assert!(after(0.0, &[128, 128]).abs() < f64::MIN_POSITIVE);
    }
}
