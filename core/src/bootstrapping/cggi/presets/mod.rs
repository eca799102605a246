//! DM/CGGI sets.
//!
//! Dimensions are the smallest with 128 bits at their modulus (see [`LweInstance`](crate::security::LweInstance)); the bases and numbers of
//! digits minimise the time at the promised probability of failure, by the noise model.

mod retired;
mod specs;

use alloc::format;

use super::METHOD;
use crate::{
    arith::Word,
    bootstrapping::method::{Catalogue, MethodInfo, Preset, Promise, SetSpec},
    error::Error,
    schemes::cggi::{CggiParams, CggiSpec},
    security::SecurityPolicy,
};

pub(crate) use specs::{bool_128, fbs_16_50, toy_fbs};

/// A named DM/CGGI set. Its promise is among its numbers: [`CggiSpec::log_failure`].
pub type CggiPreset = Preset<CggiSpec>;

impl CggiPreset {
    /// Whether the prime needs 64-bit words, and with them [`Self::params_over`].
    pub fn wide(&self) -> bool {
        (self.spec)().prime >> 30 != 0
    }

    /// The validated parameters, over 32-bit words.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the prime does not fit the word ([`Self::wide`]): `params_over::<u64>()` takes it.
    pub fn params(&self) -> Result<CggiParams, Error> {
        if self.wide() {
            return Err(Error::InvalidArgument(format!(
                "set {} takes 64-bit words; take `params_over::<u64>()`",
                self.name
            )));
        }
        self.checked()
    }

    /// [`Self::params`] over another word.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the prime does not fit the word.
    pub fn params_over<W: Word>(&self) -> Result<CggiParams<W>, Error> {
        self.checked()
    }
}

impl SetSpec for CggiSpec {
    const METHOD: MethodInfo = METHOD;
    const WHAT: &'static str = "DM/CGGI set";
    type Promised = ();

    fn catalogue() -> &'static Catalogue<Self> {
        &SETS
    }

    fn promise(&self, (): &()) -> Promise {
        Promise::Gate { log_failure: self.log_failure }
    }

    fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint()
    }
}

const OWN: &str = "own set; dimensions by the lattice estimator, digits by the noise model";
const OWN_NTRU: &str = "own set; modulus and width by the lattice estimator's dense-sublattice attack, digits by the noise model";
const TOY: &str = "demonstration size, no security";

static SETS: Catalogue<CggiSpec> = Catalogue { current: &PRESETS, retired: &retired::RETIRED };

static PRESETS: [CggiPreset; 23] = [
    strict("bool-128", "128-bit, gates on bits, a wrong result once in 2^128 gates", OWN, specs::bool_128),
    strict(
        "bool-64",
        "128-bit, gates on bits, faster, a wrong result once in 2^64 gates",
        OWN,
        specs::bool_64,
    ),
    strict(
        "bool-100-unrolled",
        "128-bit, gates on bits by pairs of key bits, faster with twice the key, a wrong result once in 2^100 gates",
        OWN,
        specs::bool_100_unrolled,
    ),
    strict(
        "bool-128-ternary",
        "128-bit, gates on bits by GINX with a ternary key, a wrong result once in 2^128 gates",
        OWN,
        specs::bool_128_ternary,
    ),
    strict(
        "lmk-128",
        "128-bit, gates on bits by automorphisms, a wrong result once in 2^128 gates",
        OWN,
        specs::lmk_128,
    ),
    strict(
        "lmk-128-merged",
        "128-bit, gates on bits by automorphisms with merged keys, a wrong result once in 2^100 gates",
        OWN,
        specs::lmk_128_merged,
    ),
    strict(
        "lmk-64",
        "128-bit, gates on bits by automorphisms, faster, a wrong result once in 2^54 gates",
        OWN,
        specs::lmk_64,
    ),
    strict(
        "ntru-128",
        "EXPERIMENTAL, 128-bit, gates on bits on NTRU samples, a wrong result once in 2^128 gates",
        OWN_NTRU,
        specs::ntru_128,
    ),
    strict(
        "ntru-64",
        "EXPERIMENTAL, 128-bit, gates on bits on NTRU samples, fastest, a wrong result once in 2^74 gates",
        OWN_NTRU,
        specs::ntru_64,
    ),
    strict(
        "ntru-small",
        "EXPERIMENTAL, 128-bit, gates on bits on NTRU samples, smallest keys, a wrong result once in 2^125 gates",
        OWN_NTRU,
        specs::ntru_small,
    ),
    strict("fbs8", "128-bit, look-ups on integers below 8, a wrong result once in 2^128", OWN, specs::fbs_8),
    strict(
        "fbs16",
        "128-bit, look-ups on integers below 16, a wrong result once in 2^128",
        OWN,
        specs::fbs_16,
    ),
    strict(
        "fbs8-50",
        "128-bit, sums and look-ups on integers below 8, 64-bit words, a wrong result once in 2^128",
        OWN,
        specs::fbs_8_50,
    ),
    strict(
        "fbs16-50",
        "128-bit, sums and look-ups on integers below 16, 64-bit words, a wrong result once in 2^128",
        OWN,
        specs::fbs_16_50,
    ),
    toy("toy-bool", "INSECURE demonstration size, gates on bits", specs::toy_bool),
    toy(
        "toy-bool-unrolled",
        "INSECURE demonstration size, gates on bits by pairs of key bits",
        specs::toy_bool_unrolled,
    ),
    toy(
        "toy-bool-ternary",
        "INSECURE demonstration size, gates on bits by GINX with a ternary key",
        specs::toy_bool_ternary,
    ),
    toy("toy-bool-lmk", "INSECURE demonstration size, gates on bits by automorphisms", specs::toy_bool_lmk),
    toy(
        "toy-bool-lmk-merged",
        "INSECURE demonstration size, gates on bits by automorphisms with merged keys",
        specs::toy_bool_lmk_merged,
    ),
    toy("toy-bool-ntru", "INSECURE demonstration size, gates on bits on NTRU samples", specs::toy_bool_ntru),
    toy(
        "toy-bool-ntru-merged",
        "INSECURE demonstration size, gates on bits on NTRU samples with merged keys",
        specs::toy_bool_ntru_merged,
    ),
    toy(
        "toy-bool-ap",
        "INSECURE demonstration size, gates on bits by the digits of the masks",
        specs::toy_bool_ap,
    ),
    toy("toy-fbs", "INSECURE demonstration size, look-ups on integers below 16", specs::toy_fbs),
];

const fn strict(
    name: &'static str,
    title: &'static str,
    source: &'static str,
    spec: fn() -> CggiSpec,
) -> CggiPreset {
    Preset { name, title, policy: SecurityPolicy::Strict128, promised: (), source, spec }
}

const fn toy(name: &'static str, title: &'static str, spec: fn() -> CggiSpec) -> CggiPreset {
    Preset { name, title, policy: SecurityPolicy::InsecureForTests, promised: (), source: TOY, spec }
}
