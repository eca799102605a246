//! Real polynomials fitted to real functions, in the Chebyshev basis and to 106 bits; and the exponential.
//!
//! Each fit of a real function measures its own error on a dense grid, in the same arithmetic.

mod clamp;
mod exponential;
mod interpolate;
mod least_squares;
mod linear;
mod remez;

pub use clamp::clamp;
pub use exponential::{exponential, exponential_of_degree};
pub use interpolate::interpolate;
pub use least_squares::least_squares;
pub use remez::minimax;

use alloc::{format, vec, vec::Vec};

use super::{
    basis::PolynomialBasis,
    clear::{Parity, Polynomial},
};
use crate::{arith::DoubleDouble, error::Error};

/// A function to be fitted.
pub(super) type Function<'a> = &'a dyn Fn(DoubleDouble) -> DoubleDouble;

/// A polynomial and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The polynomial, in Chebyshev polynomials over the interval of the fit.
    pub polynomial: Polynomial,
    /// Largest difference from the function on a dense grid over the domain, ends included.
    pub error: f64,
}

impl Fit {
    /// `-log2` of the error.
    pub fn bits(&self) -> f64 {
        -libm::log2(self.error)
    }

    fn measured(f: Function<'_>, domain: &[[f64; 2]], polynomial: Polynomial) -> Self {
        let error = largest_error(f, &polynomial, domain);
        Self { polynomial, error }
    }
}

/// The union of [i - epsilon, i + epsilon] for the integers |i| <= `largest`, each shifted by `shift`.
///
/// # Errors
/// [`Error::InvalidArgument`] unless 0 < epsilon < 1/2, shift is finite and `largest` at most 1000.
pub fn near_integers(largest: u32, epsilon: f64, shift: f64) -> Result<Vec<[f64; 2]>, Error> {
    if !(epsilon > 0.0 && epsilon < 0.5 && shift.is_finite()) || largest > 1000 {
        return Err(Error::InvalidArgument(format!(
            "intervals of half-width {epsilon} about the integers up to {largest}, shifted by {shift}; take a width \
             between 0 and 1/2 and at most 1000 integers on either side"
        )));
    }
    let largest = i64::from(largest);
    let at = |i: i64| [i as f64 + shift - epsilon, i as f64 + shift + epsilon];
    Ok((-largest..=largest).map(at).collect())
}

/// The largest difference between f and p on a grid over every interval of the domain: at least 128 points an
/// interval and 4096 in all, dense towards the ends.
pub fn largest_error(f: Function<'_>, p: &Polynomial, domain: &[[f64; 2]]) -> f64 {
    let points = (4096 / domain.len().max(1)).max(32 * (p.degree() + 1) / domain.len().max(1)).max(128);
    let mut largest = DoubleDouble::ZERO;
    for &interval in domain {
        for x in lobatto(interval, points) {
            let error = (f(x) - p.real_value(x)).abs();
            if !error.is_finite() {
                return f64::INFINITY;
            }
            largest = largest.max(error);
        }
    }
    largest.to_f64()
}

/// `count` > 1 points of an interval, dense towards its ends, which are the first and the last.
fn lobatto([from, to]: [f64; 2], count: usize) -> Vec<DoubleDouble> {
    let (middle, half) =
        (DoubleDouble::from_parts(from, to).scale(0.5), DoubleDouble::from_parts(to, -from).scale(0.5));
    // The grid may be as coarse as doubles; the values at its points may not.
    let cosine = |k: usize| libm::cos(core::f64::consts::PI * k as f64 / (count - 1) as f64);
    let mut points: Vec<DoubleDouble> =
        (0..count).rev().map(|k| middle + half * DoubleDouble::new(cosine(k))).collect();
    (points[0], points[count - 1]) = (DoubleDouble::new(from), DoubleDouble::new(to));
    points
}

/// What all fits ask of their arguments: a domain in order, and not more coefficients than are sensible.
fn check(domain: &[[f64; 2]], degree: usize) -> Result<(), Error> {
    if domain.is_empty() || degree > 255 {
        return Err(Error::InvalidArgument(format!(
            "a fit of degree {degree} on {} intervals; give at least one interval and a degree of at most 255",
            domain.len()
        )));
    }
    for (i, &[from, to]) in domain.iter().enumerate() {
        let after = i == 0 || domain[i - 1][1] < from;
        if !(from < to && from.is_finite() && to.is_finite() && after) {
            return Err(Error::InvalidArgument(format!(
                "interval {i} of the domain is [{from}, {to}]; give intervals of positive width, apart and in order"
            )));
        }
    }
    Ok(())
}

/// The interval of the Chebyshev polynomials for a domain: its hull, symmetric where a parity asks for it.
fn hull(domain: &[[f64; 2]], parity: Parity) -> PolynomialBasis {
    let (from, to) = (domain[0][0], domain[domain.len() - 1][1]);
    if parity == Parity::General {
        return PolynomialBasis::Chebyshev { from, to };
    }
    let to = to.max(-from);
    PolynomialBasis::Chebyshev { from: -to, to }
}

/// The domain; for a function with a parity, all of it folded to x >= 0.
fn folded(domain: &[[f64; 2]], parity: Parity) -> Vec<[f64; 2]> {
    if parity == Parity::General {
        return domain.to_vec();
    }
    let mut sides: Vec<[f64; 2]> = vec![];
    for &[from, to] in domain {
        let negative = [(-to).max(0.0), -from];
        let positive = [from.max(0.0), to];
        sides.extend([negative, positive].into_iter().filter(|[from, to]| from < to));
    }
    sides.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let mut merged: Vec<[f64; 2]> = vec![];
    for [from, to] in sides {
        match merged.last_mut() {
            Some(last) if from <= last[1] => last[1] = last[1].max(to),
            _ => merged.push([from, to]),
        }
    }
    merged
}

/// A polynomial from the coefficients of the indices a parity allows.
fn assemble(basis: PolynomialBasis, indices: &[usize], values: &[DoubleDouble]) -> Result<Polynomial, Error> {
    let mut coefficients = vec![DoubleDouble::ZERO; indices.last().map_or(1, |last| last + 1)];
    for (&i, &value) in indices.iter().zip(values) {
        coefficients[i] = value;
    }
    Polynomial::new(basis, coefficients)
}

fn indices(degree: usize, parity: Parity) -> Result<Vec<usize>, Error> {
    let indices: Vec<usize> = (0..=degree).filter(|&i| parity.allows(i)).collect();
    if indices.is_empty() {
        return Err(Error::InvalidArgument(format!(
            "degree {degree} for an odd polynomial; take at least 1"
        )));
    }
    Ok(indices)
}

#[cfg(test)]
mod tests;
