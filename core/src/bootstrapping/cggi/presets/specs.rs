//! The numbers of the DM/CGGI sets.

use alloc::string::ToString;

use crate::{
    ring::Binomial,
    schemes::cggi::{CggiSpec, RotationMethod},
    security::{LweSecret, SecurityPolicy},
};

pub(crate) fn bool_128() -> CggiSpec {
    CggiSpec {
        name: "bool-128".to_string(),
        method: RotationMethod::GinxBinary,
        lwe_dimension: 661,
        lwe_secret: LweSecret::Binary,
        log_q: 16,
        switch_base_log: 2,
        switch_digits: 6,
        log_n: 10,
        prime: 134_215_681,
        width: Binomial::Coins36,
        base_log: 8,
        digits: 2,
        messages: 2,
        log_failure: -128.0,
        policy: SecurityPolicy::Strict128,
    }
}

pub(super) fn bool_64() -> CggiSpec {
    CggiSpec {
        name: "bool-64".to_string(),
        lwe_dimension: 622,
        log_q: 15,
        switch_digits: 6,
        log_failure: -64.0,
        ..bool_128()
    }
}

/// The promise is that of three-input gates; two-input gates keep 2^-128.
pub(super) fn bool_100_unrolled() -> CggiSpec {
    CggiSpec {
        name: "bool-100-unrolled".to_string(),
        method: RotationMethod::GinxUnrolled,
        lwe_dimension: 662,
        switch_base_log: 1,
        switch_digits: 13,
        log_failure: -100.0,
        ..bool_128()
    }
}

pub(super) fn toy_bool() -> CggiSpec {
    CggiSpec {
        name: "toy-bool".to_string(),
        lwe_dimension: 64,
        switch_digits: 8,
        width: Binomial::Coins32,
        log_n: 8,
        policy: SecurityPolicy::InsecureForTests,
        ..bool_128()
    }
}

pub(super) fn fbs_8() -> CggiSpec {
    CggiSpec {
        name: "fbs8".to_string(),
        lwe_dimension: 816,
        log_q: 20,
        switch_base_log: 2,
        switch_digits: 7,
        log_n: 11,
        prime: 1_073_692_673,
        width: Binomial::Coins21,
        base_log: 9,
        messages: 8,
        ..bool_128()
    }
}

pub(super) fn fbs_16() -> CggiSpec {
    CggiSpec {
        name: "fbs16".to_string(),
        switch_base_log: 1,
        switch_digits: 16,
        base_log: 7,
        digits: 3,
        messages: 16,
        ..fbs_8()
    }
}

/// The prime has room for sums: the squares of their weights may add up to 25. The noise of the rotation is so small that the key switch
/// may have more, with half the digits of `fbs16`, and that coordinates are taken by pairs.
pub(crate) fn fbs_16_50() -> CggiSpec {
    CggiSpec {
        name: "fbs16-50".to_string(),
        method: RotationMethod::GinxUnrolled,
        prime: 1_125_899_906_826_241,
        switch_base_log: 2,
        switch_digits: 8,
        base_log: 23,
        digits: 1,
        ..fbs_16()
    }
}

/// With so little noise of the rotation, a shorter key at a smaller modulus will do.
pub(super) fn fbs_8_50() -> CggiSpec {
    CggiSpec {
        name: "fbs8-50".to_string(),
        lwe_dimension: 740,
        log_q: 18,
        switch_digits: 7,
        messages: 8,
        ..fbs_16_50()
    }
}

pub(crate) fn toy_fbs() -> CggiSpec {
    CggiSpec {
        name: "toy-fbs".to_string(),
        lwe_dimension: 64,
        switch_base_log: 2,
        switch_digits: 10,
        log_n: 10,
        messages: 16,
        policy: SecurityPolicy::InsecureForTests,
        ..fbs_8()
    }
}

pub(super) fn bool_128_ternary() -> CggiSpec {
    CggiSpec {
        name: "bool-128-ternary".to_string(),
        method: RotationMethod::GinxTernary,
        lwe_dimension: 614,
        lwe_secret: LweSecret::Ternary,
        switch_base_log: 3,
        switch_digits: 4,
        base_log: 6,
        digits: 3,
        ..bool_128()
    }
}

pub(super) fn lmk_128() -> CggiSpec {
    CggiSpec {
        name: "lmk-128".to_string(),
        method: RotationMethod::Lmkcdey { merged: 1 },
        switch_base_log: 3,
        switch_digits: 4,
        base_log: 6,
        digits: 3,
        ..bool_128()
    }
}

pub(super) fn lmk_128_merged() -> CggiSpec {
    CggiSpec {
        name: "lmk-128-merged".to_string(),
        method: RotationMethod::Lmkcdey { merged: 4 },
        switch_base_log: 1,
        switch_digits: 12,
        log_failure: -100.0,
        ..bool_128()
    }
}

pub(super) fn lmk_64() -> CggiSpec {
    CggiSpec {
        name: "lmk-64".to_string(),
        method: RotationMethod::Lmkcdey { merged: 1 },
        log_failure: -54.0,
        ..bool_64()
    }
}

pub(super) fn toy_bool_unrolled() -> CggiSpec {
    CggiSpec { name: "toy-bool-unrolled".to_string(), method: RotationMethod::GinxUnrolled, ..toy_bool() }
}

pub(super) fn toy_bool_ternary() -> CggiSpec {
    CggiSpec {
        name: "toy-bool-ternary".to_string(),
        method: RotationMethod::GinxTernary,
        lwe_secret: LweSecret::Ternary,
        ..toy_bool()
    }
}

pub(super) fn toy_bool_lmk() -> CggiSpec {
    CggiSpec {
        name: "toy-bool-lmk".to_string(),
        method: RotationMethod::Lmkcdey { merged: 1 },
        lwe_secret: LweSecret::Ternary,
        ..toy_bool()
    }
}

pub(super) fn toy_bool_lmk_merged() -> CggiSpec {
    CggiSpec {
        name: "toy-bool-lmk-merged".to_string(),
        method: RotationMethod::Lmkcdey { merged: 4 },
        ..toy_bool()
    }
}

/// The modulus is below that of the other sets, because NTRU is weaker at the same modulus.
pub(super) fn ntru_128() -> CggiSpec {
    CggiSpec {
        name: "ntru-128".to_string(),
        method: RotationMethod::Ntru { merged: 4 },
        prime: 16_760_833,
        width: Binomial::Coins21,
        switch_digits: 7,
        base_log: 5,
        digits: 4,
        ..bool_128()
    }
}

pub(super) fn ntru_64() -> CggiSpec {
    CggiSpec {
        name: "ntru-64".to_string(),
        switch_base_log: 1,
        switch_digits: 13,
        base_log: 6,
        digits: 3,
        log_failure: -74.0,
        ..ntru_128()
    }
}

pub(super) fn ntru_small() -> CggiSpec {
    CggiSpec {
        name: "ntru-small".to_string(),
        method: RotationMethod::Ntru { merged: 1 },
        switch_base_log: 1,
        switch_digits: 13,
        log_failure: -125.0,
        ..ntru_128()
    }
}

pub(super) fn toy_bool_ntru() -> CggiSpec {
    CggiSpec {
        name: "toy-bool-ntru".to_string(),
        lwe_dimension: 64,
        switch_base_log: 2,
        switch_digits: 8,
        log_n: 8,
        log_failure: -128.0,
        policy: SecurityPolicy::InsecureForTests,
        ..ntru_small()
    }
}

pub(super) fn toy_bool_ntru_merged() -> CggiSpec {
    CggiSpec {
        name: "toy-bool-ntru-merged".to_string(),
        method: RotationMethod::Ntru { merged: 4 },
        lwe_secret: LweSecret::Ternary,
        ..toy_bool_ntru()
    }
}

pub(super) fn toy_bool_ap() -> CggiSpec {
    CggiSpec {
        name: "toy-bool-ap".to_string(),
        method: RotationMethod::Ap { base_log: 4 },
        lwe_secret: LweSecret::Ternary,
        ..toy_bool()
    }
}
