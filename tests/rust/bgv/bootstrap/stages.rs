//! Every stage against exact arithmetic.

use refloat::Error;
use refloat::arith::Word;
use refloat::bootstrapping::bgv::{
    Approach, BgvRun, BgvSpec, BgvState, COEFFS_TO_SLOTS, DIGIT_REMOVAL, LARGEST_DEVIATION, MOD_RAISE,
    PREPARE, SLOTS_TO_COEFFS,
};
use refloat::schemes::bgv::{BgvCiphertext, Factor, PrimePower};
use refloat::trace::Counters;
use refloat_tests::bgv::{log_deviation, messages_of_every_kind, one_axis, tiny};
use refloat_tests::keyed_bgv::KeyedBgv;

use super::squared;

/// p^t m'/q0 of the coefficients of a prepared message.
fn rests<W: Word>(set: &KeyedBgv<W>, phase: &[i128]) -> Vec<f64> {
    let q0 = set.params.spec().chain.levels[0][0] as f64;
    phase.iter().map(|&x| x as f64 / q0).map(|x| x - x.round()).collect()
}

/// One bootstrap in steps, each against exact arithmetic; returns what comes out.
pub fn follow<W: Word>(set: &KeyedBgv<W>, x: &BgvCiphertext<W>, message: &[u64]) -> BgvCiphertext<W> {
    let (params, n) = (&set.params, set.params.n());
    let (small, large) = (params.messages(), params.raised());
    let q0 = i128::from(params.spec().chain.levels[0][0]);
    let step = i128::from(small.prime().pow(params.spec().digit_exponent));
    let mut run = BgvRun::new(&set.bootstrapper, x).expect("an input");
    assert_eq!(set.digits(&run, true, message), vec![0; n]);
    set.advance(&mut run, SLOTS_TO_COEFFS);
    let BgvState::Base(base) = run.state() else { panic!("the message at level 0") };
    let coefficients = set.coefficients(base);
    assert_eq!(set.in_slots(&coefficients), message, "slots in coefficients");
    let (factor, level) = (base.factor(), base.level());
    assert_eq!((level, set.digits(&run, false, &coefficients)), (0, vec![0; n]));

    set.advance(&mut run, PREPARE);
    let BgvState::Prepared(prepared) = run.state() else { panic!("under the ephemeral secret") };
    let phase = set.secret.decrypt_prepared(prepared).expect("our own").reveal_to_key_owner().clone();
    assert!(
        log_deviation(&rests(set, &phase)) <= LARGEST_DEVIATION.log2(),
        "as much noise as is counted for a failure"
    );
    let bound = i128::from(params.spec().bound);
    let modulo = |x: i128, ring: PrimePower| x.rem_euclid(ring.value().into()) as u64;
    for (&x, &m) in phase.iter().zip(&coefficients) {
        let digit = (x as f64 / q0 as f64).round() as i128;
        let rest = x - q0 * digit;
        assert!(digit.abs() <= bound, "a digit of {digit}");
        assert!(rest % step == 0, "p^t m'");
        assert_eq!(modulo(rest / step, small), small.mul(m, factor.value()), "m' is f m modulo p^r");
    }
    let low: Vec<i64> = phase.iter().map(|&x| (x as f64 / q0 as f64).round() as i64).collect();
    assert_eq!(set.digits(&run, false, &coefficients), low);

    set.advance(&mut run, MOD_RAISE);
    let over_q0 = large.inverse(modulo(q0, large)).expect("a unit");
    let expected: Vec<u64> = phase.iter().map(|&x| large.mul(modulo(x, large), over_q0)).collect();
    let BgvState::Raised(raised, _) = run.state() else { panic!("raised") };
    assert_eq!(set.coefficients(raised), expected);
    assert_eq!((raised.ring(), raised.level()), (large, params.levels().coeffs_to_slots));
    assert_eq!(set.digits(&run, false, &coefficients), low);

    set.advance(&mut run, COEFFS_TO_SLOTS);
    let BgvState::Slots(slots, _) = run.state() else { panic!("in slots") };
    assert_eq!(set.decrypt(slots), set.in_slots(&expected), "coefficients in slots");
    assert_eq!(set.digits(&run, true, message), set.in_slots(&low));

    set.advance(&mut run, DIGIT_REMOVAL);
    assert!(run.next_stage().is_none());
    assert_eq!(set.digits(&run, true, message), vec![0; n], "the low digit is gone");
    let out = run.finish().expect("done");
    assert_eq!(set.decrypt(&out), message);
    assert_eq!((out.level(), out.factor()), (params.levels().output, Factor::one(small)));
    out
}

#[test]
fn every_stage_is_what_exact_arithmetic_gives() {
    every_stage(&tiny(15));
    every_stage(&of_32_slots());
}

/// 32 slots of integers modulo 65537, digits up to 6, which are never larger.
pub fn of_32_slots() -> BgvSpec {
    one_axis((32, 65537), (Approach::Raised, 6, 12))
}

fn every_stage(spec: &BgvSpec) {
    let set = KeyedBgv::<u64>::new(spec);
    let n = set.params.n();
    let p = set.params.messages().value();
    let messages = messages_of_every_kind(p, n, &set.random(1));
    for (i, message) in messages.iter().enumerate() {
        let x = set.encrypt(message, set.params.levels().output, i as u64);
        follow(&set, &x, message);
        // With a factor that is not 1, at every level that a bootstrap begins at.
        let mut x = set.square(&x);
        let mut message = squared(&set, message);
        while x.level() > set.params.levels().input {
            assert_ne!(x.factor(), Factor::one(x.ring()));
            follow(&set, &x, &message);
            x = set.square(&x);
            message = squared(&set, &message);
        }
        follow(&set, &x, &message);
    }
}

#[test]
fn narrow_words_and_other_digits_do_as_well() {
    let narrow = KeyedBgv::<u32>::new(&tiny(15));
    let message = narrow.random(2);
    follow(&narrow, &narrow.encrypt(&message, 2, 1), &message);
    // Messages modulo p^2, of which a digit is removed modulo p^4 in two steps.
    let mut spec = tiny(15);
    (spec.exponent, spec.digit_exponent) = (2, 2);
    // Every level for p^4, and q0 too.
    let levels = spec.chain.levels.len();
    let sizes = [vec![45.0], vec![50.0; levels + 3]].concat();
    let mut primes = refloat_tests::rns::primes(64, &sizes).into_iter();
    spec.chain.levels = (0..levels).map(|_| vec![primes.next().expect("enough")]).collect();
    spec.chain.special = primes.by_ref().take(3).collect();
    spec.ephemeral.prime = primes.next().expect("enough");
    let set = KeyedBgv::<u64>::new(&spec);
    let message = set.random(3);
    let out = follow(&set, &set.encrypt(&message, set.params.levels().output, 2), &message);
    assert_eq!(out.ring().value(), 257 * 257);
    // A factor that is known modulo p only, taken as one modulo p^2, would give slots that are right modulo p only.
    let (bootstrapper, mut work) = (&set.bootstrapper, Counters::default());
    let mut run = BgvRun::new(bootstrapper, &out).expect("an input");
    while run.next_stage().is_some_and(|stage| stage.id != DIGIT_REMOVAL) {
        run.step(&set.keys, &mut ()).expect("an input");
    }
    let BgvState::Slots(slots, factor) = run.state() else { panic!("in slots") };
    let mut remove = |factor| bootstrapper.remove_digit(slots, factor, &set.keys, &mut work);
    for exponent in [1, 3, 4] {
        let wrong = remove(factor.modulo(exponent).expect("a power")).err();
        assert!(matches!(wrong, Some(Error::PlaintextMismatch(_))), "a factor modulo p^{exponent}");
    }
    assert_eq!(set.decrypt(&remove(*factor).expect("its own factor")), message);
}
