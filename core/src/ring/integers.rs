//! Integers in and out of residue form.

use alloc::{vec, vec::Vec};

use zeroize::Zeroize;

use super::{
    basis::Basis,
    poly::{Coeff, Poly},
};
use crate::arith::Word;

/// The polynomial with the given signed coefficients, |x| < 2^62.
pub fn from_integers<W: Word>(basis: &Basis<W>, coefficients: &[i64]) -> Poly<W, Coeff> {
    let mut out = Poly::zero(basis);
    let kernels = basis.kernels();
    out.for_each_row_mut(|i, row| kernels.reduce_i64(basis.modulus(i), row, coefficients));
    out
}

/// Centred coefficients, in (-Q/2, Q/2], as doubles (mixed-radix reconstruction, so that a small
/// value is exact however large Q is).
///
/// Secret-independent control flow: no branch on a residue.
///
/// # Panics
/// Never: the primes of a basis are distinct.
pub fn centered_f64<W: Word>(x: &Poly<W, Coeff>) -> Vec<f64> {
    let basis = x.basis();
    let (len, n) = (basis.len(), basis.n());
    // Residues that stand for centred mixed-radix digits v_i in (-q_i/2, q_i/2], x = v_0 + q_0 (v_1 + q_1 (v_2 + ...)):
    // each step removes a centred digit, so small values end with zero high digits and the sum is
    // exact below 2^52.
    let kernels = basis.kernels();
    let mut digits: Vec<Vec<W>> = Vec::with_capacity(len);
    let mut lower = vec![W::ZERO; n];
    for i in 0..len {
        let m = basis.modulus(i);
        let mut row: Vec<W> = x.row(i).to_vec();
        for (j, digit) in digits.iter().enumerate() {
            let prime = basis.modulus(j);
            let inverse = m.shoup(m.inv(m.reduce_u64(prime.value_u64())).expect("distinct primes"));
            kernels.lift_centered(prime, m, &mut lower, digit);
            kernels.sub_mul_scalar_assign(m, &mut row, &lower, &inverse);
        }
        digits.push(row);
    }
    lower.zeroize();
    let mut out = vec![0.0f64; n];
    for (i, digit) in digits.iter().enumerate().rev() {
        let m = basis.modulus(i);
        let q = m.value_u64() as f64;
        for (o, &v) in out.iter_mut().zip(digit) {
            *o = *o * q + m.centered(v) as f64;
        }
    }
    digits.zeroize();
    out
}
