//! Sets for BGV bootstrapping.
//!
//! A set says how many primes of which size each part of its chain has. The primes are those congruent to 1 modulo the index of the
//! ring, 2N for one axis, nearest to 2^bits, alternately above and below, each taken once and none of them p.
//!
//! Products need levels of 4 P phi_max, where phi_max is [`NoiseModel::rounding`](crate::schemes::bgv::NoiseModel::rounding): then
//! noise stays where rounding leaves it, however many squares follow each other. P is p between bootstraps and p^e in the removal.

use alloc::{string::ToString, vec, vec::Vec};

use super::{METHOD, approach::Approach, params::BgvParams, spec::BgvSpec};
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

/// A named set for BGV bootstrapping. Its promise is log2 of the probability that a bootstrap gives a wrong slot.
pub type BgvPreset = Preset<BgvSpec>;

impl BgvPreset {
    /// The validated parameters, over a word that holds the primes.
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

static PRESETS: [BgvPreset; 6] = [
    BgvPreset {
        name: "bgv15",
        title: "128-bit, 32768 slots of integers modulo 65537, five products between bootstraps",
        policy: SecurityPolicy::Strict128,
        promised: -133.0,
        source: OWN,
        spec: bgv15,
    },
    BgvPreset {
        name: "bgv16-gf4",
        title: "128-bit, 16384 slots of the field of 65537^4 elements, ten products between bootstraps",
        policy: SecurityPolicy::Strict128,
        promised: -140.0,
        source: OWN,
        spec: gf4,
    },
    BgvPreset {
        name: "bgv16-786433",
        title: "128-bit, 65536 slots of integers modulo 786433, nine products between bootstraps",
        policy: SecurityPolicy::Strict128,
        promised: -132.0,
        source: OWN,
        spec: large_prime,
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
    BgvPreset {
        name: "toy-bgv-gf4",
        title: "INSECURE demonstration size, 256 slots of the field of 65537^4 elements, three products between bootstraps",
        policy: SecurityPolicy::InsecureForTests,
        promised: -146.0,
        source: OWN,
        spec: toy_gf4,
    },
];

/// The ring of a set, and how its main secret is drawn.
struct Ring {
    log_n: u32,
    /// The odd part of the index.
    odd_part: u64,
    secret: SecretDistribution,
}

impl Ring {
    /// One axis, and a ternary secret.
    const fn of_degree(log_n: u32) -> Self {
        Self { log_n, odd_part: 1, secret: SecretDistribution::Ternary }
    }
}

/// Sizes of the primes of a chain, in bits; a pair gives the number of primes and their size.
struct Sizes {
    base: f64,
    slots_to_coeffs: (usize, f64),
    products: (usize, f64),
    removal: (usize, f64),
    coeffs_to_slots: &'static [f64],
    special: (usize, f64),
    /// log2 of the largest product of the primes of a digit.
    digit: f64,
    /// Size of the prime beside q0, under the ephemeral secret.
    ephemeral: f64,
}

/// The first of `ntt_primes` about 2^`bits` that was not taken before; 0, which chains refuse, if there is none.
pub(super) fn next_prime(bits: f64, divisor: u64, taken: &mut Vec<u64>) -> u64 {
    let found = ntt_primes(bits, divisor).find(|q| !taken.contains(q)).unwrap_or_default();
    taken.push(found);
    found
}

/// Messages modulo `prime`^`exponent`, t = 1, and digits of an ephemeral secret of weight 32: up to 15, whose removal modulo p^2 has
/// degree 61, just below 64, and modulo p^3 degree 91; in a ring of two axes up to 27, with degree 109 modulo p^2.
fn set(
    name: &str,
    ring: &Ring,
    (prime, exponent): (u64, u32),
    sizes: &Sizes,
    policy: SecurityPolicy,
) -> BgvSpec {
    let (n, general) = (1usize << ring.log_n, ring.odd_part != 1);
    let index = 2 * n as u64 / (ring.odd_part - 1).max(1) * ring.odd_part;
    let run = |(count, bits): (usize, f64)| vec![bits; count];
    let (map, products) = (run(sizes.slots_to_coeffs), run(sizes.products));
    // Slots become coefficients first, or last.
    let messages = if general { [products, map] } else { [map, products] }.concat();
    let levels = [vec![sizes.base], messages, run(sizes.removal), sizes.coeffs_to_slots.to_vec()].concat();
    let mut taken = vec![prime];
    let mut next = |bits: f64| next_prime(bits, index, &mut taken);
    let primes: Vec<Vec<u64>> = levels.iter().map(|&bits| vec![next(bits)]).collect();
    let special = run(sizes.special).into_iter().map(&mut next).collect();
    BgvSpec {
        name: name.to_string(),
        chain: RlweSpec {
            n,
            odd_part: ring.odd_part,
            digits: digits_of(&levels, sizes.digit),
            levels: primes,
            special,
            secret: ring.secret,
            policy,
        },
        general,
        prime,
        exponent,
        digit_exponent: 1,
        approach: Approach::Raised,
        bound: if general { 27 } else { 15 },
        slots_to_coeffs: sizes.slots_to_coeffs.0,
        coeffs_to_slots: sizes.coeffs_to_slots.len(),
        ephemeral: EphemeralSpec {
            weight: 32,
            prime: next(sizes.ephemeral),
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
        ephemeral: 40.0,
    };
    set("bgv15", &Ring::of_degree(15), (65537, 1), &sizes, SecurityPolicy::Strict128)
}

/// A gadget of three digits.
fn gf4() -> BgvSpec {
    let sizes = Sizes {
        base: 44.0,
        slots_to_coeffs: (3, 27.0),
        products: (10, 32.0),
        removal: (7, 48.5),
        coeffs_to_slots: &[45.0, 45.0, 44.0],
        special: (7, 48.75),
        digit: 340.2,
        ephemeral: 57.8,
    };
    let ring = Ring { log_n: 16, odd_part: 5, secret: SecretDistribution::Sparse { weight: 192 } };
    set("bgv16-gf4", &ring, (65537, 1), &sizes, SecurityPolicy::Strict128)
}

/// 786433 = 3 2^18 + 1 is the smallest prime that is 1 modulo 2^17. A gadget of three digits, each 20 bits and more below the special
/// primes.
fn large_prime() -> BgvSpec {
    let sizes = Sizes {
        base: 51.0,
        slots_to_coeffs: (3, 28.0),
        products: (9, 34.6),
        removal: (6, 54.2),
        coeffs_to_slots: &[45.0, 53.0, 53.5],
        special: (7, 48.1),
        digit: 316.0,
        ephemeral: 50.9,
    };
    let ring = Ring { secret: SecretDistribution::Sparse { weight: 192 }, ..Ring::of_degree(16) };
    set("bgv16-786433", &ring, (786_433, 1), &sizes, SecurityPolicy::Strict128)
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
        ephemeral: 40.0,
    };
    set("toy-bgv10", &Ring::of_degree(10), (65537, 1), &sizes, SecurityPolicy::InsecureForTests)
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
        ephemeral: 40.0,
    };
    set("toy-bgv7", &Ring::of_degree(7), (257, 2), &sizes, SecurityPolicy::InsecureForTests)
}

fn toy_gf4() -> BgvSpec {
    let sizes = Sizes {
        base: 45.0,
        slots_to_coeffs: (2, 29.0),
        products: (3, 31.0),
        removal: (7, 48.0),
        coeffs_to_slots: &[46.0; 2],
        special: (3, 50.0),
        digit: 149.0,
        ephemeral: 40.0,
    };
    let ring = Ring { odd_part: 5, ..Ring::of_degree(10) };
    set("toy-bgv-gf4", &ring, (65537, 1), &sizes, SecurityPolicy::InsecureForTests)
}
