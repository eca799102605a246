//! Bringing back numbers that have left \[-1, 1\] a little.

use alloc::{format, vec, vec::Vec};

use super::{Fit, assemble, hull, indices, linear, lobatto};
use crate::{arith::DoubleDouble, circuits::polynomial::Parity, error::Error};

/// Above this degree the polynomial may swing where nothing is asked of it.
const MAX_DEGREE: usize = 63;

/// Rounds of least squares; the largest error is within 5 % of the smallest possible one after about 20.
const ROUNDS: usize = 40;

/// The odd polynomial of a degree that is close to x for |x| <= 1 - `margin` and to the sign of x for
/// 1 <= |x| <= 1 + `overshoot`; [`Fit::error`] is the largest difference there. In between, where the corner is rounded
/// off, its size lies from 1 - `margin` to 1, each up to the error. It takes log2(degree + 1) levels, rounded up, and one
/// for its interval.
///
/// Without a margin the error is that at the corner, which falls with the degree alone: 2^-8 for degree 15 and an overshoot of 0.05, 2^-9.4
/// for degree 31. With a margin of 1/8 it is 2^-12.9 for degree 31, 2^-19.6 for 63. Beyond the overshoot the polynomial grows like
/// x^`degree`.
///
/// The fit is Lawson's: least squares, repeated with every weight multiplied by the error at its point (C. L. Lawson,
/// Contributions to the theory of linear least maximum approximation, 1961).
///
/// # Errors
/// [`Error::InvalidArgument`] for an overshoot that is not within \[0.001, 1\], a margin that is not within \[0, 0.5\], and
/// an even degree or one above 63.
pub fn clamp(overshoot: f64, margin: f64, degree: usize) -> Result<Fit, Error> {
    if !((0.001..=1.0).contains(&overshoot) && (0.0..=0.5).contains(&margin))
        || degree.is_multiple_of(2)
        || degree > MAX_DEGREE
    {
        return Err(Error::InvalidArgument(format!(
            "a clamp of degree {degree} for an overshoot of {overshoot} with a margin of {margin}; take an odd degree up to \
             {MAX_DEGREE}, an overshoot from 0.001 to 1 and a margin from 0 to 0.5"
        )));
    }
    let clamped = |x: DoubleDouble| match x.to_f64() {
        x if x > 1.0 => DoubleDouble::ONE,
        x if x < -1.0 => -DoubleDouble::ONE,
        _ => x,
    };
    let (end, inner) = (1.0 + overshoot, 1.0 - margin);
    let whole = [[-end, end]];
    let parts = [[-end, -1.0], [-inner, inner], [1.0, end]];
    let domain: &[[f64; 2]] = if margin == 0.0 { &whole } else { &parts };

    let (basis, indices) = (hull(domain, Parity::Odd), indices(degree, Parity::Odd)?);
    let count = (8 * indices.len()).max(32);
    // The right half in two parts, with or without a margin: the error is largest at the corner.
    let points: Vec<DoubleDouble> =
        [[0.0, inner], [1.0, end]].into_iter().flat_map(|side| lobatto(side, count)).collect();
    let rows: Vec<Vec<DoubleDouble>> = points.iter().map(|&x| basis.values(x, degree)).collect();
    let mut weights = vec![1.0f64; points.len()];
    let mut best: Option<Fit> = None;
    for _ in 0..ROUNDS {
        let roots: Vec<DoubleDouble> = weights.iter().map(|&w| DoubleDouble::new(libm::sqrt(w))).collect();
        let columns =
            indices.iter().map(|&j| rows.iter().zip(&roots).map(|(row, &w)| row[j] * w).collect()).collect();
        let right = points.iter().zip(&roots).map(|(&x, &w)| clamped(x) * w).collect();
        let polynomial = assemble(basis, &indices, &linear::minimise(columns, right)?)?;
        let errors: Vec<f64> =
            points.iter().map(|&x| (polynomial.real_value(x) - clamped(x)).abs().to_f64()).collect();
        let largest = errors.iter().copied().fold(0.0, f64::max);
        for (weight, error) in weights.iter_mut().zip(errors) {
            // A point is never quite forgotten: it may be the worst again.
            *weight *= error / largest + 1e-6;
        }
        let heaviest = weights.iter().copied().fold(0.0, f64::max);
        for weight in &mut weights {
            *weight /= heaviest;
        }
        let fit = Fit::measured(&clamped, domain, polynomial);
        if best.as_ref().is_none_or(|best| fit.error < best.error) {
            best = Some(fit);
        }
    }
    best.ok_or_else(|| Error::InvalidArgument("no round of the fit was made".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_or_cut_off() {
        for (overshoot, margin, degree, bits) in [
            (0.05, 0.0, 7, 6.7),
            (0.05, 0.0, 15, 8.0),
            (0.05, 0.0, 31, 9.3),
            (0.05, 0.125, 31, 12.8),
            (0.05, 0.125, 63, 19.5),
            (0.01, 0.125, 31, 15.4),
            (0.25, 0.0, 31, 8.0),
            (1.0, 0.5, 63, 8.0),
        ] {
            let fit = clamp(overshoot, margin, degree).unwrap();
            assert!(fit.bits() > bits, "{overshoot}, {margin}, {degree}: {} bits", fit.bits());
            let (ends, slack) = (1.0 + overshoot, fit.error * 1.001);
            for i in 0..=1000 {
                let x = ends * f64::from(i) / 1000.0;
                let y = fit.polynomial.real_value(DoubleDouble::new(x)).to_f64();
                if x <= 1.0 - margin || x >= 1.0 {
                    assert!((y - x.min(1.0)).abs() <= slack, "{x}: {y}");
                } else {
                    assert!((1.0 - margin - slack..=1.0 + slack).contains(&y), "{x}: {y}");
                }
                let opposite = fit.polynomial.real_value(DoubleDouble::new(-x)).to_f64();
                assert!((y + opposite).abs() < 1e-15, "{x}: {y}, {opposite}");
            }
        }
    }

    /// 2 x^2 - 1 keeps \[-1, 1\], and moves numbers beyond it four times as far away: an error at 1 leaves it for good.
    #[test]
    fn a_chain_stays_where_it_would_leave() {
        let fit = clamp(0.1, 0.0, 15).unwrap();
        let [mut free, mut held] = [1.0, 1.0];
        let step = |x: f64| 2.0 * x * x - 1.0 + 0.01;
        for _ in 0..20 {
            free = step(free);
            held = fit.polynomial.real_value(DoubleDouble::new(step(held))).to_f64();
            assert!(held.abs() <= 1.0 + fit.error, "{held}");
        }
        assert!(free > 1e6, "{free}");
    }

    #[test]
    fn what_is_no_clamp_is_refused() {
        for (overshoot, margin, degree) in [
            (0.0, 0.0, 15),
            (1.5, 0.0, 15),
            (f64::NAN, 0.0, 15),
            (0.1, 0.6, 15),
            (0.1, -0.1, 15),
            (0.1, f64::NAN, 15),
            (0.1, 0.0, 16),
            (0.1, 0.0, 65),
        ] {
            assert_eq!(clamp(overshoot, margin, degree).unwrap_err().code(), "INVALID_ARGUMENT");
        }
    }
}
