//! Polynomials on ciphertexts: at the optimal level and the exact scale, within the noise of the clear value; in both
//! bases, with real and complex coefficients, for both words and for levels of one prime and of two; the same bits
//! with one thread and with several. And the operations with constants they are made of.

use num_complex::Complex64;
use refloat::arith::{ComplexDoubleDouble, DoubleDouble, Word};
use refloat::circuits::polynomial::{
    Parity, Plan, Polynomial, PolynomialBasis, PolynomialEvaluator, interpolate,
};
use refloat::rlwe::RlweSpec;
use refloat::schemes::ckks::{Ciphertext, CkksEvaluator, Complex, Scale};
use refloat::trace::Counters;
use refloat_tests::chain::spec_by_levels;
use refloat_tests::refusals::refused;
use refloat_tests::rns::Lottery;

use crate::toy::Toy;

const N: usize = 256;
/// Seeds of keys and of ciphertexts.
const KEYS: u8 = 7;
const RANDOMNESS: u8 = 9;
const UNIT: PolynomialBasis = PolynomialBasis::UNIT;

/// A chain of 7 levels above the lowest; every level is a product of primes near these sizes.
fn spec(base: &[f64], level: &[f64], special: &[f64]) -> RlweSpec {
    let levels: Vec<&[f64]> = [base].into_iter().chain([level; 7]).collect();
    spec_by_levels(N, &levels, special)
}

/// 31-bit words, one prime per level.
fn single() -> (RlweSpec, Scale) {
    (spec(&[30.9], &[25.0], &[30.8]), Scale::exp2(25.0))
}

/// 31-bit words, two primes per level.
fn double() -> (RlweSpec, Scale) {
    (spec(&[29.0, 28.5], &[20.0, 21.0], &[30.9, 30.7]), Scale::from_integer(2_199_023_300_001))
}

/// 61-bit words.
fn wide() -> (RlweSpec, Scale) {
    (spec(&[58.0], &[45.0], &[59.0]), Scale::exp2(45.0))
}

/// The error a slot has from the rounding of one rescaling, which exceeds that of encryption here; and that of
/// the double-precision encoder.
fn noise<W: Word>(toy: &Toy<W>) -> f64 {
    toy.slot(toy.rounding()) + 2f64.powi(-48)
}

fn polynomials<W: Word>(toy: &Toy<W>) -> PolynomialEvaluator<'_, CkksEvaluator<W>> {
    PolynomialEvaluator::new(&toy.evaluator, &toy.relinearization)
}

fn worst(found: &[Complex64], expected: &[Complex64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).fold(0.0, |m, (x, y)| {
        let e = (x - y).norm();
        if e.is_nan() { e } else { m.max(e) }
    })
}

fn reals(lottery: &mut Lottery) -> Vec<Complex64> {
    (0..N / 2).map(|_| Complex64::new(lottery.unit(), 0.0)).collect()
}

fn disc(lottery: &mut Lottery) -> Vec<Complex64> {
    (0..N / 2).map(|_| Complex64::from_polar(lottery.unit(), 3.2 * lottery.unit())).collect()
}

fn random(
    basis: PolynomialBasis,
    degree: usize,
    complex: bool,
    parity: Parity,
    lottery: &mut Lottery,
) -> Polynomial {
    let coefficients: Vec<ComplexDoubleDouble> = (0..=degree)
        .map(|i| {
            let (re, im) = (lottery.unit(), if complex { lottery.unit() } else { 0.0 });
            if parity.allows(i) { Complex::new(re, im).into() } else { ComplexDoubleDouble::ZERO }
        })
        .collect();
    Polynomial::new(basis, coefficients).expect("finite")
}

fn clear(p: &Polynomial, z: &[Complex64]) -> Vec<Complex64> {
    z.iter().map(|z| p.value_f64(Complex::new(z.re, z.im))).map(|v| Complex64::new(v.re, v.im)).collect()
}

/// The argument's noise is multiplied by derivatives: those of T_i are up to i^2, but no larger than 10 i where slots
/// come no closer to the ends than these do. Roundings on the way count like noise of the argument.
fn allowed(p: &Polynomial, noise: f64) -> f64 {
    let square = |(i, c): (usize, &ComplexDoubleDouble)| (c.abs() * (1.0 + (i * i.min(10)) as f64)).powi(2);
    6.0 * noise * p.coefficients().iter().enumerate().map(square).sum::<f64>().sqrt()
}

fn polynomials_act_on_slots<W: Word>(chain: &(RlweSpec, Scale)) {
    let toy = Toy::<W>::new(chain, KEYS);
    let (polynomials, noise, top) = (polynomials(&toy), noise(&toy), toy.context.rlwe().max_level());
    let mut lottery = Lottery::new(11);
    let target = Scale::from_real(toy.scale.to_real() * DoubleDouble::ratio(999, 1000));
    for (k, degree) in [1, 2, 3, 5, 7, 8, 13, 15, 16, 27, 31, 32, 46, 63].into_iter().enumerate() {
        for basis in [UNIT, PolynomialBasis::Monomial] {
            let parity = [Parity::General, Parity::Odd, Parity::Even][if degree > 3 { k % 3 } else { 0 }];
            let p = random(basis, degree, k % 2 == 0, parity, &mut lottery);
            let z = if basis == UNIT { reals(&mut lottery) } else { disc(&mut lottery) };
            let x = toy.encrypt(&z, RANDOMNESS);
            let plan = Plan::new(std::slice::from_ref(&p)).expect("one polynomial");
            let mut counters = Counters::default();
            let planned = polynomials.evaluate_planned_counted(&plan, &x, target, &mut counters);
            let y = planned.expect("enough levels").swap_remove(0);
            let depth = (p.degree() + 1).next_power_of_two().ilog2() as usize;
            assert_eq!((y.level(), y.components()), (top - depth, 2), "degree {degree} {basis:?}");
            assert_eq!(y.scale(), target);
            assert_eq!((plan.levels(), plan.key_switches() as u64), (depth, counters.key_switch));
            let error = worst(&toy.decrypt(&y), &clear(&p, &z));
            let allowed = allowed(&p, noise);
            assert!(error <= allowed, "degree {degree} {basis:?} {parity:?}: {error:e} > {allowed:e}");
        }
    }
}

#[test]
fn polynomials_act_on_slots_with_31_bit_words() {
    polynomials_act_on_slots::<u32>(&single());
}

#[test]
fn polynomials_act_on_slots_with_levels_of_two_primes() {
    polynomials_act_on_slots::<u32>(&double());
}

#[test]
fn polynomials_act_on_slots_with_61_bit_words() {
    polynomials_act_on_slots::<u64>(&wide());
}

#[test]
fn several_polynomials_share_their_powers() {
    let toy = Toy::<u64>::new(&wide(), KEYS);
    let mut lottery = Lottery::new(5);
    let z = reals(&mut lottery);
    let x = toy.encrypt(&z, RANDOMNESS);
    let many: Vec<Polynomial> =
        [(15, Parity::General), (9, Parity::Odd), (0, Parity::Even), (3, Parity::General)]
            .map(|(degree, parity)| random(UNIT, degree, true, parity, &mut lottery))
            .into();
    let values = polynomials(&toy).evaluate_many(&many, &x, toy.scale).expect("enough levels");
    let mut alone = 0;
    for (p, y) in many.iter().zip(&values) {
        assert_eq!((y.level(), y.scale()), (x.level() - p.levels(), toy.scale));
        let error = worst(&toy.decrypt(y), &clear(p, &z));
        assert!(error <= allowed(p, noise(&toy)), "degree {}: {error:e}", p.degree());
        alone += Plan::new(std::slice::from_ref(p)).expect("one").key_switches();
    }
    let all = Plan::new(&many).expect("polynomials").key_switches();
    assert!(all < alone, "{all} key switches for all, {alone} one by one");
}

fn evaluated_with<W: Word>(threads: usize, toy: &Toy<W>, p: &Polynomial, x: &Ciphertext<W>) -> Vec<Vec<W>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let y = pool.install(|| polynomials(toy).evaluate(p, x, toy.scale));
    y.expect("enough levels").parts().iter().map(|part| part.data().to_vec()).collect()
}

#[test]
fn threads_change_no_bit() {
    let mut lottery = Lottery::new(6);
    let p = random(UNIT, 46, true, Parity::General, &mut lottery);
    let z = reals(&mut lottery);
    let (narrow, wide) = (Toy::<u32>::new(&double(), KEYS), Toy::<u64>::new(&wide(), KEYS));
    let x = narrow.encrypt(&z, RANDOMNESS);
    assert!(evaluated_with(1, &narrow, &p, &x) == evaluated_with(5, &narrow, &p, &x));
    let x = wide.encrypt(&z, RANDOMNESS);
    assert!(evaluated_with(1, &wide, &p, &x) == evaluated_with(5, &wide, &p, &x));
}

#[test]
fn a_sigmoid_over_an_interval() {
    let toy = Toy::<u64>::new(&wide(), KEYS);
    let (from, to) = (-12.0, 12.0);
    // A function known to 53 bits will do for a fit of 11.
    let sigmoid = |x: DoubleDouble| DoubleDouble::new(1.0 / (1.0 + (-x.to_f64()).exp()));
    let fit = interpolate(&sigmoid, [from, to], 30, Parity::General).expect("a polynomial");
    assert!(fit.bits() > 11.0, "{}", fit.bits());
    let mut lottery = Lottery::new(8);
    let z: Vec<Complex64> = reals(&mut lottery).iter().map(|z| z * to).collect();
    let x = toy.encrypt(&z, RANDOMNESS);
    let polynomials = polynomials(&toy);
    let t = polynomials.to_unit_interval(&x, (from, to), toy.scale).expect("a level");
    assert_eq!((t.level(), t.scale()), (x.level() - 1, toy.scale));
    let y = polynomials.evaluate(&fit.polynomial, &t, toy.scale).expect("enough levels");
    let expected: Vec<Complex64> =
        z.iter().map(|z| Complex64::new(sigmoid(DoubleDouble::new(z.re)).to_f64(), 0.0)).collect();
    let (error, allowed) =
        (worst(&toy.decrypt(&y), &expected), fit.error + 24.0 * allowed(&fit.polynomial, noise(&toy)));
    assert!(error < allowed, "{error:e} > {allowed:e}");
}

fn constants_act_on_slots<W: Word>(chain: &(RlweSpec, Scale)) {
    let toy = Toy::<W>::new(chain, KEYS);
    let (ev, allowed) = (&toy.evaluator, 12.0 * noise(&toy));
    let mut lottery = Lottery::new(3);
    let z = disc(&mut lottery);
    let x = toy.encrypt(&z, RANDOMNESS);
    let c = Complex64::new(0.375, -0.8125);
    let ours = ComplexDoubleDouble::from(Complex::new(c.re, c.im));
    let check = |y: &Ciphertext<W>, f: &dyn Fn(Complex64) -> Complex64, factor: f64| {
        let expected: Vec<Complex64> = z.iter().map(|&z| f(z)).collect();
        let error = worst(&toy.decrypt(y), &expected);
        assert!(error <= factor * allowed, "{error:e} > {:e}", factor * allowed);
    };
    let i = ev.multiply_by_i(&x).expect("our own");
    assert_eq!(i.scale(), x.scale());
    check(&i, &|z| z * Complex64::i(), 1.0);
    check(&ev.add_constant(&x, ours).expect("our own"), &|z| z + c, 1.0);
    check(&ev.multiply_integer(&x, -5).expect("our own"), &|z| z * -5.0, 5.0);
    let product = ev.multiply_constant(&x, ours, toy.scale).expect("our own");
    assert_eq!(product.scale(), toy.scale.mul(x.scale()));
    check(&product, &|z| z * c, 1.0);
    check(&ev.rescale(&product).expect("a level"), &|z| z * c, 2.0);
    check(&x.clone().relabelled(x.scale().mul(Scale::new(4.0))), &|z| z / 4.0, 1.0);
    // A sum at another scale and a lower level; a product of three components into it.
    let square = ev.tensor(&x, &x).expect("our own");
    let mut sum = ev.drop_to_level(&square, 2).expect("lower");
    ev.add_multiple_assign(&mut sum, &x, ours).expect("higher level");
    ev.add_constant_assign(&mut sum, ours).expect("three components");
    check(&sum, &|z| z * z + c * z + c, 4.0);
    let mut sum = ev.rescale(&product).expect("a level");
    ev.add_multiple_assign(&mut sum, &square, ComplexDoubleDouble::ZERO).expect("higher level");
    assert_eq!(sum.components(), 3);
}

#[test]
fn constants_act_on_all_slots() {
    constants_act_on_slots::<u32>(&double());
    constants_act_on_slots::<u64>(&wide());
}

#[test]
fn what_does_not_fit_is_refused() {
    let (toy, other) =
        (Toy::<u64>::new(&wide(), KEYS), Toy::<u64>::new(&(wide().0, Scale::exp2(40.0)), KEYS));
    let mut lottery = Lottery::new(4);
    let z = reals(&mut lottery);
    let p = random(UNIT, 15, false, Parity::General, &mut lottery);
    let polynomials = polynomials(&toy);
    let low = toy.encrypt_at(&z, 3, RANDOMNESS);
    refused(
        polynomials.evaluate(&p, &low, toy.scale),
        "LEVEL_MISMATCH",
        &["4 levels", "level 3", "bootstrap"],
    );
    let x = toy.encrypt(&z, RANDOMNESS);
    let square = toy.evaluator.tensor(&x, &x).expect("our own");
    refused(polynomials.evaluate(&p, &square, toy.scale), "INVALID_ARGUMENT", &["3 components"]);
    let tiny = Scale::exp2(-20.0);
    refused(polynomials.evaluate(&p, &x, tiny), "SCALE_MISMATCH", &["raise the target scale"]);
    refused(polynomials.evaluate_many(&[], &x, toy.scale), "INVALID_ARGUMENT", &["no polynomial"]);
    refused(polynomials.to_unit_interval(&x, (1.0, -1.0), toy.scale), "INVALID_ARGUMENT", &["[1, -1]"]);
    let nothing = toy.encrypt_at(&z, 0, RANDOMNESS);
    refused(polynomials.to_unit_interval(&nothing, (0.0, 1.0), toy.scale), "LEVEL_MISMATCH", &["level 0"]);
    let stranger = Toy::<u64>::new(&(spec(&[57.0], &[44.0], &[59.0]), Scale::exp2(44.0)), KEYS);
    let theirs = stranger.encrypt(&z, RANDOMNESS);
    refused(polynomials.evaluate(&p, &theirs, toy.scale), "PARAMS_MISMATCH", &["ciphertext of set"]);
    let key = &stranger.relinearization;
    let wrong = PolynomialEvaluator::new(&toy.evaluator, key);
    refused(wrong.evaluate(&p, &x, toy.scale), "PARAMS_MISMATCH", &["switching key"]);
    let nan = ComplexDoubleDouble::from(f64::NAN);
    refused(toy.evaluator.add_constant(&x, nan), "INVALID_ARGUMENT", &["not a finite number"]);
    refused(
        toy.evaluator.add_multiple_assign(&mut x.clone(), &low, ComplexDoubleDouble::ONE),
        "LEVEL_MISMATCH",
        &["level 3", "level 7"],
    );
    // The same chain at another scale is the same set.
    assert!(other.evaluator.add_constant(&x, ComplexDoubleDouble::ONE).is_ok());
}
