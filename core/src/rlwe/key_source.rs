//! Where switching keys come from: memory, or something that fetches each when it is needed and lets it go afterwards.

use alloc::{format, sync::Arc};
use core::ops::Deref;

use super::{galois_keys::GaloisKeys, sample::SampleBlock};
use crate::{
    arith::Word,
    error::Error,
    ring::{Automorphism, GaloisElement},
};

/// A switching key that is in memory as long as this lives.
pub enum HeldKey<'a, W: Word> {
    /// A key that stays in memory in any case.
    Resident(&'a SampleBlock<W>),
    /// A key that was fetched; its memory is given back when the last holder drops it.
    Fetched(Arc<SampleBlock<W>>),
}

impl<W: Word> Deref for HeldKey<'_, W> {
    type Target = SampleBlock<W>;

    fn deref(&self) -> &SampleBlock<W> {
        match self {
            Self::Resident(key) => key,
            Self::Fetched(key) => key,
        }
    }
}

/// A relinearisation key. A circuit asks for it when it needs it and drops it when it has used it.
pub trait RelinearizationSource<W: Word> {
    /// The key.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming what could not be fetched.
    fn relinearization_key(&self) -> Result<HeldKey<'_, W>, Error>;
}

impl<W: Word> RelinearizationSource<W> for SampleBlock<W> {
    fn relinearization_key(&self) -> Result<HeldKey<'_, W>, Error> {
        Ok(HeldKey::Resident(self))
    }
}

impl<W: Word, S: RelinearizationSource<W> + ?Sized> RelinearizationSource<W> for &S {
    fn relinearization_key(&self) -> Result<HeldKey<'_, W>, Error> {
        (**self).relinearization_key()
    }
}

/// Galois keys by element. A circuit asks for each when it needs it and drops it when it has used it.
pub trait GaloisSource<W: Word>: Sync {
    /// Ring degree N.
    fn n(&self) -> usize;

    /// The automorphism of `element` and its key.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming the element, or what could not be fetched.
    fn galois_key(&self, element: GaloisElement) -> Result<(&Automorphism, HeldKey<'_, W>), Error>;

    /// The key of a left rotation of the slots by `steps`.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming the rotation.
    fn rotation_key(&self, steps: i64) -> Result<(&Automorphism, HeldKey<'_, W>), Error> {
        self.galois_key(GaloisElement::rotation(steps, self.n())).map_err(|error| match error {
            Error::MissingKey(message) => Error::MissingKey(format!("rotation by {steps}: {message}")),
            other => other,
        })
    }

    /// The key of complex conjugation.
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    fn conjugation_key(&self) -> Result<(&Automorphism, HeldKey<'_, W>), Error> {
        self.galois_key(GaloisElement::conjugation(self.n()))
    }
}

impl<W: Word> GaloisSource<W> for GaloisKeys<W> {
    fn n(&self) -> usize {
        self.n()
    }

    fn galois_key(&self, element: GaloisElement) -> Result<(&Automorphism, HeldKey<'_, W>), Error> {
        self.get(element).map(|(automorphism, key)| (automorphism, HeldKey::Resident(key)))
    }
}
