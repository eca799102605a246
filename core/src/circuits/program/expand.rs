//! Polynomials too deep for the levels that a bootstrap leaves: taken apart into products with bootstraps between them.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{
    lower::Planner,
    operands::SumsAndProducts,
    steps::{Action, Register},
};
use crate::{
    arith::ComplexDoubleDouble,
    circuits::polynomial::{BasisOver, Polynomial, PolynomialBasis},
    error::Error,
    schemes::ckks::Complex,
};

/// Elements of the basis computed so far.
type Powers = BTreeMap<usize, Register>;

impl Planner<'_> {
    /// The polynomial of `t`, a value of the variable of its basis, by divisions by T_g (or x^g), g a power of two, down to leaves of few
    /// terms. The number of terms is the one that takes the fewest bootstraps, then the fewest steps.
    pub(super) fn expand(&mut self, node: usize, t: Register, p: &Polynomial) -> Result<Register, Error> {
        let most = p.coefficients().len().next_power_of_two().ilog2().min(6);
        let mut best = None;
        for log in 1..=most.max(1) {
            let mut trial = self.trial(t);
            let mut powers = Powers::from([(1, 0)]);
            // If every trial fails, so does the evaluation below, with the reason.
            if trial.divided(node, &mut powers, p.basis(), p.coefficients(), 1 << log).is_err() {
                continue;
            }
            let cost = (trial.bootstraps(), trial.steps.len(), log);
            best = Some(best.map_or(cost, |best: (usize, usize, u32)| best.min(cost)));
        }
        let log = best.map_or(1, |(_, _, log)| log);
        self.divided(node, &mut Powers::from([(1, t)]), p.basis(), p.coefficients(), 1 << log)
    }

    /// The polynomial with coefficients `p`, which are not all zero after the first.
    fn divided(
        &mut self,
        node: usize,
        powers: &mut Powers,
        basis: PolynomialBasis,
        p: &[ComplexDoubleDouble],
        terms: usize,
    ) -> Result<Register, Error> {
        if p.len() <= terms {
            return self.leaf(node, powers, basis, p);
        }
        let power = 1 << (p.len() - 1).ilog2();
        let (quotient, remainder) = basis.divide(p, power);
        let product = if is_constant(&quotient) {
            // c T_g: no product of two ciphertexts.
            let element = self.element(node, powers, basis, power)?;
            self.combine(node, alloc::vec![(element, quotient[0].to_complex())], Complex::ZERO)?
        } else {
            let quotient = self.divided(node, powers, basis, &quotient, terms)?;
            let element = self.element(node, powers, basis, power)?;
            self.multiply(node, quotient, element)?
        };
        match remainder.first() {
            None => Ok(product),
            Some(&c) if is_constant(&remainder) => self.add_number(node, product, c.to_complex()),
            Some(_) => {
                let remainder = self.divided(node, powers, basis, &remainder, terms)?;
                self.sum(node, product, remainder, Action::Add)
            }
        }
    }

    /// A sum of few terms at once, which takes one level.
    fn leaf(
        &mut self,
        node: usize,
        powers: &mut Powers,
        basis: PolynomialBasis,
        p: &[ComplexDoubleDouble],
    ) -> Result<Register, Error> {
        let mut terms = Vec::new();
        for (i, c) in p.iter().enumerate().skip(1).filter(|(_, c)| !c.is_zero()) {
            terms.push((self.element(node, powers, basis, i)?, c.to_complex()));
        }
        let number = p.first().map_or(Complex::ZERO, |c| c.to_complex());
        self.combine(node, terms, number)
    }

    /// Element `i` of the basis, i >= 1: 2 T_a T_b - T_(a-b), or x^a x^b.
    fn element(
        &mut self,
        node: usize,
        powers: &mut Powers,
        basis: PolynomialBasis,
        i: usize,
    ) -> Result<Register, Error> {
        if let Some(&register) = powers.get(&i) {
            return Ok(register);
        }
        let (a, b, difference) = basis.factors(i);
        let (x, y) = (self.element(node, powers, basis, a)?, self.element(node, powers, basis, b)?);
        let mut out = self.multiply(node, x, y)?;
        if let Some(difference) = difference {
            out = self.multiply_integer(node, out, 2)?;
            out = if difference == 0 {
                self.add_number(node, out, -Complex::ONE)?
            } else {
                let less = self.element(node, powers, basis, difference)?;
                self.sum(node, out, less, Action::Subtract)?
            };
        }
        powers.insert(i, out);
        Ok(out)
    }
}

fn is_constant(p: &[ComplexDoubleDouble]) -> bool {
    p.iter().skip(1).all(|c| c.is_zero())
}
