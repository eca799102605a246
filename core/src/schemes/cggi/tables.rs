//! Tables that the rotation of a set reads beside its key: built once for a set, and only for the methods that read them.

use alloc::{sync::Arc, vec::Vec};

use super::method::{MAX_MERGED, RotationMethod};
use crate::{
    arith::{Modulus, Word},
    error::Error,
    ring::{Automorphism, GaloisElement},
    rlwe::rgsw::{Monomials, RgswContext, powers_of_root},
};

/// The tables of each method.
pub(crate) enum RotationTables<W: Word> {
    GinxBinary,
    GinxUnrolled(Arc<Monomials<W>>),
    GinxTernary(Arc<Roots<W>>),
    Lmkcdey(Arc<Automorphisms>),
    Ntru(Arc<Automorphisms>),
    Ap,
}

impl<W: Word> RotationTables<W> {
    /// The tables of `method` over a ring.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] as [`Monomials::new`].
    pub fn new(method: RotationMethod, rgsw: &RgswContext<W>) -> Result<Self, Error> {
        Ok(match method {
            RotationMethod::GinxBinary => Self::GinxBinary,
            RotationMethod::GinxUnrolled => Self::GinxUnrolled(Arc::new(Monomials::new(rgsw)?)),
            RotationMethod::GinxTernary => Self::GinxTernary(Arc::new(Roots::new(rgsw))),
            RotationMethod::Lmkcdey { .. } => Self::Lmkcdey(Arc::new(Automorphisms::new(rgsw.n())?)),
            RotationMethod::Ntru { .. } => Self::Ntru(Arc::new(Automorphisms::new(rgsw.n())?)),
            RotationMethod::Ap { .. } => Self::Ap,
        })
    }
}

/// The powers of X in evaluation domain, by the powers of the root of unity psi.
pub(crate) struct Roots<W: Word> {
    modulus: Modulus<W>,
    /// All 2N powers of psi.
    powers: Vec<W>,
    /// Exponent of psi at each place of a row of evaluations.
    places: Vec<u32>,
}

impl<W: Word> Roots<W> {
    fn new(rgsw: &RgswContext<W>) -> Self {
        let (powers, places) = powers_of_root(rgsw);
        Self { modulus: *rgsw.ring().modulus(), powers, places }
    }

    /// X^exponent - 1, exponent at most 2N, evaluation domain.
    pub fn monomial_minus_one(&self, out: &mut [W], exponent: u32) {
        let mask = self.powers.len() as u32 - 1;
        for (out, &place) in out.iter_mut().zip(&self.places) {
            let power = self.powers[(place.wrapping_mul(exponent) & mask) as usize];
            *out = self.modulus.sub(power, W::ONE);
        }
    }
}

/// The automorphisms by which accumulators are turned, as permutations of evaluations: `out[j] = x[permutation[j]]`.
pub(crate) struct Automorphisms {
    fives: Vec<Automorphism>,
    minus_five: Automorphism,
}

impl Automorphisms {
    fn new(n: usize) -> Result<Self, Error> {
        let fives = (0..=MAX_MERGED as i64).map(|k| Automorphism::rotation(n, k)).collect();
        let minus_five = Automorphism::new(n, GaloisElement::new(2 * n as u64 - 5, n)?);
        Ok(Self { fives, minus_five })
    }

    /// X -> X^(5^k), k at most 16.
    pub fn five(&self, k: usize) -> &[u32] {
        self.fives[k].permutation()
    }

    /// X -> X^-5.
    pub fn minus_five(&self) -> &[u32] {
        self.minus_five.permutation()
    }
}
