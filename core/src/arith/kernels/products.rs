//! Products of rows and sums of them, reduced as seldom as the sums have room.

pub(crate) use super::key_products::key_products;
use super::key_products::line;
use super::pointwise::Wide;
use crate::arith::simd::vector::{OnLanes, Pack, Products, Registers};
use crate::arith::{MachineWord, Modulus};

/// Sums of products modulo one prime.
pub(crate) trait Sums: Registers {
    /// A sum in each lane.
    type Acc: Copy;

    /// Left sides that are multiplied by a key at once, 1, 2 or 4: their sums take half of the registers.
    const LEFT_SIDES: usize = match (size_of::<Self::Reg>(), size_of::<Self::Acc>() / size_of::<Self::Reg>())
    {
        (64, ..=2) => 4,
        (64, ..=4) | (32, ..=2) => 2,
        _ => 1,
    };

    /// Packs of one left side whose sums registers hold at once, 1 or 2.
    const PACKS: usize = if Self::LANES > 1 && line::<Self::Word>() > Self::LANES { 2 } else { 1 };

    /// Zeros.
    fn zero(self) -> Self::Acc;
    /// Residues as sums.
    fn of(self, x: Self::Reg) -> Self::Acc;
    /// `acc + a b` for residues `a` and `b`.
    fn mul_add(self, acc: Self::Acc, a: Self::Reg, b: Self::Reg) -> Self::Acc;
    /// The residue in `[0, p)`.
    fn residue(self, acc: Self::Acc) -> Self::Reg;
    /// The same sum modulo the prime, with room for [`room`](Self::room) products.
    #[inline(always)]
    fn shrink(self, acc: Self::Acc) -> Self::Acc {
        self.of(self.residue(acc))
    }
    /// How many products a residue or a shrunk sum has room for.
    fn room(self) -> usize;
}

/// Most products that are summed before a reduction: lanes that add up columns of a product have no room for more.
pub(crate) const MOST_PRODUCTS: usize = 1 << 10;

/// Sums as double words.
#[derive(Clone, Copy)]
pub(crate) struct DoubleWords<V: Products> {
    v: V,
    wide: Wide<V::Reg, V::Factor>,
    room: usize,
}

impl<V: Products> DoubleWords<V> {
    #[inline(always)]
    pub(crate) fn new(v: V, m: &Modulus<V::Word>) -> Self {
        let largest = m.value().wrapping_sub(V::Word::ONE);
        let room = V::Word::products_per_wide(largest, largest).min(MOST_PRODUCTS);
        Self { v, wide: Wide::new(v, m), room }
    }
}

impl<V: Products> OnLanes for DoubleWords<V> {
    type Lanes = V;

    #[inline(always)]
    fn lanes(self) -> V {
        self.v
    }
}

impl<V: Products> Sums for DoubleWords<V> {
    type Acc = V::Acc;

    #[inline(always)]
    fn zero(self) -> V::Acc {
        self.v.acc_zero()
    }
    #[inline(always)]
    fn of(self, x: V::Reg) -> V::Acc {
        self.v.acc_from(x)
    }
    #[inline(always)]
    fn mul_add(self, acc: V::Acc, a: V::Reg, b: V::Reg) -> V::Acc {
        self.v.acc_mul_add(acc, a, b)
    }
    #[inline(always)]
    fn residue(self, acc: V::Acc) -> V::Reg {
        self.wide.reduce(self.v, self.v.acc_split(acc))
    }
    #[inline(always)]
    fn room(self) -> usize {
        self.room
    }
}

/// Most registers handled at a time: enough for memory to stream runs of each row, and few enough for the
/// double-word sums to stay in a cache.
pub(super) const BLOCK: usize = 128;

/// [`BLOCK`], or less where sums are large: two blocks of sums and the rows take turns in a cache of 32 kB.
pub(super) const fn block<S: Sums>() -> usize {
    let fits = 8192 / size_of::<S::Acc>();
    if fits < BLOCK { fits } else { BLOCK }
}

/// `a *= b`.
#[inline(always)]
pub(crate) fn mul_assign<V: Products>(v: V, m: &Modulus<V::Word>, a: &mut [V::Word], b: &[V::Word]) {
    mul_assign_by(DoubleWords::new(v, m), m, a, b);
}

/// `out = [accumulate: out +] sum_j lhs[j] * rhs[j]`.
#[inline(always)]
pub(crate) fn inner_product<V: Products>(
    v: V,
    m: &Modulus<V::Word>,
    out: &mut [V::Word],
    lhs: &[&[V::Word]],
    rhs: &[&[V::Word]],
    accumulate: bool,
) {
    inner_product_by(DoubleWords::new(v, m), m, out, lhs, rhs, accumulate);
}

/// [`mul_assign`] with the sums `s`.
#[inline(always)]
pub(crate) fn mul_assign_by<S: Sums>(s: S, m: &Modulus<S::Word>, a: &mut [S::Word], b: &[S::Word]) {
    debug_assert_eq!(a.len(), b.len());
    let ((a, a_rest), (b, b_rest)) = (S::Pack::packs_mut(a), S::Pack::packs(b));
    for (a, b) in a.iter_mut().zip(b) {
        s.store(a, s.residue(s.mul_add(s.zero(), s.load(a), s.load(b))));
    }
    for (a, &b) in a_rest.iter_mut().zip(b_rest) {
        *a = m.mul(*a, b);
    }
}

/// [`inner_product`] with the sums `s`.
#[inline(always)]
pub(crate) fn inner_product_by<S: Sums>(
    s: S,
    m: &Modulus<S::Word>,
    out: &mut [S::Word],
    lhs: &[&[S::Word]],
    rhs: &[&[S::Word]],
    accumulate: bool,
) {
    debug_assert_eq!(lhs.len(), rhs.len());
    let lazy = s.room();
    let mut buffer = [s.zero(); BLOCK];
    let n = out.len();
    let (packs, rest) = S::Pack::packs_mut(out);
    for (part, out) in packs.chunks_mut(block::<S>()).enumerate() {
        let range = part * block::<S>()..part * block::<S>() + out.len();
        let sums = &mut buffer[..out.len()];
        start(s, sums, out, accumulate);
        let mut room = lazy;
        for (lhs, rhs) in lhs.chunks(2).zip(rhs.chunks(2)) {
            if room < lhs.len() {
                shrink(s, sums);
                room = lazy;
            }
            room -= lhs.len();
            let term = |j: usize| {
                let (a, b) = (S::Pack::packs(lhs[j]).0, S::Pack::packs(rhs[j]).0);
                a[range.clone()].iter().zip(&b[range.clone()])
            };
            if lhs.len() == 2 {
                for ((sum, (a, b)), (c, d)) in sums.iter_mut().zip(term(0)).zip(term(1)) {
                    let first = s.mul_add(*sum, s.load(a), s.load(b));
                    *sum = s.mul_add(first, s.load(c), s.load(d));
                }
            } else {
                for (sum, (a, b)) in sums.iter_mut().zip(term(0)) {
                    *sum = s.mul_add(*sum, s.load(a), s.load(b));
                }
            }
        }
        finish(s, out, sums);
    }
    if S::LANES > 1 {
        let done = n - rest.len();
        for (k, out) in rest.iter_mut().enumerate() {
            let terms = lhs.iter().zip(rhs).map(|(a, b)| m.mul(a[done + k], b[done + k]));
            *out = terms.fold(if accumulate { *out } else { S::Word::ZERO }, |sum, x| m.add(sum, x));
        }
    }
}

#[inline(always)]
pub(super) fn start<S: Sums>(s: S, sums: &mut [S::Acc], out: &[S::Pack], accumulate: bool) {
    for (sum, out) in sums.iter_mut().zip(out) {
        *sum = if accumulate { s.of(s.load(out)) } else { s.zero() };
    }
}

#[inline(always)]
pub(super) fn shrink<S: Sums>(s: S, sums: &mut [S::Acc]) {
    for sum in sums {
        *sum = s.shrink(*sum);
    }
}

#[inline(always)]
pub(super) fn finish<S: Sums>(s: S, out: &mut [S::Pack], sums: &[S::Acc]) {
    for (out, &sum) in out.iter_mut().zip(sums) {
        s.store(out, s.residue(sum));
    }
}
