//! Tracks, and products of the first stage, computed elsewhere: the same bits, wherever and in whichever order.

use std::sync::Arc;

use refloat::Error;
use refloat::bootstrapping::ckks_ship::{
    GeneratedKeys, KeySource, ShipEvaluator, ShipHelper, ShipRun, ShipSecretKey,
};
use refloat::bootstrapping::method::{Helper, SlotMode, Split, Tasks};
use refloat::params::ship_preset;
use refloat::random::Seed;
use refloat::wire::ciphertext_to_bytes;
use refloat_tests::events::Recorder;
use refloat_tests::measure::uniform;
use refloat_tests::split::drive;
use refloat_tests::toy::{Setup, toy};

/// The key of [`toy`], for helpers.
fn lent(setup: &Setup) -> Arc<ShipSecretKey> {
    let copy = ShipSecretKey::generate(setup.secret.params(), &Seed::from_bytes([1; 32]));
    assert_eq!(copy.key_id(), setup.secret.key_id());
    Arc::new(copy)
}

/// A run that has come to its tracks.
fn at_the_tracks<'a>(setup: &'a Setup, keys: &dyn KeySource<u32>) -> ShipRun<'a> {
    let input = setup.encrypt(&uniform(512, 70), SlotMode::Real);
    let mut run = ShipRun::new(&setup.evaluator, &input, SlotMode::Real).unwrap();
    while run.tasks().is_none_or(|tasks| !tasks.secret) {
        run.step(keys, &mut ()).unwrap();
    }
    run
}

fn finish(mut run: ShipRun<'_>, keys: &dyn KeySource<u32>) -> (Vec<u8>, Recorder) {
    let mut recorder = Recorder::default();
    while !run.step(keys, &mut recorder).unwrap() {}
    (refreshed(run), recorder)
}

fn refreshed(run: ShipRun<'_>) -> Vec<u8> {
    ciphertext_to_bytes(toy().secret.params().ckks(), &run.finish().unwrap()).unwrap()
}

#[test]
fn a_shared_run_gives_the_bits_and_events_of_one_that_is_not() {
    let setup = toy();
    let params = setup.secret.params();
    let (secret, generated) = (lent(setup), GeneratedKeys::new(&setup.secret).unwrap());
    let compact = ShipEvaluator::compact(params).unwrap();
    let real = setup.encrypt(&uniform(512, 71), SlotMode::Real);
    // After a product the scale is another, and with it the diagonals.
    let fresh = setup.evaluator.bootstrap(&real, SlotMode::Real, &generated, &mut ()).unwrap();
    let square = setup.evaluator.square(&fresh, &generated).unwrap();
    let complex = setup.encrypt(&uniform(1024, 73), SlotMode::Complex);
    for (input, mode, tracks_per_step) in
        [(&real, SlotMode::Real, 1), (&square, SlotMode::Real, 4), (&complex, SlotMode::Complex, 1)]
    {
        for (evaluator, elsewhere) in [(&setup.evaluator, &compact), (&compact, &setup.evaluator)] {
            let begin =
                || ShipRun::new(evaluator, input, mode).unwrap().with_tracks_per_step(tracks_per_step);
            let (resident, _) = finish(begin(), &setup.keys);
            let (alone, events) = finish(begin(), &generated);
            assert!(alone == resident, "{mode:?}: keys made on the way give other bits than keys in memory");

            let (mut run, mut recorder) = (begin(), Recorder::default());
            let groups = run.tasks().unwrap().total;
            let start =
                |brief: &[u8], lend: bool| ShipHelper::new(elsewhere, brief, lend.then(|| secret.clone()));
            let supplied = drive(&mut run, &generated as &dyn KeySource<u32>, &mut recorder, start);
            // Two of four.
            assert_eq!(supplied, groups / 2 + params.tracks().div_ceil(2));
            assert!(refreshed(run) == alone, "{mode:?}: tasks from elsewhere give other bits");
            assert_eq!(recorder.0, events.0, "{mode:?}: the same work and progress are reported");
        }
    }
}

#[test]
fn tracks_that_do_not_belong_are_refused() {
    let setup = toy();
    let params = setup.secret.params();
    let mut run = at_the_tracks(setup, &setup.keys);
    let brief = run.brief(&setup.keys as &dyn KeySource<u32>, &mut ()).unwrap();
    let begin = |secret| ShipHelper::new(&setup.evaluator, &brief, secret);
    let mut helper = begin(Some(lent(setup))).unwrap();
    let track = helper.compute(5, &[]).unwrap();

    assert!(matches!(helper.compute(15, &[]), Err(Error::InvalidArgument(_))));
    assert!(matches!(run.supply(15, &track), Err(Error::InvalidArgument(_))));
    for bad in [&track[4..], &[&track[..], &track[..]].concat()] {
        assert!(matches!(run.supply(5, bad), Err(Error::BadBytes(_))));
    }
    let mut large = track.clone();
    large[..4].fill(0xff);
    assert!(matches!(run.supply(5, &large), Err(Error::BadBytes(_))));

    assert!(matches!(begin(None), Err(Error::MissingKey(_))));
    let toy11 = ship_preset("toy11").unwrap().params().unwrap();
    for other in [params, &toy11] {
        let other = ShipSecretKey::generate(other, &Seed::from_bytes([9; 32]));
        assert!(matches!(begin(Some(Arc::new(other))), Err(Error::ParamsMismatch(_))));
    }
    let other = ShipSecretKey::generate(params, &Seed::from_bytes([9; 32]));
    let foreign = GeneratedKeys::new(&other).unwrap();
    let foreign: &dyn KeySource<u32> = &foreign;
    assert!(matches!(run.ahead(foreign, 5), Err(Error::ParamsMismatch(_))));
    assert!(matches!(run.brief(foreign, &mut ()), Err(Error::ParamsMismatch(_))));

    run.step(&setup.keys, &mut ()).unwrap();
    assert!(matches!(run.supply(0, &track), Err(Error::InvalidArgument(_))));
    while !run.step(&setup.keys, &mut ()).unwrap() {}
    assert!(matches!(run.supply(5, &track), Err(Error::InvalidArgument(_))));
}

#[test]
fn phases_are_checked() {
    let setup = toy();
    let brief = at_the_tracks(setup, &setup.keys).brief(&setup.keys as &dyn KeySource<u32>, &mut ()).unwrap();
    let begin = |brief: &[u8]| ShipHelper::new(&setup.evaluator, brief, Some(lent(setup)));
    assert!(begin(&brief).is_ok());
    for bad in [0.51f64, f64::NAN, f64::INFINITY] {
        let mut turns = brief.clone();
        *turns.last_chunk_mut().unwrap() = bad.to_le_bytes();
        assert!(matches!(begin(&turns), Err(Error::BadBytes(_))));
    }
    let mut kinds = brief.clone();
    kinds[1] = 9;
    assert!(matches!(begin(&kinds), Err(Error::BadBytes(_))));
    kinds[0] = 9;
    assert!(matches!(begin(&kinds), Err(Error::BadBytes(_))));
}

#[test]
fn groups_that_do_not_belong_are_refused() {
    let setup = toy();
    let keys: &dyn KeySource<u32> = &setup.keys;
    let input = setup.encrypt(&uniform(512, 72), SlotMode::Real);
    let mut run = ShipRun::new(&setup.evaluator, &input, SlotMode::Real).unwrap();
    let Some(Tasks { total, .. }) = run.tasks() else { panic!("groups come first") };
    assert!(matches!(run.ahead(keys, 0), Err(Error::InvalidArgument(_))));
    let other = ShipSecretKey::generate(setup.secret.params(), &Seed::from_bytes([9; 32]));
    let foreign = GeneratedKeys::new(&other).unwrap();
    assert!(matches!(run.brief(&foreign as &dyn KeySource<u32>, &mut ()), Err(Error::ParamsMismatch(_))));

    let brief = run.brief(keys, &mut ()).unwrap();
    assert!(run.brief(keys, &mut ()).unwrap() == brief, "a second brief is the same");
    let begin = |brief: &[u8]| ShipHelper::new(&setup.evaluator, brief, None);
    let mut large = brief.clone();
    large.last_chunk_mut::<4>().unwrap().fill(0xff);
    for bad in [
        &large[..],
        &brief[..brief.len() - 4],
        &[&brief[..], &[0; 4]].concat(),
        &[vec![0; 17], brief[17..].to_vec()].concat(),
    ] {
        assert!(matches!(begin(bad), Err(Error::BadBytes(_))));
    }
    let mut helper = begin(&brief).unwrap();
    assert!(matches!(helper.compute(total, &[]), Err(Error::InvalidArgument(_))));
    assert!(matches!(run.ahead(keys, total), Err(Error::InvalidArgument(_))));
    let sum = helper.compute(0, &[]).unwrap();
    assert!(matches!(run.supply(total, &sum), Err(Error::InvalidArgument(_))));
    let mut large = sum.clone();
    large.last_chunk_mut::<4>().unwrap().fill(0xff);
    for bad in [&sum[4..], &[], &large] {
        assert!(matches!(run.supply(0, bad), Err(Error::BadBytes(_))));
    }

    run.step(keys, &mut ()).unwrap();
    assert_eq!(run.tasks(), None);
    assert!(matches!(run.supply(0, &sum), Err(Error::InvalidArgument(_))));
    assert!(matches!(run.brief(keys, &mut ()), Err(Error::InvalidArgument(_))));
}
