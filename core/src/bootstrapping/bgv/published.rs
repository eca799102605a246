//! Sets of publications, for comparison only: I-A to V-A of "Accelerating BGV Bootstrapping for Large p Using Null Polynomials over Z_p^e"
//! (Ma, Huang, Wang, Wang, EUROCRYPT 2024), and the ring and the plaintexts of the rows of HElib in "Demystifying Bootstrapping in Fully
//! Homomorphic Encryption" (Al Badawi, Polyakov, ePrint 2023/149), m = 21845 and p = 2.
//!
//! Of the first, ring, plaintexts, weights of both secrets and the bound on digits are those published; log2 QP is somewhat below that
//! published (1925 of 2036 for V-A, 1437 of 1462 for I-A), so that they are no less secure: 82 to 83 bits by the source.
//! By the lattice estimator the main secrets are worth 82.8 (II-A) to 85.7 bits, and the ephemeral ones 138 and more. A bootstrap gives
//! a wrong slot once in 2^34 by the source and once in 2^41 by our estimate. Of the second, nothing more than slots and plaintexts is
//! published, and the main secret is worth 79 bits at their log2 QP = 686 by the lattice estimator. None of this is the security of today's
//! sets, as every title says. They are checked against no policy, and are not among the sets that keys are made of.
//!
//! How the modulus is divided is our own, as the sources print no chains. Slots-to-coefficients takes smaller levels than the rest where
//! more of them would be left unused.

use alloc::{format, vec, vec::Vec};

use super::{
    presets::{BgvPreset, next_prime},
    spec::BgvSpec,
};
use crate::{
    bootstrapping::raising::{EphemeralSpec, digits_of},
    ring::Cyclotomic,
    rlwe::{EncapsulationDigits, RlweSpec},
    security::{SecretDistribution, SecurityPolicy},
};

/// Weight of the main secret of all sets.
const WEIGHT: u32 = 120;

/// log2 of the special primes.
const SPECIAL: f64 = 50.0;

/// What differs from set to set. Messages are modulo `prime`^`exponent`.
struct Published {
    name: &'static str,
    /// m, an odd number.
    index: u64,
    prime: u64,
    exponent: u32,
    /// t.
    digits: u32,
    bound: u32,
    /// Of the ephemeral secret.
    weight: u32,
    /// log2 of q0, and of the prime beside it under the ephemeral secret.
    base: f64,
    ephemeral: f64,
    /// Number and size of the levels between bootstraps, and of those of the removal; sizes of those of both maps.
    products: (usize, f64),
    removal: (usize, f64),
    slots_to_coeffs: f64,
    coeffs_to_slots: f64,
    /// Special primes: so many digits have one bit less than their product.
    special: usize,
}

impl Published {
    fn spec(&self, general: bool) -> BgvSpec {
        // The primes of an index that is not odd would be others; none of these is.
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
                digits: digits_of(&levels, SPECIAL * self.special as f64 - 1.0),
                levels: primes,
                special,
                secret: SecretDistribution::Sparse { weight: WEIGHT },
                policy: SecurityPolicy::InsecureForTests,
            },
            general,
            prime: self.prime,
            exponent: self.exponent,
            digit_exponent: self.digits,
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

static V_A: Published = Published {
    name: "V-A",
    index: 50731,
    prime: 65537,
    exponent: 1,
    digits: 1,
    bound: 23,
    weight: 24,
    base: 43.5,
    ephemeral: 37.5,
    products: (18, 49.0),
    removal: (7, 49.4),
    slots_to_coeffs: 30.0,
    coeffs_to_slots: 47.0,
    special: 10,
};

static IV_A: Published = Published {
    name: "IV-A",
    index: 45193,
    prime: 8191,
    exponent: 1,
    digits: 1,
    bound: 23,
    weight: 24,
    base: 39.0,
    ephemeral: 33.5,
    products: (16, 49.0),
    removal: (7, 43.2),
    slots_to_coeffs: 30.0,
    coeffs_to_slots: 42.2,
    special: 9,
};

static III_A: Published = Published {
    name: "III-A",
    index: 55427,
    prime: 257,
    exponent: 2,
    digits: 1,
    bound: 22,
    weight: 22,
    base: 39.5,
    ephemeral: 31.0,
    products: (21, 49.0),
    removal: (8, 42.3),
    slots_to_coeffs: 30.0,
    coeffs_to_slots: 42.0,
    special: 11,
};

static I_A: Published = Published {
    name: "I-A",
    index: 38309,
    prime: 17,
    exponent: 4,
    digits: 2,
    bound: 23,
    weight: 24,
    base: 38.0,
    ephemeral: 32.0,
    products: (9, 49.0),
    removal: (10, 45.0),
    slots_to_coeffs: 38.0,
    coeffs_to_slots: 41.0,
    special: 7,
};

static II_A: Published = Published {
    name: "II-A",
    index: 56647,
    prime: 127,
    exponent: 2,
    digits: 1,
    bound: 22,
    weight: 22,
    base: 37.0,
    ephemeral: 29.5,
    products: (24, 49.0),
    removal: (7, 40.0),
    slots_to_coeffs: 30.0,
    coeffs_to_slots: 39.0,
    special: 12,
};

static M21845: Published = Published {
    name: "m21845",
    index: 21845,
    prime: 2,
    exponent: 1,
    digits: 6,
    bound: 31,
    weight: 20,
    base: 30.0,
    ephemeral: 30.0,
    products: (6, 30.0),
    removal: (7, 30.0),
    slots_to_coeffs: 30.0,
    coeffs_to_slots: 30.0,
    special: 3,
};

static PUBLISHED: [BgvPreset; 8] = [
    preset(
        "I-A",
        LARGE_PRIMES,
        "INSECURE, for comparison: 1540 slots of integers modulo 17^4, 24 in each, 82 bits by its source",
        || I_A.spec(true),
    ),
    preset(
        "II-A",
        LARGE_PRIMES,
        "INSECURE, for comparison: 1224 slots of integers modulo 127^2, 45 in each, 82 bits by its source",
        || II_A.spec(true),
    ),
    preset(
        "III-A",
        LARGE_PRIMES,
        "INSECURE, for comparison: 1932 slots of integers modulo 257^2, 28 in each, 82 bits by its source",
        || III_A.spec(true),
    ),
    preset(
        "IV-A",
        LARGE_PRIMES,
        "INSECURE, for comparison: 3150 slots of the field of 8191^14 elements, 82 bits by its source",
        || IV_A.spec(true),
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

/// The published sets, for general bootstrapping and, where there is a NAME-thin, for thin.
pub fn published_sets() -> &'static [BgvPreset] {
    &PUBLISHED
}
