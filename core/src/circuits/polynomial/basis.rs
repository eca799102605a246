//! The two bases, and what differs between them.

use alloc::{format, vec, vec::Vec};

use super::coefficient::{BasisOver, Monomials, halves, trimmed};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble},
    error::Error,
};

/// What a polynomial's coefficients multiply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PolynomialBasis {
    /// Powers x^i.
    Monomial,
    /// Chebyshev polynomials T_i(t) of t = (2x - from - to) / (to - from): T_i is between -1 and 1 for x from `from`
    /// to `to`.
    Chebyshev {
        /// Left end of the interval.
        from: f64,
        /// Right end of the interval.
        to: f64,
    },
}

impl PolynomialBasis {
    /// Chebyshev polynomials of x itself.
    pub const UNIT: Self = Self::Chebyshev { from: -1.0, to: 1.0 };

    /// # Errors
    /// [`Error::InvalidArgument`] unless the ends of the interval are finite and in order.
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Self::Chebyshev { from, to } if !(from < to && from.is_finite() && to.is_finite()) => {
                Err(Error::InvalidArgument(format!(
                    "Chebyshev polynomials over [{from}, {to}]; the ends must be finite and in order"
                )))
            }
            _ => Ok(()),
        }
    }

    /// The variable the basis polynomials are in: t, or x itself.
    pub(super) fn variable(self, x: ComplexDoubleDouble) -> ComplexDoubleDouble {
        match self {
            Self::Monomial => x,
            Self::Chebyshev { from, to } => {
                let shift = DoubleDouble::from_parts(from, to);
                let width = DoubleDouble::from_parts(to, -from);
                let t = x.times(DoubleDouble::new(2.0)) - ComplexDoubleDouble::real(shift);
                t.times(DoubleDouble::ONE / width)
            }
        }
    }

    /// [`Self::variable`] of a real number.
    pub(super) fn real_variable(self, x: DoubleDouble) -> DoubleDouble {
        match self {
            Self::Monomial => x,
            Self::Chebyshev { from, to } => {
                (x.scale(2.0) - DoubleDouble::from_parts(from, to)) / DoubleDouble::from_parts(to, -from)
            }
        }
    }

    /// Values of the elements `0..=degree` of the basis at a real number.
    pub(super) fn values(self, x: DoubleDouble, degree: usize) -> Vec<DoubleDouble> {
        let t = self.real_variable(x);
        let mut values = vec![DoubleDouble::ONE, t];
        for i in 2..=degree {
            let next = match self {
                Self::Monomial => t * values[i - 1],
                Self::Chebyshev { .. } => t.scale(2.0) * values[i - 1] - values[i - 2],
            };
            values.push(next);
        }
        values.truncate(degree + 1);
        values
    }
}

impl BasisOver<ComplexDoubleDouble> for PolynomialBasis {
    /// For Chebyshev polynomials from 2 T_g T_i = T_(g+i) + T_(g-i): q_0 = p_g, q_i = 2 p_(g+i), and r_(g-i) loses
    /// p_(g+i).
    fn divide(
        self,
        p: &[ComplexDoubleDouble],
        g: usize,
    ) -> (Vec<ComplexDoubleDouble>, Vec<ComplexDoubleDouble>) {
        match self {
            Self::Monomial => Monomials.divide(p, g),
            Self::Chebyshev { .. } => {
                let (mut q, mut r) = (p[g..].to_vec(), p[..g].to_vec());
                for (i, q) in q.iter_mut().enumerate().skip(1) {
                    r[g - i] = r[g - i] - *q;
                    *q = q.times(DoubleDouble::new(2.0));
                }
                (q, trimmed(r))
            }
        }
    }

    fn factors(self, n: usize) -> (usize, usize, Option<usize>) {
        let (a, b) = halves(n);
        (a, b, matches!(self, Self::Chebyshev { .. }).then_some(a - b))
    }
}
