//! Transforms against evaluation at every root and schoolbook products.

use super::{Random, extreme_rows, primes_for, wide};
use crate::arith::{Kernels, NttTable, Word, primes};

/// Evaluations by Horner's rule, in the documented order.
fn evaluate<W: Word>(t: &NttTable<W>, row: &[W], j: usize) -> W {
    let m = t.modulus();
    let psi = primes::primitive_root(m, 2 * t.n() as u64).unwrap();
    let reversed = j.reverse_bits() >> (usize::BITS - t.n().trailing_zeros());
    let x = m.pow(psi, 2 * reversed as u64 + 1);
    row.iter().rev().fold(W::ZERO, |sum, &c| m.add(m.mul(sum, x), c))
}

/// Product modulo `X^n + 1`.
fn schoolbook(p: u128, a: &[u128], b: &[u128]) -> Vec<u128> {
    let n = a.len();
    let mut product = vec![0; n];
    for (i, &a) in a.iter().enumerate() {
        for (j, &b) in b.iter().enumerate() {
            let term = a * b % p;
            let k = (i + j) % n;
            product[k] = (product[k] + if i + j < n { term } else { p - term }) % p;
        }
    }
    product
}

pub(super) fn evaluates_in_bit_reversed_order<W: Word>(k: &dyn Kernels<W>) {
    let mut random = Random::new(11);
    for log_n in 1..=14 {
        let n = 1 << log_n;
        for m in primes_for::<W>(2 * n as u64) {
            let t = NttTable::new(m, n).unwrap();
            for row in extreme_rows::<W>(m.value_u64(), n, &mut random) {
                let mut values = row.clone();
                k.ntt_forward(&t, &mut values);
                assert!(values.iter().all(|&x| x < m.value()));
                let checked: Vec<usize> = if n <= 64 {
                    (0..n).collect()
                } else {
                    vec![0, 1, n / 2, n - 1, random.below(n as u64) as usize]
                };
                for j in checked {
                    assert_eq!(values[j], evaluate(&t, &row, j), "n {n} p {} at {j}", m.value());
                }
                k.ntt_inverse(&t, &mut values);
                assert_eq!(values, row, "n {n} p {}", m.value());
            }
        }
    }
}

pub(super) fn multiplies_like_schoolbook<W: Word>(k: &dyn Kernels<W>) {
    let mut random = Random::new(12);
    for n in [2usize, 8, 32, 128] {
        for m in primes_for::<W>(2 * n as u64) {
            let t = NttTable::new(m, n).unwrap();
            let rows = extreme_rows::<W>(m.value_u64(), n, &mut random);
            for a in &rows {
                let b = &rows[random.below(rows.len() as u64) as usize];
                let (mut x, mut y) = (a.clone(), b.clone());
                k.ntt_forward(&t, &mut x);
                k.ntt_forward(&t, &mut y);
                k.mul_assign(&m, &mut x, &y);
                k.ntt_inverse(&t, &mut x);
                assert_eq!(wide(&x), schoolbook(u128::from(m.value_u64()), &wide(a), &wide(b)));
            }
        }
    }
}

pub(super) fn equals_scalar<W: Word>(k: &dyn Kernels<W>, scalar: &dyn Kernels<W>) {
    let mut random = Random::new(13);
    for log_n in 1..=14 {
        let n = 1 << log_n;
        for m in primes_for::<W>(2 * n as u64) {
            let t = NttTable::new(m, n).unwrap();
            for row in extreme_rows::<W>(m.value_u64(), n, &mut random) {
                for transform in [Kernels::ntt_forward, Kernels::ntt_inverse] {
                    let (mut x, mut y) = (row.clone(), row.clone());
                    transform(k, &t, &mut x);
                    transform(scalar, &t, &mut y);
                    assert_eq!(x, y, "n {n} p {}", m.value());
                }
            }
        }
    }
}

#[test]
fn unusable_tables_are_refused() {
    let m = crate::arith::Modulus::<u32>::new(12289).unwrap();
    for n in [0, 1, 3, 8192, 1 << 21] {
        assert!(NttTable::new(m, n).is_err(), "{n}");
    }
    assert!(NttTable::new(m, 2048).is_ok());
    let composite = crate::arith::Modulus::<u32>::new(17 * 97).unwrap();
    assert!(NttTable::new(composite, 4).is_err());
}
