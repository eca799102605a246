//! Numbers in ciphertexts of SHIP sets.

use alloc::{format, vec::Vec};

use zeroize::Zeroizing;

use super::{NoiseModel, ShipParams, ShipSecretKey, params::OUTPUT_LEVEL, secret::slots_of};
use crate::{
    arith::Word,
    bootstrapping::method::{NumberSecret, NumberSet, SlotMode},
    error::Error,
    schemes::ckks::{
        Ciphertext, CkksContext, Complex, MainSecret, Private, Scale,
        flooding::{fresh_error, fresh_variance, worst_of_deviation},
    },
};

impl<W: Word> NumberSet<W> for ShipParams<W> {
    fn context(&self) -> &CkksContext<W> {
        self.ckks()
    }

    fn message_scale(&self) -> Scale {
        self.scale()
    }

    fn lowest_message_level(&self) -> usize {
        self.input_level()
    }

    fn check_message_level(&self, level: usize) -> Result<(), Error> {
        if (1..=OUTPUT_LEVEL).contains(&level) {
            return Ok(());
        }
        Err(Error::LevelMismatch(format!(
            "messages are not encrypted at level {level}; take level 1 or {OUTPUT_LEVEL}"
        )))
    }

    fn slots_of_numbers(&self, numbers: &[f64], mode: SlotMode) -> Result<Zeroizing<Vec<Complex>>, Error> {
        slots_of(self, numbers, mode).map(Zeroizing::new)
    }
}

impl<W: Word> NumberSecret<W> for ShipSecretKey<W> {
    fn number_set(&self) -> &dyn NumberSet<W> {
        &self.params
    }

    fn main_secret(&self) -> Result<MainSecret<'_, W>, Error> {
        MainSecret::new(self.params.ckks(), &self.dense, &self.seeds, self.key_id())
    }

    fn decrypt_numbers(&self, x: &Ciphertext<W>, mode: SlotMode) -> Result<Private<Vec<f64>>, Error> {
        self.decrypt(x, mode)
    }

    fn largest_error(&self, public: bool) -> Result<f64, Error> {
        Ok(self.params.largest_error(public))
    }
}

impl<W: Word> ShipParams<W> {
    /// As [`NumberSecret::largest_error`], by the noise model of a bootstrap of such a message.
    fn largest_error(&self, public: bool) -> f64 {
        let model = NoiseModel::new(self, 1.0, fresh_variance(self.ckks(), public));
        let refreshed = model.sine + worst_of_deviation(model.output_rms);
        refreshed.max(fresh_error(self.ckks(), self.scale(), public))
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::{
        params::{self, ShipPreset},
        random::Seed,
        schemes::ckks::{ErrorBound, Release, ReleaseBudget, flooding::assert_deviation},
    };

    #[test]
    fn a_toy_floods_as_stated_and_honours_its_budget() {
        let params = params::ship_preset("toy10").unwrap().params().unwrap();
        let key = ShipSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let values = alloc::vec![0.5; params.slots()];
        let x = key.encrypt(&values, SlotMode::Real, &Seed::from_bytes([2; 32])).unwrap();
        let seed = Seed::from_bytes([4; 32]);
        let release = |release: &Release, budget: &mut ReleaseBudget| {
            key.decrypt_for_release(&x, SlotMode::Real, release, budget, &seed)
        };
        let mut budget = ReleaseBudget::default();
        let refused = release(&Release { numbers: Some(1), ..Release::default() }, &mut budget).unwrap_err();
        assert!(refused.code() == "LIMIT" && budget.used() == 0, "{refused}");
        // Two bits of statistical security protect nothing; they only show the path.
        let mut weak = ReleaseBudget::new(1, 2).unwrap();
        let large = Release { error: ErrorBound::Secret(1.0), largest: 64.0, ..Release::default() };
        let found = release(&large, &mut weak).unwrap();
        let sigma = libm::sqrt(12.0 * values.len() as f64) * 2.0 * key.largest_error(false).unwrap();
        assert_deviation(&found, &values, sigma);
        let spent = release(&large, &mut weak).unwrap_err();
        assert!(spent.code() == "LIMIT" && spent.to_string().contains("1 of 1"), "{spent}");
    }

    #[test]
    fn no_set_keeps_a_bit_with_the_default_budget() {
        for preset in ShipPreset::all() {
            let error = preset.params().unwrap().largest_error(false);
            let release = Release { numbers: Some(1), ..Release::default() };
            let refused =
                release.flooded(&[0.5], error, &mut ReleaseBudget::default(), &Seed::from_bytes([1; 32]));
            assert_eq!(refused.unwrap_err().code(), "LIMIT", "{}", preset.name);
        }
    }

    #[test]
    fn errors_that_are_decrypted_are_within_the_bound() {
        let params = params::ship_preset("toy10").unwrap().params().unwrap();
        let key = ShipSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
        let public = key.public_key().unwrap();
        let zeros = [0.0; 2];
        let seed = Seed::from_bytes([8; 32]);
        let level = OUTPUT_LEVEL;
        let own = key.encrypt(&zeros, SlotMode::Real, &seed).unwrap();
        let theirs = params.encrypt_numbers_for(&public, &zeros, SlotMode::Real, level, &seed).unwrap();
        for (x, public) in [(own, false), (theirs, true)] {
            let found = key.decrypt(&x, SlotMode::Complex).unwrap();
            let largest =
                found.reveal_to_key_owner().iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            let bound = fresh_error(params.ckks(), params.scale(), public);
            // The largest of 1024 is some 3.5 deviations, of 13.1 times 6.3.
            assert!(largest < bound && largest > bound / 200.0, "{largest} of {bound}");
        }
    }
}
