//! GINX: the accumulator is multiplied by X^(-a_i s_i) obliviously, one coordinate at a time.
//!
//! Gama, Izabachène, Nguyen, Xie (EUROCRYPT 2016); Chillotti, Gama, Georgieva, Izabachène (ASIACRYPT 2016).

use alloc::{sync::Arc, vec, vec::Vec};

use super::{
    accumulator::{Evaluated, Turned},
    rotation::{BlindRotation, With},
    rotation_key::{RotationKey, RotationSample, constant, rgsw_sample},
    test_vector::{TestVector, turned_sample},
};
use crate::{
    arith::Word,
    rlwe::lwe::{Exponents, Grid},
    schemes::cggi::{CggiParams, CggiSecretKey, Roots},
};

/// One step: multiply by X^(exponent s), s the coordinate of the short key.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    coordinate: usize,
    exponent: u32,
}

/// For a binary key: ACC += RGSW(s_i) ⊡ (X^(-a_i) - 1) ACC.
#[derive(Clone)]
pub(super) struct GinxBinary;

/// For a ternary key: with K+ = RGSW(\[s_i = 1\]) and K- = RGSW(\[s_i = -1\]),
/// ACC += (X^(-a_i) - 1) (K+ ⊡ ACC) + (X^(a_i) - 1) (K- ⊡ ACC), one decomposition for both (as in OpenFHE).
#[derive(Clone)]
pub(super) struct GinxTernary<W: Word>(pub Arc<Roots<W>>);

/// The key of [`GinxTernary`].
pub(super) struct GinxTernaryKey;

/// One step for every mask that is not rounded to 0; for the others X^(0 s) = 1 is known.
fn turning<W: Word>(params: &CggiParams<W>, exponents: &Exponents) -> Vec<Turn> {
    let order = 1 << params.log_2n();
    let turning = exponents.a.iter().enumerate().filter(|(_, a)| **a != 0);
    turning.map(|(coordinate, &a)| Turn { coordinate, exponent: order - a }).collect()
}

impl<W: Word> RotationKey<W> for GinxBinary {
    fn products(&self, params: &CggiParams<W>) -> Vec<(usize, usize)> {
        vec![(params.spec().lwe_dimension, params.rgsw().rgsw_samples())]
    }

    fn sample(&self, secret: &CggiSecretKey<W>, index: usize) -> RotationSample<W> {
        let samples = secret.params().rgsw().rgsw_samples();
        let bit = i64::from(secret.short.coefficients()[index / samples]);
        let payload = constant(secret.params(), bit);
        rgsw_sample(secret, index, index % samples, &payload, &secret.ring_eval)
    }

    fn prepare(&self, params: &CggiParams<W>, samples: &mut [W]) {
        params.rgsw().prepare_for_turns(samples);
    }
}

impl<W: Word> BlindRotation<W> for GinxBinary {
    const GRID: Grid = Grid::All;

    type Step = Turn;

    type Accumulator = Turned<W>;

    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Turn> {
        turning(params, exponents)
    }

    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Turned<W> {
        Turned::new(params, &turned_sample(params, test, exponents))
    }

    fn step(
        &self,
        Turn { coordinate, exponent }: Turn,
        Turned(sample): &mut Turned<W>,
        With { params, key, scratch, counters }: With<'_, W>,
    ) {
        let rgsw = params.rgsw();
        let length = rgsw.rgsw_samples() * 2 * rgsw.n();
        let key = &key[coordinate * length..][..length];
        rgsw.turn_product_add(key, exponent, sample, scratch, counters);
    }
}

impl<W: Word> RotationKey<W> for GinxTernaryKey {
    fn products(&self, params: &CggiParams<W>) -> Vec<(usize, usize)> {
        vec![(2 * params.spec().lwe_dimension, params.rgsw().rgsw_samples())]
    }

    /// For each coordinate K+, then K-.
    fn sample(&self, secret: &CggiSecretKey<W>, index: usize) -> RotationSample<W> {
        let samples = secret.params().rgsw().rgsw_samples();
        let (product, row) = (index / samples, index % samples);
        let s = i64::from(secret.short.coefficients()[product / 2]);
        // s (s + 1) / 2 and s (s - 1) / 2: 1 for 1 and for -1, 0 otherwise.
        let sign = if product % 2 == 0 { 1 } else { -1 };
        let payload = constant(secret.params(), (s * (s + sign)) >> 1);
        rgsw_sample(secret, index, row, &payload, &secret.ring_eval)
    }
}

impl<W: Word> BlindRotation<W> for GinxTernary<W> {
    const GRID: Grid = Grid::All;

    type Step = Turn;

    type Accumulator = Evaluated<W>;

    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Turn> {
        turning(params, exponents)
    }

    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Evaluated<W> {
        Evaluated::new(params, turned_sample(params, test, exponents))
    }

    fn step(
        &self,
        Turn { coordinate, exponent }: Turn,
        Evaluated { parts, spare }: &mut Evaluated<W>,
        With { params, key, scratch, counters }: With<'_, W>,
    ) {
        let (rgsw, m, kernels) = (params.rgsw(), params.modulus(), W::kernels());
        for (spare, part) in spare.iter_mut().zip(parts.iter()) {
            spare.copy_from_slice(part);
        }
        let [b, a] = spare;
        rgsw.decompose([b, a], scratch, counters);
        let length = rgsw.rgsw_samples() * 2 * rgsw.n();
        let mut factor = vec![W::ZERO; rgsw.n()];
        for (product, exponent) in
            [(2 * coordinate, exponent), (2 * coordinate + 1, (1 << params.log_2n()) - exponent)]
        {
            let [b, a] = spare;
            rgsw.multiply(&key[product * length..][..length], [b, a], scratch, counters);
            self.0.monomial_minus_one(&mut factor, exponent);
            for (spare, part) in spare.iter_mut().zip(parts.iter_mut()) {
                kernels.inner_product(m, part, &[spare], &[&factor], true);
            }
            counters.limb_mac += 2;
        }
    }
}
