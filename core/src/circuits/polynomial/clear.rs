//! Polynomials and their values in the clear.

use alloc::{format, vec::Vec};

use super::{
    basis::PolynomialBasis,
    coefficient::{Coefficient, Monomials},
};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, complex::Complex},
    error::Error,
};

/// Symmetry about the middle of the interval (of Chebyshev polynomials) or about 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parity {
    /// None, or none known.
    General,
    /// Only coefficients of even index.
    Even,
    /// Only coefficients of odd index.
    Odd,
}

impl Parity {
    /// Whether coefficient `i` may be other than 0.
    pub const fn allows(self, i: usize) -> bool {
        match self {
            Self::General => true,
            Self::Even => i.is_multiple_of(2),
            Self::Odd => !i.is_multiple_of(2),
        }
    }
}

/// A polynomial: with complex coefficients of 106 bits, or with integers.
#[derive(Debug, Clone, PartialEq)]
pub struct Polynomial<C: Coefficient = ComplexDoubleDouble> {
    basis: C::Basis,
    /// At least one; the last is not 0 unless it is the only one.
    coefficients: Vec<C>,
}

/// Largest degree of a polynomial with complex coefficients.
const MAX_DEGREE: usize = 1023;

impl<C: Coefficient> Polynomial<C> {
    /// The polynomial of at least one coefficient, without zeros at the end.
    fn trimmed(basis: C::Basis, mut coefficients: Vec<C>) -> Self {
        while coefficients.len() > 1 && coefficients.last().is_some_and(C::is_zero) {
            coefficients.pop();
        }
        Self { basis, coefficients }
    }

    /// What the coefficients multiply.
    pub fn basis(&self) -> C::Basis {
        self.basis
    }

    /// The coefficients, the last of which is not 0 unless it is the only one.
    pub fn coefficients(&self) -> &[C] {
        &self.coefficients
    }

    /// The degree (0 for the zero polynomial).
    pub fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// Levels that evaluating it on a ciphertext takes: ceil(log2(degree + 1)).
    pub fn levels(&self) -> usize {
        self.coefficients.len().next_power_of_two().ilog2() as usize
    }

    /// The symmetry that the zeros among the coefficients show.
    pub fn parity(&self) -> Parity {
        let only = |parity: Parity| {
            self.coefficients.iter().enumerate().all(|(i, c)| parity.allows(i) || c.is_zero())
        };
        if only(Parity::Even) {
            Parity::Even
        } else if only(Parity::Odd) {
            Parity::Odd
        } else {
            Parity::General
        }
    }
}

impl Polynomial<i64> {
    /// Coefficient i multiplies x^i; zeros at the end are dropped.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no coefficients.
    pub fn of_integers(coefficients: impl IntoIterator<Item = i64>) -> Result<Self, Error> {
        let coefficients: Vec<i64> = coefficients.into_iter().collect();
        if coefficients.is_empty() {
            return Err(Error::InvalidArgument("a polynomial of 0 coefficients; give at least one".into()));
        }
        Ok(Self::trimmed(Monomials, coefficients))
    }
}

impl Polynomial {
    /// Coefficient i multiplies element i of the basis, for degrees 0 to 1023; zeros at the end are dropped.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no or more than 1024 coefficients, for one that is not finite, or for an
    /// impossible interval.
    pub fn new(
        basis: PolynomialBasis,
        coefficients: impl IntoIterator<Item = impl Into<ComplexDoubleDouble>>,
    ) -> Result<Self, Error> {
        basis.check()?;
        let coefficients: Vec<ComplexDoubleDouble> =
            coefficients.into_iter().take(MAX_DEGREE + 2).map(Into::into).collect();
        if coefficients.is_empty() || coefficients.len() > MAX_DEGREE + 1 {
            return Err(Error::InvalidArgument(format!(
                "a polynomial of {} coefficients; give 1 to {}",
                if coefficients.is_empty() { "0" } else { "too many" },
                MAX_DEGREE + 1
            )));
        }
        if let Some(i) = coefficients.iter().position(|c| !c.is_finite()) {
            return Err(Error::InvalidArgument(format!(
                "coefficient {i} is not a finite number; check what it is computed from"
            )));
        }
        Ok(Self::trimmed(basis, coefficients))
    }

    /// The polynomial times a real number.
    #[must_use]
    pub fn times(&self, factor: DoubleDouble) -> Self {
        let coefficients = self.coefficients.iter().map(|c| c.times(factor)).collect();
        Self { basis: self.basis, coefficients }
    }

    /// The value at x, to about 2^-100 of the sum of the coefficients' sizes: by Clenshaw's recurrence or Horner's.
    pub fn value(&self, x: ComplexDoubleDouble) -> ComplexDoubleDouble {
        let t = self.basis.variable(x);
        match self.basis {
            PolynomialBasis::Monomial => {
                self.coefficients.iter().rev().fold(ComplexDoubleDouble::ZERO, |sum, &c| sum * t + c)
            }
            PolynomialBasis::Chebyshev { .. } => {
                let twice = t.times(DoubleDouble::new(2.0));
                let (mut b1, mut b2) = (ComplexDoubleDouble::ZERO, ComplexDoubleDouble::ZERO);
                for &c in self.coefficients[1..].iter().rev() {
                    (b1, b2) = (c + twice * b1 - b2, b1);
                }
                self.coefficients[0] + t * b1 - b2
            }
        }
    }

    /// The real part of the value at a real number.
    pub fn real_value(&self, x: DoubleDouble) -> DoubleDouble {
        let t = self.basis.real_variable(x);
        match self.basis {
            PolynomialBasis::Monomial => {
                self.coefficients.iter().rev().fold(DoubleDouble::ZERO, |sum, c| sum * t + c.re)
            }
            PolynomialBasis::Chebyshev { .. } => {
                let twice = t.scale(2.0);
                let (mut b1, mut b2) = (DoubleDouble::ZERO, DoubleDouble::ZERO);
                for c in self.coefficients[1..].iter().rev() {
                    (b1, b2) = (c.re + twice * b1 - b2, b1);
                }
                self.coefficients[0].re + t * b1 - b2
            }
        }
    }

    /// The value at x, rounded to doubles.
    pub fn value_f64(&self, x: Complex) -> Complex {
        self.value(x.into()).to_complex()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuits::polynomial::BasisOver;

    const UNIT: PolynomialBasis = PolynomialBasis::UNIT;

    fn chebyshev(coefficients: &[f64]) -> Polynomial {
        Polynomial::new(UNIT, coefficients.iter().copied()).expect("finite")
    }

    #[test]
    fn values_are_those_of_the_definitions() {
        // T_5(cos u) = cos 5u, at a fifth of a turn and a bit.
        let turns = DoubleDouble::ratio(3, 41);
        let p = chebyshev(&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        let value = p.real_value(turns.cos_turns());
        let expected = (turns * DoubleDouble::new(5.0)).cos_turns();
        assert!((value - expected).abs().to_f64() < 1e-29);
        // 1 + 2x + 3x^2 at 1 + i: 1 + 2 + 2i + 6i.
        let p = Polynomial::new(PolynomialBasis::Monomial, [1.0, 2.0, 3.0]).expect("finite");
        assert_eq!(p.value_f64(Complex::new(1.0, 1.0)), Complex::new(3.0, 8.0));
        // T_2 over [0, 4]: 2 (x/2 - 1)^2 - 1.
        let basis = PolynomialBasis::Chebyshev { from: 0.0, to: 4.0 };
        let p = Polynomial::new(basis, [0.0, 0.0, 1.0]).expect("finite");
        for (x, value) in [(0.0, 1.0), (1.0, -0.5), (2.0, -1.0), (4.0, 1.0)] {
            assert_eq!(p.real_value(DoubleDouble::new(x)), DoubleDouble::new(value));
            assert_eq!(p.value_f64(Complex::new(x, 0.0)), Complex::new(value, 0.0));
        }
        let values = basis.values(DoubleDouble::new(1.0), 3);
        assert_eq!(values.iter().map(|v| v.to_f64()).collect::<Vec<_>>(), [1.0, -0.5, -0.5, 1.0]);
    }

    #[test]
    fn division_gives_the_polynomial_back() {
        let x = DoubleDouble::ratio(2, 7);
        for basis in [PolynomialBasis::Monomial, UNIT] {
            for (degree, g) in [(7, 4), (12, 8), (31, 16), (5, 4), (3, 2), (1, 1)] {
                let p: Vec<_> = (0..=degree).map(|i| f64::from((i * i * 7 + 3) % 11) - 4.5).collect();
                let p = Polynomial::new(basis, p).expect("finite");
                let (q, r) = basis.divide(p.coefficients(), g);
                assert!(r.len() <= g && q.len() == p.degree() - g + 1);
                let value =
                    |c: Vec<ComplexDoubleDouble>| Polynomial::new(basis, c).expect("not empty").real_value(x);
                let back = value(q) * basis.values(x, g)[g] + value(r);
                assert!((back - p.real_value(x)).abs().to_f64() < 1e-28, "{basis:?} {degree} {g}");
            }
        }
    }

    #[test]
    fn degrees_parities_and_refusals() {
        let p = chebyshev(&[1.0, 0.0, 2.0, 0.0, 0.0]);
        assert_eq!((p.degree(), p.levels(), p.parity()), (2, 2, Parity::Even));
        let p = chebyshev(&[0.0, 1.0, 0.0, 3.0]);
        assert_eq!((p.degree(), p.levels(), p.parity()), (3, 2, Parity::Odd));
        let p = chebyshev(&[1.0, 1.0, 0.0, 3.0, 1.0]);
        assert_eq!((p.degree(), p.levels(), p.parity()), (4, 3, Parity::General));
        assert_eq!(chebyshev(&[2.0]).levels(), 0);
        let none: [f64; 0] = [];
        assert!(Polynomial::new(UNIT, none).is_err());
        assert!(Polynomial::new(UNIT, [f64::NAN]).is_err());
        assert!(Polynomial::new(UNIT, core::iter::repeat_n(1.0, 2000)).is_err());
        for (from, to) in [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
            assert!(Polynomial::new(PolynomialBasis::Chebyshev { from, to }, [1.0]).is_err());
        }
    }
}
