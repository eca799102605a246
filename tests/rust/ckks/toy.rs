//! A chain of demonstration size with its keys.

use std::ops::Deref;

use num_complex::Complex64;
use refloat::arith::Word;
use refloat::ring::Automorphism;
use refloat::rlwe::{RlweSpec, SampleBlock};
use refloat::schemes::ckks::{Ciphertext, Plaintext, Scale};
use refloat_tests::chain::{Chain, ours, theirs};

/// Variance of a coefficient of an error: CBD(21).
pub const ERROR: f64 = 10.5;
/// Standard deviations that no slot of these deterministic runs may exceed: the largest of a few
/// thousand complex values, and secrets whose spectrum has peaks.
pub const WORST: f64 = 12.0;

/// A chain whose slots are the complex numbers of the oracles.
pub struct Toy<W: Word>(Chain<W>);

impl<W: Word> Deref for Toy<W> {
    type Target = Chain<W>;

    fn deref(&self) -> &Chain<W> {
        &self.0
    }
}

impl<W: Word> Toy<W> {
    pub fn new((spec, scale): &(RlweSpec, Scale), seed: u8) -> Self {
        Self(Chain::of(spec, *scale, seed))
    }

    pub fn n(&self) -> usize {
        self.context.rlwe().n()
    }

    pub fn encrypt_at(&self, z: &[Complex64], level: usize, fresh: u8) -> Ciphertext<W> {
        self.encrypt_with(&ours(z), level, fresh)
    }

    pub fn encrypt(&self, z: &[Complex64], fresh: u8) -> Ciphertext<W> {
        self.encrypt_at(z, self.top(), fresh)
    }

    pub fn decrypt(&self, x: &Ciphertext<W>) -> Vec<Complex64> {
        theirs(&self.0.decrypt(x))
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
