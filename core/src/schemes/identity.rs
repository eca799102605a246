//! Identity of parameter sets and of key sets, for schemes over ring-LWE.

use alloc::format;

use super::set_names::set_name;
use crate::{
    error::{Error, hex},
    random::Seed,
    rlwe::identifier,
};

/// Accessors of a parameter set with the fields `spec` and `fingerprint` behind its pointer, to be used inside its `impl`.
macro_rules! of_set {
    ($spec:ty) => {
        /// The numbers of the set.
        pub fn spec(&self) -> &$spec {
            &self.0.spec
        }

        /// Name of the set.
        pub fn name(&self) -> &str {
            &self.0.spec.name
        }

        /// Identity of the set, that of its [`spec`](Self::spec).
        pub fn fingerprint(&self) -> [u8; 16] {
            self.0.fingerprint
        }
    };
}
pub(crate) use of_set;

/// Accessors for what a ciphertext with the fields `fingerprint` and `key_id` belongs to, to be used inside its `impl`.
macro_rules! identified {
    () => {
        /// Fingerprint of the parameter set.
        pub fn fingerprint(&self) -> [u8; 16] {
            self.fingerprint
        }

        /// Public identifier of the key that encrypts it.
        pub fn key_id(&self) -> [u8; 16] {
            self.key_id
        }
    };
}
pub(crate) use identified;

/// The parameter set and the key that a ciphertext belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Fingerprint of the parameter set.
    pub fingerprint: [u8; 16],
    /// Identifier of the key that encrypts it.
    pub key_id: [u8; 16],
}

impl Identity {
    /// Checks that two ciphertexts belong to one parameter set and one key.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] naming both.
    pub fn check_same(&self, other: &Self) -> Result<(), Error> {
        if self.fingerprint != other.fingerprint {
            return Err(Error::ParamsMismatch(format!(
                "ciphertexts of sets {} and {}; encrypt both with the same set",
                set_name(&self.fingerprint),
                set_name(&other.fingerprint)
            )));
        }
        if self.key_id != other.key_id {
            return Err(Error::ParamsMismatch(format!(
                "ciphertexts under keys {} and {}; encrypt both with the same key",
                hex(&self.key_id),
                hex(&other.key_id)
            )));
        }
        Ok(())
    }

    /// Checks that a ciphertext belongs to the parameter set of an evaluator.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] naming both.
    pub fn check_set(&self, fingerprint: &[u8; 16]) -> Result<(), Error> {
        if self.fingerprint == *fingerprint {
            return Ok(());
        }
        Err(Error::ParamsMismatch(format!(
            "ciphertext of set {}, evaluator of {}; use the evaluator of the set that encrypted it",
            set_name(&self.fingerprint),
            set_name(fingerprint),
        )))
    }

    /// Checks that a secret key decrypts a ciphertext.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] naming both.
    pub fn check_decryption(&self, key: &Self) -> Result<(), Error> {
        if self == key {
            return Ok(());
        }
        Err(Error::ParamsMismatch(if self.fingerprint == key.fingerprint {
            format!(
                "ciphertext under key {}, asked to decrypt with key {}; use the key that encrypted it",
                hex(&self.key_id),
                hex(&key.key_id)
            )
        } else {
            format!(
                "ciphertext of set {}, asked to decrypt with a key of {}; use the key that encrypted it",
                set_name(&self.fingerprint),
                set_name(&key.fingerprint)
            )
        }))
    }
}

/// The identifier that keys of a parameter set expanded from `public` must carry: BLAKE3 of the fingerprint and the public
/// seed.
pub fn key_set_id(fingerprint: &[u8; 16], public: &Seed) -> [u8; 16] {
    let mut h = blake3::Hasher::new_derive_key("refloat 2026-11-21 key id v1");
    h.update(fingerprint);
    h.update(public.as_bytes());
    identifier(&h)
}

/// A seed bound to the parameter set, so that one seed never meets two moduli.
pub fn key_set_seed(seed: &Seed, label: &'static str, fingerprint: &[u8; 16]) -> Seed {
    let words = [0, 8].map(|i| {
        let mut w = [0; 8];
        w.copy_from_slice(&fingerprint[i..i + 8]);
        u64::from_le_bytes(w)
    });
    seed.derive(label, &words)
}
