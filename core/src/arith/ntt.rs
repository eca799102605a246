//! Tables of the negacyclic number-theoretic transform.

use super::{
    Modulus, Shoup, Word,
    primes::{is_prime, primitive_root},
};
use crate::Error;
use alloc::{format, vec, vec::Vec};

/// Twiddle factors of the transform modulo `X^n + 1` and one prime `p = 1 mod 2n`.
///
/// The transform is done by [`Kernels`](super::Kernels). Its evaluation order is bit-reversed:
/// output `j` is the polynomial at `psi^(2 brev(j) + 1)`, where `psi` is
/// [`primitive_root`]`(p, 2n)` and `brev` reverses `log2 n` bits.
#[derive(Clone, Debug)]
pub struct NttTable<W> {
    modulus: Modulus<W>,
    forward: Twiddles<W>,
    inverse: Twiddles<W>,
    scale: Shoup<W>,
    scaled_root: Shoup<W>,
}

/// Shoup forms, the two halves apart: entry `m + i` belongs to group `i` of the stage with `m` groups.
#[derive(Clone, Debug)]
pub(crate) struct Twiddles<W> {
    pub(crate) values: Vec<W>,
    pub(crate) quotients: Vec<W>,
}

impl<W: Word> Twiddles<W> {
    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Shoup<W> {
        Shoup { value: self.values[index], quotient: self.quotients[index] }
    }
}

impl<W: Word> NttTable<W> {
    /// Tables for degree `n`, a power of two of at least 2 with `2n | p - 1`.
    pub fn new(modulus: Modulus<W>, n: usize) -> Result<Self, Error> {
        if !n.is_power_of_two() || !(2..=1 << 20).contains(&n) {
            return Err(Error::InvalidArgument(format!(
                "ring degree {n} is not a power of two in [2, 2^20]"
            )));
        }
        let not_prime = || Error::InvalidArgument(format!("modulus {} is not prime", modulus.value()));
        if !is_prime(modulus.value_u64()) {
            return Err(not_prime());
        }
        let psi = primitive_root(&modulus, 2 * n as u64)?;
        let psi_inverse = modulus.inv(psi).ok_or_else(not_prime)?;
        let scale = modulus.inv(modulus.reduce_u64(n as u64)).ok_or_else(not_prime)?;
        let inverse = twiddles(&modulus, psi_inverse, n);
        let scaled_root = modulus.mul(scale, inverse.values[1]);
        Ok(Self {
            forward: twiddles(&modulus, psi, n),
            inverse,
            scale: modulus.shoup(scale),
            scaled_root: modulus.shoup(scaled_root),
            modulus,
        })
    }

    /// The ring degree.
    pub fn n(&self) -> usize {
        self.forward.values.len()
    }

    /// The prime.
    pub fn modulus(&self) -> &Modulus<W> {
        &self.modulus
    }

    /// Powers of `psi` in bit-reversed order.
    pub(crate) fn forward(&self) -> &Twiddles<W> {
        &self.forward
    }

    /// Powers of `psi^-1` in bit-reversed order.
    pub(crate) fn inverse(&self) -> &Twiddles<W> {
        &self.inverse
    }

    /// `n^-1`.
    pub(crate) fn scale(&self) -> &Shoup<W> {
        &self.scale
    }

    /// `n^-1` times the twiddle factor of the inverse transform's last stage.
    pub(crate) fn scaled_root(&self) -> &Shoup<W> {
        &self.scaled_root
    }
}

/// `root^brev(i)` for `i < n`.
fn twiddles<W: Word>(m: &Modulus<W>, root: W, n: usize) -> Twiddles<W> {
    let shift = usize::BITS - n.trailing_zeros();
    let mut values = vec![W::ONE; n];
    let mut power = W::ONE;
    for i in 0..n {
        values[i.reverse_bits() >> shift] = power;
        power = m.mul(power, root);
    }
    let quotients = values.iter().map(|w| w.shoup_quotient(m.value())).collect();
    Twiddles { values, quotients }
}
