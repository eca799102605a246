//! Conventional bootstrapping keeps its promise for every message, not for random ones alone.

use refloat::bootstrapping::ckks_conventional::{
    ArcsineSpec, ConventionalBootstrapper, ConventionalEvaluator, ConventionalKeys, ConventionalParams,
    ConventionalSecretKey, ConventionalSpec, FittedReduction, Reduction, StageOrder,
};
use refloat::bootstrapping::{MetaBootstrapper, Method, complex_messages};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::params::{ConventionalPreset, conventional_preset};
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, Complex};
use refloat_tests::precision::Precision;

/// Bits of the mean and of the largest error; none where one is not a number.
fn bits(x: &[Complex], y: &[Complex]) -> [f64; 2] {
    let precision = Precision::of_slots(x, y);
    [precision.mean_bits(), precision.max_bits()]
}

/// Bootstraps every message under a fresh key: the message, and bits of the mean and of the largest error.
fn measured(params: &ConventionalParams, seed: u8) -> Vec<(&'static str, [f64; 2])> {
    let secret = ConventionalSecretKey::generate(params, &Seed::from_bytes([seed; 32]));
    let keys = ConventionalKeys::generate(&secret).unwrap();
    let evaluator = ConventionalEvaluator::new(params, PlaintextStorage::Evaluated).unwrap();
    let level = params.levels().input;
    complex_messages(params.slots(), u64::from(seed))
        .into_iter()
        .map(|message| {
            let x = secret.encrypt(&message.slots, level, &Seed::from_bytes([seed + 100; 32])).unwrap();
            let refreshed = evaluator.bootstrap(&x, &keys, &mut ()).unwrap();
            let found = secret.decrypt(&refreshed).unwrap();
            (message.name, bits(found.reveal_to_key_owner(), &message.slots))
        })
        .collect()
}

#[test]
fn every_toy_keeps_its_promise_for_the_messages_it_is_made_for() {
    for preset in ConventionalPreset::all().iter().filter(|preset| !preset.secure()) {
        let [mean, worst] = preset.promised.bits;
        let every = preset.promise().holds_for_every_message();
        let found = measured(&preset.params().unwrap(), 1);
        for (name, bits) in &found {
            println!("{}: {name}: {:.2} / {:.2}", preset.name, bits[0], bits[1]);
        }
        for (name, bits) in found {
            let promised = every || name == "uniform in the square";
            assert!(!promised || bits[0] >= mean && bits[1] >= worst, "{}, {name}: {bits:?}", preset.name);
        }
    }
}

#[test]
fn two_harmonics_after_slots_to_coefficients_hold_for_every_message() {
    // No preset has them: the coefficients to be reduced are the slots.
    let preset = conventional_preset("toy-conventional11").unwrap();
    let spec = ConventionalSpec { order: StageOrder::SlotsToCoeffsFirst, ..(preset.spec)() };
    let [mean, worst] = preset.promised.bits;
    for (name, bits) in measured(&ConventionalParams::new(&spec).unwrap(), 2) {
        println!("{name}: {:.2} / {:.2}", bits[0], bits[1]);
        assert!(bits[0] >= mean && bits[1] >= worst, "{name}: {bits:?}");
    }
}

#[test]
fn rounds_and_chains_keep_their_promise_for_messages_that_are_not_random() {
    let preset = conventional_preset("toy-conventional11").unwrap();
    let params = preset.params().unwrap();
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
    let keys = ConventionalKeys::generate(&secret).unwrap();
    let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated).unwrap();
    let method = ConventionalBootstrapper { evaluator: &evaluator, keys: &keys };
    let messages = complex_messages(params.slots(), 4);
    let message = |name| messages.iter().find(|message| message.name == name).unwrap();
    for name in ["all 1", "alternating 1 + i, -1 - i", "uniform in [0, 1]"] {
        let slots = &message(name).slots;
        let found = |x: &Ciphertext<u64>| bits(secret.decrypt(x).unwrap().reveal_to_key_owner(), slots);
        let x = secret.encrypt(slots, 0, &Seed::from_bytes([6; 32])).unwrap();
        // A second round gains its bits, up to the noise of the input and its own.
        let gain = preset.gain_bits().unwrap();
        let once = found(&method.bootstrap(&x, &mut ()).unwrap());
        let twice = MetaBootstrapper::new(&method, 2, gain).unwrap();
        let twice = found(&twice.bootstrap(&x, &mut ()).unwrap());
        let wanted = (once[1] + f64::from(gain)).min(found(&x)[1]) - 2.0;
        assert!(twice[1] > wanted, "{name}: {once:?}, then {twice:?}, of {wanted} bits");
        // Errors of a chain add up at worst.
        let mut y = x;
        for k in 1..=8 {
            y = method.bootstrap(&y, &mut ()).unwrap();
            let [mean, worst] = preset.promise().after(k).precision().unwrap();
            let kept = found(&y);
            assert!(kept[0] >= mean && kept[1] >= worst, "{name}, {k} in a row: {kept:?}");
            y = evaluator.ckks().drop_to_level(&y, 0).unwrap();
        }
    }
}

#[test]
fn no_set_promises_or_gains_more_than_its_reduction_is_proven_to_leave() {
    for preset in ConventionalPreset::readable() {
        let spec = (preset.spec)();
        let reduction = FittedReduction::new(&spec.reduction).unwrap();
        let proven = -reduction.proven_error(spec.log_message_ratio).log2();
        let (worst, gain) = (preset.promised.bits[1], f64::from(preset.gain_bits().unwrap()));
        println!("{}: {worst} promised, {proven:.2} proven, a round gains {gain}", preset.name);
        assert!(!preset.promise().holds_for_every_message() || worst < proven, "{}: {proven}", preset.name);
        assert!(gain <= worst && gain <= proven && gain > worst.min(proven) - 1.0, "{}: {gain}", preset.name);
        // What the set says of slots, in numbers and in words.
        let [fewest, most] = preset.promised.log_slots;
        assert!((fewest..=most).contains(&spec.log_slots), "{}", preset.name);
        let said = |log: u32| preset.title.contains(&format!("{}", 1u32 << log));
        let retired = preset.successor().is_some();
        assert!(
            fewest == most || retired || [fewest, spec.log_slots, most].into_iter().all(said),
            "{}",
            preset.name
        );
        assert!(preset.params_with_slots(fewest).is_ok() && preset.params_with_slots(most).is_ok());
    }
    let gain = |name| conventional_preset(name).unwrap().gain_bits().unwrap();
    // 2^-11.78 is what a sine takes off the largest coefficient, whatever random messages keep.
    assert_eq!(gain("toy-conventional11-sine"), 11);
    assert_eq!(gain("toy-conventional11"), 28);
    assert_eq!(gain("n16-precise"), 25);
    assert_eq!(gain("n16-sparse"), 26);
}

#[test]
fn an_arcsine_that_ends_below_the_largest_coefficient_is_for_random_messages() {
    let every = |log_distance| {
        let mut spec = (conventional_preset("toy-conventional10-slots-first").unwrap().spec)();
        let Reduction::Sine(sine) = &mut spec.reduction else { unreachable!("a sine") };
        sine.arcsine = Some(ArcsineSpec { degree: 7, log_distance });
        spec.holds_for_every_message()
    };
    assert_eq!([7, 8].map(every), [true, false]);
}
