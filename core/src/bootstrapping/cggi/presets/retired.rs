//! The numbers of DM/CGGI sets of earlier versions, whose keys are still read.

use alloc::string::ToString;

use super::CggiPreset;
use crate::{
    bootstrapping::method::Retired,
    ring::Binomial,
    schemes::cggi::{CggiSpec, RotationMethod},
    security::{LweSecret, SecurityPolicy},
};

/// The sets of 2026, 123.5 to 127 bits: chosen before the dual hybrid attacks were counted.
pub(super) static RETIRED: [Retired<CggiSpec>; 14] = [
    retired("bool-128-2026a", "bool-128", bool_128),
    retired("bool-64-2026a", "bool-64", bool_64),
    retired("bool-110-unrolled", "bool-100-unrolled", bool_110_unrolled),
    retired("bool-128-ternary-2026a", "bool-128-ternary", bool_128_ternary),
    retired("lmk-128-2026a", "lmk-128", lmk_128),
    retired("lmk-128-merged-2026a", "lmk-128-merged", lmk_128_merged),
    retired("lmk-64-2026a", "lmk-64", lmk_64),
    retired("ntru-128-2026a", "ntru-128", ntru_128),
    retired("ntru-64-2026a", "ntru-64", ntru_64),
    retired("ntru-small-2026a", "ntru-small", ntru_small),
    retired("fbs8-2026a", "fbs8", fbs_8),
    retired("fbs16-2026a", "fbs16", fbs_16),
    retired("fbs8-50-2026a", "fbs8-50", fbs_8_50),
    retired("fbs16-50-2026a", "fbs16-50", fbs_16_50),
];

const fn retired(name: &'static str, now: &'static str, spec: fn() -> CggiSpec) -> Retired<CggiSpec> {
    let title =
        "a set of version 0.1, below 128 bits by the dual hybrid attacks: its keys are read, and none made";
    let source = "own set of November 2026; dimensions by the primal attacks of the lattice estimator";
    Retired {
        preset: CggiPreset { name, title, policy: SecurityPolicy::Superseded, promised: (), source, spec },
        now,
    }
}

fn bool_128() -> CggiSpec {
    CggiSpec {
        name: "bool-128-2026a".to_string(),
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
        policy: SecurityPolicy::Superseded,
    }
}

fn bool_64() -> CggiSpec {
    CggiSpec {
        name: "bool-64-2026a".to_string(),
        lwe_dimension: 599,
        log_q: 15,
        switch_digits: 7,
        log_failure: -64.0,
        ..bool_128()
    }
}

fn bool_110_unrolled() -> CggiSpec {
    CggiSpec {
        name: "bool-110-unrolled".to_string(),
        method: RotationMethod::GinxUnrolled,
        lwe_dimension: 638,
        switch_base_log: 1,
        switch_digits: 12,
        log_failure: -110.0,
        ..bool_128()
    }
}

fn bool_128_ternary() -> CggiSpec {
    CggiSpec {
        name: "bool-128-ternary-2026a".to_string(),
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
        name: "lmk-128-2026a".to_string(),
        method: RotationMethod::Lmkcdey { merged: 1 },
        base_log: 7,
        digits: 3,
        ..bool_128()
    }
}

fn lmk_128_merged() -> CggiSpec {
    CggiSpec {
        name: "lmk-128-merged-2026a".to_string(),
        method: RotationMethod::Lmkcdey { merged: 4 },
        log_failure: -100.0,
        ..bool_128()
    }
}

fn lmk_64() -> CggiSpec {
    CggiSpec {
        name: "lmk-64-2026a".to_string(),
        method: RotationMethod::Lmkcdey { merged: 1 },
        log_failure: -54.0,
        ..bool_64()
    }
}

fn ntru_128() -> CggiSpec {
    CggiSpec {
        name: "ntru-128-2026a".to_string(),
        method: RotationMethod::Ntru { merged: 4 },
        prime: 16_760_833,
        width: Binomial::Coins21,
        base_log: 5,
        digits: 4,
        ..bool_128()
    }
}

fn ntru_64() -> CggiSpec {
    CggiSpec { name: "ntru-64-2026a".to_string(), base_log: 6, digits: 3, log_failure: -74.0, ..ntru_128() }
}

fn ntru_small() -> CggiSpec {
    CggiSpec {
        name: "ntru-small-2026a".to_string(),
        method: RotationMethod::Ntru { merged: 1 },
        log_failure: -125.0,
        ..ntru_128()
    }
}

fn fbs_8() -> CggiSpec {
    CggiSpec {
        name: "fbs8-2026a".to_string(),
        lwe_dimension: 792,
        log_q: 20,
        switch_base_log: 3,
        switch_digits: 6,
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
        name: "fbs16-2026a".to_string(),
        switch_base_log: 1,
        switch_digits: 18,
        base_log: 7,
        digits: 3,
        messages: 16,
        ..fbs_8()
    }
}

fn fbs_8_50() -> CggiSpec {
    CggiSpec {
        name: "fbs8-50-2026a".to_string(),
        lwe_dimension: 714,
        log_q: 18,
        switch_digits: 7,
        messages: 8,
        ..fbs_16_50()
    }
}

fn fbs_16_50() -> CggiSpec {
    CggiSpec {
        name: "fbs16-50-2026a".to_string(),
        method: RotationMethod::GinxUnrolled,
        prime: 1_125_899_906_826_241,
        switch_base_log: 2,
        switch_digits: 8,
        base_log: 23,
        digits: 1,
        ..fbs_16()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::hex, params::cggi_preset};

    /// The fingerprints that keys and ciphertexts of version 0.1 carry.
    const FINGERPRINTS: [(&str, &str); 14] = [
        ("bool-128-2026a", "7d06f02dce73b3cb213e0b158c3cd9b0"),
        ("bool-64-2026a", "793def2532990488c5fd9a1c7884bc94"),
        ("bool-110-unrolled", "627c622169976ecac15ca290490e6b77"),
        ("bool-128-ternary-2026a", "0a8b2165bc95ec5e705ec67f14f1914e"),
        ("lmk-128-2026a", "19a6b2260c27d37e6510945d16fcc5dd"),
        ("lmk-128-merged-2026a", "b66f662e8f83d6d6b8b0f9c18f6c4c7a"),
        ("lmk-64-2026a", "43b27f68832c08f890f5e098968e34ab"),
        ("ntru-128-2026a", "cee449d5e837f1a83dfe3de51b0de335"),
        ("ntru-64-2026a", "1686661dc5e963d91676f270db53ddc6"),
        ("ntru-small-2026a", "534979ca2483a2c814b4fd423c01e403"),
        ("fbs8-2026a", "1adbcc8f634df0366c2d1b87be0e14b6"),
        ("fbs16-2026a", "d041ae51d72850a605349a444d935d02"),
        ("fbs8-50-2026a", "73baa43ce4f1f7f821e30f5aa76c1b75"),
        ("fbs16-50-2026a", "1daed7cffd5afa13050ba9387ace03c4"),
    ];

    #[test]
    fn old_keys_find_their_sets() {
        for (old, (name, fingerprint)) in RETIRED.iter().zip(FINGERPRINTS) {
            let spec = (old.preset.spec)();
            assert_eq!((old.preset.name, spec.name.as_str()), (name, name));
            assert_eq!(hex(&spec.fingerprint()), fingerprint, "{name}");
            assert!(cggi_preset(old.now).is_ok_and(|now| (now.spec)().fingerprint() != spec.fingerprint()));
            assert!(cggi_preset(name).is_err());
        }
    }
}
