//! Sets of publications, for comparison only: I-A to V-A, IV-B and V-B of "Accelerating BGV Bootstrapping for Large p Using Null
//! Polynomials over Z_p^e" (Ma, Huang, Wang, Wang, EUROCRYPT 2024), and the ring and the plaintexts of the rows of HElib in "Demystifying
//! Bootstrapping in Fully Homomorphic Encryption" (Al Badawi, Polyakov, ePrint 2023/149), m = 21845 and p = 2.
//!
//! The sets of the first have the ring, plaintexts, weights of both secrets and bound on digits that it prints. Their log2 QP is somewhat
//! below the published one (1925 of 2036 for V-A, 1996 for V-B, 1437 of 1462 for I-A), so they are no less secure: 82 to 83 bits by the
//! source. By the lattice estimator the main secrets are worth 83.1 (IV-B) to 87.4 bits (II-A), and the ephemeral ones 138 and more. A
//! bootstrap gives a wrong slot once in 2^34 by the source and once in 2^41 by our estimate. The second publishes nothing more than slots
//! and plaintexts; the main secret of its sets is worth 79 bits at their log2 QP = 686 by the lattice estimator. None of this is the
//! security of today's sets, as every title says. They are checked against no policy, and are not among the sets from which keys are made.
//!
//! Sets of type B read digits beside multiples of a number that p does not divide ([`Approach::Beside`]). IV-A-source and V-A-source are
//! IV-A and V-A with digits read as in their source ([`Approach::Multiples`]). Type B is not published in thin form.
//!
//! `V-A-128` is our own: the ring and the slots of V-A at 128 bits. Its moduli are at most what a ring of degree 2^15 may have; as plain
//! LWE, which is what is estimated, they are no easier to attack in dimension 50112. Digits are bounded by 54, which holds for every
//! ephemeral secret, as [`BgvParams::log2_failure`](super::BgvParams::log2_failure) says.
//!
//! How the modulus is divided is our own, as the sources print no chains. Slots-to-coefficients takes smaller levels than the rest where
//! more of them would be left unused.

use alloc::{format, vec, vec::Vec};

use super::{
    approach::Approach,
    presets::{BgvPreset, next_prime},
    spec::BgvSpec,
};
use crate::{
    bootstrapping::raising::{EphemeralSpec, digits_of},
    ring::Cyclotomic,
    rlwe::{EncapsulationDigits, RlweSpec},
    security::{SecretDistribution, SecurityPolicy},
};

/// log2 of the special primes.
const SPECIAL: f64 = 50.0;

/// What differs from set to set. Messages are modulo `prime`^`exponent`.
struct Published {
    name: &'static str,
    /// m, an odd number.
    index: u64,
    prime: u64,
    exponent: u32,
    /// Weight of the main secret.
    main_weight: u32,
    policy: SecurityPolicy,
    /// t, the exponent of digits.
    digits: u32,
    approach: Approach,
    bound: u32,
    /// Weight of the ephemeral secret.
    weight: u32,
    /// log2 of q0, and of the prime beside it under the ephemeral secret.
    base: f64,
    ephemeral: f64,
    /// Number and size of the levels between bootstraps, and of the levels of the removal; sizes of the levels of both maps.
    products: (usize, f64),
    removal: (usize, f64),
    slots_to_coeffs: f64,
    coeffs_to_slots: f64,
    /// Number of special primes, and by at least how many bits the product of the primes of a digit is below theirs.
    special: usize,
    less: f64,
}

impl Published {
    fn spec(&self, general: bool) -> BgvSpec {
        // An index that is not odd would need other primes; all of these are odd.
        let ring = Cyclotomic::of_odd_index(self.index);
        let (n, divisor) = ring.map_or((0, 1), |ring| (ring.degree(), ring.divisor_of_primes()));
        let (maps, products) = (vec![self.slots_to_coeffs; 2], vec![self.products.1; self.products.0]);
        let messages = if general { [products, maps] } else { [maps, products] }.concat();
        let (count, size) = self.removal;
        let levels = [vec![self.base], messages, vec![size; count], vec![self.coeffs_to_slots; 2]].concat();
        let mut taken = vec![self.prime];
        let mut next = |bits: f64| next_prime(bits, divisor, &mut taken);
        let primes: Vec<Vec<u64>> = levels.iter().map(|&bits| vec![next(bits)]).collect();
        let special = (0..self.special).map(|_| next(SPECIAL)).collect();
        BgvSpec {
            name: format!("{}{}", self.name, if general { "" } else { "-thin" }),
            chain: RlweSpec {
                n,
                odd_part: self.index,
                digits: digits_of(&levels, SPECIAL * self.special as f64 - self.less),
                levels: primes,
                special,
                secret: SecretDistribution::Sparse { weight: self.main_weight },
                policy: self.policy,
            },
            general,
            prime: self.prime,
            exponent: self.exponent,
            digit_exponent: self.digits,
            approach: self.approach,
            bound: self.bound,
            slots_to_coeffs: 2,
            coeffs_to_slots: 2,
            ephemeral: EphemeralSpec {
                weight: self.weight,
                prime: next(self.ephemeral),
                digits: EncapsulationDigits::Balanced { count: 3 },
            },
        }
    }
}

const LARGE_PRIMES: &str = "ePrint 2024/115; own division of its modulus";

const SURVEY: &str = "ePrint 2023/149 and HElib, m = 21845; own chain";

/// The other sets take from V-A whatever they do not state.
const V_A: Published = Published {
    name: "V-A",
    index: 50731,
    prime: 65537,
    exponent: 1,
    main_weight: 120,
    policy: SecurityPolicy::InsecureForTests,
    digits: 1,
    approach: Approach::Raised,
    bound: 23,
    weight: 24,
    base: 43.5,
    ephemeral: 37.5,
    products: (18, 49.0),
    removal: (7, 49.4),
    slots_to_coeffs: 30.0,
    coeffs_to_slots: 47.0,
    special: 10,
    less: 1.0,
};

const IV_A: Published = Published {
    name: "IV-A",
    index: 45193,
    prime: 8191,
    base: 39.0,
    ephemeral: 33.5,
    products: (16, 49.0),
    removal: (7, 43.2),
    coeffs_to_slots: 42.2,
    special: 9,
    ..V_A
};

static III_A: Published = Published {
    name: "III-A",
    index: 55427,
    prime: 257,
    exponent: 2,
    bound: 22,
    weight: 22,
    base: 39.5,
    ephemeral: 31.0,
    products: (21, 49.0),
    removal: (8, 42.3),
    coeffs_to_slots: 42.0,
    special: 11,
    ..V_A
};

const I_A: Published = Published {
    name: "I-A",
    index: 38309,
    prime: 17,
    exponent: 4,
    digits: 2,
    base: 38.0,
    ephemeral: 32.0,
    products: (9, 49.0),
    removal: (10, 45.0),
    slots_to_coeffs: 38.0,
    coeffs_to_slots: 41.0,
    special: 7,
    ..V_A
};

/// For thin bootstraps, where no later map lowers the noise of reading two digits: larger levels for the removal, and one product less.
static I_A_THIN: Published = Published { products: (8, 49.0), removal: (10, 49.0), ..I_A };

static II_A: Published = Published {
    name: "II-A",
    index: 56647,
    prime: 127,
    exponent: 2,
    bound: 22,
    weight: 22,
    base: 37.0,
    ephemeral: 29.5,
    products: (22, 49.0),
    removal: (7, 40.0),
    coeffs_to_slots: 39.0,
    special: 11,
    ..V_A
};

/// `of` as a set of type B, whose digits are read beside the multiples of `step`.
const fn type_b(of: &Published, step: u64) -> Published {
    Published { digits: 0, approach: Approach::Beside { step }, weight: 22, ..*of }
}

static V_B: Published = Published {
    name: "V-B",
    bound: 23,
    base: 33.0,
    ephemeral: 33.0,
    products: (18, 49.3),
    removal: (12, 36.0),
    slots_to_coeffs: 38.0,
    coeffs_to_slots: 34.0,
    ..type_b(&V_A, 47)
};

static IV_B: Published = Published {
    name: "IV-B",
    bound: 22,
    base: 31.0,
    ephemeral: 31.0,
    products: (16, 49.3),
    removal: (11, 34.0),
    coeffs_to_slots: 32.0,
    ..type_b(&IV_A, 45)
};

/// The slots of V-A with the weights and moduli of 128 bits: log2 QP at most what a ring of degree 2^15 may have.
static V_A_128: Published = Published {
    name: "V-A-128",
    main_weight: 192,
    policy: SecurityPolicy::Strict128,
    bound: 54,
    weight: 32,
    base: 43.0,
    ephemeral: 41.9,
    products: (3, 32.3),
    removal: (8, 49.45),
    slots_to_coeffs: 38.0,
    coeffs_to_slots: 47.0,
    special: 2,
    // This way keys add much less noise to unpacked coordinates than a rounding does.
    less: 7.0,
    ..V_A
};

/// V-A by the pipeline of its source, whose digits become coefficients modulo p^2.
static V_A_SOURCE: Published =
    Published { name: "V-A-source", approach: Approach::Multiples, slots_to_coeffs: 48.0, ..V_A };

/// IV-A likewise.
static IV_A_SOURCE: Published =
    Published { name: "IV-A-source", approach: Approach::Multiples, slots_to_coeffs: 43.0, ..IV_A };

static M21845: Published = Published {
    name: "m21845",
    index: 21845,
    prime: 2,
    digits: 6,
    bound: 31,
    weight: 20,
    base: 30.0,
    ephemeral: 30.0,
    products: (6, 30.0),
    removal: (7, 30.0),
    coeffs_to_slots: 30.0,
    special: 3,
    ..V_A
};

static PUBLISHED: [BgvPreset; 20] = [
    preset(
        "I-A",
        LARGE_PRIMES,
        "INSECURE, for comparison: 1540 slots of integers modulo 17^4, 24 in each, 82 bits by its source",
        || I_A.spec(true),
    ),
    preset(
        "I-A-thin",
        LARGE_PRIMES,
        "INSECURE, for comparison: 1540 slots of integers modulo 17^4, 82 bits by its source",
        || I_A_THIN.spec(false),
    ),
    preset(
        "II-A",
        LARGE_PRIMES,
        "INSECURE, for comparison: 1224 slots of integers modulo 127^2, 45 in each, 82 bits by its source",
        || II_A.spec(true),
    ),
    preset(
        "II-A-thin",
        LARGE_PRIMES,
        "INSECURE, for comparison: 1224 slots of integers modulo 127^2, 82 bits by its source",
        || II_A.spec(false),
    ),
    preset(
        "III-A",
        LARGE_PRIMES,
        "INSECURE, for comparison: 1932 slots of integers modulo 257^2, 28 in each, 82 bits by its source",
        || III_A.spec(true),
    ),
    preset(
        "III-A-thin",
        LARGE_PRIMES,
        "INSECURE, for comparison: 1932 slots of integers modulo 257^2, 82 bits by its source",
        || III_A.spec(false),
    ),
    preset(
        "IV-A",
        LARGE_PRIMES,
        "INSECURE, for comparison: 3150 slots of the field of 8191^14 elements, 82 bits by its source",
        || IV_A.spec(true),
    ),
    preset(
        "IV-A-thin",
        LARGE_PRIMES,
        "INSECURE, for comparison: 3150 slots of integers modulo 8191, 82 bits by its source",
        || IV_A.spec(false),
    ),
    preset(
        "IV-A-source",
        LARGE_PRIMES,
        "INSECURE, for comparison: IV-A with the source's own pipeline, 82 bits by its source",
        || IV_A_SOURCE.spec(true),
    ),
    preset(
        "IV-B",
        LARGE_PRIMES,
        "INSECURE, for comparison: 3150 slots of the field of 8191^14 elements, type B, 82 bits by its source",
        || IV_B.spec(true),
    ),
    preset(
        "IV-B-thin",
        LARGE_PRIMES,
        "INSECURE, for comparison: 3150 slots of integers modulo 8191, type B, 82 bits by its source",
        || IV_B.spec(false),
    ),
    preset(
        "V-A",
        LARGE_PRIMES,
        "INSECURE, for comparison: 2784 slots of the field of 65537^18 elements, 82 bits by its source",
        || V_A.spec(true),
    ),
    preset(
        "V-A-thin",
        LARGE_PRIMES,
        "INSECURE, for comparison: 2784 slots of integers modulo 65537, 82 bits by its source",
        || V_A.spec(false),
    ),
    preset(
        "V-A-source",
        LARGE_PRIMES,
        "INSECURE, for comparison: V-A with the source's own pipeline, 82 bits by its source",
        || V_A_SOURCE.spec(true),
    ),
    preset(
        "V-B",
        LARGE_PRIMES,
        "INSECURE, for comparison: 2784 slots of the field of 65537^18 elements, type B, 82 bits by its source",
        || V_B.spec(true),
    ),
    preset(
        "V-B-thin",
        LARGE_PRIMES,
        "INSECURE, for comparison: 2784 slots of integers modulo 65537, type B, 82 bits by its source",
        || V_B.spec(false),
    ),
    BgvPreset {
        name: "V-A-128",
        title: "128-bit, 2784 slots of the field of 65537^18 elements, three products between bootstraps",
        policy: SecurityPolicy::Strict128,
        promised: -131.0,
        source: "own chain, for the slots of set V of ePrint 2024/115",
        spec: || V_A_128.spec(true),
    },
    BgvPreset {
        name: "V-A-128-thin",
        title: "128-bit, 2784 slots of integers modulo 65537, three products between bootstraps",
        policy: SecurityPolicy::Strict128,
        promised: -131.0,
        source: "own chain, for the slots of set V of ePrint 2024/115",
        spec: || V_A_128.spec(false),
    },
    preset(
        "m21845",
        SURVEY,
        "INSECURE, for comparison: 1024 slots of the field of 2^16 elements, 79 bits by our estimate",
        || M21845.spec(true),
    ),
    preset(
        "m21845-thin",
        SURVEY,
        "INSECURE, for comparison: 1024 slots of bits, 79 bits by our estimate",
        || M21845.spec(false),
    ),
];

const fn preset(
    name: &'static str,
    source: &'static str,
    title: &'static str,
    spec: fn() -> BgvSpec,
) -> BgvPreset {
    let policy = SecurityPolicy::InsecureForTests;
    BgvPreset { name, title, policy, promised: -41.0, source, spec }
}

/// The published sets: general ones, and thin ones under names that end in -thin.
pub fn published_sets() -> &'static [BgvPreset] {
    &PUBLISHED
}
