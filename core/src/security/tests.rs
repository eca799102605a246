use alloc::string::ToString;

use super::*;

const SHIP13: SecretDistribution = SecretDistribution::BlockSparse { weight: 31, choices_per_block: 700 };
const SHIP14: SecretDistribution = SecretDistribution::BlockSparse { weight: 31, choices_per_block: 1056 };

fn instance(log_n: u32, secret: SecretDistribution, log_modulus: f64) -> Instance {
    Instance { name: "main secret", log_n, secret, log_modulus, sigma: 3.24 }
}

fn one(
    log_n: u32,
    secret: SecretDistribution,
    log_modulus: f64,
    policy: SecurityPolicy,
) -> Result<f64, Error> {
    check(&[instance(log_n, secret, log_modulus)], policy).map(|report| report.bits)
}

/// The published table, as written there: rows N = 2^10 to 2^17; columns ternary, h = 256, 192,
/// 128, 64, 32; 0 where it says "reject".
const STRICT: [[f64; 6]; 8] = [
    [26.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [53.0, 0.0, 51.0, 0.0, 30.0, 0.0],
    [106.0, 0.0, 103.0, 0.0, 59.0, 17.0],
    [214.0, 0.0, 202.0, 0.0, 117.0, 36.0],
    [430.0, 416.0, 403.0, 348.0, 240.0, 75.0],
    [868.0, 822.0, 810.0, 717.0, 494.0, 165.0],
    [1747.0, 1659.0, 1638.0, 1456.0, 1036.0, 364.0],
    [3523.0, 0.0, 3314.0, 0.0, 2169.0, 796.0],
];

fn columns() -> [SecretDistribution; 6] {
    let sparse = |weight| SecretDistribution::Sparse { weight };
    [SecretDistribution::Ternary, sparse(256), sparse(192), sparse(128), sparse(64), sparse(32)]
}

#[test]
fn every_strict_bound_is_accepted_and_nothing_above_it() {
    for (row, log_n) in STRICT.iter().zip(10..) {
        for (&bound, secret) in row.iter().zip(columns()) {
            let at = |log_modulus| one(log_n, secret, log_modulus, SecurityPolicy::Strict128);
            if bound == 0.0 {
                assert!(matches!(at(1.0), Err(Error::Insecure(_))), "2^{log_n}, {secret} must be refused");
            } else {
                let bits = at(bound).unwrap();
                assert!((bits - 128.0).abs() < 1e-9, "2^{log_n}, {secret}: {bits} bits at the bound");
                assert!(at(bound - 1.0).unwrap() >= 128.0);
                assert!(
                    matches!(at(bound + 0.01), Err(Error::Insecure(_))),
                    "2^{log_n}, {secret}: {bound} + 0.01"
                );
            }
        }
    }
}

#[test]
fn rings_and_weights_outside_the_tables_are_refused() {
    for log_n in [0, 9, 18, u32::MAX] {
        for secret in columns() {
            assert!(matches!(one(log_n, secret, 1.0, SecurityPolicy::Strict128), Err(Error::Insecure(_))));
        }
    }
    for weight in [0, 31, 33, 96, 193, 8192] {
        let secret = SecretDistribution::Sparse { weight };
        assert!(matches!(one(14, secret, 1.0, SecurityPolicy::Strict128), Err(Error::Insecure(_))));
    }
}

#[test]
fn the_encapsulation_key_has_its_own_bounds() {
    for (log_n, secret, bound) in [(13, SHIP13, 40.0), (14, SHIP14, 74.0)] {
        let bits = one(log_n, secret, bound, SecurityPolicy::Strict128).unwrap();
        assert!((bits - 128.0).abs() < 1e-9, "{bits}");
        assert!(one(log_n, secret, bound + 0.01, SecurityPolicy::Strict128).is_err());
    }
    assert!(one(12, SHIP13, 20.0, SecurityPolicy::Strict128).is_err());
    // The modulus that the published sets use for it, 55 and 100 bits, is refused by every policy.
    for policy in [SecurityPolicy::Strict128, SecurityPolicy::HeStandard2018] {
        assert!(one(13, SHIP13, 55.0, policy).is_err());
        assert!(one(14, SHIP14, 100.0, policy).is_err());
    }
}

#[test]
fn the_combinatorial_criterion_is_reported_and_enforced() {
    let bits = |secret: SecretDistribution| secret.combinatorial_bits().unwrap();
    assert!((bits(SHIP13) - 117.2).abs() < 0.05);
    assert!((bits(SHIP14) - 124.6).abs() < 0.05);
    assert_eq!(SecretDistribution::Ternary.combinatorial_bits(), None);
    // Positions passed where choices (positions times signs) are meant.
    let narrow = SecretDistribution::BlockSparse { weight: 31, choices_per_block: 350 };
    let message = one(13, narrow, 38.2, SecurityPolicy::Strict128).unwrap_err().to_string();
    assert!(message.contains("2^104.8") && message.contains("2^115"), "{message}");
}

#[test]
fn the_strict_sets_report_what_was_computed_for_them() {
    let encapsulation = |log_n, secret, log_modulus| Instance {
        name: "encapsulation key",
        ..instance(log_n, secret, log_modulus)
    };
    let sets = [
        (13, 213.995, SHIP13, 38.2, 129.3, "2^117"),
        (13, 213.995, SHIP13, 33.2, 133.0, "2^117"),
        (14, 429.99, SHIP14, 67.3, 129.0, "2^124"),
    ];
    for (log_n, log_qp, sparse, log_q0p, bits, criterion) in sets {
        let list =
            [instance(log_n, SecretDistribution::Ternary, log_qp), encapsulation(log_n, sparse, log_q0p)];
        let report = check(&list, SecurityPolicy::Strict128).unwrap();
        assert!((128.0..128.1).contains(&report.bits), "{}", report.bits);
        assert!((report.instances[1].bits.unwrap() - bits).abs() < 0.05, "{:?}", report.instances[1]);
        assert!(
            report.statement.starts_with("128-bit") && report.statement.contains(criterion),
            "{}",
            report.statement
        );
    }
}

#[test]
fn the_2018_table_is_reported_below_128() {
    for (log_n, bound) in [(10, 27.0), (11, 54.0), (12, 109.0), (13, 218.0), (14, 438.0), (15, 881.0)] {
        let at = |log_modulus| {
            one(log_n, SecretDistribution::Ternary, log_modulus, SecurityPolicy::HeStandard2018)
        };
        assert!(at(bound).unwrap() < 128.0);
        assert!(at(bound + 0.01).is_err());
        assert!(one(log_n, SecretDistribution::Ternary, bound, SecurityPolicy::Strict128).is_err());
    }
    let list = [instance(13, SecretDistribution::Ternary, 217.7), instance(13, SHIP13, 41.94)];
    let report = check(&list, SecurityPolicy::HeStandard2018).unwrap();
    assert!((report.bits - 126.0).abs() < 0.1, "{}", report.bits);
    assert!((report.instances[1].bits.unwrap() - 126.8).abs() < 0.1);
    assert!(report.statement.starts_with("about 126-bit"), "{}", report.statement);
    assert!(!report.statement.contains("128"));
    let list = [instance(14, SecretDistribution::Ternary, 436.5), instance(14, SHIP14, 87.0)];
    let report = check(&list, SecurityPolicy::HeStandard2018).unwrap();
    assert!((report.bits - 122.6).abs() < 0.1, "{}", report.bits);
    assert!(report.statement.contains("about 123-bit"), "{}", report.statement);
    assert!(
        one(13, SecretDistribution::Sparse { weight: 64 }, 117.01, SecurityPolicy::HeStandard2018).is_err()
    );
}

#[test]
fn test_sets_are_called_insecure() {
    let toy_sparse = SecretDistribution::BlockSparse { weight: 15, choices_per_block: 128 };
    let list = [instance(10, SecretDistribution::Ternary, 255.2), instance(10, toy_sparse, 55.0)];
    for policy in [SecurityPolicy::Strict128, SecurityPolicy::HeStandard2018] {
        assert!(matches!(check(&list, policy), Err(Error::Insecure(_))));
    }
    let report = check(&list, SecurityPolicy::InsecureForTests).unwrap();
    assert!(report.statement.starts_with("INSECURE"));
    // The criterion of the sparse secret, 0.4 * 15 * 7 bits, is below the floor of the dense one.
    assert!((report.bits - 42.0).abs() < 1e-9);
    assert!((report.instances[0].bits.unwrap() - 43.0).abs() < 1e-9);
    // Even parameters that would pass are called insecure: the policy decides.
    let report =
        check(&[instance(13, SecretDistribution::Ternary, 200.0)], SecurityPolicy::InsecureForTests).unwrap();
    assert!(report.statement.starts_with("INSECURE"));
    let report =
        check(&[instance(5, SecretDistribution::Ternary, 100.0)], SecurityPolicy::InsecureForTests).unwrap();
    assert!(report.bits == 0.0 && report.statement.contains("no estimate"));
}

#[test]
fn estimates_meet_the_computed_points_and_fall_with_the_modulus() {
    let ternary = |log_n, log_modulus| {
        one(log_n, SecretDistribution::Ternary, log_modulus, SecurityPolicy::InsecureForTests)
    };
    for (log_n, log_modulus, bits) in
        [(13, 147.0, 192.0), (13, 200.0, 137.7), (13, 218.0, 125.8), (14, 438.0, 126.0), (16, 1555.0, 144.6)]
    {
        assert!((ternary(log_n, log_modulus).unwrap() - bits).abs() < 1e-9);
    }
    for log_n in 10..=17 {
        for secret in columns().into_iter().chain([SHIP13]) {
            let mut last = f64::INFINITY;
            for tenths in 1..40_000 {
                let log_modulus = f64::from(tenths) / 10.0;
                let Some(bits) = table::estimate(log_n, secret, log_modulus) else { break };
                assert!(bits <= last, "2^{log_n}, {secret}: {bits} after {last} at {log_modulus}");
                assert!((43.0..=192.0).contains(&bits));
                last = bits;
            }
        }
    }
}

#[test]
fn messages_name_both_sides_and_the_repair() {
    let message =
        one(13, SecretDistribution::Ternary, 217.7, SecurityPolicy::Strict128).unwrap_err().to_string();
    for part in
        ["main secret", "217.70", "2^13", "uniform ternary", "strict-128", "214", "fewer or smaller primes"]
    {
        assert!(message.contains(part), "{part} is missing from: {message}");
    }
    let weak = Instance { sigma: 3.0, ..instance(13, SecretDistribution::Ternary, 200.0) };
    let message = check(&[weak], SecurityPolicy::Strict128).unwrap_err().to_string();
    assert!(message.contains("deviation 3,") && message.contains("3.19"), "{message}");
    assert!(check(&[weak], SecurityPolicy::InsecureForTests).is_ok());
}

#[test]
fn what_a_part_of_all_secrets_loses_is_taken_off() {
    let sparse = SecretDistribution::Sparse { weight: 192 };
    let both = [instance(16, SecretDistribution::Ternary, 1200.0), instance(16, sparse, 1600.0)];
    let report = |policy| check(&both, policy).unwrap();
    let all = report(SecurityPolicy::Strict128);
    let bits = all.instances[1].bits.unwrap();
    assert!((128.0..135.0).contains(&bits) && all.bits.to_bits() == bits.to_bits(), "{bits}");
    assert_eq!(all.clone().drawn_from_a_part(1, 0.0), Ok(all.clone()));
    assert_eq!(all.clone().drawn_from_a_part(2, 90.0), Ok(all.clone()));
    let part = all.clone().drawn_from_a_part(1, bits - 128.0).unwrap();
    assert!((part.bits - 128.0).abs() < 1e-9 && part.instances[0] == all.instances[0], "{part:?}");
    let error = all.clone().drawn_from_a_part(1, bits - 127.0).unwrap_err().to_string();
    assert!(error.contains("127.00 bits of the 128") && error.contains("192 non-zero"), "{error}");
    for senseless in [f64::NAN, -1.0] {
        assert!(
            matches!(all.clone().drawn_from_a_part(1, senseless), Err(Error::Insecure(_))),
            "{senseless}"
        );
    }
    let toy = report(SecurityPolicy::InsecureForTests).drawn_from_a_part(1, bits - 90.0).unwrap();
    assert!(toy.statement.contains("about 90 bits"), "{}", toy.statement);
}

#[test]
fn senseless_numbers_are_refused_by_every_policy() {
    for policy in SecurityPolicy::ALL {
        assert!(matches!(check(&[], policy), Err(Error::InvalidArgument(_))));
        for log_modulus in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            let result = one(13, SecretDistribution::Ternary, log_modulus, policy);
            assert!(matches!(result, Err(Error::InvalidArgument(_))), "{log_modulus}");
        }
        let nan = Instance { sigma: f64::NAN, ..instance(13, SecretDistribution::Ternary, 200.0) };
        assert!(matches!(check(&[nan], policy), Err(Error::InvalidArgument(_))));
        assert_eq!(policy.name().parse::<SecurityPolicy>().unwrap(), policy);
    }
    assert!("practical".parse::<SecurityPolicy>().unwrap_err().to_string().contains("\"practical\""));
}
