//! Keys that lead from one secret to another at a small modulus: from the dense secret of a chain to a sparse one, and
//! between the rings of two schemes.

use alloc::{format, vec::Vec};

use zeroize::Zeroizing;

use super::{encapsulation::EncapsulationContext, keyswitch::Pair, sample::KeySeeds};
use crate::{
    arith::Word,
    error::Error,
    ring::{Poly, SmallPoly},
};

/// A secret that is weak at the moduli of its ring. It encrypts nothing but the key that leads to it, at a modulus
/// where it is strong enough.
pub trait LinkSecret {
    /// The ternary coefficients, for oracles that hold the secret.
    fn small(&self) -> &SmallPoly;
}

/// The key modulo q_0 p' that [`EncapsulationContext::apply`] takes to switch ciphertexts modulo q_0 of the secret `from`
/// to `to`: sample j is (b_j, a_j) with b_j = -a_j to + e_j + p' g_j from.
///
/// Both secrets have the degree of the context. Its q_0 need not be the lowest modulus of a chain: for a link to another
/// ring it is a prime that both rings have transforms for.
pub fn link_samples<W: Word>(
    context: &EncapsulationContext<W>,
    from: &SmallPoly,
    to: &impl LinkSecret,
    seeds: &KeySeeds,
    block: [u64; 4],
) -> Vec<Pair<W>> {
    let to = Zeroizing::new(to.small().to_poly(context.q0p()).into_eval());
    let from: Zeroizing<Poly<W, _>> = Zeroizing::new(from.to_poly(context.q0()).into_eval());
    let sample = |j| seeds.sample(block, j, &to, Some(&Zeroizing::new(context.payload(j, &from))));
    (0..context.digit_count()).map(sample).collect()
}

/// An LWE secret as a polynomial of a larger ring, whose other coefficients are 0: coefficients of a ciphertext under it
/// are LWE samples of the smaller dimension ([`super::lwe::LweSample::extract_prefix`]).
pub struct PaddedSecret(SmallPoly);

impl PaddedSecret {
    /// `secret` with zeros up to degree `n`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the secret has more than `n` coefficients.
    pub fn new(secret: &SmallPoly, n: usize) -> Result<Self, Error> {
        let own = secret.coefficients();
        if own.len() > n {
            return Err(Error::InvalidArgument(format!(
                "an LWE secret of dimension {} does not fit a ring of degree {n}; link it to a larger ring",
                own.len()
            )));
        }
        let mut padded = alloc::vec![0; n];
        padded[..own.len()].copy_from_slice(own);
        Ok(Self(SmallPoly::from_coefficients(padded)))
    }
}

impl LinkSecret for PaddedSecret {
    fn small(&self) -> &SmallPoly {
        &self.0
    }
}
