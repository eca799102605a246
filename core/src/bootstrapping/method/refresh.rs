//! What every bootstrapping method offers, whatever is inside.

use alloc::vec::Vec;

use crate::{
    arith::Word,
    circuits::program::Readings,
    error::Error,
    schemes::ckks::{Ciphertext, CkksEvaluator},
    trace::{Observer, StageInfo},
};

/// A method with its keys, ready to refresh ciphertexts.
///
/// Adapters (iteration, batching) work over this trait alone.
pub trait Method<W: Word> {
    /// General operations on ciphertexts of the set.
    fn ckks(&self) -> &CkksEvaluator<W>;
    /// Lowest level of an input.
    fn input_level(&self) -> usize;
    /// Level of the output.
    fn output_level(&self) -> usize;
    /// Stages in order.
    fn stages(&self) -> &[StageInfo];
    /// The same slots at the output level.
    ///
    /// # Errors
    /// Those of the method for an input or keys that do not fit; [`Error::Cancelled`] if the
    /// observer says so.
    fn bootstrap(
        &self,
        ciphertext: &Ciphertext<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error>;

    /// One result for each reading that a program takes of the same digits of a ciphertext.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a method that reads no digits, which plans refuse beforehand; otherwise as
    /// [`Self::bootstrap`].
    fn read_digits(
        &self,
        ciphertext: &Ciphertext<W>,
        readings: Readings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let _ = (ciphertext, readings, observer);
        Err(Error::InvalidArgument(
            "this method reads no digits; take keys of a set for modular reduction".into(),
        ))
    }
}
