//! The programs of the server's targets: each has the name of one.
#![no_main]

#[path = "../../server/tests/support/fuzz.rs"]
mod targets;

use libfuzzer_sys::fuzz_target;
use refloat_tests::fuzz::check;

fuzz_target!(|bytes: &[u8]| check(&targets::TARGETS, env!("CARGO_BIN_NAME"), bytes));
