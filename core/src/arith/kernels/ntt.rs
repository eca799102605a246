//! Negacyclic transforms.

use crate::arith::{NttTable, Word};

/// Cooley–Tukey butterflies, natural to bit-reversed order.
pub(crate) fn forward<W: Word>(t: &NttTable<W>, row: &mut [W]) {
    debug_assert_eq!(row.len(), t.n());
    let m = t.modulus();
    let mut groups = 1;
    while groups < row.len() {
        let half = row.len() / (2 * groups);
        for (i, block) in row.chunks_exact_mut(2 * half).enumerate() {
            let w = t.forward().get(groups + i);
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let product = m.mul_shoup(*y, &w);
                *y = m.sub(*x, product);
                *x = m.add(*x, product);
            }
        }
        groups *= 2;
    }
}

/// Gentleman–Sande butterflies, bit-reversed to natural order; `1/n` is in the last stage.
pub(crate) fn inverse<W: Word>(t: &NttTable<W>, row: &mut [W]) {
    debug_assert_eq!(row.len(), t.n());
    let m = t.modulus();
    let mut groups = row.len() / 2;
    while groups > 1 {
        let half = row.len() / (2 * groups);
        for (i, block) in row.chunks_exact_mut(2 * half).enumerate() {
            let w = t.inverse().get(groups + i);
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let difference = m.sub(*x, *y);
                *x = m.add(*x, *y);
                *y = m.mul_shoup(difference, &w);
            }
        }
        groups /= 2;
    }
    let half = row.len() / 2;
    let (low, high) = row.split_at_mut(half);
    for (x, y) in low.iter_mut().zip(high) {
        let difference = m.sub(*x, *y);
        *x = m.mul_shoup(m.add(*x, *y), t.scale());
        *y = m.mul_shoup(difference, t.scaled_root());
    }
}
