//! Tracks, and products of the first stage, computed apart from their run: the same bits, wherever and in whichever order.

use refloat::Error;
use refloat::bootstrapping::ckks_ship::{
    GeneratedKeys, KeySource, MatrixInput, MatrixWorker, Phases, Recorder, ShipEvaluator, ShipParams,
    ShipRun, ShipSecretKey, TrackFactors, TrackWorker,
};
use refloat::bootstrapping::method::SlotMode;
use refloat::params::preset;
use refloat::random::Seed;
use refloat::wire::{ciphertext_from_bytes, ciphertext_to_bytes};
use refloat_tests::measure::uniform;
use refloat_tests::toy::{Setup, toy};

/// A run that has come to its tracks.
fn at_the_tracks<'a>(setup: &'a Setup, keys: &dyn KeySource<u32>, mode: SlotMode) -> ShipRun<'a> {
    let per_slot = if mode == SlotMode::Complex { 2 } else { 1 };
    let input = setup.encrypt(&uniform(per_slot * 512, 70), mode);
    let mut run = ShipRun::new(&setup.evaluator, &input, mode).unwrap();
    while run.next_track().is_none() {
        run.step(keys, &mut ()).unwrap();
    }
    run
}

/// A worker on what a run shows of itself, after a journey through plain numbers.
fn worker<'a>(setup: &'a Setup, run: &ShipRun<'_>) -> TrackWorker<'a> {
    let phases = run.phases().expect("the run is past encapsulation");
    let copied = Phases::from_turns(setup.secret.params(), phases.b().to_vec(), phases.a().to_vec()).unwrap();
    TrackWorker::new(&setup.evaluator, &copied, run.mode()).unwrap()
}

/// Factors after a journey through bytes.
fn posted(params: &ShipParams, result: &TrackFactors) -> TrackFactors {
    let factors = result.factors.iter().map(|factor| {
        let bytes = ciphertext_to_bytes(params.ckks(), factor).unwrap();
        ciphertext_from_bytes(params.ckks(), &bytes).unwrap()
    });
    TrackFactors { factors: factors.collect(), counters: result.counters }
}

fn finish(mut run: ShipRun<'_>, keys: &dyn KeySource<u32>) -> (Vec<u8>, Recorder) {
    let mut recorder = Recorder::default();
    let params = toy().secret.params();
    while !run.step(keys, &mut recorder).unwrap() {}
    (ciphertext_to_bytes(params.ckks(), &run.finish().unwrap()).unwrap(), recorder)
}

#[test]
fn tracks_from_elsewhere_give_the_same_bits_and_events() {
    let setup = toy();
    let params = setup.secret.params();
    let generated = GeneratedKeys::new(&setup.secret).unwrap();
    for mode in [SlotMode::Real, SlotMode::Complex] {
        let (resident, events) = finish(at_the_tracks(setup, &setup.keys, mode), &setup.keys);
        let (alone, _) = finish(at_the_tracks(setup, &generated, mode), &generated);
        assert!(alone == resident, "{mode:?}: keys made on the way give other bits than keys in memory");

        let mut run = at_the_tracks(setup, &generated, mode);
        let mut apart = worker(setup, &run);
        // Some from elsewhere, some here before their turn, some in their turn; out of order.
        for track in [14, 3, 0, 9, 7] {
            run.supply_track(track, &posted(params, &apart.track(&setup.secret, track).unwrap())).unwrap();
        }
        for track in [2, 1] {
            run.rotate_ahead(track, &generated).unwrap();
        }
        let (shared, shared_events) = finish(run, &generated);
        assert!(shared == resident, "{mode:?}: tracks from elsewhere give other bits");
        assert_eq!(shared_events.0, events.0, "{mode:?}: the same work and progress are reported");
    }
}

#[test]
fn tracks_that_do_not_belong_are_refused() {
    let setup = toy();
    let params = setup.secret.params();
    let mut run = at_the_tracks(setup, &setup.keys, SlotMode::Real);
    let mut apart = worker(setup, &run);
    let track = |apart: &mut TrackWorker<'_>| apart.track(&setup.secret, 5).unwrap();

    assert!(matches!(apart.track(&setup.secret, 15), Err(Error::InvalidArgument(_))));
    assert!(matches!(run.supply_track(15, &track(&mut apart)), Err(Error::InvalidArgument(_))));
    let mut two = track(&mut apart);
    two.factors.extend(track(&mut apart).factors);
    assert!(matches!(run.supply_track(5, &two), Err(Error::InvalidArgument(_))));
    let mut low = track(&mut apart);
    low.factors = vec![setup.encrypt(&[0.5], SlotMode::Real)];
    assert!(matches!(run.supply_track(5, &low), Err(Error::InvalidArgument(_))));

    let other = ShipSecretKey::generate(params, &Seed::from_bytes([9; 32]));
    assert!(matches!(run.supply_track(5, &apart.track(&other, 5).unwrap()), Err(Error::ParamsMismatch(_))));
    let foreign = GeneratedKeys::new(&other).unwrap();
    assert!(matches!(run.rotate_ahead(5, &foreign), Err(Error::ParamsMismatch(_))));
    let toy11 = preset("toy11").unwrap().params().unwrap();
    let of_another_set = ShipSecretKey::generate(&toy11, &Seed::from_bytes([9; 32]));
    assert!(matches!(apart.track(&of_another_set, 5), Err(Error::ParamsMismatch(_))));

    run.step(&setup.keys, &mut ()).unwrap();
    let past = apart.track(&setup.secret, 0).unwrap();
    assert!(matches!(run.supply_track(0, &past), Err(Error::InvalidArgument(_))));
    while !run.step(&setup.keys, &mut ()).unwrap() {}
    assert!(matches!(run.supply_track(5, &track(&mut apart)), Err(Error::InvalidArgument(_))));
}

#[test]
fn phases_are_checked() {
    let params = toy().secret.params();
    let zeros = || vec![0.0; params.n()];
    assert!(Phases::from_turns(params, zeros(), zeros()).is_ok());
    for bad in [0.51, f64::NAN, f64::INFINITY] {
        let mut turns = zeros();
        turns[7] = bad;
        assert!(matches!(Phases::from_turns(params, turns, zeros()), Err(Error::InvalidArgument(_))));
    }
    assert!(matches!(Phases::from_turns(params, zeros(), vec![0.0; 3]), Err(Error::InvalidArgument(_))));
}

#[test]
fn groups_of_diagonals_from_elsewhere_give_the_same_bits_and_events() {
    let setup = toy();
    let params = setup.secret.params();
    let keys = GeneratedKeys::new(&setup.secret).unwrap();
    let fresh = setup.encrypt(&uniform(512, 71), SlotMode::Real);
    let refreshed = setup.evaluator.bootstrap(&fresh, SlotMode::Real, &keys, &mut ()).unwrap();
    // After a product the scale is another, and with it the diagonals.
    let square = setup.evaluator.square(&refreshed, &keys).unwrap();
    let compact = ShipEvaluator::compact(params).unwrap();
    for (evaluator, elsewhere) in [(&setup.evaluator, &compact), (&compact, &setup.evaluator)] {
        for input in [&fresh, &square] {
            let start = || ShipRun::new(evaluator, input, SlotMode::Real).unwrap();
            let (wanted, events) = finish(start(), &keys);

            let (mut run, mut recorder) = (start(), Recorder::default());
            let all = run.groups_ahead();
            let MatrixInput { scale, steps } = run.matrix_input(&keys, &mut recorder).unwrap();
            let again = run.matrix_input(&keys, &mut recorder).unwrap();
            assert!(again.steps == steps && again.scale == scale);
            let worker = MatrixWorker::new(elsewhere, again).unwrap();
            for group in (0..all).filter(|g| g % 3 != 1) {
                if group % 3 == 0 {
                    run.supply_group(group, &worker.group(group).unwrap()).unwrap();
                } else {
                    run.multiply_ahead(group).unwrap();
                }
            }
            while !run.step(&keys, &mut recorder).unwrap() {}
            let found = ciphertext_to_bytes(params.ckks(), &run.finish().unwrap()).unwrap();
            assert!(found == wanted, "products from elsewhere give other bits");
            assert_eq!(recorder.0, events.0, "the same work and progress are reported");
        }
    }
}

#[test]
fn groups_that_do_not_belong_are_refused() {
    let setup = toy();
    let input = setup.encrypt(&uniform(512, 72), SlotMode::Real);
    let mut run = ShipRun::new(&setup.evaluator, &input, SlotMode::Real).unwrap();
    let all = run.groups_ahead();
    assert!(matches!(run.multiply_ahead(0), Err(Error::InvalidArgument(_))));
    let other = ShipSecretKey::generate(setup.secret.params(), &Seed::from_bytes([9; 32]));
    let foreign = GeneratedKeys::new(&other).unwrap();
    assert!(matches!(run.matrix_input(&foreign, &mut ()), Err(Error::ParamsMismatch(_))));

    let MatrixInput { scale, steps } = run.matrix_input(&setup.keys, &mut ()).unwrap();
    let made = |steps: Vec<u32>| MatrixWorker::new(&setup.evaluator, MatrixInput { scale, steps });
    assert!(matches!(made(steps[1..].to_vec()), Err(Error::InvalidArgument(_))));
    let mut large = steps.clone();
    large[0] = u32::MAX;
    assert!(matches!(made(large), Err(Error::InvalidArgument(_))));
    let worker = made(steps).unwrap();
    assert!(matches!(worker.group(all), Err(Error::InvalidArgument(_))));
    assert!(matches!(run.multiply_ahead(all), Err(Error::InvalidArgument(_))));
    let sum = worker.group(0).unwrap();
    assert!(matches!(run.supply_group(all, &sum), Err(Error::InvalidArgument(_))));
    for bad in [&sum[1..], &[]] {
        assert!(matches!(run.supply_group(0, bad), Err(Error::InvalidArgument(_))));
    }
    let mut large = sum.clone();
    large[sum.len() - 1] = u32::MAX;
    assert!(matches!(run.supply_group(0, &large), Err(Error::InvalidArgument(_))));

    run.step(&setup.keys, &mut ()).unwrap();
    assert_eq!(run.groups_ahead(), 0);
    assert!(matches!(run.supply_group(0, &sum), Err(Error::InvalidArgument(_))));
    assert!(matches!(run.matrix_input(&setup.keys, &mut ()), Err(Error::InvalidArgument(_))));
}
