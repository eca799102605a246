//! Integers modulo n in slots, with bounds on their size and their noise.
//!
//! A residue is any integer of its class, so that sums and products need no reduction until |z| / n or the noise becomes too large for a
//! reading: one reduction whatever the number of products before it (Kim, Noh, "Modular Reduction in CKKS"). Every residue comes with
//! bounds of both, which decide when it is reduced.
//!
//! Every level has one scale. At the level of inputs it is that of the set over n, at which a coefficient over q0 is z/n; at
//! higher levels it is the scale whose square, rescaled, is the scale of the level below.

use alloc::{format, vec::Vec};

use zeroize::Zeroize;

use super::{
    noise,
    radix::{MAX_DIGIT, Radix},
    spec::{LARGEST_MESSAGE, MsbParams, MsbSecretKey},
    stages,
};
use crate::{
    arith::Word,
    error::Error,
    random::Seed,
    schemes::ckks::{Ciphertext, Complex, Private, Scale},
};

/// The integers modulo n in the slots of ciphertexts of one set.
#[derive(Clone)]
pub struct ResidueRing<W: Word = u64> {
    params: MsbParams<W>,
    modulus: u64,
    largest_base: u32,
    /// The scale of each level.
    scales: Vec<Scale>,
}

/// Encrypted integers, one a slot, each standing for its class modulo n, with a bound of their absolute values and of their noise.
#[derive(Clone)]
pub struct Residue<W: Word = u64> {
    pub(super) x: Ciphertext<W>,
    pub(super) bounds: Bounds,
}

impl<W: Word> Residue<W> {
    /// The ciphertext: integers at the scale of its level.
    pub fn ciphertext(&self) -> &Ciphertext<W> {
        &self.x
    }

    /// A bound of the absolute values of the integers.
    pub fn largest(&self) -> f64 {
        self.bounds.largest
    }

    /// A bound of the errors of the integers, exceeded only with the probability of six deviations.
    pub fn off(&self) -> f64 {
        self.bounds.off
    }
}

/// What is known of a residue without its key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounds {
    pub level: usize,
    pub largest: f64,
    pub off: f64,
}

/// How a residue is read.
pub(super) struct Reading {
    /// Bounds of the fractions.
    pub largest: f64,
    pub off: f64,
    pub radix: Radix,
    /// Error of the integers afterwards.
    left: f64,
}

impl<W: Word> ResidueRing<W> {
    /// The integers modulo `modulus`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] as [`Radix::of_modulus`], for bases that leave a level for a product; and for a modulus whose residues,
    /// once multiplied, have more noise than two readings remove.
    pub fn new(params: &MsbParams<W>, modulus: u64) -> Result<Self, Error> {
        let levels = params.levels();
        // A level for a product beside those of the table, which takes log2 2t for base t.
        let largest_base = MAX_DIGIT.min(1 << levels.left().saturating_sub(2).min(16));
        Radix::of_modulus(modulus, largest_base)?;
        let primes = &params.ckks().rlwe().spec().levels;
        let lowest = params.scale().div(Scale::from_integer(modulus));
        let mut scales = alloc::vec![lowest; levels.input + 1];
        let mut scale = lowest;
        for primes in &primes[levels.input + 1..=levels.output] {
            scale = scale.mul(Scale::product(primes.iter().copied())).sqrt();
            scales.push(scale);
        }
        let ring = Self { params: params.clone(), modulus, largest_base, scales };
        let reduced = Bounds {
            level: levels.output - stages::table_levels(largest_base),
            largest: ring.half() as f64,
            off: ring.tidy(),
        };
        if ring.product(reduced, reduced).is_none() {
            return Err(Error::InvalidArgument(format!(
                "integers modulo {modulus}: a product of two makes the noise of {} larger than two readings take off; take a smaller \
                 modulus, or several whose product it is",
                params.name()
            )));
        }
        Ok(ring)
    }

    /// The set.
    pub fn params(&self) -> &MsbParams<W> {
        &self.params
    }

    /// n.
    pub fn modulus(&self) -> u64 {
        self.modulus
    }

    /// The scale of integers at a level, from that of inputs to that of outputs; beyond these two, the scale of the nearer one.
    pub fn scale(&self, level: usize) -> Scale {
        self.scales[level.min(self.scales.len() - 1)]
    }

    /// Encrypts integers below n, one a slot, at a level from that of inputs to that of outputs. Missing slots are zero.
    ///
    /// `randomness` must be fresh for every ciphertext.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an integer that is not below n, naming its slot; [`Error::LevelMismatch`];
    /// [`Error::ParamsMismatch`] for a key of another set; as [`MsbSecretKey::encrypt`].
    pub fn encrypt(
        &self,
        secret: &MsbSecretKey<W>,
        integers: &[u64],
        level: usize,
        randomness: &Seed,
    ) -> Result<Residue<W>, Error> {
        self.check_key(secret)?;
        if let Some(i) = integers.iter().position(|&z| z >= self.modulus) {
            return Err(Error::InvalidArgument(format!(
                "integer {i} is {}, and residues modulo {} are encrypted; reduce it first",
                integers[i], self.modulus
            )));
        }
        let share = self.scale(level).div(self.params.scale()).to_f64();
        let centred = |&z: &u64| z as f64 - if z > self.half() { self.modulus as f64 } else { 0.0 };
        let mut slots: Vec<Complex> =
            integers.iter().map(|z| Complex::new(share * centred(z), 0.0)).collect();
        let x = secret.encrypt(&slots, level, randomness);
        slots.zeroize();
        self.residue(x?.relabelled(self.scale(level)), self.half() as f64)
    }

    /// Takes integers of absolute values up to `largest` that were encrypted elsewhere, at the scale of their level.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`], [`Error::ScaleMismatch`]; [`Error::InvalidArgument`] for a bound that is
    /// negative or so large that they could not be reduced.
    pub fn residue(&self, x: Ciphertext<W>, largest: f64) -> Result<Residue<W>, Error> {
        let levels = self.params.levels();
        self.params.check_input(&x, levels.input)?;
        if x.level() > levels.output {
            return Err(Error::LevelMismatch(format!(
                "residues are at levels {} to {}, the ciphertext is at {}; drop it",
                levels.input,
                levels.output,
                x.level()
            )));
        }
        if !x.scale().matches(self.scale(x.level())) {
            return Err(Error::ScaleMismatch(format!(
                "integers modulo {} at scale 2^{:.6}, and those at level {} are at 2^{:.6}; relabel or rescale them",
                self.modulus,
                x.log_scale(),
                x.level(),
                self.scale(x.level()).log2()
            )));
        }
        let bounds = Bounds { level: x.level(), largest, off: self.rescaled(x.level()) };
        // Written so that NaN is refused too.
        if !(largest >= 0.0 && self.is_safe(bounds)) {
            return Err(Error::InvalidArgument(format!(
                "residues modulo {} of integers up to {largest} could not be read; state a smaller bound, or reduce them earlier",
                self.modulus
            )));
        }
        Ok(Residue { x, bounds })
    }

    /// Decrypts: one integer below n a slot.
    ///
    /// # Errors
    /// As [`MsbSecretKey::decrypt`].
    pub fn decrypt(&self, secret: &MsbSecretKey<W>, x: &Residue<W>) -> Result<Private<Vec<u64>>, Error> {
        let slots = secret.decrypt(&x.x)?;
        let n = self.modulus as i64;
        let integers =
            slots.reveal_to_key_owner().iter().map(|z| (libm::rint(z.re) as i64).rem_euclid(n) as u64);
        Ok(Private::new(integers.collect()))
    }

    fn check_key(&self, secret: &MsbSecretKey<W>) -> Result<(), Error> {
        if secret.params().fingerprint() == self.params.fingerprint() {
            return Ok(());
        }
        Err(Error::ParamsMismatch(format!(
            "residues in ciphertexts of {}, and a secret key of {}; take one of the set",
            self.params.name(),
            secret.params().name()
        )))
    }

    /// The largest residue of least absolute value.
    pub(super) fn half(&self) -> u64 {
        self.modulus / 2
    }

    /// The error that is allowed for integers that were just read: twice what a reading leaves.
    fn tidy(&self) -> f64 {
        2.0 * self.modulus as f64 * noise::of_reading(&self.params)
    }

    /// The error that a product or a change of scale adds to integers at a level.
    fn rescaled(&self, level: usize) -> f64 {
        noise::of_rescaling(&self.params) / self.scale(level).to_f64()
    }

    /// Bounds at a lower level, reached by a product with a constant that is rounded.
    fn brought(&self, x: Bounds, level: usize) -> Bounds {
        if x.level == level {
            return x;
        }
        let primes = &self.params.ckks().rlwe().spec().levels[level + 1];
        let constant = self.scale(level).mul(Scale::product(primes.iter().copied())).div(self.scale(x.level));
        let rounded = x.largest / (2.0 * constant.to_f64());
        Bounds { level, off: x.off + rounded + self.rescaled(level), ..x }
    }

    /// The scale of fractions of results of a level.
    pub(super) fn unit(&self, level: usize) -> Scale {
        self.scale(level).mul(Scale::from_integer(self.modulus))
    }

    /// The bounds with which a residue plus n/2 is read as a fraction of n, and the bases in which it is read.
    pub(super) fn reading(&self, x: Bounds) -> Option<Reading> {
        let levels = self.params.levels();
        let (x, n) = (self.brought(x, levels.input), self.modulus as f64);
        let largest = (x.largest + self.half() as f64) / n;
        if largest > LARGEST_MESSAGE {
            return None;
        }
        let primes = &self.params.ckks().rlwe().spec().levels[levels.input + 1];
        let digits =
            self.unit(levels.output).div(self.params.scale().mul(Scale::product(primes.iter().copied())));
        let off = x.off / n + digits.to_f64() / 2.0;
        let there = off + noise::of_first_map(&self.params, largest);
        let radix = Radix::bearing(self.modulus, self.largest_base, there).ok()?;
        let left = radix.left_of(there) + n * noise::of_reading(&self.params);
        Some(Reading { largest, off, radix, left })
    }

    /// Bounds after a reading.
    pub(super) fn read(&self, x: Bounds) -> Option<Bounds> {
        let reading = self.reading(x)?;
        let largest_base = reading.radix.bases().iter().copied().max()?;
        let level = self.params.levels().output - stages::table_levels(largest_base);
        Some(Bounds { level, largest: self.half() as f64, off: reading.left })
    }

    /// Whether two readings leave no noise but their own.
    fn is_safe(&self, x: Bounds) -> bool {
        let tidy = |x: Bounds| x.off <= self.tidy();
        self.read(x).is_some_and(|once| tidy(once) || self.read(once).is_some_and(tidy))
    }

    fn if_safe(&self, x: Bounds) -> Option<Bounds> {
        self.is_safe(x).then_some(x)
    }

    /// Bounds of a sum or a difference, if it can be read.
    pub(super) fn sum(&self, x: Bounds, y: Bounds) -> Option<Bounds> {
        let level = x.level.min(y.level);
        let (x, y) = (self.brought(x, level), self.brought(y, level));
        self.if_safe(Bounds { level, largest: x.largest + y.largest, off: x.off + y.off })
    }

    /// Bounds of a product with an integer, if it can be read.
    pub(super) fn multiple(&self, x: Bounds, k: i64) -> Option<Bounds> {
        let k = k.unsigned_abs() as f64;
        self.if_safe(Bounds { largest: k * x.largest, off: k * x.off, ..x })
    }

    /// Bounds of a product, if there is a level for it and it can be read.
    pub(super) fn product(&self, x: Bounds, y: Bounds) -> Option<Bounds> {
        let level = x.level.min(y.level);
        if level <= self.params.levels().input {
            return None;
        }
        let (x, y) = (self.brought(x, level), self.brought(y, level));
        let off = x.largest * y.off + y.largest * x.off + x.off * y.off + self.rescaled(level - 1);
        self.if_safe(Bounds { level: level - 1, largest: x.largest * y.largest, off })
    }
}
