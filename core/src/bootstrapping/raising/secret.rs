//! Secret keys of a set.

use alloc::{format, vec::Vec};

use zeroize::Zeroizing;

use super::{params::RaisingParams, reduction::ReductionSpec};
use crate::{
    arith::Word,
    bootstrapping::{
        method::{NumberSecret, NumberSet},
        switching_keys::Secrets,
    },
    error::Error,
    random::Seed,
    ring::SmallPoly,
    rlwe::{KeySeeds, SecretKey, SparseSecret},
    schemes::{
        ckks::{self, Ciphertext, Complex, Private, PublicKey, key_set_id, key_set_seed},
        secret_key_identity,
    },
};

/// Everything secret of a key set: the main key, the ephemeral sparse key, and the seed they came from. Wiped when
/// dropped.
///
/// Deterministic: the same set and seed give the same keys, and every part of the evaluation keys can be made again with
/// the same bytes.
pub struct RaisingSecretKey<R: ReductionSpec, W: Word = u64> {
    params: RaisingParams<R, W>,
    seed: Seed,
    pub(super) seeds: KeySeeds,
    key_id: [u8; 16],
    pub(super) main: SecretKey<W>,
    pub(super) ephemeral: Option<SparseSecret>,
}

impl<R: ReductionSpec, W: Word> RaisingSecretKey<R, W> {
    /// Derives all secrets of a key set from a seed, which must be fresh and kept as secret as the key.
    pub fn generate(params: &RaisingParams<R, W>, seed: &Seed) -> Self {
        let master = key_set_seed(seed, R::KEY_SET, &params.fingerprint());
        let seeds = KeySeeds::derive(&master);
        let ephemeral = params.spec().ephemeral.as_ref().map(|e| {
            let mut stream = master.derive("ephemeral sparse secret", &[]).stream();
            SparseSecret::new(SmallPoly::sparse_ternary(params.n(), e.weight as usize, &mut stream))
        });
        Self {
            key_id: key_set_id(&params.fingerprint(), seeds.public()),
            main: SecretKey::generate(params.ckks().rlwe(), &master),
            params: params.clone(),
            seed: seed.clone(),
            seeds,
            ephemeral,
        }
    }

    secret_key_identity!(RaisingParams<R, W>);

    /// What switching keys are made from.
    pub(crate) fn secrets(&self) -> Secrets<'_, W> {
        Secrets {
            layout: self.params.layout(),
            main: &self.main,
            ephemeral: self.ephemeral.as_ref(),
            seeds: &self.seeds,
        }
    }

    /// The public encryption key, at the output level.
    pub fn public_key(&self) -> Result<PublicKey<W>, Error> {
        self.main_secret()?.public_key(self.params.levels().output)
    }

    /// Encrypts slots, |re| and |im| at most [`ReductionSpec::LARGEST_MESSAGE`] (1 for conventional bootstrapping), at a level up to
    /// the output's, [`Levels::output`](super::Levels): the lower the level, the fewer products are left. Missing slots are zero.
    ///
    /// `randomness` must be fresh for every ciphertext.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for too many or out-of-range values; [`Error::LevelMismatch`] for a level above the
    /// output's.
    pub fn encrypt(
        &self,
        values: &[Complex],
        level: usize,
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error> {
        let params = &self.params;
        params.check_message_level(level)?;
        let slots = params.ring_slots(values)?;
        self.main_secret()?.encrypt(&slots, (level, params.scale()), randomness)
    }

    /// Decrypts: one value per slot.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key.
    pub fn decrypt(&self, ciphertext: &Ciphertext<W>) -> Result<Private<Vec<Complex>>, Error> {
        let (all, own) = (self.decrypt_ring(ciphertext)?, self.params.slots());
        let all = all.reveal_to_key_owner();
        // Few slots repeat, but the noise in coefficients between those of the message does not; the mean removes that noise.
        let share = own as f64 / all.len() as f64;
        let mean = |slot: usize| {
            let sum = all.iter().skip(slot).step_by(own).fold(Complex::ZERO, |sum, &copy| sum + copy);
            sum.scale(share)
        };
        Ok(Private::new((0..own).map(mean).collect()))
    }

    /// Decrypts all N/2 slots of the ring: for what is in them between the stages of a bootstrap, where few slots need not
    /// repeat as those of a message do.
    ///
    /// # Errors
    /// As [`Self::decrypt`].
    pub fn decrypt_ring(&self, ciphertext: &Ciphertext<W>) -> Result<Private<Vec<Complex>>, Error> {
        ckks::decrypt_slots(self.params.ckks(), &self.main, self.key_id, ciphertext)
    }
}

impl<R: ReductionSpec, W: Word> RaisingParams<R, W> {
    /// A message in all slots of the ring, repeated if messages have fewer. Missing slots are zero.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for too many or out-of-range values.
    pub(super) fn ring_slots(&self, values: &[Complex]) -> Result<Zeroizing<Vec<Complex>>, Error> {
        if values.len() > self.slots() {
            return Err(Error::InvalidArgument(format!(
                "{} values for the {} slots of set {}; split them, or choose a set with more",
                values.len(),
                self.slots(),
                self.name()
            )));
        }
        // Written so that NaN is refused too.
        let largest = R::LARGEST_MESSAGE;
        let fits = |x: f64| x.abs() <= largest;
        if let Some(i) = values.iter().position(|z| !(fits(z.re) && fits(z.im))) {
            let Complex { re, im } = values[i];
            let value = if im == 0.0 { format!("{re}") } else { format!("{re} + {im} i") };
            return Err(Error::InvalidArgument(format!(
                "value {i} is {value}, outside [-{largest}, {largest}]: bootstrapping takes messages in that range; scale the input \
                 down"
            )));
        }
        let at = |slot: usize| values.get(slot % self.slots()).copied().unwrap_or_default();
        Ok(Zeroizing::new((0..self.n() / 2).map(at).collect()))
    }
}
