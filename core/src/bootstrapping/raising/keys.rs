//! Evaluation keys: what a server holds.

use alloc::{collections::BTreeMap, format};

use super::{
    key_source::{Direction, KeySource},
    params::RaisingParams,
    reduction::ReductionSpec,
    secret::RaisingSecretKey,
};
use crate::{
    arith::Word,
    bootstrapping::{
        method::{KeysBuilder, SwitchingKeySet},
        switching_keys::{KeyLayout, Secrets, SwitchingKeyId},
    },
    error::Error,
    par,
    ring::{Automorphism, GaloisElement},
    rlwe::{GaloisKeys, GaloisSource, HeldKey, SampleBlock},
};

/// The evaluation keys of one key set, expanded in memory.
pub struct RaisingKeys<W: Word = u64> {
    key_id: [u8; 16],
    pub(super) relinearization: SampleBlock<W>,
    pub(super) galois: GaloisKeys<W>,
    /// To the ephemeral secret at q0 p', and back at Q P.
    pub(super) ephemeral: Option<[SampleBlock<W>; 2]>,
}

/// A secret key whose evaluation keys are [`RaisingKeys`].
pub trait RaisingSecret<W: Word> {
    /// As [`RaisingKeys::generate`].
    ///
    /// # Errors
    /// As [`RaisingKeys::generate`].
    fn raising_keys(&self) -> Result<RaisingKeys<W>, Error>;
}

impl<R: ReductionSpec, W: Word> RaisingSecret<W> for RaisingSecretKey<R, W> {
    fn raising_keys(&self) -> Result<RaisingKeys<W>, Error> {
        RaisingKeys::make(&self.secrets(), self.key_id(), &self.params().galois_elements().collect())
    }
}

/// Builds [`RaisingKeys`] from parts in any order.
pub type RaisingKeysBuilder<R, W = u64> = KeysBuilder<RaisingParams<R, W>>;

/// `SwitchingKeySet` for a set of words `$word` whose keys are [`RaisingKeys`].
macro_rules! raising_key_set {
    ([$($generics:tt)*] $params:ty, $word:ident) => {
        impl<$($generics)*> $crate::bootstrapping::method::SwitchingKeySet for $params {
            type Word = $word;
            type Keys = $crate::bootstrapping::raising::RaisingKeys<$word>;

            fn name(&self) -> &str {
                self.name()
            }

            fn fingerprint(&self) -> [u8; 16] {
                self.fingerprint()
            }

            fn key_layout(&self) -> $crate::bootstrapping::KeyLayout<'_, $word> {
                self.layout()
            }

            fn key_parts(&self) -> &[$crate::bootstrapping::SwitchingKeyPart] {
                self.key_parts()
            }

            fn assemble(
                &self,
                key_id: [u8; 16],
                keys: alloc::collections::BTreeMap<
                    $crate::bootstrapping::SwitchingKeyId,
                    $crate::rlwe::SampleBlock<$word>,
                >,
            ) -> Result<$crate::bootstrapping::raising::RaisingKeys<$word>, $crate::error::Error> {
                let elements = self.galois_elements().collect();
                $crate::bootstrapping::raising::RaisingKeys::assemble(&self.layout(), key_id, &elements, keys)
            }
        }
    };
}
pub(in crate::bootstrapping) use raising_key_set;

raising_key_set!([R: ReductionSpec, W: Word] RaisingParams<R, W>, W);

impl<W: Word> RaisingKeys<W> {
    /// Collects parts into keys.
    pub fn builder<P>(params: &P, key_id: [u8; 16]) -> KeysBuilder<P>
    where
        P: SwitchingKeySet<Word = W, Keys = Self>,
    {
        KeysBuilder::new(params, key_id)
    }

    /// Makes all evaluation keys of a secret key, on as many threads as there are. They take `expanded_key_bytes` of its parameters in
    /// memory.
    ///
    /// # Errors
    /// None for the secret keys of this crate.
    pub fn generate(secret: &impl RaisingSecret<W>) -> Result<Self, Error> {
        secret.raising_keys()
    }

    /// [`Self::generate`] for the secrets of any scheme, given the automorphisms with their levels.
    pub(in crate::bootstrapping) fn make(
        secrets: &Secrets<'_, W>,
        key_id: [u8; 16],
        galois: &BTreeMap<GaloisElement, usize>,
    ) -> Result<Self, Error> {
        let keys = secrets.layout.keys(galois);
        // Computed once, before the threads divide the keys among them.
        secrets.main.eval();
        let made = par::map(keys.len(), |i| secrets.switching_key(keys[i]));
        Self::assemble(&secrets.layout, key_id, galois, keys.into_iter().zip(made).collect())
    }

    /// Puts the switching keys of a set of any scheme into their places.
    ///
    /// # Errors
    /// [`Error::MissingKey`] for a key that is absent.
    pub(in crate::bootstrapping) fn assemble(
        layout: &KeyLayout<'_, W>,
        key_id: [u8; 16],
        elements: &BTreeMap<GaloisElement, usize>,
        mut keys: BTreeMap<SwitchingKeyId, SampleBlock<W>>,
    ) -> Result<Self, Error> {
        let mut take = |key: SwitchingKeyId| {
            keys.remove(&key)
                .ok_or_else(|| Error::MissingKey(format!("switching key {key:?} is absent; add its parts")))
        };
        let mut galois = GaloisKeys::new(layout.rlwe.n());
        for (&element, &level) in elements {
            galois.insert(layout.rlwe, element, take(SwitchingKeyId::Galois { element, level })?)?;
        }
        let relinearization = take(SwitchingKeyId::Relinearization)?;
        let ephemeral = match layout.encapsulation {
            Some(_) => Some([take(SwitchingKeyId::ToEphemeral)?, take(SwitchingKeyId::FromEphemeral)?]),
            None => None,
        };
        Ok(Self { key_id, relinearization, galois, ephemeral })
    }

    /// The key set.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// The relinearisation key, for products up to the level where the reduction begins.
    pub fn relinearization(&self) -> &SampleBlock<W> {
        &self.relinearization
    }

    /// Rotations and conjugation.
    pub fn galois(&self) -> &GaloisKeys<W> {
        &self.galois
    }

    /// Bytes that the keys take in memory, expanded: more than their parts have on the wire, where a seed stands for half of each sample.
    pub fn memory_bytes(&self) -> usize {
        let ephemeral = self.ephemeral.iter().flatten().map(SampleBlock::memory_bytes).sum::<usize>();
        self.relinearization.memory_bytes() + self.galois.memory_bytes() + ephemeral
    }

    /// Main to ephemeral secret, and back; none in a set without an ephemeral secret.
    pub fn ephemeral(&self) -> Option<&[SampleBlock<W>; 2]> {
        self.ephemeral.as_ref()
    }
}

impl<W: Word> GaloisSource<W> for RaisingKeys<W> {
    fn n(&self) -> usize {
        self.galois.n()
    }

    fn galois_key(&self, element: GaloisElement) -> Result<(&Automorphism, HeldKey<'_, W>), Error> {
        self.galois.galois_key(element)
    }
}

impl<W: Word> KeySource<W> for RaisingKeys<W> {
    fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    fn relinearization_key(&self) -> Result<HeldKey<'_, W>, Error> {
        Ok(HeldKey::Resident(&self.relinearization))
    }

    fn ephemeral_key(&self, direction: Direction) -> Result<HeldKey<'_, W>, Error> {
        let [there, back] = self.ephemeral.as_ref().ok_or_else(|| {
            Error::MissingKey(
                "the set has an ephemeral secret, the keys have none to lead to it; make them from the secret key of this set"
                    .into(),
            )
        })?;
        Ok(HeldKey::Resident(match direction {
            Direction::ToEphemeral => there,
            Direction::FromEphemeral => back,
        }))
    }
}
