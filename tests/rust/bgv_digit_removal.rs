//! Digit-removal polynomials against coefficients from a generator of its own, and on whole supports.

use std::fs;

use refloat::arith::PrimePower;
use refloat::circuits::digit_removal::small_digit;
use refloat_tests::source::root;
use serde_json::Value;

struct Vector {
    id: String,
    ring: PrimePower,
    t: u32,
    bound: u64,
    odd: Vec<u64>,
}

fn vectors() -> Vec<Vector> {
    let text = fs::read_to_string(root().join("tests/vectors/bgv.json")).expect("the vectors");
    let all: Value = serde_json::from_str(&text).expect("JSON");
    let number = |v: &Value, key: &str| v[key].as_u64().expect("a number");
    let vector = |v: &Value| Vector {
        id: v["id"].as_str().expect("a name").to_owned(),
        ring: PrimePower::new(number(v, "p"), number(v, "e") as u32).expect("a prime"),
        t: number(v, "t") as u32,
        bound: number(v, "bound"),
        odd: v["oddCoefficients"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|c| c.as_u64().expect("a number"))
            .collect(),
    };
    all["digitRemoval"].as_array().expect("a list").iter().map(vector).collect()
}

#[test]
fn coefficients_are_those_of_the_vectors() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 14);
    for Vector { id, ring, t, bound, odd } in vectors {
        let f = small_digit(ring, t, bound).expect("a small digit");
        assert_eq!(f.len(), 2 * odd.len(), "degree of {id}");
        assert!(f.iter().step_by(2).all(|&c| c == 0), "{id} is odd");
        assert!(f.iter().skip(1).step_by(2).eq(&odd), "coefficients of {id}");
        // The bound on its degree, ceil(e/t) (2B + 1) - 1.
        assert!(f.len() as u64 <= u64::from(ring.exponent().div_ceil(t)) * (2 * bound + 1), "{id}");
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
        // All of up to 4 million points; of others, some hundred thousand all over.
        holds(&vector, if points < 4_000_000 { 1 } else { points.div_ceil(500_000) });
    }
}
