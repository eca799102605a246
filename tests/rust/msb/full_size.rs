//! The 128-bit set for modular reduction: minutes, and 12 GB of memory.

use std::time::Instant;

use refloat::bootstrapping::ckks_msb::{
    MsbEvaluator, MsbKeys, MsbPreset, MsbSecretKey, Numbers, Radix, Readout, ResidueEvaluator, ResidueRing,
    Rounding,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, Complex, Scale};
use refloat_tests::measure::uniform;
use refloat_tests::precision::Precision;

#[test]
#[ignore = "minutes, and 12 GB of memory"]
fn msb16_keeps_its_promises() {
    let preset = MsbPreset::named("msb16").expect("a set");
    let params = preset.params().expect("a sound set");
    println!("{}", params.security().statement);
    let secret = MsbSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    let begin = Instant::now();
    let keys = MsbKeys::generate(&secret).expect("keys");
    let evaluator = MsbEvaluator::new(&params, PlaintextStorage::Evaluated).expect("a sound set");
    println!("keys and diagonals: {:.1} s, {} bytes", begin.elapsed().as_secs_f64(), keys.memory_bytes());
    let slots = params.slots();
    let encrypt = |values: &[f64], seed: u8| {
        let slots: Vec<Complex> = values.iter().map(|&x| x.into()).collect();
        secret.encrypt(&slots, params.levels().input, &Seed::from_bytes([seed; 32])).expect("in range")
    };
    let decrypt = |x: &Ciphertext<u64>| -> Vec<f64> {
        secret.decrypt(x).expect("of this key").reveal_to_key_owner().iter().map(|z| z.re).collect()
    };

    // A digit in the promised base, and more of them.
    for (seed, bases) in [&[32u32][..], &[128], &[32; 3], &[128, 128]].into_iter().enumerate() {
        let radix = Radix::new(bases).expect("bases");
        let modulus = radix.modulus();
        let wanted: Vec<f64> =
            (0..slots as u64).map(|k| (k * 7919 % modulus) as f64 / modulus as f64).collect();
        let x = encrypt(&wanted, 10 + seed as u8);
        let begin = Instant::now();
        let y = evaluator.int_boot(Numbers::up_to(&x, 1.0), &radix, &keys, &mut ()).expect("a readout");
        let seconds = begin.elapsed().as_secs_f64();
        let found = Precision::of(&decrypt(&y), &wanted);
        println!(
            "IntBoot {bases:?}: {:.2} / {:.2} bits, {seconds:.2} s",
            found.mean_bits(),
            found.max_bits()
        );
        let [mean, worst] = preset.promised.bits;
        assert!(found.mean_bits() >= mean && found.max_bits() >= worst, "{bases:?}: {found:?}");
        if bases == [preset.promised.base] {
            // Its tables are of degree 2 * 128 - 1.
            assert_eq!(y.level(), params.levels().output - 8);
        }
    }

    // Two numbers at once beside one after the other, in turns.
    let readout = Readout::digits(&Radix::new(&[32]).expect("bases")).expect("a readout");
    let wanted = [7919, 104_729].map(|factor: u64| -> Vec<f64> {
        (0..slots as u64).map(|k| (k * factor % 32) as f64 / 32.0).collect()
    });
    let inputs = [encrypt(&wanted[0], 30), encrypt(&wanted[1], 31)];
    let numbers = [&inputs[0], &inputs[1]].map(|x| Numbers::up_to(x, 1.0));
    let mut times = [f64::INFINITY; 2];
    for _ in 0..3 {
        let begin = Instant::now();
        for x in numbers {
            evaluator.read(x, &readout, Rounding::None, &keys, &mut ()).expect("digits");
        }
        times[0] = times[0].min(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        let found = evaluator.read_two(numbers, &readout, Rounding::None, &keys, &mut ()).expect("digits");
        times[1] = times[1].min(begin.elapsed().as_secs_f64());
        for (found, wanted) in found.iter().zip(&wanted) {
            let found = Precision::of(&decrypt(&found[0]), wanted);
            assert!(found.mean_bits() >= 35.0 && found.max_bits() >= 31.0, "{found:?}");
        }
    }
    println!("two numbers: {:.2} s apart, {:.2} s together, {:.3}", times[0], times[1], times[1] / times[0]);

    // A product of residues, and its reduction; what is left of errors is no more than is stated.
    for n in [24u64, 97] {
        let ring = ResidueRing::new(&params, n).expect("a modulus in range");
        let residues = ResidueEvaluator::new(&evaluator, &ring, &keys).expect("of this set");
        let integers: Vec<u64> = (0..slots as u64).map(|k| k * k % n).collect();
        let level = params.levels().output;
        let mut x = ring.encrypt(&secret, &integers, level, &Seed::from_bytes([40; 32])).expect("residues");
        let begin = Instant::now();
        let square = residues.square(&mut x, &mut ()).expect("room");
        let product = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let reduced = residues.reduce(&square, &mut ()).expect("room");
        println!("modulo {n}: product {product:.3} s, reduction {:.2} s", begin.elapsed().as_secs_f64());
        let errors = decrypt(reduced.ciphertext()).into_iter().map(|z| (z - z.round()).abs());
        assert!(errors.fold(0.0, f64::max) <= reduced.off());
        let found = ring.decrypt(&secret, &reduced).expect("of this key");
        assert!(found.reveal_to_key_owner().iter().zip(&integers).all(|(found, z)| *found == z * z % n));
    }

    // The largest integers: up to 2^20 times the modulus. As large as it can be, and one that is refused.
    let reduced = |modulus: u64, seed: u8| {
        let n = modulus as f64;
        let mut integers: Vec<f64> =
            uniform(slots, modulus).iter().map(|x| (x * n * f64::from(1 << 20)).round()).collect();
        integers[..4].copy_from_slice(&[0.0, -1.0, n, n - 1.0]);
        let x = encrypt(&integers.iter().map(|z| z / n).collect::<Vec<_>>(), seed);
        let x = x.relabelled(params.scale().div(Scale::new(n)));
        let begin = Instant::now();
        evaluator.int_mod(&x, modulus, &keys, &mut ()).map(|y| {
            let wanted: Vec<f64> = integers.iter().map(|z| z.rem_euclid(n)).collect();
            let errors = decrypt(&y).into_iter().zip(wanted).map(|(y, z)| (y - z) / n).collect::<Vec<_>>();
            (Precision::of_errors(errors), begin.elapsed().as_secs_f64())
        })
    };
    for (modulus, seed) in [(1000, 20), (1 << 15, 21), (1 << 17, 22)] {
        let (found, seconds) = reduced(modulus, seed).expect("within the rule");
        println!("IntMod {modulus}: {:.2} / {:.2} bits, {seconds:.2} s", found.mean_bits(), found.max_bits());
        assert!(found.max * (modulus as f64) < 0.25, "{modulus}: {found:?}");
    }
    assert_eq!(reduced(1 << 18, 23).map(|_| ()).unwrap_err().code(), "INVALID_ARGUMENT");
}
