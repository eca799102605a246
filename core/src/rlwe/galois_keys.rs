//! Galois keys by their Galois element, as circuits look them up. The elements themselves are computed in `ring/automorphism.rs`.

use alloc::{collections::BTreeMap, format};

use super::{context::RlweContext, sample::SampleBlock};
use crate::{
    arith::Word,
    error::Error,
    ring::{Automorphism, GaloisElement},
};

/// Galois keys, each with the table of its automorphism.
pub struct GaloisKeys<W: Word> {
    n: usize,
    keys: BTreeMap<GaloisElement, (Automorphism, SampleBlock<W>)>,
}

impl<W: Word> GaloisKeys<W> {
    /// No keys, for ring degree `n`.
    pub fn new(n: usize) -> Self {
        Self { n, keys: BTreeMap::new() }
    }

    /// Ring degree N.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Adds the key of `element`, or replaces it.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a key that `context` could not have made, or one of another degree.
    pub fn insert(
        &mut self,
        context: &RlweContext<W>,
        element: GaloisElement,
        key: SampleBlock<W>,
    ) -> Result<(), Error> {
        if context.switching_key_level(&key).is_none() || context.n() != self.n {
            return Err(Error::ParamsMismatch(format!(
                "a Galois key of {} samples modulo {} primes of degree {}, a chain of degree {}, keys of degree {}; \
                 make the key with this chain",
                key.samples(),
                key.basis().len(),
                key.basis().n(),
                context.n(),
                self.n
            )));
        }
        self.keys.insert(element, (Automorphism::over(context.ring(), element), key));
        Ok(())
    }

    /// The automorphism of `element` and its key.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming the element.
    pub fn get(&self, element: GaloisElement) -> Result<(&Automorphism, &SampleBlock<W>), Error> {
        self.keys.get(&element).map(|(automorphism, key)| (automorphism, key)).ok_or_else(|| {
            Error::MissingKey(format!(
                "no Galois key of element {} among {} keys of degree {}; make one, or compose the rotation of those \
                 there are keys for, as programs do",
                element.value(),
                self.keys.len(),
                self.n
            ))
        })
    }

    /// The elements there are keys for, in order.
    pub fn elements(&self) -> impl Iterator<Item = GaloisElement> + '_ {
        self.keys.keys().copied()
    }

    /// Bytes that the keys take in memory, expanded: more than their parts have on the wire, where a seed stands for half of each sample.
    pub fn memory_bytes(&self) -> usize {
        self.keys.values().map(|(_, key)| key.memory_bytes()).sum()
    }
}
