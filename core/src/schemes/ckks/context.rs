//! A CKKS parameter set: chain, encoder, identity.

use alloc::{format, sync::Arc};

use super::encoder::Encoder;
use crate::{
    arith::Word,
    error::Error,
    rlwe::{RlweContext, RlweSpec},
};

/// Everything an evaluator needs, computed once; cheap to clone.
pub struct CkksContext<W: Word>(Arc<Inner<W>>);

struct Inner<W: Word> {
    rlwe: RlweContext<W>,
    encoder: Encoder,
    fingerprint: [u8; 16],
    largest_message: f64,
}

impl<W: Word> Clone for CkksContext<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Word> CkksContext<W> {
    /// Validates a chain and builds a parameter set of its own.
    ///
    /// # Errors
    /// As [`RlweContext::new`], security included.
    pub fn from_spec(spec: &RlweSpec) -> Result<Self, Error> {
        Self::new(RlweContext::new(spec)?, spec.fingerprint())
    }

    /// Builds a parameter set on a validated chain. `fingerprint` identifies it; ciphertexts carry it and operations compare it.
    ///
    /// # Errors
    /// As [`Encoder::new`].
    pub fn new(rlwe: RlweContext<W>, fingerprint: [u8; 16]) -> Result<Self, Error> {
        Self::for_messages(rlwe, fingerprint, 1.0)
    }

    /// [`Self::new`] for messages whose parts are up to `largest` in absolute value. The bound decides to how many bits messages are
    /// encoded and decoded; larger messages lose some.
    ///
    /// # Errors
    /// As [`Encoder::new`]; [`Error::InvalidArgument`] for a ring of two axes.
    pub fn for_messages(rlwe: RlweContext<W>, fingerprint: [u8; 16], largest: f64) -> Result<Self, Error> {
        if rlwe.spec().odd_part != 1 {
            return Err(Error::InvalidArgument(format!(
                "CKKS over a ring whose index has the odd part {}; it takes powers of two, odd part 1",
                rlwe.spec().odd_part
            )));
        }
        let encoder = Encoder::new(rlwe.n())?;
        Ok(Self(Arc::new(Inner { rlwe, encoder, fingerprint, largest_message: largest })))
    }

    /// The modulus chain.
    pub fn rlwe(&self) -> &RlweContext<W> {
        &self.0.rlwe
    }

    /// Slots to coefficients and back, on plain values.
    pub fn encoder(&self) -> &Encoder {
        &self.0.encoder
    }

    /// Largest absolute value of the parts of messages that are encoded to the last bit.
    pub fn largest_message(&self) -> f64 {
        self.0.largest_message
    }

    /// Identity of the parameter set.
    pub fn fingerprint(&self) -> [u8; 16] {
        self.0.fingerprint
    }

    /// Number of complex slots, N/2.
    pub fn slots(&self) -> usize {
        self.rlwe().n() / 2
    }
}
