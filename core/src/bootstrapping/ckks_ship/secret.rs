//! Secret keys of a SHIP set and the samples they make.

use alloc::{format, vec::Vec};

use subtle::{ConditionallySelectable, ConstantTimeEq, ConstantTimeGreater};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::params::{OUTPUT_LEVEL, ShipParams};
use crate::{
    arith::{Word, complex::Complex},
    bootstrapping::method::{NumberSecret, SlotMode},
    error::Error,
    random::Seed,
    ring::SmallPoly,
    rlwe::{KeySeeds, SecretKey, SparseSecret, scatter_constant_time},
    schemes::{
        ckks::{self, Ciphertext, Private, PublicKey, key_set_id, key_set_seed},
        secret_key_identity,
    },
};

/// One non-zero coefficient of the sparse secret: J = o + r (+ N if negative), r = r0 + theta r1,
/// r1 in mixed radix.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(super) struct Factor {
    /// Candidate of the column step, below theta.
    pub r0: u32,
    /// r1, the number of column lengths.
    pub r1: u32,
    /// Digits of r1 in the radices of the multiplexer steps.
    pub digits: Vec<u32>,
    /// Exponent J modulo 2N.
    pub j: u64,
}

/// Everything secret of a key set: the dense key, the sparse encapsulation key, and the seed they
/// came from. Wiped when dropped.
///
/// Deterministic: the same set and seed give the same keys, and every part of the evaluation keys
/// can be made again with the same bytes. Never use one seed with two parameter sets.
pub struct ShipSecretKey<W: Word = u32> {
    pub(super) params: ShipParams<W>,
    seed: Seed,
    pub(super) seeds: KeySeeds,
    key_id: [u8; 16],
    pub(super) dense: SecretKey<W>,
    pub(super) factors: Vec<Factor>,
}

impl<W: Word> ShipSecretKey<W> {
    /// Derives all secrets of a key set from a seed, which must be fresh and kept as secret as the
    /// key.
    pub fn generate(params: &ShipParams<W>, seed: &Seed) -> Self {
        let context = params.ckks().rlwe();
        let master = key_set_seed(seed, "ship key set", &params.fingerprint());
        let seeds = KeySeeds::derive(&master);
        let dense = SecretKey::generate(context, &master);
        // Encrypting and decrypting need only these primes; the others follow when evaluation keys are made.
        dense.prepare(context.q(OUTPUT_LEVEL).len());
        let factors = draw_factors(params, &master);
        Self {
            key_id: key_id(params, &seeds),
            params: params.clone(),
            seed: seed.clone(),
            seeds,
            dense,
            factors,
        }
    }

    secret_key_identity!(ShipParams<W>);

    /// The public encryption key, at the output level.
    pub fn public_key(&self) -> Result<PublicKey<W>, Error> {
        self.main_secret()?.public_key(OUTPUT_LEVEL)
    }

    /// The sparse key, written out from its factors.
    pub(super) fn sparse(&self) -> SparseSecret {
        let n = self.params.n();
        let entries: Zeroizing<Vec<(u32, i8)>> =
            Zeroizing::new(self.factors.iter().map(|f| coefficient_of(n as u64, f.j)).collect());
        SparseSecret::new(SmallPoly::from_coefficients(scatter_constant_time(n, &entries)))
    }

    /// Encrypts values at the output level, 2: room for one multiplication before a bootstrap.
    /// `Real` and `Bits`: one value per slot, |x| <= 1 or 0/1; `Complex`: interleaved re, im.
    ///
    /// `randomness` must be fresh for every ciphertext.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for too many or out-of-range values.
    pub fn encrypt(&self, values: &[f64], mode: SlotMode, randomness: &Seed) -> Result<Ciphertext<W>, Error> {
        self.encrypt_at(values, mode, OUTPUT_LEVEL, randomness)
    }

    /// [`Self::encrypt`] at a chosen level from 1 to 2; level 1 is exhausted: a bootstrap's input.
    ///
    /// # Errors
    /// As [`Self::encrypt`]; [`Error::LevelMismatch`] for another level.
    pub fn encrypt_at(
        &self,
        values: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error> {
        self.encrypt_numbers(values, mode, level, randomness)
    }

    /// Decrypts: one value per slot (real part), or interleaved re, im for `Complex`. Bits are not
    /// rounded.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key.
    pub fn decrypt(&self, ciphertext: &Ciphertext<W>, mode: SlotMode) -> Result<Private<Vec<f64>>, Error> {
        let slots = ckks::decrypt_slots(self.params.ckks(), &self.dense, self.key_id, ciphertext)?;
        let slots = slots.reveal_to_key_owner();
        Ok(Private::new(match mode {
            SlotMode::Complex => slots.iter().flat_map(|z| [z.re, z.im]).collect(),
            SlotMode::Real | SlotMode::Bits | SlotMode::Integers => slots.iter().map(|z| z.re).collect(),
        }))
    }
}

/// Identifier of a key set: BLAKE3 of the public seed and the parameter fingerprint.
pub(super) fn key_id<W: Word>(params: &ShipParams<W>, seeds: &KeySeeds) -> [u8; 16] {
    key_id_of(params, seeds.public())
}

/// The identifier that keys expanded from `public` must carry.
pub fn key_id_of<W: Word>(params: &ShipParams<W>, public: &Seed) -> [u8; 16] {
    key_set_id(&params.fingerprint(), public)
}

/// Slots of user values.
pub(super) fn slots_of<W: Word>(
    params: &ShipParams<W>,
    values: &[f64],
    mode: SlotMode,
) -> Result<Vec<Complex>, Error> {
    check_mode(params, mode)?;
    let per_slot = if mode == SlotMode::Complex { 2 } else { 1 };
    if !values.len().is_multiple_of(per_slot) {
        return Err(Error::InvalidArgument(format!(
            "{} given, and complex slots take real and imaginary parts in turn; add the last imaginary part",
            if values.len() == 1 { "1 number".into() } else { format!("{} numbers", values.len()) }
        )));
    }
    if values.len() > per_slot * params.slots() {
        return Err(Error::InvalidArgument(format!(
            "{} numbers given, but {} slots in {} mode take up to {}{}; divide longer lists among several ciphertexts",
            values.len(),
            params.slots(),
            mode.name(),
            per_slot * params.slots(),
            if per_slot == 2 { ", in pairs" } else { "" },
        )));
    }
    if let Some(i) = values.iter().position(|x| x.is_nan() || x.abs() > 1.0) {
        return Err(Error::InvalidArgument(format!(
            "value {i} is {}, outside [-1, 1]: bootstrapping takes messages in that range; scale the input \
             down",
            values[i]
        )));
    }
    if mode == SlotMode::Bits
        && let Some(i) = values.iter().position(|x| ![0.0, 1.0].contains(x))
    {
        return Err(Error::InvalidArgument(format!(
            "value {i} is {}, a bit is 0 or 1; round it, or take a set for numbers",
            values[i]
        )));
    }
    Ok(values
        .chunks_exact(per_slot)
        .map(|v| Complex { re: v[0], im: v.get(1).copied().unwrap_or(0.0) })
        .collect())
}

/// Bits need a bits set; real sets serve real and complex slots.
pub(super) fn check_mode<W: Word>(params: &ShipParams<W>, mode: SlotMode) -> Result<(), Error> {
    if params.mode().takes(mode) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "{} mode asked of set {}, which serves {}; choose another set",
        mode.name(),
        params.name(),
        params.mode().kind()
    )))
}

/// Position and sign of the coefficient of X^J, J modulo 2N, without branches.
fn coefficient_of(n: u64, j: u64) -> (u32, i8) {
    let negative = (j >> n.trailing_zeros()) & 1;
    ((j & (n - 1)) as u32, 1 - 2 * negative as i8)
}

/// Draws r_k and eps_k for every track; starts over if two coefficients meet.
///
/// Whether a draw collides is the only thing the running time shows, and a colliding draw is thrown
/// away.
fn draw_factors<W: Word>(params: &ShipParams<W>, master: &Seed) -> Vec<Factor> {
    let spec = params.spec();
    let n = params.n() as u64;
    for attempt in 0.. {
        let mut stream = master.derive("block-sparse secret", &[attempt]).stream();
        let factors: Vec<Factor> = (0..spec.weight)
            .map(|k| {
                let r = stream.below(spec.window as u32);
                let sign = u64::from(stream.below(2));
                let j = (params.offset(k) as u64 + u64::from(r) + n * sign) & (2 * n - 1);
                let columns = spec.columns as u32;
                let r1 = quotient(r, columns, spec.window.div_ceil(spec.columns) as u32);
                Factor { r0: r - columns * r1, r1, digits: mixed_radix(r1, &spec.branches), j }
            })
            .collect();
        let mut met = 0u8;
        for (i, f) in factors.iter().enumerate() {
            for other in &factors[..i] {
                met |= (f.j & (n - 1)).ct_eq(&(other.j & (n - 1))).unwrap_u8();
            }
        }
        if met == 0 {
            return factors;
        }
    }
    unreachable!("the loop over attempts does not end")
}

/// floor(x / d) for x < d · bound, by comparisons: no division of a secret.
fn quotient(x: u32, d: u32, bound: u32) -> u32 {
    (1..=bound).map(|i| u32::from((!(i * d).ct_gt(&x)).unwrap_u8())).sum()
}

/// Digits of x in the given radices, least significant first, by comparisons.
fn mixed_radix(x: u32, radices: &[usize]) -> Vec<u32> {
    let mut rest = x;
    let mut bound: usize = radices.iter().product();
    radices
        .iter()
        .map(|&radix| {
            bound /= radix;
            let q = quotient(rest, radix as u32, bound as u32);
            let digit = rest - q * radix as u32;
            rest = u32::conditional_select(&rest, &q, 1.into());
            digit
        })
        .collect()
}
