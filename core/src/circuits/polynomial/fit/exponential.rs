//! e^(2 pi i x / 2^r), exact where it matters.

use alloc::{format, vec::Vec};

use super::{assemble, indices, linear};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble},
    circuits::polynomial::{Parity, Polynomial, PolynomialBasis},
    error::Error,
};

/// The polynomial of degree 2K - 1 that is e^(2 pi i x / 2^`squarings`) at every integer |x| < K = `range`, and has its
/// slope at 0: in Chebyshev polynomials over \[-K, K\].
///
/// Between the integers it is best about 0, by far: with K = 16 and three squarings, relative to the distance from the
/// integer, 2^-57 about 0, 2^-40 about 8, 2^-30 about 12 and 2^-18 about 15. That is the distribution of the quotients of
/// a raised ciphertext, and at an integer itself there is no error at all.
///
/// # Errors
/// [`Error::InvalidArgument`] for a range of 0 or above 64, or more than 16 squarings.
pub fn exponential(range: u32, squarings: u32) -> Result<Polynomial, Error> {
    if !(1..=64).contains(&range) || squarings > 16 {
        return Err(Error::InvalidArgument(format!(
            "an exponential for integers below {range}, of an angle divided by 2^{squarings}; take integers below 1 to \
             64, and at most 16 halvings"
        )));
    }
    let (end, degree) = (f64::from(range), 2 * range as usize - 1);
    let basis = PolynomialBasis::Chebyshev { from: -end, to: end };
    let angle = |i: u32| DoubleDouble::from_u64(i.into()).scale(libm::exp2(-f64::from(squarings)));
    let (even, odd) = (indices(degree, Parity::Even)?, indices(degree, Parity::Odd)?);
    let row = |i: u32, indices: &[usize], value: DoubleDouble| -> Vec<DoubleDouble> {
        let values = basis.values(DoubleDouble::from_u64(i.into()), degree);
        indices.iter().map(|&j| values[j]).chain([value]).collect()
    };
    let cosine = (0..range).map(|i| row(i, &even, angle(i).cos_turns())).collect();
    // T_j has slope j (-1)^((j-1)/2) at 0, for odd j; the sine that of its angle.
    let slope = odd.iter().map(|&j| DoubleDouble::new(if j % 4 == 1 { j as f64 } else { -(j as f64) }));
    let steepness = DoubleDouble::PI.scale(2.0) * angle(range);
    let sine = (1..range)
        .map(|i| row(i, &odd, angle(i).sin_turns()))
        .chain([slope.chain([steepness]).collect()])
        .collect();
    let cosine = assemble(basis, &even, &linear::solve(cosine)?)?;
    let sine = assemble(basis, &odd, &linear::solve(sine)?)?;
    let at = |p: &Polynomial, j: usize| p.coefficients().get(j).map_or(DoubleDouble::ZERO, |c| c.re);
    let coefficient = |j| ComplexDoubleDouble::new(at(&cosine, j), at(&sine, j));
    Polynomial::new(basis, (0..=degree).map(coefficient))
}
