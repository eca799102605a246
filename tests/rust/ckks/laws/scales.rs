//! Scales as exact numbers, and the same ciphertexts over both words.

use num_bigint::BigInt;
use num_complex::Complex64;
use num_traits::Pow;
use num_traits::Signed;
use refloat::arith::Word;
use refloat::random::Seed;
use refloat::ring::{Automorphism, Poly};
use refloat::rlwe::RlweSpec;
use refloat::schemes::ckks::{PublicKey, Scale, public_key_b};
use refloat_tests::ring::product;
use refloat_tests::rns::Lottery;

use super::setup::{ERROR, KEY_ID, Toy, double, ours, single, slots, wide};

/// Exactly: a double as an integer over 2^1100.
fn exact(x: f64) -> BigInt {
    let (bits, sign) = (x.abs().to_bits(), if x < 0.0 { -1 } else { 1 });
    let exponent = (bits >> 52) as i32;
    let mantissa = (bits & ((1 << 52) - 1)) | (u64::from(exponent > 0) << 52);
    (BigInt::from(mantissa) * sign) << (exponent.max(1) - 1075 + 1100)
}

fn scales_are_exact<W: Word>(chain: &(RlweSpec, Scale)) {
    let toy = Toy::<W>::new(chain, 21);
    let mut lottery = Lottery::new(21);
    let z: Vec<Complex64> = slots(toy.context.slots(), &mut lottery).iter().map(|z| z / z.norm()).collect();
    let mut x = toy.encrypt(&z, 1);
    let (mut numerator, mut denominator) = (exact(toy.scale.to_f64()) >> 1100u32, BigInt::from(1));
    let mut expected = z.clone();
    for level in (1..=toy.top()).rev() {
        x = toy.evaluator.multiply(&x, &x, &toy.relinearization).expect("a level");
        numerator = Pow::pow(numerator, 2u32);
        denominator = Pow::pow(denominator, 2u32) * product(&chain.0.levels[level]);
        expected = expected.iter().map(|z| z * z).collect();
        let (high, low) = x.scale().parts();
        // |scale · denominator - numerator| <= numerator 2^-95, over 2^1100.
        let difference: BigInt = (exact(high) + exact(low)) * &denominator - (&numerator << 1100u32);
        assert!(difference.abs() << 95u32 <= &numerator << 1100u32, "scale at level {}", x.level());
    }
    assert_eq!(x.level(), 0);
    // The powers of two nearby would be off by the ratio of the scales.
    let (scale, depth) = (x.scale().to_f64(), toy.top() as f64);
    let noise = toy.slot(ERROR) * 2f64.powf(depth)
        + 2f64.powf(depth + 1.0) * (toy.n() as f64 * (toy.rounding() + toy.switching(toy.top()))).sqrt()
            / scale;
    assert!(noise < 1e-2, "the test has room: {noise}");
    toy.assert_holds(&x, &expected, noise, "the eighth power");
}

#[test]
fn scales_stay_exact_at_any_depth() {
    scales_are_exact::<u32>(&double(32));
    scales_are_exact::<u64>(&double(32));
    scales_are_exact::<u64>(&wide(32));
    scales_are_exact::<u32>(&single(32));
}

/// Residues and decryptions of a circuit with every operation.
fn transcript<W: Word>(chain: &(RlweSpec, Scale)) -> (Vec<u64>, Vec<[u64; 2]>) {
    let toy = Toy::<W>::new(chain, 31);
    let mut lottery = Lottery::new(31);
    let (x, y) = (slots(16, &mut lottery), slots(16, &mut lottery));
    let b = public_key_b(&toy.context, &toy.secret, &toy.seeds, toy.top());
    let key = PublicKey::new(&toy.context, KEY_ID, toy.top(), b, toy.seeds.public()).expect("our own");
    let randomness = Seed::from_bytes([7; 32]);
    let cy = key.encrypt(&toy.context, &ours(&y), toy.top(), toy.scale, &randomness).expect("our own");
    let g = Automorphism::rotation(32, 5);
    let ev = &toy.evaluator;
    let product = ev.multiply(&toy.encrypt(&x, 1), &cy, &toy.relinearization).expect("a level");
    let rotated = ev.automorphism(&product, &g, &toy.galois(&g, toy.top())).expect("the key");
    let out = ev.sub(&ev.negate(&rotated), &product).expect("same scale");
    let out = ev.rescale(&ev.multiply_plain(&out, &toy.plain(&y, 2)).expect("a level")).expect("a level");
    let residues = out.parts().iter().flat_map(Poly::data).map(|x| x.to_u64()).collect();
    (residues, toy.decrypt(&out).iter().map(|z| [z.re.to_bits(), z.im.to_bits()]).collect())
}

#[test]
fn both_words_compute_the_same_ciphertexts_and_decryptions() {
    for chain in [single(32), double(32)] {
        let (narrow, wide) = (transcript::<u32>(&chain), transcript::<u64>(&chain));
        assert!(narrow.0 == wide.0 && narrow.1 == wide.1);
        assert!(narrow.0.iter().any(|&x| x > 0));
    }
}
