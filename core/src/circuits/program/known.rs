//! What a plan knows about the numbers of a program without seeing them: bounds on their size and error.
//!
//! Integers that were reduced are bounded, and so are the results of sums, products and maps of them. Their errors grow too, until digits
//! can no longer be read. A plan has to know that before it reads digits again.

use super::{Operation, Program, Value};
use crate::{
    arith::ComplexDoubleDouble,
    circuits::{linear_transform::Diagonals, polynomial::PolynomialBasis},
    schemes::ckks::Complex,
};

/// Bounds of numbers as they decrypt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// A bound on the absolute values.
    pub largest: f64,
    /// A bound on the errors: how far numbers are from what they stand for.
    pub off: f64,
}

impl Known {
    fn constant(numbers: &[Complex]) -> Self {
        Self { largest: numbers.iter().map(|z| z.abs()).fold(0.0, f64::max), off: 0.0 }
    }

    fn plus(self, other: Self) -> Self {
        Self { largest: self.largest + other.largest, off: self.off + other.off }
    }

    fn times(self, other: Self) -> Self {
        let off = self.largest * other.off + other.largest * self.off;
        Self { largest: self.largest * other.largest, off: off + self.off * other.off }
    }

    fn scaled(self, factor: f64) -> Self {
        Self { largest: self.largest * factor, off: self.off * factor }
    }
}

/// What is known of the value of node `index`, given what is known of the nodes before it; `None` if nothing is known of an operand or of
/// the result.
pub(super) fn of_node(program: &Program, index: usize, known: &[Option<Known>]) -> Option<Known> {
    let of = |x: &Value| known.get(x.index()).copied().flatten();
    match &program.nodes()[index].operation {
        Operation::Constant(numbers) => Some(Known::constant(numbers)),
        Operation::Add(x, y) | Operation::Subtract(x, y) => Some(of(x)?.plus(of(y)?)),
        Operation::Multiply(x, y) => Some(of(x)?.times(of(y)?)),
        Operation::Negate(x) | Operation::Rotate(x, _) | Operation::Conjugate(x) | Operation::Output(x) => {
            of(x)
        }
        Operation::LinearTransform(x, matrix) => Some(of(x)?.scaled(norm(matrix))),
        Operation::Polynomial(x, p) if p.basis() == PolynomialBasis::Monomial => {
            let (x, nothing) = (of(x)?, Known { largest: 0.0, off: 0.0 });
            let largest = |c: &ComplexDoubleDouble| libm::hypot(c.re.to_f64(), c.im.to_f64());
            // Horner's rule.
            let step = |sum: Known, c| sum.times(x).plus(Known { largest: largest(c), off: 0.0 });
            Some(p.coefficients().iter().rev().fold(nothing, step))
        }
        Operation::Polynomial(..) | Operation::Input | Operation::Bootstrap(_) | Operation::Digits(..) => {
            None
        }
    }
}

/// A bound on the largest sum of absolute values of a row.
fn norm(matrix: &Diagonals) -> f64 {
    let largest = |k| matrix.get(k).map_or(0.0, |d| Known::constant(d).largest);
    matrix.shifts().into_iter().map(largest).sum()
}
