//! What an evaluation takes, worked out before it runs.

use alloc::{boxed::Box, collections::BTreeSet, format, vec::Vec};

use super::{
    clear::Polynomial,
    coefficient::{BasisOver, Coefficient},
};
use crate::{arith::ComplexDoubleDouble, error::Error};

/// How polynomials are evaluated at one argument: the powers (or Chebyshev polynomials) of it they share, and for each polynomial a tree of
/// divisions by powers whose index is a power of two.
///
/// If only every 2^s-th coefficient of all polynomials is not zero, element 2^s of the basis takes the place of the
/// variable: an even polynomial costs what one of half its degree costs, and a squaring.
#[derive(Debug, Clone)]
pub struct Plan<C: Coefficient = ComplexDoubleDouble> {
    pub(super) basis: C::Basis,
    /// log2 of the step between coefficients.
    pub(super) stride: usize,
    /// Indices from 2 on, in units of the step, in order; each from smaller ones.
    pub(super) powers: Vec<usize>,
    pub(super) roots: Vec<Root<C>>,
}

/// One of the polynomials.
#[derive(Debug, Clone)]
pub(super) struct Root<C> {
    /// Levels it takes in all.
    pub levels: usize,
    pub node: Node<C>,
}

/// A polynomial as a sum of few powers, or divided by one.
#[derive(Debug, Clone)]
pub(super) enum Node<C> {
    /// Coefficients of consecutive powers.
    Leaf(Vec<C>),
    /// quotient · power + remainder.
    Split {
        power: usize,
        quotient: Box<Node<C>>,
        /// `None` for 0.
        remainder: Option<Box<Node<C>>>,
    },
}

impl<C: Coefficient> Plan<C> {
    /// The cheapest way found to evaluate all polynomials at one argument.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if there is no polynomial, or if their bases differ.
    pub fn new(polynomials: &[Polynomial<C>]) -> Result<Self, Error> {
        let Some(basis) = polynomials.first().map(Polynomial::basis) else {
            return Err(Error::InvalidArgument("no polynomial to evaluate; give at least one".into()));
        };
        if let Some(other) = polynomials.iter().find(|p| p.basis() != basis) {
            return Err(Error::InvalidArgument(format!(
                "polynomials in {basis:?} and in {:?} share no powers; evaluate them one by one",
                other.basis()
            )));
        }
        let stride = stride(polynomials);
        let reduced: Vec<Vec<C>> = polynomials
            .iter()
            .map(|p| p.coefficients().iter().step_by(1 << stride).cloned().collect())
            .collect();
        let cost = |plan: &Self| (plan.key_switches(), plan.leaf_terms());
        let plan = |log_baby: u32| Self::with_leaves(basis, stride, &reduced, 1 << log_baby);
        Ok((2..=10).map(plan).fold(plan(1), |best, plan| if cost(&plan) < cost(&best) { plan } else { best }))
    }

    /// Levels consumed: those of the polynomial of largest degree.
    pub fn levels(&self) -> usize {
        self.roots.iter().map(|root| root.levels).max().unwrap_or(0)
    }

    /// Levels that each polynomial consumes.
    pub fn levels_of_each(&self) -> impl Iterator<Item = usize> + '_ {
        self.roots.iter().map(|root| root.levels)
    }

    /// Relinearisations, each of which is a key switch: one for every power and one for every sum of products that is rescaled.
    pub fn key_switches(&self) -> usize {
        let roots = self.roots.iter().map(|root| root.node.relinearizations());
        self.stride + self.powers.len() + roots.sum::<usize>()
    }

    fn leaf_terms(&self) -> usize {
        self.roots.iter().map(|root| root.node.leaf_terms()).sum()
    }

    /// A plan with leaves of degree below `baby` where the levels allow it.
    fn with_leaves(basis: C::Basis, stride: usize, polynomials: &[Vec<C>], baby: usize) -> Self {
        let mut wanted = BTreeSet::new();
        let roots = polynomials
            .iter()
            .map(|p| {
                let depth = p.len().next_power_of_two().ilog2() as usize;
                let node = Node::new(basis, p, depth, baby);
                node.collect_powers(&mut wanted);
                Root { levels: if depth == 0 { 0 } else { stride + depth }, node }
            })
            .collect();
        Self { basis, stride, powers: closure(basis, wanted), roots }
    }
}

impl<C: Coefficient> Node<C> {
    /// `p`, of degree below 2^depth, to be rescaled into level top - depth.
    fn new(basis: C::Basis, p: &[C], depth: usize, baby: usize) -> Self {
        let degree = p.len().saturating_sub(1);
        // Power i is at level top - ceil(log2 i); the sum is at level top - depth + 1.
        if degree <= 1 || (degree < baby && degree.next_power_of_two().ilog2() < depth as u32) {
            return Self::Leaf(p.to_vec());
        }
        let power = 1 << degree.ilog2();
        let (quotient, remainder) = basis.divide(p, power);
        Self::Split {
            power,
            quotient: Box::new(Self::new(basis, &quotient, depth - 1, baby)),
            remainder: (!remainder.is_empty()).then(|| Box::new(Self::new(basis, &remainder, depth, baby))),
        }
    }

    fn collect_powers(&self, wanted: &mut BTreeSet<usize>) {
        match self {
            Self::Leaf(p) => wanted.extend((2..p.len()).filter(|&i| !p[i].is_zero())),
            Self::Split { power, quotient, remainder } => {
                wanted.insert(*power);
                quotient.collect_powers(wanted);
                if let Some(remainder) = remainder {
                    remainder.collect_powers(wanted);
                }
            }
        }
    }

    /// Relinearisations that rescaling this node takes: one if its sum holds a product, and those of the quotients in it.
    fn relinearizations(&self) -> usize {
        match self {
            Self::Leaf(_) => 0,
            Self::Split { .. } => 1 + self.within(),
        }
    }

    fn within(&self) -> usize {
        match self {
            Self::Leaf(_) => 0,
            Self::Split { quotient, remainder, .. } => {
                quotient.relinearizations() + remainder.as_ref().map_or(0, |r| r.within())
            }
        }
    }

    fn leaf_terms(&self) -> usize {
        match self {
            Self::Leaf(p) => p.iter().filter(|c| !c.is_zero()).count(),
            Self::Split { quotient, remainder, .. } => {
                quotient.leaf_terms() + remainder.as_ref().map_or(0, |r| r.leaf_terms())
            }
        }
    }
}

/// The largest s such that all indices of non-zero coefficients are multiples of 2^s.
fn stride<C: Coefficient>(polynomials: &[Polynomial<C>]) -> usize {
    let indices = polynomials
        .iter()
        .flat_map(|p| p.coefficients().iter().enumerate().filter(|(_, c)| !c.is_zero()).map(|(i, _)| i));
    indices.filter(|&i| i > 0).map(|i| i.trailing_zeros() as usize).min().unwrap_or(0)
}

/// The powers wanted and all that they come from, in order.
fn closure<C>(basis: impl BasisOver<C>, wanted: BTreeSet<usize>) -> Vec<usize> {
    let (mut all, mut queue) = (BTreeSet::new(), wanted);
    while let Some(n) = queue.pop_last() {
        if n > 1 && all.insert(n) {
            let (a, b, difference) = basis.factors(n);
            queue.extend([Some(a), Some(b), difference].into_iter().flatten());
        }
    }
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuits::polynomial::PolynomialBasis;

    fn plan(basis: PolynomialBasis, indices: impl Iterator<Item = usize>) -> Plan {
        let indices: Vec<usize> = indices.collect();
        let mut coefficients = alloc::vec![0.0; indices.iter().max().expect("some") + 1];
        for i in indices {
            coefficients[i] = 1.0 + 0.1 * i as f64;
        }
        Plan::new(&[Polynomial::new(basis, coefficients).expect("finite")]).expect("one polynomial")
    }

    #[test]
    fn depth_is_optimal_and_counts_are_those_of_the_algorithm() {
        for basis in [PolynomialBasis::Monomial, PolynomialBasis::UNIT] {
            for degree in 1..=130usize {
                let plan = plan(basis, 0..=degree);
                assert_eq!(
                    plan.levels(),
                    (degree + 1).next_power_of_two().ilog2() as usize,
                    "degree {degree}"
                );
            }
            for degree in (2..=128usize).step_by(2) {
                let even = plan(basis, (0..=degree).step_by(2));
                assert_eq!(
                    even.levels(),
                    (degree + 1).next_power_of_two().ilog2() as usize,
                    "degree {degree}"
                );
                assert_eq!(even.key_switches(), 1 + plan(basis, 0..=degree / 2).key_switches());
            }
        }
        // Counts by hand: T_2, T_4 and q of q T_4 + r is a leaf: 2 + 1 for degree 7 with leaves up to T_3 is 4,
        // with leaves up to T_1: T_2, T_4; q T_4 + r, q = q' T_2 + r': 2 + 2.
        assert_eq!(plan(PolynomialBasis::UNIT, 0..=7).key_switches(), 4);
        assert_eq!(plan(PolynomialBasis::UNIT, 0..=3).key_switches(), 2);
        assert_eq!(plan(PolynomialBasis::UNIT, 0..=1).key_switches(), 0);
    }

    #[test]
    fn odd_polynomials_need_no_even_powers_but_powers_of_two() {
        let plan = plan(PolynomialBasis::UNIT, (1..=31).step_by(2));
        assert!(plan.powers.iter().all(|n| n % 2 == 1 || n.is_power_of_two()), "{:?}", plan.powers);
    }

    #[test]
    fn polynomials_share_powers() {
        let p = |c: f64| {
            Polynomial::new(PolynomialBasis::UNIT, (0..16).map(|i| c + f64::from(i))).expect("finite")
        };
        let (one, two) = (Plan::new(&[p(1.0)]), Plan::new(&[p(1.0), p(2.0)]));
        let (one, two) = (one.expect("one").key_switches(), two.expect("two").key_switches());
        assert!(two < 2 * one, "{two} for two, {one} for one");
        let other = Polynomial::new(PolynomialBasis::Monomial, [1.0, 2.0]).expect("finite");
        assert!(Plan::new(&[p(1.0), other]).is_err() && Plan::<ComplexDoubleDouble>::new(&[]).is_err());
    }
}
