//! The arithmetic of a transform's butterflies: residues as words of a [`Vector`], reduced lazily or at once.

use crate::arith::ntt::{Factors, Twiddles};
use crate::arith::simd::vector::{OnLanes, Registers, Transpose, Vector};
use crate::arith::{NttTable, Shoup};

/// Residues as a transform holds them between its stages, in tiles of `R` registers.
///
/// A tile is one or more squares of `SQUARE` registers.
pub(crate) trait Butterfly<const R: usize>: Registers {
    /// A fixed factor per lane.
    type Factor: Copy;

    /// Registers in a square: `LANES`, or any power of two where a register is one word.
    const SQUARE: usize;
    /// Whether evaluations stay in transposed squares.
    const TRANSPOSED: bool = false;

    /// The twiddle factors for passes and tiles; none if the row is too short for them.
    fn tables(self, w: &Twiddles<Self::Word>) -> Option<[&Factors<Self::Word>; 2]>;
    /// Takes residues in `[0, p)` to the form that they have between stages.
    fn enter(self, x: Self::Reg) -> Self::Reg;
    /// Takes that form back to residues in `[0, p)`.
    fn leave(self, x: Self::Reg) -> Self::Reg;
    /// The same factor in every lane.
    fn factor(self, w: &Shoup<Self::Word>) -> Self::Factor;
    /// Entry `index`, in every lane.
    fn broadcast(self, w: &Factors<Self::Word>, index: usize) -> Self::Factor;
    /// The `run`-th run of `LANES` entries.
    fn consecutive(self, w: &Factors<Self::Word>, run: usize) -> Self::Factor;
    /// Applied to the first register of every pass or square before (forward) or after (inverse) its stages, for
    /// representations that grow too large otherwise.
    fn settle(self, x: Self::Reg) -> Self::Reg;
    /// `x w` in `[0, p)`.
    fn scale(self, x: Self::Reg, w: &Self::Factor) -> Self::Reg;
    /// `(x + y w, x - y w)`.
    fn forward(self, w: &Self::Factor, pair: (Self::Reg, Self::Reg)) -> (Self::Reg, Self::Reg);
    /// `(x + y, (x - y) w)`.
    fn inverse(self, w: &Self::Factor, pair: (Self::Reg, Self::Reg)) -> (Self::Reg, Self::Reg);
    /// `(x + y, x - y)` for [`scale`](Self::scale).
    fn sum_and_difference(self, pair: (Self::Reg, Self::Reg)) -> (Self::Reg, Self::Reg);
    /// Transposes the squares of a tile.
    fn transpose(self, tile: [Self::Reg; R]) -> [Self::Reg; R];
}

/// If `LAZY`, words between stages are below `2 * 2^ROUGH_BITS p` (forward) or `2^ROUGH_BITS p` (inverse), for
/// which lanes have room if `p < 2^LAZY_BITS`. Otherwise they are residues throughout, or, forward, words
/// below `2p`.
///
/// `FREE`, forward, leaves sums unreduced throughout: they grow by `2p` a stage, and so do results. `TRANSPOSED` leaves
/// evaluations in transposed squares.
#[derive(Clone, Copy)]
pub(crate) struct Words<V: Vector, const LAZY: bool, const FREE: bool = false, const TRANSPOSED: bool = false>
{
    v: V,
    p: V::Reg,
    twice: V::Reg,
    /// `2^ROUGH_BITS p`, the bound of products.
    bound: V::Reg,
}

impl<V: Vector, const LAZY: bool, const FREE: bool, const TRANSPOSED: bool> Words<V, LAZY, FREE, TRANSPOSED> {
    #[inline(always)]
    pub(crate) fn new(v: V, t: &NttTable<V::Word>) -> Self {
        let p = v.splat(t.modulus().value());
        let twice = v.add(p, p);
        Self { v, p, twice, bound: if V::ROUGH_BITS == 1 { twice } else { v.add(twice, twice) } }
    }

    /// `a w` in `[0, p)`.
    #[inline(always)]
    fn mul(self, a: V::Reg, w: &V::Factor) -> V::Reg {
        self.reduce_product(self.v.mul_rough(a, w, self.p))
    }

    /// To `[0, p)` from below `2^ROUGH_BITS p`.
    #[inline(always)]
    fn reduce_product(self, x: V::Reg) -> V::Reg {
        let x = if V::ROUGH_BITS == 1 { x } else { self.v.reduce_once(x, self.twice) };
        self.v.reduce_once(x, self.p)
    }
}

impl<V: Vector, const LAZY: bool, const FREE: bool, const TRANSPOSED: bool> OnLanes
    for Words<V, LAZY, FREE, TRANSPOSED>
{
    type Lanes = V;

    #[inline(always)]
    fn lanes(self) -> V {
        self.v
    }
}

impl<const R: usize, V: Transpose<R>, const LAZY: bool, const FREE: bool, const TRANSPOSED: bool> Butterfly<R>
    for Words<V, LAZY, FREE, TRANSPOSED>
{
    type Factor = V::Factor;

    const SQUARE: usize = if V::LANES == 1 { R } else { V::LANES };
    const TRANSPOSED: bool = TRANSPOSED;

    #[inline(always)]
    fn tables(self, w: &Twiddles<V::Word>) -> Option<[&Factors<V::Word>; 2]> {
        let narrow = if V::LANES == 1 { Some(w.natural()) } else { w.narrow(V::LANES) };
        narrow.map(|narrow| [w.natural(), narrow])
    }
    #[inline(always)]
    fn enter(self, x: V::Reg) -> V::Reg {
        x
    }
    #[inline(always)]
    fn leave(self, x: V::Reg) -> V::Reg {
        if FREE {
            x
        } else if LAZY {
            self.reduce_product(self.v.reduce_once(x, self.bound))
        } else {
            self.v.reduce_once(x, self.p)
        }
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<V::Word>) -> V::Factor {
        self.v.factor(w)
    }
    #[inline(always)]
    fn broadcast(self, w: &Factors<V::Word>, index: usize) -> V::Factor {
        self.v.factor(&w.get(index))
    }
    #[inline(always)]
    fn consecutive(self, w: &Factors<V::Word>, run: usize) -> V::Factor {
        let (values, quotients) = (self.v.packs(&w.values).0, self.v.packs(&w.quotients).0);
        self.v.factors(self.v.load(&values[run]), self.v.load(&quotients[run]))
    }
    #[inline(always)]
    fn settle(self, x: V::Reg) -> V::Reg {
        x
    }
    #[inline(always)]
    fn scale(self, x: V::Reg, w: &V::Factor) -> V::Reg {
        self.mul(x, w)
    }
    #[inline(always)]
    fn forward(self, w: &V::Factor, (x, y): (V::Reg, V::Reg)) -> (V::Reg, V::Reg) {
        let v = self.v;
        let (x, product, bound) = if FREE {
            (x, v.mul_lazy(y, w, self.p), self.twice)
        } else if LAZY {
            (v.reduce_once(x, self.bound), v.mul_rough(y, w, self.p), self.bound)
        } else {
            (v.reduce_once(x, self.p), self.mul(y, w), self.p)
        };
        (v.add(x, product), v.add(x, v.sub(bound, product)))
    }
    #[inline(always)]
    fn inverse(self, w: &V::Factor, pair: (V::Reg, V::Reg)) -> (V::Reg, V::Reg) {
        let (sum, difference) = self.sum_and_difference(pair);
        if LAZY {
            (self.v.reduce_once(sum, self.bound), self.v.mul_rough(difference, w, self.p))
        } else {
            (self.v.reduce_once(sum, self.p), self.mul(difference, w))
        }
    }
    #[inline(always)]
    fn sum_and_difference(self, (x, y): (V::Reg, V::Reg)) -> (V::Reg, V::Reg) {
        let bound = if LAZY { self.bound } else { self.p };
        (self.v.add(x, y), self.v.add(self.v.sub(x, y), bound))
    }
    #[inline(always)]
    fn transpose(self, tile: [V::Reg; R]) -> [V::Reg; R] {
        self.v.transpose(tile)
    }
}
