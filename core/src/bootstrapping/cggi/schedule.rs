//! The order in which automorphisms turn an accumulator (Lee, Micciancio, Kim, Choi, Deryabin, Eom, Yoo, EUROCRYPT
//! 2023).
//!
//! With all masks odd, -a_i = ±5^k modulo 2N. The powers are visited in the order -5^(N/2-1), …, -5^0,
//! 5^(N/2-1), …, 5^0; at each, the accumulator is multiplied by X^(s_i) for the coordinates of that power, and
//! between two of them X -> X^5 (X -> X^-5 in the middle) raises what is there already. Steps without coordinates are
//! merged into one automorphism of up to [`WINDOW`] steps.
//!
//! **Merged keys** (own): where the key of coordinate i also exists for X -> X^(5^k), k < g, automorphism and
//! multiplication are one product; the key is g times as long.

use alloc::{vec, vec::Vec};

use super::test_vector::{TestVector, turned_test_vector};
use crate::{
    arith::Word,
    rlwe::{lwe::Exponents, rgsw::apply_automorphism},
    schemes::cggi::{Automorphisms, CggiParams},
};

/// Steps of one automorphism, at most.
pub(super) const WINDOW: usize = 10;

/// One step of the order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Apply X -> X^(5^skip) and multiply by X^s, s the coordinate of the short key.
    Multiply { coordinate: usize, skip: usize },
    /// Apply the automorphism with this number.
    Automorphism { number: usize },
}

/// Number of automorphisms that have keys: X -> X^(5^w), w = 1, …, WINDOW, and X -> X^-5.
pub(super) const AUTOMORPHISMS: usize = WINDOW + 1;

fn power_of_five(k: usize, order: u64) -> u64 {
    (0..k).fold(1, |power, _| power * 5 % order)
}

/// Coefficients of the polynomial to start from, which the automorphisms of the rotation together turn into v X^-b.
pub(super) fn start<W: Word>(params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Vec<W> {
    let turned = turned_test_vector(params, test, exponents);
    let n = params.n();
    let Some(&(first, _)) = visits(n, &exponents.a).first() else { return turned };
    let mut out = vec![W::ZERO; n];
    apply_automorphism(params.modulus(), &mut out, &turned, inverse(exponent_at(n, first), 2 * n as u64));
    out
}

/// The permutation of evaluations of automorphism `number`.
pub(super) fn numbered(automorphisms: &Automorphisms, number: usize) -> &[u32] {
    if number == WINDOW { automorphisms.minus_five() } else { automorphisms.five(number + 1) }
}

/// Applies an automorphism, given by its permutation, to every row of evaluations.
pub(super) fn turn<W: Word>(permutation: &[u32], rows: &mut [Vec<W>], spare: &mut [Vec<W>]) {
    for (row, spare) in rows.iter_mut().zip(spare) {
        W::kernels().permute(spare, row, permutation);
        core::mem::swap(row, spare);
    }
}

/// The steps of a rotation by odd masks, where every coordinate has keys for the skips below `skips`.
pub(super) fn plan(n: usize, skips: usize, a: &[u32]) -> Vec<Step> {
    let mut steps = Vec::new();
    let visits = visits(n, a);
    let mut here = visits.first().map_or(n - 1, |visit| visit.0);
    for &(position, coordinate) in &visits {
        let skip = walk(n, here, position, skips - 1, &mut steps);
        steps.push(Step::Multiply { coordinate, skip });
        here = position;
    }
    walk(n, here, n - 1, 0, &mut steps);
    steps
}

/// The exponent visited at a position, 0 to N - 1: -5^(N/2-1-position), then 5^(N-1-position).
fn exponent_at(n: usize, position: usize) -> u64 {
    let order = 2 * n as u64;
    let power = power_of_five(n / 2 - 1 - position % (n / 2), order);
    if position < n / 2 { order - power } else { power }
}

/// Positions of the exponents -a_i, with their coordinates, in the order of visits.
fn visits(n: usize, a: &[u32]) -> Vec<(usize, usize)> {
    let order = 2 * n as u64;
    let mut position = vec![0; 2 * n];
    let mut power = 1u64;
    for k in 0..n / 2 {
        position[(order - power) as usize] = n / 2 - 1 - k;
        position[power as usize] = n - 1 - k;
        power = power * 5 % order;
    }
    let mut visits: Vec<(usize, usize)> =
        a.iter().enumerate().map(|(i, &a)| (position[2 * n - a as usize], i)).collect();
    visits.sort_unstable();
    visits
}

/// Appends the automorphisms from one position to another, except for at most `left` steps at the end; returns how many are left out.
fn walk(n: usize, here: usize, to: usize, left: usize, steps: &mut Vec<Step>) -> usize {
    let crossing = here < n / 2 && to >= n / 2;
    if crossing {
        steps.push(Step::Automorphism { number: WINDOW });
    }
    let distance = to - here - usize::from(crossing);
    let skip = distance.min(left);
    let mut rest = distance - skip;
    while rest > 0 {
        let window = rest.min(WINDOW);
        steps.push(Step::Automorphism { number: window - 1 });
        rest -= window;
    }
    skip
}

/// The inverse of an odd number modulo a power of two.
fn inverse(x: u64, order: u64) -> u64 {
    // Newton: each step doubles the number of correct low bits; x is its own inverse modulo 8.
    (0..5).fold(x, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(inverse)))) % order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        params::cggi_preset,
        ring::{Automorphism, GaloisElement},
        schemes::cggi::RotationTables,
    };

    /// The exponent of automorphism `number`: 5^(number + 1), and -5 after those.
    fn exponent_of(number: usize, order: u64) -> u64 {
        if number == WINDOW { order - 5 } else { power_of_five(number + 1, order) }
    }

    #[test]
    fn numbers_name_the_automorphisms_that_steps_take() {
        let spec = (cggi_preset("toy-bool-lmk").unwrap().spec)();
        let params = CggiParams::<u32>::new(&spec).unwrap();
        let RotationTables::Lmkcdey(automorphisms) = params.tables() else { panic!("another method") };
        let n = params.n();
        for number in 0..AUTOMORPHISMS {
            let g = GaloisElement::new(exponent_of(number, 2 * n as u64), n).unwrap();
            assert_eq!(numbered(automorphisms, number), Automorphism::new(n, g).permutation(), "{number}");
        }
    }

    /// Sum of -a_i s_i by the steps, where the accumulator is one exponent of X.
    fn exponent(n: usize, steps: &[Step], s: &[i64], start: u64) -> u64 {
        let order = 2 * n as u64;
        steps.iter().fold(start, |e, step| match *step {
            Step::Multiply { coordinate, skip } => {
                (e * power_of_five(skip, order)).wrapping_add_signed(s[coordinate]) & (order - 1)
            }
            Step::Automorphism { number } => e * exponent_of(number, order) % order,
        })
    }

    #[test]
    fn steps_add_up_to_the_inner_product() {
        for n in [16usize, 64, 256] {
            let order = 2 * n as u64;
            let least = power_of_five(n / 2 - 1, order) as u32;
            let edges = vec![1, 2 * n as u32 - 1, least, 2 * n as u32 - least, 1, least, 5, 2 * n as u32 - 5];
            let spread: Vec<u32> = (0..40u32).map(|i| ((i * i * 14 + i * 6) % (2 * n as u32)) | 1).collect();
            for a in [edges, spread, vec![2 * n as u32 - 1], vec![1; 3], vec![2 * n as u32 - least]] {
                for skips in [1, 2, 4, 12] {
                    let steps = plan(n, skips, &a);
                    let s: Vec<i64> = (0..a.len() as i64).map(|i| i * 7 % 3 - 1).collect();
                    let body = 5u64;
                    let first = visits(n, &a)[0].0;
                    let start = body * inverse(exponent_at(n, first), order) % order;
                    let expected = a.iter().zip(&s).fold(body as i64, |e, (&a, &s)| e - i64::from(a) * s);
                    let found = exponent(n, &steps, &s, start);
                    assert_eq!(found as i64, expected.rem_euclid(order as i64), "{n}, {skips}: {a:?}");
                    let products = steps.iter().filter(|step| matches!(step, Step::Multiply { .. })).count();
                    assert_eq!(products, a.len());
                }
            }
        }
    }
}
