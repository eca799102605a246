//! Comparison and rounding division of slots declared to be small, against the same functions in the clear.

use refloat::Error;
use refloat::bootstrapping::bgv::BgvSecretKey;
use refloat::circuits::digit_removal::{quotient_of_small, sign_of_small};
use refloat::circuits::polynomial::{Polynomial, PolynomialBasis, PolynomialEvaluator};
use refloat::circuits::program::{Bootstraps::WhereNeeded, Builder};
use refloat::random::Seed;
use refloat::schemes::bgv::{Factor, PrimePower};
use refloat_tests::bgv::BgvChain;
use refloat_tests::keyed_bgv::KeyedBgv;
use refloat_tests::rns::Lottery;

/// Slots from -`bound` to `bound`: each of them, and random ones.
fn small(bound: i64, slots: usize, lottery: &mut Lottery) -> Vec<i64> {
    let random = |i: usize| {
        let width = 2 * bound + 1;
        if (i as i64) < width { i as i64 - bound } else { (lottery.word() % width as u64) as i64 - bound }
    };
    (0..slots).map(random).collect()
}

fn reduced(ring: PrimePower, slots: &[i64], f: impl Fn(i64) -> i64) -> Vec<u64> {
    slots.iter().map(|&x| ring.reduce_signed(f(x))).collect()
}

/// round(x / d), halves away from 0, by doubles, which hold all of it.
fn rounded(x: i64, divisor: u64) -> i64 {
    (x as f64 / divisor as f64).round() as i64
}

fn toy() -> KeyedBgv<u64> {
    KeyedBgv::named("toy-bgv10")
}

/// As many levels as bounds take, at N = 64: every slot, degree and factor.
#[test]
fn slots_are_compared_and_scaled_down_as_in_the_clear() {
    let sizes = [vec![45.0], vec![36.0; 7]].concat();
    for prime in [257u64, 65537] {
        let chain = BgvChain::<u64>::new(64, (&sizes, &[50.0; 2], 2), (prime, 1, 1));
        let ring = chain.context.message_modulus().ring();
        let polynomials = PolynomialEvaluator::new(&chain.evaluator, &chain.relinearization);
        let mut lottery = Lottery::new(prime);
        for bound in [1i64, 2, 7, 16, 31] {
            let slots = small(bound, chain.context.slots(), &mut lottery);
            let fresh = chain.encrypt(&reduced(ring, &slots, |x| x), chain.top(), bound as u64);
            // And with a factor that is not 1.
            let lower = chain.evaluator.rescale(&fresh).expect("a level below");
            for x in [fresh, lower] {
                let check = |coefficients: Vec<u64>, f: &dyn Fn(i64) -> i64| {
                    let integers = coefficients.into_iter().map(|c| ring.centered(c));
                    let polynomial = Polynomial::of_integers(integers).expect("coefficients");
                    let levels = (2 * bound as u64).next_power_of_two().ilog2() as usize;
                    assert!(polynomial.levels() <= levels, "{} levels", polynomial.levels());
                    let y = polynomials.evaluate(&polynomial, &x, Factor::one(ring));
                    let y = y.unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(chain.decrypt(&y), reduced(ring, &slots, f), "up to {bound} modulo {prime}");
                    assert_eq!((y.level() + polynomial.levels(), y.factor()), (x.level(), Factor::one(ring)));
                    assert!(chain.noise(&y).iter().all(|v| v.abs() <= y.noise()), "noise as estimated");
                };
                let bound = bound as u64;
                check(sign_of_small(ring, bound).expect("small"), &i64::signum);
                for divisor in [2, 3, 10] {
                    let quotient = quotient_of_small(ring, divisor, bound).expect("small");
                    check(quotient, &|x| rounded(x, divisor));
                }
            }
        }
    }
}

#[test]
fn a_set_compares_refreshes_and_compares_again() {
    let set = toy();
    let (ring, bootstrapper, levels) = (set.params.messages(), &set.bootstrapper, set.params.levels());
    let slots = small(2, set.params.n(), &mut Lottery::new(1));
    let message = reduced(ring, &slots, |x| x);
    let x = set.encrypt(&message, levels.output, 1);
    let sign = bootstrapper.sign(&x, 2, &set.keys).expect("two levels");
    assert_eq!(set.decrypt(&sign), reduced(ring, &slots, i64::signum));
    let half = bootstrapper.scale_down(&x, 2, 2, &set.keys).expect("two levels");
    assert_eq!(set.decrypt(&half), reduced(ring, &slots, |x| rounded(x, 2)));
    let functions: [fn(i64) -> i64; 2] = [i64::signum, |x| rounded(x, 2)];
    for (y, f) in [sign, half].into_iter().zip(functions) {
        let again = bootstrapper.bootstrap(&y, &set.keys, &mut ()).expect("an input");
        let sign = bootstrapper.sign(&again, 1, &set.keys).expect("a level");
        assert_eq!(set.decrypt(&sign), reduced(ring, &slots, |x| f(x).signum()));
    }
}

#[test]
fn what_cannot_be_compared_is_refused_by_name() {
    let set = toy();
    let (bootstrapper, levels) = (&set.bootstrapper, set.params.levels());
    let x = set.encrypt(&[1, 2], levels.output, 2);
    // Bounds that all slots modulo 65537 meet, one of 0, and bounds whose polynomials are too long.
    let bounds = [
        (40_000, "below 65537/2"),
        (u64::MAX, "below 65537/2"),
        (0, "1 or more"),
        (20_000, "smaller bound"),
        (8192, "smaller bound"),
    ];
    for (bound, words) in bounds {
        for refused in [
            bootstrapper.sign(&x, bound, &set.keys).err(),
            bootstrapper.scale_down(&x, 3, bound, &set.keys).err(),
        ] {
            let Some(Error::InvalidArgument(text)) = refused else { panic!("{bound}: {refused:?}") };
            assert!(text.contains(words), "{text}");
        }
    }
    let refused = bootstrapper.scale_down(&x, 0, 2, &set.keys).err();
    assert!(matches!(refused, Some(Error::InvalidArgument(_))), "{refused:?}");
    // Degree 199 takes 8 levels.
    let refused = bootstrapper.sign(&x, 100, &set.keys).err();
    let Some(Error::LevelMismatch(text)) = refused else { panic!("{refused:?}") };
    assert!(text.contains("8 levels") && text.contains("bootstrap"), "{text}");
    let other = BgvSecretKey::generate(&set.params, &Seed::from_bytes([14; 32]));
    let foreign = other.encrypt(&[1], levels.output, &Seed::from_bytes([15; 32])).expect("reduced");
    let refused = bootstrapper.sign(&foreign, 2, &set.keys).err();
    assert!(matches!(refused, Some(Error::ParamsMismatch(_))), "{refused:?}");
}

/// In a program the polynomials are planned like any other, bootstraps included.
#[test]
fn programs_compare_and_bootstrap_where_needed() {
    let set = toy();
    let (ring, levels) = (set.params.messages(), set.params.levels());
    let polynomial = |coefficients: Vec<u64>| {
        let numbers = coefficients.into_iter().map(|c| ring.centered(c) as f64);
        Polynomial::new(PolynomialBasis::Monomial, numbers).expect("finite")
    };
    let mut builder = Builder::new();
    let (x, y) = (builder.input("x"), builder.input("y"));
    let difference = builder.subtract(x, y);
    let sign = builder.polynomial(difference, &polynomial(sign_of_small(ring, 2).expect("small")));
    // The larger of both: (x + y + sign(x - y) (x - y)) / 2, as 2 divides it.
    let distance = builder.multiply(sign, difference);
    let sum = builder.add(x, y);
    let twice = builder.add(sum, distance);
    let half = polynomial(quotient_of_small(ring, 2, 2).expect("small"));
    let larger = builder.polynomial(twice, &half);
    builder.output("sign", sign);
    builder.output("larger", larger);
    let program = builder.finish().expect("a program");
    let messages: [Vec<i64>; 2] = [3, 4].map(|seed| small(1, set.params.n(), &mut Lottery::new(seed)));
    let of = |i: usize| messages[i].iter().copied();
    let clear = messages.each_ref().map(|slots| reduced(ring, slots, |x| x));
    let inputs = [0, 1].map(|i| set.encrypt(&clear[i], levels.output, 3 + i as u64));
    let plan = set.plan(&program, &inputs, WhereNeeded).expect("bootstraps where needed");
    assert!(plan.bootstraps() > 0);
    let found = set.bootstrapper.run_program(&plan, &set.keys, &inputs, &mut ()).expect("planned");
    let wanted = program.evaluate_integers(ring, set.params.n() / 2, &clear).expect("whole numbers");
    let signs: Vec<i64> = of(0).zip(of(1)).map(|(x, y)| (x - y).signum()).collect();
    let larger: Vec<i64> = of(0).zip(of(1)).map(|(x, y)| x.max(y)).collect();
    for ((found, wanted), own) in found.iter().zip(&wanted).zip([signs, larger]) {
        assert_eq!(set.decrypt(found), *wanted);
        assert_eq!(*wanted, reduced(ring, &own, |x| x));
    }
}
