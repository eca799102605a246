//! Sets for BGV bootstrapping.
//!
//! A set says how many primes of which size each part of its chain has. The primes are those congruent to 1 modulo 2N nearest to
//! 2^bits, alternately above and below, each taken once and none of them p.
//!
//! Products need levels of 4 P phi_max, where phi_max is [`NoiseModel::rounding`](crate::schemes::bgv::NoiseModel::rounding): then
//! noise stays where rounding leaves it, however many squares follow each other. P is p between bootstraps and p^e in the removal.

use alloc::{string::ToString, vec, vec::Vec};

use super::{METHOD, params::BgvParams, spec::BgvSpec};
use crate::{
    arith::{Word, primes::ntt_primes},
    bootstrapping::{
        method::{Catalogue, MethodInfo, Preset, Promise, SetSpec},
        raising::{EphemeralSpec, digits_of},
    },
    error::Error,
    rlwe::{EncapsulationDigits, RlweSpec},
    security::{SecretDistribution, SecurityPolicy},
};

/// A named set for BGV bootstrapping. What it promises is log2 of the probability that a bootstrap gives a wrong slot.
pub type BgvPreset = Preset<BgvSpec>;

impl BgvPreset {
    /// The validated parameters, over whichever word holds the primes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a prime does not fit the word.
    pub fn params_over<W: Word>(&self) -> Result<BgvParams<W>, Error> {
        BgvParams::new(&(self.spec)())
    }

    /// The validated parameters.
    ///
    /// # Errors
    /// None for a shipped preset; validation runs all the same.
    pub fn params(&self) -> Result<BgvParams, Error> {
        self.params_over()
    }
}

impl SetSpec for BgvSpec {
    const METHOD: MethodInfo = METHOD;
    const WHAT: &'static str = "set for BGV bootstrapping";
    type Promised = f64;

    fn catalogue() -> &'static Catalogue<Self> {
        &SETS
    }

    fn promise(&self, &log_failure: &f64) -> Promise {
        Promise::Exact { log_failure }
    }

    fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint()
    }
}

const OWN: &str = "own chain, after the shape of ePrint 2024/115";

static SETS: Catalogue<BgvSpec> = Catalogue { current: &PRESETS, retired: &[] };

static PRESETS: [BgvPreset; 3] = [
    BgvPreset {
        name: "bgv15",
        title: "128-bit, 32768 slots of integers modulo 65537, five products between bootstraps",
        policy: SecurityPolicy::Strict128,
        promised: -133.0,
        source: OWN,
        spec: bgv15,
    },
    BgvPreset {
        name: "toy-bgv10",
        title: "INSECURE demonstration size, 1024 slots of integers modulo 65537, two products between bootstraps",
        policy: SecurityPolicy::InsecureForTests,
        promised: -138.0,
        source: OWN,
        spec: toy10,
    },
    BgvPreset {
        name: "toy-bgv7",
        title: "INSECURE demonstration size, 128 slots of integers modulo 257^2, two products between bootstraps",
        policy: SecurityPolicy::InsecureForTests,
        promised: -141.0,
        source: OWN,
        spec: toy7,
    },
];

/// Sizes of the primes of a chain, in bits: one, or so many of a size.
struct Sizes {
    base: f64,
    slots_to_coeffs: (usize, f64),
    products: (usize, f64),
    removal: (usize, f64),
    coeffs_to_slots: &'static [f64],
    special: (usize, f64),
    /// log2 of the largest product of a digit.
    digit: f64,
}

/// Messages modulo `prime`^`exponent`, t = 1, and digits up to 15 of an ephemeral secret of weight 32. Modulo p^2 their removal has
/// degree 61, just below 64, and modulo p^3 degree 91.
fn set(
    name: &str,
    log_n: u32,
    (prime, exponent): (u64, u32),
    sizes: &Sizes,
    policy: SecurityPolicy,
) -> BgvSpec {
    let n = 1usize << log_n;
    let run = |(count, bits): (usize, f64)| vec![bits; count];
    let levels = [
        vec![sizes.base],
        run(sizes.slots_to_coeffs),
        run(sizes.products),
        run(sizes.removal),
        sizes.coeffs_to_slots.to_vec(),
    ]
    .concat();
    let mut taken = vec![prime];
    let mut next = |bits: f64| {
        let found = ntt_primes(bits, 2 * n as u64).find(|q| !taken.contains(q)).unwrap_or_default();
        taken.push(found);
        found
    };
    let primes: Vec<Vec<u64>> = levels.iter().map(|&bits| vec![next(bits)]).collect();
    let special = run(sizes.special).into_iter().map(&mut next).collect();
    BgvSpec {
        name: name.to_string(),
        chain: RlweSpec {
            n,
            odd_part: 1,
            digits: digits_of(&levels, sizes.digit),
            levels: primes,
            special,
            secret: SecretDistribution::Ternary,
            policy,
        },
        prime,
        exponent,
        digit_exponent: 1,
        bound: 15,
        slots_to_coeffs: sizes.slots_to_coeffs.0,
        coeffs_to_slots: sizes.coeffs_to_slots.len(),
        ephemeral: EphemeralSpec {
            weight: 32,
            prime: next(40.0),
            digits: EncapsulationDigits::Balanced { count: 3 },
        },
    }
}

fn bgv15() -> BgvSpec {
    let sizes = Sizes {
        base: 45.0,
        slots_to_coeffs: (3, 25.5),
        products: (5, 33.0),
        removal: (6, 49.9),
        coeffs_to_slots: &[44.0, 42.0, 44.0],
        special: (3, 50.0),
        digit: 149.0,
    };
    set("bgv15", 15, (65537, 1), &sizes, SecurityPolicy::Strict128)
}

fn toy10() -> BgvSpec {
    let sizes = Sizes {
        base: 45.0,
        slots_to_coeffs: (3, 25.5),
        products: (2, 31.0),
        removal: (6, 46.0),
        coeffs_to_slots: &[44.0; 3],
        special: (3, 50.0),
        digit: 149.0,
    };
    set("toy-bgv10", 10, (65537, 1), &sizes, SecurityPolicy::InsecureForTests)
}

fn toy7() -> BgvSpec {
    let sizes = Sizes {
        base: 45.0,
        slots_to_coeffs: (2, 25.0),
        products: (2, 28.0),
        removal: (7, 38.0),
        coeffs_to_slots: &[38.0; 2],
        special: (3, 50.0),
        digit: 149.0,
    };
    set("toy-bgv7", 7, (257, 2), &sizes, SecurityPolicy::InsecureForTests)
}
