//! Runs: what they report, what stops them, and what they refuse.

use std::ops::ControlFlow;

use refloat::Error;
use refloat::bootstrapping::bgv::{BgvKeys, BgvRun, BgvSecretKey, BgvState, Direction, KeySource, MOD_RAISE};
use refloat::random::Seed;
use refloat::ring::{Automorphism, GaloisElement};
use refloat::rlwe::{GaloisSource, HeldKey};
use refloat::schemes::bgv::{BgvCiphertext, Factor, PrimePower};
use refloat::trace::{Counters, Observer, StageEvent};
use refloat_tests::bgv::tiny;
use refloat_tests::keyed_bgv::KeyedBgv;

/// Counts stages, and breaks at one.
struct Watch {
    seen: Vec<&'static str>,
    stop: Option<&'static str>,
}

impl Observer for Watch {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        if let StageEvent::Enter { stage } = event {
            self.seen.push(stage);
            if self.stop == Some(*stage) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn runs_report_stop_and_refuse() {
    let set = KeyedBgv::<u64>::new(&tiny(15));
    let (params, bootstrapper) = (&set.params, &set.bootstrapper);
    let x = set.encrypt(&[1, 2, 3], params.levels().input, 5);
    let mut watch = Watch { seen: Vec::new(), stop: None };
    let out = bootstrapper.bootstrap(&x, &set.keys, &mut watch).expect("an input");
    assert_eq!(watch.seen, params.stages().iter().map(|stage| stage.id).collect::<Vec<_>>());
    let spent: usize = params.stages().iter().map(|stage| stage.levels).sum();
    assert_eq!(spent + params.levels().left(), params.levels().coeffs_to_slots);
    // The same words with one thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let same = pool.install(|| bootstrapper.bootstrap(&x, &set.keys, &mut ()).expect("an input"));
    assert!(same.parts().iter().zip(out.parts()).all(|(a, b)| a.data() == b.data()));
    let mut watch = Watch { seen: Vec::new(), stop: Some(MOD_RAISE) };
    assert!(matches!(bootstrapper.bootstrap(&x, &set.keys, &mut watch), Err(Error::Cancelled(_))));

    let refused =
        |x: &BgvCiphertext<u64>| bootstrapper.bootstrap(x, &set.keys, &mut ()).expect_err("refused");
    let bgv = bootstrapper.bgv();
    let low = bgv.drop_to_level(&x, params.levels().input - 1).expect("lower");
    assert!(matches!(refused(&low), Error::LevelMismatch(_)));
    let product = bgv.tensor(&x, &x).expect("room");
    assert!(matches!(refused(&product), Error::InvalidArgument(_)));
    let raised = bgv.multiply_by_prime(&x, 1).expect("a power of the set");
    assert!(matches!(refused(&raised), Error::PlaintextMismatch(_)));
    // Stages that are given the plaintexts of another stage.
    let at = |x: &BgvCiphertext<u64>, level| bgv.drop_to_level(x, level).expect("lower");
    let mut work = Counters::default();
    let wrong = bootstrapper.prepare(&at(&raised, 0), &set.keys, &mut work).err();
    assert!(matches!(wrong, Some(Error::PlaintextMismatch(_))));
    let wrong = bootstrapper.coeffs_to_slots(&x, &set.keys, &mut work).err();
    assert!(matches!(wrong, Some(Error::PlaintextMismatch(_))));
    let wrong = bootstrapper.remove_digit(&x, x.factor(), &set.keys, &mut work).err();
    assert!(matches!(wrong, Some(Error::PlaintextMismatch(_))));
    let foreign = Factor::new(3, PrimePower::new(193, 1).expect("a prime")).expect("a unit");
    let wrong = bootstrapper.remove_digit(&raised, foreign, &set.keys, &mut work).err();
    assert!(matches!(wrong, Some(Error::PlaintextMismatch(_))));
    let noisy = (0..3).fold(x.clone(), |x, _| bgv.multiply_integer(&x, 128).expect("room"));
    let Error::Limit(text) = refused(&noisy) else { panic!("too much noise for a raise") };
    assert!(text.contains("noise"), "{text}");
    let other = KeyedBgv::<u64>::new(&tiny(3));
    assert!(matches!(refused(&other.encrypt(&[1], 2, 6)), Error::ParamsMismatch(_)));
    assert!(matches!(bootstrapper.bootstrap(&x, &other.keys, &mut ()), Err(Error::ParamsMismatch(_))));
    let prepared = bootstrapper.prepare(&at(&x, 0), &set.keys, &mut work).expect("level 0");
    // What is prepared is read by its owner alone.
    for seed in [3, 4] {
        let reader = if seed == 3 { &other.params } else { params };
        let stranger = BgvSecretKey::generate(reader, &Seed::from_bytes([seed; 32]));
        assert!(matches!(stranger.decrypt_prepared(&prepared), Err(Error::ParamsMismatch(_))));
        assert!(matches!(stranger.noise(&x), Err(Error::ParamsMismatch(_))));
    }
    let wrong = bootstrapper.mod_raise(&prepared, &other.keys, &mut work).err();
    assert!(matches!(wrong, Some(Error::ParamsMismatch(_))));
    assert!(matches!(
        set.secret.encrypt(&[1], params.levels().output + 1, &Seed::from_bytes([0; 32])),
        Err(Error::LevelMismatch(_))
    ));
}

/// A key set that has lost its keys.
struct Lost([u8; 16]);

impl GaloisSource<u64> for Lost {
    fn n(&self) -> usize {
        64
    }

    fn galois_key(&self, _: GaloisElement) -> Result<(&Automorphism, HeldKey<'_, u64>), Error> {
        Err(Error::MissingKey("a Galois key".into()))
    }
}

impl KeySource<u64> for Lost {
    fn key_id(&self) -> [u8; 16] {
        self.0
    }

    fn relinearization_key(&self) -> Result<HeldKey<'_, u64>, Error> {
        Err(Error::MissingKey("the relinearisation key".into()))
    }

    fn ephemeral_key(&self, _: Direction) -> Result<HeldKey<'_, u64>, Error> {
        Err(Error::MissingKey("a key of the ephemeral secret".into()))
    }
}

/// Keys with another key in the place of the relinearisation key.
struct Exchanged<'a>(&'a BgvKeys<u64>);

impl GaloisSource<u64> for Exchanged<'_> {
    fn n(&self) -> usize {
        self.0.n()
    }

    fn galois_key(&self, element: GaloisElement) -> Result<(&Automorphism, HeldKey<'_, u64>), Error> {
        self.0.galois_key(element)
    }
}

impl KeySource<u64> for Exchanged<'_> {
    fn key_id(&self) -> [u8; 16] {
        self.0.key_id()
    }

    fn relinearization_key(&self) -> Result<HeldKey<'_, u64>, Error> {
        self.0.ephemeral_key(Direction::ToEphemeral)
    }

    fn ephemeral_key(&self, direction: Direction) -> Result<HeldKey<'_, u64>, Error> {
        self.0.ephemeral_key(direction)
    }
}

#[test]
fn keys_that_are_missing_end_a_run() {
    let set = KeyedBgv::<u64>::new(&tiny(15));
    let x = set.encrypt(&[1, 2, 3], set.params.levels().input, 5);
    let over = |error: Option<Error>, words: &str| match error {
        Some(Error::InvalidArgument(text)) => assert!(text.contains(words), "{text}"),
        other => panic!("{other:?}"),
    };
    for (place, stage) in set.params.stages().iter().enumerate() {
        let until = || {
            let mut run = BgvRun::new(&set.bootstrapper, &x).expect("an input");
            (0..place).for_each(|_| assert!(!run.step(&set.keys, &mut ()).expect("all keys")));
            assert_eq!(run.next_stage().map(|next| next.id), Some(stage.id));
            run
        };
        over(until().finish().err(), stage.id);
        let mut run = until();
        let error = run.step(&Lost(set.keys.key_id()), &mut ()).expect_err("no keys");
        assert!(matches!(error, Error::MissingKey(_)), "{}: {error}", stage.id);
        assert!(matches!(run.state(), BgvState::Failed) && run.next_stage().is_none());
        over(run.step(&set.keys, &mut ()).err(), "begin a new run");
        over(run.finish().err(), "begin a new run");
    }
    let wrong = set.bootstrapper.bootstrap(&x, &Exchanged(&set.keys), &mut ()).err();
    assert!(matches!(wrong, Some(Error::LevelMismatch(_) | Error::ParamsMismatch(_))), "{wrong:?}");
}
