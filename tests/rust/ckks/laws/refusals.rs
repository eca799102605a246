//! What does not fit is refused, with both sides named.

use num_complex::Complex64;
use refloat::random::Seed;
use refloat::ring::Automorphism;
use refloat::rlwe::SampleBlock;
use refloat::schemes::ckks::{Complex, Plaintext, PublicKey, Scale, decrypt_slots, encrypt, public_key_b};

use super::setup::{KEY_ID, Toy, double, ours, refused, wide};

#[test]
fn ciphertexts_that_do_not_belong_together_are_told_apart() {
    let (toy, other) = (Toy::<u64>::new(&double(32), 41), Toy::<u64>::new(&wide(32), 41));
    let z = [Complex64::new(0.5, 0.0)];
    let (ours_, theirs_) = (toy.encrypt(&z, 1), other.encrypt(&z, 1));
    let ev = &toy.evaluator;
    let hex = |bytes: [u8; 16]| format!("{:032x}", u128::from_be_bytes(bytes));
    let sets = [hex(toy.context.fingerprint()), hex(other.context.fingerprint())];
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let g = Automorphism::conjugation(32);
    refused(ev.add(&ours_, &theirs_), "PARAMS_MISMATCH", &sets);
    refused(ev.sub(&theirs_, &ours_), "PARAMS_MISMATCH", &sets);
    refused(ev.tensor(&ours_, &theirs_), "PARAMS_MISMATCH", &sets);
    // Both of another set than the evaluator's.
    refused(ev.add(&theirs_, &theirs_), "PARAMS_MISMATCH", &sets);
    refused(ev.tensor(&theirs_, &theirs_), "PARAMS_MISMATCH", &sets);
    refused(ev.rescale(&theirs_), "PARAMS_MISMATCH", &sets);
    refused(ev.drop_to_level(&theirs_, 0), "PARAMS_MISMATCH", &sets);
    refused(ev.add_plain(&theirs_, &toy.plain(&z, 3)), "PARAMS_MISMATCH", &sets);
    refused(ev.multiply_plain(&theirs_, &toy.plain(&z, 3)), "PARAMS_MISMATCH", &sets);
    refused(ev.automorphism(&theirs_, &g, &toy.galois(&g, 3)), "PARAMS_MISMATCH", &sets);
    let foreign = other.evaluator.tensor(&theirs_, &theirs_).expect("its own");
    refused(ev.relinearize(&foreign, &toy.relinearization), "PARAMS_MISMATCH", &sets);
    // Another key of the same set.
    let stranger = [0xabu8; 16];
    let randomness = Seed::from_bytes([1; 32]);
    let strange =
        encrypt(&toy.context, &toy.secret, stranger, &ours(&z), 3, toy.scale, &randomness).expect("fits");
    let keys = [hex(KEY_ID), hex(stranger)];
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    refused(ev.add(&ours_, &strange), "PARAMS_MISMATCH", &keys);
    refused(ev.tensor(&strange, &ours_), "PARAMS_MISMATCH", &keys);
    refused(decrypt_slots(&toy.context, &toy.secret, KEY_ID, &strange), "PARAMS_MISMATCH", &keys);
    refused(decrypt_slots(&toy.context, &toy.secret, KEY_ID, &theirs_), "PARAMS_MISMATCH", &sets);
    // The secret of another chain.
    let sizes = ["degree 32", "bits"];
    refused(decrypt_slots(&toy.context, &other.secret, KEY_ID, &ours_), "PARAMS_MISMATCH", &sizes);
    let fresh = encrypt(&toy.context, &other.secret, KEY_ID, &ours(&z), 3, toy.scale, &randomness);
    refused(fresh, "PARAMS_MISMATCH", &sizes);
}

#[test]
fn plaintexts_keys_levels_and_scales_that_do_not_fit_are_refused() {
    let (toy, other) = (Toy::<u64>::new(&double(32), 42), Toy::<u64>::new(&wide(64), 42));
    let z = [Complex64::new(0.5, 0.0)];
    let (x, ev) = (toy.encrypt(&z, 1), &toy.evaluator);
    // Levels.
    let low = toy.plain(&z, 1);
    refused(ev.add_plain(&x, &low), "LEVEL_MISMATCH", &["level 1", "level 3"]);
    refused(ev.multiply_plain(&x, &low), "LEVEL_MISMATCH", &["level 1", "level 3"]);
    let bottom = ev.drop_to_level(&x, 0).expect("lower");
    refused(ev.drop_to_level(&bottom, 2), "LEVEL_MISMATCH", &["level 0", "to 2"]);
    refused(ev.rescale(&bottom), "LEVEL_MISMATCH", &["level 0"]);
    // A fresh ciphertext, and a product, have nothing to rescale.
    refused(ev.rescale(&x), "SCALE_MISMATCH", &["would be left with 2^"]);
    let product = ev.multiply(&x, &x, &toy.relinearization).expect("levels");
    refused(ev.rescale(&product), "SCALE_MISMATCH", &["`multiply` has rescaled already"]);
    refused(ev.multiply(&bottom, &x, &toy.relinearization), "LEVEL_MISMATCH", &["level 0"]);
    refused(ev.encode(&ours(&z), 4, toy.scale), "LEVEL_MISMATCH", &["level 4", "highest, 3"]);
    refused(ev.encode(&ours(&z), usize::MAX, toy.scale), "LEVEL_MISMATCH", &["highest, 3"]);
    let randomness = Seed::from_bytes([1; 32]);
    let above = encrypt(&toy.context, &toy.secret, KEY_ID, &ours(&z), 4, toy.scale, &randomness);
    refused(above, "LEVEL_MISMATCH", &["level 4", "highest, 3"]);
    // Plaintexts of another set, and one whose level was altered.
    refused(
        ev.add_plain(&x, &Plaintext { scale: x.scale(), ..other.plain(&z, 3) }),
        "PARAMS_MISMATCH",
        &["degree 64", "degree 32"],
    );
    refused(ev.multiply_plain(&x, &other.plain(&z, 3)), "PARAMS_MISMATCH", &["degree 64", "degree 32"]);
    for level in [0, 2, 9] {
        let altered = Plaintext { level, ..toy.plain(&z, 3) };
        refused(ev.multiply_plain(&x, &altered), "PARAMS_MISMATCH", &[&format!("level {level}"), "0 to 3"]);
    }
    // Scales.
    let sum = ev.add(&x, &ev.multiply_plain(&x, &toy.plain(&z, 3)).expect("a level"));
    refused(sum, "SCALE_MISMATCH", &["2^41.000000", "2^82.000000"]);
    let plain = ev.encode(&ours(&z), 3, Scale::exp2(30.0)).expect("fits");
    refused(ev.add_plain(&x, &plain), "SCALE_MISMATCH", &["2^41.000000", "2^30.000000"]);
    // Components.
    let three = ev.tensor(&x, &x).expect("its own");
    refused(ev.relinearize(&x, &toy.relinearization), "INVALID_ARGUMENT", &["three components", "got 2"]);
    refused(ev.tensor(&three, &x), "INVALID_ARGUMENT", &["3 components", "relinearise it first"]);
    let g = Automorphism::conjugation(32);
    refused(ev.automorphism(&three, &g, &toy.galois(&g, 3)), "INVALID_ARGUMENT", &["3 components"]);
    // Switching keys: of a lower level, of another set, of another shape.
    refused(ev.automorphism(&x, &g, &toy.galois(&g, 1)), "LEVEL_MISMATCH", &["level 1", "level 3"]);
    let low_key = toy.secret.relinearization_key(toy.context.rlwe(), &toy.seeds, 2);
    let elsewhere = Automorphism::conjugation(64);
    let mismatched = ev.automorphism(&x, &elsewhere, &toy.galois(&g, 3));
    refused(mismatched, "INVALID_ARGUMENT", &["degree 64", "degree 32"]);
    refused(ev.relinearize(&three, &low_key), "LEVEL_MISMATCH", &["level 2", "level 3"]);
    refused(ev.relinearize(&three, &other.relinearization), "PARAMS_MISMATCH", &["degree 64", "degree 32"]);
    refused(ev.multiply(&x, &x, &other.relinearization), "PARAMS_MISMATCH", &["degree 64"]);
    let shape = SampleBlock::zero(toy.context.rlwe().qp(3), 2, 1);
    refused(ev.relinearize(&three, &shape), "PARAMS_MISMATCH", &["1 samples"]);
    let shape = SampleBlock::zero(toy.context.rlwe().qp(3), 1, 4);
    refused(ev.relinearize(&three, &shape), "PARAMS_MISMATCH", &["4 samples"]);
}

#[test]
fn public_keys_that_do_not_fit_are_refused() {
    let (toy, other) = (Toy::<u64>::new(&double(32), 43), Toy::<u64>::new(&wide(64), 43));
    let z = ours(&[Complex64::new(0.5, 0.0)]);
    let randomness = Seed::from_bytes([1; 32]);
    let b = public_key_b(&toy.context, &toy.secret, &toy.seeds, 2);
    let new = |level, b| PublicKey::new(&toy.context, KEY_ID, level, b, toy.seeds.public());
    refused(new(3, b.clone()), "LEVEL_MISMATCH", &["6 primes", "level 3 has 8"]);
    refused(new(4, b.clone()), "LEVEL_MISMATCH", &["level 4", "highest, 3"]);
    let key = new(2, b).expect("the level of the component");
    let encrypt = |context, level| key.encrypt(context, &z, level, toy.scale, &randomness);
    refused(encrypt(&toy.context, 3), "LEVEL_MISMATCH", &["level 3", "level 2"]);
    refused(encrypt(&other.context, 2), "PARAMS_MISMATCH", &["degree 32", "degree 64"]);
    assert!(encrypt(&toy.context, 0).is_ok());
}

#[test]
fn messages_too_large_for_their_modulus_are_refused() {
    // 2^58 at level 0, and every level adds some 41 bits.
    let toy = Toy::<u64>::new(&double(32), 44);
    let one = vec![Complex { re: 1.0, im: 0.0 }; 16];
    let randomness = Seed::from_bytes([1; 32]);
    let b = public_key_b(&toy.context, &toy.secret, &toy.seeds, 3);
    let key = PublicKey::new(&toy.context, KEY_ID, 3, b, toy.seeds.public()).expect("our own");
    for (scale, level, fits) in [(58.5, 0, false), (56.5, 0, true), (58.5, 1, true)] {
        let scale = Scale::exp2(scale);
        let secret = encrypt(&toy.context, &toy.secret, KEY_ID, &one, level, scale, &randomness);
        let public = key.encrypt(&toy.context, &one, level, scale, &randomness);
        if fits {
            for x in [secret, public] {
                let found = toy.decrypt(&x.expect("room for it"));
                assert!(found.iter().all(|z| (z - 1.0).norm() < 1e-9));
            }
        } else {
            refused(secret, "INVALID_ARGUMENT", &["2^58.5", "level 0", "higher level"]);
            refused(public, "INVALID_ARGUMENT", &["2^58.5", "level 0", "higher level"]);
        }
    }
}

#[test]
fn constants_beyond_the_modulus_are_refused_and_those_below_are_not() {
    let toy = Toy::<u64>::new(&wide(64), 44);
    let (x, ev) = (toy.encrypt_at(&[Complex64::new(0.5, 0.0)], 0, 1), &toy.evaluator);
    // Level 0 has 2^60, the scale is 2^45.
    let near = f64::from(1 << 13);
    let sum = toy.decrypt(&ev.add_constant(&x, Complex::new(near, 0.0).into()).expect("2^58"))[0];
    assert!((sum.re - near - 0.5).abs() < 1e-6, "{sum}");
    for large in [1e5, -1e5, 1e20, 1e300] {
        let c = Complex::new(large, 0.0).into();
        refused(ev.add_constant(&x, c), "INVALID_ARGUMENT", &["half the modulus", "2^59"]);
        refused(ev.multiply_constant(&x, c, toy.scale), "INVALID_ARGUMENT", &["half the modulus", "2^59"]);
    }
    refused(ev.multiply_integer(&x, i64::MAX), "INVALID_ARGUMENT", &["2^63.0", "2^59"]);
    refused(ev.add_constant(&x, Complex::new(f64::NAN, 0.0).into()), "INVALID_ARGUMENT", &["not a finite"]);
    for scale in [0.0, -4.0, f64::NAN] {
        let one = Complex::new(1.0, 0.0).into();
        refused(ev.multiply_constant(&x, one, Scale::new(scale)), "INVALID_ARGUMENT", &["positive"]);
        let high = toy.encrypt(&[Complex64::new(0.5, 0.0)], 2);
        refused(
            ev.multiply_constant_rescale(&high, one, Scale::new(scale)),
            "INVALID_ARGUMENT",
            &["positive"],
        );
    }
}

#[test]
fn rotations_by_all_slots_take_no_key() {
    let toy = Toy::<u64>::new(&wide(64), 45);
    let x = toy.encrypt(&[Complex64::new(0.5, 0.0)], 1);
    let none = refloat::rlwe::GaloisKeys::new(64);
    for steps in [0, 32, -64] {
        let same = toy.evaluator.rotate(&x, steps, &none).expect("no key is needed");
        assert!(same.parts().iter().zip(x.parts()).all(|(x, y)| x.data() == y.data()), "{steps}");
    }
    refused(toy.evaluator.rotate(&x, 1, &none), "MISSING_KEY", &["compose"]);
}
