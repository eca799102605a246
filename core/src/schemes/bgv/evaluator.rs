//! Homomorphic operations on ciphertexts.

use alloc::{format, vec::Vec};

use super::{
    ciphertext::BgvCiphertext, context::BgvContext, factor::Factor, noise::LinearGain, shape::BgvShape,
};
use crate::{
    arith::Word,
    error::Error,
    ring::{Eval, GaloisElement, Poly},
    rlwe::{GaloisSource, Pair, SampleBlock, tensor},
    schemes::{components, evaluator::Label},
    trace::Counters,
};

/// Operations on ciphertexts of one parameter set. Every operation checks that its operands belong together and that the noise of
/// its result, by its estimate, leaves the plaintext right; [`Error::Limit`] says that it might not.
pub struct BgvEvaluator<W: Word = u64> {
    context: BgvContext<W>,
}

impl<W: Word> BgvEvaluator<W> {
    /// An evaluator of `context`.
    pub fn new(context: &BgvContext<W>) -> Self {
        Self { context: context.clone() }
    }

    /// The parameter set.
    pub fn context(&self) -> &BgvContext<W> {
        &self.context
    }

    /// x + y at the lower of the two levels; equal factors required.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`]; [`Error::PlaintextMismatch`] if factors or moduli of plaintexts differ; [`Error::Limit`].
    pub fn add(&self, x: &BgvCiphertext<W>, y: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        self.combine(x.clone(), y, Poly::add_assign)
    }

    /// x - y at the lower of the two levels; equal factors required.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn sub(&self, x: &BgvCiphertext<W>, y: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        self.combine(x.clone(), y, Poly::sub_assign)
    }

    pub(super) fn combine(
        &self,
        mut out: BgvCiphertext<W>,
        y: &BgvCiphertext<W>,
        op: impl Fn(&mut Poly<W, Eval>, &Poly<W, Eval>),
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(&out)?;
        out.check_same_key(y)?;
        out.check_same_factor(y.factor)?;
        let level = out.level.min(y.level);
        if level < out.level {
            out = self.drop_to_level(&out, level)?;
        }
        components::combine(&mut out.parts, &y.parts, self.context.rlwe().q(level), op);
        out.noise += y.noise;
        Self::checked(out)
    }

    /// -x.
    pub fn negate(&self, x: &BgvCiphertext<W>) -> BgvCiphertext<W> {
        let mut out = x.clone();
        out.parts.iter_mut().for_each(Poly::neg_assign);
        out
    }

    /// x y in three components at the lower of the two levels, not rescaled.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`]; [`Error::PlaintextMismatch`] if the moduli of plaintexts differ; [`Error::InvalidArgument`] if an
    /// operand was not relinearised; [`Error::Limit`].
    pub fn tensor(&self, x: &BgvCiphertext<W>, y: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(x)?;
        x.check_same_key(y)?;
        let ([x0, x1], y_parts) = (x.two_parts()?, y.two_parts()?);
        let level = x.level.min(y.level);
        let basis = self.context.rlwe().q(level);
        let modulus = self.context.modulus(x.ring().exponent())?;
        // The product of x/P and y/P is xy/P^2.
        let scalars = modulus.residues(basis.len());
        let parts: Vec<_> = tensor(basis, [x0, x1], y_parts, Some(&scalars)).into();
        let noise = x.noise * y.noise * x.ring().value() as f64;
        Self::checked(BgvCiphertext { parts, level, factor: x.factor.mul(y.factor), noise, ..*x })
    }

    /// x y, relinearised and rescaled: one level down.
    ///
    /// # Errors
    /// As [`Self::tensor`] and [`Self::relinearize_rescale`].
    pub fn multiply(
        &self,
        x: &BgvCiphertext<W>,
        y: &BgvCiphertext<W>,
        key: &SampleBlock<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.relinearize_rescale(&self.tensor(x, y)?, key)
    }

    /// Takes three components to two and one level down, by one division.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there are three components; [`Error::LevelMismatch`] at level 0 and for a key of a lower
    /// level; [`Error::ParamsMismatch`] for a key of another set; [`Error::Limit`].
    pub fn relinearize_rescale(
        &self,
        x: &BgvCiphertext<W>,
        key: &SampleBlock<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.relinearize_rescale_counted(x, key, &mut Counters::default())
    }

    /// [`Self::relinearize_rescale`], for a run that counts its work.
    pub(crate) fn relinearize_rescale_counted(
        &self,
        x: &BgvCiphertext<W>,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        let product = components::three(&x.parts)?;
        self.check_set(x)?;
        let (level, rlwe, noise) = (x.level, self.context.rlwe(), self.context.noise());
        rlwe.mod_down_rescale(level)?;
        let pair = rlwe.relinearize(level, product, key, counters)?;
        let pair = rlwe.divide_by_special_and_rescale(level, pair, counters)?;
        let noise = noise.rescaled(x.noise + noise.key_switch(level), self.context.level_divisor(level));
        Self::checked(x.with_pair(pair, level - 1, self.factor_after_rescale(x.factor, level), noise))
    }

    /// Divides by the primes of the level, which lowers the noise and the level. Products of three components are refused: s^2 multiplies
    /// the rounding of the third, which would be more noise than a product has left. [`Self::relinearize_rescale`] divides those.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0; [`Error::InvalidArgument`] if `x` was not relinearised; [`Error::ParamsMismatch`] for a
    /// ciphertext of another set; [`Error::Limit`].
    pub fn rescale(&self, x: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(x)?;
        x.two_parts()?;
        let down = self.context.rlwe().rescale(x.level)?;
        Self::checked(BgvCiphertext {
            parts: x.parts.iter().map(|p| down.apply(p.clone())).collect(),
            level: x.level - 1,
            factor: self.factor_after_rescale(x.factor, x.level),
            noise: self.context.noise().rescaled(x.noise, self.context.level_divisor(x.level)),
            ..*x
        })
    }

    /// f / q_level, where q_level is the product of the primes of a level of the chain.
    pub(crate) fn factor_after_rescale(&self, factor: Factor, level: usize) -> Factor {
        factor.div(self.context.level_factor(level))
    }

    /// The same slots with another factor, one level down; `x` itself where it has that factor.
    ///
    /// Ciphertexts are added at equal factors. A product, and every rescaling, changes them: a fresh ciphertext is added to a
    /// product once it has the product's factor.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0; [`Error::PlaintextMismatch`] for a factor modulo another P; [`Error::InvalidArgument`]
    /// if `x` was not relinearised; [`Error::ParamsMismatch`] for a ciphertext of another set; [`Error::Limit`].
    pub fn at_factor(&self, x: &BgvCiphertext<W>, factor: Factor) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(x)?;
        x.check_ring(factor.ring())?;
        if x.factor == factor {
            return Ok(x.clone());
        }
        x.two_parts()?;
        self.context.rlwe().rescale(x.level)?;
        let before = factor.mul(self.context.level_factor(x.level));
        let mut sum = self.zero_like(x, x.level, before);
        self.add_multiples_to(&mut sum, &[(x, 1)])?;
        self.rescale(&Self::checked(sum)?)
    }

    /// Both operands with one factor, as a sum takes them: where they differ, the one at the higher level, or `x`, is brought to the
    /// factor of the other, one level down.
    ///
    /// # Errors
    /// As [`Self::at_factor`].
    pub fn at_one_factor(
        &self,
        x: &BgvCiphertext<W>,
        y: &BgvCiphertext<W>,
    ) -> Result<(BgvCiphertext<W>, BgvCiphertext<W>), Error> {
        if x.level >= y.level {
            Ok((self.at_factor(x, y.factor)?, y.clone()))
        } else {
            Ok((x.clone(), self.at_factor(y, x.factor)?))
        }
    }

    /// Forgets primes: the same message at a lower level, with the same noise.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if `level` is above the ciphertext's; [`Error::ParamsMismatch`] for a ciphertext of another set;
    /// [`Error::Limit`].
    pub fn drop_to_level(&self, x: &BgvCiphertext<W>, level: usize) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(x)?;
        components::check_lower(x.level, level)?;
        if level == x.level {
            return Ok(x.clone());
        }
        let basis = self.context.rlwe().q(level);
        Self::checked(BgvCiphertext { parts: components::truncated(&x.parts, basis), level, ..*x })
    }

    /// x after a linear map and the division by the primes of its level: `pair` is modulo Q_(level-1).
    pub(crate) fn mapped(
        &self,
        x: &BgvCiphertext<W>,
        pair: Pair<W>,
        gain: &LinearGain,
    ) -> Result<BgvCiphertext<W>, Error> {
        let divisor = self.context.level_divisor(x.level);
        let noise = self.context.noise().linear(x.noise, gain, x.level, divisor);
        Self::checked(x.with_pair(pair, x.level - 1, self.factor_after_rescale(x.factor, x.level), noise))
    }

    /// Both rows rotated to the left by `steps` slots. The keys do not say whose they are: with another owner's the result is other integers,
    /// without an error.
    ///
    /// # Errors
    /// As [`Self::automorphism`].
    pub fn rotate(
        &self,
        x: &BgvCiphertext<W>,
        steps: i64,
        keys: &dyn GaloisSource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check_rows()?;
        if steps.rem_euclid(self.context.slots() as i64 / 2) == 0 {
            self.check_set(x)?;
            return Ok(x.clone());
        }
        let element = self.context.rlwe().ring().rotation(steps);
        self.automorphism(x, element, keys)
    }

    /// Swaps the two rows.
    ///
    /// # Errors
    /// As [`Self::automorphism`].
    pub fn swap_rows(
        &self,
        x: &BgvCiphertext<W>,
        keys: &dyn GaloisSource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check_rows()?;
        let element = self.context.rlwe().ring().inversion();
        self.automorphism(x, element, keys)
    }

    /// Rotates the slots of a ring of odd index to the left by `steps` along dimension 0 or 1 of their
    /// [`Hypercube`](super::slots::Hypercube). In a ring of three primes, whose first dimension is itself a rectangle, it rotates by
    /// [`Hypercube::places`](super::slots::Hypercube::places) of `steps`. Along a good dimension this is one automorphism. Along another
    /// one, slots that wrap round come from a second automorphism, and masks tell them apart: products with a plaintext, not rescaled.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another ring or dimension; as [`Self::automorphism`] and [`Self::multiply_plain`].
    pub fn rotate_dimension(
        &self,
        x: &BgvCiphertext<W>,
        dimension: usize,
        steps: i64,
        keys: &dyn GaloisSource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        let Some(cube) = self.context.hypercube().filter(|_| dimension < 2) else {
            return Err(Error::InvalidArgument(format!(
                "dimension {dimension} of {} slots in a ring of index {}; only slots of an odd index have dimensions, 0 and 1",
                self.context.slots(),
                self.context.rlwe().ring().index()
            )));
        };
        let length = cube.dimensions()[dimension] as i64;
        let steps = cube.places(dimension, steps);
        let there = cube.rotation(dimension, steps);
        if steps == 0 || cube.is_good(dimension) {
            return if steps == 0 { Ok(x.clone()) } else { self.automorphism(x, there, keys) };
        }
        let encoder = self.context.message_modulus().encoder();
        let mask = |wrapped: bool| {
            let own = |slot: usize| u64::from((slot as i64 % length >= length - steps) == wrapped);
            encoder.coordinates_of(&(0..self.context.slots()).map(own).collect::<Vec<_>>())
        };
        let within = self.automorphism(x, there, keys)?;
        let back = self.automorphism(x, cube.rotation(dimension, steps - length), keys)?;
        self.add(&self.multiply_plain(&within, &mask(false))?, &self.multiply_plain(&back, &mask(true))?)
    }

    /// The `power`-th power of the Frobenius automorphism, x -> x^p modulo p, of every slot of a ring of two axes or of odd index.
    ///
    /// # Errors
    /// As [`Self::automorphism`].
    pub fn frobenius(
        &self,
        x: &BgvCiphertext<W>,
        power: u32,
        keys: &dyn GaloisSource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.automorphism(x, self.context.frobenius_element(power)?, keys)
    }

    /// X -> X^g with its Galois key.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `x` was not relinearised; [`Error::MissingKey`]; [`Error::ParamsMismatch`] and
    /// [`Error::LevelMismatch`] for a key of another set or of a lower level; [`Error::Limit`].
    pub fn automorphism(
        &self,
        x: &BgvCiphertext<W>,
        element: GaloisElement,
        keys: &dyn GaloisSource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.automorphism_counted(x, element, keys, &mut Counters::default())
    }

    /// [`Self::automorphism`], for a run that counts its work.
    pub(crate) fn automorphism_counted(
        &self,
        x: &BgvCiphertext<W>,
        element: GaloisElement,
        keys: &dyn GaloisSource<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(x)?;
        let (rlwe, noise) = (self.context.rlwe(), self.context.noise());
        let pair = x.pair()?;
        let (g, key) = keys.galois_key(element)?;
        rlwe.check_key(&key, x.level)?;
        let pair = rlwe.automorphism(x.level, &pair, g, &key, counters);
        let noise = x.noise + noise.key_switch(x.level) + noise.rounding();
        Self::checked(x.with_pair(pair, x.level, x.factor, noise))
    }

    fn check_rows(&self) -> Result<(), Error> {
        match self.context.hypercube() {
            None => Ok(()),
            Some(cube) => {
                let [rows, columns] = cube.dimensions();
                Err(Error::InvalidArgument(format!(
                    "slots in a rectangle of {rows} by {columns} have no two rows that turn together; rotate one of its dimensions"
                )))
            }
        }
    }

    pub(crate) fn checked(x: BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        Self::check_noise(&x)?;
        Ok(x)
    }

    pub(super) fn check_noise(x: &BgvCiphertext<W>) -> Result<(), Error> {
        BgvShape::of(x).check_room(x.log_q())
    }

    pub(super) fn check_set(&self, x: &BgvCiphertext<W>) -> Result<(), Error> {
        x.identity().check_set(&self.context.fingerprint())
    }
}
