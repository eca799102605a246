//! GINX with a binary key, as in CGGI: the accumulator is multiplied by X^(-a_i) where s_i = 1,
//! obliviously, by ACC += RGSW(s_i) ⊡ (X^(-a_i) - 1) ACC.

use alloc::vec::Vec;

use zeroize::Zeroize;

use super::rotation::{Accumulator, BlindRotation, RING_BLOCK, Step, TestVector};
use crate::{
    arith::Word,
    ring::Poly,
    rlwe::{
        Pair,
        lwe::{Exponents, Grid},
    },
    schemes::cggi::{CggiParams, CggiSecretKey},
    trace::Counters,
};

/// The method; its key is RGSW(s_i) for every coordinate i of the short key.
pub(super) struct GinxBinary;

impl<W: Word> BlindRotation<W> for GinxBinary {
    fn samples(&self, params: &CggiParams<W>) -> usize {
        params.spec().lwe_dimension * params.rgsw().rgsw_samples()
    }

    fn sample(&self, secret: &CggiSecretKey<W>, index: usize) -> Pair<W> {
        let rgsw = secret.params().rgsw();
        let (coordinate, row) = (index / rgsw.rgsw_samples(), index % rgsw.rgsw_samples());
        let digits = rgsw.gadget().digits();
        // s_i or s_i z: a product with 0 or 1, the same work for both.
        let bit = i64::from(secret.short.coefficients()[coordinate]);
        let mut payload = if row < digits {
            Poly::from_rows(rgsw.basis(), alloc::vec![W::ONE; rgsw.n()])
        } else {
            secret.ring_eval.clone()
        };
        for x in payload.row_mut(0) {
            *x = W::from_u64(x.to_u64() & (-bit) as u64);
        }
        let name = (RING_BLOCK, index);
        let sample = rgsw.gadget_sample(&secret.seeds, name, row % digits, &payload, &secret.ring_eval);
        payload.zeroize();
        sample
    }

    fn grid(&self) -> Grid {
        Grid::All
    }

    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Step> {
        let order = 1 << params.log_2n();
        let turning = exponents.a.iter().enumerate().filter(|(_, a)| **a != 0);
        turning.map(|(index, &a)| Step { index, exponent: order - a }).collect()
    }

    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Accumulator<W> {
        let order = 1 << params.log_2n();
        Accumulator::of_monomial(params, test, (order - exponents.b) % order)
    }

    fn step(
        &self,
        params: &CggiParams<W>,
        key: &[W],
        step: Step,
        accumulator: &mut Accumulator<W>,
        counters: &mut Counters,
    ) {
        let rgsw = params.rgsw();
        let length = rgsw.rgsw_samples() * 2 * rgsw.n();
        let key = &key[step.index * length..][..length];
        let Accumulator { sample, scratch } = accumulator;
        rgsw.turn_product_add(key, step.exponent, sample, scratch, counters);
    }
}
