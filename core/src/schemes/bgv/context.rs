//! A BGV parameter set: chain, plaintexts, noise, identity.

use alloc::{format, sync::Arc, vec::Vec};

use super::{encoder::BgvEncoder, factor::Factor, noise::NoiseModel, slots::Hypercube, spec::PlaintextSpec};
use crate::{
    arith::{Modulus, PrimePower, Shoup, Word},
    error::Error,
    ring::GaloisElement,
    rlwe::{RlweContext, RlweSpec},
    schemes::evaluator::Label,
};

/// Everything an evaluator needs, computed once; cheap to clone.
pub struct BgvContext<W: Word = u64>(Arc<Inner<W>>);

struct Inner<W: Word> {
    rlwe: RlweContext<W>,
    plaintexts: PlaintextSpec,
    fingerprint: [u8; 16],
    /// Tables for p, p^2, ..
    moduli: Vec<PlaintextModulus<W>>,
    noise: NoiseModel,
    /// The product of the primes of each level, as a factor modulo the largest P.
    divisors: Vec<Factor>,
}

/// One power P of p with its tables.
pub struct PlaintextModulus<W: Word> {
    encoder: BgvEncoder,
    /// P and 1/P modulo the primes of Q.
    residues: Vec<[Shoup<W>; 2]>,
}

impl<W: Word> PlaintextModulus<W> {
    fn new(rlwe: &RlweContext<W>, ring: PrimePower) -> Result<Self, Error> {
        let q = rlwe.q(rlwe.max_level());
        let residue = |i: usize| {
            let m: &Modulus<W> = q.modulus(i);
            let residue = m.reduce_u64(ring.value());
            let inverse = m.inv(residue).ok_or_else(|| {
                Error::InvalidArgument(format!(
                    "{} is a prime of the chain and of the plaintexts; words are divided by it, take another",
                    m.value()
                ))
            })?;
            Ok([m.shoup(residue), m.shoup(inverse)])
        };
        Ok(Self {
            encoder: BgvEncoder::new(ring, rlwe.ring())?,
            residues: (0..q.len()).map(residue).collect::<Result<_, Error>>()?,
        })
    }

    /// Z/P.
    pub fn ring(&self) -> PrimePower {
        self.encoder.ring()
    }

    /// Slots to polynomials.
    pub fn encoder(&self) -> &BgvEncoder {
        &self.encoder
    }

    /// P modulo the first primes of Q.
    pub(crate) fn residues(&self, primes: usize) -> Vec<Shoup<W>> {
        self.residues[..primes].iter().map(|[residue, _]| *residue).collect()
    }

    /// 1/P modulo the first primes of Q.
    pub(crate) fn inverses(&self, primes: usize) -> Vec<Shoup<W>> {
        self.residues[..primes].iter().map(|[_, inverse]| *inverse).collect()
    }
}

impl<W: Word> Clone for BgvContext<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Word> BgvContext<W> {
    /// Validates a chain with its plaintexts and builds a parameter set of its own.
    ///
    /// # Errors
    /// As [`RlweContext::new`], security included, and [`PlaintextSpec::check`].
    pub fn from_spec(chain: &RlweSpec, plaintexts: PlaintextSpec) -> Result<Self, Error> {
        Self::new(RlweContext::new(chain)?, plaintexts, plaintexts.fingerprint(chain))
    }

    /// Builds a parameter set on a validated chain. `fingerprint` identifies it; ciphertexts carry it and operations compare it.
    ///
    /// # Errors
    /// As [`PlaintextSpec::check`].
    pub fn new(
        rlwe: RlweContext<W>,
        plaintexts: PlaintextSpec,
        fingerprint: [u8; 16],
    ) -> Result<Self, Error> {
        let ring = plaintexts.check(rlwe.spec())?;
        let modulus = |exponent| PlaintextModulus::new(&rlwe, ring.with_exponent(exponent)?);
        let moduli = (1..=plaintexts.largest_exponent).map(modulus).collect::<Result<_, Error>>()?;
        let largest = ring.with_exponent(plaintexts.largest_exponent)?;
        let divisor = |primes: &Vec<u64>| {
            primes
                .iter()
                .try_fold(Factor::one(largest), |product, &q| Ok(product.mul(Factor::new(q, largest)?)))
        };
        let divisors = rlwe.spec().levels.iter().map(divisor).collect::<Result<_, Error>>()?;
        let noise = NoiseModel::new(&rlwe)?;
        Ok(Self(Arc::new(Inner { rlwe, plaintexts, fingerprint, moduli, noise, divisors })))
    }

    /// The modulus chain.
    pub fn rlwe(&self) -> &RlweContext<W> {
        &self.0.rlwe
    }

    /// The moduli of plaintexts.
    pub fn plaintexts(&self) -> PlaintextSpec {
        self.0.plaintexts
    }

    /// The modulus of messages.
    pub fn message_modulus(&self) -> &PlaintextModulus<W> {
        &self.0.moduli[self.0.plaintexts.exponent as usize - 1]
    }

    /// The largest modulus of plaintexts.
    pub fn largest_modulus(&self) -> &PlaintextModulus<W> {
        &self.0.moduli[self.0.plaintexts.largest_exponent as usize - 1]
    }

    /// The modulus p^`exponent` with its tables.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a power beyond the largest.
    pub fn modulus(&self, exponent: u32) -> Result<&PlaintextModulus<W>, Error> {
        let place = (exponent as usize).checked_sub(1);
        place.and_then(|place| self.0.moduli.get(place)).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "plaintexts modulo p^{exponent}, the set has tables for p to p^{}; take an exponent among these",
                self.0.plaintexts.largest_exponent
            ))
        })
    }

    /// The model of how noise grows.
    pub fn noise(&self) -> &NoiseModel {
        &self.0.noise
    }

    /// Identity of the parameter set.
    pub fn fingerprint(&self) -> [u8; 16] {
        self.0.fingerprint
    }

    /// The arrangement of the slots of a ring of odd index; none for other rings.
    pub fn hypercube(&self) -> Option<Hypercube> {
        self.message_modulus().encoder().hypercube()
    }

    /// Number of slots: two rows of N/2; in a ring of two axes, two rows of half the degree of the first axis; in a ring of odd index, a
    /// rectangle of N/d slots with d integers each.
    pub fn slots(&self) -> usize {
        self.message_modulus().encoder().slots()
    }

    /// Integers in a slot, which is an element of a Galois ring of this degree.
    pub fn slot_degree(&self) -> usize {
        self.message_modulus().encoder().slot_degree()
    }

    /// # Errors
    /// [`Error::InvalidArgument`] for slots of several coordinates; `what` names the operation that takes integers only.
    pub(crate) fn check_slots_are_integers(&self, what: &str) -> Result<(), Error> {
        match self.slot_degree() {
            1 => Ok(()),
            degree => Err(Error::InvalidArgument(format!(
                "{what} take integers in slots, and the slots of this ring have {degree} coordinates; take a set of one axis"
            ))),
        }
    }

    /// The automorphism that is the `power`-th power of the Frobenius automorphism in every slot: the identity where slots hold
    /// integers.
    ///
    /// # Errors
    /// None for the ring of a context.
    pub fn frobenius_element(&self, power: u32) -> Result<GaloisElement, Error> {
        if let Some(cube) = self.hypercube() {
            return Ok(cube.frobenius(power as usize));
        }
        let ring = self.rlwe().ring();
        let odd = ring.odd_part();
        let power = u64::from(power) % ring.rows() as u64;
        let exponent = (0..power).fold(1, |e, _| e * (self.plaintexts().prime % odd) % odd);
        ring.of_second_axis(exponent)
    }

    /// The product of the primes of a level, as a factor modulo the largest P.
    pub(crate) fn level_factor(&self, level: usize) -> Factor {
        self.0.divisors[level]
    }

    /// The product of the primes of a level.
    pub(crate) fn level_divisor(&self, level: usize) -> f64 {
        self.rlwe().spec().levels[level].iter().map(|&q| q as f64).product()
    }
}
