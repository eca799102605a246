//! Sets that link numbers in slots to gates: of numbers alone, and of sets for modular reduction, which compare by digits too.
//!
//! p_s and P' are congruent to 1 modulo 2^17, for every ring up to degree 2^16. Security bounds the product p_s P' by 2^53 for a ring
//! key of dimension 2048. A key switch adds a variance of N'/12 var/P'^2, var that of an error, and the roundings to p_s add a few
//! units over p_s^2; their sum is least when the two are equal, which makes P' the larger prime.

use alloc::string::ToString;

use super::{METHOD, params::LinkParams, spec::LinkSpec};
use crate::{
    bootstrapping::{
        cggi,
        ckks_conventional::{self as conventional, ConventionalPromise, Reduction},
        ckks_msb::{self as msb, MsbPromise, RootsSpec},
        method::{Catalogue, MethodInfo, Preset, Promise, SetSpec},
        raising::{RaisingSpec, ReductionSpec},
    },
    error::Error,
    schemes::cggi::CggiSpec,
    security::SecurityPolicy,
};

/// A named set that links numbers to gates. Its promise for a bootstrap of numbers is that of their own set.
pub type LinkPreset = Preset<LinkSpec<Reduction>>;

/// A named set for modular reduction that is linked to gates: both ways to compare are in one key set.
pub type DigitLinkPreset = Preset<LinkSpec<RootsSpec>>;

impl LinkPreset {
    /// The validated parameters.
    ///
    /// # Errors
    /// None for a shipped preset; validation runs all the same.
    pub fn params(&self) -> Result<LinkParams<Reduction>, Error> {
        self.checked()
    }
}

impl DigitLinkPreset {
    /// The validated parameters.
    ///
    /// # Errors
    /// None for a shipped preset; validation runs all the same.
    pub fn params(&self) -> Result<LinkParams<RootsSpec>, Error> {
        self.checked()
    }
}

impl SetSpec for LinkSpec<RootsSpec> {
    const METHOD: MethodInfo = METHOD;
    const WHAT: &'static str = "set for modular reduction that is linked to gates";
    type Promised = MsbPromise;

    fn catalogue() -> &'static Catalogue<Self> {
        &DIGIT_SETS
    }

    fn promise(&self, stated: &MsbPromise) -> Promise {
        self.ckks.promise(stated)
    }

    fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint()
    }
}

impl SetSpec for LinkSpec<Reduction> {
    const METHOD: MethodInfo = METHOD;
    const WHAT: &'static str = "set that links numbers to gates";
    type Promised = ConventionalPromise;

    fn catalogue() -> &'static Catalogue<Self> {
        &SETS
    }

    fn promise(&self, stated: &ConventionalPromise) -> Promise {
        self.ckks.promise(stated)
    }

    fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint()
    }
}

const OWN: &str = "own sets of numbers and of gates, moduli between them by the lattice estimator";
const TOY: &str = "demonstration size, no security";

static SETS: Catalogue<LinkSpec<Reduction>> = Catalogue { current: &PRESETS, retired: &[] };

static PRESETS: [LinkPreset; 3] = [
    LinkPreset {
        name: "n15+fbs16-50",
        title: "128-bit, 16384 slots of n15, up to 16 of them compared and ranked by gates of fbs16-50",
        policy: SecurityPolicy::Strict128,
        promised: ConventionalPromise { bits: [18.2, 16.0], log_slots: [14, 14] },
        source: OWN,
        spec: n15,
    },
    LinkPreset {
        name: "n16+fbs16-50",
        title: "128-bit, 32768 slots of n16, nine products between bootstraps, up to 16 slots compared and ranked by gates of fbs16-50",
        policy: SecurityPolicy::Strict128,
        promised: ConventionalPromise { bits: [28.0, 25.5], log_slots: [15, 15] },
        source: OWN,
        spec: n16,
    },
    LinkPreset {
        name: "toy-link",
        title: "INSECURE demonstration size, 1024 slots, up to 16 of them compared and ranked by gates",
        policy: SecurityPolicy::InsecureForTests,
        promised: ConventionalPromise { bits: [29.0, 28.0], log_slots: [10, 10] },
        source: TOY,
        spec: toy,
    },
];

static DIGIT_SETS: Catalogue<LinkSpec<RootsSpec>> = Catalogue { current: &DIGIT_PRESETS, retired: &[] };

static DIGIT_PRESETS: [DigitLinkPreset; 2] = [
    DigitLinkPreset {
        name: "msb16+fbs16-50",
        title: "128-bit, 32768 real slots of msb16, compared by digits, or up to 16 of them by gates of fbs16-50",
        policy: SecurityPolicy::Strict128,
        promised: MsbPromise { bits: [35.0, 31.0], base: 128 },
        source: OWN,
        spec: msb16,
    },
    DigitLinkPreset {
        name: "toy-msb-link",
        title: "INSECURE demonstration size, 1024 real slots, compared by digits, or up to 16 of them by gates",
        policy: SecurityPolicy::InsecureForTests,
        promised: MsbPromise { bits: [38.0, 35.0], base: 128 },
        source: TOY,
        spec: toy_msb,
    },
];

const PRIME: u64 = 22_806_529;
const SPECIAL: u64 = 394_657_793;

fn link<R: ReductionSpec>(name: &str, ckks: RaisingSpec<R>, cggi: CggiSpec) -> LinkSpec<R> {
    // Messages name the set of a ciphertext by this name.
    let ckks = RaisingSpec { name: name.to_string(), ..ckks };
    let log_failure = cggi.log_failure;
    LinkSpec { name: name.to_string(), ckks, cggi, prime: PRIME, special: SPECIAL, log_failure }
}

fn n15() -> LinkSpec<Reduction> {
    link("n15+fbs16-50", conventional::n15(), cggi::fbs_16_50())
}

fn n16() -> LinkSpec<Reduction> {
    link("n16+fbs16-50", conventional::n16(), cggi::fbs_16_50())
}

/// Two products before numbers are compared. Its gates have a prime of 30 bits, which leaves ranks of 16 numbers more noise than in the
/// other sets.
fn toy() -> LinkSpec<Reduction> {
    let ckks = conventional::toy11_of("toy-link", 5);
    LinkSpec { log_failure: -100.0, ..link("toy-link", ckks, cggi::toy_fbs()) }
}

fn msb16() -> LinkSpec<RootsSpec> {
    link("msb16+fbs16-50", msb::msb16(), cggi::fbs_16_50())
}

fn toy_msb() -> LinkSpec<RootsSpec> {
    LinkSpec { log_failure: -100.0, ..link("toy-msb-link", msb::toy11(), cggi::toy_fbs()) }
}
