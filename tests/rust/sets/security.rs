//! The shipped parameter sets against figures computed apart from the library, and the types of
//! secrets against what must not be possible with them.

use core::fmt::{Debug, Display};

use refloat::bootstrapping::ckks_ship::{ShipParams, ShipSecretKey, ShipSpec};
use refloat::params::{DEFAULT_PRESET, ShipPreset, ship_preset};
use refloat::random::{Seed, Stream};
use refloat::rlwe::{KeySeeds, SecretKey, SparseSecret};
use refloat::schemes::ckks::Private;
use refloat::security::{SecretDistribution, SecurityPolicy};
use static_assertions::assert_not_impl_any;

// What is secret cannot be printed, compared or copied by accident.
assert_not_impl_any!(Private<Vec<f64>>: Debug, Display, Clone, Copy, PartialEq);
assert_not_impl_any!(Seed: Debug, Display, Copy, PartialEq);
assert_not_impl_any!(Stream: Debug, Display, Clone, Copy);
assert_not_impl_any!(ShipSecretKey: Debug, Display, Clone, Copy, PartialEq);
assert_not_impl_any!(SecretKey<u32>: Debug, Display, Clone, Copy, PartialEq);
assert_not_impl_any!(SparseSecret: Debug, Display, Clone, Copy, PartialEq);
assert_not_impl_any!(KeySeeds: Debug, Display, Copy, PartialEq);

/// What is known of a set: name, policy, log2 QP, log2 q0 p', estimated bits of the dense and of the
/// sparse instance, and the beginning of its statement.
type Known = (&'static str, SecurityPolicy, f64, f64, f64, f64, &'static str);

const KNOWN: [Known; 9] = [
    ("ship13", SecurityPolicy::Strict128, 213.995, 38.2, 128.0, 129.3, "128-bit"),
    ("ship13-bits", SecurityPolicy::Strict128, 213.995, 33.2, 128.0, 133.0, "128-bit"),
    // At 67.2 bits the sparse key is below the smallest computed modulus, whose estimate stands for it.
    ("ship14", SecurityPolicy::Strict128, 429.99, 67.3, 128.0, 129.0, "128-bit"),
    ("ship14-he2018", SecurityPolicy::HeStandard2018, 436.79, 67.3, 126.3, 129.0, "about 126-bit"),
    ("ship13-he2018", SecurityPolicy::HeStandard2018, 217.7, 41.94, 126.0, 126.8, "about 126-bit"),
    ("ship13-bits-he2018", SecurityPolicy::HeStandard2018, 217.95, 39.13, 125.8, 128.6, "about 126-bit"),
    // The sparse toy secret has no estimate; the criterion (2 R)^(0.4 h) stands in for it.
    ("toy10", SecurityPolicy::InsecureForTests, 255.2, 55.0, 43.0, 42.0, "INSECURE"),
    ("toy11", SecurityPolicy::InsecureForTests, 255.2, 55.0, 43.0, 42.0, "INSECURE"),
    ("toy11-31", SecurityPolicy::InsecureForTests, 283.2, 55.0, 43.0, 86.8, "INSECURE"),
];

fn log2(primes: impl IntoIterator<Item = u64>) -> f64 {
    primes.into_iter().map(|p| (p as f64).log2()).sum()
}

#[test]
fn every_shipped_set_is_worth_what_was_computed() {
    let names: Vec<&str> = ShipPreset::all().iter().map(|p| p.name).collect();
    let known: Vec<&str> = KNOWN.iter().map(|k| k.0).collect();
    assert_eq!(names, known, "a set that this table does not know");
    for (name, policy, log_qp, log_q0p, dense, sparse, statement) in KNOWN {
        let preset: &ShipPreset = ship_preset(name).unwrap();
        assert_eq!(preset.policy, policy, "{name}");
        let spec: ShipSpec = (preset.spec)();
        let all = spec.levels.iter().flatten().chain(&spec.special).copied();
        assert!((log2(all) - log_qp).abs() < 0.06, "{name}: log2 QP");
        let base = spec.levels[0].iter().copied().chain([spec.encapsulation_prime]);
        assert!((log2(base.clone()) - log_q0p).abs() < 0.06, "{name}: log2 q0 p' = {}", log2(base));

        let params: ShipParams = preset.params().unwrap();
        let report = params.security();
        let [main, ephemeral] = report.instances.as_slice() else {
            panic!("{name}: {} instances", report.instances.len());
        };
        assert_eq!(main.instance.secret, SecretDistribution::Ternary);
        assert!((main.instance.log_modulus - log_qp).abs() < 0.06, "{name}: {main:?}");
        assert!((ephemeral.instance.log_modulus - log_q0p).abs() < 0.06, "{name}: {ephemeral:?}");
        assert!((main.bits.unwrap() - dense).abs() < 0.15, "{name}: {main:?}");
        assert!((ephemeral.bits.unwrap() - sparse).abs() < 0.15, "{name}: {ephemeral:?}");
        assert!((report.bits - dense.min(sparse)).abs() < 0.15, "{name}: {}", report.bits);
        assert!(report.statement.starts_with(statement), "{name}: {}", report.statement);
        assert!(policy == SecurityPolicy::Strict128 || !report.statement.starts_with("128"), "{name}");
        // The criterion of the sparse secret is said wherever bits are.
        let criterion = if spec.log_n == 13 { "2^117" } else { "2^124" };
        assert_eq!(report.statement.contains(criterion), preset.secure(), "{name}: {}", report.statement);
    }
    assert_eq!(ship_preset(DEFAULT_PRESET).unwrap().policy, SecurityPolicy::Strict128);
}

#[test]
fn sets_do_not_pass_under_a_stronger_policy() {
    for set in ShipPreset::all() {
        let spec = (set.spec)();
        let own = SecurityPolicy::ALL.iter().position(|&p| p == set.policy).unwrap();
        for (i, &policy) in SecurityPolicy::ALL.iter().enumerate() {
            let result = ShipParams::<u32>::new(&ShipSpec { policy, ..spec.clone() }).map(|_| ());
            assert_eq!(result.is_ok(), i >= own, "{} under {policy}", set.name);
            if let Err(error) = result {
                assert_eq!(error.code(), "INSECURE", "{}: {error}", set.name);
            }
        }
    }
}

fn is_prime(p: u64) -> bool {
    p > 1 && (2..=p.isqrt()).all(|d| !p.is_multiple_of(d))
}

#[test]
fn primes_are_prime_distinct_and_fit_their_ring_and_word() {
    for set in ShipPreset::all() {
        let spec = (set.spec)();
        let mut primes: Vec<u64> = spec.levels.iter().flatten().chain(&spec.special).copied().collect();
        let q0 = spec.levels[0].clone();
        for &p in primes.iter().chain([&spec.encapsulation_prime]) {
            assert!(is_prime(p), "{}: {p}", set.name);
            assert_eq!(p % (2 << spec.log_n), 1, "{}: {p} is 1 modulo 2N", set.name);
            assert!(p < 1 << 31, "{}: {p} fits a 32-bit lane", set.name);
        }
        assert!(!q0.contains(&spec.encapsulation_prime), "{}", set.name);
        let count = primes.len();
        primes.sort_unstable();
        primes.dedup();
        assert_eq!(primes.len(), count, "{}: a prime is used twice", set.name);
        let mut digits: Vec<usize> = spec.digits.iter().flatten().copied().collect();
        digits.sort_unstable();
        let levels = spec.levels.iter().flatten().count();
        assert_eq!(digits, (0..levels).collect::<Vec<_>>(), "{}: every prime is in one digit", set.name);
    }
}

#[test]
fn fingerprints_and_key_ids_tell_sets_apart() {
    let mut fingerprints: Vec<[u8; 16]> =
        ShipPreset::all().iter().map(|p| (p.spec)().fingerprint()).collect();
    let mut ids = Vec::new();
    for name in ["toy10", "toy11"] {
        let params: ShipParams = ship_preset(name).unwrap().params().unwrap();
        for seed in [1, 2] {
            ids.push(ShipSecretKey::generate(&params, &Seed::from_bytes([seed; 32])).key_id());
        }
    }
    for list in [&mut fingerprints, &mut ids] {
        let count = list.len();
        list.sort_unstable();
        list.dedup();
        assert_eq!(list.len(), count);
    }
}

#[test]
fn what_is_published_does_not_hold_the_secret_seed() {
    let params: ShipParams = ship_preset("toy10").unwrap().params().unwrap();
    let seed = [0x5a; 32];
    let secret = ShipSecretKey::generate(&params, &Seed::from_bytes(seed));
    let part = secret.key_part(0).unwrap();
    assert!(!part.windows(32).any(|window| window == seed));
    assert_ne!(secret.public_seed().as_bytes(), &seed);
    // The masks' seed is one derivation away from the master: not the errors' seed, not the key's.
    assert!(part.windows(32).any(|window| window == secret.public_seed().as_bytes()));
}
