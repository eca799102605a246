//! Polynomials that read the low digit of an integer modulo p^e.
//!
//! Halevi and Shoup (J. Cryptology 2021) bootstrap BGV by removing low digits. Where the digit I that is removed is known to be
//! small, |I| <= B with 2B < p, a polynomial of degree about e (2B + 1) is enough, far below the degree p that unbounded digits need:
//! some polynomials vanish modulo p^e at all such inputs, and adding them brings the degree down (Ma, Huang, Wang, Wang,
//! EUROCRYPT 2024, ePrint 2024/115).
//!
//! | digits | modulo p^e | degree |
//! |---|---|---|
//! | [`small_digit`], I + p^t y, 2B < p | p^e | ceil(e/t) (2B + 1) - 1 at most |
//! | [`TwoDigits`], I + p^t y, p <= 2B, 2B + 1 < p^2 | p^e | (p - 1)(e - 1) + 1, and a small one |
//! | [`digit_beside`], I + step J, both small | p | (2B + 1)^2 - 1 at most |
//! | [`lowest_digit`], of any size (Chen, Han, EUROCRYPT 2018) | p^e | (p - 1)(e - 1) + 1 |
//! | [`lifting`], of any size, e - 1 times (Halevi, Shoup) | p^e | p each time |
//! | [`AllDigits`], t of any size one after the other, for small p | p^e | p^t in all |
//!
//! [`sign_of_small`] and [`quotient_of_small`] are comparison and rounding division of integers that are declared to be small.
//!
//! [`NullPolynomials`] are the polynomials that vanish; they reduce the degree of any other.
//!
//! Everything here is public arithmetic. It computes coefficients, which
//! [`PolynomialEvaluator`](super::polynomial::PolynomialEvaluator) evaluates on ciphertexts.

mod all_digits;
mod declared;
mod interpolated_digit;
mod lagrange;
mod null_polynomials;
mod small;
mod two_digits;
mod unbounded;

pub use all_digits::{AllDigits, DigitReader, DigitValue, Way};
pub use declared::{quotient_of_small, sign_of_small};
pub use interpolated_digit::digit_beside;
pub use null_polynomials::NullPolynomials;
pub use small::small_digit;
pub use two_digits::TwoDigits;
pub use unbounded::{lifting, lowest_digit};

/// The most coefficients of a polynomial that is made. The time grows with their square and is seconds for this number.
const MAX_COEFFICIENTS: u128 = 1 << 14;
