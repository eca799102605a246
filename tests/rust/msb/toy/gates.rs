//! Bits: gates as tables, and bootstrapping without one.

use refloat::schemes::ckks::{Ciphertext, Scale};
use refloat_tests::precision::Precision;
use refloat_tests::refusals::refused;

use super::{Setup, at_least, integers, toy10, toy11};

/// Bits at the scale of the set over `modulus`.
fn encrypt(setup: &Setup, bits: &[u64], modulus: f64, level: usize) -> Ciphertext<u64> {
    let fractions: Vec<f64> = bits.iter().map(|&bit| bit as f64 / modulus).collect();
    setup.encrypt(&fractions, level).relabelled(setup.params.scale().div(Scale::new(modulus)))
}

fn bit(integers: &[u64], i: u32) -> Vec<u64> {
    integers.iter().map(|j| j >> i & 1).collect()
}

#[test]
fn every_gate_of_two_bits_comes_from_one_pass() {
    let setup = toy11();
    let integers = integers(setup.slots(), 4);
    let [x, y] = [0, 1].map(|i| encrypt(setup, &bit(&integers, i), 4.0, setup.input()));
    let gates: Vec<u128> = (0..16).collect();
    let found = setup.evaluator.gate_boot(&[&x, &y], &gates, &setup.keys, &mut ()).unwrap();
    for (gate, found) in gates.iter().zip(&found) {
        let wanted: Vec<f64> = integers.iter().map(|&j| (gate >> j & 1) as f64).collect();
        let what = format!("gate {gate:04b}");
        // Four times less than of fractions.
        at_least(Precision::of(&setup.decrypt(found), &wanted), [35.0, 32.0], &what);
        assert!(found.scale().matches(x.scale()), "{what}");
    }
}

/// Numbers of 8 bits are added by full adders, each one pass, and their results go in again as they are.
#[test]
fn full_adders_add() {
    const SUM: u128 = 0b1001_0110;
    const CARRY: u128 = 0b1110_1000;
    let setup = toy11();
    let [a, b] = [3, 5]
        .map(|factor| integers(setup.slots(), 256).iter().map(|j| j * factor % 256).collect::<Vec<u64>>());
    let mut carry = encrypt(setup, &vec![0; setup.slots()], 8.0, setup.input());
    for i in 0..8 {
        let [x, y] = [&a, &b].map(|numbers| encrypt(setup, &bit(numbers, i), 8.0, setup.input()));
        let mut both =
            setup.evaluator.gate_boot(&[&x, &y, &carry], &[SUM, CARRY], &setup.keys, &mut ()).unwrap();
        carry = both.pop().unwrap();
        let sum: Vec<u64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        let found: Vec<u64> = setup.decrypt(&both[0]).iter().map(|bit| bit.round() as u64).collect();
        assert!(found == bit(&sum, i), "bit {i}");
        if i == 7 {
            let found: Vec<u64> = setup.decrypt(&carry).iter().map(|bit| bit.round() as u64).collect();
            assert!(found == bit(&sum, 8), "carry");
        }
    }
}

#[test]
fn bits_are_refreshed_without_a_table() {
    let setup = toy11();
    let (bits, top) = (bit(&integers(setup.slots(), 4), 0), setup.params.levels().output);
    let wanted: Vec<f64> = bits.iter().map(|&bit| bit as f64).collect();
    // At half the scale as they are; at that of the set by a constant.
    let halves = encrypt(setup, &bits, 2.0, setup.input());
    let whole = encrypt(setup, &bits, 1.0, setup.input() + 1);
    for x in [&halves, &whole] {
        let y = setup.evaluator.bin_boot(x, &setup.keys, &mut ()).unwrap();
        assert!(y.level() == top && y.scale().matches(setup.params.scale()));
        at_least(Precision::of(&setup.decrypt(&y), &wanted), [31.0, 27.5], "BinBoot");
    }
    // An error of 2^-8 is squared: (pi e / 2)^2 and a bit is left.
    let off: Vec<f64> =
        wanted.iter().enumerate().map(|(k, b)| 0.5 * (b + (1 - (k as i32 & 2)) as f64 / 256.0)).collect();
    let x = setup.encrypt(&off, setup.input()).relabelled(halves.scale());
    let y = setup.evaluator.bin_boot(&x, &setup.keys, &mut ()).unwrap();
    let found = Precision::of(&setup.decrypt(&y), &wanted);
    println!("BinBoot of bits that are off by 2^-8: {:.2} / {:.2}", found.mean_bits(), found.max_bits());
    assert!(found.max < 5.0 / 65536.0 && found.mean > 1.0 / 65536.0, "{found:?}");
    // Again and again, with a product between.
    let mut x = setup.evaluator.bin_boot(&halves, &setup.keys, &mut ()).unwrap();
    for _ in 0..3 {
        x = setup.evaluator.multiply(&x, &x, &setup.keys).unwrap();
        x = setup.evaluator.bin_boot(&x, &setup.keys, &mut ()).unwrap();
    }
    at_least(Precision::of(&setup.decrypt(&x), &wanted), [31.0, 27.5], "BinBoot, four times");
}

#[test]
fn gates_that_do_not_fit_are_refused() {
    let setup = toy10();
    let x = encrypt(setup, &[1, 0], 4.0, setup.input());
    let gate = |inputs: &[&Ciphertext<u64>], gates: &[u128]| {
        setup.evaluator.gate_boot(inputs, gates, &setup.keys, &mut ())
    };
    refused(gate(&[], &[1]), "INVALID_ARGUMENT", &["without inputs"]);
    refused(gate(&[&x; 6], &[1]), "INVALID_ARGUMENT", &["6 bits", "up to 5"]);
    refused(gate(&[&x, &x], &[1, 0b10000]), "INVALID_ARGUMENT", &["gate 1", "0b10000", "4 values"]);
    refused(gate(&[&x, &x], &[]), "INVALID_ARGUMENT", &["0 tables"]);
    // At the scale of two bits three are not read without a level.
    refused(gate(&[&x, &x, &x], &[1]), "LEVEL_MISMATCH", &["level 2"]);
    let other = x.clone().relabelled(setup.params.scale());
    refused(gate(&[&x, &other], &[1]), "SCALE_MISMATCH", &["scale"]);
    refused(gate(&[&encrypt(toy11(), &[1], 4.0, 3)], &[1]), "PARAMS_MISMATCH", &["toy-msb10"]);
    let low = encrypt(setup, &[1], 1.0, setup.input());
    refused(setup.evaluator.bin_boot(&low, &setup.keys, &mut ()), "LEVEL_MISMATCH", &["level 2"]);
}
