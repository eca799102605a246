//! Look-ups of integers of several digits by a tree: every input of random tables at toy size, the noise, and what is
//! refused.

use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys, CggiPackingKeys};
use refloat::params::cggi_preset;
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiCiphertext, CggiSecretKey, Encoding};

struct World {
    secret: CggiSecretKey,
    evaluator: CggiEvaluator,
    packing: CggiPackingKeys,
}

fn world(seed: u8) -> World {
    let params = cggi_preset("toy-fbs").unwrap().params().unwrap();
    let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([seed; 32]));
    let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret).unwrap());
    let packing = CggiPackingKeys::generate(&secret).unwrap();
    World { secret, evaluator, packing }
}

/// Looks up every integer of `digits` digits below t in a random table; returns the errors of the results, in turns.
fn every_input(world: &World, t: u32, digits: u32, output: Encoding) -> Vec<f64> {
    let World { secret, evaluator, packing } = world;
    let encoding = Encoding::Padded { messages: t };
    let mut coin = Seed::from_bytes([9; 32]).derive("refloat test: tree tables", &[t.into()]).stream();
    let table: Vec<u32> = (0..t.pow(digits)).map(|_| coin.below(output.messages())).collect();
    let mut errors = Vec::new();
    for m in 0..t.pow(digits) {
        let parts: Vec<u32> = (0..digits).map(|i| m / t.pow(i) % t).collect();
        let randomness = Seed::from_bytes([8; 32]).derive("refloat test: tree inputs", &[m.into()]);
        let x = secret.encrypt(encoding, &parts, &randomness).unwrap();
        let x: Vec<&CggiCiphertext> = x.iter().collect();
        let y = evaluator.look_up_tree(packing, &x, &table, output, &mut ()).unwrap();
        let wanted = table[m as usize];
        assert_eq!(secret.decrypt(&y), Ok(wanted), "t = {t}, {digits} digits, f({m})");
        let (numerator, denominator) = output.turns(wanted);
        let error = secret.inspect_phase(&y).unwrap() - numerator as f64 / denominator as f64;
        errors.push(error - error.round());
    }
    errors
}

#[test]
fn every_input_of_two_and_three_digits_is_found() {
    let world = world(1);
    every_input(&world, 4, 1, Encoding::Padded { messages: 4 });
    every_input(&world, 2, 3, Encoding::Padded { messages: 8 });
    every_input(&world, 4, 3, Encoding::Padded { messages: 4 });
    every_input(&world, 8, 2, Encoding::Bit);
    every_input(&world, 4, 2, Encoding::Cyclic { messages: 16 });
}

#[test]
fn the_noise_is_that_of_a_rotation_and_a_packing_for_each_digit() {
    // Bits are looked up one by one: 256 rotations with fresh noise each, then a packing, then a rotation.
    let world = world(2);
    let errors = every_input(&world, 16, 2, Encoding::Bit);
    let found = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
    let model = 2.0 * world.secret.params().noise().rotation + world.packing.variance();
    let ratio = found / model;
    println!("noise of a tree of two digits: {ratio:.2} of the model over {} results", errors.len());
    // 256 samples: a standard deviation of 9 %.
    assert!((0.65..1.35).contains(&ratio), "{ratio}");
}

#[test]
fn trees_refuse_what_does_not_fit() {
    let (own, other) = (world(3), world(4));
    let four = Encoding::Padded { messages: 4 };
    let x = own.secret.encrypt(four, &[1, 2], &Seed::from_bytes([7; 32])).unwrap();
    let x: Vec<&CggiCiphertext> = x.iter().collect();
    let code = |packing, digits: &[&CggiCiphertext], table: &[u32], output| {
        own.evaluator.look_up_tree(packing, digits, table, output, &mut ()).unwrap_err().code()
    };
    let table = [0; 16];
    assert_eq!(code(&own.packing, &x, &table[..15], four), "INVALID_ARGUMENT");
    assert_eq!(code(&own.packing, &[], &[], four), "INVALID_ARGUMENT");
    assert_eq!(code(&own.packing, &x, &[4; 16], four), "INVALID_ARGUMENT");
    assert_eq!(code(&other.packing, &x, &table, four), "PARAMS_MISMATCH");
    let bits = own.secret.encrypt_bits(&[true, false], &Seed::from_bytes([6; 32]));
    assert_eq!(code(&own.packing, &[&bits[0], &bits[1]], &[0; 4], four), "INVALID_ARGUMENT");
    assert_eq!(code(&own.packing, &[x[0], &bits[1]], &[0; 8], four), "INVALID_ARGUMENT");
    let three =
        own.secret.encrypt(Encoding::Padded { messages: 3 }, &[1, 2], &Seed::from_bytes([5; 32])).unwrap();
    assert_eq!(code(&own.packing, &[&three[0], &three[1]], &[0; 9], four), "INVALID_ARGUMENT");
    // More noise than the promise allows.
    let sharp = Encoding::Padded { messages: 64 };
    assert_eq!(code(&own.packing, &x, &table, sharp), "LIMIT");
    let params = cggi_preset("toy-bool-lmk").unwrap().params().unwrap();
    let lmk = CggiSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    assert_eq!(CggiPackingKeys::generate(&lmk).err().unwrap().code(), "INVALID_ARGUMENT");
}
