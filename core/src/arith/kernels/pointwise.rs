//! Operations on one or two rows.

use crate::arith::{Modulus, Shoup, Word};

/// `a += b`.
pub(crate) fn add_assign<W: Word>(m: &Modulus<W>, a: &mut [W], b: &[W]) {
    debug_assert_eq!(a.len(), b.len());
    for (a, &b) in a.iter_mut().zip(b) {
        *a = m.add(*a, b);
    }
}

/// `a -= b`.
pub(crate) fn sub_assign<W: Word>(m: &Modulus<W>, a: &mut [W], b: &[W]) {
    debug_assert_eq!(a.len(), b.len());
    for (a, &b) in a.iter_mut().zip(b) {
        *a = m.sub(*a, b);
    }
}

/// `a = -a`.
pub(crate) fn neg_assign<W: Word>(m: &Modulus<W>, a: &mut [W]) {
    for a in a {
        *a = m.neg(*a);
    }
}

/// `a *= b`.
pub(crate) fn mul_assign<W: Word>(m: &Modulus<W>, a: &mut [W], b: &[W]) {
    debug_assert_eq!(a.len(), b.len());
    for (a, &b) in a.iter_mut().zip(b) {
        *a = m.mul(*a, b);
    }
}

/// `a *= s`, any words.
pub(crate) fn mul_scalar_assign<W: Word>(m: &Modulus<W>, a: &mut [W], s: &Shoup<W>) {
    for a in a {
        *a = m.mul_shoup(*a, s);
    }
}

/// `acc += a s`.
pub(crate) fn mul_scalar_add_assign<W: Word>(m: &Modulus<W>, acc: &mut [W], a: &[W], s: &Shoup<W>) {
    debug_assert_eq!(acc.len(), a.len());
    for (acc, &a) in acc.iter_mut().zip(a) {
        *acc = m.add(*acc, m.mul_shoup(a, s));
    }
}

/// `a = (a - b) s`.
pub(crate) fn sub_mul_scalar_assign<W: Word>(m: &Modulus<W>, a: &mut [W], b: &[W], s: &Shoup<W>) {
    debug_assert_eq!(a.len(), b.len());
    for (a, &b) in a.iter_mut().zip(b) {
        *a = m.mul_shoup(m.sub(*a, b), s);
    }
}
