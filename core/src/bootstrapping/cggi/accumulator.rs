//! The forms in which methods keep the ring sample (b, a) that they turn.

use alloc::{vec, vec::Vec};

use crate::{
    arith::{Turns, Word},
    rlwe::rgsw::Mirrored,
    schemes::cggi::CggiParams,
};

/// A ring sample (b, a) being turned.
pub(super) trait Accumulator<W: Word>: Send + Sync {
    /// Both parts, coefficient domain.
    fn parts(&self, params: &CggiParams<W>) -> [Vec<W>; 2];
}

/// A sample in the coefficient domain.
pub(super) struct Turned<W: Word>(pub Mirrored<W>);

/// A sample in the coefficient domain, and the powers of X by which it is multiplied.
pub(super) struct Paired<W: Word> {
    pub parts: [Vec<W>; 2],
    pub turns: Turns<W>,
}

/// A sample in the evaluation domain, and two rows to work in.
pub(super) struct Evaluated<W: Word> {
    pub parts: [Vec<W>; 2],
    pub spare: [Vec<W>; 2],
}

/// An NTRU sample in the evaluation domain, or still the known polynomial it starts from, and a row to work in.
pub(super) struct NtruSample<W: Word> {
    pub known: bool,
    pub row: Vec<W>,
    pub spare: Vec<W>,
}

impl<W: Word> Turned<W> {
    /// A sample given by its coefficients.
    pub fn new(params: &CggiParams<W>, [b, a]: &[Vec<W>; 2]) -> Self {
        Self(Mirrored::new(params.modulus(), [b, a]))
    }
}

impl<W: Word> Paired<W> {
    /// A sample given by its coefficients.
    pub fn new(params: &CggiParams<W>, parts: [Vec<W>; 2]) -> Self {
        Self { parts, turns: Turns::new(params.n()) }
    }
}

impl<W: Word> Evaluated<W> {
    /// A sample given by its coefficients.
    pub fn new(params: &CggiParams<W>, mut parts: [Vec<W>; 2]) -> Self {
        let zero = || vec![W::ZERO; params.n()];
        for part in &mut parts {
            W::kernels().ntt_forward(params.rgsw().ring().ntt(), part);
        }
        Self { parts, spare: [zero(), zero()] }
    }
}

impl<W: Word> NtruSample<W> {
    /// A polynomial given by its coefficients, not yet a sample.
    pub fn known(params: &CggiParams<W>, mut row: Vec<W>) -> Self {
        W::kernels().ntt_forward(params.rgsw().ring().ntt(), &mut row);
        Self { known: true, row, spare: vec![W::ZERO; params.n()] }
    }
}

impl<W: Word> Accumulator<W> for Turned<W> {
    fn parts(&self, _params: &CggiParams<W>) -> [Vec<W>; 2] {
        self.0.parts().map(<[W]>::to_vec)
    }
}

impl<W: Word> Accumulator<W> for Paired<W> {
    fn parts(&self, _params: &CggiParams<W>) -> [Vec<W>; 2] {
        self.parts.clone()
    }
}

impl<W: Word> Accumulator<W> for Evaluated<W> {
    fn parts(&self, params: &CggiParams<W>) -> [Vec<W>; 2] {
        let mut parts = self.parts.clone();
        for part in &mut parts {
            W::kernels().ntt_inverse(params.rgsw().ring().ntt(), part);
        }
        parts
    }
}

impl<W: Word> Accumulator<W> for NtruSample<W> {
    fn parts(&self, params: &CggiParams<W>) -> [Vec<W>; 2] {
        let (mut row, zero) = (self.row.clone(), vec![W::ZERO; params.n()]);
        W::kernels().ntt_inverse(params.rgsw().ring().ntt(), &mut row);
        if self.known { [row, zero] } else { [zero, row] }
    }
}
