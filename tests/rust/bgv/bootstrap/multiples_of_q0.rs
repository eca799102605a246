//! Digits that are read from multiples of q0 and taken off the message: every stage against exact arithmetic in all kinds of rings, thin and
//! general, chains, failures, refusals.

use refloat::Error;
use refloat::arith::{PrimePower, Word};
use refloat::bootstrapping::bgv::{
    Approach, BgvParams, BgvRun, BgvSpec, BgvState, COEFFS_TO_SLOTS, DIGIT_REMOVAL, LARGEST_DEVIATION,
    MOD_RAISE, PREPARE, SLOTS_TO_COEFFS, TAKE_OFF, UNPACK,
};
use refloat::schemes::bgv::{BgvCiphertext, Factor};
use refloat::schemes::evaluator::Label;
use refloat::trace::Counters;
use refloat_tests::bgv::{
    log_deviation, messages_of_every_kind, odd_index_by, small_prime, tiny_by, two_axes_by,
};
use refloat_tests::keyed_bgv::KeyedBgv;

use super::refusal;

/// Type B of 64 slots modulo 257: digits up to 7, which are never larger.
fn beside() -> BgvSpec {
    tiny_by(Approach::Beside { step: 15 }, 7, 14)
}

fn modulo(x: i128, ring: PrimePower) -> u64 {
    x.rem_euclid(ring.value().into()) as u64
}

/// What slots hold once these coefficients are moved into them; for a general set of odd index, the coefficients themselves.
fn in_slots<W: Word>(set: &KeyedBgv<W>, coefficients: &[u64], ring: PrimePower) -> Vec<u64> {
    let context = set.params.context();
    match context.hypercube() {
        Some(_) if set.params.is_general() => coefficients.to_vec(),
        Some(_) => {
            let encoder = context.modulus(ring.exponent()).expect("a power").encoder();
            encoder.coordinates_of(&set.in_slots(coefficients))
        }
        None => set.in_slots(coefficients),
    }
}

/// The slots of the unpacked ciphertext whose integers are coordinate `k` of every slot.
fn unpacked<W: Word>(set: &KeyedBgv<W>, coefficients: &[u64], k: usize, ring: PrimePower) -> Vec<u64> {
    let (context, d) = (set.params.context(), set.params.context().slot_degree());
    let own: Vec<u64> = in_slots(set, coefficients, ring).into_iter().skip(k).step_by(d).collect();
    match context.hypercube() {
        Some(_) => context.modulus(ring.exponent()).expect("a power").encoder().coordinates_of(&own),
        None => own.iter().flat_map(|&x| vec![ring.neg(x); d]).collect(),
    }
}

/// The digits that the holder of the key sees, without what stands beside them.
fn low<W: Word>(set: &KeyedBgv<W>, run: &BgvRun<'_, W>) -> Vec<i64> {
    set.secret.digits(run).expect("our own").reveal_to_key_owner().low.clone()
}

/// One bootstrap in steps, each against exact arithmetic; returns what comes out.
fn follow<W: Word>(set: &KeyedBgv<W>, x: &BgvCiphertext<W>, message: &[u64]) -> BgvCiphertext<W> {
    let (params, levels, general) = (&set.params, set.params.levels(), set.params.is_general());
    let (small, large, spec) = (params.messages(), params.raised(), params.spec());
    let q0 = i128::from(spec.chain.levels[0][0]);
    let step = match spec.approach {
        Approach::Beside { step } => i128::from(step),
        _ => i128::from(small.prime().pow(spec.digit_exponent)),
    };
    let mut run = BgvRun::new(&set.bootstrapper, x).expect("an input");
    let mut plain = set.coefficients(x);
    if !general {
        set.advance(&mut run, SLOTS_TO_COEFFS);
        let BgvState::Base(base) = run.state() else { panic!("the message at level 0") };
        plain = set.coefficients(base);
    }

    set.advance(&mut run, PREPARE);
    let BgvState::Prepared(prepared) = run.state() else { panic!("under the ephemeral secret") };
    let phase = set.secret.decrypt_prepared(prepared).expect("our own").reveal_to_key_owner().clone();
    let digit = |x: i128| (2 * x + q0).div_euclid(2 * q0);
    let rests: Vec<f64> = phase.iter().map(|&x| (x - q0 * digit(x)) as f64 / q0 as f64).collect();
    assert!(log_deviation(&rests) <= LARGEST_DEVIATION.log2(), "noise that is counted for a failure");
    for (&x, &m) in phase.iter().zip(&plain) {
        let rest = x - q0 * digit(x);
        assert!(digit(x).abs() <= i128::from(spec.bound), "a digit of {}", digit(x));
        assert_eq!(rest % step, 0, "D m'");
        assert_eq!(modulo(rest / step, small), small.mul(m, prepared.factor().value()), "m' is f m");
    }
    let digits: Vec<i64> = phase.iter().map(|&x| digit(x) as i64).collect();
    assert_eq!(low(set, &run), digits);
    let seen = set.secret.digits(&run).expect("our own").reveal_to_key_owner().high.clone();
    assert_eq!(seen, plain);

    set.advance(&mut run, MOD_RAISE);
    let over_q0 = large.inverse(modulo(q0, large)).expect("a unit");
    let raised: Vec<u64> = phase.iter().map(|&x| large.mul(modulo(x, large), over_q0)).collect();
    let BgvState::Raised(multiples, factor) = run.state() else { panic!("raised") };
    let waiting = run.message().expect("the message waits");
    assert_eq!((waiting.level(), set.coefficients(waiting)), (levels.coeffs_to_slots, raised.clone()));
    assert_eq!((multiples.level(), multiples.ring()), (levels.coeffs_to_slots, large));
    let (multiples, factor) = (set.coefficients(multiples), *factor);
    for (&found, &digit) in multiples.iter().zip(&digits) {
        let rest = large.sub(found, large.reduce_signed(digit));
        // The multiple that stands beside the digit is one of D, and as small.
        let beside = if let Approach::Beside { step } = spec.approach {
            small.centered(small.mul(rest, small.inverse(step).expect("a unit")))
        } else {
            assert_eq!(rest % step as u64, 0);
            small.centered(small.reduce(rest / step as u64))
        };
        assert!(beside.unsigned_abs() <= spec.bound.into(), "{digit} beside {beside} times {step}");
    }
    assert_eq!(low(set, &run), digits);

    set.advance(&mut run, COEFFS_TO_SLOTS);
    let waiting = run.message().expect("the message waits");
    if general {
        assert_eq!(set.coefficients(waiting), raised, "in coefficients still");
        set.advance(&mut run, UNPACK);
        let BgvState::Unpacked(all, _) = run.state() else { panic!("unpacked") };
        assert_eq!(all.len(), params.context().slot_degree());
        for (k, x) in all.iter().enumerate() {
            assert_eq!(set.decrypt(x), unpacked(set, &multiples, k, large), "coordinate {k}");
        }
    } else {
        let BgvState::Slots(slots, _) = run.state() else { panic!("in slots") };
        assert_eq!(set.decrypt(slots), in_slots(set, &multiples, large));
        assert_eq!(set.decrypt(waiting), in_slots(set, &raised, large));
    }

    set.advance(&mut run, DIGIT_REMOVAL);
    let alone: Vec<u64> = digits.iter().map(|&i| large.reduce_signed(i)).collect();
    let BgvState::Digits(read, own) = run.state() else { panic!("digits") };
    assert_eq!((read.ring(), *own, run.message().is_some()), (large, factor, true));
    if !general || params.context().hypercube().is_none() {
        // They are packed by powers of X_2, another one in every slot, and seen as coefficients below.
        assert_eq!(set.decrypt(read), in_slots(set, &alone, large));
    }
    if general {
        assert_eq!(read.level(), levels.slots_to_coeffs);
        set.advance(&mut run, SLOTS_TO_COEFFS);
        let BgvState::Digits(read, _) = run.state() else { panic!("digits") };
        assert_eq!((set.coefficients(read), read.level()), (alone, levels.output));
        assert_eq!(low(set, &run), digits);
    }

    set.advance(&mut run, TAKE_OFF);
    assert!(run.next_stage().is_none() && run.message().is_none());
    let out = run.finish().expect("done");
    assert_eq!(set.decrypt(&out), message);
    assert_eq!((out.level(), out.factor()), (levels.output, Factor::one(small)));
    // As little as products leave.
    assert!(out.noise() <= 2.4 * params.context().noise().rounding());
    set.check_noise(&out, 0.6, "result");
    out
}

/// Messages of all kinds, as slots hold them.
fn messages<W: Word>(set: &KeyedBgv<W>) -> Vec<Vec<u64>> {
    let (context, p) = (set.params.context(), set.params.messages().value());
    if set.params.is_general() {
        return messages_of_every_kind(p, set.params.n(), &set.random(1));
    }
    let slots = messages_of_every_kind(p, context.slots(), &set.integers(1));
    slots.iter().map(|all| set.coordinates(all)).collect()
}

fn every_stage<W: Word>(spec: &BgvSpec) {
    let set = KeyedBgv::<W>::new(spec);
    let (levels, encoder) = (*set.params.levels(), set.params.context().message_modulus().encoder());
    for (i, message) in messages(&set).into_iter().enumerate() {
        let mut x = set.encrypt(&message, levels.output, i as u64);
        follow(&set, &x, &message);
        if i % 6 != 0 {
            continue;
        }
        // With a factor that is not 1, at the lowest level that a bootstrap begins at.
        let mut message = message;
        while x.level() > levels.input {
            x = set.square(&x);
            message = encoder.multiply(&message, &message).expect("whole slots");
        }
        assert_ne!(x.factor(), Factor::one(x.ring()));
        follow(&set, &x, &message);
    }
}

#[test]
fn every_stage_of_one_axis_is_what_exact_arithmetic_gives() {
    every_stage::<u64>(&beside());
    every_stage::<u32>(&beside());
    every_stage::<u64>(&tiny_by(Approach::Multiples, 15, 32));
    every_stage::<u32>(&tiny_by(Approach::Multiples, 15, 32));
}

#[test]
fn every_stage_of_two_axes_is_what_exact_arithmetic_gives() {
    every_stage::<u64>(&two_axes_by(Approach::Beside { step: 7 }, 3, (32, 5), 97, 0.0));
    every_stage::<u64>(&two_axes_by(Approach::Multiples, 9, (32, 5), 97, 0.0));
}

/// T2 and T3 of the specification: dimensions that one automorphism turns, and dimensions that it does not.
#[test]
fn every_stage_of_an_odd_index_is_what_exact_arithmetic_gives() {
    for place in [(215, 8191, 1), (205, 8191, 1)] {
        for general in [false, true] {
            let spec = odd_index_by(Approach::Beside { step: 19 }, place, general);
            every_stage::<u64>(&spec);
            let params = BgvParams::<u64>::new(&spec).expect("a sound set");
            assert_eq!((params.removal().degree(), params.raised()), (359, params.messages()));
        }
    }
    // Modulo a square too.
    for general in [false, true] {
        every_stage::<u64>(&odd_index_by(Approach::Multiples, (129, 257, 2), general));
    }
}

#[test]
fn a_hundred_bootstraps_with_products_between_stay_right() {
    let one_axis = [beside(), tiny_by(Approach::Multiples, 15, 32)];
    let of_two = |approach, bound| two_axes_by(approach, bound, (32, 5), 97, 0.0);
    let two_axes = [of_two(Approach::Beside { step: 7 }, 3), of_two(Approach::Multiples, 9)];
    for (spec, above) in
        one_axis.iter().map(|spec| (spec, 0.1)).chain(two_axes.iter().map(|spec| (spec, 0.3)))
    {
        KeyedBgv::<u64>::new(spec).chained(100, 2.4).check_noise(above);
    }
}

/// Digits beside a step, and from the multiples of q0 of messages modulo a square.
fn chains_of_an_odd_index(rounds: u64) {
    for general in [false, true] {
        for (approach, place) in
            [(Approach::Beside { step: 19 }, (215, 8191, 1)), (Approach::Multiples, (129, 257, 2))]
        {
            let set = KeyedBgv::<u64>::new(&odd_index_by(approach, place, general));
            set.chained(rounds, 2.4).check_noise(0.6);
        }
    }
}

#[test]
fn bootstraps_of_an_odd_index_with_products_between_stay_right() {
    chains_of_an_odd_index(10);
}

#[test]
#[ignore = "half a minute"]
fn a_hundred_bootstraps_of_an_odd_index_with_products_between_stay_right() {
    chains_of_an_odd_index(100);
}

#[test]
fn threads_make_no_difference() {
    let general = odd_index_by(Approach::Beside { step: 19 }, (215, 8191, 1), true);
    for spec in [beside(), general] {
        let set = KeyedBgv::<u64>::new(&spec);
        let message = set.random(5);
        let x = set.encrypt(&message, set.params.levels().input, 5);
        let by = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| set.bootstrapper.bootstrap(&x, &set.keys, &mut ()).expect("an input"))
        };
        let (one, many) = (by(1), by(5));
        assert!(one.parts().iter().zip(many.parts()).all(|(a, b)| a.data() == b.data()));
    }
}

/// A slot is wrong where a digit or the multiple beside it is beyond the bound, nowhere else, and as often as is computed.
#[test]
fn slots_are_wrong_where_digits_exceed_their_bound_alone() {
    let bound = 3;
    let set = KeyedBgv::<u64>::new(&tiny_by(Approach::Beside { step: 7 }, bound, 24));
    let (mut beyond, mut all) = (0, 0);
    for i in 0..60 {
        let message = set.random(i);
        let x = set.encrypt(&message, set.params.levels().input, i);
        let mut run = BgvRun::new(&set.bootstrapper, &x).expect("an input");
        let (mut digits, mut multiples) = (Vec::new(), Vec::new());
        while !run.step(&set.keys, &mut ()).expect("an input") {
            match run.state() {
                BgvState::Prepared(_) => digits = low(&set, &run),
                BgvState::Raised(y, _) => {
                    let ring = y.ring();
                    let over = ring.inverse(7).expect("a unit");
                    let own = set.coefficients(y);
                    let rest = own.iter().zip(&digits).map(|(&y, &i)| ring.sub(y, ring.reduce_signed(i)));
                    multiples = rest.map(|rest| ring.centered(ring.mul(rest, over))).collect::<Vec<i64>>();
                }
                _ => (),
            }
        }
        let large = |x: &[i64]| x.iter().map(|i| u64::from(i.abs() > bound.into())).collect::<Vec<_>>();
        let (digit, multiple) = (large(&digits), large(&multiples));
        let either: Vec<u64> = digit.iter().zip(&multiple).map(|(a, b)| a | b).collect();
        let either = in_slots(&set, &either, set.params.messages());
        let found = set.decrypt(&run.finish().expect("done"));
        for ((found, message), either) in found.iter().zip(&message).zip(&either) {
            assert!(found == message || *either == 1, "a wrong slot of a small digit");
        }
        beyond += [digit, multiple].concat().iter().sum::<u64>();
        all += found.len();
    }
    let (found, law) =
        (beyond as f64 / all as f64, 2f64.powf(set.params.log2_failure()) / set.params.n() as f64);
    assert!((found / law).ln().abs() < 1.5f64.ln(), "{found} of the digits, computed {law}");
}

#[test]
fn sets_that_do_not_fit_are_named() {
    let refused = |mut spec: BgvSpec, change: &dyn Fn(&mut BgvSpec)| {
        assert!(BgvParams::<u64>::new(&spec).is_ok());
        change(&mut spec);
        refusal(&spec)
    };
    // Sums that are not all different, for a step or a bound.
    for (step, bound) in [(14, 7), (0, 7), (257, 7), (u64::MAX, 7), (15, 8), (15, u32::MAX)] {
        let text = refused(beside(), &|spec| {
            (spec.approach, spec.bound) = (Approach::Beside { step }, bound);
        });
        assert!(text.contains("step above twice the bound") && text.contains("257/2"), "{text}");
    }
    let text = refused(beside(), &|spec| spec.digit_exponent = 1);
    assert!(text.contains("step of 15") && text.contains("digit exponent of 0"), "{text}");
    let text = refused(beside(), &|spec| spec.exponent = 2);
    assert!(text.contains("take 257 itself"), "{text}");
    // A step that belongs to no approach.
    let text = refused(beside(), &|spec| spec.approach = Approach::Multiples);
    assert!(text.contains("exponent from 1"), "{text}");
    // A q0 that leaves no room for the multiple.
    let text = refused(beside(), &|spec| spec.chain.levels.swap(0, 3));
    assert!(text.contains("larger q0"), "{text}");
    // Several digits are read from the message itself.
    let several = small_prime(2, 4, 85, 1, false);
    let text = refused(several, &|spec| spec.approach = Approach::Multiples);
    assert!(text.contains("below 2/2"), "{text}");
    // Digits of general sets become coefficients modulo p^e, which takes larger levels.
    let odd = odd_index_by(Approach::Raised, (215, 8191, 1), true);
    let text = refused(odd, &|spec| spec.approach = Approach::Multiples);
    assert!(text.contains("larger primes"), "{text}");
    // Every approach is a set of its own.
    let fingerprint = |approach| BgvSpec { approach, ..beside() }.fingerprint();
    let steps = [15, 16].map(|step| Approach::Beside { step });
    let all = [Approach::Raised, Approach::Multiples, steps[0], steps[1]].map(fingerprint);
    assert!((0..4).all(|i| (0..i).all(|j| all[i] != all[j])));
}

#[test]
fn what_belongs_to_another_approach_is_refused() {
    let (set, raised) =
        (KeyedBgv::<u64>::new(&beside()), KeyedBgv::<u64>::new(&tiny_by(Approach::Raised, 15, 32)));
    let mut work = Counters::default();
    let x = raised.encrypt(&[1, 2], 0, 1);
    let prepared = raised.bootstrapper.prepare(&x, &raised.keys, &mut work).expect("level 0");
    let Err(Error::InvalidArgument(text)) =
        raised.bootstrapper.raise_multiples(&prepared, &raised.keys, &mut work)
    else {
        panic!("no multiples")
    };
    assert!(text.contains("tiny") && text.contains("from the raised message"), "{text}");
    let error = set.bootstrapper.raise_multiples(&prepared, &set.keys, &mut work).err();
    assert!(matches!(error, Some(Error::ParamsMismatch(_))), "{error:?}");
    // The digits of a run, and what they are taken off.
    let message = set.random(6);
    let x = set.encrypt(&message, set.params.levels().input, 6);
    let mut run = BgvRun::new(&set.bootstrapper, &x).expect("an input");
    while run.next_stage().is_some_and(|stage| stage.id != TAKE_OFF) {
        run.step(&set.keys, &mut ()).expect("an input");
    }
    let (BgvState::Digits(digits, factor), Some(waiting)) = (run.state(), run.message()) else {
        panic!("digits")
    };
    let take = |waiting: &BgvCiphertext<u64>, digits: &BgvCiphertext<u64>, factor| {
        set.bootstrapper.take_off(waiting, digits, factor)
    };
    let right = take(waiting, digits, *factor).expect("its own digits");
    assert_eq!(set.decrypt(&right), message);
    // The factor of another message is another factor of the result, whose slots are then multiples.
    let ring = set.params.messages();
    let two = Factor::new(2, ring).expect("a unit");
    let other = take(waiting, digits, factor.mul(two)).expect("its own digits");
    assert_eq!(other.factor(), two);
    let low = set.bootstrapper.bgv().drop_to_level(waiting, digits.level()).expect("lower");
    assert!(matches!(take(&low, digits, *factor), Err(Error::LevelMismatch(_))));
    let foreign = raised.encrypt(&[1], raised.params.levels().output, 7);
    assert!(matches!(take(&foreign, digits, *factor), Err(Error::ParamsMismatch(_))));
    assert!(matches!(take(waiting, &foreign, *factor), Err(Error::ParamsMismatch(_))));
    let of_p2 = KeyedBgv::<u64>::new(&tiny_by(Approach::Multiples, 15, 32));
    let x = of_p2.encrypt(&[1], of_p2.params.levels().output, 8);
    let one = Factor::one(of_p2.params.messages());
    assert!(matches!(of_p2.bootstrapper.take_off(&x, &x, one), Err(Error::PlaintextMismatch(_))));
}
