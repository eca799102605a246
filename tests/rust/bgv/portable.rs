//! The words of a bootstrap from fixed seeds: the same on every back-end and for any number of threads, for the toys and for rings of
//! every other kind.

use std::fs;
use std::process::Command;

use rayon::ThreadPoolBuilder;
use refloat::bootstrapping::bgv::{BgvParams, BgvPreset};
use refloat_tests::portable::{self, unnamed_sets};
use refloat_tests::source::root;
use serde_json::{Value, json};

/// One of integers in slots, and one of elements of fields.
const SETS: [&str; 2] = ["toy-bgv10", "toy-bgv-gf4"];

/// By the names of the vectors.
fn digests() -> Value {
    let named = SETS.map(|name| (name, (BgvPreset::named(name).expect("a set").spec)()));
    let all = named.into_iter().chain(unnamed_sets());
    let of = |(name, spec): (&str, _)| {
        (name.to_owned(), json!(portable::digests(&BgvParams::new(&spec).expect("a sound set"))))
    };
    Value::Object(all.map(of).collect())
}

#[test]
fn words_are_those_of_the_vectors_on_any_number_of_threads() {
    let text = fs::read_to_string(root().join("tests/vectors/bgv.json")).expect("the vectors");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    for threads in [1, 2, 5, 8] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        assert_eq!(pool.install(digests), all["bootstrap"]["digests"], "{threads} threads");
    }
}

/// What the child processes of the next test print before their digests.
const DIGESTS: &str = "digests of this backend:";

#[test]
fn backends_change_no_bit() {
    if std::env::var("REFLOAT_TEST_CHILD").is_ok() {
        println!("{DIGESTS} {} {}", refloat::about().backend_u64, digests());
        return;
    }
    let names: Vec<&str> = refloat::arith::all_backends::<u64>().iter().map(|k| k.name()).collect();
    assert!(names.contains(&"scalar"));
    let wanted = digests();
    for name in &names {
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "portable::backends_change_no_bit", "--nocapture"])
            .env("REFLOAT_TEST_CHILD", "1")
            .env("REFLOAT_BACKEND", name)
            .output()
            .expect("this test's own program");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.split(DIGESTS).nth(1).unwrap_or_else(|| panic!("no digests from {name}: {text}"));
        let (used, found) = line.lines().next().and_then(|line| line.trim().split_once(' ')).expect("a line");
        assert_eq!(used, *name, "the backend that was asked for");
        assert_eq!(serde_json::from_str::<Value>(found).expect("JSON"), wanted, "{name}");
    }
}
