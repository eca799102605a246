//! Integers in and out of residue form.

use alloc::{vec, vec::Vec};

use zeroize::Zeroize;

use super::{
    basis::Basis,
    poly::{Coeff, Poly},
};
use crate::arith::{DoubleDouble, Modulus, Word};

/// The polynomial with the given signed coefficients, |x| < 2^62; the words after them in a row of a ring of odd index are zero.
pub fn from_integers<W: Word>(basis: &Basis<W>, coefficients: &[i64]) -> Poly<W, Coeff> {
    let mut out = Poly::zero(basis);
    let kernels = basis.kernels();
    out.for_each_row_mut(|i, row| {
        let own = coefficients.get(..basis.degree()).unwrap_or(coefficients);
        kernels.reduce_i64(basis.modulus(i), &mut row[..basis.degree()], own);
    });
    out
}

/// log2 of the parts in which wide integers are reduced.
const PART: u32 = 60;

/// The polynomial with the given signed coefficients, |x| < 2^121, in a time that does not depend on them.
pub fn from_wide_integers<W: Word>(basis: &Basis<W>, coefficients: &[i128]) -> Poly<W, Coeff> {
    let half = 1i128 << (PART - 1);
    let low = |x: i128| ((x + half) & ((1 << PART) - 1)) - half;
    let mut parts: Vec<i64> = coefficients.iter().map(|&x| low(x) as i64).collect();
    let mut out = from_integers(basis, &parts);
    for (part, &x) in parts.iter_mut().zip(coefficients) {
        *part = ((x - low(x)) >> PART) as i64;
    }
    let mut high = from_integers(basis, &parts);
    parts.zeroize();
    high.for_each_row_mut(|i, row| {
        let m = basis.modulus(i);
        basis.kernels().mul_scalar_assign(m, row, &m.shoup(m.reduce_u64(1 << PART)));
    });
    out.add_assign(&high);
    high.zeroize();
    out
}

/// Centred coefficients, in (-Q/2, Q/2], as doubles: a small value is exact however large Q is.
///
/// Secret-independent control flow: no branch on a residue.
///
/// # Panics
/// Never: the primes of a basis are distinct.
pub fn centered_f64<W: Word>(x: &Poly<W, Coeff>) -> Vec<f64> {
    from_digits(x, |sum: f64, q, digit| sum * q as f64 + digit as f64)
}

/// As [`centered_f64`], to 106 bits.
///
/// # Panics
/// Never: the primes of a basis are distinct.
pub fn centered<W: Word>(x: &Poly<W, Coeff>) -> Vec<DoubleDouble> {
    from_digits(x, |sum: DoubleDouble, q, digit| {
        sum * DoubleDouble::from_u64(q) + DoubleDouble::from_i64(digit)
    })
}

/// Residues modulo `p` of the centred coefficients, in (-Q/2, Q/2].
///
/// Secret-independent control flow: no branch on a residue.
///
/// # Panics
/// Never: the primes of a basis are distinct.
pub fn centered_residues<W: Word>(x: &Poly<W, Coeff>, p: &Modulus<u64>) -> Vec<u64> {
    from_digits(x, |sum: u64, q, digit| p.add(p.mul(sum, p.reduce_u64(q)), p.reduce_i64(digit)))
}

/// Centred coefficients by Horner's rule on their mixed-radix digits: `next(sum, q, digit)` is sum q + digit.
fn from_digits<W: Word, T: Copy + Default>(x: &Poly<W, Coeff>, next: impl Fn(T, u64, i64) -> T) -> Vec<T> {
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
    let mut out = vec![T::default(); basis.degree()];
    for (i, digit) in digits.iter().enumerate().rev() {
        let m = basis.modulus(i);
        for (o, &v) in out.iter_mut().zip(digit) {
            *o = next(*o, m.value_u64(), m.centered(v));
        }
    }
    digits.zeroize();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_integers_come_back() {
        let primes = [4_294_966_657u64, 4_294_966_337, 4_294_966_177, 4_294_965_793];
        let basis = Basis::<u64>::new(16, &primes).expect("primes of the ring");
        let one = 1i128;
        let mut integers =
            vec![0, 1, -1, one << 59, -(one << 59), (one << 60) - 1, one << 60, -(one << 60), one << 100];
        integers.extend([
            -(one << 100),
            (one << 100) + 12345,
            (one << 52) + 1,
            -(one << 119),
            (one << 120) / 3,
            -(one << 120) / 7,
            7,
        ]);
        let found = centered(&from_wide_integers(&basis, &integers));
        for (found, &x) in found.iter().zip(&integers) {
            let (high, low) = found.parts();
            let error = (high as i128 + low as i128 - x).unsigned_abs();
            assert!(error <= x.unsigned_abs() >> 104, "{x}: {error}");
        }
    }
}
