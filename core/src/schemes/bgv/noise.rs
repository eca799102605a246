//! How noise grows, from the parameters alone.
//!
//! The *noise* of a ciphertext is v = x/P, x the phase of its textbook form over the integers. The fractional part of v is the
//! plaintext over P, and its integer part is error. The plaintext is right as long as the coefficients of v are below Q / 2P.
//! What is carried along is an estimate of the largest embedding v(zeta), since embeddings multiply and coefficients do not
//! (Gentry, Halevi, Smart, CRYPTO 2012, appendix C; Costache, Smart, CT-RSA 2016).
//!
//! Independent coefficients of deviation d have embeddings of deviation sqrt(N) d, and [`TAIL`] times that is the estimate: one
//! time in 2^11, one of 2^14 normal ones is larger. Embeddings of a rounding are larger where the secret's are, and may
//! exceed it there by a factor of about 2. Plaintexts are far from lost then: it is coefficients that must stay below Q / 2P,
//! these are sums of all embeddings over N, and the estimate is above them by a factor of sqrt(N) / 2 and more.

use alloc::vec::Vec;

use crate::{
    arith::{
        Word,
        complex::{Complex, SpecialFft},
    },
    error::Error,
    par,
    ring::SmallPoly,
    rlwe::{RlweContext, RlweSpec},
    security::SecretDistribution,
};

/// The largest embedding over the deviation of all.
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
    /// The sum of the squares of the coefficients of all diagonals, by which the variance of coefficients grows.
    pub squares: f64,
    /// The largest sqrt(sum_k |D_k(zeta)|^2), by which the largest embedding grows.
    pub embedding: f64,
    /// Divisions by the special primes: giant steps.
    pub giant_steps: usize,
}

impl LinearGain {
    /// What is to be expected of many diagonals with so many coefficients in all, uniform modulo P: sums of the squares of
    /// 32 embeddings and more are seldom above twice their mean.
    pub(crate) fn of_uniform(coefficients: usize, modulus: f64, giant_steps: usize) -> Self {
        let squares = coefficients as f64 * modulus * modulus / 12.0;
        Self { squares, embedding: libm::sqrt(2.0 * squares), giant_steps }
    }
}

impl NoiseModel {
    /// For a chain.
    ///
    /// # Errors
    /// Never for a chain: its degree is one that the transform takes.
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

    /// Deviation of the coefficients of noise, from the estimate of its largest embedding.
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

    /// What no ciphertext can be said to have less of: [`Self::fresh`] or [`Self::rounding`], the larger. Ciphertexts from outside
    /// are taken to have it at least.
    pub fn floor(&self) -> f64 {
        self.fresh().max(self.rounding)
    }

    /// What switching a key at a level adds, before the division by the special primes is rounded.
    ///
    /// # Panics
    /// For a level that the chain does not have.
    pub fn key_switch(&self, level: usize) -> f64 {
        self.key_switch[level]
    }

    /// Largest embedding of a public polynomial of N coefficients, computed.
    pub(crate) fn of_polynomial(&self, coefficients: impl Iterator<Item = f64>) -> f64 {
        largest_root(&self.squared_embeddings(coefficients))
    }

    /// |D(zeta^(5^j))|^2 for j < N/2, D a polynomial of N coefficients; the other embeddings are conjugate to these.
    fn squared_embeddings(&self, coefficients: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut coefficients: Vec<f64> = coefficients.collect();
        coefficients.resize(2 * self.embeddings.slots(), 0.0);
        let (low, high) = coefficients.split_at(self.embeddings.slots());
        let mut values: Vec<Complex> = low.iter().zip(high).map(|(&re, &im)| Complex::new(re, im)).collect();
        self.embeddings.forward(&mut values);
        values.iter().map(|z| z.norm_sqr()).collect()
    }

    /// The gain of a linear map with so many diagonals, of which `diagonal` gives the N integer coefficients.
    ///
    /// # Errors
    /// What `diagonal` gives.
    pub(crate) fn gain(
        &self,
        diagonals: usize,
        giant_steps: usize,
        diagonal: impl Fn(usize) -> Result<Vec<i64>, Error> + Sync + Send,
    ) -> Result<LinearGain, Error> {
        let all = par::try_map(diagonals, |i| {
            Ok::<_, Error>(self.squared_embeddings(diagonal(i)?.into_iter().map(|c| c as f64)))
        })?;
        let mut sums = alloc::vec![0.0; self.embeddings.slots()];
        for own in all {
            sums.iter_mut().zip(own).for_each(|(sum, square)| *sum += square);
        }
        // By Parseval's identity.
        let squares = sums.iter().sum::<f64>() / sums.len() as f64;
        Ok(LinearGain { squares, embedding: largest_root(&sums), giant_steps })
    }

    /// Noise after a division by `divisor`.
    pub fn rescaled(&self, noise: f64, divisor: f64) -> f64 {
        noise / divisor + self.rounding
    }

    /// Noise of a linear map at a level, divided by the primes of the level.
    ///
    /// The sum over k of D_k(zeta) v(zeta_k), zeta_k the image of zeta under sigma_k, has different embeddings of v as its terms:
    /// of noise, these are independent, and their deviations add up as squares do. A plaintext over P, which may be anything, has
    /// squares of embeddings that add up to N^2/4 at most, so that by the inequality of Cauchy and Schwarz its terms stay below
    /// 3/2 of what is counted for it ([`Self::fresh`]).
    ///
    /// # Panics
    /// For a level that the chain does not have.
    pub fn linear(&self, noise: f64, gain: &LinearGain, level: usize, divisor: f64) -> f64 {
        let switch = self.key_switch(level);
        let babies = (noise + switch) * gain.embedding;
        self.rescaled(babies + gain.giant_steps as f64 * (switch + self.rounding), divisor)
    }
}

fn largest_root(squares: &[f64]) -> f64 {
    let largest = squares.iter().copied().fold(0.0, f64::max);
    // Transforms are right to far less than this.
    libm::sqrt(largest) * (1.0 + 1e-9)
}

/// Squared length of the secret.
fn secret_weight(spec: &RlweSpec) -> f64 {
    match spec.secret {
        SecretDistribution::Sparse { weight } | SecretDistribution::BlockSparse { weight, .. } => {
            f64::from(weight)
        }
        SecretDistribution::Ternary => spec.n as f64 * 2.0 / 3.0,
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
