//! Sets for conventional CKKS bootstrapping.
//!
//! A set says how many primes of which size each part of its chain has. The primes are those congruent to 1 modulo 2N
//! nearest to 2^bits, alternately above and below, each taken once: the same on every machine, and scales stay near powers
//! of two.

use alloc::string::ToString;

mod retired;

use super::{
    ArcsineSpec, ConventionalParams, ConventionalSpec, EvalModSpec, FittedReduction, HarmonicsSpec, METHOD,
    Reduction, StageOrder,
};
use crate::{
    bootstrapping::{
        method::{Catalogue, Messages, MethodInfo, Preset, Promise, SetSpec},
        raising::{Sizes, chain},
    },
    error::Error,
    rlwe::EncapsulationDigits,
    security::{SecretDistribution, SecurityPolicy},
};

/// What a conventional set promises of one bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConventionalPromise {
    /// -log2 of the mean and of the largest error over the slots, for the messages named by the [`Promise`].
    pub bits: [f64; 2],
    /// log2 of the fewest and of the most slots that the promise covers: noise grows with their number.
    pub log_slots: [u32; 2],
}

/// A named set for conventional bootstrapping.
pub type ConventionalPreset = Preset<ConventionalSpec>;

impl ConventionalPreset {
    /// Bits that a further round of META-BTS gains ([`crate::bootstrapping::Rounds`]): those that one bootstrap promises
    /// in the worst slot, but at most those that the reduction is proven to get right in every message
    /// ([`FittedReduction::proven_error`]); beyond them a correction would be too large. The limit is the smaller number
    /// only where the promise is for random messages alone.
    ///
    /// # Errors
    /// None for a shipped preset; the reduction is fitted all the same.
    pub fn gain_bits(&self) -> Result<u32, Error> {
        let spec = (self.spec)();
        let proven = FittedReduction::new(&spec.reduction)?.proven_error(spec.log_message_ratio);
        Ok((-libm::log2(proven)).min(self.promised.bits[1]) as u32)
    }

    /// The validated parameters.
    ///
    /// # Errors
    /// None for a shipped preset; validation runs all the same.
    pub fn params(&self) -> Result<ConventionalParams, Error> {
        self.checked()
    }

    /// The set with another number of slots: fewer take less time and fewer keys. The promise covers those of
    /// [`ConventionalPromise::log_slots`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a number that the ring does not have, or fewer layers than stages.
    pub fn params_with_slots(&self, log_slots: u32) -> Result<ConventionalParams, Error> {
        let mut spec = (self.spec)();
        spec.log_slots = log_slots;
        ConventionalParams::new(&spec)
    }
}

impl SetSpec for ConventionalSpec {
    const METHOD: MethodInfo = METHOD;
    const WHAT: &'static str = "set for conventional bootstrapping";
    type Promised = ConventionalPromise;

    fn catalogue() -> &'static Catalogue<Self> {
        &SETS
    }

    fn promise(&self, stated: &ConventionalPromise) -> Promise {
        let [mean, worst] = stated.bits;
        let messages = if self.holds_for_every_message() { Messages::Any } else { Messages::ZeroMean };
        Promise::Precision { worst, mean: Some(mean), messages }
    }

    fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint()
    }
}

const OWN: &str = "own chain, after the shape of ePrint 2020/1203 and 2022/024";
const TOY: &str = "demonstration size, no security";

static SETS: Catalogue<ConventionalSpec> = Catalogue { current: &PRESETS, retired: &retired::RETIRED };

static PRESETS: [ConventionalPreset; 10] = [
    ConventionalPreset {
        name: "n16",
        title: "128-bit, 32768 complex slots, nine products between bootstraps",
        policy: SecurityPolicy::Strict128,
        promised: ConventionalPromise { bits: [28.0, 25.5], log_slots: [15, 15] },
        source: OWN,
        spec: n16,
    },
    ConventionalPreset {
        name: "n16-sparse",
        title: "128-bit, 4096 complex slots or any power of two from 32 to 16384, nine products between bootstraps",
        policy: SecurityPolicy::Strict128,
        promised: ConventionalPromise { bits: [28.2, 26.0], log_slots: [5, 14] },
        source: OWN,
        spec: n16_sparse,
    },
    ConventionalPreset {
        name: "n16-precise",
        title: "128-bit, 4096 complex slots or any power of two from 32, seven products of 52 bits between bootstraps, for META-BTS",
        policy: SecurityPolicy::Strict128,
        promised: ConventionalPromise { bits: [25.6, 25.2], log_slots: [5, 12] },
        source: OWN,
        spec: n16_precise,
    },
    ConventionalPreset {
        name: "n15",
        title: "128-bit, 16384 complex slots, two products between bootstraps",
        policy: SecurityPolicy::Strict128,
        promised: ConventionalPromise { bits: [18.2, 16.0], log_slots: [14, 14] },
        source: OWN,
        spec: n15,
    },
    ConventionalPreset {
        name: "drucker16",
        title: "for comparison: 128-bit, 32768 complex slots, ten products between bootstraps, messages that are random with mean zero",
        policy: SecurityPolicy::Strict128,
        promised: ConventionalPromise { bits: [17.0, 14.0], log_slots: [15, 15] },
        source: "Parameters II of Kim, Noh, \"Modular Reduction in CKKS\": those of the sign function",
        spec: drucker16,
    },
    ConventionalPreset {
        name: "toy-conventional11",
        title: "INSECURE demonstration size, 1024 slots",
        policy: SecurityPolicy::InsecureForTests,
        promised: ConventionalPromise { bits: [29.0, 28.0], log_slots: [10, 10] },
        source: TOY,
        spec: toy11,
    },
    ConventionalPreset {
        name: "toy-conventional11-sine",
        title: "INSECURE demonstration size, 1024 slots, a sine for messages that are random with mean zero",
        policy: SecurityPolicy::InsecureForTests,
        promised: ConventionalPromise { bits: [22.5, 20.5], log_slots: [10, 10] },
        source: TOY,
        spec: toy11_sine,
    },
    ConventionalPreset {
        name: "toy-conventional10-sparse",
        title: "INSECURE demonstration size, 64 of the 512 slots of its ring",
        policy: SecurityPolicy::InsecureForTests,
        promised: ConventionalPromise { bits: [29.0, 28.5], log_slots: [6, 6] },
        source: TOY,
        spec: toy10_sparse,
    },
    ConventionalPreset {
        name: "toy-conventional10-slots-first",
        title: "INSECURE demonstration size, 512 slots, slots to coefficients first, with arcsine",
        policy: SecurityPolicy::InsecureForTests,
        promised: ConventionalPromise { bits: [33.0, 31.0], log_slots: [9, 9] },
        source: TOY,
        spec: toy10_slots_first,
    },
    ConventionalPreset {
        name: "toy-conventional10-50bit",
        title: "INSECURE demonstration size, 512 slots, no prime above 50 bits, near-integer cosine for messages that are random with mean zero",
        policy: SecurityPolicy::InsecureForTests,
        promised: ConventionalPromise { bits: [19.5, 17.5], log_slots: [9, 9] },
        source: TOY,
        spec: toy10_narrow,
    },
];

/// A set with main secret of weight 192 and ephemeral secret of weight 32.
fn spec(name: &str, log_n: u32, order: StageOrder, sizes: &Sizes, reduction: Reduction) -> ConventionalSpec {
    chain(name, log_n, order, sizes, reduction, SecretDistribution::Sparse { weight: 192 })
}

/// The sine to 51 bits near integers, for |x| <= 16, by 12 key switches.
const COSINE: EvalModSpec =
    EvalModSpec { range: 16, degree: 58, double_angles: 2, arcsine: None, log_distance: None };
const SINE: Reduction = Reduction::Sine(COSINE);

/// Two harmonics for |x| < 16, by 14 key switches, for messages that are 2^-`log_distance` of q0. Adding 1 to
/// `log_distance` makes the error of the harmonics 16 times smaller, and the noise twice as large.
const fn harmonics(log_distance: u32) -> Reduction {
    Reduction::Harmonics(HarmonicsSpec { range: 16, squarings: 3, log_distance })
}

const N16_SIZES: Sizes = Sizes {
    base: 60.0,
    messages: (9, 42.0),
    slots_to_coeffs: (3, 42.0),
    reduction: 60.7,
    coeffs_to_slots: (3, 60.7),
    special: (7, 46.0),
    digit: 313.0,
};

pub(in crate::bootstrapping) fn n16() -> ConventionalSpec {
    spec("n16", 16, StageOrder::CoeffsToSlotsFirst, &N16_SIZES, harmonics(9))
}

fn n16_sparse() -> ConventionalSpec {
    ConventionalSpec { name: "n16-sparse".to_string(), log_slots: 12, ..n16() }
}

/// Messages at a scale that holds what several rounds of bootstrapping gain.
fn n16_precise() -> ConventionalSpec {
    n16_precise_of("n16-precise", 7, harmonics(8))
}

fn n16_precise_of(name: &str, products: usize, reduction: Reduction) -> ConventionalSpec {
    let sizes = Sizes { messages: (products, 52.0), slots_to_coeffs: (3, 44.0), ..N16_SIZES };
    let spec = spec(name, 16, StageOrder::CoeffsToSlotsFirst, &sizes, reduction);
    ConventionalSpec { log_slots: 12, ..spec }
}

const N15_SIZES: Sizes = Sizes {
    base: 42.0,
    messages: (2, 33.0),
    slots_to_coeffs: (2, 30.0),
    reduction: 48.0,
    coeffs_to_slots: (2, 49.5),
    special: (2, 53.2),
    digit: 99.3,
};

fn n15_of(name: &str, sizes: &Sizes, reduction: Reduction) -> ConventionalSpec {
    let mut spec = spec(name, 15, StageOrder::CoeffsToSlotsFirst, sizes, reduction);
    // q0 is small: one digit would leave more noise than the message has room for.
    if let Some(ephemeral) = &mut spec.ephemeral {
        ephemeral.digits = EncapsulationDigits::Balanced { count: 2 };
    }
    spec
}

pub(in crate::bootstrapping) fn n15() -> ConventionalSpec {
    n15_of("n15", &N15_SIZES, harmonics(7))
}

/// A sine near integers, to 2^-32 of q0, for messages that are 2^-16 of q0.
fn drucker16() -> ConventionalSpec {
    let sizes = Sizes {
        base: 58.0,
        messages: (10, 42.0),
        slots_to_coeffs: (3, 34.0),
        reduction: 58.0,
        coeffs_to_slots: (3, 56.0),
        special: (6, 59.0),
        digit: 354.0,
    };
    let sine = EvalModSpec { range: 16, degree: 63, double_angles: 1, arcsine: None, log_distance: Some(16) };
    let secret = SecretDistribution::Sparse { weight: 256 };
    let spec = chain("drucker16", 16, StageOrder::SlotsToCoeffsFirst, &sizes, Reduction::Sine(sine), secret);
    ConventionalSpec { log_message_ratio: 16, ..spec }
}

fn toy(name: &str, log_n: u32, order: StageOrder, sizes: &Sizes, reduction: Reduction) -> ConventionalSpec {
    let mut spec = spec(name, log_n, order, sizes, reduction);
    spec.chain.policy = SecurityPolicy::InsecureForTests;
    spec
}

const TOY_SIZES: Sizes = Sizes {
    base: 60.0,
    messages: (3, 42.0),
    slots_to_coeffs: (3, 42.0),
    reduction: 59.0,
    coeffs_to_slots: (3, 58.0),
    special: (5, 50.0),
    digit: 240.0,
};

fn toy11() -> ConventionalSpec {
    toy11_of("toy-conventional11", TOY_SIZES.messages.0)
}

pub(in crate::bootstrapping) fn toy11_of(name: &str, products: usize) -> ConventionalSpec {
    let sizes = Sizes { messages: (products, TOY_SIZES.messages.1), ..TOY_SIZES };
    toy(name, 11, StageOrder::CoeffsToSlotsFirst, &sizes, harmonics(9))
}

fn toy11_sine() -> ConventionalSpec {
    toy("toy-conventional11-sine", 11, StageOrder::CoeffsToSlotsFirst, &TOY_SIZES, SINE)
}

fn toy10_sparse() -> ConventionalSpec {
    toy10_sparse_of("toy-conventional10-sparse", harmonics(9))
}

fn toy10_sparse_of(name: &str, reduction: Reduction) -> ConventionalSpec {
    let sizes = Sizes { slots_to_coeffs: (2, 42.0), coeffs_to_slots: (2, 58.0), ..TOY_SIZES };
    let spec = toy(name, 10, StageOrder::CoeffsToSlotsFirst, &sizes, reduction);
    ConventionalSpec { log_slots: 6, ..spec }
}

fn toy10_slots_first() -> ConventionalSpec {
    let arcsine = Some(ArcsineSpec { degree: 7, log_distance: 7 });
    let reduction = Reduction::Sine(EvalModSpec { arcsine, ..COSINE });
    toy("toy-conventional10-slots-first", 10, StageOrder::SlotsToCoeffsFirst, &TOY_SIZES, reduction)
}

fn toy10_narrow() -> ConventionalSpec {
    let sizes = Sizes {
        base: 50.0,
        messages: (2, 40.0),
        slots_to_coeffs: (2, 42.0),
        reduction: 50.0,
        coeffs_to_slots: (2, 50.0),
        ..TOY_SIZES
    };
    let reduction =
        Reduction::Sine(EvalModSpec { degree: 30, double_angles: 3, log_distance: Some(8), ..COSINE });
    let mut spec = toy("toy-conventional10-50bit", 10, StageOrder::CoeffsToSlotsFirst, &sizes, reduction);
    if let Some(ephemeral) = &mut spec.ephemeral {
        ephemeral.digits = EncapsulationDigits::Balanced { count: 2 };
    }
    spec
}
