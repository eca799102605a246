//! The main secret key.

use alloc::{format, vec, vec::Vec};

use zeroize::{Zeroize, Zeroizing};

use super::context::RlweContext;
use crate::{
    arith::{Deferred, Word},
    error::Error,
    random::Seed,
    ring::{Automorphism, Basis, Coeff, Eval, Poly, SmallPoly},
    security::SecretDistribution,
};

/// The main secret of a chain, ternary: uniform in {-1, 0, 1}^N, or sparse if the chain says so. Wiped when dropped.
///
/// Its residues modulo Q P in evaluation domain are computed when they are first used, prime by prime: encryption and
/// decryption need only a few of them.
pub struct SecretKey<W: Word> {
    small: SmallPoly,
    basis: Basis<W>,
    q_len: usize,
    /// One per prime of Q P.
    rows: Vec<Deferred<Vec<W>>>,
    eval: Deferred<Poly<W, Eval>>,
}

impl<W: Word> Drop for SecretKey<W> {
    fn drop(&mut self) {
        self.rows.iter_mut().filter_map(Deferred::get_mut).for_each(Zeroize::zeroize);
        if let Some(eval) = self.eval.get_mut() {
            eval.zeroize();
        }
    }
}

impl<W: Word> SecretKey<W> {
    /// Draws a key from a seed.
    pub fn generate(context: &RlweContext<W>, seed: &Seed) -> Self {
        let small = match context.spec().secret {
            SecretDistribution::Sparse { weight } => {
                let mut stream = seed.derive("sparse ternary secret", &[]).stream();
                SmallPoly::sparse_ternary(context.n(), weight as usize, &mut stream)
            }
            _ => SmallPoly::ternary(context.n(), &mut seed.derive("dense ternary secret", &[]).stream()),
        };
        let top = context.max_level();
        let basis = context.qp(top).clone();
        let rows = (0..basis.len()).map(|limb| Deferred::new(|| transformed(&small, &basis, limb))).collect();
        let eval = Deferred::new(|| small.to_poly(&basis).into_eval());
        Self { small, basis, q_len: context.q(top).len(), rows, eval }
    }

    /// Computes the residues modulo the first `primes` primes of Q now, so that nothing has to wait for them later.
    pub(crate) fn prepare(&self, primes: usize) {
        for limb in 0..primes {
            self.rows[limb].get(|| transformed(&self.small, &self.basis, limb));
        }
    }

    /// The ternary coefficients.
    pub fn small(&self) -> &SmallPoly {
        &self.small
    }

    /// Q P.
    pub fn basis(&self) -> &Basis<W> {
        &self.basis
    }

    /// Residues modulo Q P.
    pub fn eval(&self) -> &Poly<W, Eval> {
        self.eval.get(|| Poly::from_rows(&self.basis, self.gather(0..self.basis.len())))
    }

    /// Residues modulo a prefix Q_l of Q.
    pub fn modulo_q(&self, basis: &Basis<W>) -> Zeroizing<Poly<W, Eval>> {
        Zeroizing::new(Poly::from_rows(basis, self.gather(0..basis.len())))
    }

    /// Residues modulo Q_l P, given that basis.
    pub fn modulo_qp(&self, basis: &Basis<W>, special: usize) -> Zeroizing<Poly<W, Eval>> {
        let q = basis.len() - special;
        Zeroizing::new(Poly::from_rows(basis, self.gather((0..q).chain(self.q_len..self.basis.len()))))
    }

    /// sigma_g(s) modulo Q P.
    pub fn automorphism(&self, g: &Automorphism) -> Zeroizing<Poly<W, Eval>> {
        Zeroizing::new(self.eval().automorphism(g))
    }

    /// The phase sum_i parts_i s^i of a ciphertext, whose parts are modulo one prefix of Q.
    ///
    /// # Panics
    /// For no parts.
    pub(crate) fn phase(&self, parts: &[Poly<W, Eval>]) -> Zeroizing<Poly<W, Coeff>> {
        let (last, rest) = parts.split_last().expect("a ciphertext has components");
        let s = self.modulo_q(last.basis());
        let mut sum = last.clone();
        for part in rest.iter().rev() {
            sum.mul_assign(&s);
            sum.add_assign(part);
        }
        Zeroizing::new(sum.into_coeff())
    }

    /// Checks that the key was made for this chain.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if not.
    pub fn check_chain(&self, chain: &RlweContext<W>) -> Result<(), Error> {
        let (wanted, own) = (chain.qp(chain.max_level()), &self.basis);
        if own.same_as(wanted) {
            return Ok(());
        }
        Err(Error::ParamsMismatch(format!(
            "secret key of a chain of degree {} and {:.1} bits, parameter set of degree {} and {:.1} bits; use the key \
             of this set",
            own.n(),
            own.log2(),
            chain.n(),
            wanted.log2(),
        )))
    }

    /// The rows of Q P numbered `limbs`, one after the other.
    fn gather(&self, limbs: impl Iterator<Item = usize> + Clone) -> Vec<W> {
        let mut out = vec![W::ZERO; limbs.clone().count() * self.basis.n()];
        for (row, limb) in out.chunks_exact_mut(self.basis.n()).zip(limbs) {
            row.copy_from_slice(self.rows[limb].get(|| transformed(&self.small, &self.basis, limb)));
        }
        out
    }
}

/// Residues modulo prime `limb`, evaluation domain, in the memory of a polynomial.
fn transformed<W: Word>(small: &SmallPoly, basis: &Basis<W>, limb: usize) -> Vec<W> {
    let residues: Poly<W, Coeff> = small.to_poly(&basis.select([limb]));
    residues.into_eval().into_rows()
}
