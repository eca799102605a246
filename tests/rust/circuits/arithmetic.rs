//! Arithmetic on numbers in slots: laws against clear numbers in every method of CKKS, and public keys of theirs.

use std::fs;
use std::path::PathBuf;

use refloat::Error;
use refloat::bootstrapping::ckks_conventional::ConventionalParams;
use refloat::bootstrapping::ckks_msb::MsbParams;
use refloat::bootstrapping::ckks_ship::ShipParams;
use refloat::bootstrapping::method::{NumberSecret, NumberSet, ParamSet, Preset, SlotMode};
use refloat::bootstrapping::scheme_switching::{LinkParams, LinkPreset, Reduction};
use refloat::circuits::arithmetic::{Arithmetic, ArithmeticKeys, KeyList, Known};
use refloat::circuits::program::Target;
use refloat::params;
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, Complex};
use refloat::wire::{self, CkksSet, SeededSecret, SeededSet};
use refloat_tests::portable::{hex, wire_digest as digest};
use serde_json::{Value, json};

/// Error of a few operations, at the scales of the toys.
const TOLERANCE: f64 = 2e-3;

/// A key of a set with what tests ask of it.
struct Owner<P: SeededSet + CkksSet> {
    params: P,
    secret: P::Secret,
    target: Target,
}

impl<P> Owner<P>
where
    P: ParamSet + Clone + SeededSet + CkksSet + NumberSet<<P as CkksSet>::Word>,
    P::Secret: SeededSecret + NumberSecret<<P as CkksSet>::Word>,
{
    fn new(preset: &Preset<P::Spec>, seed: u8) -> Self {
        let params = P::checked(&(preset.spec)()).unwrap();
        let secret = params.secret(&Seed::from_bytes([seed; 32]));
        Self { target: params.target().unwrap(), secret, params }
    }

    fn keys(&self, rotations: Option<&[i64]>, conjugation: bool) -> ArithmeticKeys<<P as CkksSet>::Word> {
        let list = KeyList::new(self.params.ckks(), &self.target, rotations, conjugation).unwrap();
        let bytes = list.len() * list.key_bytes();
        let keys =
            ArithmeticKeys::generate(&self.secret.main_secret().unwrap(), self.target.clone(), list).unwrap();
        assert_eq!(keys.memory_bytes(), bytes, "what is announced is what is made");
        keys
    }

    fn arithmetic(&self) -> Arithmetic<'_, <P as CkksSet>::Word> {
        Arithmetic::new(self.params.ckks(), &self.target)
    }

    fn slots(&self) -> usize {
        self.target.slots()
    }

    /// Complex numbers in the square of side 1/2, others for every seed.
    fn message(&self, seed: usize) -> Vec<Complex> {
        let part = |i: usize| ((37 * i + 11 * seed) % 101) as f64 / 100.0 - 0.5;
        (0..self.slots()).map(|i| Complex::new(part(i), part(3 * i + 1))).collect()
    }

    fn encrypt(&self, message: &[Complex], level: usize) -> Ciphertext<<P as CkksSet>::Word> {
        let seed = Seed::from_bytes([level as u8 + 40; 32]);
        self.secret.encrypt_numbers(&flat(message), SlotMode::Complex, level, &seed).unwrap()
    }

    #[track_caller]
    fn holds(&self, x: &Ciphertext<<P as CkksSet>::Word>, level: usize, wanted: impl Fn(usize) -> Complex) {
        assert_eq!(x.level(), level);
        let found = self.secret.decrypt_numbers(x, SlotMode::Complex).unwrap();
        for (i, z) in found.reveal_to_key_owner().chunks_exact(2).enumerate() {
            let error = (Complex::new(z[0], z[1]) - wanted(i)).abs();
            assert!(error < TOLERANCE, "slot {i} of {}: error {error:e}", self.slots());
        }
    }

    fn laws(&self) {
        let (on, top, n) = (self.arithmetic(), CkksSet::output_level(&self.params), self.slots());
        let keys = self.keys(None, true);
        let (x, y) = (self.message(1), self.message(2));
        let (cx, cy) = (self.encrypt(&x, top), self.encrypt(&y, top));
        self.holds(&on.add(&cx, &cy).unwrap(), top, |i| x[i] + y[i]);
        self.holds(&on.subtract(&cx, &cy).unwrap(), top, |i| x[i] - y[i]);
        self.holds(&on.negate(&cx), top, |i| Complex::ZERO - x[i]);
        self.holds(&on.add_known(&cx, Known::Slots(&y)).unwrap(), top, |i| x[i] + y[i]);
        self.holds(&on.add_known(&cx, Known::Slots(&y[..3])).unwrap(), top, |i| {
            if i < 3 { x[i] + y[i] } else { x[i] }
        });
        let c = Complex::new(0.25, -0.5);
        self.holds(&on.add_known(&cx, Known::Everywhere(c)).unwrap(), top, |i| x[i] + c);
        self.holds(&on.multiply_known(&cx, Known::Everywhere(c)).unwrap(), top - 1, |i| x[i] * c);
        let two = Known::Everywhere(Complex::new(-2.0, 0.0));
        self.holds(&on.multiply_known(&cx, two).unwrap(), top, |i| x[i].scale(-2.0));
        self.holds(&on.multiply_known(&cx, Known::Slots(&y[..3])).unwrap(), top - 1, |i| {
            if i < 3 { x[i] * y[i] } else { Complex::ZERO }
        });
        let product = on.multiply(&cx, &cy, &keys).unwrap();
        self.holds(&product, top - 1, |i| x[i] * y[i]);
        // Levels and scales that differ, in both orders.
        self.holds(&on.add(&product, &cx).unwrap(), top - 1, |i| x[i] * y[i] + x[i]);
        self.holds(&on.subtract(&cx, &product).unwrap(), top - 1, |i| x[i] - x[i] * y[i]);
        for steps in [0, 1, -1, 5, n as i64 / 2, n as i64 + 3] {
            let at = |i: usize| x[(i as i64 + steps).rem_euclid(n as i64) as usize];
            self.holds(&on.rotate(&cx, steps, &keys).unwrap(), top, at);
        }
        self.holds(&on.conjugate(&cx, &keys).unwrap(), top, |i| Complex::new(x[i].re, -x[i].im));
        self.holds(&on.drop_to_level(&cx, top - 1).unwrap(), top - 1, |i| x[i]);
        self.refusals(&keys);
        self.public_keys();
    }

    fn refusals(&self, keys: &ArithmeticKeys<<P as CkksSet>::Word>) {
        let (on, floor, top) = (self.arithmetic(), self.target.floor(), CkksSet::output_level(&self.params));
        let x = self.message(3);
        let cx = self.encrypt(&x, top);
        let other = Self { secret: self.params.secret(&Seed::from_bytes([99; 32])), ..self.parts() };
        let foreign = other.encrypt(&x, top);
        let mismatches = [
            on.add(&cx, &foreign),
            on.multiply(&cx, &foreign, keys),
            on.multiply(&foreign, &foreign, keys),
            on.rotate(&foreign, 1, keys),
            on.conjugate(&foreign, keys),
        ];
        for refused in mismatches {
            refusal(refused, "PARAMS_MISMATCH", "same key|compute with keys of the owner");
        }
        let lowest = on.drop_to_level(&cx, floor).unwrap();
        refusal(on.multiply(&lowest, &cx, keys), "LEVEL_MISMATCH", "ciphertexts of this set stay at level");
        refusal(
            on.multiply_known(&lowest, Known::Slots(&x)),
            "LEVEL_MISMATCH",
            "ciphertexts of this set stay at level",
        );
        refusal(on.drop_to_level(&lowest, top), "LEVEL_MISMATCH", "level");
        let scale = (0..20).fold(cx.scale(), |scale, _| scale.mul(cx.scale()));
        let stated = cx.clone().relabelled(scale);
        refusal(on.multiply(&stated, &cx, keys), "SCALE_MISMATCH", "does not fit");
        let many = vec![Complex::ONE; self.slots() + 1];
        refusal(on.add_known(&cx, Known::Slots(&many)), "INVALID_ARGUMENT", "give at most one a slot");
        let nan = Complex::new(f64::NAN, 0.0);
        refusal(on.add_known(&cx, Known::Everywhere(nan)), "INVALID_ARGUMENT", "give finite numbers");
        refusal(on.multiply_known(&cx, Known::Slots(&[nan])), "INVALID_ARGUMENT", "give finite numbers");
        let few = self.keys(Some(&[2]), false);
        self.holds(&on.rotate(&cx, 4, &few).unwrap(), top, |i| x[(i + 4) % x.len()]);
        refusal(on.rotate(&cx, 1, &few), "MISSING_KEY", "[2]");
        refusal(on.conjugate(&cx, &few), "MISSING_KEY", "conjugation");
        let (context, target) = (self.params.ckks(), self.target.clone());
        let list = KeyList::new(context, &target, Some(&[]), false).unwrap();
        assert_eq!(list.len(), 1);
        let mut own = ArithmeticKeys::new(context, target, self.secret.key_id(), list);
        refusal(on.multiply(&cx, &cx, &own), "MISSING_KEY", "products");
        let stranger = other.secret.main_secret().unwrap();
        assert_eq!(own.make(0, &stranger).unwrap_err().code(), "PARAMS_MISMATCH");
        assert_eq!(own.make(1, &self.secret.main_secret().unwrap()).unwrap_err().code(), "INVALID_ARGUMENT");
    }

    /// Two parties encrypt for the owner, and their ciphertexts add.
    fn public_keys(&self) {
        let (on, top) = (self.arithmetic(), CkksSet::output_level(&self.params));
        let level = self.params.public_key_level();
        let bytes = wire::public_key_to_bytes(
            &self.params,
            &self.secret.main_secret().unwrap().public_key(level).unwrap(),
        );
        let party = |message: &[Complex], seed: u8| {
            let key = wire::public_key_from_bytes(&self.params, &bytes).unwrap();
            assert_eq!(key.key_id(), self.secret.key_id());
            let randomness = Seed::from_bytes([seed; 32]);
            self.params.encrypt_numbers_for(&key, &flat(message), SlotMode::Complex, top, &randomness)
        };
        let (x, y) = (self.message(4), self.message(5));
        let sum = on.add(&party(&x, 1).unwrap(), &party(&y, 2).unwrap()).unwrap();
        self.holds(&sum, top, |i| x[i] + y[i]);
        let own = self.encrypt(&y, top);
        self.holds(&on.add(&party(&x, 1).unwrap(), &own).unwrap(), top, |i| x[i] + y[i]);
        let many = vec![Complex::ONE; self.slots() + 1];
        refusal(party(&many, 1), "INVALID_ARGUMENT", "split|slots in complex mode take up to");
        let key = wire::public_key_from_bytes(&self.params, &bytes).unwrap();
        let at = |level: usize| {
            self.params.encrypt_numbers_for(&key, &[0.5], SlotMode::Real, level, &Seed::from_bytes([3; 32]))
        };
        refusal(at(level + 1), "LEVEL_MISMATCH", "above the public key's level");
        if let Some(below) = self.params.lowest_message_level().checked_sub(1) {
            refusal(at(below), "LEVEL_MISMATCH", "encrypt at");
        }
        let bits =
            self.params.encrypt_numbers_for(&key, &[1.0], SlotMode::Bits, top, &Seed::from_bytes([3; 32]));
        refusal(bits, "INVALID_ARGUMENT", "choose another set");
    }

    /// Digests of what fixed seeds give, as `tests/vectors/arithmetic.json` has them.
    fn digests(&self, name: &str) -> Value {
        let (on, level, keys) =
            (self.arithmetic(), CkksSet::output_level(&self.params), self.keys(None, true));
        let context = self.params.ckks();
        let hash =
            |x: Ciphertext<<P as CkksSet>::Word>| digest(&wire::ciphertext_to_bytes(context, &x).unwrap());
        let owner = self.secret.main_secret().unwrap();
        let numbers: Vec<f64> = (0..self.slots()).map(|i| ((37 * i % 101) as f64 - 50.0) / 64.0).collect();
        let seed = Seed::from_bytes([9; 32]);
        let public = owner.public_key(self.params.public_key_level()).unwrap();
        let x = self.params.encrypt_numbers_for(&public, &numbers, SlotMode::Real, level, &seed).unwrap();
        let y = self.secret.encrypt_numbers(&numbers, SlotMode::Real, level, &seed).unwrap();
        let product = on.multiply(&x, &y, &keys).unwrap();
        let known = [Complex::new(0.25, 0.0), Complex::new(-0.5, 0.0)];
        json!({
            "name": name,
            "keyId": hex(&owner.key_id()),
            "publicKey": digest(&wire::public_key_to_bytes(&self.params, &public)),
            "x": hash(x.clone()),
            "sum": hash(on.add(&x, &y).unwrap()),
            "negative": hash(on.negate(&x)),
            "product": hash(product.clone()),
            "difference": hash(on.subtract(&product, &x).unwrap()),
            "plus": hash(on.add_known(&x, Known::Slots(&known)).unwrap()),
            "times": hash(on.multiply_known(&x, Known::Slots(&known)).unwrap()),
            "quarter": hash(on.multiply_known(&x, Known::Everywhere(known[0])).unwrap()),
            "rotated": hash(on.rotate(&x, 3, &keys).unwrap()),
            "conjugate": hash(on.conjugate(&x, &keys).unwrap()),
        })
    }

    fn parts(&self) -> Self {
        let seed = self.secret.secret_seed().clone();
        let params = <P as Clone>::clone(&self.params);
        Self { secret: params.secret(&seed), target: self.target.clone(), params }
    }
}

fn flat(message: &[Complex]) -> Vec<f64> {
    message.iter().flat_map(|z| [z.re, z.im]).collect()
}

#[track_caller]
fn refusal<T>(result: Result<T, Error>, code: &str, words: &str) {
    let error = result.err().expect("refused");
    let message = error.to_string();
    assert_eq!(error.code(), code, "{message}");
    assert!(words.split('|').any(|word| message.contains(word)), "{message}");
}

type Ship = Owner<ShipParams>;
type Conventional = Owner<ConventionalParams>;
type Digits = Owner<MsbParams>;
type Linked = Owner<LinkParams<Reduction>>;

fn conventional(name: &str) -> Conventional {
    Owner::new(params::conventional_preset(name).unwrap(), 7)
}

#[test]
fn numbers_of_ship() {
    Ship::new(params::ship_preset("toy10").unwrap(), 7).laws();
}

#[test]
fn numbers_of_conventional_sets() {
    for name in ["toy-conventional11", "toy-conventional10-sparse"] {
        conventional(name).laws();
    }
}

#[test]
fn numbers_of_sets_for_digits() {
    Digits::new(params::msb_preset("toy-msb10").unwrap(), 7).laws();
}

#[test]
fn numbers_of_sets_with_gates() {
    Linked::new(LinkPreset::named("toy-link").unwrap(), 7).laws();
}

/// `REFLOAT_WRITE_VECTORS=1` writes the vectors anew, after a change of the wire format or of the sampling.
#[test]
fn arithmetic_is_that_of_the_vectors() {
    let found = json!({
        "about": "Digests of arithmetic on ciphertexts from fixed seeds, the same in every build, as those of portable.json.",
        "provenance": "Written by tests/rust/circuits/arithmetic.rs, natively; checked there, and in wasm by ts/tests/arithmetic.test.ts.",
        "keySeed": 7,
        "encryptionSeed": 9,
        "message": "slot i is ((37 i) mod 101 - 50) / 64; x is encrypted with the public key, y the same with the secret one",
        "numbers": [0.25, -0.5],
        "steps": 3,
        "sets": [
            Ship::new(params::ship_preset("toy10").unwrap(), 7).digests("toy10"),
            conventional("toy-conventional11").digests("toy-conventional11"),
            Digits::new(params::msb_preset("toy-msb10").unwrap(), 7).digests("toy-msb10"),
            Linked::new(LinkPreset::named("toy-link").unwrap(), 7).digests("toy-link"),
        ],
    });
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "vectors", "arithmetic.json"].iter().collect();
    if std::env::var_os("REFLOAT_WRITE_VECTORS").is_some() {
        fs::write(&path, serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
    }
    let wanted: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(found, wanted);
}
