//! LWE samples of ring dimension.

use alloc::{vec, vec::Vec};

use crate::arith::{Modulus, Word};

/// (a, b) modulo a prime: residues; the phase is b + <a, s>.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LweSample<W: Word> {
    /// The mask, one residue per dimension.
    pub a: Vec<W>,
    /// The body.
    pub b: W,
}

impl<W: Word> LweSample<W> {
    /// The noiseless sample of a phase, under any key.
    pub fn trivial(dimension: usize, phase: W) -> Self {
        Self { a: vec![W::ZERO; dimension], b: phase }
    }

    /// self += weight · other.
    pub fn add_multiple(&mut self, m: &Modulus<W>, weight: i64, other: &Self) {
        debug_assert_eq!(self.a.len(), other.a.len());
        let factor = m.shoup(m.reduce_i64(weight));
        W::kernels().mul_scalar_add_assign(m, &mut self.a, &other.a, &factor);
        self.b = m.add(self.b, m.mul_shoup(other.b, &factor));
    }

    /// Coefficient `index` of the phase of a ring sample (b, a) in coefficient domain: the phase of the
    /// result under the coefficients of the ring key is that coefficient of b + a z.
    pub fn extract(m: &Modulus<W>, parts: [&[W]; 2], index: usize) -> Self {
        Self::extract_prefix(m, parts, index, parts[1].len())
    }

    /// [`Self::extract`] for a ring key whose coefficients from `dimension` on are 0: a sample of that dimension, under the
    /// first `dimension` coefficients.
    pub fn extract_prefix(m: &Modulus<W>, [b, a]: [&[W]; 2], index: usize, dimension: usize) -> Self {
        let n = a.len();
        debug_assert!(index < n && b.len() == n && dimension <= n);
        let mask = (0..dimension).map(|j| if j <= index { a[index - j] } else { m.neg(a[n + index - j]) });
        Self { a: mask.collect(), b: b[index] }
    }

    /// The inverse of [`Self::extract`] at coefficient 0: a ring sample whose phase has this phase as
    /// its constant coefficient; the others are unspecified.
    pub fn embed(&self, m: &Modulus<W>) -> [Vec<W>; 2] {
        let n = self.a.len();
        let mut b = vec![W::ZERO; n];
        b[0] = self.b;
        let a = (0..n).map(|j| if j == 0 { self.a[0] } else { m.neg(self.a[n - j]) }).collect();
        [b, a]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;

    const P: u64 = 7681;
    const N: usize = 16;

    fn row(seed: u8) -> Vec<u32> {
        let mut out = vec![0; N];
        Seed::from_bytes([seed; 32]).stream().fill_uniform_u32(P as u32, &mut out);
        out
    }

    /// Coefficients of b + a z modulo X^N + 1, the long way.
    fn phase(b: &[u32], a: &[u32], z: &[i64]) -> Vec<i64> {
        let mut out: Vec<i64> = b.iter().map(|&x| i64::from(x)).collect();
        for (i, &x) in a.iter().enumerate() {
            for (j, &y) in z.iter().enumerate() {
                let sign = if i + j < N { 1 } else { -1 };
                out[(i + j) % N] += sign * i64::from(x) * y;
            }
        }
        out.into_iter().map(|x| x.rem_euclid(P as i64)).collect()
    }

    #[test]
    fn extraction_reads_one_coefficient_and_embedding_undoes_it() {
        let m = Modulus::<u32>::new(P).unwrap();
        let (b, a) = (row(1), row(2));
        let z: Vec<i64> = (0..N as i64).map(|i| i % 3 - 1).collect();
        let expected = phase(&b, &a, &z);
        for (index, &expected) in expected.iter().enumerate() {
            let sample = LweSample::extract(&m, [&b, &a], index);
            let product: i64 = sample.a.iter().zip(&z).map(|(&x, &y)| i64::from(x) * y).sum();
            assert_eq!((i64::from(sample.b) + product).rem_euclid(P as i64), expected);
        }
        let first = LweSample::extract(&m, [&b, &a], 0);
        let [embedded_b, embedded_a] = first.embed(&m);
        assert_eq!(embedded_a, a);
        assert_eq!(LweSample::extract(&m, [&embedded_b, &embedded_a], 0), first);
    }

    #[test]
    fn a_short_key_needs_a_prefix_of_the_mask() {
        let m = Modulus::<u32>::new(P).unwrap();
        let (b, a) = (row(5), row(6));
        for dimension in 0..=N {
            let z: Vec<i64> =
                (0..N as i64).map(|i| if i < dimension as i64 { (i + 1) % 3 - 1 } else { 0 }).collect();
            for (index, expected) in phase(&b, &a, &z).into_iter().enumerate() {
                let sample = LweSample::extract_prefix(&m, [&b, &a], index, dimension);
                assert_eq!(sample.a.len(), dimension);
                let product: i64 = sample.a.iter().zip(&z).map(|(&x, &y)| i64::from(x) * y).sum();
                assert_eq!((i64::from(sample.b) + product).rem_euclid(P as i64), expected);
            }
        }
    }

    #[test]
    fn combinations_are_linear() {
        let m = Modulus::<u32>::new(P).unwrap();
        let (x, y) = (LweSample { a: row(3), b: 5 }, LweSample { a: row(4), b: 7 });
        let mut sum = LweSample::trivial(N, 11);
        sum.add_multiple(&m, -2, &x);
        sum.add_multiple(&m, 1, &y);
        assert_eq!(sum.b, (11 - 10 + 7) as u32);
        for j in 0..N {
            let expected = (i64::from(y.a[j]) - 2 * i64::from(x.a[j])).rem_euclid(P as i64);
            assert_eq!(i64::from(sum.a[j]), expected);
        }
    }
}
