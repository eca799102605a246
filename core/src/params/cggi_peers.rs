//! DM/CGGI sets of other libraries, for comparison with the numbers they chose: their key dimensions, digits and widths, with this
//! library's order of operations and its primes. OpenFHE's key switch takes digits of 5 bits with a sample for each value of a digit; here
//! it takes digits of 2 bits with one sample each, which keeps its noise.
//!
//! They are not among [`CggiPreset::all`]: no program offers them by name, and the names of those below 128 bits by today's estimate say
//! so. Sets whose ring ciphertexts have several mask polynomials (tfhe-rs's Boolean sets, its 1_1) have no counterpart here.

use alloc::string::ToString;

use crate::{
    bootstrapping::{
        cggi::{CggiPreset, bool_128, fbs_16_50},
        method::Catalogue,
    },
    error::Error,
    ring::Binomial,
    schemes::cggi::{CggiSpec, RotationMethod},
    security::{LweSecret, SecurityPolicy},
};

const OPENFHE: &str = "openfhe-development, src/binfhe/lib/binfhecontext.cpp";

static PEERS: [CggiPreset; 5] = [
    CggiPreset {
        name: "below-128-openfhe-std128",
        title: "INSECURE by today's estimate (about 124 bits), OpenFHE's STD128 with GINX",
        policy: SecurityPolicy::InsecureForTests,
        promised: (),
        source: OPENFHE,
        spec: openfhe_ginx,
    },
    CggiPreset {
        name: "below-128-openfhe-std128-lmkcdey",
        title: "INSECURE by today's estimate (about 126 bits), OpenFHE's STD128_LMKCDEY",
        policy: SecurityPolicy::InsecureForTests,
        promised: (),
        source: OPENFHE,
        spec: openfhe_lmkcdey,
    },
    CggiPreset {
        name: "below-128-openfhe-std128-ap",
        title: "INSECURE by today's estimate (about 125 bits), OpenFHE's STD128_AP: DM, 1.8 GB of keys",
        policy: SecurityPolicy::InsecureForTests,
        promised: (),
        source: OPENFHE,
        spec: openfhe_ap,
    },
    CggiPreset {
        name: "below-128-tfhe-lib",
        title: "INSECURE by today's estimate (about 116 bits), the set of the original TFHE library, ring key ternary",
        policy: SecurityPolicy::InsecureForTests,
        promised: (),
        source: "tfhe-rs, tfhe/src/boolean/parameters/params.rs, TFHE_LIB_PARAMETERS",
        spec: tfhe_lib,
    },
    CggiPreset {
        name: "tfhe-rs-2-2",
        title: "128-bit, tfhe-rs's 2_2 (4 bits and padding), ring key ternary, modulo a 50-bit prime",
        policy: SecurityPolicy::Strict128,
        promised: (),
        source: "tfhe-rs, shortint/parameters/v1_4/classic/tuniform/p_fail_2_minus_128/ks_pbs.rs",
        spec: tfhe_rs_2_2,
    },
];

static SETS: Catalogue<CggiSpec> = Catalogue { current: &PEERS, retired: &[] };

/// All sets of other libraries.
pub fn cggi_peer_presets() -> &'static [CggiPreset] {
    &PEERS
}

/// The set of another library by its name here.
///
/// # Errors
/// [`Error::InvalidArgument`] listing the known names.
pub fn cggi_peer_preset(name: &str) -> Result<&'static CggiPreset, Error> {
    SETS.named(name)
}

fn openfhe_ginx() -> CggiSpec {
    CggiSpec {
        name: "below-128-openfhe-std128".to_string(),
        method: RotationMethod::GinxTernary,
        lwe_dimension: 556,
        lwe_secret: LweSecret::Ternary,
        log_q: 15,
        switch_base_log: 2,
        switch_digits: 7,
        width: Binomial::Coins21,
        base_log: 7,
        digits: 3,
        log_failure: -60.0,
        policy: SecurityPolicy::InsecureForTests,
        ..bool_128()
    }
}

fn openfhe_lmkcdey() -> CggiSpec {
    CggiSpec {
        name: "below-128-openfhe-std128-lmkcdey".to_string(),
        method: RotationMethod::Lmkcdey { merged: 1 },
        lwe_dimension: 581,
        base_log: 9,
        digits: 2,
        log_failure: -30.0,
        ..openfhe_ginx()
    }
}

fn openfhe_ap() -> CggiSpec {
    CggiSpec {
        name: "below-128-openfhe-std128-ap".to_string(),
        method: RotationMethod::Ap { base_log: 6 },
        lwe_dimension: 559,
        ..openfhe_lmkcdey()
    }
}

/// In the original the error of the short key is 3.05e-5 of a turn; here it is 2.47e-5, with q the next power of two.
fn tfhe_lib() -> CggiSpec {
    CggiSpec {
        name: "below-128-tfhe-lib".to_string(),
        lwe_dimension: 630,
        log_q: 17,
        switch_base_log: 2,
        switch_digits: 8,
        width: Binomial::Coins32,
        base_log: 7,
        digits: 3,
        log_failure: -60.0,
        policy: SecurityPolicy::InsecureForTests,
        ..bool_128()
    }
}

/// In tfhe-rs the errors are 2^-19.8 and 2^-47.8 of a turn; here they are 2^-19.3 and 2^-48.3.
fn tfhe_rs_2_2() -> CggiSpec {
    CggiSpec {
        name: "tfhe-rs-2-2".to_string(),
        lwe_dimension: 918,
        log_q: 21,
        switch_base_log: 4,
        switch_digits: 4,
        log_failure: -110.0,
        ..fbs_16_50()
    }
}
