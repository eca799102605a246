//! Functions on the t-th roots of unity as polynomials, for looking up a discrete value that stands in the exponent.
//!
//! A value j of 0..t stands for omega^j, omega = e^(2 pi i / t). Tables are interpolated there by the discrete Fourier
//! transform F of their values f, f_j = sum_k F_k omega^(jk) (ePrint 2024/274), or with derivatives that vanish, so that they
//! clean what they look up (Kim, Noh, "Modular Reduction in CKKS").

use alloc::{format, vec, vec::Vec};

use super::{basis::PolynomialBasis, clear::Polynomial};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble},
    error::Error,
};

/// Most roots.
const MAX_ROOTS: usize = 256;

/// Parts of Fourier coefficients that are smaller than the largest value by this factor are rounding errors of 0.
const SMALLEST: f64 = 1.0 / (1u128 << 80) as f64;

/// The polynomial of degree below t that has the value `values[j]` at omega^j, for t values.
///
/// An error of its argument is multiplied by its slope, of the order of t.
///
/// # Errors
/// [`Error::InvalidArgument`] for no or more than 256 values, or one that is not finite.
pub fn lagrange(values: &[ComplexDoubleDouble]) -> Result<Polynomial, Error> {
    Polynomial::new(PolynomialBasis::Monomial, fourier(values)?)
}

/// The polynomial of degree below 2t that has the value `values[j]` and the derivative 0 at omega^j, for t values: errors
/// of its argument are squared.
///
/// It is sum_k F_k (z^k + (k/t) z^k (1 - z^t)): the second term is 0 at the roots, and its derivative there is -k z^(k-1).
///
/// # Errors
/// As [`lagrange`].
pub fn hermite(values: &[ComplexDoubleDouble]) -> Result<Polynomial, Error> {
    let (coefficients, t) = (fourier(values)?, values.len());
    let mut out = vec![ComplexDoubleDouble::ZERO; 2 * t];
    for (k, &c) in coefficients.iter().enumerate() {
        let share = c.times(DoubleDouble::ratio(k as i64, t as i64));
        out[k] = c + share;
        out[k + t] = -share;
    }
    Polynomial::new(PolynomialBasis::Monomial, out)
}

/// The [`hermite`] polynomials of the bits of j, the lowest first, for `count` bits and t = 2^`count` roots.
///
/// Bit b has 1 + 2^(b+1) terms, of indices that are multiples of t / 2^(b+1): all share powers.
///
/// # Errors
/// [`Error::InvalidArgument`] for a count of 0 or above 8.
pub fn bits(count: u32) -> Result<Vec<Polynomial>, Error> {
    if !(1..=8).contains(&count) {
        return Err(Error::InvalidArgument(format!("values of {count} bits on roots of unity; take 1 to 8")));
    }
    let bit = |b: u32| -> Vec<ComplexDoubleDouble> {
        (0..1u32 << count).map(|j| f64::from(j >> b & 1).into()).collect()
    };
    (0..count).map(|b| hermite(&bit(b))).collect()
}

/// ((t + 1) z - z^(t+1)) / t: the t-th roots of unity stay where they are, and errors about them are squared.
///
/// # Errors
/// [`Error::InvalidArgument`] for `t` = 0 or above 256.
pub fn cleaning(t: usize) -> Result<Polynomial, Error> {
    check(t)?;
    let mut out = vec![DoubleDouble::ZERO; t + 2];
    out[1] = DoubleDouble::ratio(t as i64 + 1, t as i64);
    out[t + 1] = -DoubleDouble::ratio(1, t as i64);
    Polynomial::new(PolynomialBasis::Monomial, out)
}

fn check(t: usize) -> Result<(), Error> {
    if (1..=MAX_ROOTS).contains(&t) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!("a function on {t} roots of unity; take 1 to {MAX_ROOTS}")))
}

/// F_k = sum_j f_j omega^(-jk) / t, with exact zeros.
fn fourier(values: &[ComplexDoubleDouble]) -> Result<Vec<ComplexDoubleDouble>, Error> {
    let t = values.len();
    check(t)?;
    if let Some(j) = values.iter().position(|value| !value.is_finite()) {
        return Err(Error::InvalidArgument(format!(
            "value {j} of {t} is not a finite number; check what it is computed from"
        )));
    }
    let root = |j: usize| {
        let (cos, sin) = DoubleDouble::ratio(j as i64, t as i64).cos_sin_turns();
        ComplexDoubleDouble::new(cos, -sin)
    };
    let roots: Vec<ComplexDoubleDouble> = (0..t).map(root).collect();
    let least = values.iter().map(|value| value.abs()).fold(0.0, f64::max) * SMALLEST;
    let exact = |x: DoubleDouble| if x.abs().to_f64() <= least { DoubleDouble::ZERO } else { x };
    let share = DoubleDouble::ratio(1, t as i64);
    let coefficient = |k: usize| {
        let terms = values.iter().enumerate().map(|(j, &value)| value * roots[j * k % t]);
        let sum = terms.fold(ComplexDoubleDouble::ZERO, |sum, term| sum + term).times(share);
        ComplexDoubleDouble::new(exact(sum.re), exact(sum.im))
    };
    Ok((0..t).map(coefficient).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{circuits::polynomial::Plan, random::Seed};

    fn root(j: usize, t: usize) -> ComplexDoubleDouble {
        let (cos, sin) = DoubleDouble::ratio(j as i64, t as i64).cos_sin_turns();
        ComplexDoubleDouble::new(cos, sin)
    }

    fn random(t: usize, seed: u8) -> Vec<ComplexDoubleDouble> {
        let mut words = vec![0u32; 2 * t];
        Seed::from_bytes([seed; 32]).stream().fill_uniform_u32(1 << 20, &mut words);
        let part = |word: u32| DoubleDouble::ratio(i64::from(word), 1 << 19) - DoubleDouble::ONE;
        words.chunks(2).map(|pair| ComplexDoubleDouble::new(part(pair[0]), part(pair[1]))).collect()
    }

    /// j / t.
    fn line(t: usize) -> Vec<ComplexDoubleDouble> {
        (0..t).map(|j| DoubleDouble::ratio(j as i64, t as i64).into()).collect()
    }

    fn derivative(p: &Polynomial) -> Polynomial {
        let terms = p.coefficients().iter().enumerate().skip(1);
        let slopes = terms.map(|(k, c)| c.times(DoubleDouble::from_u64(k as u64)));
        Polynomial::new(PolynomialBasis::Monomial, slopes.chain([ComplexDoubleDouble::ZERO])).expect("finite")
    }

    fn worst(p: &Polynomial, t: usize, expected: impl Fn(usize) -> ComplexDoubleDouble) -> f64 {
        (0..t).map(|j| (p.value(root(j, t)) - expected(j)).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn tables_have_their_values_and_clean_tables_no_slope() {
        for t in [1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 100, 128, 256] {
            let values = random(t, t as u8);
            let (p, h) = (lagrange(&values).expect("a table"), hermite(&values).expect("a table"));
            assert!(p.degree() < t && h.degree() < 2 * t);
            assert!(worst(&p, t, |j| values[j]) < 1e-26, "{t} roots");
            assert!(worst(&h, t, |j| values[j]) < 1e-25, "{t} roots");
            assert!(worst(&derivative(&h), t, |_| ComplexDoubleDouble::ZERO) < 1e-22, "{t} roots");
            // A tenth of the argument's error leaves a hundredth of the result's.
            if t > 1 {
                let off = |distance: f64| {
                    let z = |j| root(j, t).times(DoubleDouble::new(1.0 + distance));
                    (0..t).map(|j| (h.value(z(j)) - values[j]).abs()).fold(0.0, f64::max)
                };
                let ratio = off(1e-5) / off(1e-6);
                assert!((99.0..101.0).contains(&ratio), "{t} roots: {ratio}");
            }
        }
    }

    /// The factor of an error about the roots: |z L'| for Lagrange's polynomial L, and |H''| / 2 of its square for Hermite's H.
    #[test]
    fn sensitivities_are_those_tabulated() {
        // (t, mean and largest of each) for the table j / t.
        let table = [
            (2, [0.25, 0.25], [0.4, 0.4]),
            (4, [0.57, 0.79], [2.0, 2.6]),
            (8, [1.3, 2.1], [9.2, 15.0]),
            (16, [2.7, 5.5], [40.0, 81.0]),
            (32, [5.5, 13.8], [170.0, 418.0]),
            (64, [11.0, 34.0], [700.0, 2076.0]),
            (128, [22.0, 80.0], [2844.0, 9976.0]),
        ];
        for (t, linear, quadratic) in table {
            let values = line(t);
            let slope = derivative(&lagrange(&values).expect("a table"));
            let bend = derivative(&derivative(&hermite(&values).expect("a table")));
            for (p, factor, expected) in [(slope, 1.0, linear), (bend, 0.5, quadratic)] {
                let sizes: Vec<f64> = (0..t).map(|j| factor * p.value(root(j, t)).abs()).collect();
                let mean = sizes.iter().sum::<f64>() / t as f64;
                let largest = sizes.iter().copied().fold(0.0, f64::max);
                for (found, expected) in [(mean, expected[0]), (largest, expected[1])] {
                    assert!((found / expected - 1.0).abs() < 0.1, "{t}: {found}, table {expected}");
                }
            }
        }
    }

    #[test]
    fn bits_have_few_terms_and_share_them() {
        for count in 1..=8 {
            let t = 1usize << count;
            let tables = bits(count).expect("a count");
            for (b, p) in tables.iter().enumerate() {
                let terms = p.coefficients().iter().filter(|c| !c.is_zero()).count();
                assert_eq!(terms, 1 + (2 << b), "bit {b} of {count}");
                let bit = |j: usize| ComplexDoubleDouble::from(f64::from((j >> b & 1) as u8));
                assert!(worst(p, t, bit) < 1e-26, "bit {b} of {count}");
            }
            let plan = Plan::new(&tables).expect("tables");
            assert_eq!(plan.levels(), count as usize + 1);
        }
    }

    #[test]
    fn zeros_are_exact() {
        let alternating: Vec<ComplexDoubleDouble> =
            (0..24).map(|j| (1.0 - 2.0 * f64::from(j % 2)).into()).collect();
        let p = lagrange(&alternating).expect("a table");
        assert_eq!(p.degree(), 12);
        assert!(p.coefficients()[..12].iter().all(|c| c.is_zero()) && p.coefficients()[12].im.is_zero());
        let constant = hermite(&[ComplexDoubleDouble::ONE; 9]).expect("a table");
        assert_eq!(constant.degree(), 0);
    }

    #[test]
    fn cleaning_keeps_the_roots() {
        for t in [1, 2, 3, 8, 31, 256] {
            let p = cleaning(t).expect("a number of roots");
            assert!(worst(&p, t, |j| root(j, t)) < 1e-27, "{t} roots");
            assert!(worst(&derivative(&p), t, |_| ComplexDoubleDouble::ZERO) < 1e-24, "{t} roots");
        }
    }

    #[test]
    fn impossible_tables_are_refused() {
        assert!(lagrange(&[]).is_err() && hermite(&[]).is_err());
        assert!(lagrange(&vec![ComplexDoubleDouble::ONE; 257]).is_err());
        assert!(hermite(&[ComplexDoubleDouble::ONE, f64::NAN.into()]).is_err());
        assert!(cleaning(0).is_err() && cleaning(257).is_err());
        assert!(bits(0).is_err() && bits(9).is_err());
    }
}
