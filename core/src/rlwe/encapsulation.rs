//! Sparse-secret encapsulation: from the dense secret to an ephemeral sparse one, at the smallest
//! modulus (Bossuat, Troncoso-Pastoriza, Hubaux, ePrint 2022/024).
//!
//! A sparse secret is weak at a large modulus. [`SparseSecret`] therefore encrypts one thing only: the key that switches
//! the dense secret to it modulo q_0 p'. It may also be encrypted *by* the dense secret, for the way back.

use alloc::{format, vec, vec::Vec};

use zeroize::Zeroizing;

use super::{
    context::RlweContext,
    gadget::switching_key,
    keyswitch::Pair,
    link::{LinkSecret, link_samples},
    sample::{KeySeeds, SampleBlock},
    secret::SecretKey,
};
use crate::{
    arith::{KeyProduct, LeftRows, Word},
    error::Error,
    ring::{Basis, Coeff, Cyclotomic, Eval, ModDown, Poly, SmallPoly, from_integers},
    trace::Counters,
};

/// How the second component is cut before it is multiplied by the encapsulation key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncapsulationDigits {
    /// `count` balanced digits to base 2^w, w = ceil(log2(q_0) / count); q_0 is one prime.
    Balanced {
        /// Number of digits.
        count: usize,
    },
    /// One digit per prime of q_0: its centred residue.
    PerPrime,
}

/// Moduli and tables of the encapsulation key.
pub struct EncapsulationContext<W: Word> {
    q0: Basis<W>,
    q0p: Basis<W>,
    digits: EncapsulationDigits,
    mod_down: ModDown<W>,
}

impl<W: Word> EncapsulationContext<W> {
    /// `q0` are the primes of the lowest level, `special` is p'.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for unusable primes or digits.
    pub fn new(n: usize, q0: &[u64], special: u64, digits: EncapsulationDigits) -> Result<Self, Error> {
        Self::over(Cyclotomic::new(n, 1)?, q0, special, digits)
    }

    /// [`Self::new`] in any ring.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for unusable primes or digits.
    pub fn over(
        ring: Cyclotomic,
        q0: &[u64],
        special: u64,
        digits: EncapsulationDigits,
    ) -> Result<Self, Error> {
        if let EncapsulationDigits::Balanced { count } = digits
            && (q0.len() != 1 || count == 0 || count > 16)
        {
            return Err(Error::InvalidArgument(format!(
                "balanced encapsulation digits need one base prime and 1 to 16 digits, got {} primes and \
                 {count} digits; use one digit per prime for a composite base modulus",
                q0.len()
            )));
        }
        if q0.is_empty() {
            return Err(Error::InvalidArgument(
                "an encapsulation needs at least one base prime; give the primes of level 0".into(),
            ));
        }
        let primes: Vec<u64> = q0.iter().copied().chain([special]).collect();
        let q0p = Basis::over(ring, &primes)?;
        let base = q0p.prefix(q0.len());
        let mod_down = ModDown::new(&base, &q0p.select([q0.len()]));
        Ok(Self { q0: base, q0p, digits, mod_down })
    }

    /// q_0.
    pub fn q0(&self) -> &Basis<W> {
        &self.q0
    }

    /// q_0 p'.
    pub fn q0p(&self) -> &Basis<W> {
        &self.q0p
    }

    /// Number of samples of the encapsulation key.
    pub fn digit_count(&self) -> usize {
        match self.digits {
            EncapsulationDigits::Balanced { count } => count,
            EncapsulationDigits::PerPrime => self.q0.len(),
        }
    }

    /// Base-2 logarithm of the digit base, for balanced digits; bits of the largest prime otherwise.
    pub fn digit_bits(&self) -> u32 {
        match self.digits {
            EncapsulationDigits::Balanced { count } => {
                let q0 = self.q0.modulus(0).value_u64();
                (64 - q0.leading_zeros()).div_ceil(count as u32)
            }
            EncapsulationDigits::PerPrime => {
                let largest = self.q0.primes().max().unwrap_or(1);
                64 - largest.leading_zeros()
            }
        }
    }

    /// Digits of `a` as signed integers, `[digit][n]`, least significant first; they recompose to
    /// the centred representative of `a` exactly (modulo q_0 for one digit per prime).
    pub fn decompose(&self, a: &Poly<W, Coeff>) -> Vec<Vec<i64>> {
        match self.digits {
            EncapsulationDigits::Balanced { count } => {
                let (w, m) = (self.digit_bits(), self.q0.modulus(0));
                let half = 1i64 << (w - 1);
                let mut rest: Vec<i64> = a.row(0).iter().map(|&x| m.centered(x)).collect();
                let mut out = Vec::with_capacity(count);
                for _ in 1..count {
                    let digit: Vec<i64> =
                        rest.iter().map(|&x| ((x + half) & ((1 << w) - 1)) - half).collect();
                    for (r, d) in rest.iter_mut().zip(&digit) {
                        *r = (*r - d) >> w;
                    }
                    out.push(digit);
                }
                out.push(rest);
                out
            }
            EncapsulationDigits::PerPrime => (0..self.q0.len())
                .map(|i| a.row(i).iter().map(|&x| self.q0.modulus(i).centered(x)).collect())
                .collect(),
        }
    }

    /// p' g_j u modulo q_0 p'.
    pub(super) fn payload(&self, digit: usize, u: &Poly<W, Eval>) -> Poly<W, Eval> {
        let mut out = Poly::zero(&self.q0p);
        let special = self.q0p.modulus(self.q0.len()).value_u64();
        for i in 0..self.q0.len() {
            let m = self.q0.modulus(i);
            let g = match self.digits {
                EncapsulationDigits::Balanced { .. } => {
                    m.pow(m.reduce_u64(2), u64::from(self.digit_bits()) * digit as u64)
                }
                EncapsulationDigits::PerPrime if i == digit => W::ONE,
                EncapsulationDigits::PerPrime => W::ZERO,
            };
            let scalar = m.shoup(m.mul(g, m.reduce_u64(special)));
            let row = out.row_mut(i);
            row.copy_from_slice(u.row(i));
            self.q0p.kernels().mul_scalar_assign(m, row, &scalar);
        }
        out
    }

    /// Switches (b, a) from the dense secret to the sparse one:
    /// (b, 0) + round(sum_j digit_j (key.b_j, key.a_j) / p') modulo q_0, coefficient domain.
    pub fn apply(
        &self,
        x: &Pair<W>,
        key: &SampleBlock<W>,
        counters: &mut Counters,
    ) -> (Poly<W, Coeff>, Poly<W, Coeff>) {
        let digits = self.decompose(&x.a.clone().into_coeff());
        let rows: Vec<Poly<W, Eval>> =
            digits.iter().map(|d| from_integers(&self.q0p, d).into_eval()).collect();
        let mut sum = Pair::zero(&self.q0p);
        for limb in 0..self.q0p.len() {
            let lhs: Vec<&[W]> = rows.iter().map(|r| r.row(limb)).collect();
            let (out, key) = ([sum.b.row_mut(limb), sum.a.row_mut(limb)], key.limb(limb).range(0, lhs.len()));
            let product = KeyProduct { out, lhs: LeftRows::whole(&lhs), key };
            self.q0p.kernels().key_products(self.q0p.modulus(limb), &mut [product], false);
        }
        let (mut b, a) = (self.mod_down.apply(sum.b), self.mod_down.apply(sum.a));
        b.add_assign(&x.b);
        let (limbs, q0) = (self.q0p.len() as u64, self.q0.len() as u64);
        counters.ntt += q0 + digits.len() as u64 * limbs + 2 * self.mod_down.ntts() + 2 * q0;
        counters.limb_mac += 2 * digits.len() as u64 * limbs;
        counters.key_switch += 1;
        (b.into_coeff(), a.into_coeff())
    }
}

/// An ephemeral sparse secret. It cannot encrypt anything by itself.
pub struct SparseSecret(SmallPoly);

impl SparseSecret {
    /// Takes ternary coefficients.
    pub fn new(coefficients: SmallPoly) -> Self {
        Self(coefficients)
    }

    /// The key for the way back, sparse to dense, for ciphertexts up to `level`: KSK(s' -> s). Its samples are encrypted by
    /// the dense secret, whose security allows every modulus of the chain.
    pub fn raise_key<W: Word>(
        &self,
        context: &RlweContext<W>,
        dense: &SecretKey<W>,
        seeds: &KeySeeds,
        level: usize,
    ) -> SampleBlock<W> {
        let sparse = Zeroizing::new(self.0.to_poly(context.q(level)).into_eval());
        let v = dense.modulo_qp(context.qp(level), context.special().len());
        switching_key(context, seeds, raise_block(level), level, &sparse, &v)
    }

    /// The encapsulation key, dense to sparse, modulo q_0 p': see [`link_samples`].
    pub fn encapsulation_samples<W: Word>(
        &self,
        context: &EncapsulationContext<W>,
        dense: &SecretKey<W>,
        seeds: &KeySeeds,
        block: [u64; 4],
    ) -> Vec<Pair<W>> {
        link_samples(context, dense.small(), self, seeds, block)
    }
}

impl LinkSecret for SparseSecret {
    fn small(&self) -> &SmallPoly {
        &self.0
    }
}

/// Names the streams of the key for the way back, apart from those of general evaluation keys and of bootstrapping methods.
pub(crate) fn raise_block(level: usize) -> [u64; 4] {
    [u64::MAX - 3, level as u64, 0, 0]
}

/// Coefficients of a sparse ternary polynomial, written without a secret-dependent access: every
/// position is visited for every entry.
pub(crate) fn scatter_constant_time(n: usize, entries: &[(u32, i8)]) -> Vec<i8> {
    use subtle::{ConditionallySelectable, ConstantTimeEq};
    let mut out = vec![0u8; n];
    for &(position, sign) in entries {
        for (t, o) in out.iter_mut().enumerate() {
            let here = (t as u32).ct_eq(&position);
            *o = o.wrapping_add(u8::conditional_select(&0, &(sign as u8), here));
        }
    }
    out.into_iter().map(|x| x as i8).collect()
}
