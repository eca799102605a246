//! How noise grows, from the parameters alone.
//!
//! The *noise* of a ciphertext is v = x/P, x the phase of its textbook form over the integers. The fractional part of v is the
//! plaintext over P, and its integer part is error. The plaintext is right as long as the coefficients of v are below Q / 2P.
//! What is carried along is an estimate of the largest embedding v(zeta), since embeddings multiply and coefficients do not
//! (Gentry, Halevi, Smart, CRYPTO 2012, appendix C; Costache, Smart, CT-RSA 2016).
//!
//! Independent coefficients of deviation d have embeddings of deviation sqrt(N) d, and the estimate is [`TAIL`] times that: one time in
//! 2^11, one of 2^14 normal embeddings is larger. Embeddings of a rounding are larger where the secret's are, and may exceed the estimate
//! there by a factor of about 2. Plaintexts are far from lost then: only coefficients must stay below Q / 2P. They are sums of all
//! embeddings divided by N, and the estimate exceeds them by a factor of sqrt(N) / 2 or more.
//!
//! | operation | estimate |
//! | --- | --- |
//! | sum | sum of both: holds for any noise |
//! | product | product of both and P: holds for any noise |
//! | linear map sum_k D_k sigma_k | root of the sum of squares \|D_k(zeta)\|^2: for images of the noise that are independent |
//! | linear map of few diagonals, or of constants | sum of all \|D_k(zeta)\|: holds for any noise |
//!
//! Images of noise are not independent where it is the same in all of them, as after a sum over all rotations. Maps with many
//! different diagonals, such as those of a bootstrap, decorrelate it again; for maps that can be repeated without such a step, the noise
//! is bounded by a sum instead.

use alloc::vec::Vec;

use crate::{
    arith::{
        Word,
        complex::{Complex, SpecialFft},
    },
    error::Error,
    par,
    ring::{Cyclotomic, SmallPoly},
    rlwe::{RlweContext, RlweSpec},
    security::SecretDistribution,
};

/// Ratio of the largest embedding to the deviation of embeddings.
pub const TAIL: f64 = 4.2;

/// Mean square of the coefficients of a uniform ternary secret.
const TERNARY_WEIGHT: f64 = 2.0 / 3.0;

/// Estimates of noise after the operations of one chain.
pub struct NoiseModel {
    degree: f64,
    ring: Cyclotomic,
    embeddings: Embeddings,
    rounding: f64,
    /// Deviation of the coefficients of the secret.
    secret: f64,
    /// Noise of a key switch, by level.
    key_switch: Vec<f64>,
}

/// How embeddings of public polynomials are computed.
enum Embeddings {
    /// The transform of the first axis.
    Axis(SpecialFft),
    /// For an odd index: the m-th roots of unity, and the exponents of the primitive ones in the order of values.
    Odd(Vec<Complex>, Vec<u64>),
}

/// How a linear map sum_k D_k sigma_k(x) multiplies noise, before it is divided by the primes of its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearGain {
    /// Growth of the largest embedding: the largest sqrt(sum_k |D_k(zeta)|^2), or sum_k |D_k(zeta)| for few diagonals and constants.
    pub embedding: f64,
    /// Number of divisions by the special primes, one for each giant step.
    pub giant_steps: usize,
}

/// How the terms D_k(zeta) v(zeta_k) of a linear map add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Terms {
    /// As independent terms: their squares are added.
    Independent,
    /// At worst: their absolute values are added.
    Largest,
}

impl Terms {
    /// For up to this many diagonals the worst case overestimates by at most one bit.
    const FEW: usize = 4;

    /// How the terms add up for a map of `diagonals` diagonals with entries of period `period`.
    pub fn of(diagonals: usize, period: usize) -> Self {
        if diagonals <= Self::FEW || period == 1 { Self::Largest } else { Self::Independent }
    }
}

impl LinearGain {
    /// The gain to expect of `diagonals` diagonals with `coefficients` coefficients each, uniform modulo P. Sums of the squares of 32 or
    /// more embeddings are seldom above twice their mean. Absolute values are counted at the largest sum that their number allows.
    pub(crate) fn of_uniform(
        (diagonals, coefficients): (usize, usize),
        modulus: f64,
        giant_steps: usize,
        terms: Terms,
    ) -> Self {
        let squares = (diagonals * coefficients) as f64 * modulus * modulus / 12.0;
        let aligned = if terms == Terms::Largest { diagonals as f64 } else { 1.0 };
        Self { embedding: libm::sqrt(2.0 * squares * aligned), giant_steps }
    }

    /// The gain of diagonals D_k, each given by its |D_k(zeta)|^2 in the same order of zeta.
    pub(crate) fn of_squares(giant_steps: usize, terms: Terms, diagonals: Vec<Vec<f64>>) -> Self {
        let mut sums = alloc::vec![0.0; diagonals.first().map_or(0, Vec::len)];
        for own in diagonals {
            sums.iter_mut().zip(own).for_each(|(sum, square)| match terms {
                Terms::Independent => *sum += square,
                Terms::Largest => *sum += libm::sqrt(square),
            });
        }
        if terms == Terms::Largest {
            for sum in &mut sums {
                *sum *= *sum;
            }
        }
        Self { embedding: largest_root(&sums), giant_steps }
    }
}

impl NoiseModel {
    /// The model of a chain.
    ///
    /// # Errors
    /// Never: the degree of a chain is one that the transform takes.
    pub fn new<W: Word>(rlwe: &RlweContext<W>) -> Result<Self, Error> {
        let spec = rlwe.spec();
        let (degree, ring) = (spec.n as f64, rlwe.ring());
        let embedding = TAIL * libm::sqrt(degree);
        let key_switch =
            (0..spec.levels.len()).map(|level| embedding * key_switch_deviation(ring, spec, level)).collect();
        Ok(Self {
            degree,
            ring,
            embeddings: Embeddings::of(ring)?,
            rounding: embedding * rounding_deviation(spec),
            secret: libm::sqrt(secret_weight(spec) / degree),
            key_switch,
        })
    }

    /// Estimate of the largest embedding of a polynomial with independent coefficients of this deviation.
    pub fn embedding(&self, deviation: f64) -> f64 {
        TAIL * libm::sqrt(self.degree) * deviation
    }

    /// Deviation of the coefficients of noise, from the estimate of its largest embedding.
    pub fn deviation(&self, noise: f64) -> f64 {
        noise * self.coefficient_growth() / self.embedding(1.0)
    }

    /// Factor by which coefficients of a product exceed what its embeddings suggest: an axis has one power more than its basis, and
    /// whatever falls on that power is subtracted from all others. In a ring of two axes whose second one has degree d, d pairs of powers
    /// fall on it, and d - 1 on each other power: sqrt(2 - 1/d). For each axis of an odd index, whose basis begins with 1, d - 1 pairs fall
    /// on it, and one power has d: sqrt(2 - 2/d + 1/d^2), the mean over the coefficients, of which the largest have 2 - 1/d. Otherwise the
    /// factor is 1.
    pub(crate) fn coefficient_growth(&self) -> f64 {
        let odd = self.ring.odd_index().is_some();
        let square = |d: f64| if odd { 2.0 - 2.0 / d + 1.0 / (d * d) } else { 2.0 - 1.0 / d };
        axes(self.ring).map(|d| libm::sqrt(square(d as f64))).product()
    }

    /// Ratio of the deviation of embeddings of errors to that of polynomials with coefficients as large.
    pub(crate) fn error_growth(&self) -> f64 {
        error_growth(self.ring)
    }

    /// Noise of a fresh ciphertext: an error, and a plaintext over P, whose coefficients are at most 1/2. As the plaintext is secret, the
    /// largest embedding that it can have counts: sum_i |cos(i pi/N)| / 2, below N / 3. For an odd index m it can be that of m terms.
    pub fn fresh(&self) -> f64 {
        let plaintext =
            if self.ring.odd_index().is_some() { self.largest_fraction() } else { self.degree / 3.0 };
        self.embedding(SmallPoly::ERROR_SIGMA * self.error_growth()) + plaintext
    }

    /// Noise of a fresh ciphertext by a public key: v e + e_0 + e_1 s and the plaintext, with v uniform ternary. Products are counted as
    /// products of largest embeddings.
    pub fn fresh_public(&self) -> f64 {
        let error = self.embedding(SmallPoly::ERROR_SIGMA * self.error_growth());
        // v and s are drawn in the basis, whose powers are not independent in a ring of two axes.
        let small = |deviation: f64| self.embedding(deviation) * self.coefficient_growth();
        error * (small(libm::sqrt(2.0 / 3.0)) + small(self.secret)) + self.fresh()
    }

    /// Noise of rounding two components: sqrt((1 + h)/12) in every coefficient, where h is the squared length of the secret. Noise does not
    /// fall below this.
    pub fn rounding(&self) -> f64 {
        self.rounding
    }

    /// The least noise that a ciphertext can be said to have: the larger of [`Self::fresh`] and [`Self::rounding`]. Ciphertexts from
    /// outside are taken to have at least this.
    pub fn floor(&self) -> f64 {
        self.fresh().max(self.rounding)
    }

    /// [`Self::floor`] in a ring of power-of-two degree, for a ternary secret.
    pub(super) fn least_of_ternary_secrets(degree: usize) -> f64 {
        let degree = degree as f64;
        let embedding = TAIL * libm::sqrt(degree);
        let fresh = embedding * SmallPoly::ERROR_SIGMA + degree / 3.0;
        fresh.max(embedding * rounding_of_weight(degree * TERNARY_WEIGHT))
    }

    /// Noise that a key switch at a level adds, before the division by the special primes is rounded.
    ///
    /// # Panics
    /// For a level that the chain does not have.
    pub fn key_switch(&self, level: usize) -> f64 {
        self.key_switch[level]
    }

    /// Largest embedding that a polynomial with coefficients of at most 1/2 can have: |sum_i zeta^i| / 2 for zeta = e^(i pi/N), since the
    /// powers of every root are these up to signs, and these lie on one side of a line. In a ring of two axes each power of the second axis
    /// adds as much. In a ring of odd index m the basis consists of m-th roots of unity, and these with both signs are the 2m-th roots.
    pub(crate) fn largest_fraction(&self) -> f64 {
        if self.ring.odd_index().is_some() {
            return 0.5 / libm::sin(core::f64::consts::FRAC_PI_2 / self.ring.index() as f64);
        }
        let row = 0.5 / libm::sin(core::f64::consts::FRAC_PI_2 / self.ring.columns() as f64);
        self.ring.rows() as f64 * row
    }

    /// Largest embedding of a public polynomial of N coefficients, computed.
    pub(crate) fn of_polynomial(&self, coefficients: impl Iterator<Item = f64>) -> f64 {
        largest_root(&self.squared_embeddings(coefficients))
    }

    /// |D(zeta^(5^j))|^2 for j < N/2, where D is a polynomial of N coefficients; the other embeddings are conjugate to these. In a ring of
    /// two axes these are values in Y, for Z = omega, omega^2, .. one after the other.
    fn squared_embeddings(&self, coefficients: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut coefficients: Vec<f64> = coefficients.collect();
        coefficients.resize(self.ring.degree(), 0.0);
        let embeddings = match &self.embeddings {
            Embeddings::Axis(embeddings) => embeddings,
            Embeddings::Odd(roots, units) => {
                let all = [self.ring.rows(), self.ring.columns()];
                return odd_embeddings(self.ring, &coefficients, (roots, units), all);
            }
        };
        let slots = embeddings.slots();
        let values = |row: &[f64]| {
            let (low, high) = row.split_at(slots);
            let mut values: Vec<Complex> =
                low.iter().zip(high).map(|(&re, &im)| Complex::new(re, im)).collect();
            embeddings.forward(&mut values);
            values
        };
        let rows: Vec<Vec<Complex>> = coefficients.chunks_exact(2 * slots).map(values).collect();
        if let [row] = rows.as_slice() {
            return row.iter().map(|z| z.norm_sqr()).collect();
        }
        let odd = self.ring.odd_part();
        let root = |i: u64| {
            let angle = core::f64::consts::TAU * i as f64 / odd as f64;
            Complex::new(libm::cos(angle), libm::sin(angle))
        };
        let roots: Vec<Complex> = (0..odd).map(root).collect();
        let at = |i: usize, j: usize| {
            let terms = rows.iter().zip(1..).map(|(row, k): (_, usize)| row[j] * roots[i * k % roots.len()]);
            terms.fold(Complex::new(0.0, 0.0), |sum, term| sum + term).norm_sqr()
        };
        (1..roots.len()).flat_map(|i| (0..slots).map(move |j| (i, j))).map(|(i, j)| at(i, j)).collect()
    }

    /// The gain of a linear map with these diagonals D_k, each a rotation g and the N integer coefficients of sigma_g^-1(D_k).
    pub(crate) fn gain(&self, giant_steps: usize, terms: Terms, diagonals: &[(i64, Vec<i64>)]) -> LinearGain {
        let slots = self.ring.columns() / 2;
        let all = par::map(diagonals.len(), |i| {
            let (rotation, coefficients) = &diagonals[i];
            let mut squares = self.squared_embeddings(coefficients.iter().map(|&c| c as f64));
            // sigma_g^-1(D) has at 5^(j + g) what D has at 5^j.
            for row in squares.chunks_exact_mut(slots) {
                row.rotate_left(rotation.rem_euclid(slots as i64) as usize);
            }
            squares
        });
        LinearGain::of_squares(giant_steps, terms, all)
    }

    /// |D(zeta)|^2 for D in a ring of odd index, given by its first coefficients. `kept` are the numbers of rows and words that are
    /// computed, where all other values repeat these; without it all are computed.
    pub(crate) fn repeated_squares(&self, coefficients: &[i64], kept: Option<[usize; 2]>) -> Vec<f64> {
        let Embeddings::Odd(roots, units) = &self.embeddings else { return Vec::new() };
        let all = kept.unwrap_or([self.ring.rows(), self.ring.columns()]);
        let coefficients: Vec<f64> = coefficients.iter().map(|&c| c as f64).collect();
        odd_embeddings(self.ring, &coefficients, (roots, units), all)
    }

    /// Noise after a division by `divisor`.
    pub fn rescaled(&self, noise: f64, divisor: f64) -> f64 {
        noise / divisor + self.rounding
    }

    /// Noise of a linear map at a level, divided by the primes of the level.
    ///
    /// The sum over k of D_k(zeta) v(zeta_k), zeta_k the image of zeta under sigma_k, has different embeddings of v as its terms.
    /// Where the gain is a root of squares, they are taken to be independent, so that their squares add up. A plaintext
    /// over P may be anything, and so is not independent; but the squares of its embeddings add up to N^2/4 at most, and by the
    /// inequality of Cauchy and Schwarz what it contributes is at most 3/2 of what [`Self::fresh`] counts for it.
    ///
    /// # Panics
    /// For a level that the chain does not have.
    pub fn linear(&self, noise: f64, gain: &LinearGain, level: usize, divisor: f64) -> f64 {
        let switch = self.key_switch(level);
        let babies = (noise + switch) * gain.embedding;
        self.rescaled(babies + gain.giant_steps as f64 * (switch + self.rounding), divisor)
    }

    /// The noise of an argument from which [`Self::linear`] makes `noise`.
    ///
    /// # Panics
    /// For a level that the chain does not have.
    pub(crate) fn before_linear(&self, noise: f64, gain: &LinearGain, level: usize, divisor: f64) -> f64 {
        let switch = self.key_switch(level);
        let babies = (noise - self.rounding) * divisor - gain.giant_steps as f64 * (switch + self.rounding);
        babies / gain.embedding - switch
    }
}

impl Embeddings {
    fn of(ring: Cyclotomic) -> Result<Self, Error> {
        let Some(pair) = ring.odd_index() else { return Ok(Self::Axis(SpecialFft::new(ring.columns())?)) };
        let root = |i: u64| {
            let angle = core::f64::consts::TAU * i as f64 / ring.index() as f64;
            Complex::new(libm::cos(angle), libm::sin(angle))
        };
        Ok(Self::Odd((0..ring.index()).map(root).collect(), pair.units()))
    }
}

/// |D(zeta^k)|^2 for units k modulo an odd index, in the order of values, axis by axis: the first `words` words of the first `rows` rows.
fn odd_embeddings(
    ring: Cyclotomic,
    coefficients: &[f64],
    (roots, units): (&[Complex], &[u64]),
    [rows, words]: [usize; 2],
) -> Vec<f64> {
    let columns = ring.columns();
    // Only called for an odd index.
    let Some(index) = ring.odd_index() else { return Vec::new() };
    let ([first, second], axis) = (index.parts(), index.first_axis());
    let zero = Complex::new(0.0, 0.0);
    // X_2 = X^first, and the first units are 1 modulo the first prime.
    let along: Vec<Vec<Complex>> = coefficients
        .chunks_exact(columns)
        .map(|row| {
            let at = |k: u64| {
                let terms = (0..).zip(row).map(|(j, &c): (u64, _)| {
                    roots[(first * (j * k % second)) as usize] * Complex::new(c, 0.0)
                });
                terms.fold(zero, |sum, term| sum + term)
            };
            units[..words].iter().map(|&k| at(k % second)).collect()
        })
        .collect();
    let at = |(row, word): (usize, usize)| {
        let k = units[row * columns] % first;
        let terms = axis
            .rows
            .iter()
            .zip(&along)
            .map(|(e, row)| row[word] * roots[(second * (e * k % first)) as usize]);
        terms.fold(zero, |sum, term| sum + term).norm_sqr()
    };
    (0..rows).flat_map(|row| (0..words).map(move |word| (row, word))).map(at).collect()
}

fn largest_root(squares: &[f64]) -> f64 {
    let largest = squares.iter().copied().fold(0.0, f64::max);
    // Transforms are far more accurate than this.
    libm::sqrt(largest) * (1.0 + 1e-9)
}

/// Squared length of the secret.
fn secret_weight(spec: &RlweSpec) -> f64 {
    match spec.secret {
        SecretDistribution::Sparse { weight } | SecretDistribution::BlockSparse { weight, .. } => {
            f64::from(weight)
        }
        SecretDistribution::Ternary => spec.n as f64 * TERNARY_WEIGHT,
    }
}

fn rounding_deviation(spec: &RlweSpec) -> f64 {
    rounding_of_weight(secret_weight(spec))
}

fn rounding_of_weight(weight: f64) -> f64 {
    libm::sqrt((1.0 + weight) / 12.0)
}

/// Deviation of key-switch noise: digits, centred modulo their primes' product D_j, times errors, summed over digits and divided by P.
fn key_switch_deviation(ring: Cyclotomic, spec: &RlweSpec, level: usize) -> f64 {
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
    error_growth(ring) * SmallPoly::ERROR_SIGMA * libm::sqrt(spec.n as f64 * squares / 12.0)
}

/// In a ring of two axes errors are drawn for one power of the second axis more than its basis has; for an odd index, for one power more on
/// each axis.
fn error_growth(ring: Cyclotomic) -> f64 {
    axes(ring).map(|d| libm::sqrt((d + 1) as f64 / d as f64)).product()
}

/// Degrees of the axes in which the element 1, or another one, is minus the sum of the others.
fn axes(ring: Cyclotomic) -> impl Iterator<Item = usize> {
    let [first, second, third] = match ring.odd_index() {
        Some(index) => {
            let [first, second] = index.grid();
            [first, second, ring.columns()]
        }
        None => [ring.rows(), 1, 1],
    };
    [first, second, third].into_iter().filter(|&d| d > 1)
}
