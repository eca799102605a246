//! Operations on one or two rows.

use crate::arith::simd::{scalar::Scalar, vector::Vector};
use crate::arith::{Modulus, Shoup};

/// `a += b`.
#[inline(always)]
pub(crate) fn add_assign<V: Vector>(v: V, m: &Modulus<V::Word>, a: &mut [V::Word], b: &[V::Word]) {
    debug_assert_eq!(a.len(), b.len());
    let p = v.splat(m.value());
    let ((a, a_rest), (b, b_rest)) = (v.packs_mut(a), v.packs(b));
    for (a, b) in a.iter_mut().zip(b) {
        v.store(a, v.reduce_once(v.add(v.load(a), v.load(b)), p));
    }
    if V::LANES > 1 {
        add_assign(Scalar::new(), m, a_rest, b_rest);
    }
}

/// `a -= b`.
#[inline(always)]
pub(crate) fn sub_assign<V: Vector>(v: V, m: &Modulus<V::Word>, a: &mut [V::Word], b: &[V::Word]) {
    debug_assert_eq!(a.len(), b.len());
    let p = v.splat(m.value());
    let ((a, a_rest), (b, b_rest)) = (v.packs_mut(a), v.packs(b));
    for (a, b) in a.iter_mut().zip(b) {
        v.store(a, v.correct(v.sub(v.load(a), v.load(b)), p));
    }
    if V::LANES > 1 {
        sub_assign(Scalar::new(), m, a_rest, b_rest);
    }
}

/// `a = -a`.
#[inline(always)]
pub(crate) fn neg_assign<V: Vector>(v: V, m: &Modulus<V::Word>, a: &mut [V::Word]) {
    let p = v.splat(m.value());
    let (a, rest) = v.packs_mut(a);
    for a in a {
        v.store(a, v.reduce_once(v.sub(p, v.load(a)), p));
    }
    if V::LANES > 1 {
        neg_assign(Scalar::new(), m, rest);
    }
}

/// `a *= s`; `a` may hold any words.
#[inline(always)]
pub(crate) fn mul_scalar_assign<V: Vector>(
    v: V,
    m: &Modulus<V::Word>,
    a: &mut [V::Word],
    s: &Shoup<V::Word>,
) {
    let (p, factor) = (v.splat(m.value()), v.factor(s));
    let (a, rest) = v.packs_mut(a);
    for a in a {
        v.store(a, v.reduce_once(v.mul_lazy(v.load(a), &factor, p), p));
    }
    if V::LANES > 1 {
        mul_scalar_assign(Scalar::new(), m, rest, s);
    }
}

/// `acc += a s`; `a` may hold any words.
#[inline(always)]
pub(crate) fn mul_scalar_add_assign<V: Vector>(
    v: V,
    m: &Modulus<V::Word>,
    acc: &mut [V::Word],
    a: &[V::Word],
    s: &Shoup<V::Word>,
) {
    debug_assert_eq!(acc.len(), a.len());
    let (p, factor) = (v.splat(m.value()), v.factor(s));
    let ((acc, acc_rest), (a, a_rest)) = (v.packs_mut(acc), v.packs(a));
    for (acc, a) in acc.iter_mut().zip(a) {
        let product = v.reduce_once(v.mul_lazy(v.load(a), &factor, p), p);
        v.store(acc, v.reduce_once(v.add(v.load(acc), product), p));
    }
    if V::LANES > 1 {
        mul_scalar_add_assign(Scalar::new(), m, acc_rest, a_rest, s);
    }
}

/// `a = (a - b) s`.
#[inline(always)]
pub(crate) fn sub_mul_scalar_assign<V: Vector>(
    v: V,
    m: &Modulus<V::Word>,
    a: &mut [V::Word],
    b: &[V::Word],
    s: &Shoup<V::Word>,
) {
    debug_assert_eq!(a.len(), b.len());
    let (p, factor) = (v.splat(m.value()), v.factor(s));
    let ((a, a_rest), (b, b_rest)) = (v.packs_mut(a), v.packs(b));
    for (a, b) in a.iter_mut().zip(b) {
        // In (0, 2p): any representative will do.
        let difference = v.add(v.sub(v.load(a), v.load(b)), p);
        v.store(a, v.reduce_once(v.mul_lazy(difference, &factor, p), p));
    }
    if V::LANES > 1 {
        sub_mul_scalar_assign(Scalar::new(), m, a_rest, b_rest, s);
    }
}

/// The constants that the reduction of double words needs, in every lane.
#[derive(Clone, Copy)]
pub(crate) struct Wide<R, F> {
    p: R,
    one: F,
    word_size: F,
}

impl<R: Copy, F> Wide<R, F> {
    /// Constants of one modulus.
    #[inline(always)]
    pub(crate) fn new<V: Vector<Reg = R, Factor = F>>(v: V, m: &Modulus<V::Word>) -> Self {
        Self { p: v.splat(m.value()), one: v.factor(m.one()), word_size: v.factor(m.word_size()) }
    }

    /// Residues of double words: `high 2^BITS + low`.
    #[inline(always)]
    pub(crate) fn reduce<V: Vector<Reg = R, Factor = F>>(&self, v: V, (low, high): (R, R)) -> R {
        let low = v.reduce_once(v.mul_lazy(low, &self.one, self.p), self.p);
        let high = v.reduce_once(v.mul_lazy(high, &self.word_size, self.p), self.p);
        v.reduce_once(v.add(low, high), self.p)
    }
}
