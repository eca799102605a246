//! Plaintexts of the column keys: selection masks, at scale P.

use alloc::{vec, vec::Vec};

use zeroize::Zeroize;

use crate::{
    arith::{Word, complex::Complex},
    error::Error,
    ring::{Basis, Eval, Poly, from_integers},
    schemes::ckks::{Encoder, round_ties_even},
};

/// Position of factor k's window in the sequence F, slot by slot:
/// t_i = (((i + rotation) mod S) - J) mod 2N, where the rotation o_k + theta r_1 is what the
/// multiplexers will apply to the right. Quarter q of F supplies slot i where floor(t_i / S) = q.
pub fn window_positions(slots: usize, rotation: u64, j: u64) -> impl Iterator<Item = u64> {
    let (s, two_n) = (slots as u64, 4 * slots as u64);
    (0..s).map(move |i| (((i + rotation) & (s - 1)) + two_n - j) & (two_n - 1))
}

/// The four masks of a factor as slot values 0 or 1, `[quarter][slot]`.
///
/// Secret inputs: computed by arithmetic on every slot, without branches.
pub fn quarter_masks(slots: usize, rotation: u64, j: u64) -> [Vec<f64>; 4] {
    let shift = slots.trailing_zeros();
    let quarters: Vec<u64> = window_positions(slots, rotation, j).map(|t| t >> shift).collect();
    core::array::from_fn(|q| quarters.iter().map(|&x| (1 - ((x ^ q as u64).min(1))) as f64).collect())
}

/// round(P x) modulo every prime of Q P in evaluation domain, where x are the real coefficients of
/// the polynomial with the given slots.
///
/// Doubles times P would lose bits: x is taken as the integer X = round(2^52 x), and
/// (X P - (X P mod 2^52, centred)) / 2^52 is computed residue by residue.
pub fn mask_payload<W: Word>(
    encoder: &Encoder,
    basis: &Basis<W>,
    special: usize,
    mask: &[f64],
) -> Result<Poly<W, Eval>, Error> {
    const BITS: u32 = 52;
    let mut slots: Vec<Complex> = mask.iter().map(|&re| Complex { re, im: 0.0 }).collect();
    let mut x = encoder.coefficients(&slots)?;
    slots.zeroize();
    let mut fixed: Vec<i64> = x.iter().map(|&x| round_ties_even(x * (1u64 << BITS) as f64) as i64).collect();
    x.zeroize();
    let q_len = basis.len() - special;
    let p_low = (q_len..basis.len()).fold(1u64, |acc, i| acc.wrapping_mul(basis.modulus(i).value_u64()));
    // Centred remainder of X P modulo 2^52: shift up, then arithmetically down.
    let mut remainder: Vec<i64> = fixed
        .iter()
        .map(|&x| (((x as u64).wrapping_mul(p_low) << (64 - BITS)) as i64) >> (64 - BITS))
        .collect();
    let mut out = from_integers(basis, &fixed);
    let mut rest = from_integers(basis, &remainder);
    fixed.zeroize();
    remainder.zeroize();
    let kernels = basis.kernels();
    let mut scaled = vec![W::ZERO; basis.n()];
    for (i, row) in out.rows_mut() {
        let m = basis.modulus(i);
        let p = (q_len..basis.len())
            .fold(W::ONE, |acc, j| m.mul(acc, m.reduce_u64(basis.modulus(j).value_u64())));
        kernels.mul_scalar_assign(m, row, &m.shoup(p));
        scaled.copy_from_slice(rest.row(i));
        kernels.sub_assign(m, row, &scaled);
        let two = m.pow(m.reduce_u64(2), u64::from(BITS));
        if let Some(inverse) = m.inv(two) {
            kernels.mul_scalar_assign(m, row, &m.shoup(inverse));
        }
    }
    scaled.zeroize();
    rest.zeroize();
    Ok(out.into_eval())
}
