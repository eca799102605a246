//! GINX unrolled: the accumulator is multiplied by X^(-a_i s_i - a_j s_j) for two coordinates of a binary key at once.
//!
//! Zhou et al., "Faster bootstrapping with multiple addends" (2018); Bourse, Minelli, Minihold, Paillier (CRYPTO 2018),
//! who use it to decompose the accumulator less often; "multi-bit" in tfhe-rs. Half the transforms of GINX, with twice the key.

use alloc::{sync::Arc, vec, vec::Vec};

use super::{
    accumulator::Paired,
    rotation::{BlindRotation, With},
    rotation_key::{RotationKey, RotationSample, constant, rgsw_sample},
    test_vector::{TestVector, turned_sample},
};
use crate::{
    arith::Word,
    rlwe::{
        lwe::{Exponents, Grid},
        rgsw::Monomials,
    },
    schemes::cggi::{CggiParams, CggiSecretKey},
};

/// The method.
#[derive(Clone)]
pub(super) struct GinxUnrolled<W: Word>(pub Arc<Monomials<W>>);

/// The key of [`GinxUnrolled`]: for each pair of coordinates s and s' the RGSW samples of (1 - s)(1 - s'), s (1 - s'), (1 - s) s' and s s'.
pub(super) struct GinxUnrolledKey;

/// One step: multiply by X^(e s + e' s'), e and e' the exponents, s and s' the pair of coordinates.
#[derive(Clone, Copy)]
pub(super) struct TurnPair {
    pair: usize,
    exponents: [u32; 2],
}

impl<W: Word> RotationKey<W> for GinxUnrolledKey {
    fn products(&self, params: &CggiParams<W>) -> Vec<(usize, usize)> {
        vec![(params.spec().lwe_dimension / 2, params.rgsw().pair_samples())]
    }

    fn sample(&self, secret: &CggiSecretKey<W>, index: usize) -> RotationSample<W> {
        let (samples, of_pair) =
            (secret.params().rgsw().rgsw_samples(), secret.params().rgsw().pair_samples());
        let (pair, key) = (index / of_pair, index % of_pair / samples);
        let bits = &secret.short.coefficients()[2 * pair..2 * pair + 2];
        // s if the key is for s = 1, 1 - s otherwise; the number of the key is public.
        let factor = |s: i8, set: bool| if set { i64::from(s) } else { 1 - i64::from(s) };
        let payload = factor(bits[0], key & 1 == 1) * factor(bits[1], key & 2 == 2);
        let payload = constant(secret.params(), payload);
        rgsw_sample(secret, index, index % samples, &payload, &secret.ring_eval)
    }

    fn prepare(&self, params: &CggiParams<W>, samples: &mut [W]) {
        params.rgsw().prepare_pair(samples);
    }
}

impl<W: Word> BlindRotation<W> for GinxUnrolled<W> {
    const GRID: Grid = Grid::All;

    type Step = TurnPair;

    type Accumulator = Paired<W>;

    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<TurnPair> {
        let order = 1u32 << params.log_2n();
        let pairs = exponents.a.as_chunks::<2>().0.iter().enumerate();
        // Masks that are rounded to 0 turn nothing, since X^(0 s) = 1.
        let turning = pairs.filter(|(_, a)| **a != [0, 0]);
        let step = |(pair, [a, b]): (usize, &[u32; 2])| TurnPair {
            pair,
            exponents: [(order - a) % order, (order - b) % order],
        };
        turning.map(step).collect()
    }

    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Paired<W> {
        Paired::new(params, turned_sample(params, test, exponents))
    }

    fn step(
        &self,
        TurnPair { pair, exponents }: TurnPair,
        Paired { parts, turns }: &mut Paired<W>,
        With { params, key, scratch, counters }: With<'_, W>,
    ) {
        let rgsw = params.rgsw();
        let length = rgsw.pair_samples() * 2 * rgsw.n();
        let mut keys = key[pair * length..].chunks(length);
        let keys = [keys.next().unwrap_or_default(), keys.next().unwrap_or_default()];
        rgsw.turn_by_pair((&self.0, turns), keys, exponents, parts, scratch, counters);
    }
}
