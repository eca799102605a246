//! The noise of encryptions.

use num_complex::Complex64;
use refloat::arith::Word;
use refloat::random::Seed;
use refloat::ring::{Automorphism, GaloisElement, centered_f64, from_integers};
use refloat::rlwe::RlweSpec;
use refloat::schemes::ckks::{Ciphertext, PublicKey, Scale, public_key_b};
use refloat_tests::rns::Lottery;

use super::setup::{ERROR, KEY_ID, Toy, largest, ours, pairwise, single, slots, wide};

/// b + a s, centred, less the encoded message: the error in each coefficient.
fn errors<W: Word>(toy: &Toy<W>, x: &Ciphertext<W>, z: &[Complex64]) -> Vec<f64> {
    let q = toy.context.rlwe().q(x.level());
    let mut phase = x.parts()[1].mul(&toy.secret.modulo_q(q));
    phase.add_assign(&x.parts()[0]);
    let message = toy.context.encoder().encode(&ours(z), x.scale()).expect("it fitted before");
    phase.sub_assign(&from_integers(q, &message).into_eval());
    centered_f64(&phase.into_coeff())
}

fn encryption_noise<W: Word>(chain: &(RlweSpec, Scale)) {
    let mut lottery = Lottery::new(4);
    let (mut secret, mut public, mut expected) = (0.0, 0.0, 0.0);
    let trials = 8;
    for trial in 0..trials {
        let toy = Toy::<W>::new(chain, trial);
        let z = slots(toy.context.slots(), &mut lottery);
        let level = usize::from(trial) % (toy.top() + 1);
        let e = errors(&toy, &toy.encrypt_at(&z, level, 100 + trial), &z);
        assert!(largest(e.iter().copied()) <= 21.0 && e.iter().any(|&e| e != 0.0));
        secret += e.iter().map(|e| e * e).sum::<f64>() / e.len() as f64;

        let b = public_key_b(&toy.context, &toy.secret, &toy.seeds, toy.top());
        let key = PublicKey::new(&toy.context, KEY_ID, toy.top(), b, toy.seeds.public()).expect("our own");
        assert_eq!((key.level(), key.key_id()), (toy.top(), KEY_ID));
        let randomness = Seed::from_bytes([200 + trial; 32]);
        let x = key.encrypt(&toy.context, &ours(&z), level, toy.scale, &randomness).expect("our own");
        let e = errors(&toy, &x, &z);
        public += e.iter().map(|e| e * e).sum::<f64>() / e.len() as f64;
        // v e + e_0 + e_1 s, v uniform ternary.
        expected += ERROR * (2.0 * toy.n() as f64 / 3.0 + 1.0 + toy.weight());
        toy.assert_holds(&x, &z, toy.slot(expected / f64::from(trial + 1)), "public key");
    }
    let ratio = secret / (f64::from(trials) * ERROR);
    assert!((0.93..1.07).contains(&ratio), "secret key: {ratio} of the formula");
    let ratio = public / expected;
    assert!((0.85..1.15).contains(&ratio), "public key: {ratio} of the formula");
}

#[test]
fn fresh_noise_is_that_of_the_formulas() {
    encryption_noise::<u32>(&single(512));
    encryption_noise::<u64>(&wide(512));
}

#[test]
fn a_wrong_key_decrypts_to_noise() {
    // The opposite of every law above: without it, a decryption that ignores its key would pass.
    let (toy, other) = (Toy::<u32>::new(&single(64), 51), Toy::<u32>::new(&single(64), 52));
    let mut lottery = Lottery::new(51);
    let z = slots(32, &mut lottery);
    let found = other.decrypt(&toy.encrypt(&z, 1));
    assert!(pairwise(&found, &z, |x, y| x - y).iter().filter(|e| e.norm() > 1.0).count() > 24);
    // A rotation with the key of another element likewise.
    let g = Automorphism::rotation(64, 1);
    let wrong = Automorphism::new(64, GaloisElement::rotation(2, 64));
    let out = toy.evaluator.automorphism(&toy.encrypt(&z, 1), &g, &toy.galois(&wrong, 3));
    let found = toy.decrypt(&out.expect("the shape is right"));
    let mut rotated = z.clone();
    rotated.rotate_left(1);
    assert!(pairwise(&found, &rotated, |x, y| x - y).iter().filter(|e| e.norm() > 1.0).count() > 24);
}
