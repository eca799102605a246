//! Conventional bootstrapping keeps its promise for every message, not for random ones alone.

use refloat::bootstrapping::ckks_conventional::ConventionalBootstrapper;
use refloat::bootstrapping::ckks_conventional::{
    ConventionalEvaluator, ConventionalKeys, ConventionalSecretKey,
};
use refloat::bootstrapping::{MetaBootstrapper, Method, complex_messages};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::params::{ConventionalPreset, conventional_preset, conventional_presets};
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, Complex};

/// Bits of the mean and of the largest error.
fn bits(x: &[Complex], y: &[Complex]) -> [f64; 2] {
    let errors: Vec<f64> = x.iter().zip(y).map(|(&a, &b)| (a - b).abs()).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    [-mean.log2(), -errors.iter().copied().fold(0.0, f64::max).log2()]
}

/// Bootstraps every message under a fresh key: the message, and bits of the mean and of the largest error.
fn measured(preset: &ConventionalPreset, seed: u8) -> Vec<(&'static str, [f64; 2])> {
    let params = preset.params().unwrap();
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([seed; 32]));
    let keys = ConventionalKeys::generate(&secret).unwrap();
    let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated).unwrap();
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
    for preset in conventional_presets().iter().filter(|preset| !preset.secure()) {
        let [mean, worst] = preset.promised_bits;
        let every = preset.promised_for().starts_with("every");
        let found = measured(preset, 1);
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
        // A second round does not lose what the first has.
        let once = found(&method.bootstrap(&x, &mut ()).unwrap());
        let twice = MetaBootstrapper::new(&method, 2, preset.gain_bits()).unwrap();
        let twice = found(&twice.bootstrap(&x, &mut ()).unwrap());
        assert!(twice[1] > once[1], "{name}: {once:?}, then {twice:?}");
        // Errors of a chain add up at worst.
        let mut y = x;
        for k in 1..=8 {
            y = method.bootstrap(&y, &mut ()).unwrap();
            let [mean, worst] = preset.promised_bits_after(k);
            let kept = found(&y);
            assert!(kept[0] >= mean && kept[1] >= worst, "{name}, {k} in a row: {kept:?}");
            y = evaluator.ckks().drop_to_level(&y, 0).unwrap();
        }
    }
}

#[test]
fn a_round_gains_no_more_than_is_proven() {
    let gain = |name| conventional_preset(name).unwrap().gain_bits();
    // 2^-11.78 is what a sine takes off the largest coefficient, whatever random messages keep.
    assert_eq!(gain("toy-conventional11-sine"), 11);
    assert_eq!(gain("toy-conventional11"), 28);
    assert_eq!(gain("n16-precise"), 25);
}
