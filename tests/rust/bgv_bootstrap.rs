//! Thin BGV bootstrapping on toys: every stage as the holder of the key sees it, chains, failures, refusals.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use refloat::Error;
use refloat::arith::Word;
use refloat::bootstrapping::bgv::{
    BgvBootstrapper, BgvKeys, BgvParams, BgvPreset, BgvRun, BgvSecretKey, BgvSpec, BgvState, COEFFS_TO_SLOTS,
    DIGIT_REMOVAL, Direction, KeySource, LARGEST_DEVIATION, MOD_RAISE, PREPARE, SLOTS_TO_COEFFS,
};
use refloat::bootstrapping::log2_quotient_exceeds;
use refloat::bootstrapping::method::Promise;
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::circuits::polynomial::Plan;
use refloat::random::Seed;
use refloat::ring::{Automorphism, GaloisElement};
use refloat::rlwe::{GaloisSource, HeldKey};
use refloat::schemes::bgv::{BgvCiphertext, Factor, PrimePower};
use refloat::trace::{Counters, Observer, StageEvent};
use refloat_tests::bgv::{log_deviation, tiny};
use refloat_tests::rns::Lottery;

struct Set<W: Word> {
    params: BgvParams<W>,
    secret: BgvSecretKey<W>,
    keys: BgvKeys<W>,
    bootstrapper: BgvBootstrapper<W>,
}

impl<W: Word> Set<W> {
    fn new(spec: &BgvSpec) -> Self {
        let params = BgvParams::new(spec).expect("a sound set");
        let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
        let keys = secret.evaluation_keys().expect("keys");
        let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated).expect("a sound set");
        Self { params, secret, keys, bootstrapper }
    }

    fn encrypt(&self, message: &[u64], level: usize, randomness: u64) -> BgvCiphertext<W> {
        let randomness = Seed::from_bytes([4; 32]).derive("test", &[randomness]);
        self.secret.encrypt(message, level, &randomness).expect("slots that fit")
    }

    fn decrypt(&self, x: &BgvCiphertext<W>) -> Vec<u64> {
        self.secret.decrypt(x).expect("our own").reveal_to_key_owner().clone()
    }

    fn square(&self, x: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        self.bootstrapper.multiply(x, x, &self.keys)
    }

    fn squared(&self, message: &[u64]) -> Vec<u64> {
        let ring = self.params.messages();
        message.iter().map(|&m| ring.mul(m, m)).collect()
    }

    /// Squares down to the lowest level of an input.
    fn worn(&self, message: &mut Vec<u64>, mut x: BgvCiphertext<W>) -> BgvCiphertext<W> {
        while x.level() > self.params.levels().input {
            x = self.square(&x).expect("room");
            *message = self.squared(message);
        }
        x
    }

    /// log2 of the deviation of the coefficients of its noise.
    fn log_noise(&self, x: &BgvCiphertext<W>) -> f64 {
        log_deviation(self.secret.noise(x).expect("our own").reveal_to_key_owner())
    }

    /// log2 of what that is by the estimate.
    fn log_estimate(&self, x: &BgvCiphertext<W>) -> f64 {
        self.params.context().noise().deviation(x.noise()).log2()
    }

    fn random(&self, lottery: &mut Lottery) -> Vec<u64> {
        (0..self.params.n()).map(|_| lottery.word() % self.params.messages().value()).collect()
    }
}

/// Where slot (s, j) is among the coefficients.
fn place(n: usize, slot: usize) -> usize {
    let columns = n / 2;
    let (s, j) = (slot / columns, slot % columns);
    (j.reverse_bits() >> (usize::BITS - columns.trailing_zeros())) + s * columns
}

/// The next stage, which is this one.
fn advance<W: Word>(set: &Set<W>, run: &mut BgvRun<'_, W>, stage: &str) {
    assert_eq!(run.next_stage().map(|s| s.id), Some(stage));
    run.step(&set.keys, &mut ()).unwrap_or_else(|error| panic!("{stage}: {error}"));
}

/// p^t m'/q0 of the coefficients of a prepared message.
fn rests<W: Word>(set: &Set<W>, phase: &[i128]) -> Vec<f64> {
    let q0 = set.params.spec().chain.levels[0][0] as f64;
    phase.iter().map(|&x| x as f64 / q0).map(|x| x - x.round()).collect()
}

/// The low digits that the holder of the key sees, whose messages are `high`.
fn digits<W: Word>(set: &Set<W>, run: &BgvRun<'_, W>, slots: bool, high: &[u64]) -> Vec<i64> {
    let seen = set.secret.digits(run).expect("our own");
    let seen = seen.reveal_to_key_owner();
    assert_eq!((seen.slots, seen.high.as_slice()), (slots, high));
    seen.low.clone()
}

/// One bootstrap in steps, each against exact arithmetic; returns what comes out.
fn follow<W: Word>(set: &Set<W>, x: &BgvCiphertext<W>, message: &[u64]) -> BgvCiphertext<W> {
    let (params, secret, n) = (&set.params, &set.secret, set.params.n());
    let (small, large) = (params.messages(), params.raised());
    let q0 = i128::from(params.spec().chain.levels[0][0]);
    let step = i128::from(small.prime().pow(params.spec().digit_exponent));
    let mut run = BgvRun::new(&set.bootstrapper, x).expect("an input");
    assert_eq!(digits(set, &run, true, message), vec![0; n]);
    advance(set, &mut run, SLOTS_TO_COEFFS);
    let BgvState::Base(base) = run.state() else { panic!("the message at level 0") };
    let coefficients = secret.decrypt_coefficients(base).expect("our own").reveal_to_key_owner().clone();
    assert!((0..n).all(|slot| coefficients[place(n, slot)] == message[slot]), "slots in coefficients");
    let (factor, level) = (base.factor(), base.level());
    assert_eq!((level, digits(set, &run, false, &coefficients)), (0, vec![0; n]));

    advance(set, &mut run, PREPARE);
    let BgvState::Prepared(prepared) = run.state() else { panic!("under the ephemeral secret") };
    let phase = secret.decrypt_prepared(prepared).expect("our own").reveal_to_key_owner().clone();
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
    assert_eq!(digits(set, &run, false, &coefficients), low);

    advance(set, &mut run, MOD_RAISE);
    let over_q0 = large.inverse(modulo(q0, large)).expect("a unit");
    let expected: Vec<u64> = phase.iter().map(|&x| large.mul(modulo(x, large), over_q0)).collect();
    let BgvState::Raised(raised, _) = run.state() else { panic!("raised") };
    assert_eq!(secret.decrypt_coefficients(raised).expect("our own").reveal_to_key_owner(), &expected);
    assert_eq!((raised.ring(), raised.level()), (large, params.levels().coeffs_to_slots));
    assert_eq!(digits(set, &run, false, &coefficients), low);

    advance(set, &mut run, COEFFS_TO_SLOTS);
    let BgvState::Slots(slots, _) = run.state() else { panic!("in slots") };
    let found = set.decrypt(slots);
    assert!((0..n).all(|slot| found[slot] == expected[place(n, slot)]), "coefficients in slots");
    let moved = |of: &[i64]| (0..n).map(|slot| of[place(n, slot)]).collect::<Vec<_>>();
    assert_eq!(digits(set, &run, true, message), moved(&low));

    advance(set, &mut run, DIGIT_REMOVAL);
    assert!(run.next_stage().is_none());
    assert_eq!(digits(set, &run, true, message), vec![0; n], "the low digit is gone");
    let out = run.finish().expect("done");
    assert_eq!(set.decrypt(&out), message);
    assert_eq!((out.level(), out.factor()), (params.levels().output, Factor::one(small)));
    out
}

#[test]
fn every_stage_is_what_exact_arithmetic_gives() {
    let set = Set::<u64>::new(&tiny(15));
    let n = set.params.n();
    let p = set.params.messages().value();
    let of = |f: &dyn Fn(usize) -> u64| (0..n).map(|i| f(i) % p).collect::<Vec<u64>>();
    let messages = [
        set.random(&mut Lottery::new(1)),
        of(&|_| 0),
        of(&|_| 1),
        of(&|_| p - 1),
        of(&|_| p / 2),
        of(&|i| i as u64),
        of(&|i| u64::from(i == 0)),
    ];
    for (i, message) in messages.iter().enumerate() {
        let x = set.encrypt(message, set.params.levels().output, i as u64);
        follow(&set, &x, message);
        // With a factor that is not 1, at every level that a bootstrap begins at.
        let mut x = set.square(&x).expect("room");
        let mut message = set.squared(message);
        while x.level() > set.params.levels().input {
            assert_ne!(x.factor(), Factor::one(x.ring()));
            follow(&set, &x, &message);
            x = set.square(&x).expect("room");
            message = set.squared(&message);
        }
        follow(&set, &x, &message);
    }
}

#[test]
fn narrow_words_and_other_digits_do_as_well() {
    let narrow = Set::<u32>::new(&tiny(15));
    let message = narrow.random(&mut Lottery::new(2));
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
    let set = Set::<u64>::new(&spec);
    let message = set.random(&mut Lottery::new(3));
    let out = follow(&set, &set.encrypt(&message, set.params.levels().output, 2), &message);
    assert_eq!(out.ring().value(), 257 * 257);
    // A factor modulo p alone, as one of p^2, would give slots that are right modulo p alone.
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

/// Coefficients of noise, measured with the key, against the estimate that ciphertexts carry and the law that failures are computed
/// from. Largest embeddings are estimated, so that maps and products, which are counted by them, may leave less.
#[test]
fn noise_is_as_estimated_at_every_stage() {
    let toy = (BgvPreset::named("toy-bgv10").expect("a set").spec)();
    for (spec, runs) in [(tiny(15), 20), (toy, 4)] {
        let set = Set::<u64>::new(&spec);
        let mut found = [(); 5].map(|()| Vec::new());
        for i in 0..runs {
            let mut message = set.random(&mut Lottery::new(200 + i));
            let levels = set.params.levels();
            // Fresh ones, and ones that were squared.
            let x = set.encrypt(&message, if i % 2 == 0 { levels.input } else { levels.output }, i);
            let x = set.worn(&mut message, x);
            let mut run = BgvRun::new(&set.bootstrapper, &x).expect("an input");
            let mut base = 0.0;
            for measured in &mut found {
                run.step(&set.keys, &mut ()).expect("an input");
                measured.push(match run.state() {
                    BgvState::Prepared(prepared) => {
                        let phase = set.secret.decrypt_prepared(prepared).expect("our own");
                        let rests = rests(&set, phase.reveal_to_key_owner());
                        log_deviation(&rests) - set.params.quotient_deviation(f64::exp2(base)).log2()
                    }
                    BgvState::Base(x) => {
                        base = set.log_noise(x);
                        base - set.log_estimate(x)
                    }
                    BgvState::Raised(x, _) | BgvState::Slots(x, _) | BgvState::Done(x) => {
                        set.log_noise(x) - set.log_estimate(x)
                    }
                    _ => panic!("a stage was done"),
                });
            }
            assert_eq!(set.decrypt(&run.finish().expect("done")), message);
        }
        let mean = found.map(|bits| bits.iter().sum::<f64>() / bits.len() as f64);
        for (stage, (bits, lowest)) in
            set.params.stages().iter().zip(mean.into_iter().zip([-0.3, -0.3, -0.3, -1.2, -1.2]))
        {
            assert!(
                (lowest..0.3).contains(&bits),
                "{}, {}: {bits:.2} bits above the estimate",
                spec.name,
                stage.id
            );
        }
    }
}

/// A hundred bootstraps, with as many squares between as there are levels for.
fn stays_right(set: &Set<u64>) {
    let floor = set.params.context().noise().rounding();
    let modulus = set.params.context().rlwe().q(set.params.levels().output).log2();
    let promised = modulus - (2.0 * 2.1 * floor * set.params.messages().value() as f64).log2();
    let mut message = set.random(&mut Lottery::new(4));
    let mut x = set.encrypt(&message, set.params.levels().output, 3);
    for round in 0..100u64 {
        // Squares go to 0 and 1: a sum keeps the slots moving.
        for _ in 0..set.params.levels().left() {
            x = set.square(&x).expect("room");
            message = set.squared(&message);
        }
        let shift: Vec<u64> = set.random(&mut Lottery::new(100 + round));
        x = set.bootstrapper.bgv().add_plain(&x, &shift).expect("room");
        let ring = set.params.messages();
        for (m, &s) in message.iter_mut().zip(&shift) {
            *m = ring.add(*m, s);
        }
        x = set.bootstrapper.bootstrap(&x, &set.keys, &mut ()).expect("an input");
        assert_eq!(set.decrypt(&x), message, "bootstrap {round}");
        assert!(x.noise() < 2.1 * floor, "the estimate stays at the floor");
        assert!(set.log_noise(&x) < set.log_estimate(&x) + 0.1, "and noise below the estimate");
        assert!(x.capacity() >= promised, "room for as many products");
    }
    let values: BTreeSet<u64> = message.into_iter().collect();
    assert!(values.len() > 16, "slots that have become the same");
}

#[test]
fn a_hundred_bootstraps_with_products_between_stay_right() {
    stays_right(&Set::new(&tiny(15)));
    stays_right(&Set::new(&(BgvPreset::named("toy-bgv10").expect("a set").spec)()));
}

#[test]
fn digits_exceed_their_bound_as_often_as_computed() {
    for bound in [2, 3, 4] {
        let set = Set::<u64>::new(&tiny(bound));
        let q0 = set.params.spec().chain.levels[0][0] as f64;
        let (mut beyond, mut all) = (0, 0);
        for i in 0..60 {
            let x = set.encrypt(&set.random(&mut Lottery::new(i)), set.params.levels().input, i);
            let mut work = Counters::default();
            let base = set.bootstrapper.slots_to_coeffs(&x, &set.keys, &mut work).expect("an input");
            let prepared = set.bootstrapper.prepare(&base, &set.keys, &mut work).expect("level 0");
            let phase = set.secret.decrypt_prepared(&prepared).expect("our own");
            let phase = phase.reveal_to_key_owner();
            beyond += phase.iter().filter(|&&x| (x as f64 / q0).round().abs() > f64::from(bound)).count();
            all += phase.len();
        }
        let found = beyond as f64 / all as f64;
        let law = 2f64.powf(set.params.log2_failure()) / set.params.n() as f64;
        let without_noise = 2f64.powf(log2_quotient_exceeds(32, bound));
        assert!(law >= without_noise && law < 1.2 * without_noise);
        assert!(
            (found / law).ln().abs() < 1.5f64.ln(),
            "bound {bound}: {found} of the digits, computed {law}"
        );
    }
}

#[test]
fn toy_bgv10_is_refreshed_between_squares() {
    let preset = BgvPreset::named("toy-bgv10").expect("a set");
    let set = Set::<u64>::new(&(preset.spec)());
    let params = &set.params;
    assert_eq!(params.fingerprint(), preset.fingerprint());
    assert_eq!((params.n(), params.messages().value(), params.levels().left()), (1024, 65537, 2));
    let plan = Plan::new(std::slice::from_ref(params.removal())).expect("one polynomial");
    assert_eq!((params.removal().degree(), plan.key_switches(), plan.levels()), (61, 13, 6));
    assert!(params.log2_failure() <= preset.promised, "{}", params.log2_failure());
    let mut message = set.random(&mut Lottery::new(5));
    let mut x = set.encrypt(&message, params.levels().output, 4);
    for _ in 0..2 {
        x = set.worn(&mut message, x);
        x = follow(&set, &x, &message);
    }
    rotates_by_hand(&set, &x, &message);
}

/// Messages modulo p^2, whose digits are removed modulo p^3.
#[test]
fn toy_bgv7_is_refreshed_modulo_a_square() {
    let preset = BgvPreset::named("toy-bgv7").expect("a set");
    let set = Set::<u64>::new(&(preset.spec)());
    let params = &set.params;
    assert_eq!((params.n(), params.messages().value(), params.levels().left()), (128, 66049, 2));
    assert_eq!(
        (params.raised().value(), params.removal().degree(), params.removal().levels()),
        (16_974_593, 91, 7)
    );
    stays_right(&set);
    let mut message = set.random(&mut Lottery::new(7));
    // Multiples of p too, which have no inverse.
    message[..4].copy_from_slice(&[0, 257, 66048, 257 * 256]);
    let mut x = set.encrypt(&message, params.levels().output, 6);
    for _ in 0..3 {
        x = set.worn(&mut message, x);
        x = follow(&set, &x, &message);
    }
    rotates_by_hand(&set, &x, &message);
}

/// A result is rotated by powers of two, and its rows swapped: there are keys of its level for both.
fn rotates_by_hand(set: &Set<u64>, x: &BgvCiphertext<u64>, message: &[u64]) {
    let (bgv, columns) = (set.bootstrapper.bgv(), message.len() / 2);
    assert_eq!(x.level(), set.params.levels().output);
    for steps in (0..columns.ilog2()).map(|log| 1 << log) {
        let turned = bgv.rotate(x, steps as i64, &set.keys).expect("a power of two");
        let slot = |i: usize| message[i / columns * columns + (i + steps) % columns];
        assert_eq!(set.decrypt(&turned), (0..message.len()).map(slot).collect::<Vec<_>>(), "by {steps}");
    }
    let swapped = bgv.swap_rows(x, &set.keys).expect("a key");
    assert_eq!(set.decrypt(&swapped), [&message[columns..], &message[..columns]].concat());
}

#[test]
fn sets_hold_what_they_promise() {
    for preset in BgvPreset::all() {
        let params = preset.params().expect("a preset");
        let (name, failure) = (preset.name, params.log2_failure());
        assert!(failure <= preset.promised && failure > preset.promised - 1.0, "{name}: 2^{failure:.2}");
        assert_eq!(preset.promise(), Promise::Exact { log_failure: preset.promised });
        assert!(!preset.secure() || params.security().bits >= 128.0, "{name}");
        assert_eq!(
            preset.secure(),
            !name.starts_with("toy-") && !preset.title.contains("INSECURE"),
            "{name}"
        );
        // A policy that claims security does not take a set that fails more often than once in 2^128 bootstraps.
        for bound in [0, 2, 14] {
            let mut spec = (preset.spec)();
            spec.bound = bound;
            match BgvParams::<u64>::new(&spec) {
                Ok(params) => assert!(!preset.secure() && params.log2_failure() > -128.0),
                Err(Error::Insecure(text)) => {
                    assert!(
                        preset.secure() && text.contains("wrong slot") && text.contains("larger bound"),
                        "{text}"
                    );
                }
                Err(error) => panic!("{name}, digits up to {bound}: {error}"),
            }
        }
    }
    let bgv15 = BgvPreset::named("bgv15").expect("a set").params().expect("a preset");
    assert_eq!((bgv15.n(), bgv15.levels().left(), bgv15.galois_elements().count()), (32768, 5, 46));
    assert!((bgv15.log_qp() - 865.93).abs() < 0.01 && (bgv15.log_q0_p() - 85.0).abs() < 0.01);
}

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
    let set = Set::<u64>::new(&tiny(15));
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
    // Stages that are given another's plaintexts.
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
    let other = Set::<u64>::new(&tiny(3));
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

/// Keys, one of which is in the place of the relinearisation key.
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
    let set = Set::<u64>::new(&tiny(15));
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

#[test]
fn sets_that_do_not_fit_are_named() {
    let refused = |change: &dyn Fn(&mut BgvSpec)| {
        let mut spec = tiny(15);
        change(&mut spec);
        match BgvParams::<u64>::new(&spec) {
            Err(Error::InvalidArgument(text)) => text,
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("a set that does not fit"),
        }
    };
    assert!(refused(&|spec| spec.bound = 129).contains("bound below 257/2"));
    assert!(refused(&|spec| spec.digit_exponent = 0).contains("exponent"));
    assert!(refused(&|spec| spec.prime = 193).contains("1 modulo 128"));
    assert!(refused(&|spec| spec.chain.n = 4).contains("from 8"));
    for weight in [0, 65, u32::MAX] {
        assert!(refused(&|spec| spec.ephemeral.weight = weight).contains(&format!("weight {weight} ")));
    }
    assert!(refused(&|spec| spec.chain.levels[0].push(1)).contains("level 0 has 2 primes"));
    assert!(refused(&|spec| spec.coeffs_to_slots = 7).contains("stages"));
    assert!(refused(&|spec| spec.slots_to_coeffs = 5).contains("at least one level more"));
    for stages in [usize::MAX, 0] {
        refused(&|spec| spec.slots_to_coeffs = stages);
        refused(&|spec| spec.coeffs_to_slots = stages);
    }
    refused(&|spec| spec.digit_exponent = u32::MAX);
    refused(&|spec| spec.exponent = u32::MAX);
    // Levels 0 and 3 in each other's place: a q0 too small for the noise of a message.
    assert!(refused(&|spec| spec.chain.levels.swap(0, 3)).contains("larger q0"));
    // Levels whose primes are too small for their stage, from the lowest product to the top.
    let primes = refloat_tests::rns::primes(64, &[15.0, 22.0, 20.0]);
    let levels = *BgvParams::<u64>::new(&tiny(15)).expect("sound").levels();
    for (level, prime, words) in [
        (levels.input + 1, primes[0], "for products modulo 257^1"),
        (levels.output, primes[0], "for products modulo 257^1"),
        (levels.output + 1, primes[1], "for the removal modulo 257^2"),
        (levels.removal, primes[1], "for the removal modulo 257^2"),
        (levels.removal + 1, primes[2], "coefficients-to-slots"),
        (levels.coeffs_to_slots, primes[2], "coefficients-to-slots"),
    ] {
        let text = refused(&|spec| spec.chain.levels[level] = vec![prime]);
        assert!(text.contains(words) && text.contains("larger prime"), "level {level}: {text}");
    }
    // Digits of 0 alone are removed by the identity; a secret of weight 32 has others, as often as it says.
    let mut spec = tiny(15);
    spec.bound = 0;
    assert!(BgvParams::<u64>::new(&spec).expect("sound").log2_failure() > 0.0);
    let taken = tiny(15).chain.levels[4][0];
    assert!(refused(&|spec| spec.prime = taken).contains("prime of the chain"));
}
