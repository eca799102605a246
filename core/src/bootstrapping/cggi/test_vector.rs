//! The polynomial that a blind rotation turns: the results of all phases.

use alloc::{vec, vec::Vec};

use crate::{
    arith::Word,
    rlwe::{lwe::Exponents, rgsw::multiply_by_monomial},
    schemes::cggi::CggiParams,
};

/// The polynomial v whose coefficient j is the result of phase j / 2N, for j < N; for the other half of
/// the circle the result is the negative of the opposite one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestVector<W: Word> {
    pub(super) coefficients: Vec<W>,
    /// The mask, if the polynomial is encrypted: methods that begin with a known polynomial do not use it.
    pub(super) mask: Option<Vec<W>>,
}

impl<W: Word> TestVector<W> {
    /// The same result for the whole upper half: the sign, times `value`.
    pub fn sign(params: &CggiParams<W>, value: W) -> Self {
        Self { coefficients: vec![value; params.n()], mask: None }
    }

    /// `value(w)` for the w-th of `windows` equal parts of the upper half.
    pub fn windows(params: &CggiParams<W>, windows: usize, value: impl Fn(usize) -> W) -> Self {
        let n = params.n();
        Self { coefficients: (0..n).map(|j| value(j * windows / n)).collect(), mask: None }
    }

    /// The polynomial that a ring sample (b, a) encrypts, coefficient domain.
    pub(super) fn encrypted([b, a]: [Vec<W>; 2]) -> Self {
        Self { coefficients: b, mask: Some(a) }
    }
}

/// X^(-b) v for the body b of exponents.
pub(super) fn turned_test_vector<W: Word>(
    params: &CggiParams<W>,
    test: &TestVector<W>,
    exponents: &Exponents,
) -> Vec<W> {
    let order = 1 << params.log_2n();
    let mut out = vec![W::ZERO; params.n()];
    multiply_by_monomial(params.modulus(), &mut out, &test.coefficients, (order - exponents.b) % order);
    out
}

/// X^(-b) times the sample of v for the body b of exponents: without noise or mask if v is known.
pub(super) fn turned_sample<W: Word>(
    params: &CggiParams<W>,
    test: &TestVector<W>,
    exponents: &Exponents,
) -> [Vec<W>; 2] {
    let order = 1 << params.log_2n();
    let mut a = vec![W::ZERO; params.n()];
    if let Some(mask) = &test.mask {
        multiply_by_monomial(params.modulus(), &mut a, mask, (order - exponents.b) % order);
    }
    [turned_test_vector(params, test, exponents), a]
}
