//! The main secret key.

use zeroize::{Zeroize, Zeroizing};

use super::context::RlweContext;
use crate::{
    arith::Word,
    random::Seed,
    ring::{Automorphism, Basis, Eval, Poly, SmallPoly},
};

/// A dense ternary secret, uniform in {-1, 0, 1}^N, with its residues modulo Q P in evaluation
/// domain. Wiped when dropped.
pub struct SecretKey<W: Word> {
    small: SmallPoly,
    pub(super) eval: Poly<W, Eval>,
    q_len: usize,
}

impl<W: Word> Drop for SecretKey<W> {
    fn drop(&mut self) {
        self.eval.zeroize();
    }
}

impl<W: Word> SecretKey<W> {
    /// Draws a key from a seed.
    pub fn generate(context: &RlweContext<W>, seed: &Seed) -> Self {
        let mut stream = seed.derive("dense ternary secret", &[]).stream();
        let small = SmallPoly::ternary(context.n(), &mut stream);
        let top = context.max_level();
        let eval = small.to_poly(context.qp(top)).into_eval();
        Self { small, eval, q_len: context.q(top).len() }
    }

    /// The ternary coefficients.
    pub fn small(&self) -> &SmallPoly {
        &self.small
    }

    /// Residues modulo Q P.
    pub fn eval(&self) -> &Poly<W, Eval> {
        &self.eval
    }

    /// Residues modulo a prefix Q_l of Q.
    pub fn modulo_q(&self, basis: &Basis<W>) -> Zeroizing<Poly<W, Eval>> {
        Zeroizing::new(self.eval.truncated_to(basis))
    }

    /// Residues modulo Q_l P, given that basis.
    pub fn modulo_qp(&self, basis: &Basis<W>, special: usize) -> Zeroizing<Poly<W, Eval>> {
        let n = basis.n();
        let q = basis.len() - special;
        let mut data = self.eval.data()[..q * n].to_vec();
        data.extend_from_slice(&self.eval.data()[self.q_len * n..]);
        Zeroizing::new(Poly::from_rows(basis, data))
    }

    /// sigma_g(s) modulo Q P.
    pub fn automorphism(&self, g: &Automorphism) -> Zeroizing<Poly<W, Eval>> {
        Zeroizing::new(self.eval.automorphism(g))
    }
}
