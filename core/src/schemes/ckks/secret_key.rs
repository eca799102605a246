//! A secret key of CKKS alone, without a bootstrapping method.

use alloc::{format, vec, vec::Vec};

use zeroize::Zeroizing;

use super::{
    ciphertext::Ciphertext,
    context::CkksContext,
    encrypt::{PublicKey, decrypt_slots},
    flooding::{Release, ReleaseBudget, fresh_error},
    main_secret::MainSecret,
    scale::Scale,
};
use crate::{
    arith::{Word, complex::Complex},
    error::Error,
    random::Seed,
    ring::GaloisElement,
    rlwe::{GaloisKeys, SampleBlock},
    schemes::{leveled_keys::LeveledKeys, private::Private},
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
    keys: LeveledKeys<W>,
}

impl<W: Word> CkksSecretKey<W> {
    /// Derives the key from a seed, which must be fresh and kept as secret as the key.
    pub fn generate(context: &CkksContext<W>, seed: &Seed) -> Self {
        let keys = LeveledKeys::generate(context.rlwe(), "ckks key set", &context.fingerprint(), seed);
        Self { context: context.clone(), keys }
    }

    /// The parameter set.
    pub fn context(&self) -> &CkksContext<W> {
        &self.context
    }

    /// Public identifier of the key set.
    pub fn key_id(&self) -> [u8; 16] {
        self.keys.key_id
    }

    /// The secret from which [`ArithmeticKeys`](crate::circuits::arithmetic::ArithmeticKeys) are
    /// made, for arithmetic by names of operations.
    pub fn main_secret(&self) -> MainSecret<'_, W> {
        MainSecret::of(&self.context, &self.keys.secret, &self.keys.seeds, self.keys.key_id)
    }

    /// Encrypts up to N/2 slots, the others being zero, with fresh randomness.
    ///
    /// # Errors
    /// As [`encrypt`](super::encrypt).
    pub fn encrypt(
        &self,
        slots: &[Complex],
        level: usize,
        scale: Scale,
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error> {
        let mut all = Zeroizing::new(vec![Complex::ZERO; self.context.slots().max(slots.len())]);
        all[..slots.len()].copy_from_slice(slots);
        self.main_secret().encrypt(&all, (level, scale), randomness)
    }

    /// The slots of a ciphertext.
    ///
    /// # Errors
    /// As [`decrypt_slots`].
    pub fn decrypt(&self, ciphertext: &Ciphertext<W>) -> Result<Private<Vec<Complex>>, Error> {
        decrypt_slots(&self.context, &self.keys.secret, self.keys.key_id, ciphertext)
    }

    /// Decrypts for somebody who is not the owner of the key: floods the result with noise, or refuses. Numbers are the real and imaginary
    /// parts of slots in turn, so their count must be even.
    ///
    /// Without bootstrapping, errors are bounded by the error of a fresh message at the scale of the ciphertext or of one rescaling,
    /// whichever is larger, times the stated growth.
    ///
    /// # Errors
    /// [`Error::Limit`] if the budget is spent, or if less than one bit of the numbers would be left after flooding;
    /// [`Error::InvalidArgument`] for a release that makes no sense; [`Error::ParamsMismatch`] for a ciphertext of another key. After an
    /// error nothing of the budget is used.
    pub fn decrypt_for_release(
        &self,
        ciphertext: &Ciphertext<W>,
        release: &Release,
        budget: &mut ReleaseBudget,
        randomness: &Seed,
    ) -> Result<Vec<Complex>, Error> {
        let error = release.error_of(|public| Ok(fresh_error(&self.context, ciphertext.scale(), public)))?;
        if let Some(odd) = release.numbers.filter(|numbers| !numbers.is_multiple_of(2)) {
            return Err(Error::InvalidArgument(format!(
                "{odd} numbers are not pairs of real and imaginary parts; release an even count"
            )));
        }
        let slots = self.decrypt(ciphertext)?;
        let parts = slots.reveal_to_key_owner().iter().flat_map(|z| [z.re, z.im]);
        let parts = Zeroizing::new(parts.collect::<Vec<f64>>());
        let noisy = release.flooded(&parts, error, budget, randomness)?;
        Ok(noisy.chunks_exact(2).map(|z| Complex::new(z[0], z[1])).collect())
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
        self.keys.relinearization_key(self.context.rlwe(), level)
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
        let rlwe = self.context.rlwe();
        let rotations = rotations.iter().map(|&steps| GaloisElement::rotation(steps, rlwe.n()));
        let elements = rotations.chain(conjugation.then(|| GaloisElement::conjugation(rlwe.n())));
        self.keys.galois_keys(rlwe, elements, level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        schemes::ckks::{
            CkksSpec, ErrorBound,
            flooding::{assert_deviation, fresh_error},
        },
        security::SecurityPolicy,
    };

    #[test]
    fn a_key_without_bootstrapping_floods_by_fresh_or_stated_errors() {
        let policy = SecurityPolicy::InsecureForTests;
        let spec =
            CkksSpec { n: 1 << 11, log_base: 50.0, log_scale: 45.0, levels: 2, log_special: 55.0, policy };
        let context = spec.context::<u64>().unwrap();
        let key = CkksSecretKey::generate(&context, &Seed::from_bytes([1; 32]));
        let (seed, scale) = (Seed::from_bytes([2; 32]), Scale::exp2(45.0));
        let values = vec![Complex::new(0.5, -0.25); 1024];
        let x = key.encrypt(&values, 1, scale, &seed).unwrap();
        let mut budget = ReleaseBudget::new(2, 20).unwrap();
        let parts = |slots: &[Complex]| slots.iter().flat_map(|z| [z.re, z.im]).collect::<Vec<f64>>();
        let factor = libm::sqrt(12.0 * 2.0 * 512.0) * libm::exp2(10.0);
        for (error, bound) in [
            (ErrorBound::Secret(1.0), fresh_error(&context, scale, false)),
            (ErrorBound::Public(2.0), 2.0 * fresh_error(&context, scale, true)),
        ] {
            let release = Release { numbers: Some(512), error, largest: 1.0 };
            let told = key.decrypt_for_release(&x, &release, &mut budget, &seed).unwrap();
            assert_deviation(&parts(&told), &parts(&values[..256]), factor * bound);
        }
        let mut fresh = ReleaseBudget::new(2, 20).unwrap();
        let mut refused = |numbers, bound| {
            let release = Release { numbers: Some(numbers), error: ErrorBound::AtMost(bound), largest: 1.0 };
            let refused = key.decrypt_for_release(&x, &release, &mut fresh, &seed).unwrap_err();
            assert!(refused.repair().is_some(), "{refused}");
            refused.code()
        };
        assert_eq!(refused(7, 1e-9), "INVALID_ARGUMENT");
        assert_eq!(refused(8, 0.001), "LIMIT");
        assert_eq!(fresh.used(), 0);
        let release = Release { numbers: Some(2), ..Release::default() };
        let spent = key.decrypt_for_release(&x, &release, &mut budget, &seed).unwrap_err();
        assert_eq!(spent.code(), "LIMIT");
        // A ciphertext of another key reveals nothing and counts nothing.
        let other = CkksSecretKey::generate(&context, &Seed::from_bytes([9; 32]));
        let wrong = other.decrypt_for_release(&x, &release, &mut fresh, &seed).unwrap_err();
        assert_eq!((wrong.code(), fresh.used()), ("PARAMS_MISMATCH", 0));
    }
}
