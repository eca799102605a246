//! META-BTS over both CKKS methods: each round gains the bits it promises, until the noise of the input.

use refloat::Error;
use refloat::bootstrapping::ckks_conventional::{
    ConventionalBootstrapper, ConventionalEvaluator, ConventionalKeys, ConventionalSecretKey,
};
use refloat::bootstrapping::ckks_ship::ShipBootstrapper;
use refloat::bootstrapping::method::SlotMode;
use refloat::bootstrapping::{META_CORRECT, MetaBootstrapper, MetaRun, Method, Rounds};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::params::conventional_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::Ciphertext;
use refloat::trace::{Observer, StageEvent};
use refloat_tests::chain::some_slots;
use refloat_tests::measure::uniform;
use refloat_tests::precision::Precision;
use refloat_tests::toy::{Setup, grouped_spec};

/// Stages as they end, with their levels.
#[derive(Default)]
struct Recorder(Vec<(String, usize)>);

impl Observer for Recorder {
    fn event(&mut self, event: &StageEvent) -> std::ops::ControlFlow<()> {
        if let StageEvent::Exit { stage, level, .. } = event {
            self.0.push(((*stage).to_string(), *level));
        }
        std::ops::ControlFlow::Continue(())
    }
}

#[test]
fn ship_gains_bits_by_a_second_round() {
    // The chain of ship14 at degree 2^10: one bootstrap is worth about 19 bits, the encoding 29.
    let setup = Setup::new(grouped_spec(), 1);
    let method = ShipBootstrapper { evaluator: &setup.evaluator, keys: &setup.keys, mode: SlotMode::Real };
    let values = uniform(setup.evaluator.params().slots(), 3);
    let fresh = setup.encrypt(&values, SlotMode::Real);
    let x = setup.evaluator.exhaust(&fresh).expect("fresh");
    let bits = |x: &Ciphertext| Precision::of(&setup.decrypt(x, SlotMode::Real), &values);
    let (input, single) = (bits(&x), bits(&method.bootstrap(&x, &mut ()).expect("an exhausted one")));
    let gain = single.max_bits().floor() as u32 - 1;
    let meta = MetaBootstrapper::new(&method, 2, gain).expect("two rounds");
    let mut recorder = Recorder::default();
    let refreshed = meta.bootstrap(&x, &mut recorder).expect("an exhausted one");
    assert_eq!(
        (refreshed.level(), meta.output_level()),
        (method.output_level() - 1, method.output_level() - 1)
    );
    assert!(refreshed.scale().matches(x.scale()));
    let found = bits(&refreshed);
    assert!(
        found.rms_bits() > (input.rms_bits() - 2.0).min(single.rms_bits() + f64::from(gain) - 1.0),
        "{found}"
    );
    assert!(found.max_bits() > single.max_bits() + 5.0, "{found}");
    let expected: Vec<&str> = meta.stages().iter().map(|stage| stage.id).collect();
    assert_eq!(recorder.0.iter().map(|(stage, _)| stage.as_str()).collect::<Vec<_>>(), expected);
    assert_eq!(recorder.0.last().expect("stages"), &(META_CORRECT.to_string(), refreshed.level()));
}

#[test]
fn conventional_bootstrapping_gains_bits_by_every_round() {
    rounds_gain_bits("toy-conventional11");
}

#[test]
fn few_slots_gain_bits_by_every_round() {
    rounds_gain_bits("toy-conventional10-sparse");
}

fn rounds_gain_bits(set: &str) {
    let preset = conventional_preset(set).expect("a preset");
    let params = preset.params().expect("a sound set");
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([4; 32]));
    let keys = ConventionalKeys::generate(&secret).expect("keys");
    let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated).expect("an evaluator");
    let method = ConventionalBootstrapper { evaluator: &evaluator, keys: &keys };
    let values = some_slots(params.slots(), 9);
    let x = secret.encrypt(&values, 0, &Seed::from_bytes([6; 32])).expect("slots of size one");
    let bits = |x: &Ciphertext<u64>| {
        let slots = secret.decrypt(x).expect("our own");
        Precision::of_slots(slots.reveal_to_key_owner(), &values)
    };
    let (input, single) = (bits(&x), bits(&method.bootstrap(&x, &mut ()).expect("an exhausted one")));
    // Few bits a round, and what the set gains: a correction is then as large as the input.
    for (rounds, gain) in [(2, 4), (3, 4), (2, preset.gain_bits().expect("fitted"))] {
        let meta = MetaBootstrapper::new(&method, rounds, gain).expect("rounds");
        assert_eq!(meta.gained_bits(), (rounds - 1) * gain);
        let refreshed = meta.bootstrap(&x, &mut ()).expect("an exhausted one");
        assert_eq!(refreshed.level(), method.output_level() - 1);
        assert!(refreshed.scale().matches(x.scale()));
        let found = bits(&refreshed);
        let gained = single.rms_bits() + f64::from(meta.gained_bits());
        assert!(
            found.rms_bits() > gained.min(input.rms_bits() - 1.0) - 1.0,
            "{rounds} rounds of {gain}: {found}"
        );
    }
}

#[test]
fn one_round_is_the_method_and_bad_numbers_are_refused() {
    let setup = Setup::new(grouped_spec(), 2);
    let method = ShipBootstrapper { evaluator: &setup.evaluator, keys: &setup.keys, mode: SlotMode::Real };
    let meta = MetaBootstrapper::new(&method, 1, 10).expect("one round");
    assert_eq!((meta.output_level(), meta.stages().len()), (method.output_level(), method.stages().len()));
    let x = setup.evaluator.exhaust(&setup.encrypt(&[0.5], SlotMode::Real)).expect("fresh");
    let rounds = Rounds::new(2, 10).expect("two rounds");
    let mut run = MetaRun::new(method.ckks(), rounds, [1, 2], &x).expect("a level for a correction");
    assert!(run.input().expect("the input").is_some());
    run.take(method.bootstrap(&x, &mut ()).expect("an exhausted one"), &mut ()).expect("the first round");
    assert!(run.input().expect("a correction").is_some());
    assert_eq!(run.finish().err().map(|error| error.code()), Some("INVALID_ARGUMENT"), "a round is left");
    let flat = MetaRun::new(method.ckks(), rounds, [1, 1], &x).err().expect("no level").to_string();
    assert!(flat.contains("2 rounds") && flat.contains("level 2"), "{flat}");
    assert_eq!([Rounds::most(1), Rounds::most(10), Rounds::most(24), Rounds::most(61)], [8, 7, 3, 1]);
    for (rounds, gain) in [(0, 10), (9, 1), (2, 0), (3, 31), (2, u32::MAX)] {
        let error = MetaBootstrapper::new(&method, rounds, gain).err().map(|error| error.code());
        assert_eq!(error, Some("INVALID_ARGUMENT"), "{rounds} rounds of {gain}");
    }
    let nested = MetaBootstrapper::new(&method, 2, 10).expect("two rounds");
    assert!(matches!(MetaBootstrapper::new(&nested, 2, 10), Err(Error::LevelMismatch(_))));
}
