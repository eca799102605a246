//! Polynomials modulo a power of p, from low to high degree: interpolation at integers whose differences are units, products,
//! remainders, derivatives.

use alloc::{vec, vec::Vec};

use crate::arith::PrimePower;

/// -`bound`, .., `bound`.
pub(super) fn nodes(bound: u64) -> Vec<i64> {
    (-(bound as i64)..=bound as i64).collect()
}

/// The polynomial prod (x - i) over `nodes`.
pub(super) fn vanishing(ring: PrimePower, nodes: &[i64]) -> Vec<u64> {
    let mut out = vec![1];
    for &node in nodes {
        // out (x - node).
        let shift = ring.reduce_signed(-node);
        out.push(0);
        for i in (0..out.len()).rev() {
            let below = if i == 0 { 0 } else { out[i - 1] };
            out[i] = ring.add(below, ring.mul(out[i], shift));
        }
    }
    out
}

/// The inverses at `nodes` of the derivative of their [`vanishing`] polynomial: products of differences, which are units.
pub(super) fn inverse_derivatives(ring: PrimePower, nodes: &[i64], vanishing: &[u64]) -> Vec<u64> {
    let derivative = hasse(ring, vanishing, 1);
    nodes
        .iter()
        .map(|&node| ring.inverse(value(ring, &derivative, ring.reduce_signed(node))).unwrap_or_default())
        .collect()
}

/// The polynomial of degree below the number of nodes with these values there, given [`vanishing`] and [`inverse_derivatives`]. Its
/// coefficients are below the modulus of `ring`.
pub(super) fn interpolate(
    ring: PrimePower,
    nodes: &[i64],
    vanishing: &[u64],
    inverses: &[u64],
    values: &[u64],
) -> Vec<u64> {
    let mut out = vec![0; nodes.len()];
    for ((&node, &inverse), &value) in nodes.iter().zip(inverses).zip(values) {
        // vanishing / (x - node), from the highest coefficient down.
        let (node, scale) = (ring.reduce_signed(node), ring.mul(value, inverse));
        let mut quotient = 0;
        for i in (0..out.len()).rev() {
            quotient = ring.add(ring.mul(quotient, node), ring.reduce(vanishing[i + 1]));
            out[i] = ring.add(out[i], ring.mul(scale, quotient));
        }
    }
    out
}

/// The polynomial of degree below the number of nodes with these values there.
pub(super) fn through(ring: PrimePower, nodes: &[i64], values: &[u64]) -> Vec<u64> {
    let zero = vanishing(ring, nodes);
    interpolate(ring, nodes, &zero, &inverse_derivatives(ring, nodes, &zero), values)
}

/// The value of a polynomial.
pub(super) fn value(ring: PrimePower, polynomial: &[u64], x: u64) -> u64 {
    polynomial.iter().rev().fold(0, |sum, &c| ring.add(ring.mul(sum, x), ring.reduce(c)))
}

/// The j-th Hasse derivative, sum_i C(i, j) a_i x^(i-j).
pub(super) fn hasse(ring: PrimePower, polynomial: &[u64], j: usize) -> Vec<u64> {
    // C(i, j) for i = j, j + 1, .. by Pascal's rule, one diagonal after the other: 1, 1, .. for j = 0.
    let mut binomials = vec![1; polynomial.len().saturating_sub(j)];
    for _ in 0..j {
        let mut sum = 0;
        for b in &mut binomials {
            sum = ring.add(sum, *b);
            *b = sum;
        }
    }
    binomials.iter().zip(polynomial.iter().skip(j)).map(|(&b, &a)| ring.mul(b, ring.reduce(a))).collect()
}

/// The product of two polynomials.
pub(super) fn product(ring: PrimePower, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut out = vec![0; (a.len() + b.len()).saturating_sub(1)];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            out[i + j] = ring.add(out[i + j], ring.mul(x, y));
        }
    }
    out
}

/// The quotient by a monic polynomial; the remainder is left in `a`.
pub(super) fn divide(ring: PrimePower, a: &mut Vec<u64>, monic: &[u64]) -> Vec<u64> {
    let degree = monic.len() - 1;
    let mut quotient = vec![0; a.len().saturating_sub(degree)];
    for i in (0..quotient.len()).rev() {
        let lead = a[i + degree];
        quotient[i] = lead;
        for (j, &m) in monic.iter().enumerate() {
            a[i + j] = ring.sub(a[i + j], ring.mul(lead, m));
        }
    }
    a.truncate(degree);
    quotient
}

/// `sum` += `term`.
pub(super) fn add_to(ring: PrimePower, sum: &mut Vec<u64>, term: &[u64]) {
    sum.resize(sum.len().max(term.len()), 0);
    for (a, &b) in sum.iter_mut().zip(term) {
        *a = ring.add(*a, b);
    }
}

/// The polynomial without zero coefficients at the end; at least the constant stays.
pub(super) fn trimmed(mut polynomial: Vec<u64>) -> Vec<u64> {
    while polynomial.len() > 1 && polynomial.last() == Some(&0) {
        polynomial.pop();
    }
    polynomial
}

/// The odd part, which has the values of the whole wherever those are odd.
pub(super) fn odd_part(mut polynomial: Vec<u64>) -> Vec<u64> {
    polynomial.iter_mut().step_by(2).for_each(|c| *c = 0);
    trimmed(polynomial)
}

/// v_p(n!), by Legendre.
pub(super) fn factorial_valuation(p: u64, mut n: u64) -> u32 {
    let mut out = 0;
    while n > 0 {
        n /= p;
        out += n as u32;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hasse_derivatives_are_taylor_coefficients() {
        let ring = PrimePower::new(17, 3).expect("a prime");
        let f: Vec<u64> = (0..9).map(|i| ring.reduce(i * i * 31 + 7)).collect();
        for (x, h) in [(3, 5), (4000, 17), (0, 1)] {
            let taylor = (0..f.len()).fold(0, |sum, j| {
                ring.add(sum, ring.mul(value(ring, &hasse(ring, &f, j), x), ring.pow(h, j as u64)))
            });
            assert_eq!(taylor, value(ring, &f, ring.add(x, h)));
        }
    }

    #[test]
    fn interpolation_goes_through_its_points() {
        for (p, k, bound) in [(17, 2, 3), (257, 3, 8), (65537, 2, 15), (7, 1, 3)] {
            let ring = PrimePower::new(p, k).expect("a prime");
            let nodes = nodes(bound);
            let zero = vanishing(ring, &nodes);
            let values: Vec<u64> =
                nodes.iter().map(|&i| ring.reduce_signed(i * i * i - 5 * i + 11)).collect();
            let f = through(ring, &nodes, &values);
            for (&node, &expected) in nodes.iter().zip(&values) {
                let x = ring.reduce_signed(node);
                assert_eq!((value(ring, &zero, x), value(ring, &f, x)), (0, expected));
            }
        }
    }

    #[test]
    fn a_quotient_and_a_remainder_give_the_polynomial_back() {
        let ring = PrimePower::new(17, 3).expect("a prime");
        let f: Vec<u64> = (0..20).map(|i| ring.reduce(i * i * i * 77 + 5 * i + 3)).collect();
        for bound in [0, 2, 8] {
            let monic = vanishing(ring, &nodes(bound));
            let mut rest = f.clone();
            let quotient = divide(ring, &mut rest, &monic);
            assert!(rest.len() < monic.len());
            add_to(ring, &mut rest, &product(ring, &quotient, &monic));
            assert_eq!(trimmed(rest), f, "divided by degree {}", monic.len() - 1);
        }
        let mut short = vec![1, 2];
        assert!(divide(ring, &mut short, &[0, 0, 0, 1]).is_empty() && short == [1, 2]);
    }

    #[test]
    fn valuations_of_factorials() {
        for p in [3, 5, 17] {
            let mut product = 0;
            for n in 1..200u64 {
                let mut m = n;
                while m.is_multiple_of(p) {
                    (m, product) = (m / p, product + 1);
                }
                assert_eq!(factorial_valuation(p, n), product);
            }
        }
    }
}
