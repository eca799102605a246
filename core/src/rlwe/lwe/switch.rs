//! Key switching between LWE secrets: from a ring key modulo p to a short key modulo a power of two.

use alloc::{format, vec, vec::Vec};

use rand_core::Rng;
use zeroize::Zeroize;

use super::sample::LweSample;
use crate::{
    arith::{Modulus, Word},
    error::Error,
    par,
    random::Seed,
    ring::{Binomial, SmallPoly},
    rlwe::{KeySeeds, mask_stream},
};

/// Shape of a key-switching key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LweSwitchSpec {
    /// Dimension N switched from.
    pub from: usize,
    /// Dimension n switched to.
    pub to: usize,
    /// log2 of the modulus q switched to: 1 to 31.
    pub log_q: u32,
    /// log2 of the base B of the digits.
    pub base_log: u32,
    /// Number d of digits; the lowest log2 q - d log2 B bits are rounded away.
    pub digits: usize,
}

/// A sample (a, b) modulo 2^`log_q`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedLwe {
    /// The mask.
    pub a: Vec<u32>,
    /// The body.
    pub b: u32,
    /// log2 of the modulus.
    pub log_q: u32,
}

/// Samples (alpha, beta) with beta + <alpha, s> = e + z_i 2^drop B^k modulo q, for every coordinate i of
/// the key switched from and every digit k: `[i][k][n + 1]`, beta last, words as narrow as q allows.
pub struct LweSwitchKey {
    spec: LweSwitchSpec,
    rows: LweSwitchRows,
}

/// The rows of a key-switching key as they lie in memory. Sums wrap around, which only takes off multiples of q.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LweSwitchRows {
    /// Two bytes a residue, up to q = 2^16.
    Narrow(Vec<u16>),
    /// Four bytes a residue.
    Wide(Vec<u32>),
}

/// Name of the random streams of the key.
const BLOCK: [u64; 4] = [1, 0, 0, 0];

impl LweSwitchSpec {
    /// Checks the shape.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an empty dimension or digit, a modulus beyond 2^31, or digits that
    /// exceed it.
    pub fn check(&self) -> Result<(), Error> {
        let Self { from, to, log_q, base_log, digits } = *self;
        let taken = digits.saturating_mul(base_log as usize);
        if from == 0
            || to == 0
            || !(1..=31).contains(&log_q)
            || base_log == 0
            || digits == 0
            || taken > log_q as usize
        {
            return Err(Error::InvalidArgument(format!(
                "key switching from dimension {from} to {to} with {digits} digits of {base_log} bits at modulus 2^{log_q}; take \
                 positive dimensions and digits, the digits within the modulus, and that 2^31 at most"
            )));
        }
        Ok(())
    }

    /// Bits rounded away.
    pub fn drop(&self) -> u32 {
        self.log_q - self.digits as u32 * self.base_log
    }

    /// Number of samples: from · digits.
    pub fn samples(&self) -> usize {
        self.from * self.digits
    }

    fn mask(&self) -> u32 {
        u32::MAX >> (32 - self.log_q)
    }

    /// Makes the bodies beta of all samples, `[i][k]`.
    pub fn bodies(&self, seeds: &KeySeeds, z: &SmallPoly, s: &SmallPoly) -> Vec<u32> {
        debug_assert!(z.coefficients().len() == self.from && s.coefficients().len() == self.to);
        let groups = par::map(self.from, |i| {
            let mut masks = vec![0u32; self.digits * self.to];
            self.masks(seeds.public(), i, &mut masks);
            let mut errors = vec![0i8; self.digits];
            Binomial::Coins21.sample(&mut seeds.error_stream(BLOCK, i), &mut errors);
            let z = z.coefficients()[i] as u32;
            let mut bodies: Vec<u32> = Vec::with_capacity(self.digits);
            for (k, alpha) in masks.chunks_exact(self.to).enumerate() {
                let mut product = 0u32;
                for (&x, &s) in alpha.iter().zip(s.coefficients()) {
                    product = product.wrapping_add(x.wrapping_mul(s as u32));
                }
                let payload = z.wrapping_mul(1 << (self.drop() + k as u32 * self.base_log));
                bodies.push((errors[k] as u32).wrapping_add(payload).wrapping_sub(product) & self.mask());
            }
            errors.zeroize();
            bodies
        });
        groups.concat()
    }

    /// The masks of the samples of coordinate `i`, `[k][n]`: little-endian words of the stream, two bytes
    /// each up to q = 2^16 and four beyond; only their low bits count.
    fn masks(&self, public: &Seed, i: usize, out: &mut [u32]) {
        let mut stream = mask_stream(public, BLOCK, i);
        if self.log_q <= 16 {
            let mut bytes = vec![0; 2 * out.len()];
            stream.fill_bytes(&mut bytes);
            for (x, bytes) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
                *x = u32::from(u16::from_le_bytes(*bytes)) & self.mask();
            }
        } else {
            let mut bytes = vec![0; 4 * out.len()];
            stream.fill_bytes(&mut bytes);
            for (x, bytes) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *x = u32::from_le_bytes(*bytes) & self.mask();
            }
        }
    }
}

impl LweSwitchKey {
    /// Expands a key from its public seed and its bodies, `[i][k]`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of bodies than the shape has.
    pub fn expand(spec: &LweSwitchSpec, public: &Seed, bodies: &[u32]) -> Result<Self, Error> {
        if bodies.len() != spec.samples() {
            return Err(Error::InvalidArgument(format!(
                "{} bodies of a key-switching key that has {}; give all of them",
                bodies.len(),
                spec.samples()
            )));
        }
        let rows = if spec.log_q <= 16 {
            LweSwitchRows::Narrow(expand(spec, public, bodies, |x| x as u16))
        } else {
            LweSwitchRows::Wide(expand(spec, public, bodies, |x| x))
        };
        Ok(Self { spec: *spec, rows })
    }

    /// A key from its rows as they lie in memory, `[i][k][n + 1]`, as [`Self::rows`] gives them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of residues than the shape has, or of another width.
    pub fn from_rows(spec: &LweSwitchSpec, rows: LweSwitchRows) -> Result<Self, Error> {
        let (narrow, found) = match &rows {
            LweSwitchRows::Narrow(rows) => (true, rows.len()),
            LweSwitchRows::Wide(rows) => (false, rows.len()),
        };
        let wanted = spec.samples() * (spec.to + 1);
        if found == wanted && narrow == (spec.log_q <= 16) {
            return Ok(Self { spec: *spec, rows });
        }
        Err(Error::InvalidArgument(format!(
            "{found} residues of {} bytes for a key-switching key of {wanted} modulo 2^{}; take those of a key of the set",
            if narrow { 2 } else { 4 },
            spec.log_q
        )))
    }

    /// The rows as they lie in memory, `[i][k][n + 1]`.
    pub fn rows(&self) -> &LweSwitchRows {
        &self.rows
    }

    /// The shape.
    pub fn spec(&self) -> &LweSwitchSpec {
        &self.spec
    }

    /// Bytes in memory.
    pub fn memory_bytes(&self) -> usize {
        match &self.rows {
            LweSwitchRows::Narrow(rows) => size_of_val(rows.as_slice()),
            LweSwitchRows::Wide(rows) => size_of_val(rows.as_slice()),
        }
    }

    /// The same phase, up to noise, under the short key modulo q.
    pub fn switch<W: Word>(&self, m: &Modulus<W>, sample: &LweSample<W>) -> SwitchedLwe {
        debug_assert_eq!(sample.a.len(), self.spec.from);
        // Most small digits are zero: their rows are not read.
        let digits = self.digits(m, &sample.a);
        let chosen: Vec<(u32, i16)> = (0..).zip(digits).filter(|(_, digit)| *digit != 0).collect();
        let (n, kernels) = (self.spec.to, W::gate_kernels());
        let mut sum: Vec<u32> = match &self.rows {
            LweSwitchRows::Narrow(rows) => {
                let mut sum = vec![0u16; n + 1];
                kernels.add_rows_narrow(&mut sum, rows, &chosen);
                sum.into_iter().map(u32::from).collect()
            }
            LweSwitchRows::Wide(rows) => {
                let mut sum = vec![0u32; n + 1];
                kernels.add_rows_wide(&mut sum, rows, &chosen);
                sum
            }
        };
        sum[n] = sum[n].wrapping_add(round(m, sample.b, self.spec.log_q));
        for x in &mut sum {
            *x &= self.spec.mask();
        }
        let b = sum.pop().unwrap_or_default();
        SwitchedLwe { a: sum, b, log_q: self.spec.log_q }
    }

    /// The digits of the masks, `[i][k]`, in [-B/2, B/2].
    ///
    /// A digit of B/2 could as well be -B/2 with a carry; the bits above decide, so that digits have
    /// mean 0. A constant mean would be a constant offset of the phase, different for every key.
    fn digits<W: Word>(&self, m: &Modulus<W>, a: &[W]) -> Vec<i16> {
        let LweSwitchSpec { base_log, digits, .. } = self.spec;
        let kept = base_log * digits as u32;
        let (base, half) = (1i64 << base_log, 1i64 << (base_log - 1));
        let p = m.value_u64();
        let mut out = Vec::with_capacity(a.len() * digits);
        for &x in a {
            let rounded = i64::from(round(m, x, kept));
            // The representative in [-2^kept / 2, 2^kept / 2].
            let mut rest = if x.to_u64() > p / 2 { rounded - (1 << kept) } else { rounded };
            for _ in 0..digits {
                let low = rest & (base - 1);
                let above = rest >> base_log;
                let carry = i64::from(low > half || (low == half && above & 1 == 1));
                out.push((low - carry * base) as i16);
                rest = above + carry;
            }
        }
        out
    }
}

/// x 2^bits / p to the nearest integer.
fn round<W: Word>(m: &Modulus<W>, x: W, bits: u32) -> u32 {
    let (x, p) = (x.to_u64(), m.value_u64());
    if (x | p) >> (63 - bits) == 0 {
        (((x << bits) + p / 2) / p) as u32
    } else {
        (((u128::from(x) << bits) + u128::from(p / 2)) / u128::from(p)) as u32
    }
}

fn expand<T: Copy + Default + Send>(
    spec: &LweSwitchSpec,
    public: &Seed,
    bodies: &[u32],
    lane: impl Fn(u32) -> T + Sync + Send,
) -> Vec<T> {
    let n = spec.to;
    let mut rows = vec![T::default(); spec.samples() * (n + 1)];
    par::for_each_chunk_mut(&mut rows, spec.digits * (n + 1), |i, group| {
        let mut masks = vec![0u32; spec.digits * n];
        spec.masks(public, i, &mut masks);
        for ((row, masks), &body) in
            group.chunks_exact_mut(n + 1).zip(masks.chunks_exact(n)).zip(&bodies[i * spec.digits..])
        {
            for (x, &mask) in row.iter_mut().zip(masks) {
                *x = lane(mask);
            }
            row[n] = lane(body);
        }
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: u64 = 134_215_681;

    fn setup(spec: LweSwitchSpec, seed: u8) -> (SmallPoly, SmallPoly, LweSwitchKey) {
        spec.check().unwrap();
        let master = Seed::from_bytes([seed; 32]);
        let z = SmallPoly::ternary(spec.from, &mut master.derive("z", &[]).stream());
        let mut s = vec![0; spec.to];
        master.derive("s", &[]).stream().binary(&mut s);
        let s = SmallPoly::from_coefficients(s);
        let seeds = KeySeeds::derive(&master);
        let key = LweSwitchKey::expand(&spec, seeds.public(), &spec.bodies(&seeds, &z, &s)).unwrap();
        (z, s, key)
    }

    fn random_sample(m: &Modulus<u32>, n: usize, seed: u64) -> LweSample<u32> {
        let mut a = vec![0; n + 1];
        Seed::from_bytes([9; 32]).derive("sample", &[seed]).stream().fill_uniform_u32(m.value(), &mut a);
        let b = a.pop().unwrap();
        LweSample { a, b }
    }

    /// Phase error of a switch, in units of q.
    fn error(m: &Modulus<u32>, z: &SmallPoly, s: &SmallPoly, key: &LweSwitchKey, x: &LweSample<u32>) -> f64 {
        let phase = |a: &[u32], b: u32, s: &SmallPoly| {
            let product: i64 =
                a.iter().zip(s.coefficients()).map(|(&x, &y)| i64::from(x) * i64::from(y)).sum();
            (i64::from(b) + product) as f64
        };
        let q = f64::from(1u32 << key.spec.log_q);
        let switched = key.switch(m, x);
        let turns = phase(&switched.a, switched.b, s) / q - phase(&x.a, x.b, z) / m.value_u64() as f64;
        (turns - turns.round()) * q
    }

    #[test]
    fn the_phase_survives_with_the_noise_of_the_formula() {
        let m = Modulus::<u32>::new(P).unwrap();
        for (log_q, base_log, digits) in [(16, 2, 8), (15, 2, 7), (20, 1, 18), (16, 4, 3)] {
            let spec = LweSwitchSpec { from: 256, to: 64, log_q, base_log, digits };
            let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
            for seed in 0..6 {
                let (z, s, key) = setup(spec, seed);
                for i in 0..100 {
                    let e = error(&m, &z, &s, &key, &random_sample(&m, 256, i));
                    (sum, squares, count) = (sum + e, squares + e * e, count + 1.0);
                }
            }
            let b = f64::from(1u32 << base_log);
            // Balanced digits: E d^2 of uniform digits with the end points shared.
            let v_digit = if base_log == 1 {
                1.0 / 3.0
            } else {
                b * b / 12.0 + if base_log == 2 { 1.0 / 3.0 } else { 0.0 }
            };
            let drop = f64::from(1u32 << (2 * spec.drop()));
            let expected = 256.0 * digits as f64 * v_digit * 10.5 + (1.0 + 256.0 * (2.0 / 3.0) * drop) / 12.0;
            let (mean, variance): (f64, f64) = (sum / count, squares / count);
            assert!((variance / expected - 1.0).abs() < 0.25, "2^{log_q}: {variance}, not {expected}");
            assert!(mean.abs() < 0.2 * expected.sqrt(), "2^{log_q}: mean {mean}");
        }
    }

    #[test]
    fn digits_are_balanced_and_add_up() {
        let m = Modulus::<u32>::new(P).unwrap();
        for (log_q, base_log, digits) in [(16, 2, 8), (15, 2, 7), (20, 1, 18), (16, 4, 4), (13, 13, 1)] {
            let spec = LweSwitchSpec { from: 4000, to: 1, log_q, base_log, digits };
            let key = LweSwitchKey { spec, rows: LweSwitchRows::Narrow(Vec::new()) };
            let mut a = random_sample(&m, 4000, 1).a;
            let edges = [0, 1, P / 2, P / 2 + 1, P - 1];
            a.iter_mut().zip(edges).for_each(|(x, edge)| *x = edge as u32);
            let all = key.digits(&m, &a);
            let kept = base_log * digits as u32;
            for (&x, digits) in a.iter().zip(all.chunks_exact(digits)) {
                let sum: i64 =
                    digits.iter().enumerate().map(|(k, &d)| i64::from(d) << (k as u32 * base_log)).sum();
                assert_eq!((sum - i64::from(round(&m, x, kept))).rem_euclid(1 << kept), 0, "{x}");
                assert!(digits.iter().all(|d| d.unsigned_abs() <= 1 << (base_log - 1)));
            }
            let count = all.len() as f64;
            let mean = all.iter().map(|&d| f64::from(d)).sum::<f64>() / count;
            let spread = f64::from(1u32 << base_log) * 5.0 / count.sqrt();
            assert!(mean.abs() < spread, "base 2^{base_log}: mean {mean}");
        }
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let good = LweSwitchSpec { from: 8, to: 4, log_q: 16, base_log: 2, digits: 8 };
        assert!(good.check().is_ok());
        for bad in [
            LweSwitchSpec { from: 0, ..good },
            LweSwitchSpec { to: 0, ..good },
            LweSwitchSpec { log_q: 32, ..good },
            LweSwitchSpec { digits: 9, ..good },
            LweSwitchSpec { digits: usize::MAX, ..good },
            LweSwitchSpec { base_log: 0, ..good },
        ] {
            assert_eq!(bad.check().unwrap_err().code(), "INVALID_ARGUMENT");
        }
        let error = LweSwitchKey::expand(&good, &Seed::from_bytes([0; 32]), &[0; 31]).err();
        assert_eq!(error.map(|e| e.code()), Some("INVALID_ARGUMENT"));
    }
}
