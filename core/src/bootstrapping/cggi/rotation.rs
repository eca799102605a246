//! Blind rotation: what the methods have in common.

use alloc::{vec, vec::Vec};

use super::ginx::GinxBinary;
use crate::{
    arith::{Modulus, Word},
    rlwe::{
        Pair,
        lwe::{Exponents, Grid, LweSample},
        rgsw::{Mirrored, ProductScratch},
    },
    schemes::cggi::{CggiParams, CggiSecretKey, RotationMethod},
    trace::Counters,
};

/// Name of the random streams of ring samples.
pub(super) const RING_BLOCK: [u64; 4] = [2, 0, 0, 0];

/// A method of blind rotation: which ring samples its key has, and how they turn the accumulator.
///
/// Its key is a list of ring samples modulo p. A rotation is a list of steps that depends on the public
/// masks alone, at most one product each.
pub(super) trait BlindRotation<W: Word>: Send + Sync {
    /// Number of ring samples of a key.
    fn samples(&self, params: &CggiParams<W>) -> usize;

    /// Makes sample `index` of the key; the same bytes every time.
    fn sample(&self, secret: &CggiSecretKey<W>, index: usize) -> Pair<W>;

    /// The masks it can rotate by.
    fn grid(&self) -> Grid;

    /// The steps of a rotation.
    fn plan(&self, params: &CggiParams<W>, exponents: &Exponents) -> Vec<Step>;

    /// The accumulator before the first step.
    fn start(&self, params: &CggiParams<W>, test: &TestVector<W>, exponents: &Exponents) -> Accumulator<W>;

    /// Does one step; `key` is all samples, those of each product prepared.
    fn step(
        &self,
        params: &CggiParams<W>,
        key: &[W],
        step: Step,
        accumulator: &mut Accumulator<W>,
        counters: &mut Counters,
    );
}

/// The implementation of a method.
pub(super) fn of_method<W: Word>(method: RotationMethod) -> &'static dyn BlindRotation<W> {
    match method {
        RotationMethod::GinxBinary => &GinxBinary,
    }
}

/// One step of a rotation: a coordinate of the short key, and an exponent of X.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) index: usize,
    pub(super) exponent: u32,
}

/// The polynomial v whose coefficient j is the result of phase j / 2N, for j < N; for the other half of
/// the circle the result is the negative of the opposite one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestVector<W: Word> {
    pub(super) coefficients: Vec<W>,
}

impl<W: Word> TestVector<W> {
    /// The same result for the whole upper half: the sign, times `value`.
    pub fn sign(params: &CggiParams<W>, value: W) -> Self {
        Self { coefficients: vec![value; params.n()] }
    }

    /// `value(w)` for the w-th of `windows` equal parts of the upper half.
    pub fn windows(params: &CggiParams<W>, windows: usize, value: impl Fn(usize) -> W) -> Self {
        let n = params.n();
        Self { coefficients: (0..n).map(|j| value(j * windows / n)).collect() }
    }
}

/// A ring sample (b, a) being turned, coefficient domain, and rows to work in.
pub struct Accumulator<W: Word> {
    pub(super) sample: Mirrored<W>,
    pub(super) scratch: ProductScratch<W>,
}

impl<W: Word> Accumulator<W> {
    /// The noiseless sample of X^exponent v.
    pub(super) fn of_monomial(params: &CggiParams<W>, test: &TestVector<W>, exponent: u32) -> Self {
        let n = params.n();
        let (mut b, a) = (vec![W::ZERO; n], vec![W::ZERO; n]);
        multiply_by_monomial(params.modulus(), &mut b, &test.coefficients, exponent);
        Self { sample: Mirrored::new(params.modulus(), [&b, &a]), scratch: params.rgsw().scratch() }
    }

    /// Both parts, coefficient domain.
    pub fn parts(&self) -> [&[W]; 2] {
        self.sample.parts()
    }

    /// The constant coefficient as an LWE sample under the coefficients of the ring key.
    pub(super) fn extract(&self, params: &CggiParams<W>) -> LweSample<W> {
        LweSample::extract(params.modulus(), self.parts(), 0)
    }
}

/// out = X^exponent x modulo X^n + 1; the exponent is below 2n.
pub(super) fn multiply_by_monomial<W: Word>(m: &Modulus<W>, out: &mut [W], x: &[W], exponent: u32) {
    let n = x.len();
    let (shift, negative) = (exponent as usize % n, exponent as usize >= n);
    let (wrapped, straight) = out.split_at_mut(shift);
    straight.copy_from_slice(&x[..n - shift]);
    wrapped.copy_from_slice(&x[n - shift..]);
    W::kernels().neg_assign(m, if negative { straight } else { wrapped });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monomials_turn_and_change_sign() {
        let m = Modulus::<u32>::new(7681).unwrap();
        let x: Vec<u32> = (1..=8).collect();
        for exponent in 0..16u32 {
            let mut out = vec![0; 8];
            multiply_by_monomial(&m, &mut out, &x, exponent);
            for (j, &value) in x.iter().enumerate() {
                let to = j + exponent as usize;
                let negative = to / 8 % 2 == 1;
                assert_eq!(out[to % 8], if negative { 7681 - value } else { value });
            }
        }
    }
}
