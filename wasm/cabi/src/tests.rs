//! The numbers that the headers define are those in the code.

use std::collections::BTreeMap;

use refloat::{bootstrapping::ckks_ship::ShipParams, schemes::cggi::Encoding, wire};

use crate::{about, ckks, entropy, gates, level, secret::Secret, status};

/// Every `#define RF_NAME number` of a header.
fn defined(header: &str) -> BTreeMap<String, i64> {
    let lines = header.lines().filter_map(|line| line.strip_prefix("#define RF_"));
    let entry = |line: &str| {
        let (name, rest) = line.split_once(' ').expect("a name and a number");
        let number = rest.split("/*").next().unwrap_or_default().trim();
        let number = number.trim_matches(['(', ')']).trim_end_matches('u');
        let value =
            number.strip_prefix("0x").map_or_else(|| number.parse(), |hex| i64::from_str_radix(hex, 16));
        (name.to_owned(), value.expect("a number"))
    };
    lines.map(entry).collect()
}

/// Number of bytes that a function gives.
fn bytes<T, const N: usize>(_: fn(&T) -> [u8; N]) -> i64 {
    N as i64
}

#[test]
fn the_header_of_all_methods_defines_these_numbers_and_no_others() {
    let codes = status::NAMES.iter().map(|(number, name)| (name.to_str().unwrap(), i64::from(*number)));
    let modes = ckks::MODES.into_iter().zip(0..).map(|(mode, number)| (mode.name(), number));
    let others = [
        ("LEVEL_FRESH", i64::from(level::FRESH)),
        ("LEVEL_EXHAUSTED", i64::from(level::EXHAUSTED)),
        ("KEY_ID_BYTES", bytes(Secret::<ShipParams>::key_id)),
        ("SEED_BYTES", entropy::draw().ok().unwrap().len() as i64),
        ("DIGEST_BYTES", wire::digest(&[]).len() as i64),
        ("ABI_VERSION", i64::from(about::ABI)),
    ];
    let wanted: BTreeMap<String, i64> =
        codes.chain(modes).chain(others).map(|(name, number)| (name.to_uppercase(), number)).collect();
    assert_eq!(defined(include_str!("../include/refloat/base.h")), wanted);
}

#[test]
fn the_header_of_gates_defines_what_bits_are() {
    let found = defined(include_str!("../include/refloat/gates.h"));
    assert_eq!(found, BTreeMap::from([("GATE_BITS".to_owned(), 0)]));
    assert_eq!(gates::encoding(0), Encoding::Bit);
}

#[test]
fn the_name_of_the_shared_library_ends_with_the_major_version() {
    let name = format!("-soname,librefloat_c.so.{}\"", about::ABI >> 16);
    assert!(include_str!("../build.rs").contains(&name), "{name} is not in build.rs");
}
