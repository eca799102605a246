//! DM/CGGI sets.
//!
//! Dimensions are the smallest with 128 bits at their modulus (see [`LweInstance`](crate::security::LweInstance)); the bases and numbers of
//! digits minimise the time at the promised probability of failure, by the noise model.

use alloc::{format, string::ToString, vec::Vec};

use crate::{
    arith::Word,
    error::Error,
    ring::Binomial,
    schemes::cggi::{CggiParams, CggiSpec, RotationMethod, hex_id},
    security::{LweSecret, SecurityPolicy},
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
const TOY: &str = "demonstration size, no security";

static PRESETS: [CggiPreset; 14] = [
    CggiPreset {
        name: "bool-128",
        title: "128-bit, gates on bits, a wrong result once in 2^128 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: bool_128,
    },
    CggiPreset {
        name: "bool-64",
        title: "128-bit, gates on bits, faster, a wrong result once in 2^64 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: bool_64,
    },
    CggiPreset {
        name: "bool-128-ternary",
        title: "128-bit, gates on bits by GINX with a ternary key, a wrong result once in 2^120 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: bool_128_ternary,
    },
    CggiPreset {
        name: "lmk-128",
        title: "128-bit, gates on bits by automorphisms, a wrong result once in 2^128 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: lmk_128,
    },
    CggiPreset {
        name: "lmk-128-merged",
        title: "128-bit, gates on bits by automorphisms with merged keys, a wrong result once in 2^100 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: lmk_128_merged,
    },
    CggiPreset {
        name: "lmk-64",
        title: "128-bit, gates on bits by automorphisms, faster, a wrong result once in 2^54 gates",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: lmk_64,
    },
    CggiPreset {
        name: "fbs8",
        title: "128-bit, look-ups on integers below 8, a wrong result once in 2^128",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: fbs_8,
    },
    CggiPreset {
        name: "fbs16",
        title: "128-bit, look-ups on integers below 16, a wrong result once in 2^128",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: fbs_16,
    },
    CggiPreset {
        name: "fbs16-50",
        title: "128-bit, sums and look-ups on integers below 16, 64-bit words, a wrong result once in 2^128",
        policy: SecurityPolicy::Strict128,
        source: OWN,
        spec: fbs_16_50,
    },
    CggiPreset {
        name: "toy-bool",
        title: "INSECURE demonstration size, gates on bits",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: toy_bool,
    },
    CggiPreset {
        name: "toy-bool-ternary",
        title: "INSECURE demonstration size, gates on bits by GINX with a ternary key",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: toy_bool_ternary,
    },
    CggiPreset {
        name: "toy-bool-lmk",
        title: "INSECURE demonstration size, gates on bits by automorphisms",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: toy_bool_lmk,
    },
    CggiPreset {
        name: "toy-bool-lmk-merged",
        title: "INSECURE demonstration size, gates on bits by automorphisms with merged keys",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: toy_bool_lmk_merged,
    },
    CggiPreset {
        name: "toy-fbs",
        title: "INSECURE demonstration size, look-ups on integers below 16",
        policy: SecurityPolicy::InsecureForTests,
        source: TOY,
        spec: toy_fbs,
    },
];

/// Every named DM/CGGI set, the default first, insecure ones last.
pub fn cggi_presets() -> &'static [CggiPreset] {
    &PRESETS
}

/// The DM/CGGI set of a name.
///
/// # Errors
/// [`Error::InvalidArgument`] listing the names there are.
pub fn cggi_preset(name: &str) -> Result<&'static CggiPreset, Error> {
    PRESETS.iter().find(|p| p.name == name).ok_or_else(|| {
        let names: Vec<&str> = PRESETS.iter().map(|p| p.name).collect();
        Error::InvalidArgument(format!("no DM/CGGI set is called {name:?}; there are {}", names.join(", ")))
    })
}

/// The DM/CGGI set with a fingerprint.
///
/// # Errors
/// [`Error::ParamsMismatch`] if no preset has it.
pub fn cggi_preset_by_fingerprint(fingerprint: &[u8; 16]) -> Result<&'static CggiPreset, Error> {
    PRESETS.iter().find(|p| (p.spec)().fingerprint() == *fingerprint).ok_or_else(|| {
        Error::ParamsMismatch(format!(
            "no DM/CGGI set of this version has fingerprint {}; use the version that made it",
            hex_id(*fingerprint)
        ))
    })
}

fn bool_128() -> CggiSpec {
    CggiSpec {
        name: "bool-128".to_string(),
        method: RotationMethod::GinxBinary,
        lwe_dimension: 637,
        lwe_secret: LweSecret::Binary,
        log_q: 16,
        switch_base_log: 2,
        switch_digits: 8,
        log_n: 10,
        prime: 134_215_681,
        width: Binomial::Coins32,
        base_log: 8,
        digits: 2,
        messages: 2,
        log_failure: -128.0,
        policy: SecurityPolicy::Strict128,
    }
}

fn bool_64() -> CggiSpec {
    CggiSpec {
        name: "bool-64".to_string(),
        lwe_dimension: 599,
        log_q: 15,
        switch_digits: 7,
        log_failure: -64.0,
        ..bool_128()
    }
}

fn toy_bool() -> CggiSpec {
    CggiSpec {
        name: "toy-bool".to_string(),
        lwe_dimension: 64,
        log_n: 8,
        policy: SecurityPolicy::InsecureForTests,
        ..bool_128()
    }
}

fn fbs_8() -> CggiSpec {
    CggiSpec {
        name: "fbs8".to_string(),
        lwe_dimension: 792,
        log_q: 20,
        switch_digits: 10,
        log_n: 11,
        prime: 1_073_692_673,
        width: Binomial::Coins21,
        base_log: 9,
        messages: 8,
        ..bool_128()
    }
}

fn fbs_16() -> CggiSpec {
    CggiSpec {
        name: "fbs16".to_string(),
        switch_base_log: 1,
        switch_digits: 18,
        base_log: 7,
        digits: 3,
        messages: 16,
        ..fbs_8()
    }
}

/// The prime has room for sums: the squares of their weights may add up to 25.
fn fbs_16_50() -> CggiSpec {
    CggiSpec { name: "fbs16-50".to_string(), prime: 1125899906826241, base_log: 23, digits: 1, ..fbs_16() }
}

fn toy_fbs() -> CggiSpec {
    CggiSpec {
        name: "toy-fbs".to_string(),
        lwe_dimension: 64,
        log_n: 10,
        messages: 16,
        policy: SecurityPolicy::InsecureForTests,
        ..fbs_8()
    }
}

fn bool_128_ternary() -> CggiSpec {
    CggiSpec {
        name: "bool-128-ternary".to_string(),
        method: RotationMethod::GinxTernary,
        lwe_dimension: 605,
        lwe_secret: LweSecret::Ternary,
        base_log: 7,
        digits: 3,
        log_failure: -120.0,
        ..bool_128()
    }
}

fn lmk_128() -> CggiSpec {
    CggiSpec {
        name: "lmk-128".to_string(),
        method: RotationMethod::Lmkcdey { merged: 1 },
        base_log: 7,
        digits: 3,
        ..bool_128()
    }
}

fn lmk_128_merged() -> CggiSpec {
    CggiSpec {
        name: "lmk-128-merged".to_string(),
        method: RotationMethod::Lmkcdey { merged: 4 },
        log_failure: -100.0,
        ..bool_128()
    }
}

fn lmk_64() -> CggiSpec {
    CggiSpec {
        name: "lmk-64".to_string(),
        method: RotationMethod::Lmkcdey { merged: 1 },
        log_failure: -54.0,
        ..bool_64()
    }
}

fn toy_bool_ternary() -> CggiSpec {
    CggiSpec {
        name: "toy-bool-ternary".to_string(),
        method: RotationMethod::GinxTernary,
        lwe_secret: LweSecret::Ternary,
        ..toy_bool()
    }
}

fn toy_bool_lmk() -> CggiSpec {
    CggiSpec {
        name: "toy-bool-lmk".to_string(),
        method: RotationMethod::Lmkcdey { merged: 1 },
        lwe_secret: LweSecret::Ternary,
        ..toy_bool()
    }
}

fn toy_bool_lmk_merged() -> CggiSpec {
    CggiSpec {
        name: "toy-bool-lmk-merged".to_string(),
        method: RotationMethod::Lmkcdey { merged: 4 },
        ..toy_bool()
    }
}
