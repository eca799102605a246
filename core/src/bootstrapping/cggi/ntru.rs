//! Blind rotation on NTRU samples (after Xiang, Zhang, Deng, Feng, CRYPTO 2023), in the order of
//! [`schedule`](super::schedule) instead of theirs: eleven automorphism keys instead of N - 1, and merged keys where
//! wanted. Experimental.
//!
//! The accumulator is one polynomial c with c f = v X^(…) + e. A key for the automorphism sigma and a factor X^(s_i) is the
//! samples of X^(s_i) sigma(f): its product with the digits of sigma(c) has the phase X^(s_i) sigma(c f).

use alloc::{vec, vec::Vec};

use super::{
    rotation::{
        Accumulator, BlindRotation, Form, RING_BLOCK, RotationKey, RotationSample, Step, TestVector,
        constant, monomial,
    },
    schedule::{self, AUTOMORPHISMS, exponent_of, power_of_five, turn},
};
use crate::{
    arith::Word,
    rlwe::lwe::{Exponents, Grid},
    schemes::cggi::{CggiParams, CggiSecretKey},
    trace::Counters,
};

/// The method; its key is, for each coordinate, the samples of X^(s_i) sigma(f) for each skip, then those of sigma(f) for
/// the automorphisms, then those of 1.
pub(super) struct Ntru;

/// Products before those of the automorphisms.
fn multiplications<W: Word>(params: &CggiParams<W>) -> usize {
    params.spec().lwe_dimension * params.spec().method.merged()
}

impl<W: Word> RotationKey<W> for Ntru {
    fn columns(&self) -> usize {
        1
    }

    fn products(&self, params: &CggiParams<W>) -> Vec<(usize, usize)> {
        vec![(multiplications(params) + AUTOMORPHISMS + 1, params.rgsw().gadget().digits())]
    }

    fn sample(&self, secret: &CggiSecretKey<W>, index: usize) -> RotationSample<W> {
        let params = secret.params();
        let (order, skips, digits) =
            (1u64 << params.log_2n(), params.spec().method.merged(), params.rgsw().gadget().digits());
        let (product, digit) = (index / digits, index % digits);
        let Some(ntru) = &secret.ntru else {
            return RotationSample { body: secret.ring_eval.clone(), mask: None };
        };
        let turned = |g: u64| ntru.turned(params.permutation(g));
        let first = multiplications(params);
        let payload = if product < first {
            let mut payload = turned(power_of_five(product % skips, order));
            let s = secret.short.coefficients()[product / skips];
            payload.mul_assign(&monomial(params, s.into(), 1));
            payload
        } else if product < first + AUTOMORPHISMS {
            turned(exponent_of(product - first, order))
        } else {
            constant(params, 1)
        };
        let body = ntru.sample(params.rgsw(), &secret.seeds, (RING_BLOCK, index), digit, &payload);
        RotationSample { body, mask: None }
    }
}

impl<W: Word> BlindRotation<W> for Ntru {
    fn grid(&self) -> Grid {
        Grid::Odd
    }

    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Step> {
        let mut steps = vec![Step::Enter];
        steps.extend(schedule::plan(params.n(), params.spec().method.merged(), &exponents.a));
        steps
    }

    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Accumulator<W> {
        Accumulator::known(params, schedule::start(params, test, exponents))
    }

    fn step(
        &self,
        params: &CggiParams<W>,
        key: &[W],
        step: Step,
        accumulator: &mut Accumulator<W>,
        counters: &mut Counters,
    ) {
        let Accumulator { form: Form::Ntru { known, row, spare }, scratch } = accumulator else { return };
        let (rgsw, order, first) = (params.rgsw(), 1u64 << params.log_2n(), multiplications(params));
        let (product, g) = match step {
            Step::Enter => (first + AUTOMORPHISMS, 1),
            Step::Multiply { coordinate, skip } => {
                (coordinate * params.spec().method.merged() + skip, power_of_five(skip, order))
            }
            Step::Automorphism { number } => (first + number, exponent_of(number, order)),
            _ => return,
        };
        if g != 1 {
            turn(params, g, core::slice::from_mut(row), core::slice::from_mut(spare));
        }
        let length = rgsw.gadget().digits() * rgsw.n();
        rgsw.digit_product(&key[product * length..][..length], row, scratch, counters);
        *known = false;
    }
}
