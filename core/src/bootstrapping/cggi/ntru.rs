//! Blind rotation on NTRU samples (after Xiang, Zhang, Deng, Feng, CRYPTO 2023), in the order of
//! [`schedule`](super::schedule) instead of theirs: eleven automorphism keys instead of N - 1, and merged keys where
//! wanted. Experimental.
//!
//! The accumulator is one polynomial c with c f = v X^(…) + e. A key for the automorphism sigma and a factor X^(s_i) is the
//! samples of X^(s_i) sigma(f): its product with the digits of sigma(c) has the phase X^(s_i) sigma(c f).

use alloc::{sync::Arc, vec, vec::Vec};

use super::{
    accumulator::NtruSample,
    rotation::{BlindRotation, With},
    rotation_key::{RING_BLOCK, RotationKey, RotationSample, constant, monomial},
    schedule::{self, AUTOMORPHISMS, numbered, turn},
    test_vector::TestVector,
};
use crate::{
    arith::Word,
    rlwe::lwe::{Exponents, Grid},
    schemes::cggi::{Automorphisms, CggiParams, CggiSecretKey},
};

/// The method; its key is, for each coordinate, the samples of X^(s_i) sigma(f) for each skip, then those of sigma(f) for
/// the automorphisms, then those of 1.
#[derive(Clone)]
pub(super) struct Ntru(pub Arc<Automorphisms>);

/// One step of a rotation.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Make a sample of the known polynomial that the rotation starts from.
    Enter,
    /// Go on in the order of the schedule.
    Scheduled(schedule::Step),
}

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
        let (skips, digits) = (params.spec().method.merged(), params.rgsw().gadget().digits());
        let (product, digit) = (index / digits, index % digits);
        let Some(ntru) = &secret.ntru else { unreachable!("the secret key of an NTRU set holds f") };
        let first = multiplications(params);
        let payload = if product < first {
            let mut payload = ntru.turned(self.0.five(product % skips));
            let s = secret.short.coefficients()[product / skips];
            payload.mul_assign(&monomial(params, s.into(), 1));
            payload
        } else if product < first + AUTOMORPHISMS {
            ntru.turned(numbered(&self.0, product - first))
        } else {
            constant(params, 1)
        };
        let body = ntru.sample(params.rgsw(), &secret.seeds, (RING_BLOCK, index), digit, &payload);
        RotationSample { body, mask: None }
    }
}

impl<W: Word> BlindRotation<W> for Ntru {
    const GRID: Grid = Grid::Odd;

    type Step = Step;

    type Accumulator = NtruSample<W>;

    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Step> {
        let mut steps = vec![Step::Enter];
        let scheduled = schedule::plan(params.n(), params.spec().method.merged(), &exponents.a);
        steps.extend(scheduled.into_iter().map(Step::Scheduled));
        steps
    }

    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> NtruSample<W> {
        NtruSample::known(params, schedule::start(params, test, exponents))
    }

    fn step(
        &self,
        step: Step,
        NtruSample { known, row, spare }: &mut NtruSample<W>,
        With { params, key, scratch, counters }: With<'_, W>,
    ) {
        let (rgsw, first) = (params.rgsw(), multiplications(params));
        let (product, permutation) = match step {
            Step::Enter => (first + AUTOMORPHISMS, None),
            Step::Scheduled(schedule::Step::Multiply { coordinate, skip }) => {
                let product = coordinate * params.spec().method.merged() + skip;
                (product, (skip > 0).then(|| self.0.five(skip)))
            }
            Step::Scheduled(schedule::Step::Automorphism { number }) => {
                (first + number, Some(numbered(&self.0, number)))
            }
        };
        if let Some(permutation) = permutation {
            turn(permutation, core::slice::from_mut(row), core::slice::from_mut(spare));
        }
        let length = rgsw.gadget().digits() * rgsw.n();
        rgsw.digit_product(&key[product * length..][..length], row, scratch, counters);
        *known = false;
    }
}
