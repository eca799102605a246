//! Products of ciphertexts: three components, and back to two.
//!
//! What a plaintext means does not matter to any of it: (b + a s)(b' + a' s) = d_0 + d_1 s + d_2 s^2, and a switching key from
//! s^2 to s turns d_2 into a pair.

use alloc::{format, vec, vec::Vec};

use super::{context::RlweContext, keyswitch::Pair, sample::SampleBlock};
use crate::{
    arith::{Shoup, Word},
    error::Error,
    par,
    ring::{Basis, Eval, Poly},
    trace::Counters,
};

/// Words of each operand that are multiplied while they are in a first-level cache.
const BLOCK: usize = 512;

/// (b b', b a' + a b', a a') modulo `basis`, which the bases of the factors extend; times `scalars`, one for each prime, if there
/// are any.
pub(crate) fn tensor<W: Word>(
    basis: &Basis<W>,
    x: [&Poly<W, Eval>; 2],
    y: [&Poly<W, Eval>; 2],
    scalars: Option<&[Shoup<W>]>,
) -> [Poly<W, Eval>; 3] {
    let (n, kernels) = (basis.n(), basis.kernels());
    // Without scalars whole rows are faster: each product reads its operands once, and nothing has to stay for the next.
    let block = if scalars.is_some() { n.min(BLOCK) } else { n };
    let mut out = [(); 3].map(|()| Poly::zero(basis));
    let [d0, d1, d2] = &mut out;
    let rows = d0.rows_mut().zip(d1.rows_mut()).zip(d2.rows_mut());
    let mut limbs: Vec<[&mut [W]; 3]> = rows.map(|(((_, d0), (_, d1)), (_, d2))| [d0, d1, d2]).collect();
    let memory = || [(); 2].map(|()| vec![W::ZERO; if scalars.is_some() { block } else { 0 }]);
    par::for_each_limb_with(&mut limbs, n, memory, |scaled, limb, [d0, d1, d2]| {
        let m = basis.modulus(limb);
        for start in (0..n).step_by(block) {
            let range = start..n.min(start + block);
            let [mut b, mut a] = x.map(|part| &part.row(limb)[range.clone()]);
            if let Some(scalars) = scalars {
                let [scaled_b, scaled_a] = &mut *scaled;
                for (own, part) in [(scaled_b, &mut b), (scaled_a, &mut a)] {
                    let own = &mut own[..range.len()];
                    own.copy_from_slice(part);
                    kernels.mul_scalar_assign(m, own, &scalars[limb]);
                    *part = own;
                }
            }
            let [other_b, other_a] = y.map(|part| &part.row(limb)[range.clone()]);
            kernels.inner_product(m, &mut d0[range.clone()], &[b], &[other_b], false);
            kernels.inner_product(m, &mut d1[range.clone()], &[b, a], &[other_a, other_b], false);
            kernels.inner_product(m, &mut d2[range], &[a], &[other_a], false);
        }
    });
    out
}

impl<W: Word> RlweContext<W> {
    /// P times the pair that three components modulo Q_level are relinearised to, modulo Q_level P.
    ///
    /// # Errors
    /// As [`Self::check_key`].
    pub(crate) fn relinearize(
        &self,
        level: usize,
        [d0, d1, d2]: [&Poly<W, Eval>; 3],
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        self.check_key(key, level)?;
        let (kernels, q) = (self.q(level).kernels(), self.q(level));
        let mut out = Pair::zero(self.qp(level));
        let add_others = |limb: usize, start: usize, out: [&mut [W]; 2]| {
            for (out, part) in out.into_iter().zip([d0, d1]).filter(|_| limb < q.len()) {
                let part = &part.row(limb)[start..start + out.len()];
                kernels.add_multiples(q.modulus(limb), out, &[part], &self.special_mod_q()[limb..=limb]);
            }
        };
        self.switch_then(d2, level, key, &mut out, &add_others, counters);
        Ok(out)
    }

    /// round(pair / (P q_level)) modulo Q_(level-1), for a pair modulo Q_level P: one rounding.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0 and above the highest.
    pub(crate) fn divide_by_special_and_rescale(
        &self,
        level: usize,
        pair: Pair<W>,
        counters: &mut Counters,
    ) -> Result<Pair<W>, Error> {
        let down = self.mod_down_rescale(level)?;
        counters.ntt += 2 * down.ntts();
        let (b, a) = par::join(|| down.apply(pair.b), || down.apply(pair.a));
        Ok(Pair { b, a })
    }

    /// Checks that `key` is a switching key of this chain, one gadget vector, made at `level` or above.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a key of a lower level, [`Error::ParamsMismatch`] for one of another chain.
    pub fn check_key(&self, key: &SampleBlock<W>, level: usize) -> Result<(), Error> {
        match self.switching_key_level(key) {
            Some(own) if own >= level => Ok(()),
            Some(own) => Err(Error::LevelMismatch(format!(
                "switching key of level {own}, ciphertext at level {level}; drop the ciphertext to {own}, or make \
                 the key at {level} or above"
            ))),
            None => Err(Error::ParamsMismatch(format!(
                "switching key of {} samples modulo {} primes of degree {}, parameter set of degree {} with {} at \
                 its highest level; use a key of this set",
                key.samples(),
                key.basis().len(),
                key.basis().n(),
                self.n(),
                self.qp(self.max_level()).len(),
            ))),
        }
    }
}
