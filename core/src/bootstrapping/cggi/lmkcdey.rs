//! Blind rotation by automorphisms (Lee, Micciancio, Kim, Choi, Deryabin, Eom, Yoo, EUROCRYPT 2023), in the order of
//! [`schedule`](super::schedule). The key does not depend on the distribution of s.

use alloc::{sync::Arc, vec, vec::Vec};

use zeroize::Zeroizing;

use super::{
    accumulator::Evaluated,
    rotation::{BlindRotation, With},
    rotation_key::{RING_BLOCK, RotationKey, RotationSample, monomial, rgsw_sample},
    schedule::{self, AUTOMORPHISMS, Step, numbered, turn},
    test_vector::TestVector,
};
use crate::{
    arith::Word,
    rlwe::lwe::{Exponents, Grid},
    schemes::cggi::{Automorphisms, CggiParams, CggiSecretKey},
};

/// The method; its key is, for each coordinate, the RGSW of X^(s_i) for each skip, then the switching keys of
/// the automorphisms.
#[derive(Clone)]
pub(super) struct Lmkcdey(pub Arc<Automorphisms>);

impl<W: Word> RotationKey<W> for Lmkcdey {
    fn products(&self, params: &CggiParams<W>) -> Vec<(usize, usize)> {
        let (spec, rgsw) = (params.spec(), params.rgsw());
        vec![
            (spec.lwe_dimension * spec.method.merged(), rgsw.rgsw_samples()),
            (AUTOMORPHISMS, rgsw.gadget().digits()),
        ]
    }

    fn sample(&self, secret: &CggiSecretKey<W>, index: usize) -> RotationSample<W> {
        let params = secret.params();
        let (rgsw, skips) = (params.rgsw(), params.spec().method.merged());
        let turned = |permutation: &[u32]| {
            let mut z = Zeroizing::new(secret.ring_eval.clone());
            W::kernels().permute(z.row_mut(0), secret.ring_eval.row(0), permutation);
            z
        };
        let first = params.spec().lwe_dimension * skips * rgsw.rgsw_samples();
        if index >= first {
            let digits = rgsw.gadget().digits();
            let (number, digit) = ((index - first) / digits, (index - first) % digits);
            let z = turned(numbered(&self.0, number));
            return rgsw
                .gadget_sample(&secret.seeds, (RING_BLOCK, index), digit, &z, &secret.ring_eval)
                .into();
        }
        let (product, row) = (index / rgsw.rgsw_samples(), index % rgsw.rgsw_samples());
        let (coordinate, skip) = (product / skips, product % skips);
        let payload = monomial(params, secret.short.coefficients()[coordinate].into(), 1);
        rgsw_sample(secret, index, row, &payload, &turned(self.0.five(skip)))
    }
}

impl<W: Word> BlindRotation<W> for Lmkcdey {
    const GRID: Grid = Grid::Odd;

    type Step = Step;

    type Accumulator = Evaluated<W>;

    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Step> {
        schedule::plan(params.n(), params.spec().method.merged(), &exponents.a)
    }

    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Evaluated<W> {
        Evaluated::new(params, [schedule::start(params, test, exponents), vec![W::ZERO; params.n()]])
    }

    fn step(
        &self,
        step: Step,
        Evaluated { parts, spare }: &mut Evaluated<W>,
        With { params, key, scratch, counters }: With<'_, W>,
    ) {
        let (rgsw, skips) = (params.rgsw(), params.spec().method.merged());
        let long = rgsw.rgsw_samples() * 2 * rgsw.n();
        match step {
            Step::Multiply { coordinate, skip } => {
                if skip > 0 {
                    turn(self.0.five(skip), parts, spare);
                }
                let key = &key[(coordinate * skips + skip) * long..][..long];
                rgsw.external_product(key, parts, scratch, counters);
            }
            Step::Automorphism { number } => {
                turn(numbered(&self.0, number), parts, spare);
                let first = params.spec().lwe_dimension * skips * long;
                let key = &key[first + number * long / 2..][..long / 2];
                let [b, a] = parts;
                let [product_b, product_a] = rgsw.gadget_product(key, a, scratch, counters);
                W::kernels().add_assign(params.modulus(), b, product_b);
                a.copy_from_slice(product_a);
            }
        }
    }
}
