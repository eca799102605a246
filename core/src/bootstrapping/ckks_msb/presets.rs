//! Sets for modular reduction.
//!
//! From level 0 upwards: q0; slots-to-coefficients; products and tables; the exponential; coefficients-to-slots. All primes of the
//! chain are of 48 bits, which holds messages to their last bit at 2^48 and lets every transform run in doubles.

use super::{METHOD, MsbParams, MsbSpec, RootsSpec};
use crate::{
    bootstrapping::{
        method::{Catalogue, Messages, MethodInfo, Preset, Promise, SetSpec},
        raising::{Sizes, StageOrder, chain},
    },
    error::Error,
    security::{SecretDistribution, SecurityPolicy},
};

/// The promise of a set for modular reduction, for a number of one digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MsbPromise {
    /// -log2 of the mean and of the largest error of a refreshed fraction j/t in \[0, 1) over the slots.
    pub bits: [f64; 2],
    /// t, the largest base that it is for.
    pub base: u32,
}

/// A named set for modular reduction.
pub type MsbPreset = Preset<MsbSpec>;

impl MsbPreset {
    /// The validated parameters.
    ///
    /// # Errors
    /// None for a shipped preset; validation runs all the same.
    pub fn params(&self) -> Result<MsbParams, Error> {
        self.checked()
    }
}

impl SetSpec for MsbSpec {
    const METHOD: MethodInfo = METHOD;
    const WHAT: &'static str = "set for modular reduction";
    type Promised = MsbPromise;

    fn catalogue() -> &'static Catalogue<Self> {
        &SETS
    }

    fn promise(&self, stated: &MsbPromise) -> Promise {
        let [mean, worst] = stated.bits;
        Promise::Precision { worst, mean: Some(mean), messages: Messages::Integers }
    }

    fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint()
    }
}

const OWN: &str = "own chain of 48-bit primes, after Parameters I of Kim, Noh, \"Modular Reduction in CKKS\"";
const TOY: &str = "demonstration size, no security";

static SETS: Catalogue<MsbSpec> = Catalogue { current: &PRESETS, retired: &[] };

static PRESETS: [MsbPreset; 4] = [
    MsbPreset {
        name: "msb16",
        title: "128-bit, 32768 real slots, digits in bases up to 128",
        policy: SecurityPolicy::Strict128,
        promised: MsbPromise { bits: [35.0, 31.0], base: 128 },
        source: OWN,
        spec: msb16,
    },
    MsbPreset {
        name: "msb16-paper",
        title: "for comparison: published primes of 42 bits, 32768 real slots, digits in bases up to 32",
        policy: SecurityPolicy::Strict128,
        promised: MsbPromise { bits: [29.0, 25.0], base: 32 },
        source: "Parameters I of Kim, Noh, \"Modular Reduction in CKKS\"",
        spec: msb16_paper,
    },
    MsbPreset {
        name: "toy-msb11",
        title: "INSECURE demonstration size, 1024 real slots, digits in bases up to 128",
        policy: SecurityPolicy::InsecureForTests,
        promised: MsbPromise { bits: [38.0, 35.0], base: 128 },
        source: TOY,
        spec: toy11,
    },
    MsbPreset {
        name: "toy-msb10",
        title: "INSECURE demonstration size, 512 real slots, digits in bases up to 32",
        policy: SecurityPolicy::InsecureForTests,
        promised: MsbPromise { bits: [38.0, 35.0], base: 32 },
        source: TOY,
        spec: toy10,
    },
];

/// e^(2 pi i x) to 30 bits for |x| < 16, which a table squares.
const EXPONENTIAL: RootsSpec = RootsSpec { range: 16, degree: 31, squarings: 3 };

/// Special primes are the largest below 2^50.
const SIZES: Sizes = Sizes {
    base: 48.0,
    messages: (10, 48.0),
    slots_to_coeffs: (3, 48.0),
    reduction: 48.0,
    coeffs_to_slots: (3, 48.0),
    special: (5, 49.999),
    digit: 240.0,
};

fn spec(name: &str, log_n: u32, sizes: &Sizes) -> MsbSpec {
    let secret = SecretDistribution::Sparse { weight: 192 };
    chain(name, log_n, StageOrder::SlotsToCoeffsFirst, sizes, EXPONENTIAL, secret)
}

pub(in crate::bootstrapping) fn msb16() -> MsbSpec {
    spec("msb16", 16, &SIZES)
}

/// Every prime, those of the special modulus too, of 42 bits.
fn msb16_paper() -> MsbSpec {
    let sizes = Sizes {
        base: 42.0,
        messages: (10, 42.0),
        slots_to_coeffs: (3, 42.0),
        reduction: 42.0,
        coeffs_to_slots: (3, 42.0),
        special: (5, 42.0),
        digit: 211.0,
    };
    spec("msb16-paper", 16, &sizes)
}

fn toy(name: &str, log_n: u32, sizes: &Sizes) -> MsbSpec {
    let mut spec = spec(name, log_n, sizes);
    spec.chain.policy = SecurityPolicy::InsecureForTests;
    spec
}

pub(in crate::bootstrapping) fn toy11() -> MsbSpec {
    toy("toy-msb11", 11, &Sizes { slots_to_coeffs: (2, 48.0), coeffs_to_slots: (2, 48.0), ..SIZES })
}

fn toy10() -> MsbSpec {
    let sizes = Sizes {
        messages: (6, 48.0),
        slots_to_coeffs: (2, 48.0),
        coeffs_to_slots: (2, 48.0),
        special: (4, 49.999),
        digit: 192.0,
        ..SIZES
    };
    toy("toy-msb10", 10, &sizes)
}
