//! How noise grows, from the parameters alone.
//!
//! The *noise* of a ciphertext is v = x/P, x the phase of its textbook form over the integers: what is below 1/2 in v is the
//! plaintext, and the rest is error. The plaintext is right as long as the coefficients of v are below Q / 2P. What is carried
//! along is a size of the embeddings v(zeta), since these multiply and coefficients do not.
//!
//! Independent coefficients of deviation d have embeddings of deviation sqrt(N) d, and [`TAIL`] times that is the size taken: the
//! largest of 2^14 normal ones, but for one time in 2^11. Embeddings of a rounding are larger where the secret's are, and may
//! exceed it there by a factor of about 2. Plaintexts are far from lost then: it is coefficients that must stay below Q / 2P,
//! these are sums of all embeddings over N, and the size bounds them with room of sqrt(N) / 2 and more.

use alloc::vec::Vec;

use crate::{
    arith::{
        Word,
        complex::{Complex, SpecialFft},
    },
    error::Error,
    ring::SmallPoly,
    rlwe::{RlweContext, RlweSpec},
    security::SecretDistribution,
};

/// The size of embeddings over their deviation.
pub const TAIL: f64 = 4.2;

/// The sizes of noise after the operations of one chain.
pub struct NoiseModel {
    degree: f64,
    embeddings: SpecialFft,
    rounding: f64,
    /// By level.
    key_switch: Vec<f64>,
}

/// How a linear map sum_k D_k sigma_k(x) multiplies noise, before it is divided by the primes of its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearGain {
    /// sum_k |D_k|^2 over the coefficients of all diagonals.
    pub squares: f64,
    /// Divisions by the special primes: giant steps.
    pub giant_steps: usize,
}

impl NoiseModel {
    /// For a chain.
    ///
    /// # Errors
    /// None for a degree that a chain can have.
    pub fn new<W: Word>(rlwe: &RlweContext<W>) -> Result<Self, Error> {
        let spec = rlwe.spec();
        let degree = spec.n as f64;
        let embedding = TAIL * libm::sqrt(degree);
        let key_switch =
            (0..spec.levels.len()).map(|level| embedding * key_switch_deviation(spec, level)).collect();
        Ok(Self {
            degree,
            embeddings: SpecialFft::new(spec.n)?,
            rounding: embedding * rounding_deviation(spec),
            key_switch,
        })
    }

    /// Largest embedding of a polynomial with independent coefficients of a deviation.
    pub fn embedding(&self, deviation: f64) -> f64 {
        TAIL * libm::sqrt(self.degree) * deviation
    }

    /// Deviation of the coefficients of noise, from the bound on its embeddings.
    pub fn deviation(&self, noise: f64) -> f64 {
        noise / self.embedding(1.0)
    }

    /// A fresh ciphertext: an error, and a plaintext over P, whose coefficients are at most 1/2. Since it is secret, the largest
    /// embedding of such a polynomial counts: sum_i |cos(i pi/N)| / 2, below N / 3.
    pub fn fresh(&self) -> f64 {
        self.embedding(SmallPoly::ERROR_SIGMA) + self.degree / 3.0
    }

    /// The rounding of two components: sqrt((1 + h)/12) in every coefficient, h the squared length of the secret. Noise does not
    /// fall below.
    pub fn rounding(&self) -> f64 {
        self.rounding
    }

    /// What switching a key at a level adds, before the division by the special primes is rounded.
    pub fn key_switch(&self, level: usize) -> f64 {
        self.key_switch[level]
    }

    /// Largest embedding of a public polynomial, computed.
    pub fn of_polynomial(&self, coefficients: impl ExactSizeIterator<Item = f64>) -> f64 {
        let coefficients: Vec<f64> = coefficients.collect();
        let (low, high) = coefficients.split_at(self.embeddings.slots());
        let mut values: Vec<Complex> = low.iter().zip(high).map(|(&re, &im)| Complex::new(re, im)).collect();
        self.embeddings.forward(&mut values);
        let largest = values.iter().map(|z| z.norm_sqr()).fold(0.0, f64::max);
        // The transform is right to far less than this.
        libm::sqrt(largest) * (1.0 + 1e-9)
    }

    /// Noise after a division by `divisor`.
    pub fn rescaled(&self, noise: f64, divisor: f64) -> f64 {
        noise / divisor + self.rounding
    }

    /// Noise of a linear map at a level, divided by the primes of the level.
    ///
    /// A sum over many diagonals is of numbers as good as independent, and grows as their deviations do. Their squares add up to
    /// no more than twice the mean anywhere.
    pub fn linear(&self, noise: f64, gain: &LinearGain, level: usize, divisor: f64) -> f64 {
        let switch = self.key_switch(level);
        let babies = (noise + switch) * libm::sqrt(2.0 * gain.squares);
        self.rescaled(babies + gain.giant_steps as f64 * (switch + self.rounding), divisor)
    }
}

/// Squared length of the secret.
fn secret_weight(spec: &RlweSpec) -> f64 {
    match spec.secret {
        SecretDistribution::Sparse { weight } => f64::from(weight),
        // Uniform in {-1, 0, 1}.
        _ => spec.n as f64 * 2.0 / 3.0,
    }
}

fn rounding_deviation(spec: &RlweSpec) -> f64 {
    libm::sqrt((1.0 + secret_weight(spec)) / 12.0)
}

/// Digits below their product D_j, centred, times errors, summed up over digits and divided by P.
fn key_switch_deviation(spec: &RlweSpec, level: usize) -> f64 {
    let primes: Vec<(usize, u64)> = spec
        .levels
        .iter()
        .enumerate()
        .flat_map(|(level, primes)| primes.iter().map(move |&prime| (level, prime)))
        .collect();
    let special: f64 = spec.special.iter().map(|&p| p as f64).product();
    let size = |digit: &Vec<usize>| {
        let own = digit.iter().filter(|&&i| primes[i].0 <= level);
        let product: f64 = own.clone().map(|&i| primes[i].1 as f64).product();
        if own.count() == 0 { 0.0 } else { product / special }
    };
    let squares: f64 = spec.digits.iter().map(size).map(|d| d * d).sum();
    SmallPoly::ERROR_SIGMA * libm::sqrt(spec.n as f64 * squares / 12.0)
}
