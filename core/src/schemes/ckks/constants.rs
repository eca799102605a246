//! Operations with constants: the same number in every slot, which costs one scalar per row.
//!
//! The polynomial X^(N/2) is i in every slot, and in the evaluation domain it is a square root of -1 on the first
//! half of a row and the negative on the second: complex constants cost no more than real ones.

use alloc::{format, vec::Vec};

use super::{ciphertext::Ciphertext, evaluator::CkksEvaluator, scale::Scale};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, Modulus, Shoup, Word},
    error::Error,
    ring::{Basis, Eval, Poly},
    schemes::components,
    trace::Counters,
};

impl<W: Word> CkksEvaluator<W> {
    /// x + c in every slot; c is rounded to a multiple of 1/scale.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set; [`Error::InvalidArgument`] if c is not finite, or c times the scale is
    /// beyond half the modulus of the level.
    pub fn add_constant(&self, x: &Ciphertext<W>, c: ComplexDoubleDouble) -> Result<Ciphertext<W>, Error> {
        let mut out = x.clone();
        self.add_constant_assign(&mut out, c)?;
        Ok(out)
    }

    /// x += c in every slot, for ciphertexts of any number of components.
    ///
    /// # Errors
    /// As [`Self::add_constant`].
    pub fn add_constant_assign(&self, x: &mut Ciphertext<W>, c: ComplexDoubleDouble) -> Result<(), Error> {
        self.check_set(x)?;
        let basis = self.context().rlwe().q(x.level);
        let factors = Factors::new(basis, c, x.scale.to_real())?;
        x.parts[0].for_each_row_mut(|i, row| {
            let (m, (low, high)) = (basis.modulus(i), row.split_at_mut(basis.n() / 2));
            for (half, factor) in [low, high].into_iter().zip(&factors.0[i]) {
                for x in half.iter_mut() {
                    *x = m.add(*x, factor.value);
                }
            }
        });
        Ok(())
    }

    /// c x: c is rounded to a multiple of 1/scale, and the scales multiply.
    ///
    /// Rescaling usually follows. A positive real factor takes neither product nor rescaling: see [`Ciphertext::relabelled`].
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set; [`Error::InvalidArgument`] if c is not finite, `scale` is not a
    /// positive number, or c times `scale` is beyond half the modulus of the level.
    pub fn multiply_constant(
        &self,
        x: &Ciphertext<W>,
        c: ComplexDoubleDouble,
        scale: Scale,
    ) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        scale.checked()?;
        let mut out = x.clone();
        self.times(&mut out, c, scale.to_real())?;
        Ok(out.relabelled(x.scale.mul(scale)))
    }

    /// c x at the scale `target`, one level down, for x at any scale. c is rounded to a multiple of the scale of x over the product of
    /// `target` and the primes of the level.
    ///
    /// # Errors
    /// As [`Self::multiply_constant`] and [`Self::rescale`].
    pub fn multiply_constant_rescale(
        &self,
        x: &Ciphertext<W>,
        c: ComplexDoubleDouble,
        target: Scale,
    ) -> Result<Ciphertext<W>, Error> {
        self.multiply_constant_rescale_counted(x, c, target, &mut Counters::default())
    }

    /// [`Self::multiply_constant_rescale`], for a run that counts its work.
    pub(crate) fn multiply_constant_rescale_counted(
        &self,
        x: &Ciphertext<W>,
        c: ComplexDoubleDouble,
        target: Scale,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        target.checked()?;
        let rlwe = self.context().rlwe();
        counters.ntt += 2 * rlwe.rescale(x.level)?.ntts();
        let primes = Scale::product(rlwe.spec().levels[x.level].iter().copied());
        let product = self.multiply_constant(x, c, target.mul(primes).div(x.scale))?;
        self.rescale_labelled(&product, target)
    }

    /// k x, at the same scale.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set; [`Error::InvalidArgument`] for an integer beyond half the modulus of
    /// the level.
    pub fn multiply_integer(&self, x: &Ciphertext<W>, k: i64) -> Result<Ciphertext<W>, Error> {
        let mut out = x.clone();
        self.multiply_integer_assign(&mut out, k)?;
        Ok(out)
    }

    /// x *= k, at the same scale.
    ///
    /// # Errors
    /// As [`Self::multiply_integer`].
    pub fn multiply_integer_assign(&self, x: &mut Ciphertext<W>, k: i64) -> Result<(), Error> {
        self.check_set(x)?;
        self.times(x, DoubleDouble::from_i64(k).into(), DoubleDouble::ONE)
    }

    /// i x, at the same scale: the same as multiplying by X^(N/2).
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set.
    pub fn multiply_by_i(&self, x: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        let mut out = x.clone();
        let i = ComplexDoubleDouble::new(DoubleDouble::ZERO, DoubleDouble::ONE);
        self.times(&mut out, i, DoubleDouble::ONE)?;
        Ok(out)
    }

    fn times(&self, x: &mut Ciphertext<W>, c: ComplexDoubleDouble, scale: DoubleDouble) -> Result<(), Error> {
        let factors = Factors::new(self.context().rlwe().q(x.level), c, scale)?;
        x.parts.iter_mut().for_each(|part| factors.multiply(part));
        Ok(())
    }

    /// sum += c x, for x at any scale: the residues of x are multiplied by c · scale(sum) / scale(x), rounded to an integer. So c has an
    /// accuracy of scale(x) / scale(sum), which the caller keeps small.
    ///
    /// x may be at a higher level than the sum, and have more or fewer components.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set or key; [`Error::LevelMismatch`] if x is at a lower level than the sum;
    /// [`Error::InvalidArgument`] if c is not finite, or the integer is beyond half the modulus.
    pub fn add_multiple_assign(
        &self,
        sum: &mut Ciphertext<W>,
        x: &Ciphertext<W>,
        c: ComplexDoubleDouble,
    ) -> Result<(), Error> {
        self.check_set(sum)?;
        sum.check_same_key(x)?;
        components::check_summand(x.level, sum.level)?;
        let basis = self.context().rlwe().q(sum.level);
        let factors = Factors::new(basis, c, sum.scale.div(x.scale).to_real())?;
        while sum.parts.len() < x.parts.len() {
            sum.parts.push(Poly::zero(basis));
        }
        for (sum, x) in sum.parts.iter_mut().zip(&x.parts) {
            factors.multiply_add(sum, x);
        }
        Ok(())
    }

    /// An encryption of zero without randomness, to sum up in: it hides nothing.
    pub(crate) fn empty_sum(&self, like: &Ciphertext<W>, level: usize, scale: Scale) -> Ciphertext<W> {
        let zero = Poly::zero(self.context().rlwe().q(level));
        Ciphertext { parts: alloc::vec![zero.clone(), zero], level, scale, ..*like }
    }
}

/// Bits by which a logarithm may be off.
const ROUNDING: f64 = 1e-9;

/// For every prime, the residues a constant has on the two halves of a row.
struct Factors<W>(Vec<[Shoup<W>; 2]>);

impl<W: Word> Factors<W> {
    /// The integers nearest to the two parts of c · scale.
    fn new(basis: &Basis<W>, c: ComplexDoubleDouble, scale: DoubleDouble) -> Result<Self, Error> {
        let given = c.to_complex();
        if !c.is_finite() || !scale.to_f64().is_finite() {
            return Err(Error::InvalidArgument(format!(
                "a constant of {:e} + {:e} i at scale {:e} is not a finite number; check what it is computed from",
                given.re,
                given.im,
                scale.to_f64()
            )));
        }
        // The product itself overflows if the constant is near the largest double, so logarithms are added.
        let size = libm::log2(given.re.abs().max(given.im.abs())) + libm::log2(scale.to_f64().abs());
        let most = basis.log2() - 1.0;
        if size > most + ROUNDING {
            return Err(Error::InvalidArgument(format!(
                "a constant of 2^{size:.1}, its scale included, is beyond 2^{most:.1}, half the modulus of its level; scale it down, or \
                 use it at a higher level"
            )));
        }
        let c = c.times(scale);
        let (re, im) = (c.re.round(), c.im.round());
        let of_prime = |i| {
            let m = basis.modulus(i);
            let (re, im) = (residue(m, re), residue(m, im));
            let im = if im == W::ZERO { im } else { m.mul(im, basis.row(i).ntt().imaginary_unit()) };
            [m.shoup(m.add(re, im)), m.shoup(m.sub(re, im))]
        };
        Ok(Self((0..basis.len()).map(of_prime).collect()))
    }

    fn multiply(&self, x: &mut Poly<W, Eval>) {
        let (basis, kernels) = (x.basis().clone(), x.basis().kernels());
        x.for_each_row_mut(|i, row| {
            let (low, high) = row.split_at_mut(basis.n() / 2);
            kernels.mul_scalar_assign(basis.modulus(i), low, &self.0[i][0]);
            kernels.mul_scalar_assign(basis.modulus(i), high, &self.0[i][1]);
        });
    }

    /// sum += x times the constant; x may have more rows.
    fn multiply_add(&self, sum: &mut Poly<W, Eval>, x: &Poly<W, Eval>) {
        let (basis, kernels) = (sum.basis().clone(), sum.basis().kernels());
        sum.for_each_row_mut(|i, row| {
            let half = basis.n() / 2;
            let ((low, high), (x_low, x_high)) = (row.split_at_mut(half), x.row(i).split_at(half));
            kernels.add_multiples(basis.modulus(i), low, &[x_low], &self.0[i][..1]);
            kernels.add_multiples(basis.modulus(i), high, &[x_high], &self.0[i][1..]);
        });
    }
}

/// The residue of an integer of any size.
fn residue<W: Word>(m: &Modulus<W>, x: DoubleDouble) -> W {
    let of_double = |x: f64| {
        // x = mantissa 2^exponent with a mantissa of 53 bits, or an integer below 2^53.
        let (fraction, exponent) = libm::frexp(x);
        if exponent <= 53 {
            return m.reduce_i64(x as i64);
        }
        let mantissa = m.reduce_i64((fraction * 9_007_199_254_740_992.0) as i64);
        m.mul(mantissa, m.pow(m.reduce_u64(2), exponent as u64 - 53))
    };
    let (high, low) = x.parts();
    m.add(of_double(high), of_double(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_of_integers_of_any_size() {
        let m = Modulus::<u32>::new(998_244_353).expect("a prime");
        let mut x = DoubleDouble::ONE;
        let mut expected = 1u32;
        for _ in 0..30 {
            // 2^10 - 1 to the power of up to 10 still fits 106 bits.
            assert_eq!(residue(&m, x), expected, "{x:?}");
            assert_eq!(residue(&m, -x), m.neg(expected));
            if x.to_f64() < 1e27 {
                x = x * DoubleDouble::new(1023.0);
                expected = m.mul(expected, 1023);
            } else {
                x = x.scale(1024.0);
                expected = m.mul(expected, 1024);
            }
        }
        assert_eq!(residue(&m, DoubleDouble::ZERO), 0);
    }
}
