//! The example of exact numbers: common records of two registers, counted encrypted, against the count in the clear.

use std::collections::BTreeSet;

use refloat::random::Seed;

#[path = "../../../core/examples/14_private_intersection.rs"]
mod example;

fn counted(seed: u8, hospital: &BTreeSet<u64>, office: &BTreeSet<u64>) -> u64 {
    let seed = Seed::from_bytes([seed; 32]);
    let (count, bootstraps, _) =
        example::intersection("toy-bgv10", &seed, hospital, office).expect("two registers");
    // Sixteen squares and at most two products for each row of the hospital, three levels from bootstrap to bootstrap.
    let rows = hospital.len().div_ceil(1024);
    assert!(bootstraps <= 9 * rows + 1, "{bootstraps} bootstraps");
    count
}

#[test]
fn common_records_are_counted_to_the_last_one() {
    let slots = 1024;
    let all = example::register(slots, 1500, 0);
    // Several rows of both, of which some are common.
    let (hospital, office) = (example::register(slots, 1500, 0), example::register(slots, 2500, 300));
    let common = hospital.intersection(&office).count() as u64;
    assert_eq!(common, 1200);
    assert_eq!(counted(1, &hospital, &office), common);
    // No common records, and all of them.
    let few: BTreeSet<u64> = all.iter().copied().take(40).collect();
    let others: BTreeSet<u64> = all.iter().copied().skip(40).take(40).collect();
    assert_eq!(counted(2, &few, &others), 0);
    assert_eq!(counted(3, &few, &few), 40);
}

#[test]
fn the_largest_values_and_the_marks_of_empty_slots_match_nothing() {
    // 0 and 65534 in slots 0 and 1; the office has the other of each.
    let hospital = BTreeSet::from([0, 1024 * 65534 + 1]);
    let office = BTreeSet::from([1024 * 65534, 1]);
    assert_eq!(counted(4, &hospital, &office), 0);
    assert_eq!(counted(5, &hospital, &BTreeSet::from([0, 1, 1024 * 65534 + 1])), 2);
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let seed = Seed::from_bytes([6; 32]);
    let few = BTreeSet::from([1, 2]);
    let refused = |hospital: &BTreeSet<u64>, office: &BTreeSet<u64>| {
        let error = example::intersection("toy-bgv10", &seed, hospital, office).expect_err("refused");
        assert_eq!(error.code(), "INVALID_ARGUMENT", "{error}");
    };
    // The marks of empty slots would match.
    refused(&few, &BTreeSet::from([1024 * 65535]));
    refused(&BTreeSet::from([1024 * 65536 + 3]), &few);
    refused(&few, &BTreeSet::new());
    // 65537 common records would count as 0.
    let many: BTreeSet<u64> = (0..65537).collect();
    refused(&many, &many);
}
