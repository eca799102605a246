//! Interpolation at the Chebyshev nodes.

use alloc::vec::Vec;

use super::{Fit, Function, assemble, check, hull, indices};
use crate::{arith::DoubleDouble, circuits::polynomial::Parity, error::Error};

/// The polynomial of a degree that agrees with f at the Chebyshev nodes of [from, to]: near the best one for smooth
/// functions, and the cheapest to find. Coefficients that the parity of f makes vanish are left out; with a parity,
/// the interval must be symmetric about 0.
///
/// # Errors
/// [`Error::InvalidArgument`] unless from < to, for a degree above 255, for a parity over an interval that is not
/// symmetric, or where f is not finite.
pub fn interpolate(f: Function<'_>, interval: [f64; 2], degree: usize, parity: Parity) -> Result<Fit, Error> {
    check(&[interval], degree)?;
    let basis = hull(&[interval], parity);
    if basis != hull(&[interval], Parity::General) {
        return Err(Error::InvalidArgument(alloc::format!(
            "{parity:?} interpolation over {interval:?}; give an interval symmetric about 0"
        )));
    }
    let [from, to] = interval;
    let nodes = degree as i64 + 1;
    // Nodes and the values of Chebyshev polynomials at them: cosines of multiples of a turn over 4 nodes.
    let cosine = |k: i64| DoubleDouble::ratio(k % (4 * nodes), 4 * nodes).cos_turns();
    let cosines: Vec<DoubleDouble> = (0..4 * nodes).map(cosine).collect();
    let (middle, half) =
        (DoubleDouble::from_parts(from, to).scale(0.5), DoubleDouble::from_parts(to, -from).scale(0.5));
    let values: Vec<DoubleDouble> =
        (0..nodes).map(|k| f(middle + half * cosines[(2 * k + 1) as usize])).collect();
    let indices = indices(degree, parity)?;
    let coefficient = |&j: &usize| {
        let term = |(k, &value): (usize, &DoubleDouble)| value * cosines[j * (2 * k + 1) % cosines.len()];
        let sum: DoubleDouble = values.iter().enumerate().map(term).sum();
        let weight = if j == 0 { 1 } else { 2 };
        sum * DoubleDouble::ratio(weight, nodes)
    };
    let coefficients: Vec<DoubleDouble> = indices.iter().map(coefficient).collect();
    Ok(Fit::measured(f, &[interval], assemble(basis, &indices, &coefficients)?))
}
