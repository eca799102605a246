//! ModRaise in two halves: to an ephemeral secret at the lowest modulus, and from there to the highest.
//!
//! A ciphertext modulo q_0 satisfies b + a s = m + q_0 I over the integers once its residues are centred, and that holds
//! modulo any multiple of q_0. I is small because s is: the ciphertext is switched from the main secret to an ephemeral
//! sparse one before, and back after (Bossuat, Troncoso-Pastoriza, Hubaux, ACNS 2022). Between the halves, whatever is
//! done to the integers b and a is done to m at the noise of a sparse secret.

use alloc::{format, vec::Vec};

use super::{
    context::RlweContext, encapsulation::EncapsulationContext, keyswitch::Pair, sample::SampleBlock,
};
use crate::{
    arith::{Modulus, Shoup, Word},
    error::Error,
    ring::{BaseConverter, Basis, Coeff, Eval, Poly},
    trace::Counters,
};

/// A ciphertext (b, a) modulo q_0 in coefficient domain, between the halves of a raise: under the ephemeral secret, or in a
/// set without one under the main secret. It never leaves the evaluator, and has no form on the wire.
#[derive(Clone)]
pub struct EphemeralPair<W: Word> {
    b: Poly<W, Coeff>,
    a: Poly<W, Coeff>,
}

impl<W: Word> EphemeralPair<W> {
    /// A pair of its components, for links that end at the ephemeral secret.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for components of two moduli.
    pub fn new(b: Poly<W, Coeff>, a: Poly<W, Coeff>) -> Result<Self, Error> {
        check_basis(b.basis(), a.basis(), "the first component", "the second")?;
        Ok(Self { b, a })
    }

    /// b and a.
    pub fn parts(&self) -> [&Poly<W, Coeff>; 2] {
        [&self.b, &self.a]
    }

    /// k times the coefficients, modulo q_0.
    #[must_use]
    pub fn multiply_integer(mut self, k: i64) -> Self {
        self.for_each_row(|m, row| {
            let factor = m.shoup(m.reduce_i64(k));
            for x in row {
                *x = m.mul_shoup(*x, &factor);
            }
        });
        self
    }

    /// The multiples of q_0 that reducing `k` times the pair takes off, negated: the integers -(k x - [k x])/q_0, at most k/2, for
    /// coefficients x nearest to 0. If the pair has phase m + q_0 I' over the integers, and `k` times it k m + q_0 I, the result has phase
    /// I - k I'.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a q_0 of several primes, and unless 0 < k < q_0.
    pub fn multiples_taken_off(mut self, k: u64) -> Result<Self, Error> {
        let basis = self.b.basis();
        let q = basis.modulus(0).value_u64();
        if basis.len() != 1 || k == 0 || k >= q {
            return Err(Error::InvalidArgument(format!(
                "multiples of a q_0 of {} primes that a product with {k} takes off; take one prime, and a factor of 1 to {}",
                basis.len(),
                q - 1
            )));
        }
        let (k, twice) = (i128::from(k), 2 * i128::from(q));
        self.for_each_row(|m, row| {
            for x in row {
                // q_0 is below 2^61 and odd: nothing lies half way.
                let product = 2 * k * i128::from(m.centered(*x));
                *x = m.reduce_i64(-(product + twice / 2).div_euclid(twice) as i64);
            }
        });
        Ok(self)
    }

    /// self - other, modulo q_0.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a pair of another modulus.
    pub fn subtract(mut self, other: &Self) -> Result<Self, Error> {
        check_basis(self.b.basis(), other.b.basis(), "the pair", "what is taken off")?;
        self.b.sub_assign(&other.b);
        self.a.sub_assign(&other.a);
        Ok(self)
    }

    /// Every coefficient of b and a rounded to the nearest of the multiples of q_0 / `grid`, themselves rounded to integers.
    ///
    /// The phase b + a s moves by rounding errors of 1 + h coefficients, h the weight of the secret. It comes to lie on the
    /// grid, with a deviation of sqrt((1 + h) / 12) points from where it was, which is small because h is that of the
    /// ephemeral secret.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a grid of 0 or more than sqrt(q_0) points, or a q_0 of several primes.
    pub fn discretise(mut self, grid: u64) -> Result<Self, Error> {
        let basis = self.b.basis();
        let q = u128::from(basis.modulus(0).value_u64());
        let points = u128::from(grid);
        if basis.len() != 1 || points == 0 || points * points > q {
            return Err(Error::InvalidArgument(format!(
                "a grid of {grid} points modulo a q_0 of {} bits and {} primes; take one prime, and a grid of 1 to sqrt(q_0) \
                 points",
                libm::ceil(basis.log2()),
                basis.len()
            )));
        }
        self.for_each_row(|_, row| {
            for x in row {
                let point = (2 * u128::from(x.to_u64()) * points + q) / (2 * q) % points;
                *x = W::from_u64(((2 * point * q + points) / (2 * points)) as u64);
            }
        });
        Ok(self)
    }

    fn for_each_row(&mut self, f: impl Fn(&Modulus<W>, &mut [W]) + Sync + Send) {
        for part in [&mut self.b, &mut self.a] {
            let basis = part.basis().clone();
            part.for_each_row_mut(|i, row| f(basis.modulus(i), row));
        }
    }
}

/// The raise of ciphertexts of a chain from level 0.
pub struct ModRaise<W: Word> {
    context: RlweContext<W>,
    /// From q_0 to the other primes of Q.
    converter: BaseConverter<W>,
}

impl<W: Word> ModRaise<W> {
    /// Tables for a chain.
    pub fn new(context: &RlweContext<W>) -> Self {
        let (low, high) = (context.q(0), context.q(context.max_level()));
        let rest = high.select(low.len()..high.len());
        Self { context: context.clone(), converter: BaseConverter::new(low, &rest) }
    }

    /// The first half of a raise of x, which is modulo q_0, by the key to the ephemeral secret where a set has one.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] unless x is at level 0; [`Error::ParamsMismatch`] for a key of another modulus.
    pub fn to_ephemeral(
        &self,
        x: Pair<W>,
        key: Option<(&EncapsulationContext<W>, &SampleBlock<W>)>,
        counters: &mut Counters,
    ) -> Result<EphemeralPair<W>, Error> {
        let q0 = self.context.q(0);
        if !x.b.basis().same_as(q0) || !x.a.basis().same_as(q0) {
            return Err(Error::LevelMismatch(format!(
                "a raise of a ciphertext modulo {} primes, level 0 has {}; drop the ciphertext to level 0",
                x.b.basis().len(),
                q0.len()
            )));
        }
        let Some((context, key)) = key else {
            counters.ntt += 2 * q0.len() as u64;
            return Ok(EphemeralPair { b: x.b.into_coeff(), a: x.a.into_coeff() });
        };
        check_basis(q0, context.q0(), "level 0", "the encapsulation")?;
        check_basis(context.q0p(), key.basis(), "the encapsulation", "the key to the ephemeral secret")?;
        check_samples(context.digit_count(), key)?;
        let (b, a) = context.apply(&x, key, counters);
        Ok(EphemeralPair { b, a })
    }

    /// The second half, by the key from the ephemeral secret where a set has one: the pair modulo Q_level whose phase is that of `x`
    /// plus a multiple of q_0. The key is for the highest level.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level above the highest; [`Error::ParamsMismatch`] for a pair or a key of another modulus.
    pub fn from_ephemeral(
        &self,
        x: &EphemeralPair<W>,
        level: usize,
        key: Option<&SampleBlock<W>>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        self.raise(x, level, None, key, counters)
    }

    /// [`Self::from_ephemeral`] to the highest level, divided by an integer modulo Q: `divisor` times the phase is the phase there.
    ///
    /// # Errors
    /// As [`Self::from_ephemeral`]; [`Error::InvalidArgument`] for a divisor that is not prime to Q.
    pub fn from_ephemeral_over(
        &self,
        x: &EphemeralPair<W>,
        divisor: u64,
        key: Option<&SampleBlock<W>>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        let q = self.context.q(self.context.max_level());
        let inverse = |i: usize| {
            let m = q.modulus(i);
            m.inv(m.reduce_u64(divisor)).map(|inverse| m.shoup(inverse)).ok_or_else(|| {
                Error::InvalidArgument(format!(
                    "a division by {divisor} modulo {}, which divides it; divide by a number that no prime of the chain divides",
                    m.value()
                ))
            })
        };
        let inverses = (0..q.len()).map(inverse).collect::<Result<Vec<_>, _>>()?;
        self.raise(x, self.context.max_level(), Some(&inverses), key, counters)
    }

    /// Lifts both components, multiplies them by scalars modulo the primes of Q, and switches them.
    fn raise(
        &self,
        x: &EphemeralPair<W>,
        level: usize,
        scalars: Option<&[Shoup<W>]>,
        key: Option<&SampleBlock<W>>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        let (context, top) = (&self.context, self.context.max_level());
        context.check_level(level)?;
        check_basis(context.q(0), x.b.basis(), "level 0", "the ephemeral pair")?;
        if let Some(key) = key {
            check_basis(
                context.qp(top),
                key.basis(),
                "the highest level",
                "the key from the ephemeral secret",
            )?;
            check_samples(context.digit_count(top), key)?;
        }
        let (mut b, mut a) = (self.lift(&x.b, level), self.lift(&x.a, level));
        if let Some(scalars) = scalars {
            b.mul_scalars_assign(scalars);
            a.mul_scalars_assign(scalars);
        }
        counters.ntt += 2 * context.q(level).len() as u64;
        let Some(key) = key else { return Ok(Pair { b, a }) };
        let mut out = context.switch(&a, level, key, counters);
        context.add_special_multiple(&mut out.b, &b);
        Ok(context.divide_by_special(level, out, counters))
    }

    /// Centred residues modulo q_0 as residues modulo Q_level.
    fn lift(&self, x: &Poly<W, Coeff>, level: usize) -> Poly<W, Eval> {
        let (low, basis) = (x.basis().len(), self.context.q(level));
        let mut prepared = x.clone();
        prepared.for_each_row_mut(|i, row| self.converter.prepare(i, row));
        let source = self.converter.source((0..low).map(|i| prepared.row(i)).collect());
        let mut out = Poly::<W, Coeff>::zero(basis);
        out.for_each_row_mut(|i, row| match i.checked_sub(low) {
            None => row.copy_from_slice(x.row(i)),
            Some(target) => source.row_into(target, row),
        });
        out.into_eval()
    }
}

fn check_basis<W: Word>(
    wanted: &Basis<W>,
    found: &Basis<W>,
    of_wanted: &str,
    of_found: &str,
) -> Result<(), Error> {
    if wanted.same_as(found) {
        return Ok(());
    }
    Err(Error::ParamsMismatch(format!(
        "{of_wanted} is modulo {} primes of degree {}, {of_found} modulo {} of degree {}; take both of one parameter set",
        wanted.len(),
        wanted.n(),
        found.len(),
        found.n()
    )))
}

fn check_samples<W: Word>(digits: usize, key: &SampleBlock<W>) -> Result<(), Error> {
    if key.samples() == digits {
        return Ok(());
    }
    Err(Error::ParamsMismatch(format!(
        "a switching key of {} samples for {digits} digits; make it with this parameter set",
        key.samples()
    )))
}
