//! Digit-removal polynomials against coefficients from a generator of its own, on whole supports, and under encryption.

use std::fs;

use refloat::arith::PrimePower;
use refloat::circuits::digit_removal::{NullPolynomials, TwoDigits, digit_beside, lowest_digit, small_digit};
use refloat::circuits::polynomial::{Polynomial, PolynomialEvaluator};
use refloat::schemes::bgv::Factor;
use refloat_tests::bgv::BgvChain;
use refloat_tests::source::root;
use serde_json::Value;

fn file() -> Value {
    let text = fs::read_to_string(root().join("tests/vectors/bgv.json")).expect("the vectors");
    serde_json::from_str(&text).expect("JSON")
}

fn number(v: &Value, key: &str) -> u64 {
    v[key].as_u64().expect("a number")
}

fn list(v: &Value, key: &str) -> Vec<u64> {
    v[key].as_array().expect("a list").iter().map(|c| c.as_u64().expect("a number")).collect()
}

fn ring(v: &Value) -> PrimePower {
    PrimePower::new(number(v, "p"), v["e"].as_u64().unwrap_or(1) as u32).expect("a prime")
}

struct Vector {
    id: String,
    ring: PrimePower,
    t: u32,
    bound: u64,
    odd: Vec<u64>,
}

fn vectors() -> Vec<Vector> {
    let vector = |v: &Value| Vector {
        id: v["id"].as_str().expect("a name").to_owned(),
        ring: ring(v),
        t: number(v, "t") as u32,
        bound: number(v, "bound"),
        odd: list(v, "oddCoefficients"),
    };
    file()["digitRemoval"].as_array().expect("a list").iter().map(vector).collect()
}

/// Asserts that `f` is odd, with these coefficients of odd powers.
fn is_odd(id: &str, f: &[u64], odd: &[u64]) {
    assert_eq!(f.len(), 2 * odd.len(), "degree of {id}");
    assert!(f.iter().step_by(2).all(|&c| c == 0), "{id} is odd");
    assert!(f.iter().skip(1).step_by(2).eq(odd), "coefficients of {id}");
}

#[test]
fn coefficients_are_those_of_the_vectors() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 15);
    for Vector { id, ring, t, bound, odd } in vectors {
        let f = small_digit(ring, t, bound).expect("a small digit");
        is_odd(&id, &f, &odd);
        // The bound on its degree: below that of the monic null polynomial, ceil(e/t) (2B + 1).
        let null = NullPolynomials::new(ring, t, bound).expect("digits");
        assert_eq!(null.degree() as u64, u64::from(ring.exponent().div_ceil(t)) * (2 * bound + 1), "{id}");
        assert!(f.len() <= null.degree(), "{id}");
    }
}

#[test]
fn two_digits_are_those_of_the_vectors() {
    let all = file();
    let v = &all["twoDigits"][0];
    let (ring, t, bound) = (ring(v), number(v, "t") as u32, number(v, "bound"));
    let two = TwoDigits::new(ring, t, bound).expect("two digits");
    for (name, f) in [("lift", two.lift()), ("low", two.low()), ("high", two.high())] {
        is_odd(name, f, &list(v, name));
    }
    // A twentieth of the support here; `refloat reproduce bgv --polynomials` takes all of it.
    let power = ring.prime().pow(t);
    for digit in 0..=bound {
        for y in (0..ring.value() / power).step_by(19) {
            assert_eq!(two.value(ring.add(digit, ring.mul(y, power))), digit, "{digit} + {power} {y}");
        }
    }
}

#[test]
fn digits_beside_multiples_are_those_of_the_vectors() {
    let all = file();
    let vectors = all["digitBeside"].as_array().expect("a list");
    assert_eq!(vectors.len(), 3);
    for v in vectors {
        let (ring, step, bound) = (ring(v), number(v, "step"), number(v, "bound"));
        let f = digit_beside(ring, step, bound).expect("small");
        is_odd(v["id"].as_str().expect("a name"), &f, &list(v, "oddCoefficients"));
        let bound = bound as i64;
        for i in 0..=bound {
            for j in -bound..=bound {
                let x = ring.reduce_signed(i + step as i64 * j);
                let value = f.iter().rev().fold(0, |sum, &c| ring.add(ring.mul(sum, x), c));
                assert_eq!(value, i as u64, "{i} + {step} {j}");
            }
        }
    }
}

/// However a digit is read, reducing the polynomial by those that vanish leaves the same one.
#[test]
fn a_polynomial_for_all_digits_is_brought_down_to_that_for_small_ones() {
    for Vector { id, ring, t, bound, .. } in vectors().into_iter().filter(|v| v.ring.prime() < 300) {
        let null = NullPolynomials::new(ring, t, bound).expect("digits");
        let any = lowest_digit(ring).expect("a small prime");
        assert_eq!(any.len() as u64, (ring.prime() - 1) * u64::from(ring.exponent() - 1) + 2, "{id}");
        let reduced = null.reduce(&any);
        assert_eq!(reduced, null.reduce(&small_digit(ring, t, bound).expect("a small digit")), "{id}");
        assert!(reduced.len() < any.len() && reduced.len() <= null.degree(), "{id}");
    }
}

/// f(I + p^t y) = I for every digit of one sign, since f is odd, and every `step`-th y.
fn holds(vector: &Vector, step: u64) {
    let Vector { id, ring, t, bound, odd } = vector;
    let (m, power) = (ring.modulus(), ring.prime().pow(*t));
    for digit in 0..=*bound {
        for y in (0..ring.value() / power).step_by(step as usize) {
            let x = ring.add(digit, ring.mul(y, power));
            let square = ring.shoup(ring.mul(x, x));
            let value = odd.iter().rev().fold(0, |sum, &c| m.add(m.mul_shoup(sum, &square), c));
            assert_eq!(m.mul(value, x), digit, "{id} at {digit} + {power} {y}");
        }
    }
}

#[test]
fn digits_are_read_on_whole_supports() {
    for vector in vectors() {
        let points = (2 * vector.bound + 1) * (vector.ring.value() / vector.ring.prime().pow(vector.t));
        // All points if they are fewer than 4 million, otherwise some hundred thousand spread evenly.
        holds(&vector, if points < 4_000_000 { 1 } else { points.div_ceil(500_000) });
    }
}

/// The two digits of set I-A removed from encrypted slots: I = low(x) + p high((x - lift(x))/p), the division and the product with p by
/// the modulus of plaintexts alone.
#[test]
fn two_digits_are_removed_under_encryption() {
    let (p, e, t, bound) = (17, 6, 2, 23);
    let levels = [&[50.0][..], &[38.0; 9]].concat();
    let chain = BgvChain::<u64>::new(8, (&levels, &[50.0, 50.2], 2), (p, e, e));
    let (bgv, ring) = (&chain.evaluator, PrimePower::new(p, e).expect("a prime"));
    let two = TwoDigits::new(ring, t, bound).expect("two digits");
    let polynomials = PolynomialEvaluator::new(bgv, &chain.relinearization);
    let centred = |f: &[u64], ring: PrimePower| f.iter().map(|&c| ring.centered(c)).collect::<Vec<_>>();
    // x - lift(x).
    let mut above: Vec<i64> =
        centred(two.lift(), ring.with_exponent(t).expect("a power")).iter().map(|c| -c).collect();
    above[1] += 1;
    let above = Polynomial::of_integers(above).expect("coefficients");
    let below = ring.with_exponent(e - 1).expect("a power");
    let high = Polynomial::of_integers(centred(two.high(), below)).expect("coefficients");
    let low = Polynomial::of_integers(centred(two.low(), ring)).expect("coefficients");
    for round in 0..3u64 {
        let digits: [i64; 8] = [-23, 23, -9, 9, 8, 0, -8, 17 - round as i64];
        let x: Vec<u64> = (0..8)
            .map(|i| ring.reduce_signed(digits[i] + 289 * (i as i64 * 9973 + 83_000 * round as i64)))
            .collect();
        let x = chain.encrypt(&x, chain.top(), round);
        let multiple = polynomials.evaluate(&above, &x, Factor::one(ring)).expect("levels");
        let z = bgv.divide_by_prime(&multiple, 1).expect("a power");
        let high = polynomials.evaluate(&high, &z, Factor::one(below)).expect("levels");
        let high = bgv.multiply_by_prime(&high, 1).expect("a power");
        let low = polynomials.evaluate(&low, &x, high.factor()).expect("levels");
        let digit =
            bgv.add(&bgv.drop_to_level(&low, high.level()).expect("above"), &high).expect("one factor");
        assert_eq!(chain.decrypt(&digit), digits.map(|d| ring.reduce_signed(d)), "round {round}");
    }
}
