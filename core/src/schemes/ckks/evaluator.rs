//! Homomorphic operations.

use alloc::format;

use super::{
    ciphertext::{Ciphertext, Plaintext},
    context::CkksContext,
    encrypt::encode_below,
    scale::Scale,
};
use crate::{
    arith::{Word, complex::Complex},
    error::Error,
    ring::{Automorphism, Eval, Poly, from_wide_integers},
    rlwe::{GaloisSource, Pair, SampleBlock, tensor},
    schemes::components,
    trace::Counters,
};

/// Operations on ciphertexts of one parameter set. Every operation checks that its operands belong
/// together and says how to repair what does not.
pub struct CkksEvaluator<W: Word> {
    context: CkksContext<W>,
}

impl<W: Word> CkksEvaluator<W> {
    /// An evaluator of `context`.
    pub fn new(context: &CkksContext<W>) -> Self {
        Self { context: context.clone() }
    }

    /// The parameter set.
    pub fn context(&self) -> &CkksContext<W> {
        &self.context
    }

    /// Encodes slots for use at a level.
    ///
    /// # Errors
    /// As [`super::Encoder::encode_wide`]; [`Error::InvalidArgument`] for coefficients that the modulus of the level does not
    /// hold; [`Error::LevelMismatch`] for a level the chain does not have.
    pub fn encode(&self, slots: &[Complex], level: usize, scale: Scale) -> Result<Plaintext<W>, Error> {
        self.context.rlwe().check_level(level)?;
        let coefficients = encode_below(&self.context, slots, level, scale)?;
        let poly = from_wide_integers(self.context.rlwe().q(level), &coefficients).into_eval();
        Ok(Plaintext { level, scale, poly })
    }

    /// x + y at the lower of the two levels; equal scales required.
    ///
    /// A product, once rescaled, has a scale slightly different from that of its factors, because no prime is a power of two. To add a
    /// factor to the product, first bring the factor to the product's scale, one level down:
    /// [`multiply_constant_rescale`](Self::multiply_constant_rescale)`(x, 1.0.into(), product.scale())`.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::ScaleMismatch`].
    pub fn add(&self, x: &Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.combine(x.clone(), y, Poly::add_assign)
    }

    /// x - y at the lower of the two levels; equal scales required.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::ScaleMismatch`].
    pub fn sub(&self, x: &Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.combine(x.clone(), y, Poly::sub_assign)
    }

    /// [`Self::add`] in the memory of x.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn add_to(&self, x: Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.combine(x, y, Poly::add_assign)
    }

    fn combine(
        &self,
        mut out: Ciphertext<W>,
        y: &Ciphertext<W>,
        op: impl Fn(&mut Poly<W, Eval>, &Poly<W, Eval>),
    ) -> Result<Ciphertext<W>, Error> {
        self.check_set(&out)?;
        out.check_same_key(y)?;
        out.check_same_scale(y.scale)?;
        let level = out.level.min(y.level);
        if level < out.level {
            out = self.drop_to_level(&out, level)?;
        }
        components::combine(&mut out.parts, &y.parts, self.context.rlwe().q(level), op);
        Ok(out)
    }

    /// -x.
    pub fn negate(&self, x: &Ciphertext<W>) -> Ciphertext<W> {
        let mut out = x.clone();
        out.parts.iter_mut().for_each(Poly::neg_assign);
        out
    }

    /// x + plaintext; equal scales required, the plaintext at the same level or above.
    ///
    /// # Errors
    /// [`Error::ScaleMismatch`]; [`Error::LevelMismatch`] if the plaintext is at a lower level;
    /// [`Error::ParamsMismatch`] if either belongs to another set.
    pub fn add_plain(&self, x: &Ciphertext<W>, y: &Plaintext<W>) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        x.check_same_scale(y.scale)?;
        let mut out = x.clone();
        out.parts[0].add_assign(&self.plain_at(y, x.level)?);
        Ok(out)
    }

    /// x · plaintext, unrescaled: the scales multiply.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if the plaintext is at a lower level; [`Error::ParamsMismatch`] if either
    /// belongs to another set.
    pub fn multiply_plain(&self, x: &Ciphertext<W>, y: &Plaintext<W>) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        let factor = self.plain_at(y, x.level)?;
        let mut out = x.clone();
        out.parts.iter_mut().for_each(|p| p.mul_assign(&factor));
        out.scale = x.scale.mul(y.scale);
        Ok(out)
    }

    fn plain_at(&self, y: &Plaintext<W>, level: usize) -> Result<Poly<W, Eval>, Error> {
        let (rlwe, own) = (self.context.rlwe(), y.poly.basis());
        if y.level > rlwe.max_level() || !own.same_as(rlwe.q(y.level)) {
            return Err(Error::ParamsMismatch(format!(
                "plaintext of degree {} with {} primes at level {}, parameter set of degree {} with levels 0 to {}; \
                 encode the plaintext with this set",
                own.n(),
                own.len(),
                y.level,
                rlwe.n(),
                rlwe.max_level(),
            )));
        }
        if y.level < level {
            return Err(Error::LevelMismatch(format!(
                "plaintext at level {}, ciphertext at level {level}; encode the plaintext at {level} or above",
                y.level
            )));
        }
        Ok(y.poly.truncated_to(self.context.rlwe().q(level)))
    }

    /// The product of two ciphertexts in three components, at the lower of the two levels; the scales multiply.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`]; [`Error::InvalidArgument`] if an operand was not relinearised.
    pub fn tensor(&self, x: &Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        x.check_same_key(y)?;
        let level = x.level.min(y.level);
        let parts = tensor(self.context.rlwe().q(level), x.two_parts()?, y.two_parts()?, None);
        Ok(Ciphertext { parts: parts.into(), level, scale: x.scale.mul(y.scale), ..*x })
    }

    /// Takes three components to two, at the same scale.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there are three components; [`Error::ParamsMismatch`] and
    /// [`Error::LevelMismatch`] for a key of another set or of a lower level.
    pub fn relinearize(&self, x: &Ciphertext<W>, key: &SampleBlock<W>) -> Result<Ciphertext<W>, Error> {
        let pair = self.relinearized_times_special(x, key, &mut Counters::default())?;
        let pair = self.context.rlwe().divide_by_special(x.level, pair, &mut Counters::default());
        Ok(x.with_pair(pair, x.level, x.scale))
    }

    /// x · y, relinearised and rescaled: one level down, with one rounding instead of two. Nothing is left to rescale afterwards. The key does
    /// not say whose it is: with another owner's the result is noise, without an error.
    ///
    /// # Errors
    /// As [`Self::tensor`] and [`Self::relinearize_rescale`].
    pub fn multiply(
        &self,
        x: &Ciphertext<W>,
        y: &Ciphertext<W>,
        key: &SampleBlock<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.relinearize_rescale(&self.tensor(x, y)?, key)
    }

    /// [`Self::relinearize`] and [`Self::rescale`] with one division by P q_l.
    ///
    /// # Errors
    /// As [`Self::relinearize`]; [`Error::LevelMismatch`] at level 0.
    pub fn relinearize_rescale(
        &self,
        x: &Ciphertext<W>,
        key: &SampleBlock<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.relinearize_rescale_counted(x, key, &mut Counters::default())
    }

    /// [`Self::relinearize_rescale`], for a run that counts its work.
    pub(crate) fn relinearize_rescale_counted(
        &self,
        x: &Ciphertext<W>,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let (level, rlwe) = (x.level, self.context.rlwe());
        rlwe.mod_down_rescale(level)?;
        let pair = self.relinearized_times_special(x, key, counters)?;
        let pair = rlwe.divide_by_special_and_rescale(level, pair, counters)?;
        Ok(x.with_pair(pair, level - 1, self.scale_after_rescale(x.scale, level)))
    }

    /// P times the relinearised ciphertext, modulo Q_l P.
    fn relinearized_times_special(
        &self,
        x: &Ciphertext<W>,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        let product = components::three(&x.parts)?;
        self.check_set(x)?;
        self.context.rlwe().relinearize(x.level, product, key, counters)
    }

    /// Divides by the primes of the level: scale and level go down together.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0; [`Error::ParamsMismatch`] for a ciphertext of another set; [`Error::ScaleMismatch`] if the scale
    /// would be below 2, so that rounding destroys the message.
    pub fn rescale(&self, x: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        self.context.rlwe().rescale(x.level)?;
        let left = self.scale_after_rescale(x.scale, x.level);
        if left.log2() < 1.0 {
            return Err(Error::ScaleMismatch(format!(
                "a ciphertext at scale 2^{:.1} would be left with 2^{:.1}, below its rounding; rescale what `tensor` and `multiply_plain` \
                 return, as `multiply` has rescaled already",
                x.scale.log2(),
                left.log2()
            )));
        }
        self.rescale_labelled(x, left)
    }

    /// [`Self::rescale`] for a caller that knows the scale of the result, whatever the label of `x` says.
    pub(crate) fn rescale_labelled(&self, x: &Ciphertext<W>, scale: Scale) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        let down = self.context.rlwe().rescale(x.level)?;
        let parts = x.parts.iter().map(|p| down.apply(p.clone())).collect();
        Ok(Ciphertext { parts, level: x.level - 1, scale, ..*x })
    }

    /// scale / q_level, where q_level is the product of the primes of a level of the chain.
    ///
    /// # Panics
    /// For a level that the chain does not have.
    pub fn scale_after_rescale(&self, scale: Scale, level: usize) -> Scale {
        let primes = self.context.rlwe().spec().levels[level].iter().copied();
        scale.div(Scale::product(primes))
    }

    /// Forgets primes: the same message at a lower level and the same scale.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if `level` is above the ciphertext's; [`Error::ParamsMismatch`] for a
    /// ciphertext of another set.
    pub fn drop_to_level(&self, x: &Ciphertext<W>, level: usize) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        components::check_lower(x.level, level)?;
        if level == x.level {
            return Ok(x.clone());
        }
        let basis = self.context.rlwe().q(level);
        Ok(Ciphertext { parts: components::truncated(&x.parts, basis), level, ..*x })
    }

    /// Applies X -> X^g (a rotation or the conjugation of the slots) with its Galois key.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `x` was not relinearised or `g` is of another degree;
    /// [`Error::ParamsMismatch`] and [`Error::LevelMismatch`] for a key of another set or of a lower level. A key of another
    /// element cannot be told from the right one, and gives noise.
    pub fn automorphism(
        &self,
        x: &Ciphertext<W>,
        g: &Automorphism,
        key: &SampleBlock<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.automorphism_counted(x, g, key, &mut Counters::default())
    }

    /// [`Self::automorphism`], for a run that counts its work.
    pub(crate) fn automorphism_counted(
        &self,
        x: &Ciphertext<W>,
        g: &Automorphism,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        let pair = x.pair()?;
        let (degree, own) = (self.context.rlwe().n(), g.permutation().len());
        if own != degree {
            return Err(Error::InvalidArgument(format!(
                "automorphism of a ring of degree {own}, parameter set of degree {degree}; make it for {degree}"
            )));
        }
        self.context.rlwe().check_key(key, x.level)?;
        let pair = self.context.rlwe().automorphism(x.level, &pair, g, key, counters);
        Ok(x.with_pair(pair, x.level, x.scale))
    }

    /// The slots rotated to the left by `steps`. The keys do not say whose they are: with another owner's the result is noise, without an
    /// error.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming the rotation; as [`Self::automorphism`].
    pub fn rotate(
        &self,
        x: &Ciphertext<W>,
        steps: i64,
        keys: &dyn GaloisSource<W>,
    ) -> Result<Ciphertext<W>, Error> {
        if steps.rem_euclid(self.context.slots() as i64) == 0 {
            self.check_set(x)?;
            return Ok(x.clone());
        }
        let (g, key) = keys.rotation_key(steps)?;
        self.automorphism(x, g, &key)
    }

    /// The complex conjugates of the slots.
    ///
    /// # Errors
    /// [`Error::MissingKey`]; as [`Self::automorphism`].
    pub fn conjugate(&self, x: &Ciphertext<W>, keys: &dyn GaloisSource<W>) -> Result<Ciphertext<W>, Error> {
        let (g, key) = keys.conjugation_key()?;
        self.automorphism(x, g, &key)
    }

    pub(super) fn check_set(&self, x: &Ciphertext<W>) -> Result<(), Error> {
        x.identity().check_set(&self.context.fingerprint())
    }
}
