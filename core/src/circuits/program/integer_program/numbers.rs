//! Whole numbers of programs.

use alloc::{format, vec::Vec};

use super::super::Operation;
use crate::{
    circuits::polynomial::{Polynomial, PolynomialBasis},
    error::Error,
    schemes::ckks::Complex,
};

/// A number of a program as an integer.
pub(super) fn integer(number: Complex) -> Result<i64, Error> {
    let Complex { re, im } = number;
    // Doubles have every integer up to 2^53.
    if im.abs() == 0.0 && (re - libm::trunc(re)).abs() == 0.0 && libm::fabs(re) <= (1u64 << 53) as f64 {
        return Ok(re as i64);
    }
    Err(Error::InvalidArgument(format!(
        "{re:?} + {im:?} i is not an integer up to 2^53; programs on integers take whole numbers"
    )))
}

/// Coefficients of a polynomial of a program.
pub(super) fn coefficients(p: &Polynomial) -> Result<Vec<i64>, Error> {
    if p.basis() != PolynomialBasis::Monomial {
        return Err(Error::InvalidArgument(
            "Chebyshev polynomials have no meaning modulo a prime; write the polynomial in powers of x"
                .into(),
        ));
    }
    p.coefficients().iter().map(|c| integer(c.to_complex())).collect()
}

/// A polynomial of a program over the integers.
pub(super) fn integers_of(p: &Polynomial) -> Result<Polynomial<i64>, Error> {
    Polynomial::of_integers(coefficients(p)?)
}

/// The error for an operation that programs on integers do not have.
pub(super) fn missing(operation: &Operation) -> Error {
    let kind = operation.kind();
    Error::InvalidArgument(match operation {
        Operation::Digits(..) => format!(
            "programs on integers have no {kind}, as they do not say how large the integers in slots are; in Rust, `sign` and `scale_down` \
             of the bootstrapper take a bound on them, and `is_negative` and `divide_by_power` read all digits of integers modulo a power \
             of a small prime"
        ),
        _ => format!("programs on integers have no {kind}; write it with products, rotations and constants"),
    })
}
