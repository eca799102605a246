//! The transform between slots and coefficients as products of sparse matrices.
//!
//! With w_k = m_k + i m_(k+n) the pairs of coefficients of a polynomial with n slots, its slots are U w,
//! U = A_n A_(n/2) ... A_4 A_2 R, R the bit reversal. Layer A_m acts on blocks of m slots: with g_j = exp(2 pi i 5^j / 4m),
//!
//! (u, v) -> (u + g_j v, u - g_j v) at positions (i + j, i + j + m/2), j < m/2.
//!
//! A_n ... A_2 takes slots to a polynomial whose w are these slots in bit-reversed order, and its inverse takes them
//! back: the two reversals cancel whichever goes first (Chen, Chillotti, Song, EUROCRYPT 2019; the factors in the form of
//! Cheon, Han, Hhan, 2018).

use alloc::{vec, vec::Vec};

use super::{diagonals::Diagonals, stages};
use crate::{error::Error, schemes::ckks::Complex};

/// A_n ... A_2 as a product of `stages` matrices, in the order in which they are applied; the layers are spread as evenly as they can be.
///
/// # Errors
/// [`Error::InvalidArgument`] unless `slots` is a power of two from 2 to 2^17 and `stages` is from 1 to log2 `slots`, the number of layers.
pub fn slots_to_coeffs_stages(slots: usize, stages: usize) -> Result<Vec<Diagonals>, Error> {
    stages::merged(stages, &stages::upward(slots, 2)?, |m| layer(slots, m), Diagonals::after)
}

/// (A_n ... A_2)^-1 as a product of `stages` matrices, in the order in which they are applied. Every layer has a factor of 1/2.
///
/// # Errors
/// As [`slots_to_coeffs_stages`].
pub fn coeffs_to_slots_stages(slots: usize, stages: usize) -> Result<Vec<Diagonals>, Error> {
    stages::merged(stages, &stages::downward(slots, 2)?, |m| inverse_layer(slots, m), Diagonals::after)
}

/// The shifts of a matrix and the period of its diagonals, known without making the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageShape {
    /// The shifts of its diagonals, ascending.
    pub shifts: Vec<i64>,
    /// Entries after which its diagonals repeat.
    pub period: usize,
}

/// The shapes of [`slots_to_coeffs_stages`].
///
/// # Errors
/// As [`slots_to_coeffs_stages`].
pub fn slots_to_coeffs_shapes(slots: usize, stages: usize) -> Result<Vec<StageShape>, Error> {
    Ok(stages::divided(stages, &stages::upward(slots, 2)?)?.iter().map(|own| shape_of(slots, own)).collect())
}

/// The shapes of [`coeffs_to_slots_stages`].
///
/// # Errors
/// As [`slots_to_coeffs_stages`].
pub fn coeffs_to_slots_shapes(slots: usize, stages: usize) -> Result<Vec<StageShape>, Error> {
    Ok(stages::divided(stages, &stages::downward(slots, 2)?)?
        .iter()
        .map(|own| shape_of(slots, own))
        .collect())
}

/// Shifts are sums of 0, m/2 and -m/2 over the layers.
fn shape_of(slots: usize, layers: &[usize]) -> StageShape {
    let (steps, period) = stages::shape(slots, layers);
    StageShape { shifts: steps.into_iter().map(|step| step.rotation).collect(), period }
}

/// g_j for j < m/2.
fn twiddles(m: usize) -> Vec<Complex> {
    let order = 4 * m as u64;
    let powers = core::iter::successors(Some(1u64), |power| Some(power * 5 % order));
    powers.take(m / 2).map(|power| Complex::root_of_unity(power, order)).collect()
}

fn layer(slots: usize, m: usize) -> Result<Diagonals, Error> {
    by_pairs(slots, m, |g| [[Complex::ONE, g], [Complex::ONE, -g]])
}

fn inverse_layer(slots: usize, m: usize) -> Result<Diagonals, Error> {
    let half = Complex::new(0.5, 0.0);
    by_pairs(slots, m, |g| [[half, half], [g.conj().scale(0.5), -g.conj().scale(0.5)]])
}

/// The matrix that applies a map of pairs to the two halves of every block of m slots.
fn by_pairs(slots: usize, m: usize, map: impl Fn(Complex) -> [[Complex; 2]; 2]) -> Result<Diagonals, Error> {
    let (g, half) = (twiddles(m), m / 2);
    let mut main = vec![Complex::ZERO; slots];
    let (mut up, mut down) = (main.clone(), main.clone());
    for i in 0..slots {
        let [[uu, uv], [vu, vv]] = map(g[i % half]);
        if i % m < half {
            (main[i], up[i]) = (uu, uv);
        } else {
            (main[i], down[i]) = (vv, vu);
        }
    }
    let mut out = Diagonals::new(slots)?;
    out.insert(0, main)?;
    if m == slots {
        // Half the slots to the left and to the right are the same rotation.
        up.iter_mut().zip(&down).for_each(|(u, &d)| *u += d);
        out.insert(half as i64, up)?;
    } else {
        out.insert(half as i64, up)?;
        out.insert(-(half as i64), down)?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::complex::SpecialFft;

    /// Slots of the polynomial whose pairs of coefficients are `values` in bit-reversed order.
    fn by_definition(values: &[Complex]) -> Vec<Complex> {
        let n = values.len();
        let bits = n.trailing_zeros();
        let reversed = |k: usize| k.reverse_bits() >> (usize::BITS - bits);
        let order = 4 * n as u64;
        let powers = core::iter::successors(Some(1u64), |power| Some(power * 5 % order)).take(n);
        powers
            .map(|power| {
                (0..n).fold(Complex::ZERO, |sum, k| {
                    sum + values[reversed(k)] * Complex::root_of_unity(power * k as u64, order)
                })
            })
            .collect()
    }

    fn sample(n: usize) -> Vec<Complex> {
        (0..n).map(|i| Complex::new(libm::sin(i as f64), libm::cos(1.7 * i as f64))).collect()
    }

    #[test]
    fn stages_are_the_transform_and_its_inverse() {
        for (slots, stages) in [(2, 1), (8, 1), (8, 3), (64, 2), (512, 4)] {
            let x = sample(slots);
            let mut y = x.clone();
            for stage in slots_to_coeffs_stages(slots, stages).unwrap() {
                y = stage.apply(&y).unwrap();
            }
            let close = |a: &[Complex], b: &[Complex]| {
                let largest = a.iter().zip(b).map(|(&p, &q)| (p - q).abs()).fold(0.0, f64::max);
                assert!(largest < 1e-14 * slots as f64, "{slots} slots, {stages} stages: {largest}");
            };
            close(&y, &by_definition(&x));
            for stage in coeffs_to_slots_stages(slots, stages).unwrap() {
                y = stage.apply(&y).unwrap();
            }
            close(&y, &x);
        }
    }

    #[test]
    fn stages_agree_with_the_encoder_s_transform() {
        let slots = 256;
        let x = sample(slots);
        let mut w = x.clone();
        SpecialFft::new(2 * slots).unwrap().inverse(&mut w);
        let mut y = x;
        for stage in coeffs_to_slots_stages(slots, 2).unwrap() {
            y = stage.apply(&y).unwrap();
        }
        for (k, &z) in w.iter().enumerate() {
            let reversed = k.reverse_bits() >> (usize::BITS - slots.trailing_zeros());
            assert!((y[reversed] - z).abs() < 1e-13);
        }
    }

    #[test]
    fn diagonals_are_as_many_as_published() {
        let counts = |stages: Vec<Diagonals>| stages.iter().map(|d| d.shifts().len()).collect::<Vec<_>>();
        assert_eq!(counts(slots_to_coeffs_stages(1 << 10, 3).unwrap()), [31, 15, 8]);
        assert_eq!(counts(coeffs_to_slots_stages(1 << 11, 3).unwrap()), [16, 31, 15]);
        for (slots, stages) in [(2, 1), (8, 2), (64, 3), (1 << 10, 3)] {
            let of = |stages: Vec<Diagonals>| {
                let shape = |d: &Diagonals| StageShape { shifts: d.shifts(), period: d.period() };
                stages.iter().map(shape).collect::<Vec<_>>()
            };
            let there = slots_to_coeffs_shapes(slots, stages).unwrap();
            assert_eq!(of(slots_to_coeffs_stages(slots, stages).unwrap()), there);
            let back = coeffs_to_slots_shapes(slots, stages).unwrap();
            assert_eq!(of(coeffs_to_slots_stages(slots, stages).unwrap()), back);
        }
    }

    #[test]
    fn impossible_stages_are_refused() {
        assert!(slots_to_coeffs_stages(1, 1).is_err());
        assert!(slots_to_coeffs_stages(8, 0).is_err());
        assert!(coeffs_to_slots_stages(8, 4).is_err());
        for slots in [0, 1, 3, 6, 1 << 18, usize::MAX] {
            assert!(slots_to_coeffs_stages(slots, 1).is_err() && coeffs_to_slots_stages(slots, 1).is_err());
            assert!(slots_to_coeffs_shapes(slots, 1).is_err() && coeffs_to_slots_shapes(slots, 1).is_err());
        }
    }
}
