//! Types of coefficients, and the bases over them.

use alloc::vec::Vec;
use core::fmt;

use super::basis::PolynomialBasis;
use crate::arith::ComplexDoubleDouble;

/// A type of coefficients of polynomials, which a scheme takes as constants.
pub trait Coefficient: Clone + PartialEq + fmt::Debug + Send + Sync {
    /// The bases of polynomials with such coefficients.
    type Basis: BasisOver<Self>;

    /// -1.
    fn minus_one() -> Self;

    /// Whether it is 0: such terms are left out.
    fn is_zero(&self) -> bool;
}

/// Polynomials B_0 = 1, B_1, B_2, .. of degrees 0, 1, 2, .. that coefficients multiply.
pub trait BasisOver<C>: Copy + PartialEq + fmt::Debug + Send + Sync {
    /// (q, r) with p = q B_g + r, where g is a power of two, deg p < 2g and deg r < g. Zeros at the end of r are dropped.
    fn divide(self, p: &[C], g: usize) -> (Vec<C>, Vec<C>);

    /// How element `n` > 1 comes from smaller ones: (a, b, None) where it is B_a B_b, and (a, b, Some(d)) where it is
    /// 2 B_a B_b - B_d.
    ///
    /// The first factor is the largest power of two below `n`, so that `n` is reached at depth ceil(log2 n) and odd
    /// elements need no even ones but powers of two.
    fn factors(self, n: usize) -> (usize, usize, Option<usize>);
}

impl Coefficient for ComplexDoubleDouble {
    type Basis = PolynomialBasis;

    fn minus_one() -> Self {
        -Self::ONE
    }

    fn is_zero(&self) -> bool {
        Self::is_zero(*self)
    }
}

/// Integers, which a scheme of exact arithmetic reads modulo its plaintext modulus.
impl Coefficient for i64 {
    type Basis = Monomials;

    fn minus_one() -> Self {
        -1
    }

    fn is_zero(&self) -> bool {
        *self == 0
    }
}

/// The powers x^i: the only basis over the integers, where Chebyshev polynomials would be of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Monomials;

impl<C: Coefficient> BasisOver<C> for Monomials {
    fn divide(self, p: &[C], g: usize) -> (Vec<C>, Vec<C>) {
        (p[g..].to_vec(), trimmed(p[..g].to_vec()))
    }

    fn factors(self, n: usize) -> (usize, usize, Option<usize>) {
        let (a, b) = halves(n);
        (a, b, None)
    }
}

/// The coefficients without zeros at the end.
pub(super) fn trimmed<C: Coefficient>(mut p: Vec<C>) -> Vec<C> {
    while p.last().is_some_and(C::is_zero) {
        p.pop();
    }
    p
}

/// The largest power of two below `n`, and the rest.
pub(super) fn halves(n: usize) -> (usize, usize) {
    let a = 1 << (n - 1).ilog2();
    (a, n - a)
}
