//! The twelve sets of "RNS-CKKS bootstrapping on SEAL" with sparse packing, for comparison only.
//!
//! Their source claimed 128 bits of security. Today's estimate for a sparse secret at these moduli is less: every set says so in its title
//! and is checked against no policy. Ring, secret, modulus, and the sizes of q0, messages and levels left are as published; how the rest of
//! the modulus is divided is our own choice.

use alloc::{format, string::String};

use crate::{
    bootstrapping::{
        ckks_conventional::{ArcsineSpec, ConventionalParams, ConventionalSpec, EvalModSpec, Reduction},
        raising::{ReductionSpec, Sizes, StageOrder, chain},
    },
    error::Error,
    security::{SecretDistribution, SecurityPolicy},
};

/// One of the twelve sets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SealSet {
    /// Its number, from 1.
    pub number: u32,
    /// log2 of the largest modulus, special primes included.
    pub log_qp: f64,
    /// log2 of the scale of messages, and of the primes between bootstraps.
    pub log_scale: f64,
    /// Bits of a message before the binary point: its parts are below 2^`integer_bits`.
    pub integer_bits: u32,
    /// -log2 of the largest message relative to q0.
    pub log_distance: u32,
    /// Non-zero coefficients of the secret.
    pub weight: u32,
    /// Levels left with up to 2^14 slots, and with 2^15.
    pub levels_left: [usize; 2],
}

/// log2 of the ring degree of all sets.
const LOG_N: u32 = 16;

/// log2 of q0.
const BASE: f64 = 60.0;

/// The sets in the order of their numbers.
pub fn seal_sets() -> &'static [SealSet] {
    &SETS
}

const fn set(
    number: u32,
    log_qp: f64,
    (log_scale, integer_bits, log_distance): (f64, u32, u32),
    weight: u32,
    levels_left: [usize; 2],
) -> SealSet {
    SealSet { number, log_qp, log_scale, integer_bits, log_distance, weight, levels_left }
}

const WIDE: (f64, u32, u32) = (40.0, 17, 3);
const MIDDLE: (f64, u32, u32) = (50.0, 4, 6);
const NARROW: (f64, u32, u32) = (55.0, 1, 5);

static SETS: [SealSet; 12] = [
    set(1, 1560.0, WIDE, 64, [7, 9]),
    set(2, 1550.0, MIDDLE, 64, [8, 9]),
    set(3, 1535.0, NARROW, 64, [6, 7]),
    set(4, 1740.0, WIDE, 96, [10, 12]),
    set(5, 1760.0, MIDDLE, 96, [11, 12]),
    set(6, 1760.0, NARROW, 96, [9, 10]),
    set(7, 1740.0, WIDE, 128, [10, 12]),
    set(8, 1760.0, MIDDLE, 128, [11, 12]),
    set(9, 1760.0, NARROW, 128, [9, 10]),
    set(10, 1760.0, WIDE, 192, [9, 10]),
    set(11, 1770.0, MIDDLE, 192, [10, 11]),
    set(12, 1765.0, NARROW, 192, [8, 9]),
];

impl SealSet {
    /// `seal-1` to `seal-12`.
    pub fn name(&self) -> String {
        format!("seal-{}", self.number)
    }

    /// What the set is, with today's estimate of its security and the probability that a bootstrap of random coefficients fails. The
    /// probability is computed here, as the source states none.
    pub fn title(&self, params: &ConventionalParams) -> String {
        let failure =
            params.log2_failure().map_or(String::new(), |log| format!(", a bootstrap fails with 2^{log:.0}"));
        format!(
            "set {} of RNS-CKKS on SEAL, for comparison: {:.0}-bit by today's estimate{failure}",
            self.number,
            params.security().bits
        )
    }

    /// The parameters with 2^`log_slots` slots. A message with parts in \[-1, 1\] stands for one with parts below 2^[`Self::integer_bits`],
    /// so its scale is larger by that factor.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] outside the published range of 2^10 to 2^15 slots.
    pub fn params(&self, log_slots: u32) -> Result<ConventionalParams, Error> {
        ConventionalParams::new(&self.spec(log_slots)?)
    }

    fn spec(&self, log_slots: u32) -> Result<ConventionalSpec, Error> {
        if !(10..LOG_N).contains(&log_slots) {
            return Err(Error::InvalidArgument(format!(
                "2^{log_slots} slots of {}; published are 2^10 to 2^{}",
                self.name(),
                LOG_N - 1
            )));
        }
        let eval_mod = Reduction::Sine(self.eval_mod());
        let full = log_slots == LOG_N - 1;
        let mut sizes = Sizes {
            base: BASE,
            messages: (self.levels_left[usize::from(full)], self.log_scale),
            slots_to_coeffs: (if log_slots > 12 { 3 } else { 2 }, 42.0),
            reduction: 53.0,
            coeffs_to_slots: (3, 53.0),
            special: (0, 0.0),
            digit: 0.0,
        };
        let run = |(count, bits): (usize, f64)| count as f64 * bits;
        let ordinary = sizes.base
            + run(sizes.messages)
            + run(sizes.slots_to_coeffs)
            + eval_mod.levels() as f64 * sizes.reduction
            + run(sizes.coeffs_to_slots);
        // The rest of the published modulus, in as few primes as can hold it; half a bit is spared as primes are a little off their size.
        let room = self.log_qp - ordinary - 0.5;
        let count = libm::ceil(room / LARGEST).max(1.0);
        sizes.special = (count as usize, libm::floor(16.0 * room / count) / 16.0);
        sizes.digit = room - NOISE_ROOM;
        let secret = SecretDistribution::Sparse { weight: self.weight };
        let order = StageOrder::CoeffsToSlotsFirst;
        let spec = chain(&self.name(), LOG_N, order, &sizes, eval_mod, secret);
        let mut spec = ConventionalSpec {
            log_slots,
            log_scale: self.log_scale + f64::from(self.integer_bits),
            log_message_ratio: (BASE - self.log_scale) as u32 - self.integer_bits,
            ephemeral: None,
            ..spec
        };
        spec.chain.policy = SecurityPolicy::InsecureForTests;
        Ok(spec)
    }

    /// |x| leaves the range with a probability below 2^-100, and the cosine's angle stays within 3.6 turns.
    fn eval_mod(&self) -> EvalModSpec {
        let (range, double_angles) = match self.weight {
            ..=64 => (28, 3),
            65..=96 => (40, 4),
            97..=128 => (44, 4),
            _ => (56, 4),
        };
        // Near zero, where coefficients are, the slope is off by the degree times the largest error.
        let degree = if self.log_distance < 5 { 23 } else { 7 };
        let arcsine = Some(ArcsineSpec { degree, log_distance: self.log_distance });
        EvalModSpec { range, degree: 63, double_angles, arcsine, log_distance: None }
    }
}

/// log2 of the largest special prime.
const LARGEST: f64 = 60.0;

/// log2 of the special modulus over the largest digit, large enough that a key switch adds no more noise than a rounding.
const NOISE_ROOM: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_those_published_and_say_what_they_are_worth() {
        for set in seal_sets() {
            for log_slots in [10, 12, 13, 15] {
                let params = set.params(log_slots).unwrap();
                let log_qp = params.log_qp();
                assert!((set.log_qp - 2.0..=set.log_qp).contains(&log_qp), "{}: {log_qp}", set.name());
                assert_eq!(params.levels().left(), set.levels_left[usize::from(log_slots == 15)]);
                let bits = params.security().bits;
                assert!((108.0..122.0).contains(&bits), "{}: {bits}", set.name());
                let failure = params.log2_failure().unwrap();
                let title = set.title(&params);
                assert!(
                    title.contains(&format!("{bits:.0}-bit")) && title.ends_with(&format!("2^{failure:.0}")),
                    "{title}"
                );
                assert!(params.security().statement.contains("INSECURE"));
                assert!(params.log2_failure().unwrap() < -100.0, "{}", set.name());
            }
        }
        assert!(SETS[0].params(9).is_err() && SETS[0].params(16).is_err());
    }
}
