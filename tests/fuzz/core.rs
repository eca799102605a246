//! The programs of the core's targets: each has the name of one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use refloat_tests::fuzz::{TARGETS, check};

fuzz_target!(|bytes: &[u8]| check(&TARGETS, env!("CARGO_BIN_NAME"), bytes));
