//! What these tests share.

use num_complex::Complex64;
use refloat::Error;
use refloat::arith::Word;
use refloat::random::Seed;
use refloat::ring::Automorphism;
use refloat::rlwe::{KeySeeds, RlweSpec, SampleBlock, SecretKey};
use refloat::schemes::ckks::{
    Ciphertext, CkksContext, CkksEvaluator, Complex, Plaintext, Scale, decrypt_slots, encrypt,
};
use refloat::security::{SecretDistribution, SecurityPolicy};
use refloat_tests::rns::{Lottery, primes};

/// Variance of a coefficient of an error: CBD(21).
pub const ERROR: f64 = 10.5;
/// Standard deviations that no slot of these deterministic runs may exceed: the largest of a few
/// thousand complex values, and secrets whose spectrum has peaks.
pub const WORST: f64 = 12.0;
pub const KEY_ID: [u8; 16] = *b"key of the tests";

pub fn spec(n: usize, levels: &[&[f64]], special: &[f64]) -> RlweSpec {
    let mut all = primes(n, &[&levels.concat(), special].concat()).into_iter();
    let mut take = |count: usize| all.by_ref().take(count).collect::<Vec<u64>>();
    let levels: Vec<Vec<u64>> = levels.iter().map(|level| take(level.len())).collect();
    let special = take(special.len());
    // One digit per level.
    let mut next = 0;
    let digits = levels.iter().map(|level| {
        next += level.len();
        (next - level.len()..next).collect()
    });
    let digits = digits.collect();
    RlweSpec {
        n,
        levels,
        special,
        digits,
        secret: SecretDistribution::Ternary,
        policy: SecurityPolicy::InsecureForTests,
    }
}

/// 31-bit words, one prime per level, scale 2^25.
pub fn single(n: usize) -> (RlweSpec, Scale) {
    (spec(n, &[&[30.9], &[25.0], &[25.3], &[24.8]], &[30.5]), Scale::exp2(25.0))
}

/// 31-bit words, two primes per level, scale near 2^41 and no power of two.
pub fn double(n: usize) -> (RlweSpec, Scale) {
    let levels: &[&[f64]] = &[&[30.0, 28.0], &[20.3, 20.8], &[20.0, 21.0], &[19.6, 21.4]];
    (spec(n, levels, &[30.9, 30.7]), Scale::from_integer(2_199_023_300_001))
}

/// 61-bit words, one prime per level, scale 2^45.
pub fn wide(n: usize) -> (RlweSpec, Scale) {
    (spec(n, &[&[60.0], &[45.0], &[45.2], &[44.9]], &[60.9]), Scale::exp2(45.0))
}

pub struct Toy<W: Word> {
    pub context: CkksContext<W>,
    pub evaluator: CkksEvaluator<W>,
    pub secret: SecretKey<W>,
    pub seeds: KeySeeds,
    pub relinearization: SampleBlock<W>,
    pub scale: Scale,
}

impl<W: Word> Toy<W> {
    pub fn new((spec, scale): &(RlweSpec, Scale), seed: u8) -> Self {
        let context = CkksContext::from_spec(spec).expect("a sound chain");
        let seed = Seed::from_bytes([seed; 32]);
        let secret = SecretKey::generate(context.rlwe(), &seed);
        let seeds = KeySeeds::derive(&seed);
        let top = context.rlwe().max_level();
        let relinearization = secret.relinearization_key(context.rlwe(), &seeds, top);
        Self {
            evaluator: CkksEvaluator::new(&context),
            context,
            secret,
            seeds,
            relinearization,
            scale: *scale,
        }
    }

    pub fn top(&self) -> usize {
        self.context.rlwe().max_level()
    }

    pub fn n(&self) -> usize {
        self.context.rlwe().n()
    }

    pub fn encrypt_at(&self, z: &[Complex64], level: usize, fresh: u8) -> Ciphertext<W> {
        let randomness = Seed::from_bytes([fresh; 32]);
        encrypt(&self.context, &self.secret, KEY_ID, &ours(z), level, self.scale, &randomness)
            .expect("slots of size one")
    }

    pub fn encrypt(&self, z: &[Complex64], fresh: u8) -> Ciphertext<W> {
        self.encrypt_at(z, self.top(), fresh)
    }

    pub fn decrypt(&self, x: &Ciphertext<W>) -> Vec<Complex64> {
        let slots = decrypt_slots(&self.context, &self.secret, KEY_ID, x).expect("our own");
        slots.reveal_to_key_owner().iter().map(|z| Complex64::new(z.re, z.im)).collect()
    }

    pub fn plain(&self, z: &[Complex64], level: usize) -> Plaintext<W> {
        self.evaluator.encode(&ours(z), level, self.scale).expect("slots of size one")
    }

    pub fn galois(&self, g: &Automorphism, level: usize) -> SampleBlock<W> {
        self.secret.galois_key(self.context.rlwe(), &self.seeds, level, g.element())
    }

    /// Slot size of a coefficient variance at the base scale.
    pub fn slot(&self, variance: f64) -> f64 {
        (self.n() as f64 * variance).sqrt() / self.scale.to_f64()
    }

    pub fn weight(&self) -> f64 {
        self.secret.small().coefficients().iter().map(|&c| f64::from(c).powi(2)).sum()
    }

    pub fn rounding(&self) -> f64 {
        (1.0 + self.weight()) / 12.0
    }

    pub fn switching(&self, level: usize) -> f64 {
        let spec = self.context.rlwe().spec();
        let size = |primes: &[u64]| primes.iter().map(|&p| p as f64).product::<f64>();
        let squares: f64 = spec.levels[..=level].iter().map(|p| size(p).powi(2)).sum();
        squares / 12.0 * self.n() as f64 * ERROR / size(&spec.special).powi(2) + self.rounding()
    }

    pub fn assert_holds(&self, x: &Ciphertext<W>, expected: &[Complex64], deviation: f64, what: &str) {
        let found = self.decrypt(x);
        assert_eq!(found.len(), expected.len());
        for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
            let error = (found - expected).norm();
            let allowed = WORST * deviation;
            assert!(error <= allowed, "{what}, slot {k}: {found} is not {expected}: {error:e} > {allowed:e}");
        }
    }
}

pub fn ours(z: &[Complex64]) -> Vec<Complex> {
    z.iter().map(|z| Complex { re: z.re, im: z.im }).collect()
}

pub fn theirs(z: &[Complex]) -> Vec<Complex64> {
    z.iter().map(|z| Complex64::new(z.re, z.im)).collect()
}

pub fn slots(count: usize, lottery: &mut Lottery) -> Vec<Complex64> {
    (0..count).map(|_| Complex64::new(lottery.unit(), lottery.unit())).collect()
}

pub fn pairwise(
    x: &[Complex64],
    y: &[Complex64],
    f: impl Fn(Complex64, Complex64) -> Complex64,
) -> Vec<Complex64> {
    x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect()
}

pub fn largest(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().fold(0.0, |m, x| if x.is_nan() { x } else { m.max(x.abs()) })
}

pub fn refused<T>(result: Result<T, Error>, code: &str, sides: &[&str]) {
    let error = result.err().unwrap_or_else(|| panic!("accepted; {code} expected, naming {sides:?}"));
    assert_eq!(error.code(), code, "{error}");
    for side in sides {
        assert!(error.to_string().contains(side), "{error:?} does not name {side:?}");
    }
}
