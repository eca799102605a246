//! Operations with plaintexts and constants, and on the modulus of plaintexts.

use alloc::vec::Vec;

use super::{ciphertext::BgvCiphertext, evaluator::BgvEvaluator, factor::Factor};
use crate::{
    arith::{Shoup, Word},
    error::Error,
    ring::{Basis, Eval, Poly, from_integers},
    schemes::{components, evaluator::Label},
};

impl<W: Word> BgvEvaluator<W> {
    /// x + y, slot by slot; missing slots of y are 0.
    ///
    /// # Errors
    /// As [`super::BgvEncoder::encode`]; [`Error::ParamsMismatch`] for a ciphertext of another set; [`Error::Limit`].
    pub fn add_plain(&self, x: &BgvCiphertext<W>, y: &[u64]) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(x)?;
        let ring = x.ring();
        let modulus = self.context().modulus(ring.exponent())?;
        let basis = self.context().rlwe().q(x.level);
        let f = ring.shoup(x.factor.value());
        let times = |c: i64| ring.centered(ring.modulus().mul_shoup(ring.reduce_signed(c), &f));
        let coefficients: Vec<i64> = modulus.encoder().encode(y)?.into_iter().map(times).collect();
        let mut plain = from_integers(basis, &coefficients);
        plain.mul_scalars_assign(&modulus.inverses(basis.len()));
        let mut out = x.clone();
        out.parts[0].add_assign(&plain.into_eval());
        let over_p = coefficients.iter().map(|&c| c as f64 / ring.value() as f64);
        out.noise += self.context().noise().of_polynomial(over_p);
        Self::checked(out)
    }

    /// x y, slot by slot, not rescaled; missing slots of y are 0.
    ///
    /// # Errors
    /// As [`Self::add_plain`].
    pub fn multiply_plain(&self, x: &BgvCiphertext<W>, y: &[u64]) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(x)?;
        let modulus = self.context().modulus(x.ring().exponent())?;
        let coefficients = modulus.encoder().encode(y)?;
        let plain = from_integers(self.context().rlwe().q(x.level), &coefficients).into_eval();
        let mut out = x.clone();
        out.parts.iter_mut().for_each(|part| part.mul_assign(&plain));
        out.noise *= self.context().noise().of_polynomial(coefficients.iter().map(|&c| c as f64));
        Self::checked(out)
    }

    /// x + c in every slot.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set; [`Error::Limit`].
    pub fn add_constant(&self, x: &BgvCiphertext<W>, c: i64) -> Result<BgvCiphertext<W>, Error> {
        let mut out = x.clone();
        self.add_constant_to(&mut out, c)?;
        Self::checked(out)
    }

    /// x += c in every slot, for any number of components.
    pub(super) fn add_constant_to(&self, x: &mut BgvCiphertext<W>, c: i64) -> Result<(), Error> {
        self.check_set(x)?;
        let ring = x.ring();
        let modulus = self.context().modulus(ring.exponent())?;
        let basis = self.context().rlwe().q(x.level);
        let own = ring.centered(ring.mul(ring.reduce_signed(c), x.factor.value()));
        let inverses = modulus.inverses(basis.len());
        x.parts[0].for_each_row_mut(|i, row| {
            let m = basis.modulus(i);
            let shift = m.mul_shoup(m.reduce_i64(own), &inverses[i]);
            // A row may be padded with zeros.
            for x in &mut row[..basis.degree()] {
                *x = m.add(*x, shift);
            }
        });
        x.noise += own.unsigned_abs() as f64 / ring.value() as f64;
        Ok(())
    }

    /// k x, by the representative of k nearest to 0, whose absolute value multiplies the noise. [`Self::multiply_unit`] costs nothing if k
    /// is a unit.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set; [`Error::Limit`].
    pub fn multiply_integer(&self, x: &BgvCiphertext<W>, k: i64) -> Result<BgvCiphertext<W>, Error> {
        let mut out = x.clone();
        self.multiply_integer_to(&mut out, k)?;
        Self::checked(out)
    }

    pub(super) fn multiply_integer_to(&self, x: &mut BgvCiphertext<W>, k: i64) -> Result<(), Error> {
        self.check_set(x)?;
        let k = x.ring().centered(x.ring().reduce_signed(k));
        x.parts.iter_mut().for_each(|part| part.mul_integer_assign(k));
        x.noise *= k.unsigned_abs() as f64;
        Ok(())
    }

    /// u x for a unit u modulo p, by the factor alone: no word changes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a multiple of p; [`Error::ParamsMismatch`] for a ciphertext of another set.
    pub fn multiply_unit(&self, x: &BgvCiphertext<W>, u: u64) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(x)?;
        let factor = x.factor.div(Factor::new(u, x.ring())?);
        Ok(x.clone().relabelled(factor))
    }

    /// p^t x modulo p^(k+t), for a plaintext x modulo p^k, by the modulus of plaintexts alone.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] beyond the largest power of the set; [`Error::ParamsMismatch`] for a ciphertext of another set.
    pub fn multiply_by_prime(&self, x: &BgvCiphertext<W>, t: u32) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(x)?;
        let modulus = self.context().modulus(x.ring().exponent().saturating_add(t))?;
        let out = x.clone().relabelled(x.factor.modulo(modulus.ring().exponent())?);
        Self::checked(out)
    }

    /// x / p^t modulo p^(k-t), for a plaintext x modulo p^k whose slots are all multiples of p^t, by the modulus of plaintexts alone.
    /// Nobody without the key can tell whether they are: of other plaintexts nothing is left but noise.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless t < k; [`Error::ParamsMismatch`] for a ciphertext of another set.
    pub fn divide_by_prime(&self, x: &BgvCiphertext<W>, t: u32) -> Result<BgvCiphertext<W>, Error> {
        self.check_set(x)?;
        let modulus = self.context().modulus(x.ring().exponent().saturating_sub(t))?;
        Ok(x.clone().relabelled(x.factor.modulo(modulus.ring().exponent())?))
    }

    /// sum += the sum of all c x, for x with any factors, at the level of the sum or above: words are multiplied by the representative
    /// nearest to 0 of c times the quotient of the factors.
    pub(super) fn add_multiples_to(
        &self,
        sum: &mut BgvCiphertext<W>,
        terms: &[(&BgvCiphertext<W>, i64)],
    ) -> Result<(), Error> {
        self.check_set(sum)?;
        let (ring, factor) = (sum.ring(), sum.factor);
        let mut own = Vec::with_capacity(terms.len());
        for &(x, c) in terms {
            sum.check_same_key(x)?;
            own.push((x, factor.div(x.factor).times(ring, c)));
        }
        self.add_words_to(sum, &own)
    }

    /// sum += the sum of all c x by their words, as if every x had the factor of the sum, and plaintexts modulo the same power; the x are
    /// at the level of the sum or above.
    pub(crate) fn add_words_to(
        &self,
        sum: &mut BgvCiphertext<W>,
        terms: &[(&BgvCiphertext<W>, i64)],
    ) -> Result<(), Error> {
        self.check_set(sum)?;
        let basis = self.context().rlwe().q(sum.level);
        let mut scaled = Vec::with_capacity(terms.len());
        for &(x, c) in terms {
            sum.check_same_secret(x)?;
            components::check_summand(x.level, sum.level)?;
            while sum.parts.len() < x.parts.len() {
                sum.parts.push(Poly::zero(basis));
            }
            sum.noise += c.unsigned_abs() as f64 * x.noise;
            scaled.push((x, scalars(basis, c)));
        }
        for (component, sum) in sum.parts.iter_mut().enumerate() {
            let own =
                scaled.iter().filter_map(|(x, scalars)| Some((x.parts.get(component)?, scalars.as_slice())));
            multiply_add(sum, &own.collect::<Vec<_>>());
        }
        Ok(())
    }

    /// Zero without randomness, to sum up in: it hides nothing.
    pub(super) fn zero_like(
        &self,
        like: &BgvCiphertext<W>,
        level: usize,
        factor: Factor,
    ) -> BgvCiphertext<W> {
        let zero = Poly::zero(self.context().rlwe().q(level));
        BgvCiphertext { parts: alloc::vec![zero.clone(), zero], level, factor, noise: 0.0, ..*like }
    }
}

fn scalars<W: Word>(basis: &Basis<W>, c: i64) -> Vec<Shoup<W>> {
    let residue = |i| {
        let m = basis.modulus(i);
        m.shoup(m.reduce_i64(c))
    };
    (0..basis.len()).map(residue).collect()
}

/// A polynomial, and the scalar of each prime that it is multiplied by.
type Term<'a, W> = (&'a Poly<W, Eval>, &'a [Shoup<W>]);

/// sum += every x times its scalars; the x may have more rows.
fn multiply_add<W: Word>(sum: &mut Poly<W, Eval>, terms: &[Term<'_, W>]) {
    let (basis, kernels) = (sum.basis().clone(), sum.basis().kernels());
    sum.for_each_row_mut(|i, row| {
        let rows: Vec<&[W]> = terms.iter().map(|(x, _)| x.row(i)).collect();
        let scalars: Vec<Shoup<W>> = terms.iter().map(|(_, scalars)| scalars[i]).collect();
        kernels.add_multiples(basis.modulus(i), row, &rows, &scalars);
    });
}
