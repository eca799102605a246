//! Demonstration-size keys for tests.

use std::sync::OnceLock;

use refloat::bootstrapping::ckks_ship::{ShipEvaluator, ShipKeys, ShipParams, ShipSecretKey, ShipSpec};
use refloat::bootstrapping::method::SlotMode;
use refloat::params::ship_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::Ciphertext;
use refloat::security::SecurityPolicy;

use crate::measure;

/// The numbers of toy10.
///
/// # Panics
/// If there is no such set.
pub fn toy_spec() -> ShipSpec {
    (ship_preset("toy10").expect("a preset").spec)()
}

/// The chain of ship14, two primes to every level, at degree 2^10: every scale and modulus of the full size,
/// without its security.
///
/// # Panics
/// If there is no such set.
pub fn grouped_spec() -> ShipSpec {
    ShipSpec {
        log_n: 10,
        window: 64,
        columns: 4,
        branches: vec![4, 4],
        policy: SecurityPolicy::InsecureForTests,
        ..(ship_preset("ship14").expect("a preset").spec)()
    }
}

/// Keys of toy10 that the tests of one program share.
pub fn toy() -> &'static Setup {
    static SETUP: OnceLock<Setup> = OnceLock::new();
    SETUP.get_or_init(|| Setup::new(toy_spec(), 1))
}

/// A secret key, its evaluation keys in memory, and an evaluator.
///
/// Its methods panic where the library reports an error: nothing here should fail.
pub struct Setup {
    /// The numbers of the set.
    pub spec: ShipSpec,
    /// The secret key.
    pub secret: ShipSecretKey,
    /// Its evaluation keys.
    pub keys: ShipKeys,
    /// An evaluator of the set.
    pub evaluator: ShipEvaluator,
}

#[allow(clippy::missing_panics_doc)]
impl Setup {
    /// Everything for a specification, from a seed.
    pub fn new(spec: ShipSpec, seed: u8) -> Self {
        let params = ShipParams::new(&spec).expect("valid parameters");
        let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([seed; 32]));
        let keys = ShipKeys::generate(&secret).expect("keys");
        let evaluator = ShipEvaluator::new(&params).expect("evaluator");
        Self { spec, secret, keys, evaluator }
    }

    /// A fresh encryption, always with the same randomness.
    pub fn encrypt(&self, values: &[f64], mode: SlotMode) -> Ciphertext {
        self.secret.encrypt(values, mode, &Seed::from_bytes([200; 32])).expect("values in range")
    }

    /// The decrypted values.
    pub fn decrypt(&self, ciphertext: &Ciphertext, mode: SlotMode) -> Vec<f64> {
        self.secret.decrypt(ciphertext, mode).expect("own ciphertext").reveal_to_key_owner().clone()
    }

    /// A whole bootstrap.
    pub fn bootstrap(&self, ciphertext: &Ciphertext, mode: SlotMode) -> Ciphertext {
        self.evaluator.bootstrap(ciphertext, mode, &self.keys, &mut ()).expect("a bootstrap")
    }

    /// [`measure::noisy_messages`] of this key, real slots.
    pub fn noisy_messages(&self, ciphertext: &Ciphertext) -> Vec<f64> {
        measure::noisy_messages(&self.secret, &self.evaluator, &self.keys, ciphertext, SlotMode::Real)
            .expect("phases")
    }
}
