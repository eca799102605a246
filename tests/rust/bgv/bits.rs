//! BGV bootstrapping modulo powers of small primes, whose digits are read one after the other: stages as the holder of the key sees them, chains, refusals.

use refloat::Error;
use refloat::bootstrapping::bgv::{BgvParams, BgvRun, BgvSpec, BgvState};
use refloat::schemes::bgv::BgvCiphertext;
use refloat_tests::bgv::{bits, small_prime};
use refloat_tests::keyed_bgv::KeyedBgv;

/// Prime, index, exponent of messages, and whether all coordinates are refreshed.
const SETS: [(u64, u64, u32, bool); 7] = [
    (2, 85, 1, false),
    (2, 85, 1, true),
    (2, 85, 3, false),
    (2, 255, 1, false),
    (2, 255, 2, true),
    (5, 123, 2, false),
    (5, 123, 1, true),
];

fn keyed((prime, index, exponent, general): (u64, u64, u32, bool)) -> KeyedBgv<u64> {
    let digits = match prime {
        2 => 4,
        3 => 3,
        _ => 2,
    };
    KeyedBgv::new(&small_prime(prime, digits, index, exponent, general))
}

/// Bits that noise may be above the estimate, since the 64 coefficients depend on each other.
const ABOVE: f64 = 1.0;

/// Computes x y + y between bootstraps: with products alone, bits would all become 0.
fn stays_right(place: (u64, u64, u32, bool), rounds: u64) {
    let set = keyed(place);
    let levels = *set.params.levels();
    assert!(levels.left() == 3 && set.params.removal().polynomial().is_none());
    let encoder = set.params.context().message_modulus().encoder();
    let other = set.random(2);
    let mut message = set.random(1);
    let mut x = set.encrypt(&message, levels.output, 1);
    for round in 0..rounds {
        while x.level() > levels.input {
            let y = set.encrypt(&other, x.level(), 10 + round);
            let product = set.bootstrapper.multiply(&x, &y, &set.keys).expect("a level");
            let (y, product) = set.bootstrapper.bgv().at_one_factor(&y, &product).expect("a level");
            x = set.bootstrapper.bgv().add(&y, &product).expect("one factor");
            let product = encoder.multiply(&message, &other).expect("slots");
            message = set.sum(&product, &other);
        }
        assert_eq!(set.decrypt(&x), message, "{place:?}, round {round}, products");
        x = set.bootstrapper.bootstrap(&x, &set.keys, &mut ()).expect("a sound set");
        assert_eq!(set.decrypt(&x), message, "{place:?}, round {round}");
        assert_eq!((x.level(), x.factor().value()), (levels.output, 1));
        set.check_noise(&x, ABOVE, "bootstrap");
    }
    assert!(message.iter().any(|&m| m != 0));
}

#[test]
fn slots_stay_right_between_products() {
    for place in SETS {
        stays_right(place, 10);
    }
}

#[test]
#[ignore = "half a minute"]
fn a_hundred_bootstraps_with_products_between_stay_right() {
    for place in SETS {
        stays_right(place, 100);
    }
}

/// For all integers modulo p^2, and for six or ten times each of them with another factor. The nearest integer is always unique.
#[test]
fn integers_modulo_a_power_of_an_odd_prime_are_divided_with_rounding() {
    for place in [(3, 85, 2, false), SETS[5], (7, 85, 2, false)] {
        divided_with_rounding(&keyed(place), place.0);
    }
}

fn divided_with_rounding(set: &KeyedBgv<u64>, p: u64) {
    let (levels, ring, slots) =
        (*set.params.levels(), set.params.messages(), set.params.context().slots() as u64);
    let all = p * p;
    assert_eq!(ring.value(), all);
    let evaluator = set.bootstrapper.bgv();
    // `times` is a unit, and the factor gives another 2.
    let times = if p == 3 { 5 } else { 3 };
    for first in (0..all).step_by(slots as usize) {
        let integers: Vec<u64> = (first..first + slots).map(|x| x % all).collect();
        let x = set.encrypt(&set.coordinates(&integers), levels.output, 3);
        let other = evaluator.multiply_integer(&x, times).expect("room");
        let other = evaluator.multiply_unit(&other, 2).expect("a unit");
        assert_ne!(other.factor(), x.factor());
        for (x, times) in [(&x, 1), (&other, 2 * times.unsigned_abs())] {
            let found = set.bootstrapper.divide_by_power(x, 1, &set.keys).expect("levels");
            assert_eq!((found.ring().value(), found.factor().value()), (p, 1));
            set.check_noise(&found, ABOVE, "quotient");
            let expected = integers.iter().map(|&x| (ring.mul(x, times) + p / 2) / p % p);
            let encoder = set.params.context().message_modulus().encoder();
            let expected = encoder.coordinates_of(&expected.collect::<Vec<_>>());
            assert_eq!(set.decrypt(&found), expected, "p = {p}, from {first}, times {times}");
        }
    }
    let x = set.encrypt(&[], levels.output, 4);
    let low = evaluator.drop_to_level(&x, 1).expect("a level");
    let refused = set.bootstrapper.divide_by_power(&low, 1, &set.keys).map(|_| ());
    let modulo = format!("modulo {p}^2");
    assert!(matches!(&refused, Err(Error::LevelMismatch(text)) if text.contains(&modulo)), "{refused:?}");
    let refused = set.bootstrapper.divide_by_power(&x, 2, &set.keys).map(|_| ());
    assert!(matches!(refused, Err(Error::InvalidArgument(_))), "{refused:?}");
    let refused = set.bootstrapper.is_negative(&x, &set.keys).map(|_| ());
    assert!(matches!(&refused, Err(Error::InvalidArgument(text)) if text.contains(&modulo)), "{refused:?}");
}

/// For all integers modulo 8, whatever factor the ciphertext has.
#[test]
fn integers_are_divided_with_rounding_and_compared() {
    let set = keyed(SETS[2]);
    let (levels, ring) = (*set.params.levels(), set.params.messages());
    let integers: Vec<u64> = (0..8).collect();
    let x = set.encrypt(&set.coordinates(&integers), levels.output, 3);
    let decrypt = |x: &BgvCiphertext<u64>| {
        set.check_noise(x, ABOVE, "quotient");
        let all = set.decrypt(x);
        let degree = set.params.context().slot_degree();
        assert!(all.chunks(degree).all(|slot| slot[1..].iter().all(|&c| c == 0)));
        all.into_iter().step_by(degree).collect::<Vec<_>>()
    };
    let evaluator = set.bootstrapper.bgv();
    // 25 x, with another factor.
    let other =
        evaluator.multiply_unit(&evaluator.multiply_integer(&x, 5).expect("room"), 5).expect("a unit");
    assert!(other.factor() != x.factor());
    let times_25 = |x: u64| ring.mul(x, 25 % 8);
    for digits in [1, 2] {
        let quotient = |x: u64| (x + (1 << (digits - 1))) / (1 << digits) % (8 >> digits);
        for (x, of) in [(&x, 1), (&other, 25)] {
            let found = set.bootstrapper.divide_by_power(x, digits, &set.keys);
            let found = found.expect("levels");
            assert_eq!((found.ring().value(), found.factor().value()), (8 >> digits, 1));
            let argument = |x: u64| if of == 1 { x } else { times_25(x) };
            let expected: Vec<u64> = integers.iter().map(|&x| quotient(argument(x))).collect();
            assert_eq!(decrypt(&found), expected, "{digits} digits");
        }
    }
    let negative = set.bootstrapper.is_negative(&x, &set.keys).expect("levels");
    assert_eq!(decrypt(&negative), integers.iter().map(|&x| u64::from(x >= 4)).collect::<Vec<_>>());
    // Too few levels, bits alone, all digits, and keys of somebody else.
    let low = evaluator.drop_to_level(&x, 2).expect("a level");
    let refused = |result: Result<BgvCiphertext<u64>, Error>| result.map(|_| ()).unwrap_err();
    let divide =
        |x: &BgvCiphertext<u64>, digits| refused(set.bootstrapper.divide_by_power(x, digits, &set.keys));
    assert!(matches!(divide(&low, 2), Error::LevelMismatch(text) if text.contains("3 levels")));
    assert!(matches!(divide(&x, 3), Error::InvalidArgument(_)));
    assert!(matches!(divide(&x, 0), Error::InvalidArgument(_)));
    assert!(matches!(divide(&x, u32::MAX), Error::InvalidArgument(_)));
    let bit =
        evaluator.divide_by_prime(&evaluator.multiply_integer(&x, 4).expect("room"), 2).expect("a power");
    let error = refused(set.bootstrapper.is_negative(&bit, &set.keys));
    assert!(matches!(&error, Error::InvalidArgument(text) if text.contains("2^1")), "{error}");
    let somebody = keyed(SETS[0]);
    let error = refused(set.bootstrapper.divide_by_power(&x, 1, &somebody.keys));
    assert!(matches!(error, Error::ParamsMismatch(_)), "{error}");
}

#[test]
fn stages_read_digits_one_after_the_other() {
    for place in SETS {
        let set = keyed(place);
        let message = set.random(3);
        let x = set.encrypt(&message, set.params.levels().output, 5);
        let mut run = BgvRun::new(&set.bootstrapper, &x).expect("a ciphertext of the set");
        let mut digits: Option<Vec<i64>> = None;
        while !run.step(&set.keys, &mut ()).expect("a sound set") {
            let seen = set.secret.digits(&run).expect("our own");
            let seen = seen.reveal_to_key_owner();
            match run.state() {
                BgvState::Prepared(_) => {
                    assert!(seen.low.iter().all(|i| i.unsigned_abs() <= 7));
                    assert!(seen.low.iter().any(|&i| i != 0));
                    digits = Some(seen.low.clone());
                }
                BgvState::Raised(x, _) => {
                    assert_eq!(Some(&seen.low), digits.as_ref(), "{place:?}");
                    set.check_noise(x, ABOVE, "raise");
                }
                BgvState::Unpacked(all, _) => {
                    assert_eq!(all.len(), set.params.context().slot_degree());
                    for x in all {
                        set.check_noise(x, ABOVE, "unpacked");
                    }
                }
                _ => (),
            }
        }
        assert_eq!(set.decrypt(&run.finish().expect("finished")), message);
    }
}

#[test]
fn digits_that_are_not_all_read_are_refused() {
    let spec = |change: &dyn Fn(&mut BgvSpec)| {
        let mut spec = bits(85, 1, false);
        change(&mut spec);
        BgvParams::<u64>::new(&spec)
    };
    assert!(spec(&|_| ()).is_ok());
    // Digits of four bits are up to 7, and take a level each beside the division.
    let text = |found: Result<BgvParams<u64>, Error>| match found.map(|_| ()) {
        Err(Error::InvalidArgument(text)) => text,
        other => panic!("{other:?}"),
    };
    let too_large = text(spec(&|spec| spec.bound = 8));
    assert!(too_large.contains("up to 8") && too_large.contains("up to 7"), "{too_large}");
    assert!(spec(&|spec| spec.digit_exponent = 0).is_err());
    assert!(spec(&|spec| spec.digit_exponent = 60).is_err());
    assert!(spec(&|spec| spec.digit_exponent = u32::MAX).is_err());
    let too_deep = text(spec(&|spec| spec.digit_exponent = 8));
    assert!(too_deep.contains("levels"), "{too_deep}");
    // Orders modulo both primes of the index, and small levels.
    assert!(spec(&|spec| spec.prime = 17).is_err());
    let back = text(spec(&|spec: &mut BgvSpec| {
        let smaller = refloat::arith::primes::ntt_primes(18.0, 85 * 512);
        let top = spec.chain.levels.len();
        for (level, q) in spec.chain.levels[top - 2..].iter_mut().zip(smaller) {
            *level = vec![q];
        }
    }));
    assert!(back.contains("take larger primes for"), "{back}");
}
