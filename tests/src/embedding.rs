//! The canonical embedding by definition: slot `k` of `p` is `p(zeta^(5^k))`, `zeta = exp(i pi/N)`.

use core::f64::consts::PI;

use num_complex::Complex64;

/// `zeta^e`, the exponent taken modulo `2 N` before the angle is.
pub fn zeta(n: usize, exponent: usize) -> Complex64 {
    Complex64::from_polar(1.0, PI * (exponent % (2 * n)) as f64 / n as f64)
}

/// The exponents `5^k mod 2N` of the slots `0 <= k < N/2`.
pub fn slot_exponents(n: usize) -> Vec<usize> {
    core::iter::successors(Some(1), |e| Some(e * 5 % (2 * n))).take(n / 2).collect()
}

/// Slots of a polynomial with `N` real coefficients.
pub fn slots(coefficients: &[f64]) -> Vec<Complex64> {
    let n = coefficients.len();
    let at = |e: usize| coefficients.iter().enumerate().map(|(j, &c)| c * zeta(n, e * j)).sum();
    slot_exponents(n).into_iter().map(at).collect()
}

/// The polynomial with these `N/2` slots.
pub fn coefficients(slots: &[Complex64]) -> Vec<f64> {
    let n = 2 * slots.len();
    let exponents = slot_exponents(n);
    let at = |j: usize| -> f64 {
        slots.iter().zip(&exponents).map(|(z, &e)| (z * zeta(n, e * j).conj()).re).sum()
    };
    (0..n).map(|j| 2.0 / n as f64 * at(j)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_invert_slots() {
        let p: Vec<f64> = (0..32).map(|j| f64::from((j * j * 7) % 23) - 11.0).collect();
        for (back, p) in coefficients(&slots(&p)).iter().zip(&p) {
            assert!((back - p).abs() < 1e-11);
        }
    }

    #[test]
    fn a_constant_fills_every_slot_and_x_to_the_half_n_is_i() {
        let mut p = vec![0.0; 16];
        p[0] = 3.0;
        p[8] = 2.0;
        for z in slots(&p) {
            assert!((z - Complex64::new(3.0, 2.0)).norm() < 1e-13);
        }
    }
}
