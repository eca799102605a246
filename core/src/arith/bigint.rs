//! Small exact integers: products of moduli, their residues and sizes, and reconstruction from residues.
//!
//! A non-negative integer is a slice of 64-bit limbs, least significant first; high zero limbs are allowed.

use super::{MachineWord, Modulus};
use crate::error::Error;
use alloc::{format, vec, vec::Vec};
use core::cmp::Ordering;

/// The product of `factors` (1 for none), without high zero limbs.
pub fn product(factors: &[u64]) -> Vec<u64> {
    let mut limbs = vec![1];
    for &factor in factors {
        mul_add_small(&mut limbs, factor, 0);
    }
    limbs
}

/// `x = x factor + addend`, growing as needed.
pub fn mul_add_small(x: &mut Vec<u64>, factor: u64, addend: u64) {
    let mut carry = u128::from(addend);
    for limb in x.iter_mut() {
        carry += u128::from(*limb) * u128::from(factor);
        *limb = carry as u64;
        carry >>= 64;
    }
    if carry != 0 {
        x.push(carry as u64);
    }
    while x.last() == Some(&0) {
        x.pop();
    }
}

/// `x mod p`.
pub fn rem<W: MachineWord>(x: &[u64], m: &Modulus<W>) -> W {
    x.iter().rev().fold(W::ZERO, |r, &limb| m.reduce_u128((u128::from(r.to_u64()) << 64) | u128::from(limb)))
}

/// The order of two integers.
pub fn cmp(a: &[u64], b: &[u64]) -> Ordering {
    let limb = |x: &[u64], i: usize| x.get(i).copied().unwrap_or(0);
    (0..a.len().max(b.len()))
        .rev()
        .map(|i| limb(a, i).cmp(&limb(b, i)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// `a - b` for `a >= b` (checked in debug builds), without high zero limbs.
pub fn sub(a: &[u64], b: &[u64]) -> Vec<u64> {
    debug_assert!(cmp(a, b).is_ge());
    let mut borrow = false;
    let mut difference: Vec<u64> = a
        .iter()
        .enumerate()
        .map(|(i, &a)| {
            let (d, under0) = a.overflowing_sub(b.get(i).copied().unwrap_or(0));
            let (d, under1) = d.overflowing_sub(u64::from(borrow));
            borrow = under0 | under1;
            d
        })
        .collect();
    while difference.last() == Some(&0) {
        difference.pop();
    }
    difference
}

/// `floor(x / 2)`.
pub fn half(x: &[u64]) -> Vec<u64> {
    (0..x.len()).map(|i| (x[i] >> 1) | (x.get(i + 1).copied().unwrap_or(0) << 63)).collect()
}

/// The nearest `f64` up to two units in the last place (infinite beyond its range).
pub fn to_f64(x: &[u64]) -> f64 {
    x.iter().rev().fold(0.0, |value, &limb| value * 18_446_744_073_709_551_616.0 + limb as f64)
}

/// Base-2 logarithm, also beyond the range of `f64`; minus infinity for zero.
pub fn log2(x: &[u64]) -> f64 {
    let used = x.iter().rposition(|&limb| limb != 0).map_or(0, |i| i + 1);
    let top = used.saturating_sub(3);
    libm::log2(to_f64(&x[top..used])) + 64.0 * top as f64
}

/// Reconstruction of integers from their residues modulo distinct primes (mixed radix; Garner).
#[derive(Clone, Debug)]
pub struct Crt<W> {
    moduli: Vec<Modulus<W>>,
    /// `inverses[i][j] = p_j^-1 mod p_i` for `j < i`.
    inverses: Vec<Vec<W>>,
    product: Vec<u64>,
    half: Vec<u64>,
}

impl<W: MachineWord> Crt<W> {
    /// Constants for the given primes, which must be distinct.
    pub fn new(moduli: &[Modulus<W>]) -> Result<Self, Error> {
        let inverse = |a: &Modulus<W>, b: &Modulus<W>| {
            b.inv(b.reduce_u64(a.value_u64())).ok_or_else(|| {
                Error::InvalidArgument(format!("modulus {} occurs twice; take distinct primes", a.value()))
            })
        };
        let inverses = (0..moduli.len())
            .map(|i| (0..i).map(|j| inverse(&moduli[j], &moduli[i])).collect())
            .collect::<Result<_, _>>()?;
        let primes: Vec<u64> = moduli.iter().map(Modulus::value_u64).collect();
        let product = product(&primes);
        Ok(Self { moduli: moduli.to_vec(), inverses, half: half(&product), product })
    }

    /// The product of the primes.
    pub fn product(&self) -> &[u64] {
        &self.product
    }

    /// The integer in `[0, product)` with these residues, one per prime, in order.
    pub fn reconstruct(&self, residues: &[W]) -> Vec<u64> {
        debug_assert_eq!(residues.len(), self.moduli.len());
        let mut digits: Vec<W> = Vec::with_capacity(residues.len());
        for ((m, inverses), &residue) in self.moduli.iter().zip(&self.inverses).zip(residues) {
            let digit = digits.iter().zip(inverses).fold(residue, |r, (&digit, &inverse)| {
                m.mul(m.sub(r, m.reduce_u64(digit.to_u64())), inverse)
            });
            digits.push(digit);
        }
        let mut value = Vec::new();
        for (m, digit) in self.moduli.iter().zip(&digits).rev() {
            mul_add_small(&mut value, m.value_u64(), digit.to_u64());
        }
        value
    }

    /// The integer in `(-product/2, product/2]` with these residues: whether it is negative, and its absolute value.
    pub fn reconstruct_centered(&self, residues: &[W]) -> (bool, Vec<u64>) {
        let value = self.reconstruct(residues);
        if cmp(&value, &self.half).is_gt() { (true, sub(&self.product, &value)) } else { (false, value) }
    }

    /// [`reconstruct_centered`](Self::reconstruct_centered) rounded to `f64`.
    pub fn reconstruct_f64(&self, residues: &[W]) -> f64 {
        let (negative, value) = self.reconstruct_centered(residues);
        if negative { -to_f64(&value) } else { to_f64(&value) }
    }
}
