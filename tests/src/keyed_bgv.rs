//! A set for BGV bootstrapping with its keys, and what bootstraps in a chain have to leave.

use refloat::Error;
use refloat::arith::Word;
use refloat::bootstrapping::bgv::{
    BgvBootstrapper, BgvKeys, BgvParams, BgvPreset, BgvRun, BgvSecretKey, BgvSpec,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::circuits::program::integer_program::IntegerPlan;
use refloat::circuits::program::{Bootstraps, Program};
use refloat::random::Seed;
use refloat::schemes::bgv::{BgvCiphertext, BgvShape};

use crate::bgv::log_deviation;
use crate::rns::Lottery;

/// A set with a secret key, its evaluation keys and a bootstrapper.
pub struct KeyedBgv<W: Word> {
    /// The parameter set.
    pub params: BgvParams<W>,
    /// The secret key.
    pub secret: BgvSecretKey<W>,
    /// Its evaluation keys.
    pub keys: BgvKeys<W>,
    /// What computes with them.
    pub bootstrapper: BgvBootstrapper<W>,
}

impl<W: Word> KeyedBgv<W> {
    /// A set with the keys of the tests.
    ///
    /// # Panics
    /// If the set is not sound.
    pub fn new(spec: &BgvSpec) -> Self {
        Self::seeded(spec, 3)
    }

    /// A set by its name, with the keys of the tests.
    ///
    /// # Panics
    /// If no set has this name.
    pub fn named(name: &str) -> Self {
        Self::new(&(BgvPreset::named(name).expect("a set").spec)())
    }

    /// A set with the keys that a seed of 32 equal bytes gives.
    ///
    /// # Panics
    /// If the set is not sound.
    pub fn seeded(spec: &BgvSpec, seed: u8) -> Self {
        let params = BgvParams::new(spec).expect("a sound set");
        let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([seed; 32]));
        let keys = BgvKeys::generate(&secret).expect("keys");
        let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated).expect("a sound set");
        Self { params, secret, keys, bootstrapper }
    }

    /// A random message, as coordinates: all of them, or of an integer in each slot if only those are refreshed.
    pub fn random(&self, seed: u64) -> Vec<u64> {
        if self.params.is_general() {
            self.residues(self.params.n(), seed)
        } else {
            self.coordinates(&self.integers(seed))
        }
    }

    /// A random integer for each slot.
    pub fn integers(&self, seed: u64) -> Vec<u64> {
        self.residues(self.params.context().slots(), seed)
    }

    fn residues(&self, count: usize, seed: u64) -> Vec<u64> {
        let (mut lottery, modulus) = (Lottery::new(seed), self.params.messages().value());
        (0..count).map(|_| lottery.word() % modulus).collect()
    }

    /// Coordinates of integers in slots.
    pub fn coordinates(&self, integers: &[u64]) -> Vec<u64> {
        self.params.context().message_modulus().encoder().coordinates_of(integers)
    }

    /// The sum of two messages.
    pub fn sum(&self, x: &[u64], y: &[u64]) -> Vec<u64> {
        x.iter().zip(y).map(|(&x, &y)| self.params.messages().add(x, y)).collect()
    }

    /// Encrypts at a level with the randomness that a number gives.
    ///
    /// # Panics
    /// For slots that do not fit.
    pub fn encrypt(&self, message: &[u64], level: usize, randomness: u64) -> BgvCiphertext<W> {
        let randomness = Seed::from_bytes([4; 32]).derive("test", &[randomness]);
        self.secret.encrypt(message, level, &randomness).expect("slots that fit")
    }

    /// The slots of a ciphertext.
    ///
    /// # Panics
    /// For a ciphertext of another key.
    pub fn decrypt(&self, x: &BgvCiphertext<W>) -> Vec<u64> {
        self.secret.decrypt(x).expect("our own").reveal_to_key_owner().clone()
    }

    /// The coefficients of a ciphertext.
    ///
    /// # Panics
    /// For a ciphertext of another key.
    pub fn coefficients(&self, x: &BgvCiphertext<W>) -> Vec<u64> {
        self.secret.decrypt_coefficients(x).expect("our own").reveal_to_key_owner().clone()
    }

    /// Coefficients in the order in which slots have them once coefficients-to-slots is done: as coordinates, or if the index is odd, the
    /// one coefficient that becomes the integer of a slot.
    pub fn in_slots<T: Copy>(&self, coefficients: &[T]) -> Vec<T> {
        let context = self.params.context();
        let (slots, d) = (context.slots(), context.slot_degree());
        if context.hypercube().is_some() {
            return coefficients.iter().copied().step_by(d).collect();
        }
        let columns = slots / 2;
        let place = |slot: usize| {
            let (s, j) = (slot / columns, slot % columns);
            (j.reverse_bits() >> (usize::BITS - columns.trailing_zeros())) + s * columns
        };
        (0..slots * d).map(|i| coefficients[i % d * slots + place(i / d)]).collect()
    }

    /// The square.
    ///
    /// # Panics
    /// At the lowest level.
    pub fn square(&self, x: &BgvCiphertext<W>) -> BgvCiphertext<W> {
        self.bootstrapper.multiply(x, x, &self.keys).expect("a level")
    }

    /// A plan of a program with these inputs.
    ///
    /// # Errors
    /// What the program asks for, and the set cannot do.
    pub fn plan<'p>(
        &self,
        program: &'p Program,
        inputs: &[BgvCiphertext<W>],
        bootstraps: Bootstraps,
    ) -> Result<IntegerPlan<'p, W>, Error> {
        let shapes: Vec<BgvShape> = inputs.iter().map(BgvShape::of).collect();
        IntegerPlan::new(program, &self.params.program_target()?, &shapes, bootstraps)
    }

    /// Does the next stage of a run, which has to be `stage`.
    ///
    /// # Panics
    /// If the next stage is another one, or fails.
    pub fn advance(&self, run: &mut BgvRun<'_, W>, stage: &str) {
        assert_eq!(run.next_stage().map(|s| s.id), Some(stage));
        run.step(&self.keys, &mut ()).unwrap_or_else(|error| panic!("{stage}: {error}"));
    }

    /// The low digits that the holder of the key sees.
    ///
    /// # Panics
    /// If they are not in slots or in coefficients, as `slots` says, or not with the messages `high`.
    pub fn digits(&self, run: &BgvRun<'_, W>, slots: bool, high: &[u64]) -> Vec<i64> {
        let seen = self.secret.digits(run).expect("our own");
        let seen = seen.reveal_to_key_owner();
        assert_eq!((seen.slots, seen.high.as_slice()), (slots, high));
        seen.low.clone()
    }

    /// The coefficients of the noise of a ciphertext.
    ///
    /// # Panics
    /// For a ciphertext of another key.
    pub fn noise(&self, x: &BgvCiphertext<W>) -> Vec<f64> {
        self.secret.noise(x).expect("our own").reveal_to_key_owner().clone()
    }

    /// log2 of the deviation of the noise.
    pub fn log_noise(&self, x: &BgvCiphertext<W>) -> f64 {
        log_deviation(&self.noise(x))
    }

    /// log2 of that deviation by the ciphertext's estimate.
    pub fn log_estimate(&self, x: &BgvCiphertext<W>) -> f64 {
        self.params.context().noise().deviation(x.noise()).log2()
    }

    /// Holds the noise to the estimate.
    ///
    /// # Panics
    /// If the noise is `above` bits or more above it.
    pub fn check_noise(&self, x: &BgvCiphertext<W>, above: f64, stage: &str) {
        let (found, said) = (self.log_noise(x), self.log_estimate(x));
        assert!(found < said + above, "{stage}: noise of 2^{found:.2}, said to be 2^{said:.2}");
    }
}

impl<W: Word> KeyedBgv<W> {
    /// `rounds` bootstraps, each after squares down to the lowest level of an input and a random sum, without which the slots would
    /// become the same. Estimates of results have to stay below `roundings` roundings.
    ///
    /// # Panics
    /// As [`Refreshes::refresh`], against the same in the clear.
    pub fn chained(&self, rounds: u64, roundings: f64) -> Refreshes<'_, W> {
        let (levels, encoder) = (*self.params.levels(), self.params.context().message_modulus().encoder());
        assert!(levels.left() > 0, "products between bootstraps");
        let mut message = self.random(4);
        let mut x = self.encrypt(&message, levels.output, 3);
        let mut refreshes = Refreshes::new(self, roundings);
        for round in 0..rounds {
            while x.level() > levels.input {
                x = self.square(&x);
                message = encoder.multiply(&message, &message).expect("whole slots");
            }
            let shift = self.random(100 + round);
            x = self.bootstrapper.bgv().add_plain(&x, &shift).expect("room");
            message = self.sum(&message, &shift);
            x = refreshes.refresh(&x, &message);
        }
        refreshes
    }
}

/// Bootstraps one after the other, all held to leave the same noise.
pub struct Refreshes<'a, W: Word> {
    set: &'a KeyedBgv<W>,
    roundings: f64,
    rounds: usize,
    noise: Vec<f64>,
    estimate: f64,
}

impl<'a, W: Word> Refreshes<'a, W> {
    /// No bootstraps yet. Estimates of their results have to stay below `roundings` roundings.
    pub fn new(set: &'a KeyedBgv<W>, roundings: f64) -> Self {
        Self { set, roundings, rounds: 0, noise: Vec::new(), estimate: f64::NEG_INFINITY }
    }

    /// The next bootstrap, of a ciphertext that holds `message`.
    ///
    /// # Panics
    /// Unless the result holds the same, at the highest level and with factor 1, and its estimate stays at the floor.
    pub fn refresh(&mut self, x: &BgvCiphertext<W>, message: &[u64]) -> BgvCiphertext<W> {
        let (set, params) = (self.set, &self.set.params);
        let (ring, model) = (params.messages(), params.context().noise());
        let name =
            format!("{}, N = {}, modulo {}, {}", params.spec().name, params.n(), ring.value(), self.rounds);
        let x = set.bootstrapper.bootstrap(x, &set.keys, &mut ()).expect("an input");
        assert_eq!(set.decrypt(&x), message, "{name}");
        assert_eq!((x.level(), x.ring(), x.factor().value()), (params.levels().output, ring, 1), "{name}");
        assert!(x.noise() < self.roundings * model.rounding(), "{name}: the estimate stays at the floor");
        self.rounds += 1;
        self.noise.extend(set.noise(&x));
        self.estimate = self.estimate.max(set.log_estimate(&x));
        x
    }

    /// Holds the noise of all results together to the largest estimate.
    ///
    /// # Panics
    /// If the noise is `above` bits or more above it.
    pub fn check_noise(&self, above: f64) {
        let (found, said) = (log_deviation(&self.noise), self.estimate);
        let spec = self.set.params.spec();
        assert!(found < said + above, "{}: noise of 2^{found:.2}, said to be 2^{said:.2}", spec.name);
    }
}
