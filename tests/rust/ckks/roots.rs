//! Digits in the exponent: e^(2 pi i x) of slots and tables on roots of unity after it, on ciphertexts of a toy ring, for every
//! quotient and every digit.

use refloat::arith::{ComplexDoubleDouble, DoubleDouble};
use refloat::circuits::polynomial::{Exponential, Plan, Polynomial, PolynomialEvaluator, roots};
use refloat::schemes::ckks::{Ciphertext, Complex, Scale};
use refloat::trace::Counters;
use refloat_tests::chain::{Chain, distance, spec_by_levels};

const N: usize = 1 << 11;
const RANGE: u32 = 16;
/// The error of e^(2 pi i x) from encryption, key switches and rescalings with primes of 48 bits, which three squarings multiply.
const NOISE: f64 = 1.0 / (1u64 << 28) as f64;
/// The error of a table whose slope at the roots is 0, from the same.
const CLEANED_NOISE: f64 = 1.0 / (1u64 << 33) as f64;

fn chain() -> Chain<u64> {
    Chain::of(&spec_by_levels(N, &[&[48.0][..]; 15], &[58.0]), Scale::exp2(48.0), 3)
}

fn exponential() -> Exponential {
    Exponential::of_degree(RANGE, 3, 31).expect("a degree")
}

/// I + j / t and `off` to either side, for every |I| < K and j, and the j.
fn arguments(t: usize, off: f64) -> (Vec<f64>, Vec<usize>) {
    let quotients = 2 * RANGE as usize - 1;
    let digit = |k: usize| k / quotients % t;
    let argument = |k: usize| {
        let side = if (k + k / quotients).is_multiple_of(2) { off } else { -off };
        (k % quotients) as f64 - f64::from(RANGE - 1) + digit(k) as f64 / t as f64 + side
    };
    ((0..N / 2).map(argument).collect(), (0..N / 2).map(digit).collect())
}

fn encrypt(chain: &Chain<u64>, x: &[f64]) -> Ciphertext<u64> {
    let slots: Vec<Complex> = x.iter().map(|&x| Complex::new(x / f64::from(RANGE), 0.0)).collect();
    chain.encrypt_with(&slots, chain.top(), 5)
}

fn clear(z: ComplexDoubleDouble) -> Complex {
    Complex::new(z.re.to_f64(), z.im.to_f64())
}

fn root(j: usize, t: usize) -> Complex {
    let (im, re) = (core::f64::consts::TAU * j as f64 / t as f64).sin_cos();
    Complex::new(re, im)
}

#[test]
fn every_quotient_disappears_in_the_exponent() {
    let (chain, exponential) = (chain(), exponential());
    let (x, digits) = arguments(32, 0.0);
    let wanted: Vec<Complex> = digits.iter().map(|&j| root(j, 32)).collect();
    let own: Vec<Complex> = x.iter().map(|&x| clear(exponential.value(DoubleDouble::new(x)))).collect();
    // Degree 31 and three squarings: 2^-30.
    assert!(distance(&own, &wanted) < 2f64.powi(-29), "{:e}", distance(&own, &wanted));
    let polynomials = PolynomialEvaluator::new(&chain.evaluator, &chain.relinearization);
    let target = Scale::from_real(chain.scale.to_real() * DoubleDouble::ratio(1001, 1000));
    let mut counters = Counters::default();
    let w = exponential
        .evaluate_counted(&chain.evaluator, &polynomials, &encrypt(&chain, &x), target, &mut counters)
        .expect("enough levels");
    assert_eq!((w.level(), w.scale()), (chain.top() - exponential.levels(), target));
    assert_eq!((exponential.levels(), counters.key_switch), (8, exponential.key_switches() as u64));
    let found = distance(&chain.decrypt(&w), &own);
    println!("2^{:.1} from the clear function", found.log2());
    assert!(found < NOISE, "{found:e}");

    let low = chain.evaluator.drop_to_level(&encrypt(&chain, &x), 7).expect("lower");
    let refused = exponential.evaluate(&chain.evaluator, &polynomials, &low, target);
    let error = refused.expect_err("too few levels");
    assert_eq!(error.code(), "LEVEL_MISMATCH");
    assert!(error.to_string().contains("8 levels") && error.to_string().contains("level 7"), "{error}");
}

#[test]
fn digits_are_looked_up_and_cleaned() {
    let (chain, exponential) = (chain(), exponential());
    let polynomials = PolynomialEvaluator::new(&chain.evaluator, &chain.relinearization);
    // (t, largest |z L'| and |H''| / 2 of the table j / t)
    for (t, linear, quadratic) in [(2, 0.25, 0.4), (3, 0.51, 1.2), (8, 2.1, 15.0), (32, 13.8, 418.0)] {
        let off = 2f64.powi(-12) / t as f64;
        let (x, digits) = arguments(t, off);
        let line: Vec<ComplexDoubleDouble> =
            (0..t).map(|j| DoubleDouble::ratio(j as i64, t as i64).into()).collect();
        let tables: [Polynomial; 3] = [
            roots::lagrange(&line).expect("a table"),
            roots::hermite(&line).expect("a table"),
            roots::cleaning(t).expect("a number of roots"),
        ];
        let plan = Plan::new(&tables).expect("tables");
        let mut counters = Counters::default();
        let w = exponential
            .evaluate_counted(
                &chain.evaluator,
                &polynomials,
                &encrypt(&chain, &x),
                chain.scale,
                &mut counters,
            )
            .expect("enough levels");
        let values = polynomials
            .evaluate_planned_counted(&plan, &w, chain.scale, &mut counters)
            .expect("enough levels");
        assert_eq!(counters.key_switch, (exponential.key_switches() + plan.key_switches()) as u64);
        let digit = |&j: &usize| Complex::new(j as f64 / t as f64, 0.0);
        let looked_up: Vec<Complex> = digits.iter().map(digit).collect();
        let cleaned: Vec<Complex> = digits.iter().map(|&j| root(j, t)).collect();
        let error = core::f64::consts::TAU * off;
        let square = error * error;
        let laws = [
            (&looked_up, linear * error, linear.max(1.0) * NOISE),
            (&looked_up, quadratic * square, CLEANED_NOISE),
            (&cleaned, (t + 1) as f64 / 2.0 * square, CLEANED_NOISE),
        ];
        for ((table, value), (wanted, bound, most)) in tables.iter().zip(&values).zip(laws) {
            let found = chain.decrypt(value);
            let own: Vec<Complex> =
                x.iter().map(|&x| clear(table.value(exponential.value(DoubleDouble::new(x))))).collect();
            let noise = distance(&found, &own);
            let rest = distance(&found, wanted);
            println!("{t} roots: 2^{:.1} from the clear table, 2^{:.1} left", noise.log2(), rest.log2());
            assert!(noise < most, "{t} roots: {noise:e} from the clear table");
            // A tenth for what the tabulated digits leave out.
            assert!(rest < 1.1 * bound + most, "{t} roots: {rest:e}, the law says {bound:e}");
        }
    }
}
