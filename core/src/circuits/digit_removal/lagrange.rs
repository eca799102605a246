//! Interpolation modulo a power of p on integers whose differences are units.

use alloc::{vec, vec::Vec};

use crate::arith::PrimePower;

/// The polynomial prod (x - i) over -`bound` <= i <= `bound`, coefficients from low to high degree.
pub(super) fn vanishing(ring: PrimePower, bound: u64) -> Vec<u64> {
    let mut out = vec![1];
    for node in nodes(bound) {
        // out (x - node).
        let shift = ring.reduce_signed(-node);
        let mut next = vec![0; out.len() + 1];
        for (i, &c) in out.iter().enumerate() {
            next[i + 1] = ring.add(next[i + 1], c);
            next[i] = ring.add(next[i], ring.mul(c, shift));
        }
        out = next;
    }
    out
}

/// -`bound`, .., `bound`.
pub(super) fn nodes(bound: u64) -> impl Iterator<Item = i64> {
    -(bound as i64)..=bound as i64
}

/// The polynomial of degree at most 2 `bound` with these values at the [`nodes`], given [`vanishing`] and the inverses of its
/// derivative there. Its coefficients are below the modulus of `ring`.
pub(super) fn interpolate(
    ring: PrimePower,
    bound: u64,
    vanishing: &[u64],
    inverses: &[u64],
    values: &[u64],
) -> Vec<u64> {
    let mut out = vec![0; vanishing.len() - 1];
    for ((node, &inverse), &value) in nodes(bound).zip(inverses).zip(values) {
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
            let zero = vanishing(ring, bound);
            let derivative = hasse(ring, &zero, 1);
            let at = |node: i64| ring.reduce_signed(node);
            let inverses: Vec<u64> = nodes(bound)
                .map(|i| ring.inverse(value(ring, &derivative, at(i))).expect("a unit"))
                .collect();
            let values: Vec<u64> = nodes(bound).map(|i| ring.reduce_signed(i * i * i - 5 * i + 11)).collect();
            let f = interpolate(ring, bound, &zero, &inverses, &values);
            for (node, &expected) in nodes(bound).zip(&values) {
                assert_eq!((value(ring, &zero, at(node)), value(ring, &f, at(node))), (0, expected));
            }
        }
    }
}
