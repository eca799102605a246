//! SHIP sets.
//!
//! The strict chains were found by minimising the noise model of the bootstrap over all prime sizes
//! under the security bounds, then taking the nearest primes 1 modulo 2N and fitting L0 to them
//! exactly: L0 enters the plaintext leaf's scale with a factor 2^T - 1 in the exponent.

use alloc::{string::ToString, vec, vec::Vec};

use super::{METHOD, ShipParams, ShipSpec};
use crate::{
    arith::Word,
    bootstrapping::method::{Catalogue, Messages, MethodInfo, Preset, Promise, SetSpec, SlotMode},
    error::Error,
    rlwe::EncapsulationDigits,
    security::SecurityPolicy,
};

/// A named SHIP set. It promises the bits of precision of the worst slot of one bootstrap, for every message with parts in
/// \[-1, 1\] (or bits).
pub type ShipPreset = Preset<ShipSpec>;

impl ShipPreset {
    /// Bits that a further round of META-BTS gains ([`crate::bootstrapping::Rounds`]): those one bootstrap promises in the
    /// worst slot.
    pub fn gain_bits(&self) -> u32 {
        self.promised as u32
    }

    /// The validated parameters, 32-bit words: every prime of a preset is below 2^31.
    ///
    /// # Errors
    /// None for a shipped preset; validation runs all the same.
    pub fn params(&self) -> Result<ShipParams, Error> {
        self.checked()
    }

    /// [`Self::params`] over another word.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a prime does not fit the word.
    pub fn params_over<W: Word>(&self) -> Result<ShipParams<W>, Error> {
        self.checked()
    }
}

impl SetSpec for ShipSpec {
    const METHOD: MethodInfo = METHOD;
    const WHAT: &'static str = "parameter set of SHIP";
    type Promised = f64;

    fn catalogue() -> &'static Catalogue<Self> {
        &SETS
    }

    fn promise(&self, &worst: &f64) -> Promise {
        let messages = if self.mode == SlotMode::Bits { Messages::Bits } else { Messages::Any };
        Promise::Precision { worst, mean: None, messages }
    }

    fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint()
    }
}

const TALK: &str = "chain of the SHIP talk's bound (ePrint 2025/784), own bit allocation";
const OWN: &str = "own chain by minimising the noise model under the 128-bit bounds; ePrint 2025/784";
const TOY: &str = "demonstration size, no security";

static SETS: Catalogue<ShipSpec> = Catalogue { current: &PRESETS, retired: &[] };

static PRESETS: [ShipPreset; 9] = [
    ShipPreset {
        name: "ship13",
        title: "128-bit, 4096 slots, reals or complex numbers in [-1, 1]",
        policy: SecurityPolicy::Strict128,
        promised: 5.0,
        source: OWN,
        spec: ship13,
    },
    ShipPreset {
        name: "ship13-bits",
        title: "128-bit, 4096 bits, cleaned by the bootstrap",
        policy: SecurityPolicy::Strict128,
        promised: 4.0,
        source: OWN,
        spec: ship13_bits,
    },
    ShipPreset {
        name: "ship14",
        title: "128-bit, 8192 slots, reals or complex numbers in [-1, 1], about 19 bits of precision",
        policy: SecurityPolicy::Strict128,
        promised: 18.5,
        source: OWN,
        spec: ship14,
    },
    ShipPreset {
        name: "ship14-he2018",
        title: "126-bit, 8192 slots, on the bound of the 2018 tables, for comparison with the talk",
        policy: SecurityPolicy::HeStandard2018,
        promised: 18.5,
        source: TALK,
        spec: ship14_he2018,
    },
    ShipPreset {
        name: "ship13-he2018",
        title: "126-bit, 4096 slots, on the bound of the 2018 tables, for comparison with the talk",
        policy: SecurityPolicy::HeStandard2018,
        promised: 4.45,
        source: TALK,
        spec: ship13_he2018,
    },
    ShipPreset {
        name: "ship13-bits-he2018",
        title: "126-bit, 4096 bits, on the bound of the 2018 tables",
        policy: SecurityPolicy::HeStandard2018,
        promised: 3.0,
        source: TALK,
        spec: ship13_bits_he2018,
    },
    ShipPreset {
        name: "toy10",
        title: "INSECURE demonstration size, 512 slots",
        policy: SecurityPolicy::InsecureForTests,
        promised: 10.0,
        source: TOY,
        spec: toy10,
    },
    ShipPreset {
        name: "toy11",
        title: "INSECURE demonstration size, 1024 slots",
        policy: SecurityPolicy::InsecureForTests,
        promised: 10.0,
        source: TOY,
        spec: toy11,
    },
    ShipPreset {
        name: "toy11-31",
        title: "INSECURE demonstration size, 1024 slots, the 31 tracks of the full-size sets",
        policy: SecurityPolicy::InsecureForTests,
        promised: 10.0,
        source: TOY,
        spec: toy11_31,
    },
];

fn single(primes: &[u64]) -> Vec<Vec<u64>> {
    primes.iter().map(|&p| vec![p]).collect()
}

fn singles(count: usize) -> Vec<Vec<usize>> {
    (0..count).map(|i| vec![i]).collect()
}

fn ship13() -> ShipSpec {
    ShipSpec {
        name: "ship13".to_string(),
        log_n: 13,
        weight: 31,
        window: 350,
        columns: 22,
        branches: vec![4, 4],
        levels: single(&[
            4_882_433, 557_057, 2_277_377, 8_667_137, 14_909_441, 21_741_569, 33_128_449, 51_085_313,
        ]),
        special: vec![890_585_089],
        digits: singles(8),
        encapsulation_prime: 65_537,
        encapsulation_digits: EncapsulationDigits::Balanced { count: 3 },
        log_leaf_scale: 25.02,
        log_scale: 22.15,
        gamma: 17.36,
        slope_correction: true,
        mode: SlotMode::Real,
        policy: SecurityPolicy::Strict128,
    }
}

fn ship13_bits() -> ShipSpec {
    ShipSpec {
        name: "ship13-bits".to_string(),
        columns: 14,
        branches: vec![5, 5],
        levels: single(&[65_537, 114_689, 737_281, 557_057, 638_977, 1_032_193, 2_654_209, 5_767_169]),
        special: vec![917_176_321, 917_782_529],
        digits: vec![vec![0, 4, 5], vec![1, 2, 3], vec![6, 7]],
        encapsulation_prime: 147_457,
        encapsulation_digits: EncapsulationDigits::Balanced { count: 2 },
        log_leaf_scale: 21.43,
        log_scale: 20.4,
        gamma: 2.0,
        slope_correction: false,
        mode: SlotMode::Bits,
        ..ship13()
    }
}

/// Levels of about 45 bits, each the product of two primes that are always dropped together: every
/// residue fits a 32-bit lane.
fn ship14() -> ShipSpec {
    ShipSpec {
        name: "ship14".to_string(),
        log_n: 14,
        window: 528,
        columns: 15,
        branches: vec![6, 6],
        levels: vec![
            vec![1_146_881, 1_179_649],
            vec![163_841, 557_057],
            vec![65_537, 1_376_257],
            vec![2_752_513, 2_654_209],
            vec![4_423_681, 4_620_289],
            vec![8_257_537, 8_159_233],
            vec![10_223_617, 10_027_009],
            vec![9_732_097, 9_502_721],
        ],
        special: vec![1_373_372_417, 1_373_765_633, 1_373_863_937],
        // Levels {0, 7}, {1, 6}, {2, 5}, {3, 4}.
        digits: vec![vec![0, 1, 14, 15], vec![2, 3, 12, 13], vec![4, 5, 10, 11], vec![6, 7, 8, 9]],
        encapsulation_prime: 134_250_497,
        encapsulation_digits: EncapsulationDigits::PerPrime,
        log_leaf_scale: 46.07,
        log_scale: 37.23,
        gamma: 1731.0,
        ..ship13()
    }
}

/// The chain of `ship14` with a bit more in every level of the tree and the largest special primes of 31 bits.
fn ship14_he2018() -> ShipSpec {
    ShipSpec {
        name: "ship14-he2018".to_string(),
        levels: vec![
            vec![1_146_881, 1_179_649],
            vec![163_841, 557_057],
            vec![65_537, 1_376_257],
            vec![3_735_553, 3_604_481],
            vec![6_946_817, 5_865_473],
            vec![12_484_609, 10_780_673],
            vec![16_121_857, 12_681_217],
            vec![13_631_489, 13_565_953],
        ],
        special: vec![2_146_336_769, 2_146_959_361, 2_147_352_577],
        log_leaf_scale: 47.064,
        policy: SecurityPolicy::HeStandard2018,
        ..ship14()
    }
}

fn ship13_he2018() -> ShipSpec {
    ShipSpec {
        name: "ship13-he2018".to_string(),
        levels: single(&[
            1_032_193,
            1_589_249,
            1_376_257,
            35_946_497,
            20_512_769,
            29_245_441,
            41_500_673,
            116_850_689,
        ]),
        special: vec![1_416_855_553],
        encapsulation_prime: 4_079_617,
        encapsulation_digits: EncapsulationDigits::Balanced { count: 1 },
        log_leaf_scale: 25.8,
        log_scale: 20.5,
        gamma: 40.0,
        slope_correction: false,
        policy: SecurityPolicy::HeStandard2018,
        ..ship13()
    }
}

fn ship13_bits_he2018() -> ShipSpec {
    ShipSpec {
        name: "ship13-bits-he2018".to_string(),
        columns: 14,
        branches: vec![5, 5],
        levels: single(&[147_457, 557_057, 638_977, 737_281, 786_433, 1_032_193, 1_097_729, 3_260_417]),
        special: vec![1_869_463_553, 1_935_409_153],
        digits: vec![vec![0, 1, 7], vec![2, 3, 4], vec![5, 6]],
        encapsulation_prime: 4_079_617,
        encapsulation_digits: EncapsulationDigits::Balanced { count: 1 },
        log_leaf_scale: 20.6,
        log_scale: 19.0,
        gamma: 2.0,
        slope_correction: false,
        mode: SlotMode::Bits,
        policy: SecurityPolicy::HeStandard2018,
        ..ship13()
    }
}

fn toy10() -> ShipSpec {
    ShipSpec {
        name: "toy10".to_string(),
        log_n: 10,
        weight: 15,
        window: 64,
        columns: 4,
        branches: vec![4, 4],
        levels: single(&[
            134_215_681,
            67_104_769,
            67_127_297,
            94_904_321,
            366_692_353,
            518_594_561,
            1_518_499_841,
        ]),
        special: vec![2_003_675_137, 2_017_576_961],
        digits: vec![vec![0, 6], vec![1, 5], vec![2, 4], vec![3]],
        encapsulation_prime: 268_441_601,
        encapsulation_digits: EncapsulationDigits::Balanced { count: 1 },
        log_leaf_scale: 29.5,
        log_scale: 26.0,
        gamma: 64.0,
        slope_correction: true,
        mode: SlotMode::Real,
        policy: SecurityPolicy::InsecureForTests,
    }
}

fn toy11() -> ShipSpec {
    ShipSpec {
        name: "toy11".to_string(),
        log_n: 11,
        levels: single(&[
            134_246_401,
            67_104_769,
            67_084_289,
            94_904_321,
            366_723_073,
            518_594_561,
            1_518_518_273,
        ]),
        special: vec![2_003_668_993, 2_017_677_313],
        encapsulation_prime: 268_460_033,
        ..toy10()
    }
}

fn toy11_31() -> ShipSpec {
    ShipSpec {
        name: "toy11-31".to_string(),
        weight: 31,
        levels: single(&[
            134_246_401,
            67_104_769,
            67_084_289,
            94_904_321,
            259_350_529,
            366_723_073,
            518_594_561,
            1_518_518_273,
        ]),
        digits: vec![vec![0, 7], vec![1, 6], vec![2, 5], vec![3, 4]],
        ..toy11()
    }
}
