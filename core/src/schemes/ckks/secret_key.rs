//! A secret key of CKKS alone, without a bootstrapping method.

use alloc::{vec, vec::Vec};

use zeroize::Zeroizing;

use super::{
    ciphertext::Ciphertext,
    context::CkksContext,
    encrypt::{PublicKey, decrypt_slots, encrypt},
    main_secret::MainSecret,
    scale::Scale,
};
use crate::{
    arith::{Word, complex::Complex},
    error::Error,
    random::Seed,
    ring::GaloisElement,
    rlwe::{GaloisKeys, KeySeeds, SampleBlock, SecretKey},
    schemes::{
        identity::{key_set_id, key_set_seed},
        private::Private,
    },
};

/// A secret key with its set: encrypts, decrypts, and makes the keys that others may have. Wiped when dropped.
///
/// Deterministic: the same set and seed give the same keys.
///
/// ```
/// use refloat::random::Seed;
/// use refloat::schemes::ckks::{CkksEvaluator, CkksSecretKey, CkksSpec, Complex, Scale};
/// use refloat::security::SecurityPolicy;
///
/// let (scale, policy) = (Scale::exp2(40.0), SecurityPolicy::Strict128);
/// let spec = CkksSpec { n: 1 << 13, log_base: 50.0, log_scale: 40.0, levels: 2, log_special: 55.0, policy };
/// let context = spec.context::<u64>()?;
/// let secret = CkksSecretKey::generate(&context, &Seed::random()?);
/// let products = secret.relinearization_key(2)?;
///
/// let x = secret.encrypt(&[Complex::new(0.5, -0.25)], 2, scale, &Seed::random()?)?;
/// let square = CkksEvaluator::new(&context).multiply(&x, &x, &products)?;
/// let slots = secret.decrypt(&square)?;
/// assert!((slots.reveal_to_key_owner()[0] - Complex::new(0.1875, -0.25)).abs() < 1e-6);
/// # Ok::<(), refloat::Error>(())
/// ```
pub struct CkksSecretKey<W: Word = u64> {
    context: CkksContext<W>,
    secret: SecretKey<W>,
    seeds: KeySeeds,
    key_id: [u8; 16],
}

impl<W: Word> CkksSecretKey<W> {
    /// Derives the key from a seed, which must be fresh and kept as secret as the key.
    pub fn generate(context: &CkksContext<W>, seed: &Seed) -> Self {
        let fingerprint = context.fingerprint();
        let master = key_set_seed(seed, "ckks key set", &fingerprint);
        let seeds = KeySeeds::derive(&master);
        Self {
            secret: SecretKey::generate(context.rlwe(), &master),
            key_id: key_set_id(&fingerprint, seeds.public()),
            seeds,
            context: context.clone(),
        }
    }

    /// The parameter set.
    pub fn context(&self) -> &CkksContext<W> {
        &self.context
    }

    /// Public identifier of the key set.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// What arithmetic by names of operations makes its keys from
    /// ([`ArithmeticKeys`](crate::circuits::arithmetic::ArithmeticKeys)).
    pub fn main_secret(&self) -> MainSecret<'_, W> {
        MainSecret::of(&self.context, &self.secret, &self.seeds, self.key_id)
    }

    /// Encrypts up to N/2 slots, the others being zero, with fresh randomness.
    ///
    /// # Errors
    /// As [`encrypt`].
    pub fn encrypt(
        &self,
        slots: &[Complex],
        level: usize,
        scale: Scale,
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error> {
        let mut all = Zeroizing::new(vec![Complex::ZERO; self.context.slots().max(slots.len())]);
        all[..slots.len()].copy_from_slice(slots);
        encrypt(&self.context, &self.secret, self.key_id, &all, level, scale, randomness)
    }

    /// The slots of a ciphertext.
    ///
    /// # Errors
    /// As [`decrypt_slots`].
    pub fn decrypt(&self, ciphertext: &Ciphertext<W>) -> Result<Private<Vec<Complex>>, Error> {
        decrypt_slots(&self.context, &self.secret, self.key_id, ciphertext)
    }

    /// The key with which others encrypt, at levels up to `level`.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level the chain does not have.
    pub fn public_key(&self, level: usize) -> Result<PublicKey<W>, Error> {
        self.main_secret().public_key(level)
    }

    /// The key for products at levels up to `level`.
    ///
    /// # Errors
    /// As [`Self::public_key`].
    pub fn relinearization_key(&self, level: usize) -> Result<SampleBlock<W>, Error> {
        self.main_secret().relinearization_key(level)
    }

    /// Keys of left rotations by these steps, and of conjugation if it is asked for, at levels up to `level`.
    ///
    /// # Errors
    /// As [`Self::public_key`].
    pub fn galois_keys(
        &self,
        rotations: &[i64],
        conjugation: bool,
        level: usize,
    ) -> Result<GaloisKeys<W>, Error> {
        let n = self.context.rlwe().n();
        let mut keys = GaloisKeys::new(n);
        let rotations = rotations.iter().map(|&steps| GaloisElement::rotation(steps, n));
        for element in rotations.chain(conjugation.then(|| GaloisElement::conjugation(n))) {
            keys.insert(self.context.rlwe(), element, self.main_secret().galois_key(element, level)?)?;
        }
        Ok(keys)
    }
}
