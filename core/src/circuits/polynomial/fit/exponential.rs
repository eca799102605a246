//! e^(2 pi i x / 2^r), exact where it matters.

use alloc::{format, vec::Vec};

use super::{Fit, assemble, indices, interpolate, linear};
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
    check(range, squarings)?;
    let (end, degree) = (f64::from(range), 2 * range as usize - 1);
    let basis = PolynomialBasis::Chebyshev { from: -end, to: end };
    let angle = |i: u32| DoubleDouble::from_u64(i.into()).scale(libm::exp2(-f64::from(squarings)));
    let (even, odd) = (indices(degree, Parity::Even)?, indices(degree, Parity::Odd)?);
    let row = |i: u32, indices: &[usize], value: DoubleDouble| -> Vec<DoubleDouble> {
        let values = basis.values(DoubleDouble::from_u64(i.into()), degree);
        indices.iter().map(|&j| values[j]).chain([value]).collect()
    };
    let cosine = (0..range).map(|i| row(i, &even, angle(i).cos_turns())).collect();
    // T_j has slope j (-1)^((j-1)/2) at 0, for odd j; the slope of the sine is that of its angle.
    let slope = odd.iter().map(|&j| DoubleDouble::new(if j % 4 == 1 { j as f64 } else { -(j as f64) }));
    let steepness = DoubleDouble::PI.scale(2.0) * angle(range);
    let sine = (1..range)
        .map(|i| row(i, &odd, angle(i).sin_turns()))
        .chain([slope.chain([steepness]).collect()])
        .collect();
    let cosine = assemble(basis, &even, &linear::solve(cosine)?)?;
    let sine = assemble(basis, &odd, &linear::solve(sine)?)?;
    join(&cosine, &sine)
}

/// The polynomial of a degree that agrees with e^(2 pi i x / 2^`squarings`) at the Chebyshev nodes of \[-`range`, `range`\], cosine and
/// sine each at nodes of its own: the same error everywhere, which the squarings multiply by 2^`squarings`.
///
/// # Errors
/// [`Error::InvalidArgument`] for a range of 0 or above 64, more than 16 squarings, or a degree of 0 or above 255.
pub fn exponential_of_degree(range: u32, squarings: u32, degree: usize) -> Result<Fit, Error> {
    check(range, squarings)?;
    if degree == 0 {
        return Err(Error::InvalidArgument("an exponential of degree 0; take a degree of at least 1".into()));
    }
    let turns = |x: DoubleDouble| x.scale(libm::exp2(-f64::from(squarings)));
    let interval = [-f64::from(range), f64::from(range)];
    let (even, odd) = (degree / 2 * 2, (degree - 1) / 2 * 2 + 1);
    let cosine = interpolate(&|x| turns(x).cos_turns(), interval, even, Parity::Even)?;
    let sine = interpolate(&|x| turns(x).sin_turns(), interval, odd, Parity::Odd)?;
    let polynomial = join(&cosine.polynomial, &sine.polynomial)?;
    Ok(Fit { polynomial, error: libm::hypot(cosine.error, sine.error) })
}

fn check(range: u32, squarings: u32) -> Result<(), Error> {
    if (1..=64).contains(&range) && squarings <= 16 {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "an exponential for integers below {range}, of an angle divided by 2^{squarings}; take integers below 1 to 64, and \
         at most 16 halvings"
    )))
}

/// cosine + i sine, in one basis.
fn join(cosine: &Polynomial, sine: &Polynomial) -> Result<Polynomial, Error> {
    let at = |p: &Polynomial, j: usize| p.coefficients().get(j).map_or(DoubleDouble::ZERO, |c| c.re);
    let degree = cosine.degree().max(sine.degree());
    let coefficient = |j| ComplexDoubleDouble::new(at(cosine, j), at(sine, j));
    Polynomial::new(cosine.basis(), (0..=degree).map(coefficient))
}
