//! DM/CGGI sets.
//!
//! Dimensions are the smallest with 128 bits at their modulus (see [`LweInstance`](crate::security::LweInstance)); the bases and numbers of
//! digits minimise the time at the promised probability of failure, by the noise model.

use super::{
    catalogue::{Catalogue, Named, Retired},
    cggi_retired::RETIRED,
    cggi_specs as specs,
};
use crate::{
    arith::Word,
    error::Error,
    schemes::cggi::{CggiParams, CggiSpec},
    security::SecurityPolicy,
};

/// A named DM/CGGI set.
#[derive(Debug, Clone, Copy)]
pub struct CggiPreset {
    /// Name, as users write it.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// Security policy the set is validated against.
    pub policy: SecurityPolicy,
    /// Where the numbers come from.
    pub source: &'static str,
    /// The numbers.
    pub spec: fn() -> CggiSpec,
}

impl CggiPreset {
    /// Whether the set claims security at all.
    pub fn secure(&self) -> bool {
        self.policy != SecurityPolicy::InsecureForTests
    }

    /// Whether the prime takes 64-bit words: [`Self::params_over`], natively.
    pub fn wide(&self) -> bool {
        (self.spec)().prime >> 30 != 0
    }

    /// The validated parameters, 32-bit words.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the prime does not fit the word: [`Self::wide`].
    pub fn params(&self) -> Result<CggiParams, Error> {
        CggiParams::new(&(self.spec)())
    }

    /// [`Self::params`] over another word.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the prime does not fit the word.
    pub fn params_over<W: Word>(&self) -> Result<CggiParams<W>, Error> {
        CggiParams::new(&(self.spec)())
    }
}

/// The DM/CGGI set used where nobody chose one.
pub const DEFAULT_CGGI_PRESET: &str = "bool-128";

const OWN: &str = "own set; dimensions by the lattice estimator, digits by the noise model";
const OWN_NTRU: &str = "own set; modulus and width by the lattice estimator's dense-sublattice attack, digits by the noise model";
const TOY: &str = "demonstration size, no security";

static PRESETS: [CggiPreset; 23] = [
    CggiPreset {
        name: "bool-128",
        title: "128-bit, gates on bits, a wrong result once in 2^128 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::bool_128,
    },
    CggiPreset {
        name: "bool-64",
        title: "128-bit, gates on bits, faster, a wrong result once in 2^64 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::bool_64,
    },
    CggiPreset {
        name: "bool-100-unrolled",
        title: "128-bit, gates on bits by pairs of key bits, faster with twice the key, a wrong result once in 2^100 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::bool_100_unrolled,
    },
    CggiPreset {
        name: "bool-128-ternary",
        title: "128-bit, gates on bits by GINX with a ternary key, a wrong result once in 2^128 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::bool_128_ternary,
    },
    CggiPreset {
        name: "lmk-128",
        title: "128-bit, gates on bits by automorphisms, a wrong result once in 2^128 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::lmk_128,
    },
    CggiPreset {
        name: "lmk-128-merged",
        title: "128-bit, gates on bits by automorphisms with merged keys, a wrong result once in 2^100 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::lmk_128_merged,
    },
    CggiPreset {
        name: "lmk-64",
        title: "128-bit, gates on bits by automorphisms, faster, a wrong result once in 2^54 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::lmk_64,
    },
    CggiPreset {
        name: "ntru-128",
        title: "EXPERIMENTAL, 128-bit, gates on bits on NTRU samples, a wrong result once in 2^128 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN_NTRU,
        spec: specs::ntru_128,
    },
    CggiPreset {
        name: "ntru-64",
        title: "EXPERIMENTAL, 128-bit, gates on bits on NTRU samples, fastest, a wrong result once in 2^74 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN_NTRU,
        spec: specs::ntru_64,
    },
    CggiPreset {
        name: "ntru-small",
        title: "EXPERIMENTAL, 128-bit, gates on bits on NTRU samples, smallest keys, a wrong result once in 2^125 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN_NTRU,
        spec: specs::ntru_small,
    },
    CggiPreset {
        name: "fbs8",
        title: "128-bit, look-ups on integers below 8, a wrong result once in 2^128",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::fbs_8,
    },
    CggiPreset {
        name: "fbs16",
        title: "128-bit, look-ups on integers below 16, a wrong result once in 2^128",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::fbs_16,
    },
    CggiPreset {
        name: "fbs8-50",
        title: "128-bit, sums and look-ups on integers below 8, 64-bit words, a wrong result once in 2^128",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::fbs_8_50,
    },
    CggiPreset {
        name: "fbs16-50",
        title: "128-bit, sums and look-ups on integers below 16, 64-bit words, a wrong result once in 2^128",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: specs::fbs_16_50,
    },
    CggiPreset {
        name: "toy-bool",
        title: "INSECURE demonstration size, gates on bits",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: specs::toy_bool,
    },
    CggiPreset {
        name: "toy-bool-unrolled",
        title: "INSECURE demonstration size, gates on bits by pairs of key bits",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: specs::toy_bool_unrolled,
    },
    CggiPreset {
        name: "toy-bool-ternary",
        title: "INSECURE demonstration size, gates on bits by GINX with a ternary key",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: specs::toy_bool_ternary,
    },
    CggiPreset {
        name: "toy-bool-lmk",
        title: "INSECURE demonstration size, gates on bits by automorphisms",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: specs::toy_bool_lmk,
    },
    CggiPreset {
        name: "toy-bool-lmk-merged",
        title: "INSECURE demonstration size, gates on bits by automorphisms with merged keys",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: specs::toy_bool_lmk_merged,
    },
    CggiPreset {
        name: "toy-bool-ntru",
        title: "INSECURE demonstration size, gates on bits on NTRU samples",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: specs::toy_bool_ntru,
    },
    CggiPreset {
        name: "toy-bool-ntru-merged",
        title: "INSECURE demonstration size, gates on bits on NTRU samples with merged keys",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: specs::toy_bool_ntru_merged,
    },
    CggiPreset {
        name: "toy-bool-ap",
        title: "INSECURE demonstration size, gates on bits by the digits of the masks",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: specs::toy_bool_ap,
    },
    CggiPreset {
        name: "toy-fbs",
        title: "INSECURE demonstration size, look-ups on integers below 16",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: specs::toy_fbs,
    },
];

impl Named for CggiPreset {
    const WHAT: &'static str = "DM/CGGI set";

    fn name(&self) -> &'static str {
        self.name
    }

    fn fingerprint(&self) -> [u8; 16] {
        (self.spec)().fingerprint()
    }
}

pub(super) static SETS: Catalogue<CggiPreset> = Catalogue { current: &PRESETS, retired: &RETIRED };

/// Every named DM/CGGI set, the default first, insecure ones last.
pub fn cggi_presets() -> &'static [CggiPreset] {
    SETS.current
}

/// DM/CGGI sets of earlier versions: their keys are read, and no new ones made.
pub fn retired_cggi_presets() -> &'static [Retired<CggiPreset>] {
    SETS.retired
}

/// [`cggi_presets`], then those of earlier versions.
pub fn readable_cggi_presets() -> impl Iterator<Item = &'static CggiPreset> {
    SETS.readable()
}

/// The DM/CGGI set of a name, to make keys of.
///
/// # Errors
/// [`Error::InvalidArgument`] listing the names there are, or naming the set to take instead of a retired one.
pub fn cggi_preset(name: &str) -> Result<&'static CggiPreset, Error> {
    SETS.named(name)
}

/// The DM/CGGI set with a fingerprint, retired or not.
///
/// # Errors
/// [`Error::ParamsMismatch`] if no preset has it.
pub fn cggi_preset_by_fingerprint(fingerprint: &[u8; 16]) -> Result<&'static CggiPreset, Error> {
    SETS.by_fingerprint(fingerprint)
}
