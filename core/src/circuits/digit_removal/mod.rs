//! Polynomials that read the low digit of an integer modulo p^e.
//!
//! Halevi and Shoup (J. Cryptology 2021) bootstrap BGV by removing low digits. Where the digit I that is removed is known to be
//! small, |I| <= B with 2B < p, a polynomial of degree about e (2B + 1) does it, far below the p that unbounded digits take: there
//! are polynomials that vanish modulo p^e at all such inputs, and adding them brings the degree down (Ma, Huang, Wang, Wang,
//! EUROCRYPT 2024, ePrint 2024/115).
//!
//! What is here is public arithmetic: coefficients, which [`PolynomialEvaluator`](super::polynomial::PolynomialEvaluator) takes.

mod lagrange;
mod null;

pub use null::small_digit;
