//! CKKS by itself: encrypt numbers, compute on them without the key, decrypt the result.
//!
//!     cargo run --release -p refloat --example 01_encrypt_compute
//!
//! A ciphertext holds N/2 complex numbers, its *slots*, and every operation acts on all of them at once.
//! It is a pair of polynomials (b, a) with b + a s = scale · m + e modulo Q: s is the secret key, m the
//! message as a polynomial, e a small error that keeps the secret hidden, and Q a product of primes.
//!
//! Numbers are approximate. They are kept as integers after multiplication by the *scale*; a product
//! has the product of the scales, and *rescaling* divides by one prime of Q to bring the scale back.
//! That prime is gone: a fresh ciphertext is at the highest *level*, every multiplication takes it one
//! level down, and at level 0 no multiplication is left. Bringing such a ciphertext back to a high level
//! is bootstrapping, the subject of the next example.
//!
//! The ring is far too small to be secure, and the parameters say so by name: without
//! `InsecureForTests` this set could not be built.

use refloat::{
    Error,
    arith::primes::ntt_primes,
    random::Seed,
    ring::Automorphism,
    rlwe::{KeySeeds, RlweSpec, SecretKey},
    schemes::ckks::{
        Ciphertext, CkksContext, CkksEvaluator, Complex, PublicKey, Scale, decrypt_slots, encrypt,
        public_key_b,
    },
    security::{SecretDistribution, SecurityPolicy},
    trace::Counters,
};

fn real(re: f64) -> Complex {
    Complex { re, im: 0.0 }
}

fn main() -> Result<(), Error> {
    // Q = q0 · q1 · q2 · q3, one prime per level. Rescaling from level l divides by q_l, so those are near the
    // scale; q0 is larger and leaves room above the message. P, the special prime, keeps the noise of key
    // switching small: it should be at least as large as the largest digit.
    let n = 1 << 11;
    let scale = Scale::exp2(40.0);
    let mut levels: Vec<Vec<u64>> = vec![ntt_primes(50.0, 2 * n as u64).take(1).collect()];
    levels.extend(ntt_primes(40.0, 2 * n as u64).take(3).map(|q| vec![q]));
    let spec = RlweSpec {
        n,
        odd_part: 1,
        levels,
        special: ntt_primes(55.0, 2 * n as u64).take(1).collect(),
        digits: (0..4).map(|i| vec![i]).collect(),
        secret: SecretDistribution::Ternary,
        policy: SecurityPolicy::InsecureForTests,
    };
    // Primes above 2^31 need 64-bit words.
    let context = CkksContext::<u64>::from_spec(&spec)?;
    let rlwe = context.rlwe();
    let top = rlwe.max_level();
    println!(
        "{} slots, {} levels above the last, log2 QP = {:.1}",
        context.slots(),
        top,
        rlwe.qp(top).log2()
    );
    println!("{}\n", rlwe.security().statement);

    // The owner of the data: a secret key, and the keys that others may have.
    let master = Seed::random()?;
    let secret = SecretKey::generate(rlwe, &master);
    let seeds = KeySeeds::derive(&master);
    let key_id = *b"tutorial key 001";
    let b = public_key_b(&context, &secret, &seeds, top);
    let public = PublicKey::new(&context, key_id, top, b, seeds.public())?;
    let relinearization = secret.relinearization_key(rlwe, &seeds, top);
    let rotation = Automorphism::rotation(n, 1);
    let rotation_key = secret.galois_key(rlwe, &seeds, top, rotation.element());
    let conjugation = Automorphism::conjugation(n);
    let conjugation_key = secret.galois_key(rlwe, &seeds, top, conjugation.element());

    let x: Vec<Complex> = (0..context.slots()).map(|k| real((k as f64 * 0.1).sin())).collect();
    let y: Vec<Complex> = (0..context.slots()).map(|k| Complex { re: 0.5, im: k as f64 / 2048.0 }).collect();
    // Two ways to encrypt: with the secret key, or with the public one. Every ciphertext needs fresh randomness.
    let cx = encrypt(&context, &secret, key_id, &x, top, scale, &Seed::random()?)?;
    let cy = public.encrypt(&context, &y, top, scale, &Seed::random()?)?;

    // Somebody else, who has the ciphertexts and the evaluation keys and nothing more.
    let evaluator = CkksEvaluator::new(&context);
    let mut work = Counters::default();
    let sum = evaluator.add(&cx, &cy)?;
    // A product has three components; relinearisation makes two of them, rescaling restores the scale.
    let product = evaluator.tensor(&cx, &cy)?;
    let product = evaluator.relinearize(&product, &relinearization)?;
    let product = evaluator.rescale(&product)?;
    // The same in one call and with one rounding, once more on the product.
    let cube = evaluator.multiply(&product, &cx, &relinearization)?;
    let rotated = evaluator.automorphism(&cx, &rotation, &rotation_key, &mut work)?;
    let conjugate = evaluator.automorphism(&cy, &conjugation, &conjugation_key, &mut work)?;
    // Plain factors are encoded at a level and a scale of the evaluator's choice.
    let half = evaluator.encode(&vec![real(0.5); context.slots()], top, scale)?;
    let halved = evaluator.rescale(&evaluator.mul_plain(&cx, &half)?)?;

    // The owner again.
    let report = |what: &str, ciphertext: &Ciphertext<u64>, expected: &dyn Fn(usize) -> Complex| {
        let slots = decrypt_slots(&context, &secret, key_id, ciphertext)?;
        let slots = slots.reveal_to_key_owner();
        let worst = (0..context.slots()).map(|k| (slots[k] - expected(k)).abs()).fold(0.0, f64::max);
        println!(
            "{what:<12} level {}  log2 Q {:5.1}  log2 scale {:8.5}  slot 7 = {:+.6} {:+.6} i  right to {:4.1} bits",
            ciphertext.level(),
            ciphertext.log_q(),
            ciphertext.log_scale(),
            slots[7].re,
            slots[7].im,
            -worst.log2(),
        );
        Ok::<_, Error>(())
    };
    report("x", &cx, &|k| x[k])?;
    report("y", &cy, &|k| y[k])?;
    report("x + y", &sum, &|k| x[k] + y[k])?;
    report("x y", &product, &|k| x[k] * y[k])?;
    report("x x y", &cube, &|k| x[k] * x[k] * y[k])?;
    report("x rotated", &rotated, &|k| x[(k + 1) % x.len()])?;
    report("conj(y)", &conjugate, &|k| y[k].conj())?;
    report("x / 2", &halved, &|k| x[k].scale(0.5))?;

    println!("\nWhat does not fit together is refused, and says why:");
    let error = evaluator.add(&cx, &product).expect_err("their scales differ");
    println!("  {}: {error}", error.code());
    let exhausted = evaluator.drop_to_level(&cx, 0)?;
    let error = evaluator.rescale(&exhausted).expect_err("nothing is left");
    println!("  {}: {error}", error.code());
    Ok(())
}
