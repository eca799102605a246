//! Switching keys: gadget encryptions of one polynomial under another key.

use zeroize::Zeroizing;

use super::{
    context::RlweContext,
    keyswitch::Pair,
    sample::{KeySeeds, SampleBlock},
    secret::SecretKey,
};
use crate::{
    arith::Word,
    ring::{Automorphism, Eval, GaloisElement, Poly},
};

/// The level and digit a gadget sample belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GadgetTarget {
    /// Level of the key: samples live modulo Q_level P.
    pub level: usize,
    /// Position among the digits that exist at the level.
    pub digit: usize,
}

/// One sample of KSK(u -> v): (b, a) with b = -a v + e + P g_j u modulo Q_l P, where P g_j u
/// is P u on the primes of digit j and zero elsewhere.
///
/// `u` is given modulo Q_l or more, `v` modulo Q_l P. The sample's name is `block` and `index`.
pub fn switching_sample<W: Word>(
    context: &RlweContext<W>,
    seeds: &KeySeeds,
    (block, index): ([u64; 4], usize),
    target: GadgetTarget,
    u: &Poly<W, Eval>,
    v: &Poly<W, Eval>,
) -> Pair<W> {
    let tables = context.level(target.level);
    let mut sample = seeds.sample(block, index, v, None);
    for &row in tables.digits[target.digit].own() {
        let (m, special) = (tables.qp.modulus(row), &context.special_mod_q()[row]);
        tables.qp.kernels().mul_scalar_add_assign(m, sample.b.row_mut(row), u.row(row), special);
    }
    sample
}

impl<W: Word> SecretKey<W> {
    /// sigma_g^-1(s) modulo Q_level P: the key a Galois key switches to, so that the automorphism
    /// can follow the product.
    pub fn galois_target(
        &self,
        context: &RlweContext<W>,
        level: usize,
        g: GaloisElement,
    ) -> Zeroizing<Poly<W, Eval>> {
        let inverse = Automorphism::over(context.ring(), context.ring().inverse(g));
        Zeroizing::new(self.modulo_qp(context.qp(level), context.special().len()).automorphism(&inverse))
    }

    /// Galois key of `g` for ciphertexts up to `level`: KSK(s -> sigma_g^-1(s)).
    pub fn galois_key(
        &self,
        context: &RlweContext<W>,
        seeds: &KeySeeds,
        level: usize,
        g: GaloisElement,
    ) -> SampleBlock<W> {
        let v = self.galois_target(context, level, g);
        switching_key(context, seeds, galois_block(g, level), level, self.eval(), &v)
    }

    /// Relinearisation key for products up to `level`: KSK(s^2 -> s).
    pub fn relinearization_key(
        &self,
        context: &RlweContext<W>,
        seeds: &KeySeeds,
        level: usize,
    ) -> SampleBlock<W> {
        let square = Zeroizing::new(self.eval().mul(self.eval()));
        let v = self.modulo_qp(context.qp(level), context.special().len());
        switching_key(context, seeds, relinearization_block(level), level, &square, &v)
    }
}

/// KSK(u -> v) for ciphertexts up to `level`: one [`switching_sample`] per digit.
pub(super) fn switching_key<W: Word>(
    context: &RlweContext<W>,
    seeds: &KeySeeds,
    block: [u64; 4],
    level: usize,
    u: &Poly<W, Eval>,
    v: &Poly<W, Eval>,
) -> SampleBlock<W> {
    let basis = context.qp(level);
    let mut out = SampleBlock::zero(basis, context.special().len(), context.digit_count(level));
    for digit in 0..context.digit_count(level) {
        let target = GadgetTarget { level, digit };
        out.set(digit, &switching_sample(context, seeds, (block, digit), target, u, v));
    }
    out
}

/// Names the streams of a Galois key, apart from those of bootstrapping methods.
pub(crate) fn galois_block(g: GaloisElement, level: usize) -> [u64; 4] {
    [u64::MAX - 1, g.value(), level as u64, 0]
}

/// Names the streams of a relinearisation key, apart from those of bootstrapping methods.
pub(crate) fn relinearization_block(level: usize) -> [u64; 4] {
    [u64::MAX - 2, level as u64, 0, 0]
}
