//! Paterson–Stockmeyer on ciphertexts, at exact scales.

use alloc::{format, vec::Vec};

use super::{
    clear::Polynomial,
    plan::{Node, Plan},
    powers::Powers,
};
use crate::{
    arith::{DoubleDouble, Word},
    error::Error,
    par,
    rlwe::SampleBlock,
    schemes::ckks::{Ciphertext, CkksEvaluator, Scale},
    trace::Counters,
};

/// Smallest ratio between the scale of a sum and that of a term: coefficients are multiples of its inverse.
const SMALLEST_RATIO: f64 = 256.0;

/// Evaluates polynomials on every slot of a ciphertext.
///
/// The sums are those of Paterson and Stockmeyer ("On the number of nonscalar multiplications necessary to evaluate
/// polynomials", 1973) in the Chebyshev or the monomial basis. The scale of every intermediate sum is chosen from
/// the end backward, so that the result has exactly the scale asked for and nothing is ever added at two scales
/// (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux, EUROCRYPT 2021, section 4). Products are added up in three
/// components, and relinearised and rescaled together, by one division, when they are multiplied again.
pub struct PolynomialEvaluator<'a, W: Word> {
    evaluator: &'a CkksEvaluator<W>,
    relinearization: &'a SampleBlock<W>,
}

impl<'a, W: Word> PolynomialEvaluator<'a, W> {
    /// With a relinearisation key made at the level of the arguments or above.
    pub fn new(evaluator: &'a CkksEvaluator<W>, relinearization: &'a SampleBlock<W>) -> Self {
        Self { evaluator, relinearization }
    }

    /// p in every slot of x, at scale `target` and exactly [`Polynomial::levels`] levels below x.
    ///
    /// The slots of x hold the variable of the basis: for Chebyshev polynomials over an interval that is t in
    /// [-1, 1], see [`Self::to_unit_interval`]. Scales near the products of the primes of the levels lose nothing.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if x has too few levels, or the key fewer than x; [`Error::InvalidArgument`] if x was
    /// not relinearised; [`Error::ScaleMismatch`] if a scale on the way becomes so small that coefficients would be
    /// rounded to less than 8 bits; [`Error::ParamsMismatch`] for a ciphertext or a key of another set.
    pub fn evaluate(
        &self,
        polynomial: &Polynomial,
        x: &Ciphertext<W>,
        target: Scale,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let plan = Plan::new(core::slice::from_ref(polynomial))?;
        let mut values = self.evaluate_planned(&plan, x, target, counters)?;
        values.pop().ok_or_else(|| Error::InvalidArgument("the plan has no polynomial".into()))
    }

    /// [`Self::evaluate`] for several polynomials, whose powers are computed once.
    ///
    /// # Errors
    /// As [`Self::evaluate`] and [`Plan::new`].
    pub fn evaluate_many(
        &self,
        polynomials: &[Polynomial],
        x: &Ciphertext<W>,
        target: Scale,
        counters: &mut Counters,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        self.evaluate_planned(&Plan::new(polynomials)?, x, target, counters)
    }

    /// The polynomials of a plan, in order, each at its own level.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub fn evaluate_planned(
        &self,
        plan: &Plan,
        x: &Ciphertext<W>,
        target: Scale,
        counters: &mut Counters,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        if x.level() < plan.levels() {
            return Err(Error::LevelMismatch(format!(
                "the polynomial takes {} levels and the ciphertext is at level {}; bootstrap it first, or take a \
                 polynomial of degree below {}",
                plan.levels(),
                x.level(),
                1u128 << x.level().min(100),
            )));
        }
        x.two_parts()?;
        self.evaluator.check_key(self.relinearization, x.level())?;
        let powers = Powers::new(self.evaluator, self.relinearization, plan, x, counters)?;
        let first = powers.get(1)?;
        let values = par::try_map(plan.roots.len(), |i| {
            let (root, mut counters) = (&plan.roots[i], Counters::default());
            if root.levels == 0 {
                let mut constant = self.evaluator.empty_sum(x, x.level(), target);
                self.add_leaf(&powers, &mut constant, &root.node)?;
                return Ok((constant, counters));
            }
            let level = x.level() - root.levels + 1;
            let scale = target.mul(self.primes(level));
            let sum = self.sum(&powers, first, &root.node, (level, scale), &mut counters)?;
            let value = self.reduce(&sum, &mut counters)?;
            // Equal to 2^-100; the label is the one asked for.
            value.check_same_scale(target)?;
            Ok::<_, Error>((value.relabelled(target), counters))
        })?;
        let mut out = Vec::with_capacity(values.len());
        for (value, work) in values {
            *counters += work;
            out.push(value);
        }
        Ok(out)
    }

    /// t = (2x - from - to) / (to - from) in every slot, at scale `target` and one level below x: what a polynomial in
    /// Chebyshev polynomials over [from, to] is evaluated at.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless from < to; [`Error::LevelMismatch`] at level 0; [`Error::ParamsMismatch`]
    /// for a ciphertext of another set.
    pub fn to_unit_interval(
        &self,
        x: &Ciphertext<W>,
        (from, to): (f64, f64),
        target: Scale,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        super::PolynomialBasis::Chebyshev { from, to }.check()?;
        let inverse = DoubleDouble::ONE / DoubleDouble::from_parts(to, -from);
        let factor = target.mul(self.primes(x.level())).div(x.scale());
        let scaled = self.evaluator.multiply_constant(x, inverse.scale(2.0).into(), factor)?;
        let mut out = self.reduce(&scaled, counters)?.relabelled(target);
        let middle = -(DoubleDouble::from_parts(from, to) * inverse);
        self.evaluator.add_constant_assign(&mut out, middle.into())?;
        Ok(out)
    }

    /// The value of a node at a level and a scale, not yet rescaled, in two components or three.
    fn sum(
        &self,
        powers: &Powers<W>,
        like: &Ciphertext<W>,
        node: &Node,
        (level, scale): (usize, Scale),
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let Node::Split { power, quotient, remainder } = node else {
            let mut sum = self.evaluator.empty_sum(like, level, scale);
            self.add_leaf(powers, &mut sum, node)?;
            return Ok(sum);
        };
        let power = powers.get(*power)?;
        let above = scale.div(power.scale()).mul(self.primes(level + 1));
        let (left, right) = par::join(
            || {
                let mut work = Counters::default();
                let sum = self.sum(powers, like, quotient, (level + 1, above), &mut work)?;
                let quotient = self.reduce(&sum, &mut work)?;
                Ok::<_, Error>((self.evaluator.multiply(&quotient, power)?.relabelled(scale), work))
            },
            || match remainder.as_deref() {
                Some(split @ Node::Split { .. }) => {
                    let mut work = Counters::default();
                    let sum = self.sum(powers, like, split, (level, scale), &mut work)?;
                    Ok::<_, Error>(Some((sum, work)))
                }
                _ => Ok(None),
            },
        );
        let (mut sum, work) = left?;
        *counters += work;
        if let Some((remainder, work)) = right? {
            *counters += work;
            return self.evaluator.add_to(sum, &remainder);
        }
        if let Some(leaf) = remainder {
            self.add_leaf(powers, &mut sum, leaf)?;
        }
        Ok(sum)
    }

    /// sum += the terms of a leaf.
    fn add_leaf(&self, powers: &Powers<W>, sum: &mut Ciphertext<W>, leaf: &Node) -> Result<(), Error> {
        let Node::Leaf(coefficients) = leaf else { return Ok(()) };
        for (i, &c) in coefficients.iter().enumerate().filter(|(_, c)| !c.is_zero()) {
            if i == 0 {
                self.evaluator.add_constant_assign(sum, c)?;
                continue;
            }
            let power = powers.get(i)?;
            let ratio = sum.scale().div(power.scale());
            if ratio.to_f64() < SMALLEST_RATIO {
                return Err(Error::ScaleMismatch(format!(
                    "a sum at scale 2^{:.1} of terms at scale 2^{:.1} would round coefficients to multiples of \
                     2^{:.1}; raise the target scale, or lower that of the argument, towards the size of the primes",
                    sum.log_scale(),
                    power.log_scale(),
                    -ratio.log2(),
                )));
            }
            self.evaluator.add_multiple_assign(sum, power, c)?;
        }
        Ok(())
    }

    /// Two components, one level down: relinearised if there are three, and rescaled, by one division.
    ///
    /// # Errors
    /// As [`CkksEvaluator::relinearize_rescale`] and [`CkksEvaluator::rescale`].
    pub fn reduce(&self, x: &Ciphertext<W>, counters: &mut Counters) -> Result<Ciphertext<W>, Error> {
        if x.components() == 3 {
            return self.evaluator.relinearize_rescale(x, self.relinearization, counters);
        }
        let rlwe = self.evaluator.context().rlwe();
        counters.ntt += 2 * rlwe.rescale(x.level())?.ntts();
        self.evaluator.rescale(x)
    }

    /// The product of the primes of a level.
    fn primes(&self, level: usize) -> Scale {
        let rlwe = self.evaluator.context().rlwe();
        Scale::product(rlwe.spec().levels[level].iter().copied())
    }
}
