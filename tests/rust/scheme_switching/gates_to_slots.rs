//! Bits of gates brought back into slots.

use refloat::bootstrapping::scheme_switching::Range;
use refloat::random::Seed;
use refloat_tests::measure::{assert_within, bits};

use super::setup::{encrypt, world};

#[test]
fn bits_come_back_in_their_slots() {
    let world = world();
    let most = world.params.most_bits();
    assert_eq!(most, 512);
    for count in [1, 2, 3, 64, 100, 512] {
        for pattern in 0..3 {
            let wanted = match pattern {
                0 => vec![1.0; count],
                1 => vec![0.0; count],
                _ => bits(count, count as u64),
            };
            let clear: Vec<bool> = wanted.iter().map(|&bit| bit > 0.5).collect();
            let encrypted = world.secret.cggi().encrypt_bits(&clear, &Seed::from_bytes([8; 32]));
            let slots = world.evaluator.to_slots(&encrypted, &mut ()).unwrap();
            assert_eq!(slots.level(), world.params.output_level());
            assert!(slots.scale().matches(world.params.ckks().scale()));
            let found = world.secret.ckks().decrypt(&slots).unwrap();
            let found = found.reveal_to_key_owner();
            let errors: Vec<f64> = found
                .iter()
                .zip(wanted.iter().chain(std::iter::repeat(&0.0)))
                .map(|(slot, bit)| (slot.re - bit).abs().max(slot.im.abs()))
                .collect();
            // Errors are squares of the noise: 25 of its variances for the worst. Fresh bits have next to none of their own.
            let expected = world.params.noise().bit_error(count, 0.0);
            let own = errors[..count].iter().fold(0.0f64, |worst, &x| worst.max(x));
            let rest = errors[count..].iter().fold(0.0f64, |worst, &x| worst.max(x));
            assert!(
                own < 25.0 * expected + 1e-6 && rest < 1e-6,
                "{count}: {own}, {rest}, {expected} expected"
            );
            if count == 512 {
                let mean = errors[..count].iter().sum::<f64>() / count as f64;
                assert_within(mean, expected, 0.2, "mean error of 512 bits");
            }
        }
    }
}

#[test]
fn what_was_ranked_masks_what_is_in_slots() {
    let world = world();
    let numbers = [0.3, 0.1, 0.8, 0.6];
    let x = encrypt(world, &numbers, world.params.input_level(), 9);
    let phases = world.evaluator.extract(&x, &[0, 1, 2, 3], Range::Unit, &mut ()).unwrap();
    let top = world.evaluator.top(&phases, 2, &mut ()).unwrap();
    let mask = world.evaluator.to_slots(&top, &mut ()).unwrap();
    let keys = world.evaluator.keys().ckks();
    let product = world.evaluator.ckks().multiply(&mask, &x, keys).unwrap();
    let found = world.secret.ckks().decrypt(&product).unwrap();
    for (slot, wanted) in found.reveal_to_key_owner().iter().zip([0.0, 0.0, 0.8, 0.6, 0.0]) {
        assert!((slot.re - wanted).abs() < 1e-3, "{slot:?}, {wanted}");
    }
}
