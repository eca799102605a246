//! Blind rotation by automorphisms (Lee, Micciancio, Kim, Choi, Deryabin, Eom, Yoo, EUROCRYPT 2023).
//!
//! With all masks odd, -a_i = ±5^k modulo 2N. The powers are visited in the order -5^(N/2-1), …, -5^0,
//! 5^(N/2-1), …, 5^0; at each, the accumulator is multiplied by X^(s_i) for the coordinates of that power, and
//! between two of them X -> X^5 (X -> X^-5 in the middle) raises what is there already. The key does not depend
//! on the distribution of s. Steps without coordinates are merged into one automorphism of up to
//! [`WINDOW`] steps.
//!
//! **Merged keys** (own): where the key of coordinate i also exists for X -> X^(5^k), k < g, automorphism and
//! multiplication are one product; the key is g times as long.

use alloc::{vec, vec::Vec};

use zeroize::Zeroizing;

use super::rotation::{
    Accumulator, BlindRotation, Form, RING_BLOCK, RotationKey, Step, TestVector, rgsw_sample,
    turned_test_vector,
};
use crate::{
    arith::Word,
    ring::{Coeff, Eval, Poly},
    rlwe::{
        Pair,
        lwe::{Exponents, Grid},
        rgsw::apply_automorphism,
    },
    schemes::cggi::{CggiParams, CggiSecretKey, RotationMethod},
    trace::Counters,
};

/// Steps of one automorphism, at most.
pub(super) const WINDOW: usize = 10;

/// The method; its key is, for each coordinate, the RGSW of X^(s_i) for each skip, then the switching keys of
/// X -> X^(5^w), w = 1, …, WINDOW, and of X -> X^-5.
pub(super) struct Lmkcdey;

/// g: the skips for which coordinates have keys.
fn skips<W: Word>(params: &CggiParams<W>) -> usize {
    match params.spec().method {
        RotationMethod::Lmkcdey { merged } => merged,
        _ => 1,
    }
}

/// The exponent of automorphism `number`: 5^(number + 1), and -5 after those.
fn exponent_of(number: usize, order: u64) -> u64 {
    if number == WINDOW { order - 5 } else { power_of_five(number + 1, order) }
}

fn power_of_five(k: usize, order: u64) -> u64 {
    (0..k).fold(1, |power, _| power * 5 % order)
}

/// X^s for s in {-1, 0, 1}, evaluation domain; without a branch on s.
fn monomial<W: Word>(params: &CggiParams<W>, s: i64) -> Zeroizing<Poly<W, Eval>> {
    let (m, n) = (params.modulus(), params.n());
    let mut row = vec![W::ZERO; n];
    row[0] = m.reduce_i64(1 - s * s);
    row[1] = m.reduce_i64((s * s + s) >> 1);
    row[n - 1] = m.reduce_i64(-((s * s - s) >> 1));
    Zeroizing::new(Poly::<W, Coeff>::from_rows(params.rgsw().basis(), row).into_eval())
}

impl<W: Word> RotationKey<W> for Lmkcdey {
    fn products(&self, params: &CggiParams<W>) -> Vec<(usize, usize)> {
        let rgsw = params.rgsw();
        vec![
            (params.spec().lwe_dimension * skips(params), rgsw.rgsw_samples()),
            (WINDOW + 1, rgsw.gadget().digits()),
        ]
    }

    fn sample(&self, secret: &CggiSecretKey<W>, index: usize) -> Pair<W> {
        let params = secret.params();
        let (rgsw, order) = (params.rgsw(), 1u64 << params.log_2n());
        let turned = |g: u64| {
            let mut z = Zeroizing::new(secret.ring_eval.clone());
            if g != 1 {
                W::kernels().permute(z.row_mut(0), secret.ring_eval.row(0), params.permutation(g));
            }
            z
        };
        let first = params.spec().lwe_dimension * skips(params) * rgsw.rgsw_samples();
        if index >= first {
            let digits = rgsw.gadget().digits();
            let (number, digit) = ((index - first) / digits, (index - first) % digits);
            let z = turned(exponent_of(number, order));
            return rgsw.gadget_sample(&secret.seeds, (RING_BLOCK, index), digit, &z, &secret.ring_eval);
        }
        let (product, row) = (index / rgsw.rgsw_samples(), index % rgsw.rgsw_samples());
        let (coordinate, skip) = (product / skips(params), product % skips(params));
        let payload = monomial(params, secret.short.coefficients()[coordinate].into());
        rgsw_sample(secret, index, row, &payload, &turned(power_of_five(skip, order)))
    }
}

impl<W: Word> BlindRotation<W> for Lmkcdey {
    fn grid(&self) -> Grid {
        Grid::Odd
    }

    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Step> {
        plan(params.n(), skips(params), &exponents.a)
    }

    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Accumulator<W> {
        let (m, n) = (params.modulus(), params.n());
        let order = 2 * n as u64;
        // All automorphisms together raise to the first exponent visited.
        let Some(&first) = visits(n, &exponents.a).first() else {
            return Accumulator::evaluated(params, turned_test_vector(params, test, exponents));
        };
        let g = inverse(exponent_at(n, first.0), order);
        let mut turned = vec![W::ZERO; n];
        apply_automorphism(m, &mut turned, &turned_test_vector(params, test, exponents), g);
        Accumulator::evaluated(params, turned)
    }

    fn step(
        &self,
        params: &CggiParams<W>,
        key: &[W],
        step: Step,
        accumulator: &mut Accumulator<W>,
        counters: &mut Counters,
    ) {
        let Accumulator { form: Form::Evaluated { parts, spare }, scratch } = accumulator else { return };
        let (rgsw, kernels, order) = (params.rgsw(), W::kernels(), 1u64 << params.log_2n());
        let long = rgsw.rgsw_samples() * 2 * rgsw.n();
        let mut turn = |g: u64, parts: &mut [Vec<W>; 2]| {
            for (spare, part) in spare.iter_mut().zip(parts.iter()) {
                kernels.permute(spare, part, params.permutation(g));
            }
            core::mem::swap(spare, parts);
        };
        match step {
            Step::Multiply { coordinate, skip } => {
                if skip > 0 {
                    turn(power_of_five(skip, order), parts);
                }
                let key = &key[(coordinate * skips(params) + skip) * long..][..long];
                rgsw.external_product(key, parts, scratch, counters);
            }
            Step::Automorphism { number } => {
                turn(exponent_of(number, order), parts);
                let first = params.spec().lwe_dimension * skips(params) * long;
                let key = &key[first + number * long / 2..][..long / 2];
                let [b, a] = parts;
                let [product_b, product_a] = rgsw.gadget_product(key, a, scratch, counters);
                kernels.add_assign(params.modulus(), b, product_b);
                a.copy_from_slice(product_a);
            }
            Step::Turn { .. } => {}
        }
    }
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

/// The steps of a rotation by odd masks.
fn plan(n: usize, skips: usize, a: &[u32]) -> Vec<Step> {
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

/// The automorphisms from one position to another, but for at most `left` steps at the end; returns how many are
/// left.
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

    /// Sum of -a_i s_i by the steps, where the accumulator is one exponent of X.
    fn exponent(n: usize, steps: &[Step], s: &[i64], start: u64) -> u64 {
        let order = 2 * n as u64;
        steps.iter().fold(start, |e, step| match *step {
            Step::Multiply { coordinate, skip } => {
                (e * power_of_five(skip, order)).wrapping_add_signed(s[coordinate]) & (order - 1)
            }
            Step::Automorphism { number } => e * exponent_of(number, order) % order,
            Step::Turn { .. } => unreachable!("no such step here"),
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
