//! Keys for arithmetic alone, on sets of integers and of elements of fields: what is computed with them, how they relate to the keys of a
//! bootstrap, and what is refused.

use std::fs;

use rayon::ThreadPoolBuilder;
use refloat::Error;
use refloat::bootstrapping::bgv::{BgvArithmeticKeys, BgvKeys, BgvParams, BgvPreset, BgvSecretKey};
use refloat::circuits::program::integer_program::IntegerPlan;
use refloat::circuits::program::{Bootstraps, Program};
use refloat::random::Seed;
use refloat::schemes::bgv::{BgvCiphertext, BgvEvaluator, BgvShape};
use refloat::wire::bgv_ciphertext_to_bytes;
use refloat_tests::bgv::odd_index;
use refloat_tests::portable::{hex, wire_digest};
use refloat_tests::source::root;
use serde_json::{Value, json};

const SETS: [&str; 3] = ["toy-bgv10", "toy-bgv7", "toy-bgv-gf4"];

struct Owner {
    params: BgvParams,
    secret: BgvSecretKey,
}

impl Owner {
    fn new(name: &str, seed: u8) -> Self {
        let params = BgvPreset::named(name).expect("a set").params().unwrap();
        Self { secret: BgvSecretKey::generate(&params, &Seed::from_bytes([seed; 32])), params }
    }

    fn keys(&self, rotations: Option<&[i64]>, swap: bool) -> BgvArithmeticKeys {
        let keys = BgvArithmeticKeys::generate(&self.secret, rotations, swap).unwrap();
        let announced = keys.list().len() * keys.list().key_bytes();
        assert_eq!(keys.memory_bytes(), announced, "what is announced is what is made");
        keys
    }

    fn message(&self, factor: u64) -> Vec<u64> {
        (0..self.params.n() as u64).map(|i| factor * i * i % self.params.messages().value()).collect()
    }

    fn encrypt(&self, message: &[u64], level: usize) -> BgvCiphertext {
        self.secret.encrypt(message, level, &Seed::from_bytes([9; 32])).unwrap()
    }

    fn by_others(&self, message: &[u64]) -> BgvCiphertext {
        let (key, level) = (self.secret.public_key().unwrap(), self.params.levels().output);
        key.encrypt(self.params.context(), message, level, &Seed::from_bytes([9; 32])).unwrap()
    }

    fn decrypt(&self, x: &BgvCiphertext) -> Vec<u64> {
        self.secret.decrypt(x).unwrap().reveal_to_key_owner().clone()
    }

    fn bytes(&self, x: &BgvCiphertext) -> Vec<u8> {
        bgv_ciphertext_to_bytes(self.params.context(), x).unwrap()
    }

    /// Integers of a slot.
    fn degree(&self) -> usize {
        self.params.context().slot_degree()
    }

    /// A message with the rows moved to the left.
    fn turned(&self, message: &[u64], steps: i64) -> Vec<u64> {
        let row = message.len() / 2;
        let by = (steps * self.degree() as i64).rem_euclid(row as i64) as usize;
        (0..message.len()).map(|i| message[i / row * row + (i % row + by) % row]).collect()
    }

    /// Digests of what fixed seeds give, as the vectors have them.
    fn digests(&self) -> Value {
        let keys = self.keys(None, true);
        let hash = |x: &BgvCiphertext| wire_digest(&self.bytes(x));
        let message = self.message(37);
        let (x, y) = (self.by_others(&message), self.encrypt(&message, self.params.levels().output));
        json!({
            "name": self.params.name(),
            "keyId": hex(&self.secret.key_id()),
            "x": hash(&x),
            "product": hash(&keys.multiply(&x, &y).unwrap()),
            "rotated": hash(&keys.rotate(&x, 3).unwrap()),
            "swapped": hash(&keys.swap_rows(&x).unwrap()),
        })
    }
}

#[track_caller]
fn refusal<T>(result: Result<T, Error>, code: &str, words: &str) {
    let error = result.err().expect("refused");
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn integers_are_multiplied_and_moved() {
    for name in SETS {
        let own = Owner::new(name, 7);
        let keys = own.keys(None, true);
        let (message, modulus) = (own.message(37), own.params.messages().value());
        let level = own.params.levels().output;
        let (x, y) = (own.by_others(&message), own.encrypt(&message, level));
        let product = keys.multiply(&x, &y).unwrap();
        assert_eq!(product.level(), level - 1);
        if own.degree() == 1 {
            let squares: Vec<u64> = message.iter().map(|&m| m * m % modulus).collect();
            assert_eq!(own.decrypt(&product), squares, "{name}");
        }
        let columns = keys.target().columns() as i64;
        for steps in [0, 1, 3, -1, columns / 2, columns - 2, 5 * columns + 7] {
            let found = keys.rotate(&x, steps).unwrap();
            assert_eq!(own.decrypt(&found), own.turned(&message, steps), "{name}, by {steps}");
        }
        // Lower levels take the same keys.
        let lower = BgvEvaluator::new(own.params.context()).drop_to_level(&product, level - 2).unwrap();
        let there = keys.rotate(&lower, 1).unwrap();
        assert_eq!(own.decrypt(&there), own.turned(&own.decrypt(&product), 1), "{name}");
        let twice = keys.swap_rows(&keys.swap_rows(&x).unwrap()).unwrap();
        assert_eq!(own.decrypt(&twice), message, "{name}");
    }
}

/// Every key whose level is that of messages is the same among the keys of a bootstrap; results agree with theirs in any case.
#[test]
fn results_are_those_of_the_keys_of_a_bootstrap() {
    for name in SETS {
        let own = Owner::new(name, 8);
        let (keys, all) = (own.keys(None, true), BgvKeys::generate(&own.secret).unwrap());
        let bgv = BgvEvaluator::new(own.params.context());
        let x = own.by_others(&own.message(5));
        let same = |found: &BgvCiphertext, wanted: &BgvCiphertext| {
            assert_eq!(own.decrypt(found), own.decrypt(wanted), "{name}");
        };
        same(&keys.multiply(&x, &x).unwrap(), &bgv.multiply(&x, &x, all.relinearization()).unwrap());
        same(&keys.swap_rows(&x).unwrap(), &bgv.swap_rows(&x, &all).unwrap());
        let ring = own.params.context().rlwe().ring();
        let mut equal = 0;
        for log in 0..keys.target().columns().ilog2() {
            let steps = 1 << log;
            let (found, wanted) = (keys.rotate(&x, steps).unwrap(), bgv.rotate(&x, steps, &all).unwrap());
            same(&found, &wanted);
            let level = own.params.galois_elements().find(|(element, _)| *element == ring.rotation(steps));
            if level.is_some_and(|(_, level)| level == own.params.levels().output) {
                assert_eq!(own.bytes(&found), own.bytes(&wanted), "{name}, by {steps}");
                equal += 1;
            }
        }
        println!("{name}: {equal} rotations with the same keys");
        assert!(keys.memory_bytes() < all.memory_bytes() / 2, "{name}");
    }
}

#[test]
fn programs_run_without_bootstraps() {
    let own = Owner::new("toy-bgv10", 7);
    let keys = own.keys(Some(&[1]), true);
    let message = own.message(3);
    let x = own.encrypt(&message, own.params.levels().output);
    let plan = |text: &str, run: &dyn Fn(&IntegerPlan<'_>) -> Result<Vec<BgvCiphertext>, Error>| {
        let program = Program::parse(text).unwrap();
        IntegerPlan::new(&program, keys.target(), &[BgvShape::of(&x)], Bootstraps::AsWritten)
            .and_then(|plan| run(&plan))
    };
    let run = |plan: &IntegerPlan<'_>| plan.run(&keys.machine(), core::slice::from_ref(&x), &mut ());
    let out =
        plan("x = input\ny = multiply x x\nz = rotate y 2\nw = conjugate z\nz = output w", &run).unwrap();
    let by_hand = keys.rotate(&keys.rotate(&keys.multiply(&x, &x).unwrap(), 1).unwrap(), 1).unwrap();
    assert_eq!(own.bytes(&out[0]), own.bytes(&keys.swap_rows(&by_hand).unwrap()));
    refusal(plan("x = input\ny = bootstrap x\ny = output y", &run), "MISSING_KEY", "bootstrap");
    let few = own.keys(Some(&[]), false);
    let program = Program::parse("x = input\ny = rotate x 1\ny = output y").unwrap();
    let planned = IntegerPlan::new(&program, few.target(), &[BgvShape::of(&x)], Bootstraps::AsWritten);
    refusal(planned, "MISSING_KEY", "rotation by 1");
}

#[test]
fn misuse_is_named_with_what_to_do() {
    let (own, other) = (Owner::new("toy-bgv10", 7), Owner::new("toy-bgv10", 99));
    let another_set = Owner::new("toy-bgv7", 7);
    let keys = own.keys(Some(&[2, -2, 2]), false);
    assert_eq!(keys.list().labels().unwrap(), ["products", "rotation by 2", "rotation by 510"]);
    let (level, message) = (own.params.levels().output, own.message(3));
    let x = own.encrypt(&message, level);
    let foreign = other.encrypt(&message, level);
    let stranger = another_set.encrypt(&another_set.message(3), another_set.params.levels().output);
    for refused in [keys.multiply(&x, &foreign), keys.multiply(&foreign, &x), keys.rotate(&foreign, 0)] {
        refusal(refused, "PARAMS_MISMATCH", "compute with keys of the owner of the ciphertext");
    }
    for refused in [keys.multiply(&x, &stranger), keys.rotate(&stranger, 2), keys.swap_rows(&stranger)] {
        refusal(refused, "PARAMS_MISMATCH", "toy-bgv");
    }
    refusal(keys.rotate(&x, 1), "MISSING_KEY", "[2, 510]");
    refusal(keys.swap_rows(&x), "MISSING_KEY", "swap of the rows");
    assert_eq!(own.decrypt(&keys.rotate(&x, 6).unwrap()), own.turned(&message, 6));
    let lowest = BgvEvaluator::new(own.params.context()).drop_to_level(&x, 0).unwrap();
    refusal(keys.multiply(&lowest, &x), "LEVEL_MISMATCH", "are at levels 0 and");
    assert_eq!(own.decrypt(&keys.rotate(&lowest, 2).unwrap()), own.turned(&message, 2));
    let many = vec![1; 513];
    refusal(
        BgvArithmeticKeys::generate(&own.secret, Some(&many), false),
        "INVALID_ARGUMENT",
        "513 rotations of rows of 512 slots; name each once",
    );
    let mut empty = BgvArithmeticKeys::new(&own.params, own.secret.key_id(), Some(&[]), false).unwrap();
    refusal(empty.multiply(&x, &x), "MISSING_KEY", "products");
    refusal(empty.make(0, &other.secret), "PARAMS_MISMATCH", "make them with their own");
    refusal(empty.make(1, &own.secret), "INVALID_ARGUMENT", "key 1 of 1");
    let odd = BgvParams::<u64>::new(&odd_index((205, 8191, 1), false)).unwrap();
    refusal(BgvArithmeticKeys::new(&odd, [0; 16], None, true), "INVALID_ARGUMENT", "odd index 205");
}

/// `REFLOAT_WRITE_VECTORS=1` writes the vectors anew, after a change of the wire format or of the sampling.
#[test]
fn bytes_are_those_of_the_vectors_on_any_number_of_threads() {
    let sets = || SETS.map(|name| Owner::new(name, 7).digests());
    let path = root().join("tests/vectors/integers-arithmetic.json");
    if std::env::var_os("REFLOAT_WRITE_VECTORS").is_some() {
        let all = json!({
            "about": "Digests of arithmetic on encrypted integers from fixed seeds, the same in every build, as those of portable.json.",
            "provenance": "Written by tests/rust/bgv/arithmetic.rs, natively; checked there, and in wasm by ts/tests/integers-arithmetic.test.ts.",
            "keySeed": 7,
            "encryptionSeed": 9,
            "message": "integer i is 37 i^2 modulo that of the set; x is encrypted with the public key, and multiplied with the same from the secret key",
            "steps": 3,
            "sets": sets(),
        });
        fs::write(&path, serde_json::to_string_pretty(&all).unwrap() + "\n").unwrap();
    }
    let wanted: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    for threads in [1, 2, 5] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        assert_eq!(json!(pool.install(sets)), wanted["sets"], "{threads} threads");
    }
}
