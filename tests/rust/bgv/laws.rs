//! BGV in scaled form: against the textbook's, against arithmetic in the clear, and its noise against its laws.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use refloat::Error;
use refloat::arith::Word;
use refloat::circuits::polynomial::{Polynomial, PolynomialEvaluator};
use refloat::rlwe::RlweSpec;
use refloat::schemes::bgv::{BgvCiphertext, BgvContext, Factor, PlaintextSpec, PrimePower, decrypt};
use refloat::schemes::evaluator::Leveled;
use refloat::security::SecretDistribution;
use refloat_tests::bgv::{BgvChain, SAMPLES, Textbook, log_deviation};
use refloat_tests::chain::{KEY_ID, spec};
use refloat_tests::embedding;
use refloat_tests::ring::{automorphism, centred, poly, to_f64};
use refloat_tests::rns::Lottery;

/// Plaintexts modulo 257^2 at most, messages modulo 257.
fn wide() -> BgvChain<u64> {
    BgvChain::new(64, (&[50.0, 40.0, 41.0, 40.5, 39.5], &[50.0, 50.5], 2), (257, 1, 2))
}

fn narrow() -> BgvChain<u32> {
    BgvChain::new(32, (&[30.5, 24.0, 24.5], &[30.0, 30.8], 1), (193, 1, 1))
}

fn random(ring: PrimePower, slots: usize, lottery: &mut Lottery) -> Vec<u64> {
    (0..slots).map(|_| lottery.word() % ring.value()).collect()
}

/// Random slots, and those that a mistake with signs, rows or reductions would show in.
fn messages(ring: PrimePower, slots: usize) -> Vec<Vec<u64>> {
    let p = ring.value();
    let of = |f: &dyn Fn(usize) -> u64| (0..slots).map(|i| f(i) % p).collect::<Vec<u64>>();
    vec![
        random(ring, slots, &mut Lottery::new(1)),
        of(&|_| 0),
        of(&|_| 1),
        of(&|_| p - 1),
        of(&|_| p / 2),
        of(&|i| i as u64),
        of(&|i| if i < slots / 2 { 1 } else { p - 1 }),
        of(&|i| u64::from(i == slots - 1)),
    ]
}

fn each(x: &[u64], y: &[u64], f: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect()
}

/// Both rows turned to the left.
fn turned(x: &[u64], steps: i64) -> Vec<u64> {
    let n = x.len() / 2;
    let at = |i: usize| i / n * n + (i as i64 % n as i64 + steps).rem_euclid(n as i64) as usize;
    (0..x.len()).map(|i| x[at(i)]).collect()
}

fn round_trips<W: Word>(chain: &BgvChain<W>) {
    let ring = chain.context.message_modulus().ring();
    for (i, message) in messages(ring, chain.context.slots()).iter().enumerate() {
        for level in 0..=chain.top() {
            let x = chain.encrypt(message, level, i as u64);
            assert_eq!((&chain.decrypt(&x), x.level(), x.factor()), (message, level, Factor::one(ring)));
        }
    }
    // Missing slots are 0.
    let x = chain.encrypt(&[5, 7], 0, 9);
    assert_eq!(chain.decrypt(&x)[..3], [5, 7, 0]);
}

#[test]
fn what_is_encrypted_is_decrypted() {
    round_trips(&wide());
    round_trips(&narrow());
    // p below N, and messages modulo a power.
    round_trips(&BgvChain::<u64>::new(8, (&[45.0, 40.0], &[45.5], 1), (17, 3, 4)));
}

#[test]
fn scaled_form_is_the_textbook_over_p_word_by_word() {
    let chain = wide();
    let (top, slots) = (chain.top(), chain.context.slots());
    let ring = chain.context.message_modulus().ring();
    let mut lottery = Lottery::new(2);
    let (mx, my) = (random(ring, slots, &mut lottery), random(ring, slots, &mut lottery));
    let (x, y) = (chain.encrypt(&mx, top, 1), chain.encrypt(&my, top, 2));
    let of = |x: &BgvCiphertext<u64>| Textbook::from_scaled(x);
    let prime = |level: usize| BigInt::from(chain.context.rlwe().spec().levels[level][0]);
    assert_eq!(of(&chain.evaluator.add(&x, &y).expect("room")), of(&x).add(&of(&y)));
    let product = chain.evaluator.tensor(&x, &y).expect("room");
    assert_eq!(of(&product), of(&x).multiply(&of(&y)));
    let rescaled = chain.evaluator.rescale(&x).expect("a level below");
    assert_eq!(of(&rescaled), of(&x).switch(&prime(top)));
    // The phase of the textbook is f m modulo P; what the library decrypts is m.
    let s: Vec<BigInt> = chain.secret.small().coefficients().iter().map(|&s| s.into()).collect();
    let p = BigInt::from(ring.value());
    let mut expected = poly(&chain.context.message_modulus().encoder().encode(&mx).expect("reduced"));
    for m in &mut expected {
        *m = centred(&(&*m * rescaled.factor().value()), &p);
    }
    let found: Vec<BigInt> = of(&rescaled).phase(&s).iter().map(|x| centred(x, &p)).collect();
    assert_eq!(found, expected);
    assert_ne!(rescaled.factor(), Factor::one(ring));
    assert_eq!(chain.decrypt(&rescaled), mx);
}

/// A key switch and a rounding change the textbook's phase by P times their noise, and by nothing else.
#[test]
fn switched_phases_are_the_textbook_s_but_for_multiples_of_p() {
    let n = 256;
    let digits: [&[usize]; 2] = [&[0, 1], &[2, 3]];
    let set = spec(n, &[&[50.0], &[40.0], &[41.0], &[40.5]], &[50.0, 50.5], &digits);
    let chain = BgvChain::<u64>::of(&set, PlaintextSpec { prime: 7681, exponent: 1, largest_exponent: 2 });
    let (model, ring) = (chain.context.noise(), chain.context.message_modulus().ring());
    let mut lottery = Lottery::new(21);
    let s = poly(&chain.secret.small().coefficients().iter().map(|&s| i64::from(s)).collect::<Vec<_>>());
    let p = BigInt::from(ring.value());
    // found = (expected + P e) / divisor: the deviation of e / divisor against that of a key switch before the division and of a
    // rounding after it.
    let check = |name: &str, found: &[BigInt], expected: &[BigInt], divisor: &BigInt, level: usize| {
        let noise: Vec<f64> = found
            .iter()
            .zip(expected)
            .map(|(found, expected)| {
                let difference = found * divisor - expected;
                assert!((&difference % &p) == BigInt::ZERO, "{name}: {difference} is not a multiple of P");
                to_f64(&[difference / &p])[0] / to_f64(std::slice::from_ref(divisor))[0]
            })
            .collect();
        let divisor = to_f64(std::slice::from_ref(divisor))[0];
        let square = |noise: f64| model.deviation(noise).powi(2);
        let law = square(model.key_switch(level) / divisor) + square(model.rounding());
        let (found, law) = (log_deviation(&noise), 0.5 * law.log2());
        assert!((found - law).abs() < 0.3, "{name}: 2^{found:.2}, the law says 2^{law:.2}");
    };
    let keys = chain.galois_keys(&[3]);
    for level in 1..=chain.top() {
        let [x, y] = [1, 2].map(|i| chain.encrypt(&random(ring, n, &mut lottery), level, i));
        let product = chain.evaluator.tensor(&x, &y).expect("room");
        let key = &chain.relinearization;
        let small = chain.evaluator.relinearize_rescale(&product, key).expect("room");
        let (before, after) =
            (Textbook::from_scaled(&product).phase(&s), Textbook::from_scaled(&small).phase(&s));
        check("product", &after, &before, &chain.context.rlwe().spec().levels[level][0].into(), level);
        let turned = chain.evaluator.rotate(&x, 3, &keys).expect("room");
        let before = automorphism(&Textbook::from_scaled(&x).phase(&s), 125);
        check("rotation", &Textbook::from_scaled(&turned).phase(&s), &before, &1.into(), level);
    }
}

fn arithmetic<W: Word>(chain: &BgvChain<W>) {
    let (evaluator, context, top) = (&chain.evaluator, &chain.context, chain.top());
    let (ring, slots) = (context.message_modulus().ring(), context.slots());
    let keys = chain.galois_keys(&[1, -3]);
    let all = messages(ring, slots);
    for (i, mx) in all.iter().enumerate() {
        let my = &all[(i + 1) % all.len()];
        let (x, y) = (chain.encrypt(mx, top, 10), chain.encrypt(my, top, 11));
        let check = |name: &str, z: Result<BgvCiphertext<W>, Error>, expected: Vec<u64>| {
            let z = z.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(chain.decrypt(&z), expected, "{name}, message {i}");
            let noise = chain.noise(&z);
            let largest = embedding::slots(&noise).iter().map(|z| z.norm()).fold(0.0, f64::max);
            assert!(largest <= 2.0 * z.noise(), "{name}: an embedding of {largest}, a size of {}", z.noise());
            let coefficient = noise.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            assert!(
                coefficient <= 0.6 * z.noise(),
                "{name}: a coefficient of {coefficient}, a size of {}",
                z.noise()
            );
            z
        };
        let neg: Vec<u64> = mx.iter().map(|&x| ring.neg(x)).collect();
        check("x", Ok(x.clone()), mx.clone());
        let three = evaluator.tensor(&x, &y).expect("room");
        let products = each(mx, my, |x, y| ring.mul(x, y));
        check("x y in three", Ok(three.clone()), products.clone());
        check("-x y", Ok(evaluator.negate(&three)), each(&products, &products, |x, _| ring.neg(x)));
        check("x y + x", evaluator.add(&three, &x), each(mx, my, |x, y| ring.add(ring.mul(x, y), x)));
        check("x - x y", evaluator.sub(&x, &three), each(mx, my, |x, y| ring.sub(x, ring.mul(x, y))));
        check("x y + x y", evaluator.add(&three, &three), each(&products, &products, |x, y| ring.add(x, y)));
        check("x + y", evaluator.add(&x, &y), each(mx, my, |x, y| ring.add(x, y)));
        check("x - y", evaluator.sub(&x, &y), each(mx, my, |x, y| ring.sub(x, y)));
        check("-x", Ok(evaluator.negate(&x)), neg);
        let product = check("x y", evaluator.multiply(&x, &y, &chain.relinearization), products.clone());
        assert_eq!(product.level(), top - 1);
        // A fresh one at the product's factor can be added to it.
        let same = check("x at a factor", evaluator.at_factor(&x, product.factor()), mx.clone());
        assert_eq!((same.level(), same.factor()), (top - 1, product.factor()));
        let sum = each(mx, my, |x, y| ring.add(ring.mul(x, y), x));
        check("x y + x", evaluator.add(&product, &same), sum.clone());
        // Either of the two may be brought to the factor of the other.
        for (left, right) in [(&product, &x), (&x, &product)] {
            let (left, right) = evaluator.at_one_factor(left, right).expect("a level to spare");
            let added = check("x y + x", evaluator.add(&left, &right), sum.clone());
            assert_eq!((added.level(), added.factor()), (top - 1, product.factor()));
        }
        let (left, right) = evaluator.at_one_factor(&x, &y).expect("equal factors");
        assert_eq!((left.level(), right.level()), (top, top), "nothing to do");
        // With a factor that is not 1.
        let z = check(
            "x y + plain",
            evaluator.add_plain(&product, my),
            each(mx, my, |x, y| ring.add(ring.mul(x, y), y)),
        );
        let z = check(
            "times plain",
            evaluator.multiply_plain(&z, mx),
            each(mx, my, |x, y| ring.mul(ring.add(ring.mul(x, y), y), x)),
        );
        let before = each(mx, my, |x, y| ring.mul(ring.add(ring.mul(x, y), y), x));
        let z = check("rescaled", evaluator.rescale(&z), before.clone());
        let map = |f: &dyn Fn(u64) -> u64| before.iter().map(|&x| f(x)).collect::<Vec<u64>>();
        check("+ 11", evaluator.add_constant(&z, 11), map(&|x| ring.add(x, 11)));
        check("- 11", evaluator.add_constant(&z, -11), map(&|x| ring.sub(x, 11)));
        check("times -3", evaluator.multiply_integer(&z, -3), map(&|x| ring.neg(ring.mul(x, 3))));
        let unit = check("times a unit", evaluator.multiply_unit(&z, 5), map(&|x| ring.mul(x, 5)));
        assert!(unit.parts()[0].data() == z.parts()[0].data(), "no word changes");
        check("turned", evaluator.rotate(&z, 1, &keys), turned(&before, 1));
        check("turned back", evaluator.rotate(&z, -3, &keys), turned(&before, -3));
        let swapped = [&before[slots / 2..], &before[..slots / 2]].concat();
        check("rows swapped", evaluator.swap_rows(&z, &keys), swapped);
        check("lower", evaluator.drop_to_level(&x, 0), mx.clone());
    }
}

#[test]
fn arithmetic_is_that_of_the_slots() {
    arithmetic(&wide());
    arithmetic(&narrow());
    // Levels of two primes, and a sparse secret.
    let digits: [&[usize]; 3] = [&[0], &[1, 2], &[3, 4]];
    let mut set = spec(64, &[&[50.0], &[30.0, 31.0], &[30.5, 29.5]], &[50.0, 50.5], &digits);
    set.secret = SecretDistribution::Sparse { weight: 16 };
    arithmetic(&BgvChain::<u64>::of(&set, PlaintextSpec { prime: 257, exponent: 1, largest_exponent: 1 }));
}

#[test]
fn automorphisms_are_those_of_the_ring() {
    let chain = wide();
    let n = chain.context.slots();
    let encoder = chain.context.message_modulus().encoder();
    let slots = random(encoder.ring(), n, &mut Lottery::new(3));
    let p = BigInt::from(encoder.ring().value());
    let coefficients = poly(&encoder.encode(&slots).expect("reduced"));
    for (g, expected) in [(5, turned(&slots, 1)), (2 * n - 1, [&slots[n / 2..], &slots[..n / 2]].concat())] {
        let image = automorphism(&coefficients, g);
        let image = image.iter().map(|c| u64::try_from((c + &p) % &p).expect("reduced")).collect();
        assert_eq!(encoder.decode(image).expect("as many as the degree"), expected, "X^{g}");
    }
}

#[test]
fn the_modulus_of_plaintexts_changes_without_a_word() {
    let chain = wide();
    let (evaluator, top) = (&chain.evaluator, chain.top());
    let ring = chain.context.message_modulus().ring();
    let message = random(ring, chain.context.slots(), &mut Lottery::new(4));
    let x = evaluator.rescale(&chain.encrypt(&message, top, 1)).expect("a level below");
    let larger = evaluator.multiply_by_prime(&x, 1).expect("a power of the set");
    assert_eq!(larger.ring().exponent(), 2);
    assert_eq!(chain.decrypt(&larger), message.iter().map(|m| 257 * m).collect::<Vec<_>>());
    let back = evaluator.divide_by_prime(&larger, 1).expect("a power of the set");
    assert_eq!((chain.decrypt(&back), back.factor()), (message.clone(), x.factor()));
    assert!(back.parts()[1].data() == x.parts()[1].data());
    // In between, arithmetic is modulo the larger power: 257 m + 1, squared.
    let sum = evaluator.add_constant(&larger, 1).expect("room");
    let square = evaluator.multiply(&sum, &sum, &chain.relinearization).expect("room");
    let expected: Vec<u64> = message.iter().map(|m| (514 * m + 1) % (257 * 257)).collect();
    assert_eq!(chain.decrypt(&square), expected);
    assert!(matches!(evaluator.multiply_by_prime(&larger, 1), Err(Error::InvalidArgument(_))));
    assert!(matches!(evaluator.divide_by_prime(&x, 1), Err(Error::InvalidArgument(_))));
    assert!(matches!(evaluator.add(&x, &larger), Err(Error::PlaintextMismatch(_))));
    assert!(matches!(evaluator.tensor(&x, &larger), Err(Error::PlaintextMismatch(_))));
}

#[test]
fn polynomials_are_evaluated_at_the_factor_asked_for() {
    let chain = wide();
    let ring = chain.context.message_modulus().ring();
    let message = random(ring, chain.context.slots(), &mut Lottery::new(5));
    let x = chain.encrypt(&message, chain.top(), 1);
    let coefficients = [3, -7, 0, 128, -100, 1, 64, -2];
    let polynomial = Polynomial::of_integers(coefficients).expect("not empty");
    let polynomials = PolynomialEvaluator::new(&chain.evaluator, &chain.relinearization);
    for (x, message) in [
        (x.clone(), message.clone()),
        // Modulo 257^2, of plaintexts that are not multiples of 257.
        (
            chain
                .evaluator
                .add_constant(&chain.evaluator.multiply_by_prime(&x, 1).expect("a power"), 2)
                .expect("room"),
            message.iter().map(|m| 257 * m + 2).collect(),
        ),
    ] {
        let ring = x.ring();
        let target = Factor::new(77, ring).expect("a unit");
        let y = polynomials.evaluate(&polynomial, &x, target).expect("levels");
        let value = |m: u64| {
            coefficients.iter().rev().fold(0, |sum, &c| ring.add(ring.mul(sum, m), ring.reduce_signed(c)))
        };
        assert_eq!(chain.decrypt(&y), message.iter().map(|&m| value(m)).collect::<Vec<_>>());
        assert_eq!((y.level(), y.factor()), (chain.top() - 3, target));
    }
    // Plaintexts of another modulus, for a constant polynomial too.
    let constant = Polynomial::of_integers([7]).expect("not empty");
    for (p, k) in [(257, 2), (193, 1)] {
        let target = Factor::new(3, PrimePower::new(p, k).expect("a prime")).expect("a unit");
        for polynomial in [&polynomial, &constant] {
            let refused = polynomials.evaluate(polynomial, &x, target);
            assert!(matches!(refused, Err(Error::PlaintextMismatch(_))), "a factor modulo {p}^{k}");
        }
        assert!(matches!(chain.evaluator.at_factor(&x, target), Err(Error::PlaintextMismatch(_))));
    }
}

/// Levels of 4 P phi_max, in bits.
fn product_level(chain: &BgvChain<u64>) -> f64 {
    (4.0 * chain.context.noise().rounding() * chain.context.message_modulus().ring().value() as f64).log2()
}

#[test]
fn noise_follows_its_laws() {
    let n = 1024;
    let levels = |bits: f64| vec![45.0, bits, bits, bits, bits, bits, bits];
    let bits = product_level(&BgvChain::new(n, (&levels(30.0), &[50.0, 50.5, 49.5], 3), (12289, 1, 1)));
    // Between 12289 and the root of 4 P phi_max there is a prime to spare.
    let levels = levels(bits + 0.3);
    let one = BgvChain::<u64>::new(n, (&levels, &[50.0, 50.5, 49.5], 3), (12289, 1, 1));
    let (model, ring) = (one.context.noise(), one.context.message_modulus().ring());
    let square = |noise: f64| model.deviation(noise).powi(2);
    let floor = square(model.rounding());
    // A fresh error and a plaintext of uniform coefficients over P.
    let fresh = 10.5 + 1.0 / 12.0;
    // For each operation and level: the noise coefficients under all keys, and the square of their deviation by the law.
    let mut found: BTreeMap<(&str, usize), (Vec<f64>, f64)> = BTreeMap::new();
    for key in 0..SAMPLES.div_ceil(n) as u8 {
        let chain = BgvChain::seeded(&one.context, key);
        let mut take = |name, x: &BgvCiphertext<u64>, law: f64| {
            found.entry((name, x.level())).or_insert((Vec::new(), law)).0.extend(chain.noise(x));
        };
        let mut message = random(ring, n, &mut Lottery::new(key.into()));
        let x = chain.encrypt(&message, chain.top(), 1);
        take("fresh", &x, fresh);
        // What switching a key adds, at every level.
        let keys = chain.galois_keys(&[1]);
        for level in 0..=chain.top() {
            let x = chain.encrypt(&message, level, 2);
            let turned = chain.evaluator.rotate(&x, 1, &keys).expect("room");
            take("turned", &turned, square(model.key_switch(level)) + floor + fresh);
        }
        let mut x = chain.evaluator.rescale(&x).expect("a level below");
        take("rescaled", &x, floor);
        // Squares stay at the floor, and right, to the end of the chain.
        while x.level() > 0 {
            x = chain.evaluator.multiply(&x, &x, &chain.relinearization).expect("a chain with room");
            for m in &mut message {
                *m = ring.mul(*m, *m);
            }
            assert_eq!(chain.decrypt(&x), message, "level {}", x.level());
            take("squared", &x, floor);
            let largest = embedding::slots(&chain.noise(&x)).iter().map(|z| z.norm()).fold(0.0, f64::max);
            assert!(largest <= 2.0 * x.noise() && x.noise() <= 2.1 * model.rounding());
        }
    }
    // Fresh, rescaled, turned at 7 levels, squared down to 5.
    assert_eq!(found.len(), 14);
    for ((name, level), (noise, law)) in found {
        assert!(noise.len() >= SAMPLES);
        let (found, law) = (log_deviation(&noise), 0.5 * law.log2());
        assert!((found - law).abs() < 0.3, "{name}, level {level}: 2^{found:.2}, the law says 2^{law:.2}");
    }
}

#[test]
fn a_chain_too_small_is_refused_before_it_fails() {
    let n = 64;
    for short in [2.0, 4.0, 6.0] {
        let levels = |bits: f64| [vec![45.0], vec![bits; 12]].concat();
        let set = |levels: &[f64]| BgvChain::<u64>::new(n, (levels, &[45.5, 46.0], 2), (65537, 1, 1));
        let chain = set(&levels(product_level(&set(&levels(30.0))) - short));
        let ring = chain.context.message_modulus().ring();
        let mut message = random(ring, n, &mut Lottery::new(7));
        let mut x = chain.encrypt(&message, chain.top(), 1);
        let error = loop {
            match chain.evaluator.multiply(&x, &x, &chain.relinearization) {
                Ok(square) => x = square,
                Err(error) => break error,
            }
            for m in &mut message {
                *m = ring.mul(*m, *m);
            }
            assert_eq!(chain.decrypt(&x), message, "{short} bits too few, level {}", x.level());
        };
        let Error::Limit(text) = &error else { panic!("{error}") };
        assert!(text.contains("bootstrap first"), "{text}");
        assert!(x.level() > 0, "{short} bits too few, and it went through");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let chain = wide();
    let (evaluator, top) = (&chain.evaluator, chain.top());
    let x = chain.encrypt(&[1, 2, 3], top, 1);
    let lower = evaluator.rescale(&x).expect("a level below");
    // At one level with other factors.
    let dropped = evaluator.drop_to_level(&x, top - 1).expect("lower");
    let Err(Error::PlaintextMismatch(text)) = evaluator.add(&dropped, &lower) else { panic!("two factors") };
    assert!(text.contains(&lower.factor().value().to_string()) && text.contains("at_factor"), "{text}");
    let same = evaluator.at_factor(&x, lower.factor()).expect("a level below");
    assert_eq!(chain.decrypt(&evaluator.add(&same, &lower).expect("one factor"))[..4], [2, 4, 6, 0]);
    assert_eq!(evaluator.at_factor(&lower, lower.factor()).expect("its own").level(), lower.level());
    let product = evaluator.tensor(&x, &x).expect("room");
    assert!(matches!(evaluator.rescale(&product), Err(Error::InvalidArgument(_))));
    assert!(matches!(evaluator.tensor(&product, &x), Err(Error::InvalidArgument(_))));
    assert!(matches!(
        evaluator.relinearize_rescale(&x, &chain.relinearization),
        Err(Error::InvalidArgument(_))
    ));
    let bottom = evaluator.drop_to_level(&x, 0).expect("lower");
    assert!(matches!(evaluator.rescale(&bottom), Err(Error::LevelMismatch(_))));
    assert!(matches!(evaluator.drop_to_level(&bottom, 1), Err(Error::LevelMismatch(_))));
    assert!(matches!(evaluator.rotate(&x, 1, &chain.galois_keys(&[2])), Err(Error::MissingKey(_))));
    assert!(matches!(evaluator.multiply_unit(&x, 514), Err(Error::InvalidArgument(_))));
    assert!(matches!(evaluator.add_plain(&x, &[257]), Err(Error::InvalidArgument(_))));
    assert!(matches!(evaluator.add_plain(&x, &[0; 65]), Err(Error::InvalidArgument(_))));
    let other = BgvChain::<u64>::new(64, (&[50.0, 40.0], &[50.0], 1), (257, 1, 1));
    let foreign = other.encrypt(&[1], 1, 1);
    assert!(matches!(evaluator.add(&x, &foreign), Err(Error::ParamsMismatch(_))));
    assert!(matches!(evaluator.multiply(&x, &x, &other.relinearization), Err(Error::ParamsMismatch(_))));
    // Of plaintexts.
    let set = |prime, exponent, largest_exponent| {
        let plaintexts = PlaintextSpec { prime, exponent, largest_exponent };
        BgvContext::<u64>::from_spec(chain.context.rlwe().spec(), plaintexts).err()
    };
    assert_eq!(set(257, 1, 2), None);
    for (p, r, e) in
        [(256, 1, 1), (193, 1, 1), (2, 1, 1), (257, 0, 1), (257, 2, 1), (257, 1, 8), (65536, 1, 1)]
    {
        assert!(matches!(set(p, r, e), Some(Error::InvalidArgument(_))), "{p}^{r}, {p}^{e}");
    }
    for n in [0, 96, usize::MAX] {
        let plaintexts = PlaintextSpec { prime: 257, exponent: 1, largest_exponent: 1 };
        let degree = RlweSpec { n, ..chain.context.rlwe().spec().clone() };
        assert!(matches!(plaintexts.check(&degree), Err(Error::InvalidArgument(_))), "{n}");
    }
    let own = chain.context.rlwe().spec().levels[1][0];
    let Some(Error::InvalidArgument(text)) = set(own, 1, 1) else { panic!("a prime of the chain") };
    assert!(text.contains("prime of the chain"), "{text}");
}

#[test]
fn noise_beyond_the_modulus_is_not_decrypted() {
    let chain = wide();
    let mut x = chain.encrypt(&[1, 2, 3], 0, 1);
    // Circuits check their sums when they are complete, and so must decryption.
    let mut factor = 1;
    while x.capacity() >= 0.0 {
        assert_eq!(chain.decrypt(&x)[..3], [factor, 2 * factor % 257, 3 * factor % 257]);
        Leveled::multiply_integer_assign(&chain.evaluator, &mut x, 128).expect("our own");
        factor = factor * 128 % 257;
    }
    let refused = decrypt(&chain.context, &chain.secret, KEY_ID, &x).err();
    assert!(matches!(refused, Some(Error::Limit(text)) if text.contains("bootstrap first")));
}
