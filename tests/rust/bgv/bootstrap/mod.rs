//! Thin BGV bootstrapping on toys: every stage as the holder of the key sees it, chains, failures, refusals.

mod chains;
mod multiples_of_q0;
mod runs;
mod sets;
mod stages;

use refloat::Error;
use refloat::arith::Word;
use refloat::bootstrapping::bgv::{BgvBootstrapper, BgvKeys, BgvParams, BgvSecretKey, BgvSpec};
use refloat::random::Seed;
use refloat::schemes::bgv::BgvCiphertext;
use refloat_tests::bgv::{keyed, log_deviation};
use refloat_tests::rns::Lottery;

struct Set<W: Word> {
    params: BgvParams<W>,
    secret: BgvSecretKey<W>,
    keys: BgvKeys<W>,
    bootstrapper: BgvBootstrapper<W>,
}

impl<W: Word> Set<W> {
    fn new(spec: &BgvSpec) -> Self {
        Self::seeded(spec, 3)
    }

    /// With the keys that a seed of 32 equal bytes gives.
    fn seeded(spec: &BgvSpec, seed: u8) -> Self {
        let params = BgvParams::new(spec).expect("a sound set");
        let (secret, keys, bootstrapper) = keyed(&params, seed);
        Self { params, secret, keys, bootstrapper }
    }

    fn encrypt(&self, message: &[u64], level: usize, randomness: u64) -> BgvCiphertext<W> {
        let randomness = Seed::from_bytes([4; 32]).derive("test", &[randomness]);
        self.secret.encrypt(message, level, &randomness).expect("slots that fit")
    }

    fn decrypt(&self, x: &BgvCiphertext<W>) -> Vec<u64> {
        self.secret.decrypt(x).expect("our own").reveal_to_key_owner().clone()
    }

    fn square(&self, x: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        self.bootstrapper.multiply(x, x, &self.keys)
    }

    fn squared(&self, message: &[u64]) -> Vec<u64> {
        let ring = self.params.messages();
        message.iter().map(|&m| ring.mul(m, m)).collect()
    }

    /// Squares down to the lowest level of an input.
    fn worn(&self, message: &mut Vec<u64>, mut x: BgvCiphertext<W>) -> BgvCiphertext<W> {
        while x.level() > self.params.levels().input {
            x = self.square(&x).expect("room");
            *message = self.squared(message);
        }
        x
    }

    /// The coefficients of its noise.
    fn noise(&self, x: &BgvCiphertext<W>) -> Vec<f64> {
        self.secret.noise(x).expect("our own").reveal_to_key_owner().clone()
    }

    /// log2 of their deviation.
    fn log_noise(&self, x: &BgvCiphertext<W>) -> f64 {
        log_deviation(&self.noise(x))
    }

    /// log2 of what that is by the estimate.
    fn log_estimate(&self, x: &BgvCiphertext<W>) -> f64 {
        self.params.context().noise().deviation(x.noise()).log2()
    }

    fn random(&self, lottery: &mut Lottery) -> Vec<u64> {
        (0..self.params.n()).map(|_| lottery.word() % self.params.messages().value()).collect()
    }
}
