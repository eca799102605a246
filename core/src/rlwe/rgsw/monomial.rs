//! Monomials and automorphisms on coefficients.

use alloc::{vec, vec::Vec};

use super::product::RgswContext;
use crate::arith::{Modulus, Word};

/// out = X^exponent x modulo X^n + 1; the exponent is below 2n.
pub fn multiply_by_monomial<W: Word>(m: &Modulus<W>, out: &mut [W], x: &[W], exponent: u32) {
    let n = x.len();
    let (shift, negative) = (exponent as usize % n, exponent as usize >= n);
    let (wrapped, straight) = out.split_at_mut(shift);
    straight.copy_from_slice(&x[..n - shift]);
    wrapped.copy_from_slice(&x[n - shift..]);
    W::kernels().neg_assign(m, if negative { straight } else { wrapped });
}

/// out = x(X^g) modulo X^n + 1, g odd.
pub fn apply_automorphism<W: Word>(m: &Modulus<W>, out: &mut [W], x: &[W], g: u64) {
    let n = x.len();
    let mask = 2 * n as u64 - 1;
    for (j, &x) in (0u64..).zip(x) {
        let to = (j.wrapping_mul(g) & mask) as usize;
        out[to % n] = if to < n { x } else { m.neg(x) };
    }
}

/// All powers of the root of unity, read off the transform of X, and the exponent of the root at each place of a row.
pub(crate) fn powers_of_root<W: Word>(rgsw: &RgswContext<W>) -> (Vec<W>, Vec<u32>) {
    let (n, m, ntt) = (rgsw.n(), rgsw.ring().modulus(), rgsw.ring().ntt());
    let mut row = vec![W::ZERO; n];
    row[1] = W::ONE;
    W::kernels().ntt_forward(ntt, &mut row);
    // Place 0 is psi itself.
    let mut powers = vec![W::ONE; 2 * n];
    for e in 1..2 * n {
        powers[e] = m.mul(powers[e - 1], row[0]);
    }
    let bits = n.trailing_zeros();
    let places = (0..n as u32).map(|j| 2 * (j.reverse_bits() >> (32 - bits)) + 1).collect();
    (powers, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monomials_turn_and_automorphisms_permute_with_signs() {
        let m = Modulus::<u32>::new(7681).unwrap();
        let x: Vec<u32> = (1..=8).collect();
        for exponent in 0..16u32 {
            let mut out = vec![0; 8];
            multiply_by_monomial(&m, &mut out, &x, exponent);
            for (j, &value) in x.iter().enumerate() {
                let to = j + exponent as usize;
                let negative = to / 8 % 2 == 1;
                assert_eq!(out[to % 8], if negative { 7681 - value } else { value });
            }
        }
        for g in (1..16u64).step_by(2) {
            let mut out = vec![0; 8];
            apply_automorphism(&m, &mut out, &x, g);
            for (j, &value) in x.iter().enumerate() {
                let to = j * g as usize;
                let negative = to / 8 % 2 == 1;
                assert_eq!(out[to % 8], if negative { 7681 - value } else { value }, "X^{g}");
            }
        }
    }
}
