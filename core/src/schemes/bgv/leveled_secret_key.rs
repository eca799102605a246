//! A secret key of BGV alone, without bootstrapping.

use alloc::vec::Vec;

use super::{
    ciphertext::BgvCiphertext,
    context::BgvContext,
    encrypt::{decrypt, encrypt},
    public_key::BgvPublicKey,
};
use crate::{
    arith::Word,
    error::Error,
    random::Seed,
    ring::GaloisElement,
    rlwe::{GaloisKeys, SampleBlock},
    schemes::{leveled_keys::LeveledKeys, private::Private},
};

/// A secret key with its set: encrypts, decrypts, and makes the keys that others may have. Wiped when dropped.
///
/// Deterministic: the same set and seed give the same keys. Sets that bootstrap have keys of their own,
/// [`BgvSecretKey`](crate::bootstrapping::bgv::BgvSecretKey).
///
/// ```
/// use refloat::random::Seed;
/// use refloat::schemes::bgv::{BgvEvaluator, LeveledSecretKey, LeveledSpec};
/// use refloat::security::SecurityPolicy;
///
/// let policy = SecurityPolicy::Strict128;
/// let spec = LeveledSpec { n: 1 << 13, prime: 65_537, exponent: 1, levels: 2, spare_bits: 8.0, policy };
/// let context = spec.context::<u64>()?;
/// let secret = LeveledSecretKey::generate(&context, &Seed::random()?);
/// let products = secret.relinearization_key(2)?;
///
/// let x = secret.encrypt(&[3, 65_536, 40_000], 2, &Seed::random()?)?;
/// let square = BgvEvaluator::new(&context).multiply(&x, &x, &products)?;
/// let slots = secret.decrypt(&square)?;
/// assert_eq!(slots.reveal_to_key_owner()[..4], [9, 1, 40_000 * 40_000 % 65_537, 0]);
/// # Ok::<(), refloat::Error>(())
/// ```
pub struct LeveledSecretKey<W: Word = u64> {
    context: BgvContext<W>,
    keys: LeveledKeys<W>,
}

impl<W: Word> LeveledSecretKey<W> {
    /// Derives the key from a seed, which must be fresh and kept as secret as the key.
    pub fn generate(context: &BgvContext<W>, seed: &Seed) -> Self {
        let keys = LeveledKeys::generate(context.rlwe(), "leveled bgv key set", &context.fingerprint(), seed);
        Self { context: context.clone(), keys }
    }

    /// The parameter set.
    pub fn context(&self) -> &BgvContext<W> {
        &self.context
    }

    /// Public identifier of the key set.
    pub fn key_id(&self) -> [u8; 16] {
        self.keys.key_id
    }

    /// Encrypts integers modulo P, [`BgvContext::slot_degree`] for each slot, with fresh randomness. Missing ones are 0.
    ///
    /// # Errors
    /// As [`encrypt`].
    pub fn encrypt(&self, slots: &[u64], level: usize, randomness: &Seed) -> Result<BgvCiphertext<W>, Error> {
        encrypt(&self.context, &self.keys.secret, self.keys.key_id, slots, level, randomness)
    }

    /// The slots of a ciphertext: integers below P.
    ///
    /// # Errors
    /// As [`decrypt`].
    pub fn decrypt(&self, ciphertext: &BgvCiphertext<W>) -> Result<Private<Vec<u64>>, Error> {
        decrypt(&self.context, &self.keys.secret, self.keys.key_id, ciphertext)
    }

    /// The key with which others encrypt, at levels up to `level`.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level the chain does not have.
    pub fn public_key(&self, level: usize) -> Result<BgvPublicKey<W>, Error> {
        BgvPublicKey::generate(&self.context, &self.keys.secret, &self.keys.seeds, self.keys.key_id, level)
    }

    /// The key for products at levels up to `level`.
    ///
    /// # Errors
    /// As [`Self::public_key`].
    pub fn relinearization_key(&self, level: usize) -> Result<SampleBlock<W>, Error> {
        self.keys.relinearization_key(self.context.rlwe(), level)
    }

    /// Keys of left rotations of both rows by these steps, and of the exchange of rows if it is asked for, at levels up to `level`.
    ///
    /// # Errors
    /// As [`Self::public_key`].
    pub fn galois_keys(
        &self,
        rotations: &[i64],
        swap_rows: bool,
        level: usize,
    ) -> Result<GaloisKeys<W>, Error> {
        let ring = self.context.rlwe().ring();
        let rotations = rotations.iter().map(|&steps| ring.rotation(steps));
        self.automorphism_keys(rotations.chain(swap_rows.then(|| ring.inversion())), level)
    }

    /// Keys of these automorphisms, for rings whose slots are not two rows ([`BgvContext::hypercube`],
    /// [`BgvContext::frobenius_element`]).
    ///
    /// # Errors
    /// As [`Self::public_key`].
    pub fn automorphism_keys(
        &self,
        elements: impl IntoIterator<Item = GaloisElement>,
        level: usize,
    ) -> Result<GaloisKeys<W>, Error> {
        self.keys.galois_keys(self.context.rlwe(), elements, level)
    }
}
