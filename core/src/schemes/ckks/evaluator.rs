//! Homomorphic operations.

use alloc::{format, vec, vec::Vec};

use super::{
    ciphertext::{Ciphertext, Plaintext},
    context::CkksContext,
    scale::Scale,
};
use crate::{
    arith::{Word, complex::Complex},
    error::Error,
    ring::{Automorphism, Eval, Poly, from_integers},
    rlwe::{Pair, SampleBlock},
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
    /// As [`super::Encoder::encode`].
    pub fn encode(&self, slots: &[Complex], level: usize, scale: Scale) -> Result<Plaintext<W>, Error> {
        let coefficients = self.context.encoder().encode(slots, scale)?;
        let poly = from_integers(self.context.rlwe().q(level), &coefficients).into_eval();
        Ok(Plaintext { level, scale, poly })
    }

    /// x + y at the lower of the two levels; equal scales required.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::ScaleMismatch`].
    pub fn add(&self, x: &Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.combine(x, y, Poly::add_assign)
    }

    /// x - y at the lower of the two levels; equal scales required.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::ScaleMismatch`].
    pub fn sub(&self, x: &Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.combine(x, y, Poly::sub_assign)
    }

    fn combine(
        &self,
        x: &Ciphertext<W>,
        y: &Ciphertext<W>,
        op: impl Fn(&mut Poly<W, Eval>, &Poly<W, Eval>),
    ) -> Result<Ciphertext<W>, Error> {
        x.check_same_key(y)?;
        x.check_same_scale(y.scale)?;
        let level = x.level.min(y.level);
        let (mut out, y) = (self.drop_to_level(x, level)?, self.drop_to_level(y, level)?);
        while out.parts.len() < y.parts.len() {
            out.parts.push(Poly::zero(self.context.rlwe().q(level)));
        }
        for (o, p) in out.parts.iter_mut().zip(&y.parts) {
            op(o, p);
        }
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
    /// [`Error::ScaleMismatch`], [`Error::LevelMismatch`].
    pub fn add_plain(&self, x: &Ciphertext<W>, y: &Plaintext<W>) -> Result<Ciphertext<W>, Error> {
        x.check_same_scale(y.scale)?;
        let mut out = x.clone();
        out.parts[0].add_assign(&self.plain_at(y, x.level)?);
        Ok(out)
    }

    /// x · plaintext, unrescaled: the scales multiply.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if the plaintext is at a lower level.
    pub fn mul_plain(&self, x: &Ciphertext<W>, y: &Plaintext<W>) -> Result<Ciphertext<W>, Error> {
        let factor = self.plain_at(y, x.level)?;
        let mut out = x.clone();
        out.parts.iter_mut().for_each(|p| p.mul_assign(&factor));
        out.scale = x.scale.mul(y.scale);
        Ok(out)
    }

    fn plain_at(&self, y: &Plaintext<W>, level: usize) -> Result<Poly<W, Eval>, Error> {
        if y.level < level {
            return Err(Error::LevelMismatch(format!(
                "plaintext at level {}, ciphertext at level {level}; encode the plaintext at {level} or above",
                y.level
            )));
        }
        Ok(y.poly.truncated_to(self.context.rlwe().q(level)))
    }

    /// The product of two ciphertexts: three components, scales multiply, levels meet at the lower.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`]; [`Error::InvalidArgument`] if an operand was not relinearised.
    pub fn multiply(&self, x: &Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        x.check_same_key(y)?;
        let level = x.level.min(y.level);
        let (left, right) = (self.drop_to_level(x, level)?.pair()?, self.drop_to_level(y, level)?.pair()?);
        let [d0, d1, d2] = tensor(&left, &right);
        let mut out = x.with_pair(Pair { b: d0, a: d1 }, level, x.scale.mul(y.scale));
        out.parts.push(d2);
        Ok(out)
    }

    /// Three components to two, at the same scale.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there are three components.
    pub fn relinearize(&self, x: &Ciphertext<W>, key: &SampleBlock<W>) -> Result<Ciphertext<W>, Error> {
        let pair = self.relinearized_times_special(x, key, &mut Counters::default())?;
        let pair = self.context.rlwe().divide_by_special(x.level, pair, &mut Counters::default());
        Ok(x.with_pair(pair, x.level, x.scale))
    }

    /// x · y relinearised and rescaled with one division by P q_l: one rounding instead of two.
    ///
    /// # Errors
    /// As [`Self::multiply`]; [`Error::LevelMismatch`] at level 0.
    pub fn multiply_rescale(
        &self,
        x: &Ciphertext<W>,
        y: &Ciphertext<W>,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let product = self.multiply(x, y)?;
        let level = product.level;
        let rlwe = self.context.rlwe();
        let down = rlwe.mod_down_rescale(level)?;
        let pair = self.relinearized_times_special(&product, key, counters)?;
        counters.ntt += 2 * down.ntts();
        let (b, a) = crate::par::join(|| down.apply(pair.b), || down.apply(pair.a));
        Ok(product.with_pair(Pair { b, a }, level - 1, self.scale_after_rescale(product.scale, level)))
    }

    /// P times the relinearised ciphertext, modulo Q_l P.
    fn relinearized_times_special(
        &self,
        x: &Ciphertext<W>,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        let [d0, d1, d2] = x.parts.as_slice() else {
            return Err(Error::InvalidArgument(format!(
                "relinearisation takes three components, got {}",
                x.parts.len()
            )));
        };
        let rlwe = self.context.rlwe();
        let digits = rlwe.decompose(x.level, d2, counters);
        let mut out = Pair::zero(rlwe.qp(x.level));
        rlwe.key_product(&[&digits], key, &mut out, false, counters);
        rlwe.add_special_multiple(&mut out.b, d0);
        rlwe.add_special_multiple(&mut out.a, d1);
        Ok(out)
    }

    /// Divides by the primes of the level: scale and level go down together.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0.
    pub fn rescale(&self, x: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        let down = self.context.rlwe().rescale(x.level)?;
        Ok(Ciphertext {
            parts: x.parts.iter().map(|p| down.apply(p.clone())).collect(),
            level: x.level - 1,
            scale: self.scale_after_rescale(x.scale, x.level),
            ..*x
        })
    }

    /// scale / q_level.
    pub fn scale_after_rescale(&self, scale: Scale, level: usize) -> Scale {
        let primes = self.context.rlwe().spec().levels[level].iter().copied();
        scale.div(Scale::product(primes))
    }

    /// Forgets primes: the same message at a lower level and the same scale.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if `level` is above the ciphertext's.
    pub fn drop_to_level(&self, x: &Ciphertext<W>, level: usize) -> Result<Ciphertext<W>, Error> {
        if level > x.level {
            return Err(Error::LevelMismatch(format!(
                "cannot raise a ciphertext from level {} to {level}; bootstrap it",
                x.level
            )));
        }
        if level == x.level {
            return Ok(x.clone());
        }
        let basis = self.context.rlwe().q(level);
        Ok(Ciphertext { parts: x.parts.iter().map(|p| p.truncated_to(basis)).collect(), level, ..*x })
    }

    /// Applies X -> X^g (a rotation or the conjugation of the slots) with its Galois key.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `x` was not relinearised.
    pub fn automorphism(
        &self,
        x: &Ciphertext<W>,
        g: &Automorphism,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let pair = self.context.rlwe().automorphism(x.level, &x.pair()?, g, key, counters);
        Ok(x.with_pair(pair, x.level, x.scale))
    }
}

/// (b b', b a' + a b', a a').
pub(crate) fn tensor<W: Word>(x: &Pair<W>, y: &Pair<W>) -> [Poly<W, Eval>; 3] {
    let basis = x.b.basis();
    let kernels = basis.kernels();
    let mut middle = Poly::zero(basis);
    for i in 0..basis.len() {
        let lhs: Vec<&[W]> = vec![x.b.row(i), x.a.row(i)];
        let rhs: Vec<&[W]> = vec![y.a.row(i), y.b.row(i)];
        kernels.inner_product(basis.modulus(i), middle.row_mut(i), &lhs, &rhs, false);
    }
    [x.b.mul(&y.b), middle, x.a.mul(&y.a)]
}
