//! What these tests share.

use refloat::Error;
use refloat::arith::Word;
use refloat::random::Seed;
use refloat::ring::{Eval, Poly, SmallPoly, from_integers};
use refloat::rlwe::{KeySeeds, Pair, RlweContext, RlweSpec, SecretKey};
pub use refloat_tests::chain::spec;
use refloat_tests::rns::Lottery;

/// Variance of a coefficient of an error: CBD(21).
pub const ERROR: f64 = 10.5;

pub struct Keys<W: Word> {
    pub context: RlweContext<W>,
    pub secret: SecretKey<W>,
    pub seeds: KeySeeds,
}

impl<W: Word> Keys<W> {
    pub fn new(spec: &RlweSpec, seed: u8) -> Self {
        let context = RlweContext::new(spec).expect("a sound chain");
        let seed = Seed::from_bytes([seed; 32]);
        let secret = SecretKey::generate(&context, &seed);
        Self { context, secret, seeds: KeySeeds::derive(&seed) }
    }

    /// (m - a s, a) modulo Q_level with uniform a: a ciphertext without noise.
    pub fn exact(&self, level: usize, message: &[i64], lottery: &mut Lottery) -> Pair<W> {
        let q = self.context.q(level);
        let a = lottery.poly(q).into_eval();
        let mut b = from_integers(q, message).into_eval();
        b.sub_assign(&a.mul(&self.secret.modulo_q(q)));
        Pair { b, a }
    }

    /// b + a s.
    pub fn phase(&self, x: &Pair<W>) -> Poly<W, Eval> {
        let mut out = x.a.mul(&self.secret.modulo_q(x.a.basis()));
        out.add_assign(&x.b);
        out
    }

    pub fn weight(&self) -> f64 {
        weight(self.secret.small())
    }

    /// sum_j D_j^2 / 12 · N σ^2 / P^2, and the rounding of the division by P.
    pub fn switching_variance(&self, level: usize) -> f64 {
        let spec = self.context.spec();
        let q: Vec<u64> = self.context.q(level).primes().collect();
        let digit = |members: &Vec<usize>| -> f64 {
            let own: Vec<f64> = members.iter().filter_map(|&i| q.get(i)).map(|&p| p as f64).collect();
            if own.is_empty() { 0.0 } else { own.iter().product::<f64>().powi(2) }
        };
        let special: f64 = spec.special.iter().map(|&p| p as f64).product();
        let squares: f64 = spec.digits.iter().map(digit).sum();
        squares / 12.0 * spec.n as f64 * ERROR / special.powi(2) + (1.0 + self.weight()) / 12.0
    }
}

pub fn weight(secret: &SmallPoly) -> f64 {
    secret.coefficients().iter().map(|&c| f64::from(c).powi(2)).sum()
}

pub fn mean_square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64
}

pub fn assert_within(measured: f64, expected: f64, what: &str) {
    let ratio = measured / expected;
    assert!((0.85..1.15).contains(&ratio), "{what}: variance {measured:.4}, formula {expected:.4}");
}

/// Chains with digits of one prime and of several, levels of one prime and of two.
pub fn narrow_chains(n: usize) -> Vec<RlweSpec> {
    vec![
        spec(n, &[&[28.0], &[27.0], &[27.5]], &[28.0], &[&[0], &[1], &[2]]),
        spec(n, &[&[28.0], &[20.0, 21.0], &[27.0]], &[26.0, 23.0], &[&[0, 2], &[3, 1]]),
        spec(n, &[&[24.0, 22.0], &[25.0]], &[31.0, 14.5], &[&[2, 0], &[1]]),
        spec(n, &[&[26.0], &[18.0], &[19.0], &[30.0]], &[30.5], &[&[0], &[3, 1], &[2]]),
    ]
}

pub fn wide_chains(n: usize) -> Vec<RlweSpec> {
    vec![
        spec(n, &[&[60.5], &[50.0], &[45.0, 31.0]], &[60.0], &[&[0], &[1], &[2], &[3]]),
        spec(n, &[&[50.0], &[40.0], &[41.0]], &[48.0, 44.0], &[&[0, 2], &[1]]),
    ]
}

pub fn refused<T>(result: Result<T, Error>, said: &str) {
    let error = result.err().unwrap_or_else(|| panic!("accepted, should have said {said:?}"));
    assert_eq!(error.code(), "INVALID_ARGUMENT");
    assert!(error.to_string().contains(said), "{error}");
}
