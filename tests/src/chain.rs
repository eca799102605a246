//! A small CKKS chain with its keys, for tests of circuits.

use num_complex::Complex64;
use refloat::arith::Word;
use refloat::random::Seed;
use refloat::ring::{Cyclotomic, GaloisElement};
use refloat::rlwe::{GaloisKeys, KeySeeds, RlweSpec, SampleBlock, SecretKey};
use refloat::schemes::ckks::{
    Ciphertext, CkksContext, CkksEvaluator, Complex, Scale, decrypt_slots, encrypt,
};
use refloat::security::{SecretDistribution, SecurityPolicy};

use crate::rns::primes;

/// A ternary secret, one list of prime sizes per level, no security.
///
/// # Panics
/// If there are not enough primes.
pub fn spec(n: usize, levels: &[&[f64]], special: &[f64], digits: &[&[usize]]) -> RlweSpec {
    let mut all = primes(n, &[&levels.concat(), special].concat()).into_iter();
    let levels = levels.iter().map(|level| all.by_ref().take(level.len()).collect()).collect();
    RlweSpec {
        n,
        odd_part: 1,
        levels,
        special: all.collect(),
        digits: digits.iter().map(|digit| digit.to_vec()).collect(),
        secret: SecretDistribution::Ternary,
        policy: SecurityPolicy::InsecureForTests,
    }
}

/// [`spec`] of a ring of two axes: one prime of each size per level, digits of `alpha` primes.
///
/// # Panics
/// If there are not enough primes, or there is no such ring.
pub fn spec_of_two_axes(
    (n, odd_part): (usize, u64),
    levels: &[f64],
    special: &[f64],
    alpha: usize,
) -> RlweSpec {
    let ring = Cyclotomic::new(n, odd_part).expect("a ring");
    let all: Vec<usize> = (0..levels.len()).collect();
    let digits: Vec<&[usize]> = all.chunks(alpha).collect();
    // Primes that are 1 modulo the index.
    let spec = spec(ring.index() as usize / 2, &levels.chunks(1).collect::<Vec<_>>(), special, &digits);
    RlweSpec { n, odd_part, ..spec }
}

/// [`spec`] of a ring of odd index: one prime of each size per level, digits of `alpha` primes.
///
/// # Panics
/// If there are not enough primes, or there is no such ring.
pub fn spec_of_odd_index(index: u64, levels: &[f64], special: &[f64], alpha: usize) -> RlweSpec {
    let ring = Cyclotomic::of_odd_index(index).expect("a product of odd primes");
    let all: Vec<usize> = (0..levels.len()).collect();
    let digits: Vec<&[usize]> = all.chunks(alpha).collect();
    let degree_of_primes = ring.divisor_of_primes() as usize / 2;
    let spec = spec(degree_of_primes, &levels.chunks(1).collect::<Vec<_>>(), special, &digits);
    RlweSpec { n: ring.degree(), odd_part: index, ..spec }
}

/// [`spec`] with one digit per level.
///
/// # Panics
/// If there are not enough primes.
pub fn spec_by_levels(n: usize, levels: &[&[f64]], special: &[f64]) -> RlweSpec {
    let all: Vec<usize> = (0..levels.concat().len()).collect();
    let mut rest = all.as_slice();
    let digits = levels.iter().map(|level| {
        let (digit, after) = rest.split_at(level.len());
        rest = after;
        digit
    });
    let digits: Vec<&[usize]> = digits.collect();
    spec(n, levels, special, &digits)
}

/// Identifier of the key of every chain here.
pub const KEY_ID: [u8; 16] = *b"key of the tests";

/// A context with its secret key and what evaluates under it.
pub struct Chain<W: Word> {
    /// The parameter set.
    pub context: CkksContext<W>,
    /// Its evaluator.
    pub evaluator: CkksEvaluator<W>,
    /// The secret key.
    pub secret: SecretKey<W>,
    /// Seeds of evaluation keys.
    pub seeds: KeySeeds,
    /// Relinearisation key of the highest level.
    pub relinearization: SampleBlock<W>,
    /// Scale of fresh ciphertexts.
    pub scale: Scale,
}

impl<W: Word> Chain<W> {
    /// One prime of the given size per level, digits of `alpha` primes.
    ///
    /// # Panics
    /// If there are not enough primes.
    pub fn new(n: usize, levels: &[f64], special: &[f64], alpha: usize, scale: Scale) -> Self {
        let levels: Vec<&[f64]> = levels.chunks(1).collect();
        let all: Vec<usize> = (0..levels.len()).collect();
        let digits: Vec<&[usize]> = all.chunks(alpha).collect();
        Self::of(&spec(n, &levels, special, &digits), scale, 17)
    }

    /// A chain with the keys that a seed of 32 equal bytes gives.
    ///
    /// # Panics
    /// For a chain that is not sound.
    pub fn of(spec: &RlweSpec, scale: Scale, seed: u8) -> Self {
        let context = CkksContext::from_spec(spec).expect("a sound chain");
        let seed = Seed::from_bytes([seed; 32]);
        let secret = SecretKey::generate(context.rlwe(), &seed);
        let seeds = KeySeeds::derive(&seed);
        let relinearization = secret.relinearization_key(context.rlwe(), &seeds, context.rlwe().max_level());
        Self { evaluator: CkksEvaluator::new(&context), context, secret, seeds, relinearization, scale }
    }

    /// The highest level.
    pub fn top(&self) -> usize {
        self.context.rlwe().max_level()
    }

    /// Keys of these rotations, and of conjugation, at the highest level.
    ///
    /// # Panics
    /// Never.
    pub fn galois_keys(&self, rotations: &[i64]) -> GaloisKeys<W> {
        let (rlwe, n) = (self.context.rlwe(), self.context.rlwe().n());
        let rotations = rotations.iter().map(|&steps| GaloisElement::rotation(steps, n));
        let mut keys = GaloisKeys::new(n);
        for g in rotations.chain([GaloisElement::conjugation(n)]) {
            let key = self.secret.galois_key(rlwe, &self.seeds, rlwe.max_level(), g);
            keys.insert(rlwe, g, key).expect("a key of this chain");
        }
        keys
    }

    /// Encrypts at a level.
    ///
    /// # Panics
    /// For slots that do not fit.
    pub fn encrypt(&self, slots: &[Complex], level: usize) -> Ciphertext<W> {
        self.encrypt_with(slots, level, level as u8 + 1)
    }

    /// Encrypts at a level with the randomness that a seed of 32 equal bytes gives.
    ///
    /// # Panics
    /// For slots that do not fit.
    pub fn encrypt_with(&self, slots: &[Complex], level: usize, randomness: u8) -> Ciphertext<W> {
        let randomness = Seed::from_bytes([randomness; 32]);
        encrypt(&self.context, &self.secret, KEY_ID, slots, level, self.scale, &randomness)
            .expect("slots that fit")
    }

    /// Decrypts.
    ///
    /// # Panics
    /// For a ciphertext of another chain.
    pub fn decrypt(&self, x: &Ciphertext<W>) -> Vec<Complex> {
        let slots = decrypt_slots(&self.context, &self.secret, KEY_ID, x).expect("our own");
        slots.reveal_to_key_owner().clone()
    }
}

/// Numbers of the oracles as slots.
pub fn ours(z: &[Complex64]) -> Vec<Complex> {
    z.iter().map(|z| Complex::new(z.re, z.im)).collect()
}

/// Slots as numbers of the oracles.
pub fn theirs(z: &[Complex]) -> Vec<Complex64> {
    z.iter().map(|z| Complex64::new(z.re, z.im)).collect()
}

/// `count` complex numbers of the unit square around zero, different for every seed.
pub fn some_slots(count: usize, seed: u64) -> Vec<Complex> {
    let mut x = seed;
    let mut next = move || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| Complex::new(next(), next())).collect()
}

/// The largest distance of two lists.
///
/// # Panics
/// Unless they are of one length.
pub fn distance(x: &[Complex], y: &[Complex]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(&a, &b)| (a - b).abs()).fold(0.0, f64::max)
}
