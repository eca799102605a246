//! The noise of every stage against its law and its estimate, in rings of every kind.

use refloat::arith::Word;
use refloat::bootstrapping::bgv::{
    Approach, BgvPreset, BgvSpec, COEFFS_TO_SLOTS, DIGIT_REMOVAL, TAKE_OFF, UNPACK,
};
use refloat_tests::bgv::{
    SAMPLES, log_deviation, odd_index, odd_index_by, small_prime, tiny, tiny_by, two_axes, two_axes_by,
};
use refloat_tests::bgv_noise::of_stages;
use refloat_tests::keyed_bgv::KeyedBgv;

use super::stages::of_32_slots;

fn named(name: &str) -> BgvSpec {
    (BgvPreset::named(name).expect("a set").spec)()
}

/// Number of keys: all noise under one key shares the length of its secrets.
const KEYS: u8 = 8;

/// Bits that the noise of a stage may be above or below its law.
const OFF: f64 = 0.15;

/// The same in a ring of odd index, where coefficients of one ciphertext depend on each other.
const OFF_IN_ODD: f64 = 0.2;

/// Bits that estimates are above the law by construction. They count the worst case where the law has the mean: that all images of an
/// unpacked noise, all packed noises, or the noises of a message and of the digits taken off it are largest in one embedding. The same
/// goes for all terms of a stage of few diagonals.
fn slack<W: Word>(set: &KeyedBgv<W>, stage: &str) -> f64 {
    let context = set.params.context();
    let d = context.slot_degree() as f64;
    match stage {
        UNPACK if context.hypercube().is_none() && d > 1.0 => {
            // All |Z^l - 1| together, over a sum of m' of which the noise is one coordinate.
            (2.0 / ((d + 1.0) * (std::f64::consts::FRAC_PI_2 / (d + 1.0)).tan())).log2()
        }
        UNPACK | DIGIT_REMOVAL => 0.5 * d.log2(),
        COEFFS_TO_SLOTS => 0.2,
        TAKE_OFF => 0.5,
        _ => 0.0,
    }
}

/// The noise of `samples` coefficients against both sides of the law, and of the estimate. The estimate may be too large by
/// `slack`, and by 0.35 bits since it adds up roundings and key switches instead of their squares.
fn noise_of_stages_is_as_it_should_be(spec: &BgvSpec, samples: usize) {
    let sets: Vec<_> = (0..KEYS).map(|key| KeyedBgv::<u64>::seeded(spec, key)).collect();
    let encoder = sets[0].params.context().message_modulus().encoder();
    let off = if sets[0].params.context().hypercube().is_some() { OFF_IN_ODD } else { OFF };
    let runs = samples.div_ceil(usize::from(KEYS) * spec.chain.n) as u64;
    let mut found: Vec<(&str, Vec<f64>, Vec<f64>)> = Vec::new();
    for (set, i) in sets.iter().flat_map(|set| (0..runs).map(move |i| (set, i))) {
        let (mut message, levels) = (set.random(200 + i), set.params.levels());
        // Fresh ones, and ones that were squared.
        let mut x = set.encrypt(&message, if i % 2 == 0 { levels.input } else { levels.output }, i);
        while x.level() > levels.input {
            x = set.square(&x);
            message = encoder.multiply(&message, &message).expect("whole slots");
        }
        let (out, stages) = of_stages(set, &x);
        assert_eq!(set.decrypt(&out), message);
        for (i, left) in stages.into_iter().enumerate() {
            if found.len() <= i {
                found.push((left.stage, Vec::new(), Vec::new()));
            }
            found[i].1.extend(left.over_law);
            found[i].2.extend(left.over_estimate);
        }
    }
    for (stage, over_law, over_estimate) in found {
        let name = format!("{}, N = {}, {stage}", spec.name, spec.chain.n);
        assert!(over_law.len() >= samples);
        let (law, estimate) = (log_deviation(&over_law), log_deviation(&over_estimate));
        println!("{name}: {law:+.2} bits to the law, {estimate:+.2} to the estimate");
        assert!(law.abs() < off, "{name}: {law:.2} bits above its law");
        let least = -slack(&sets[0], stage) - 0.35;
        assert!((least..off).contains(&estimate), "{name}: {estimate:.2} bits above the estimate");
    }
}

#[test]
fn noise_of_one_axis_is_as_it_should_be() {
    for spec in [tiny(15), of_32_slots(), named("toy-bgv7"), named("toy-bgv10")] {
        noise_of_stages_is_as_it_should_be(&spec, SAMPLES);
    }
    noise_of_stages_is_as_it_should_be(&tiny_by(Approach::Beside { step: 15 }, 7, 14), SAMPLES);
    noise_of_stages_is_as_it_should_be(&tiny_by(Approach::Multiples, 15, 32), SAMPLES);
}

#[test]
fn noise_of_two_axes_is_as_it_should_be() {
    for spec in [two_axes((32, 5), 97, 0.0), two_axes((32, 3), 257, 1.0)] {
        noise_of_stages_is_as_it_should_be(&spec, SAMPLES);
    }
    noise_of_stages_is_as_it_should_be(&two_axes_by(Approach::Multiples, 9, (32, 5), 97, 0.0), SAMPLES);
}

#[test]
fn noise_of_an_odd_index_is_as_it_should_be() {
    noise_of_stages_is_as_it_should_be(&odd_index((215, 8191, 1), false), SAMPLES);
    noise_of_stages_is_as_it_should_be(&odd_index((129, 257, 2), true), SAMPLES);
    noise_of_stages_is_as_it_should_be(&small_prime(2, 4, 85, 2, false), SAMPLES);
}

/// All other kinds of rings and approaches.
#[test]
#[ignore = "more than a minute"]
fn noise_of_slower_sets_is_as_it_should_be() {
    noise_of_stages_is_as_it_should_be(&named("toy-bgv-gf4"), SAMPLES);
    noise_of_stages_is_as_it_should_be(&two_axes((128, 17), 113, 3.0), SAMPLES);
    let beside = two_axes_by(Approach::Beside { step: 7 }, 3, (32, 5), 97, 0.0);
    noise_of_stages_is_as_it_should_be(&beside, SAMPLES);
    for place in [(205, 8191, 1), (129, 257, 2), (291, 65537, 1), (301, 127, 2)] {
        noise_of_stages_is_as_it_should_be(&odd_index(place, false), SAMPLES);
    }
    for place in [(215, 8191, 1), (205, 8191, 1), (291, 65537, 1), (301, 127, 2)] {
        noise_of_stages_is_as_it_should_be(&odd_index(place, true), SAMPLES);
    }
    for general in [false, true] {
        let beside = odd_index_by(Approach::Beside { step: 19 }, (215, 8191, 1), general);
        noise_of_stages_is_as_it_should_be(&beside, SAMPLES);
        let multiples = odd_index_by(Approach::Multiples, (129, 257, 2), general);
        noise_of_stages_is_as_it_should_be(&multiples, SAMPLES);
    }
    for (prime, digits, index, exponent, general) in [
        (2, 4, 85, 1, true),
        (2, 4, 255, 1, false),
        (2, 4, 255, 2, true),
        (5, 2, 123, 2, false),
        (5, 2, 123, 1, true),
    ] {
        noise_of_stages_is_as_it_should_be(&small_prime(prime, digits, index, exponent, general), SAMPLES);
    }
}
