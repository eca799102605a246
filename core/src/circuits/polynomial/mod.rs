//! Polynomials: fitted to functions, and evaluated on ciphertexts.
//!
//! A [`Polynomial`] is in the monomial basis or in Chebyshev polynomials over an interval, with complex coefficients of 106 bits; or it has
//! integers as coefficients, for schemes of exact arithmetic. A complex one comes from its coefficients, or from one of three fits, each of
//! which measures its own error: [`interpolate`] at the Chebyshev nodes, [`minimax`] by the exchange algorithm of Remez over a union of
//! intervals, and [`least_squares`] with weights. Reductions begin with [`exponential`]: [`Exponential`] evaluates it, and [`roots`] has
//! the tables for values in the exponent. [`clamp`] brings back numbers that have left \[-1, 1\] a little.
//!
//! [`PolynomialEvaluator`] evaluates them on the slots of a ciphertext by the algorithm of Paterson and Stockmeyer, at the optimal depth of
//! ceil(log2(degree + 1)) levels and with a result at exactly the scale that was asked for, on any
//! [`Leveled`](crate::schemes::evaluator::Leveled) scheme with such coefficients as constants. [`Plan`] says what an evaluation takes
//! before anything runs.

mod basis;
mod clear;
mod coefficient;
mod evaluate;
mod exponential;
mod fit;
mod plan;
mod powers;
pub mod roots;

pub use basis::PolynomialBasis;
pub use clear::{Parity, Polynomial};
pub use coefficient::{BasisOver, Coefficient, Monomials};
pub use evaluate::PolynomialEvaluator;
pub use exponential::Exponential;
pub use fit::{
    Fit, clamp, exponential, exponential_of_degree, interpolate, largest_error, least_squares, minimax,
    near_integers,
};
pub use plan::Plan;
