//! Weighted least squares on a union of intervals.

use alloc::vec::Vec;

use super::{Fit, Function, assemble, check, folded, hull, indices, linear, lobatto};
use crate::{arith::DoubleDouble, circuits::polynomial::Parity, error::Error};

/// The polynomial of a degree that minimises the sum of weight · (f - p)^2 over a grid of the domain. If the weights are the probabilities
/// of the intervals, it has the smallest mean square error, at the cost of a larger maximum.
///
/// `weight` is called at every point of the grid. With a parity, f, the domain and the weights are taken at points x >= 0.
///
/// # Errors
/// [`Error::InvalidArgument`] for intervals that are empty, overlap or are out of order, for a degree above 255, and
/// where f or a weight is not finite or all weights are 0.
pub fn least_squares(
    f: Function<'_>,
    domain: &[[f64; 2]],
    degree: usize,
    parity: Parity,
    weight: &dyn Fn(f64) -> f64,
) -> Result<Fit, Error> {
    check(domain, degree)?;
    let (basis, indices, sides) = (hull(domain, parity), indices(degree, parity)?, folded(domain, parity));
    let count = (4 * indices.len()).div_ceil(sides.len()).max(9);
    let points: Vec<DoubleDouble> = sides.iter().flat_map(|&side| lobatto(side, count)).collect();
    let roots: Vec<DoubleDouble> =
        points.iter().map(|x| DoubleDouble::new(weight(x.to_f64())).sqrt()).collect();
    let values: Vec<Vec<DoubleDouble>> = points.iter().map(|&x| basis.values(x, degree)).collect();
    let columns =
        indices.iter().map(|&j| values.iter().zip(&roots).map(|(row, &w)| row[j] * w).collect()).collect();
    let right = points.iter().zip(&roots).map(|(&x, &w)| f(x) * w).collect();
    let coefficients = linear::minimise(columns, right)?;
    Ok(Fit::measured(f, domain, assemble(basis, &indices, &coefficients)?))
}
