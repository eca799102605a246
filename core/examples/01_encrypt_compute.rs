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
    random::Seed,
    schemes::ckks::{Ciphertext, CkksEvaluator, CkksSecretKey, CkksSpec, Complex, Scale},
    security::SecurityPolicy,
};

fn real(re: f64) -> Complex {
    Complex { re, im: 0.0 }
}

fn main() -> Result<(), Error> {
    // Q = q0 · q1 · q2 · q3, one prime per level. Rescaling from level l divides by q_l, so those are near the
    // scale; q0 is larger and leaves room above the message. P, the special prime, keeps the noise of key
    // switching small: it should be at least as large as the largest of the others.
    let scale = Scale::exp2(40.0);
    let spec = CkksSpec {
        n: 1 << 11,
        log_base: 50.0,
        log_scale: 40.0,
        levels: 3,
        log_special: 55.0,
        policy: SecurityPolicy::InsecureForTests,
    };
    // Primes above 2^31 need 64-bit words.
    let context = spec.context::<u64>()?;
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
    let secret = CkksSecretKey::generate(&context, &Seed::random()?);
    let public = secret.public_key(top)?;
    let relinearization = secret.relinearization_key(top)?;
    let keys = secret.galois_keys(&[1], true, top)?;

    let x: Vec<Complex> = (0..context.slots()).map(|k| real((k as f64 * 0.1).sin())).collect();
    let y: Vec<Complex> = (0..context.slots()).map(|k| Complex { re: 0.5, im: k as f64 / 2048.0 }).collect();
    // Two ways to encrypt: with the secret key, or with the public one. Every ciphertext needs fresh randomness.
    let cx = secret.encrypt(&x, top, scale, &Seed::random()?)?;
    let cy = public.encrypt(&context, &y, top, scale, &Seed::random()?)?;

    // Somebody else, who has the ciphertexts and the evaluation keys and nothing more.
    let evaluator = CkksEvaluator::new(&context);
    let sum = evaluator.add(&cx, &cy)?;
    // A product has three components; relinearisation makes two of them, rescaling restores the scale.
    let product = evaluator.tensor(&cx, &cy)?;
    let product = evaluator.relinearize(&product, &relinearization)?;
    let product = evaluator.rescale(&product)?;
    // The same in one call and with one rounding, once more on the product.
    let cube = evaluator.multiply(&product, &cx, &relinearization)?;
    let rotated = evaluator.rotate(&cx, 1, &keys)?;
    let conjugate = evaluator.conjugate(&cy, &keys)?;
    // Plain factors are encoded at a level and a scale of the evaluator's choice.
    let half = evaluator.encode(&vec![real(0.5); context.slots()], top, scale)?;
    let halved = evaluator.rescale(&evaluator.multiply_plain(&cx, &half)?)?;

    // The owner again.
    let report = |what: &str, ciphertext: &Ciphertext<u64>, expected: &dyn Fn(usize) -> Complex| {
        let slots = secret.decrypt(ciphertext)?;
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
