//! Plaintexts and ciphertexts with checked metadata.

use alloc::{format, vec::Vec};
use core::fmt;

use super::scale::Scale;
use crate::{
    arith::Word,
    error::{Error, hex},
    ring::{Eval, Poly},
    rlwe::Pair,
    schemes::{components, identity::Identity},
};

/// An encoded polynomial at a level and a scale, evaluation domain.
#[derive(Clone)]
pub struct Plaintext<W: Word> {
    /// Level: the polynomial is modulo Q_level.
    pub level: usize,
    /// Scale of the encoding.
    pub scale: Scale,
    /// Residues.
    pub poly: Poly<W, Eval>,
}

/// A CKKS ciphertext: two components, or three between a product and its relinearisation.
#[derive(Clone)]
pub struct Ciphertext<W: Word = u32> {
    pub(crate) fingerprint: [u8; 16],
    pub(crate) key_id: [u8; 16],
    pub(crate) level: usize,
    pub(crate) scale: Scale,
    /// Component i multiplies s^i.
    pub(crate) parts: Vec<Poly<W, Eval>>,
}

/// Shows everything but the residues.
impl<W: Word> fmt::Debug for Ciphertext<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ciphertext")
            .field("level", &self.level)
            .field("log_scale", &self.log_scale())
            .field("components", &self.components())
            .field("fingerprint", &hex(&self.fingerprint))
            .field("key_id", &hex(&self.key_id))
            .finish_non_exhaustive()
    }
}

impl<W: Word> Ciphertext<W> {
    /// Level: number of rescalings left.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Exact scale.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// log2 of the scale.
    pub fn log_scale(&self) -> f64 {
        self.scale.log2()
    }

    /// log2 of the modulus.
    pub fn log_q(&self) -> f64 {
        self.parts[0].basis().log2()
    }

    components::of_ciphertext!(W);

    /// The same residues read at another scale: every slot is multiplied by the old scale over the new one, at no
    /// cost in noise or levels.
    #[must_use]
    pub fn relabelled(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    pub(crate) fn with_pair(&self, pair: Pair<W>, level: usize, scale: Scale) -> Self {
        Self::of_pair(self.identity(), pair, level, scale)
    }

    pub(crate) fn of_pair(identity: Identity, pair: Pair<W>, level: usize, scale: Scale) -> Self {
        let Identity { fingerprint, key_id } = identity;
        Self { fingerprint, key_id, level, scale, parts: alloc::vec![pair.b, pair.a] }
    }

    /// Checks that both ciphertexts belong to one parameter set and one key.
    pub(crate) fn check_same_key(&self, other: &Self) -> Result<(), Error> {
        self.identity().check_same(&other.identity())
    }

    pub(crate) fn check_same_scale(&self, other: Scale) -> Result<(), Error> {
        if self.scale.matches(other) {
            return Ok(());
        }
        Err(Error::ScaleMismatch(format!(
            "operands have scales 2^{:.6} and 2^{:.6}, with a relative difference of {:.1e}; rescale a product that was not, or \
             multiply one operand by 1 at the scale of the other (CkksEvaluator::multiply_constant_rescale), which takes a level",
            self.scale.log2(),
            other.log2(),
            self.scale.to_f64() / other.to_f64() - 1.0,
        )))
    }
}
