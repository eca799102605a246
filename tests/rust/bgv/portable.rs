//! The words of a bootstrap from fixed seeds: the same on every back-end and for any number of threads, for the toys and for rings of
//! every other kind.

use std::fs;
use std::process::Command;

use rayon::ThreadPoolBuilder;
use refloat::bootstrapping::bgv::{Approach, BgvBootstrapper, BgvParams, BgvPreset, BgvSecretKey};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::random::Seed;
use refloat::schemes::bgv::BgvCiphertext;
use refloat_tests::bgv::{odd_index, small_prime, tiny_by};
use refloat_tests::source::root;
use serde_json::Value;

fn digest(x: &BgvCiphertext<u64>) -> String {
    let mut hash = blake3::Hasher::new();
    for word in [x.level() as u64, x.factor().value(), x.ring().value(), x.noise().to_bits()] {
        hash.update(&word.to_le_bytes());
    }
    for word in x.parts().iter().flat_map(refloat::ring::Poly::data) {
        hash.update(&word.to_le_bytes());
    }
    hash.finalize().to_hex()[..32].to_owned()
}

/// One of integers in slots, and one of elements of fields.
const SETS: [&str; 2] = ["toy-bgv10", "toy-bgv-gf4"];

/// Of these sets.
fn digests() -> Vec<String> {
    let named = |name: &&str| BgvPreset::named(name).expect("a set").params().expect("a sound set");
    SETS.iter().map(named).flat_map(|params| digests_of(&params)).collect()
}

/// Of rings of odd index, whose slots turn by one automorphism or do not, with messages modulo a prime and a square; of bits; and where
/// digits stand beside multiples of another number.
fn digests_of_other_rings() -> Vec<String> {
    let specs = [
        odd_index((215, 8191, 1), true),
        odd_index((129, 257, 2), true),
        small_prime(2, 4, 85, 1, true),
        tiny_by(Approach::Beside { step: 15 }, 7, 14),
    ];
    specs.iter().flat_map(|spec| digests_of(&BgvParams::new(spec).expect("a sound set"))).collect()
}

/// A fresh ciphertext, its square, and both refreshed.
fn digests_of(params: &BgvParams<u64>) -> Vec<String> {
    let secret = BgvSecretKey::generate(params, &Seed::from_bytes([7; 32]));
    let keys = secret.evaluation_keys().expect("keys");
    let bootstrapper = BgvBootstrapper::new(params, PlaintextStorage::Coefficients).expect("a sound set");
    let message: Vec<u64> = (0..params.n() as u64).map(|i| 37 * i * i % params.messages().value()).collect();
    let fresh =
        secret.encrypt(&message, params.levels().output, &Seed::from_bytes([9; 32])).expect("reduced");
    let square = bootstrapper.multiply(&fresh, &fresh, &keys).expect("room");
    let refreshed = [&fresh, &square].map(|x| bootstrapper.bootstrap(x, &keys, &mut ()).expect("an input"));
    [fresh, square].iter().chain(&refreshed).map(digest).collect()
}

#[test]
fn words_are_those_of_the_vectors_on_any_number_of_threads() {
    let text = fs::read_to_string(root().join("tests/vectors/bgv.json")).expect("the vectors");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let of = |name: &&str| all["bootstrap"]["digests"][name].as_array().expect("a list").clone();
    let wanted: Vec<String> =
        SETS.iter().flat_map(of).map(|digest| digest.as_str().expect("a digest").to_owned()).collect();
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        assert_eq!(pool.install(digests), wanted, "{threads} threads");
    }
}

#[test]
fn threads_change_no_bit_in_other_rings() {
    let on = |threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(digests_of_other_rings)
    };
    let one = on(1);
    for threads in [2, 5, 8] {
        assert_eq!(on(threads), one, "{threads} threads");
    }
}

fn all_digests() -> Vec<String> {
    [digests(), digests_of_other_rings()].concat()
}

/// What the child processes of the next test print before their digests.
const DIGESTS: &str = "digests of this backend:";

#[test]
fn backends_change_no_bit() {
    if std::env::var("REFLOAT_TEST_CHILD").is_ok() {
        println!("{DIGESTS} {} {}", refloat::about().backend_u64, all_digests().join(" "));
        return;
    }
    let names: Vec<&str> = refloat::arith::all_backends::<u64>().iter().map(|k| k.name()).collect();
    assert!(names.contains(&"scalar"));
    let wanted = all_digests();
    for name in &names {
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "portable::backends_change_no_bit", "--nocapture"])
            .env("REFLOAT_TEST_CHILD", "1")
            .env("REFLOAT_BACKEND", name)
            .output()
            .expect("this test's own program");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.split(DIGESTS).nth(1).unwrap_or_else(|| panic!("no digests from {name}: {text}"));
        let mut words = line.lines().next().expect("a line").split_whitespace().map(str::to_owned);
        assert_eq!(words.next().as_deref(), Some(*name), "the backend that was asked for");
        assert_eq!(words.collect::<Vec<_>>(), wanted, "{name}");
    }
}
