//! A bootstrap as a run: the same bits whatever computes it, the announced stages in order, the
//! counted work, cancellation, and refusal of what does not belong to it.

use std::sync::Arc;

use rayon::ThreadPoolBuilder;
use refloat::Error;
use refloat::bootstrapping::ckks_ship::{
    CommonKeys, KeySource, ShipEvaluator, ShipKeys, ShipParams, ShipRun, ShipSecretKey, TrackKeys,
};
use refloat::bootstrapping::method::SlotMode;
use refloat::params::ship_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::Ciphertext;
use refloat::trace::{Observer, StageEvent};
use refloat::wire::{WireWord, ciphertext_to_bytes};
use refloat_tests::backends::answers;
use refloat_tests::events::Recorder;
use refloat_tests::measure::uniform;
use refloat_tests::toy::toy;

#[test]
fn work_is_what_the_formulas_count() {
    let setup = toy();
    let mut recorder = Recorder::default();
    let input = setup.encrypt(&uniform(512, 36), SlotMode::Real);
    setup.evaluator.bootstrap(&input, SlotMode::Real, &setup.keys, &mut recorder).unwrap();
    let work = |stage: &str| {
        recorder.0.iter().find_map(|event| match event {
            StageEvent::Exit { stage: s, counters, .. } if *s == stage => Some(*counters),
            _ => None,
        })
    };
    let rotations = work("blind_rotate").expect("the stage was reported");
    assert_eq!((rotations.ntt, rotations.limb_mac), (2_970, 21_600));
    // 32 baby and 16 giant steps at two primes, two special ones. Transforms: 8 a decomposition, 4 a division of
    // a baby step's component, 4 at the end.
    let first = work("slots_to_coeffs").expect("the stage was reported");
    assert_eq!(first.ntt, 8 + 31 * 2 * 4 + 15 * 8 + 2 * 4);
    // Products at two primes; two digits a key, at four.
    assert_eq!(first.limb_mac, 2 * 512 * 2 + (31 + 15) * 2 * 2 * 4);
}

#[test]
fn events_follow_the_announced_stages() {
    let setup = toy();
    let mut recorder = Recorder::default();
    let input = setup.encrypt(&uniform(512, 37), SlotMode::Real);
    setup.evaluator.bootstrap(&input, SlotMode::Real, &setup.keys, &mut recorder).unwrap();
    let announced: Vec<&str> = setup.evaluator.params().stages().iter().map(|s| s.id).collect();
    let entered: Vec<&str> =
        recorder.0.iter().filter(|e| matches!(e, StageEvent::Enter { .. })).map(StageEvent::stage).collect();
    let left: Vec<&str> =
        recorder.0.iter().filter(|e| matches!(e, StageEvent::Exit { .. })).map(StageEvent::stage).collect();
    assert_eq!((&entered, &left), (&announced, &announced));
    for (stage, parts) in [("blind_rotate", 15), ("product_tree", 4)] {
        let progress: Vec<(usize, usize)> = recorder
            .0
            .iter()
            .filter_map(|event| match *event {
                StageEvent::Progress { stage: s, done, total } if s == stage => Some((done, total)),
                _ => None,
            })
            .collect();
        assert!(progress.is_sorted() && progress.iter().all(|p| p.1 == parts), "{progress:?}");
        assert_eq!(progress.last(), Some(&(parts, parts)));
    }
}

/// Breaks at the n-th event.
struct BreakAt(usize);

impl Observer for BreakAt {
    fn event(&mut self, _: &StageEvent) -> core::ops::ControlFlow<()> {
        if self.0 == 0 {
            return core::ops::ControlFlow::Break(());
        }
        self.0 -= 1;
        core::ops::ControlFlow::Continue(())
    }
}

#[test]
fn a_bootstrap_stops_where_the_observer_says() {
    let setup = toy();
    let input = setup.encrypt(&uniform(512, 38), SlotMode::Real);
    let mut recorder = Recorder::default();
    setup.evaluator.bootstrap(&input, SlotMode::Real, &setup.keys, &mut recorder).unwrap();
    for at in [0, 1, 6, recorder.0.len() - 1] {
        let result = setup.evaluator.bootstrap(&input, SlotMode::Real, &setup.keys, &mut BreakAt(at));
        let error = result.map(|_| ()).unwrap_err();
        assert_eq!(error.code(), "ABORTED", "{error}");
        assert!(error.to_string().contains(recorder.0[at].stage()), "{error} at event {at}");
    }
}

fn bytes<W: WireWord>(params: &ShipParams<W>, ciphertext: &Ciphertext<W>) -> Vec<u8> {
    ciphertext_to_bytes(params.ckks(), ciphertext).expect("a ciphertext of the set")
}

/// Digests of keys, input and output of one bootstrap from fixed seeds: the same on every machine.
fn digests<W: WireWord>() -> Vec<String> {
    let params = ship_preset("toy10").unwrap().params_over::<W>().unwrap();
    let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([77; 32]));
    let keys = ShipKeys::generate(&secret).unwrap();
    let evaluator = ShipEvaluator::new(&params).unwrap();
    let input = secret.encrypt(&uniform(512, 40), SlotMode::Real, &Seed::from_bytes([78; 32])).unwrap();
    let output = evaluator.bootstrap(&input, SlotMode::Real, &keys, &mut ()).unwrap();
    let parts = params.key_parts();
    let mut objects: Vec<Vec<u8>> =
        [0, 1, 2, 3, 4, 5, parts.len() - 1].iter().map(|&i| secret.key_part(i).unwrap()).collect();
    objects.push(bytes(&params, &input));
    objects.push(bytes(&params, &output));
    objects.iter().map(|o| blake3::hash(o).to_hex()[..16].to_owned()).collect()
}

#[test]
fn threads_words_and_steps_change_no_bit() {
    let reference = digests::<u32>();
    assert_eq!(digests::<u64>(), reference, "64-bit words");
    for threads in [1, 5] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(digests::<u32>), reference, "{threads} threads");
    }
    let setup = toy();
    let input = setup.encrypt(&uniform(512, 41), SlotMode::Real);
    let whole = bytes(setup.secret.params(), &setup.bootstrap(&input, SlotMode::Real));
    let mut run = ShipRun::new(&setup.evaluator, &input, SlotMode::Real).unwrap();
    while !run.step(&setup.keys, &mut ()).unwrap() {}
    assert_eq!(bytes(setup.secret.params(), &run.finish().unwrap()), whole, "track by track");
}

#[test]
fn a_batch_gives_the_bits_of_its_single_runs() {
    let setup = toy();
    let params = setup.secret.params();
    for mode in [SlotMode::Real, SlotMode::Complex] {
        let slots = if mode == SlotMode::Complex { 1024 } else { 512 };
        let inputs: Vec<_> = (50..53).map(|seed| setup.encrypt(&uniform(slots, seed), mode)).collect();
        let mut recorder = Recorder::default();
        let outputs = setup.evaluator.bootstrap_batch(&inputs, mode, &setup.keys, &mut recorder).unwrap();
        assert_eq!(outputs.len(), inputs.len());
        let mut single = Recorder::default();
        for (input, output) in inputs.iter().zip(&outputs) {
            single = Recorder::default();
            let alone = setup.evaluator.bootstrap(input, mode, &setup.keys, &mut single).unwrap();
            assert_eq!(bytes(params, output), bytes(params, &alone), "{mode:?}");
        }
        assert_eq!(recorder.0.len(), single.0.len(), "the same stages, once");
        let work = |recorder: &Recorder| -> u64 {
            let counted = |event: &StageEvent| match event {
                StageEvent::Exit { counters, .. } => counters.ntt,
                _ => 0,
            };
            recorder.0.iter().map(counted).sum()
        };
        assert_eq!(work(&recorder), 3 * work(&single), "the work of all");
    }
    assert!(setup.evaluator.bootstrap_batch(&[], SlotMode::Real, &setup.keys, &mut ()).unwrap().is_empty());
}

#[test]
fn a_batch_with_one_wrong_ciphertext_is_refused() {
    let setup = toy();
    let own = setup.encrypt(&uniform(512, 54), SlotMode::Real);
    let other = ShipSecretKey::generate(setup.secret.params(), &Seed::from_bytes([98; 32]));
    let foreign = other.encrypt(&uniform(512, 54), SlotMode::Real, &Seed::from_bytes([1; 32])).unwrap();
    let mut recorder = Recorder::default();
    let result = setup.evaluator.bootstrap_batch(&[own, foreign], SlotMode::Real, &setup.keys, &mut recorder);
    assert_eq!(result.map(|_| ()).unwrap_err().code(), "PARAMS_MISMATCH");
    assert!(recorder.0.is_empty(), "nothing was begun");
}

#[test]
fn backends_change_no_bit() {
    let (test, used) = ("run::backends_change_no_bit", refloat::about().backend_u32);
    let Some(found) = answers::<u32>(test, used, || digests::<u32>().join(" ")) else { return };
    let (_, first) = &found[0];
    assert_eq!(first.split(' ').count(), 9);
    assert!(found.iter().all(|(_, digests)| digests == first), "{found:#?}");
}

#[test]
fn objects_of_other_keys_and_levels_are_refused() {
    let setup = toy();
    let other = ShipSecretKey::generate(setup.secret.params(), &Seed::from_bytes([99; 32]));
    let foreign = other.encrypt(&uniform(512, 42), SlotMode::Real, &Seed::from_bytes([1; 32])).unwrap();
    let code = |result: Result<Ciphertext, Error>| result.map(|_| ()).unwrap_err().code();
    assert_eq!(
        code(setup.evaluator.bootstrap(&foreign, SlotMode::Real, &setup.keys, &mut ())),
        "PARAMS_MISMATCH"
    );
    assert_eq!(code(setup.evaluator.square(&foreign, &setup.keys)), "PARAMS_MISMATCH");
    assert_eq!(
        setup.secret.decrypt(&foreign, SlotMode::Real).map(|_| ()).unwrap_err().code(),
        "PARAMS_MISMATCH"
    );
    let exhausted = setup.evaluator.exhaust(&setup.encrypt(&uniform(512, 43), SlotMode::Real)).unwrap();
    assert_eq!(code(setup.evaluator.square(&exhausted, &setup.keys)), "LEVEL_MISMATCH");
    let out_of_range = setup.secret.encrypt(&[1.5], SlotMode::Real, &Seed::from_bytes([1; 32]));
    assert_eq!(code(out_of_range), "INVALID_ARGUMENT");
    assert_ne!(setup.keys.key_id(), other.key_id());
}

/// Keys with one track that cannot be read.
struct Unreadable<'a>(&'a ShipKeys);

impl KeySource<u32> for Unreadable<'_> {
    fn key_id(&self) -> [u8; 16] {
        self.0.key_id()
    }
    fn common(&self) -> &CommonKeys<u32> {
        self.0.common()
    }
    fn track(&self, track: usize) -> Result<Arc<TrackKeys<u32>>, Error> {
        if track == 3 { Err(Error::MissingKey("track 3".into())) } else { self.0.track(track) }
    }
}

#[test]
fn a_run_that_failed_is_over() {
    let setup = toy();
    let input = setup.encrypt(&uniform(512, 40), SlotMode::Real);
    let mut run = ShipRun::new(&setup.evaluator, &input, SlotMode::Real).unwrap();
    let keys = Unreadable(&setup.keys);
    let failure = loop {
        match run.step(&keys, &mut ()) {
            Ok(finished) => assert!(!finished),
            Err(error) => break error,
        }
    };
    assert_eq!(failure.code(), "MISSING_KEY");
    assert!(run.next_stage().is_none());
    assert_eq!(run.step(&setup.keys, &mut ()).unwrap_err().code(), "INVALID_ARGUMENT");
    assert_eq!(run.finish().err().map(|e| e.code()), Some("INVALID_ARGUMENT"));
}

#[test]
fn a_run_takes_the_keys_of_its_ciphertext_at_every_step() {
    let setup = toy();
    let params = setup.evaluator.params();
    let other = ShipKeys::generate(&ShipSecretKey::generate(params, &Seed::from_bytes([77; 32]))).unwrap();
    let input = setup.encrypt(&uniform(512, 41), SlotMode::Real);
    let mut run = ShipRun::new(&setup.evaluator, &input, SlotMode::Real).unwrap();
    for _ in 0..4 {
        assert_eq!(run.step(&other, &mut ()).unwrap_err().code(), "PARAMS_MISMATCH");
        run.step(&setup.keys, &mut ()).unwrap();
    }
}
