//! Digits of the same numbers that refloat and fheanor read, in the clear, and how many products and levels either takes.
//!
//! `RUSTC_BOOTSTRAP=1 cargo run --release --manifest-path core/benches/compare-fheanor/Cargo.toml --bin digits` prints a line for each
//! case, and ends with an error if either library reads a wrong digit.

use feanor_math::{
    primitive_int::StaticRing,
    ring::{RingExtensionStore, RingStore},
    rings::{
        poly::{PolyRingStore, dense_poly::DensePolyRing},
        zn::{
            ZnRingStore,
            zn_64::{Zn, ZnBase, ZnEl},
        },
    },
};
use fheanor::{
    circuit::PlaintextCircuit,
    poly_eval::{
        digit_extract::{DigitExtract, bounded_digit_retain_poly, centered_digit_retain_poly},
        to_circuit::poly_to_circuit,
    },
};
use refloat::{
    arith::PrimePower,
    circuits::{
        digit_removal::{AllDigits, lowest_digit, small_digit},
        polynomial::{Plan, Polynomial},
    },
};

/// One digit beside multiples of p, modulo p^e: bounded, or any.
const ONE: [(u64, u32, Option<u64>); 9] = [
    (65537, 2, Some(15)),
    (65537, 2, Some(23)),
    (8191, 2, Some(23)),
    (257, 3, Some(15)),
    (257, 3, Some(22)),
    (127, 3, Some(22)),
    (17, 3, None),
    (7, 4, None),
    (3, 5, None),
];

/// p, e and t: the t lowest digits of any number modulo p^e, one after the other.
const ALL: [(u64, u32, u32); 7] =
    [(2, 7, 6), (2, 10, 7), (2, 14, 9), (3, 5, 4), (5, 4, 3), (7, 4, 2), (17, 3, 2)];

/// Number of products, and the depth of products.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cost(usize, usize);

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{} in {}", self.0, self.1))
    }
}

fn main() {
    println!(
        "{:34} {:>9} {:>7} {:>10} {:>10} {:>6}",
        "digits", "numbers", "degree", "refloat", "fheanor", "wrong"
    );
    let one = ONE.into_iter().map(|(p, e, bound)| one(p, e, bound));
    let all = ALL.into_iter().map(|(p, e, t)| all(p, e, t));
    let wrong: usize = one.chain(all).sum();
    assert_eq!(wrong, 0, "numbers of which digits are read that are not theirs");
}

fn line(what: &str, numbers: usize, degrees: [usize; 2], [ours, theirs]: [Cost; 2], wrong: usize) -> usize {
    let degrees = degrees.map(|degree| if degree == 0 { "-".into() } else { degree.to_string() });
    println!("{what:34} {numbers:9} {:>7} {ours:>10} {theirs:>10} {wrong:6}", degrees.join(", "));
    wrong
}

/// Evaluates both polynomials at every number. Returns at how many numbers one of them is wrong.
fn one(p: u64, e: u32, bound: Option<u64>) -> usize {
    let ring = PrimePower::new(p, e).expect("a power of a prime");
    let ours = match bound {
        Some(bound) => small_digit(ring, 1, bound),
        None => lowest_digit(ring),
    }
    .expect("a polynomial");
    let theirs_ring = DensePolyRing::new(Zn::new(ring.value()), "X");
    let theirs = match bound {
        Some(bound) => bounded_digit_retain_poly(&theirs_ring, bound as i64),
        None => centered_digit_retain_poly(&theirs_ring, e as usize),
    };
    let modulo = theirs_ring.base_ring();
    let degree = theirs_ring.degree(&theirs).unwrap_or(0);
    let coefficient = |i| modulo.smallest_positive_lift(*theirs_ring.coefficient_at(&theirs, i)) as u64;
    let their_coefficients: Vec<u64> = (0..=degree).map(coefficient).collect();
    // Their polynomial has the coefficients that they hold, and is evaluated by our arithmetic.
    let value = |f: &[u64], x| f.iter().rev().fold(0, |sum, &c| ring.add(ring.mul(sum, x), c));
    let largest = bound.unwrap_or(p / 2) as i64;
    let (mut numbers, mut wrong) = (0, 0);
    for digit in -largest..=largest {
        let expected = ring.reduce_signed(digit);
        for multiple in 0..ring.value() / p {
            let x = ring.add(expected, multiple * p);
            numbers += 1;
            wrong += usize::from(value(&ours, x) != expected || value(&their_coefficients, x) != expected);
        }
    }
    let own = Polynomial::of_integers(ours.iter().map(|&c| ring.centered(c))).expect("a polynomial");
    let plan = Plan::new(std::slice::from_ref(&own)).expect("a plan");
    let circuit = poly_to_circuit(&theirs_ring, &[theirs]);
    let costs = [
        Cost(plan.key_switches(), plan.levels()),
        Cost(circuit.multiplication_gate_count(), circuit.max_mul_depth()),
    ];
    let what = match bound {
        Some(bound) => format!("|I| <= {bound} beside {p} mod {p}^{e}"),
        None => format!("any beside {p} mod {p}^{e}"),
    };
    line(&what, numbers, [own.degree(), degree], costs, wrong)
}

/// Reads digits both ways, at every number modulo p^e.
fn all(p: u64, e: u32, t: u32) -> usize {
    let ring = PrimePower::new(p, e).expect("a power of a prime");
    let ours = AllDigits::new(ring, t).expect("polynomials");
    let modulo: Vec<Zn> = (e - t..=e).map(|k| Zn::new(p.pow(k))).collect();
    let theirs = if p == 2 {
        DigitExtract::new_precomputed_p_is_2(&modulo)
    } else {
        DigitExtract::new_digit_retain_based(&modulo)
    };
    let (last, kept, divisor) = (&modulo[t as usize], p.pow(e - t), p.pow(t) as i64);
    let mut wrong = 0;
    for x in 0..ring.value() as i64 {
        // Half of 2^t is read as a negative digit.
        let quotient = (x + (divisor - i64::from(p != 2)) / 2) / divisor;
        let (high, low) = theirs.evaluate_plain(residue(last, x), &modulo);
        let their_quotient = modulo[0].smallest_positive_lift(high) as u64;
        let their_digits = last.smallest_lift(low);
        let expected = quotient as u64 % kept;
        wrong += usize::from(
            ours.quotient(x as u64) != expected
                || their_quotient != expected
                || their_digits != last.smallest_lift(residue(last, x - quotient * divisor)),
        );
    }
    let costs = [Cost(ours.products(), ours.levels()), cost(&theirs)];
    line(&format!("{t} lowest, any, mod {p}^{e}"), ring.value() as usize, [0, 0], costs, wrong)
}

fn residue(ring: &Zn, x: i64) -> ZnEl {
    ring.coerce(&StaticRing::<i64>::RING, x)
}

/// Counts products, and evaluates with the depth of products in place of every value.
fn cost(digits: &DigitExtract<ZnBase>) -> Cost {
    let mut products = 0;
    let depths = digits.evaluate_generic(
        0,
        |_, arguments: &[usize], circuit: &PlaintextCircuit<ZnBase>| {
            products += circuit.multiplication_gate_count();
            let before = arguments.iter().copied().max().unwrap_or(0);
            (0..circuit.output_count()).map(|i| before + circuit.mul_depth(i)).collect()
        },
        |_, _, depth| depth,
    );
    Cost(products, depths.0)
}
