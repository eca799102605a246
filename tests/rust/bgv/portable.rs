//! The words of a bootstrap from fixed seeds: the same on every backend and for any number of threads, for the toys and for rings of
//! every other kind.

use std::fs;

use rayon::ThreadPoolBuilder;
use refloat::bootstrapping::bgv::{BgvParams, BgvPreset};
use refloat_tests::backends::answers;
use refloat_tests::portable::{self, unnamed_sets};
use refloat_tests::source::root;
use serde_json::{Value, json};

/// One of integers in slots, and one of elements of fields.
const SETS: [&str; 2] = ["toy-bgv10", "toy-bgv-gf4"];

/// Digests, by the names of the vectors.
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

#[test]
fn backends_change_no_bit() {
    let (test, used) = ("portable::backends_change_no_bit", refloat::about().backend_u64);
    let Some(found) = answers::<u64>(test, used, || digests().to_string()) else { return };
    let wanted = digests();
    for (name, found) in found {
        assert_eq!(serde_json::from_str::<Value>(&found).expect("JSON"), wanted, "{name}");
    }
}
