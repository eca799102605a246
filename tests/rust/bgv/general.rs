//! General BGV bootstrapping in rings of two axes: every stage as the holder of the key sees it, chains, refusals.

use refloat::Error;
use refloat::arith::Word;
use refloat::bootstrapping::bgv::{
    BgvParams, BgvRun, BgvSpec, BgvState, COEFFS_TO_SLOTS, DIGIT_REMOVAL, LARGEST_DEVIATION, MOD_RAISE,
    PREPARE, SLOTS_TO_COEFFS, UNPACK,
};
use refloat::schemes::bgv::{BgvCiphertext, Factor, PrimePower};
use refloat::trace::Counters;
use refloat_tests::bgv::{log_deviation, two_axes};
use refloat_tests::keyed_bgv::KeyedBgv;

/// Products in every slot, by powers of Z.
fn squared<W: Word>(set: &KeyedBgv<W>, message: &[u64]) -> Vec<u64> {
    let (ring, d) = (set.params.messages(), set.params.context().slot_degree());
    let square = |x: &[u64]| {
        let mut powers = vec![0; d + 1];
        for (i, &a) in x.iter().enumerate() {
            for (j, &b) in x.iter().enumerate() {
                let at = &mut powers[(i + j + 2) % (d + 1)];
                *at = ring.add(*at, ring.mul(a, b));
            }
        }
        powers[1..].iter().map(|&c| ring.sub(c, powers[0])).collect::<Vec<_>>()
    };
    message.chunks(d).flat_map(square).collect()
}

/// One bootstrap in steps, each against exact arithmetic; returns what comes out.
fn follow<W: Word>(set: &KeyedBgv<W>, x: &BgvCiphertext<W>, message: &[u64]) -> BgvCiphertext<W> {
    let (params, secret, levels) = (&set.params, &set.secret, set.params.levels());
    let (small, large) = (params.messages(), params.raised());
    let (q0, step) = (i128::from(params.spec().chain.levels[0][0]), i128::from(small.prime()));
    let (coefficients, none) = (set.coefficients(x), vec![0; params.n()]);
    let mut run = BgvRun::new(&set.bootstrapper, x).expect("an input");
    assert_eq!(set.digits(&run, true, message), none);

    set.advance(&mut run, PREPARE);
    let BgvState::Prepared(prepared) = run.state() else { panic!("under the ephemeral secret") };
    let phase = secret.decrypt_prepared(prepared).expect("our own").reveal_to_key_owner().clone();
    let modulo = |x: i128, ring: PrimePower| x.rem_euclid(ring.value().into()) as u64;
    let digit = |x: i128| (2 * x + q0).div_euclid(2 * q0);
    let rests: Vec<f64> = phase.iter().map(|&x| (x - q0 * digit(x)) as f64 / q0 as f64).collect();
    assert!(log_deviation(&rests) <= LARGEST_DEVIATION.log2());
    for (&x, &m) in phase.iter().zip(&coefficients) {
        let rest = x - q0 * digit(x);
        assert!(digit(x).abs() <= i128::from(params.spec().bound), "a digit of {}", digit(x));
        assert!(rest % step == 0, "p^t m'");
        assert_eq!(modulo(rest / step, small), small.mul(m, prepared.factor().value()));
    }
    let low: Vec<i64> = phase.iter().map(|&x| digit(x) as i64).collect();
    assert_eq!(set.digits(&run, false, &coefficients), low);

    set.advance(&mut run, MOD_RAISE);
    let BgvState::Raised(raised, _) = run.state() else { panic!("raised") };
    let over_q0 = large.inverse(modulo(q0, large)).expect("a unit");
    let expected: Vec<u64> = phase.iter().map(|&x| large.mul(modulo(x, large), over_q0)).collect();
    assert_eq!(set.coefficients(raised), expected);
    assert_eq!(set.digits(&run, false, &coefficients), low);

    set.advance(&mut run, COEFFS_TO_SLOTS);
    let BgvState::Slots(slots, _) = run.state() else { panic!("in slots") };
    let (expected, moved) = (set.in_slots(&expected), set.in_slots(&coefficients));
    assert_eq!((set.decrypt(slots), slots.level()), (expected.clone(), levels.removal));
    assert_eq!(set.digits(&run, true, &moved), set.in_slots(&low));

    set.advance(&mut run, UNPACK);
    let BgvState::Unpacked(coordinates, _) = run.state() else { panic!("unpacked") };
    let d = params.context().slot_degree();
    assert_eq!(coordinates.len(), d);
    for (k, x) in coordinates.iter().enumerate() {
        assert_eq!((x.level(), x.ring()), (levels.removal, large), "unpacking takes no level");
        let integers = expected.iter().skip(k).step_by(d);
        let all: Vec<u64> = integers.flat_map(|&x| vec![large.neg(x); d]).collect();
        assert_eq!(set.decrypt(x), all, "coordinate {k} as an integer");
    }
    assert_eq!(set.digits(&run, true, &moved), set.in_slots(&low));

    set.advance(&mut run, DIGIT_REMOVAL);
    let BgvState::Removed(removed) = run.state() else { panic!("removed") };
    assert_eq!((removed.level(), removed.ring()), (levels.slots_to_coeffs, small));
    assert_eq!(set.digits(&run, true, &moved), none, "the low digit is gone");

    set.advance(&mut run, SLOTS_TO_COEFFS);
    assert!(run.next_stage().is_none());
    assert_eq!(set.digits(&run, true, message), none);
    let out = run.finish().expect("done");
    assert_eq!((set.coefficients(&out), set.decrypt(&out)), (coefficients, message.to_vec()));
    assert_eq!((out.level(), out.factor()), (levels.output, Factor::one(small)));
    out
}

fn every_stage<W: Word>(spec: &BgvSpec, words: impl Fn(&KeyedBgv<W>) -> Vec<Vec<u64>>) {
    let set = KeyedBgv::<W>::new(spec);
    let levels = set.params.levels();
    assert_eq!((levels.input, levels.left()), (0, 2));
    for (i, message) in words(&set).into_iter().enumerate() {
        let mut x = set.encrypt(&message, levels.output, i as u64);
        let mut message = message;
        // At every level, and with factors that are not 1.
        loop {
            let out = follow(&set, &x, &message);
            assert_eq!(out.key_id(), x.key_id());
            if x.level() == 0 {
                break;
            }
            x = set.square(&x);
            message = squared(&set, &message);
            assert_ne!(x.factor(), Factor::one(x.ring()));
        }
    }
}

#[test]
fn every_stage_is_what_exact_arithmetic_gives() {
    let spec = two_axes((32, 5), 97, 0.0);
    every_stage::<u64>(&spec, |set| {
        let p = set.params.messages().value();
        let of = |f: &dyn Fn(usize) -> u64| (0..set.params.n()).map(|i| f(i) % p).collect::<Vec<u64>>();
        vec![
            set.random(1),
            of(&|_| 0),
            of(&|_| 1),
            of(&|_| p - 1),
            of(&|i| i as u64),
            of(&|i| u64::from(i == 0)),
        ]
    });
}

#[test]
fn other_rings_and_narrow_words_do_as_well() {
    every_stage::<u32>(&two_axes((32, 5), 97, 0.0), |set| vec![set.random(2)]);
    every_stage::<u64>(&two_axes((32, 3), 257, 1.0), |set| vec![set.random(3)]);
    every_stage::<u64>(&two_axes((128, 17), 113, 3.0), |set| vec![set.random(4)]);
}

#[test]
fn a_hundred_bootstraps_with_products_between_stay_right() {
    for spec in [two_axes((32, 5), 97, 0.0), two_axes((32, 3), 257, 1.0)] {
        let set = KeyedBgv::<u64>::new(&spec);
        // One secret of 32 coefficients is some tenths of a bit longer or shorter than expected.
        set.chained(100, 2.1).check_noise(0.3);
    }
}

/// Noise that leaves nothing of a message at level 0, and can be divided away above.
#[test]
fn noisy_messages_are_divided_before_they_are_raised() {
    let set = KeyedBgv::<u64>::new(&two_axes((32, 5), 97, 0.0));
    let (bgv, message, ring) = (set.bootstrapper.bgv(), set.random(7), set.params.messages());
    let noisy =
        |x: &BgvCiphertext<u64>| (0..2).fold(x.clone(), |x, _| bgv.multiply_integer(&x, 48).expect("room"));
    let expected: Vec<u64> = message.iter().map(|&m| ring.mul(m, 48 * 48 % ring.value())).collect();
    for level in 1..=set.params.levels().output {
        let x = noisy(&set.encrypt(&message, level, 7));
        let dropped = bgv.drop_to_level(&x, 0).expect("room");
        let found = set.bootstrapper.bootstrap(&dropped, &set.keys, &mut ());
        assert!(matches!(found, Err(Error::Limit(_))), "too much noise, and no level to divide it away");
        let found = set.bootstrapper.bootstrap(&x, &set.keys, &mut ()).expect("room");
        assert_eq!(set.decrypt(&found), expected, "from level {level}");
    }
}

/// A sum over the dual basis gives m' times a coefficient of the message, and of the noise. The embeddings of that noise are counted as
/// if all |Z^l - 1|, l = 1, .., m' - 1, were aligned: by 2 cot(pi/2m').
#[test]
fn coordinates_have_the_noise_that_is_counted() {
    for (place, prime, spare) in [((32, 5), 97, 0.0), ((32, 3), 257, 1.0), ((128, 17), 113, 3.0)] {
        let set = KeyedBgv::<u64>::new(&two_axes(place, prime, spare));
        let x = set.encrypt(&set.random(8), 0, 8);
        let mut run = BgvRun::new(&set.bootstrapper, &x).expect("an input");
        while !matches!(run.state(), BgvState::Slots(..)) {
            run.step(&set.keys, &mut ()).expect("an input");
        }
        let BgvState::Slots(slots, _) = run.state() else { panic!("in slots") };
        let all = set.bootstrapper.unpack(slots, &set.keys, &mut Counters::default()).expect("an input");
        let (odd, model) = (place.1 as f64, set.params.context().noise());
        let aligned = (2.0 / (std::f64::consts::FRAC_PI_2 / odd).tan()).log2();
        let growth = (all[0].noise() / slots.noise()).log2();
        // Key switches and a rounding come on top.
        assert!(
            growth > aligned && growth < aligned + 0.7,
            "{growth} bits counted, {aligned} of them of the basis"
        );
        let before = set.log_noise(slots);
        let mut squares = 0.0;
        for (k, x) in all.iter().enumerate() {
            let found = set.log_noise(x);
            let counted = model.deviation(x.noise()).log2();
            // The deviation found from N coefficients is within four times 1/sqrt(2N) of the true one.
            let sampled = (1.0 + 4.0 / (2.0 * set.params.n() as f64).sqrt()).log2();
            assert!(found <= counted + sampled, "coordinate {k}: 2^{found} of 2^{counted}");
            squares += (2.0 * found).exp2() / all.len() as f64;
        }
        let grown = 0.5 * squares.log2() - before - odd.log2();
        assert!((-0.1..0.7).contains(&grown), "{grown} bits more than those of {odd}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let set = KeyedBgv::<u64>::new(&two_axes((32, 5), 97, 0.0));
    let (bootstrapper, mut work) = (&set.bootstrapper, Counters::default());
    let x = set.encrypt(&set.random(6), set.params.levels().output, 6);
    assert!(matches!(bootstrapper.unpack(&x, &set.keys, &mut work), Err(Error::LevelMismatch(_))));
    assert!(matches!(bootstrapper.prepare(&x, &set.keys, &mut work), Err(Error::LevelMismatch(_))));
    let mut run = BgvRun::new(bootstrapper, &x).expect("an input");
    while !matches!(run.state(), BgvState::Unpacked(..)) {
        run.step(&set.keys, &mut ()).expect("an input");
    }
    let BgvState::Unpacked(all, factor) = run.state() else { panic!("unpacked") };
    for wrong in [&all[..0], &all[..1], &all[..3], &[all.clone(), all.clone()].concat()] {
        let found = bootstrapper.remove_digits(wrong, *factor, &set.keys, &mut work);
        assert!(matches!(found, Err(Error::InvalidArgument(_))), "{} coordinates", wrong.len());
    }
    // Slots of several coordinates hold no integers.
    let found = bootstrapper.sign(&x, 2, &set.keys).map(|_| ());
    assert!(
        matches!(&found, Err(Error::InvalidArgument(text)) if text.contains("4 coordinates")),
        "{found:?}"
    );
    // A chain whose removal has no room for the noise of unpacking.
    let spec = |change: &dyn Fn(&mut BgvSpec)| {
        let mut spec = two_axes((32, 5), 97, 0.0);
        change(&mut spec);
        BgvParams::<u64>::new(&spec).map(|_| ())
    };
    let small = refloat_tests::rns::primes(40, &[19.2]);
    for level in 1..=set.params.levels().removal {
        let found = spec(&|spec| spec.chain.levels[level] = small.clone());
        match (found, level <= set.params.levels().slots_to_coeffs) {
            // Products and slots-to-coefficients modulo p have room enough.
            (Ok(()), true) => (),
            (Err(Error::InvalidArgument(text)), false) => assert!(text.contains("a larger prime"), "{text}"),
            (other, _) => panic!("level {level}: {other:?}"),
        }
    }
    // Levels that would do for slots of integers, and leave no room for the noise that unpacking adds.
    let removal = set.params.levels().slots_to_coeffs + 1..=set.params.levels().removal;
    let sizes = vec![20.4; removal.clone().count()];
    let least: Vec<Vec<u64>> = refloat_tests::rns::primes(40, &sizes).into_iter().map(|p| vec![p]).collect();
    match spec(&|spec| spec.chain.levels[removal.clone()].clone_from_slice(&least)) {
        Err(Error::InvalidArgument(text)) => {
            assert!(text.contains("larger primes for the removal"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    // One coefficient for each of 8 powers of Y at most.
    match spec(&|spec| spec.ephemeral.weight = 9) {
        Err(Error::InvalidArgument(text)) => assert!(text.contains("take 1 to 8"), "{text}"),
        other => panic!("{other:?}"),
    }
    // A set for thin bootstrapping has nothing to unpack.
    assert!(matches!(spec(&|spec| spec.chain.odd_part = 1), Err(Error::InvalidArgument(_))));
}
