//! Paterson–Stockmeyer on ciphertexts, at exact scales.

use alloc::{format, vec::Vec};

use super::{
    clear::Polynomial,
    coefficient::Coefficient,
    plan::{Node, Plan},
    powers::Powers,
};
use crate::{
    arith::{DoubleDouble, Word},
    error::Error,
    par,
    schemes::{
        ckks::{Ciphertext, CkksEvaluator, Scale},
        evaluator::{Label, Leveled},
    },
    trace::Counters,
};

/// Evaluates polynomials on every slot of a ciphertext.
///
/// The sums are those of Paterson and Stockmeyer ("On the number of nonscalar multiplications necessary to evaluate
/// polynomials", 1973) in the Chebyshev or the monomial basis. The label of every intermediate sum is chosen from
/// the end backward, so that the result has exactly the label asked for and nothing is ever added at two labels
/// (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux, EUROCRYPT 2021, section 4, for the scales of CKKS). Products are added up in three
/// components, and relinearised and rescaled together, by one division, when they are multiplied again.
pub struct PolynomialEvaluator<'a, E: Leveled> {
    evaluator: &'a E,
    relinearization: &'a E::RelinearizationKey,
}

impl<'a, E: Leveled<Coefficient: Coefficient>> PolynomialEvaluator<'a, E> {
    /// An evaluator with a relinearisation key made at the level of the arguments or above.
    pub fn new(evaluator: &'a E, relinearization: &'a E::RelinearizationKey) -> Self {
        Self { evaluator, relinearization }
    }

    /// The value of the polynomial in every slot of x, at label `target` and exactly [`Polynomial::levels`] levels below x.
    ///
    /// The slots of x hold the variable of the basis: for Chebyshev polynomials over an interval that variable is t in [-1, 1], see
    /// [`Self::to_unit_interval`]. In CKKS, scales near the products of the primes of the levels lose nothing.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if x has too few levels, or the key fewer than x; [`Error::InvalidArgument`] if x was
    /// not relinearised; [`Error::ScaleMismatch`] if a scale on the way becomes so small that coefficients would be
    /// rounded to less than 8 bits, and [`Error::PlaintextMismatch`] for a factor modulo another P than that of x;
    /// [`Error::ParamsMismatch`] for a ciphertext or a key of another set.
    pub fn evaluate(
        &self,
        polynomial: &Polynomial<E::Coefficient>,
        x: &E::Ciphertext,
        target: E::Label,
    ) -> Result<E::Ciphertext, Error> {
        self.evaluate_counted(polynomial, x, target, &mut Counters::default())
    }

    /// [`Self::evaluate`], for a run that counts its work.
    pub(crate) fn evaluate_counted(
        &self,
        polynomial: &Polynomial<E::Coefficient>,
        x: &E::Ciphertext,
        target: E::Label,
        counters: &mut Counters,
    ) -> Result<E::Ciphertext, Error> {
        let plan = Plan::new(core::slice::from_ref(polynomial))?;
        let mut values = self.evaluate_planned_counted(&plan, x, target, counters)?;
        values.pop().ok_or_else(|| Error::InvalidArgument("the plan has no polynomial".into()))
    }

    /// [`Self::evaluate`] for several polynomials, whose powers are computed once.
    ///
    /// # Errors
    /// As [`Self::evaluate`] and [`Plan::new`].
    pub fn evaluate_many(
        &self,
        polynomials: &[Polynomial<E::Coefficient>],
        x: &E::Ciphertext,
        target: E::Label,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        self.evaluate_planned(&Plan::new(polynomials)?, x, target)
    }

    /// The polynomials of a plan, in order, each at its own level.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn evaluate_planned(
        &self,
        plan: &Plan<E::Coefficient>,
        x: &E::Ciphertext,
        target: E::Label,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        self.evaluate_planned_counted(plan, x, target, &mut Counters::default())
    }

    /// [`Self::evaluate_planned`], for a run that counts its work and for the tests of these counts.
    #[doc(hidden)]
    pub fn evaluate_planned_counted(
        &self,
        plan: &Plan<E::Coefficient>,
        x: &E::Ciphertext,
        target: E::Label,
        counters: &mut Counters,
    ) -> Result<Vec<E::Ciphertext>, Error> {
        let top = self.evaluator.level(x);
        if top < plan.levels() {
            return Err(Error::LevelMismatch(format!(
                "the polynomial takes {} levels and the ciphertext is at level {}; bootstrap it first, or take a \
                 polynomial of degree below {}",
                plan.levels(),
                top,
                1u128 << top.min(100),
            )));
        }
        self.evaluator.check_operand(x, self.relinearization, target)?;
        let powers = Powers::new(self.evaluator, self.relinearization, plan, x, counters)?;
        let first = powers.get(1)?;
        par::try_map_counted(plan.roots.len(), counters, |i, counters| {
            let root = &plan.roots[i];
            if root.levels == 0 {
                let mut constant = self.evaluator.empty_sum(x, top, target);
                self.add_leaf(&powers, &mut constant, &root.node)?;
                return Ok(constant);
            }
            let level = top - root.levels + 1;
            let label = target.mul(self.evaluator.label_of_level(level));
            let sum = self.sum(&powers, first, &root.node, (level, label), counters)?;
            self.evaluator.at_label(self.reduce_counted(&sum, counters)?, target)
        })
    }

    /// The value of a node at a level and a label, not yet rescaled, in two components or three.
    fn sum(
        &self,
        powers: &Powers<E>,
        like: &E::Ciphertext,
        node: &Node<E::Coefficient>,
        (level, label): (usize, E::Label),
        counters: &mut Counters,
    ) -> Result<E::Ciphertext, Error> {
        let evaluator = self.evaluator;
        let Node::Split { power, quotient, remainder } = node else {
            let mut sum = evaluator.empty_sum(like, level, label);
            self.add_leaf(powers, &mut sum, node)?;
            return Ok(sum);
        };
        let power = powers.get(*power)?;
        let above = label.div(evaluator.label(power)).mul(evaluator.label_of_level(level + 1));
        let (left, right) = par::join(
            || {
                let mut work = Counters::default();
                let sum = self.sum(powers, like, quotient, (level + 1, above), &mut work)?;
                let quotient = self.reduce_counted(&sum, &mut work)?;
                let product = evaluator.tensor(&quotient, power)?;
                Ok::<_, Error>((evaluator.at_label(product, label)?, work))
            },
            || match remainder.as_deref() {
                Some(split @ Node::Split { .. }) => {
                    let mut work = Counters::default();
                    let sum = self.sum(powers, like, split, (level, label), &mut work)?;
                    Ok::<_, Error>(Some((sum, work)))
                }
                _ => Ok(None),
            },
        );
        let (mut sum, work) = left?;
        *counters += work;
        if let Some((remainder, work)) = right? {
            *counters += work;
            return evaluator.add_to(sum, &remainder);
        }
        if let Some(leaf) = remainder {
            self.add_leaf(powers, &mut sum, leaf)?;
        }
        Ok(sum)
    }

    /// sum += the terms of a leaf.
    fn add_leaf(
        &self,
        powers: &Powers<E>,
        sum: &mut E::Ciphertext,
        leaf: &Node<E::Coefficient>,
    ) -> Result<(), Error> {
        let Node::Leaf(coefficients) = leaf else { return Ok(()) };
        if let Some(constant) = coefficients.first().filter(|c| !c.is_zero()) {
            self.evaluator.add_constant_assign(sum, constant)?;
        }
        let others = coefficients.iter().enumerate().skip(1).filter(|(_, c)| !c.is_zero());
        let terms = others.map(|(i, c)| Ok((powers.get(i)?, c))).collect::<Result<Vec<_>, Error>>()?;
        self.evaluator.add_multiples_assign(sum, &terms)
    }

    /// Relinearises x if it has three components, and rescales it, by one division: the result has two components and is one level down.
    ///
    /// # Errors
    /// As [`Leveled::reduce`].
    pub fn reduce(&self, x: &E::Ciphertext) -> Result<E::Ciphertext, Error> {
        self.reduce_counted(x, &mut Counters::default())
    }

    /// [`Self::reduce`], for a run that counts its work.
    pub(crate) fn reduce_counted(
        &self,
        x: &E::Ciphertext,
        counters: &mut Counters,
    ) -> Result<E::Ciphertext, Error> {
        self.evaluator.reduce(x, self.relinearization, counters)
    }
}

impl<W: Word> PolynomialEvaluator<'_, CkksEvaluator<W>> {
    /// t = (2x - from - to) / (to - from) in every slot, at scale `target` and one level below x: the variable of Chebyshev polynomials
    /// over [from, to].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless from < to; [`Error::LevelMismatch`] at level 0; [`Error::ParamsMismatch`]
    /// for a ciphertext of another set.
    pub fn to_unit_interval(
        &self,
        x: &Ciphertext<W>,
        (from, to): (f64, f64),
        target: Scale,
    ) -> Result<Ciphertext<W>, Error> {
        super::PolynomialBasis::Chebyshev { from, to }.check()?;
        self.evaluator.context().rlwe().rescale(x.level())?;
        let inverse = DoubleDouble::ONE / DoubleDouble::from_parts(to, -from);
        let factor = target.mul(self.evaluator.label_of_level(x.level())).div(x.scale());
        let scaled = self.evaluator.multiply_constant(x, inverse.scale(2.0).into(), factor)?;
        let mut out = self.reduce(&scaled)?.relabelled(target);
        let middle = -(DoubleDouble::from_parts(from, to) * inverse);
        self.evaluator.add_constant_assign(&mut out, middle.into())?;
        Ok(out)
    }
}
