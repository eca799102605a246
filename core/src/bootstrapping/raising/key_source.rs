//! Where the keys of a bootstrap come from.
//!
//! A run uses its keys in an order that is known beforehand ([`super::RaisingParams::key_order`]) and holds few of them
//! at a time. [`super::RaisingKeys`] has all in memory; another source may read each from a file shortly before its use.

use alloc::format;

use crate::{
    arith::Word,
    bootstrapping::switching_keys::SwitchingKeyId,
    error::{Error, hex},
    rlwe::{GaloisSource, HeldKey},
    schemes::identity::Identity,
};

/// From which secret to which a key of the encapsulation leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the main secret to the ephemeral one, modulo q0 p'.
    ToEphemeral,
    /// From the ephemeral secret to the main one, modulo Q P.
    FromEphemeral,
}

impl From<Direction> for SwitchingKeyId {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::ToEphemeral => Self::ToEphemeral,
            Direction::FromEphemeral => Self::FromEphemeral,
        }
    }
}

/// The evaluation keys of one key set.
pub trait KeySource<W: Word>: GaloisSource<W> {
    /// The key set.
    fn key_id(&self) -> [u8; 16];

    /// The relinearisation key.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming what could not be fetched.
    fn relinearization_key(&self) -> Result<HeldKey<'_, W>, Error>;

    /// A key between the main secret and the ephemeral one.
    ///
    /// # Errors
    /// [`Error::MissingKey`] in a set without an ephemeral secret, or naming what could not be fetched.
    fn ephemeral_key(&self, direction: Direction) -> Result<HeldKey<'_, W>, Error>;
}

/// [`Error::ParamsMismatch`] unless the keys of `source` are those of a ciphertext.
pub(in crate::bootstrapping) fn check<W: Word>(
    source: &dyn KeySource<W>,
    ciphertext: Identity,
) -> Result<(), Error> {
    if ciphertext.key_id == source.key_id() {
        return Ok(());
    }
    Err(Error::ParamsMismatch(format!(
        "ciphertext under key {}, evaluation keys of {}; use the evaluation keys of its owner",
        hex(&ciphertext.key_id),
        hex(&source.key_id())
    )))
}
