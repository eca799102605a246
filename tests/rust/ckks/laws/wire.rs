//! Ciphertexts of every shape on the wire.

use num_complex::Complex64;
use refloat::schemes::ckks::Scale;
use refloat::wire::{ciphertext_from_bytes, ciphertext_len, ciphertext_to_bytes};
use refloat_tests::rns::Lottery;

use super::setup::{ERROR, Toy, slots, spec};

#[test]
fn ciphertexts_of_every_shape_survive_the_wire() {
    // Primes of one size: two components of three primes are as long as three of two.
    let chain = (spec(32, &[&[26.9], &[26.8], &[26.7], &[26.6]], &[30.5]), Scale::exp2(20.0));
    let toy = Toy::<u32>::new(&chain, 45);
    let mut lottery = Lottery::new(45);
    let z = slots(16, &mut lottery);
    let square: Vec<Complex64> = z.iter().map(|z| z * z).collect();
    for level in 0..=toy.top() {
        let x = toy.encrypt_at(&z, level, 1);
        for (x, expected) in [(&x, &z), (&toy.evaluator.tensor(&x, &x).expect("its own"), &square)] {
            let bytes = ciphertext_to_bytes(&toy.context, x).expect("our own");
            assert_eq!(bytes.len(), ciphertext_len(&toy.context, level, x.components()));
            let back = ciphertext_from_bytes(&toy.context, &bytes).expect("our own");
            assert_eq!((back.level(), back.components(), back.scale()), (level, x.components(), x.scale()));
            assert!(back.parts().iter().zip(x.parts()).all(|(a, b)| a.data() == b.data()));
            if level > 0 {
                toy.assert_holds(&back, expected, 4.0 * toy.slot(ERROR), "from the wire");
            }
        }
    }
    let lengths = [(2, 2), (1, 3)].map(|(level, parts)| ciphertext_len(&toy.context, level, parts));
    assert_eq!(lengths[0], lengths[1], "the shapes this test is about");
}
