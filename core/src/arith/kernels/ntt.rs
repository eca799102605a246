//! Negacyclic transforms: Cooley–Tukey forward, Gentleman–Sande inverse, Shoup twiddles (Harvey,
//! "Faster arithmetic for number-theoretic transforms").
//!
//! The stages form passes. The first pass (forward; the inverse goes the other way round) covers the whole row. It is followed
//! by passes of two stages over ever smaller blocks, and these by tiles of registers: the stages that pair
//! whole registers of a tile, and, with its squares transposed, the stages that pair words of one
//! register. Blocks are finished one after the other, so that what a pass reads is still in the cache.

use super::butterfly::{Butterfly, Words};
use crate::arith::ntt::Factors;
use crate::arith::simd::vector::Transpose;
use crate::arith::unrolled_loop::unrolled;
use crate::arith::{MachineWord, NttTable};

/// Natural to bit-reversed order.
#[inline(always)]
pub(crate) fn forward<const R: usize, V: Transpose<R>>(v: V, t: &NttTable<V::Word>, row: &mut [V::Word]) {
    words::<R, V, true>(v, t, row);
}

/// Bit-reversed to natural order, times `1/n`.
#[inline(always)]
pub(crate) fn inverse<const R: usize, V: Transpose<R>>(v: V, t: &NttTable<V::Word>, row: &mut [V::Word]) {
    words::<R, V, false>(v, t, row);
}

#[inline(always)]
fn words<const R: usize, V: Transpose<R>, const FORWARD: bool>(
    v: V,
    t: &NttTable<V::Word>,
    row: &mut [V::Word],
) {
    if t.modulus().value_u64() >> V::LAZY_BITS == 0 {
        transform::<R, _, FORWARD>(Words::<V, true>::new(v, t), t, row, |_| ());
    } else {
        transform::<R, _, FORWARD>(Words::<V, false>::new(v, t), t, row, |_| ());
    }
}

/// Rows too short for the registers: stage after stage, word by word.
#[cold]
fn short<W: MachineWord, const FORWARD: bool>(t: &NttTable<W>, row: &mut [W]) {
    let (m, n) = (t.modulus(), row.len());
    let w = if FORWARD { t.forward() } else { t.inverse() }.natural();
    for stage in 0..n.trailing_zeros() {
        let groups = if FORWARD { 1 << stage } else { n >> (stage + 1) };
        for (i, block) in row.chunks_exact_mut(n / groups).enumerate() {
            let w = w.get(groups + i);
            let (low, high) = block.split_at_mut(n / groups / 2);
            for (x, y) in low.iter_mut().zip(high) {
                if FORWARD {
                    let product = m.mul_shoup(*y, &w);
                    (*x, *y) = (m.add(*x, product), m.sub(*x, product));
                } else {
                    (*x, *y) = (m.add(*x, *y), m.mul_shoup(m.sub(*x, *y), &w));
                }
            }
        }
    }
    if !FORWARD {
        for x in row {
            *x = m.mul_shoup(*x, t.scale());
        }
    }
}

/// Whether rows of `n` words are long enough for tiles of registers.
#[inline(always)]
pub(crate) fn has_tiles<const R: usize, A: Butterfly<R>>(n: usize) -> bool {
    n / A::LANES >= R.max(2 * A::SQUARE)
}

/// The transform with the arithmetic `A`; `meanwhile` is told the number of words done before every tile.
#[inline(always)]
pub(crate) fn transform<const R: usize, A: Butterfly<R>, const FORWARD: bool>(
    a: A,
    t: &NttTable<A::Word>,
    row: &mut [A::Word],
    meanwhile: impl Fn(usize),
) {
    debug_assert_eq!(row.len(), t.n());
    let square = A::SQUARE;
    let total = row.len() / A::LANES;
    let tables = a.tables(if FORWARD { t.forward() } else { t.inverse() });
    let Some([w, narrow]) = tables.filter(|_| has_tiles::<R, A>(t.n())) else {
        return short::<_, FORWARD>(t, row);
    };
    let packs = a.packs_mut(row).0;
    // Passes have two stages, but the one that covers the row has one if their number is odd.
    let alone = (total / square).trailing_zeros() % 2 == 1;
    let largest = if alone { total / 2 } else { total / 4 };
    if FORWARD {
        whole::<R, A, FORWARD>(a, t, w, packs, alone);
    }
    for start in (0..total).step_by(R) {
        let end = start + R;
        meanwhile(start * A::LANES);
        if FORWARD {
            let mut size = largest;
            while size > square {
                if start.is_multiple_of(size) {
                    block::<R, A, FORWARD>(a, w, (total + start) / size, &mut packs[start..start + size]);
                }
                size /= 4;
            }
        }
        if let Some(packs) = packs[start..end].first_chunk_mut() {
            tile::<R, A, FORWARD>(a, [w, narrow], total, start, packs);
        }
        if !FORWARD {
            let mut size = 4 * square;
            while size <= largest && end.is_multiple_of(size) {
                let start = end - size;
                block::<R, A, FORWARD>(a, w, (total + start) / size, &mut packs[start..end]);
                size *= 4;
            }
        }
    }
    if !FORWARD {
        whole::<R, A, FORWARD>(a, t, w, packs, alone);
    }
}

/// The pass over the whole row: the first one or two stages, or the last ones and the factor `1/n`.
#[inline(always)]
fn whole<const R: usize, A: Butterfly<R>, const FORWARD: bool>(
    a: A,
    t: &NttTable<A::Word>,
    w: &Factors<A::Word>,
    packs: &mut [A::Pack],
    alone: bool,
) {
    let outer = a.broadcast(w, 1);
    let scales = [a.factor(t.scale()), a.factor(t.scaled_root())];
    let (low, high) = packs.split_at_mut(packs.len() / 2);
    if alone {
        for (q0, q1) in low.iter_mut().zip(high) {
            let (x, y) = (a.load(q0), a.load(q1));
            let (x, y) =
                if FORWARD { a.forward(&outer, (a.enter(x), a.enter(y))) } else { last(a, &scales, (x, y)) };
            a.store(q0, x);
            a.store(q1, y);
        }
        return;
    }
    let inner = [a.broadcast(w, 2), a.broadcast(w, 3)];
    let (q0, q1) = low.split_at_mut(low.len() / 2);
    let (q2, q3) = high.split_at_mut(high.len() / 2);
    for (((q0, q1), q2), q3) in q0.iter_mut().zip(q1).zip(q2).zip(q3) {
        let mut x = [a.load(q0), a.load(q1), a.load(q2), a.load(q3)];
        if FORWARD {
            enter(a, &mut x);
            stage::<4, 2, R, A, FORWARD>(a, &mut x, |_| outer);
            stage::<4, 1, R, A, FORWARD>(a, &mut x, |group| inner[group]);
        } else {
            stage::<4, 1, R, A, FORWARD>(a, &mut x, |group| inner[group]);
            (x[0], x[2]) = last(a, &scales, (x[0], x[2]));
            (x[1], x[3]) = last(a, &scales, (x[1], x[3]));
        }
        store(a, [q0, q1, q2, q3], x);
    }
}

#[inline(always)]
fn store<const R: usize, A: Butterfly<R>>(a: A, [q0, q1, q2, q3]: [&mut A::Pack; 4], x: [A::Reg; 4]) {
    a.store(q0, x[0]);
    a.store(q1, x[1]);
    a.store(q2, x[2]);
    a.store(q3, x[3]);
}

/// The pair of the inverse's last stage, with the factor `1/n`.
#[inline(always)]
fn last<const R: usize, A: Butterfly<R>>(
    a: A,
    [scale, scaled_root]: &[A::Factor; 2],
    pair: (A::Reg, A::Reg),
) -> (A::Reg, A::Reg) {
    let (sum, difference) = a.sum_and_difference(pair);
    (a.scale(sum, scale), a.scale(difference, scaled_root))
}

/// Two stages within one block of packs, which is group `group` of the stage with the wider groups.
#[inline(always)]
fn block<const R: usize, A: Butterfly<R>, const FORWARD: bool>(
    a: A,
    w: &Factors<A::Word>,
    group: usize,
    packs: &mut [A::Pack],
) {
    let outer = a.broadcast(w, group);
    let inner = [a.broadcast(w, 2 * group), a.broadcast(w, 2 * group + 1)];
    let (low, high) = packs.split_at_mut(packs.len() / 2);
    let (q0, q1) = low.split_at_mut(low.len() / 2);
    let (q2, q3) = high.split_at_mut(high.len() / 2);
    for (((q0, q1), q2), q3) in q0.iter_mut().zip(q1).zip(q2).zip(q3) {
        let mut x = [a.load(q0), a.load(q1), a.load(q2), a.load(q3)];
        if FORWARD {
            x[0] = a.settle(x[0]);
            stage::<4, 2, R, A, FORWARD>(a, &mut x, |_| outer);
            stage::<4, 1, R, A, FORWARD>(a, &mut x, |group| inner[group]);
        } else {
            stage::<4, 1, R, A, FORWARD>(a, &mut x, |group| inner[group]);
            stage::<4, 2, R, A, FORWARD>(a, &mut x, |_| outer);
            x[0] = a.settle(x[0]);
        }
        store(a, [q0, q1, q2, q3], x);
    }
}

/// All remaining stages within the tile that begins at pack `start` of `total`.
#[inline(always)]
fn tile<const R: usize, A: Butterfly<R>, const FORWARD: bool>(
    a: A,
    [w, narrow]: [&Factors<A::Word>; 2],
    total: usize,
    start: usize,
    packs: &mut [A::Pack; R],
) {
    let (first, square) = (total + start, start / A::SQUARE);
    let mut x = [a.load(&packs[0]); R];
    unrolled!(i < R, {
        x[i] = a.load(&packs[i]);
    });
    if FORWARD {
        settle(a, &mut x);
        wide::<8, R, A, FORWARD>(a, w, first, &mut x);
        wide::<4, R, A, FORWARD>(a, w, first, &mut x);
        wide::<2, R, A, FORWARD>(a, w, first, &mut x);
        wide::<1, R, A, FORWARD>(a, w, first, &mut x);
        if A::LANES > 1 {
            x = a.transpose(x);
            settle(a, &mut x);
            within::<8, R, A, FORWARD>(a, narrow, square, &mut x);
            within::<4, R, A, FORWARD>(a, narrow, square, &mut x);
            within::<2, R, A, FORWARD>(a, narrow, square, &mut x);
            within::<1, R, A, FORWARD>(a, narrow, square, &mut x);
        }
        unrolled!(i < R, {
            x[i] = a.leave(x[i]);
        });
        if A::LANES > 1 && !A::TRANSPOSED {
            x = a.transpose(x);
        }
    } else {
        enter(a, &mut x);
        if A::LANES > 1 {
            if !A::TRANSPOSED {
                x = a.transpose(x);
            }
            within::<1, R, A, FORWARD>(a, narrow, square, &mut x);
            within::<2, R, A, FORWARD>(a, narrow, square, &mut x);
            within::<4, R, A, FORWARD>(a, narrow, square, &mut x);
            within::<8, R, A, FORWARD>(a, narrow, square, &mut x);
            settle(a, &mut x);
            x = a.transpose(x);
        }
        wide::<1, R, A, FORWARD>(a, w, first, &mut x);
        wide::<2, R, A, FORWARD>(a, w, first, &mut x);
        wide::<4, R, A, FORWARD>(a, w, first, &mut x);
        wide::<8, R, A, FORWARD>(a, w, first, &mut x);
        settle(a, &mut x);
    }
    unrolled!(i < R, {
        a.store(&mut packs[i], x[i]);
    });
}

// Not `array::map`: its closures may end up outside the code that is compiled for the CPU's features.

#[inline(always)]
fn enter<const COUNT: usize, const R: usize, A: Butterfly<R>>(a: A, x: &mut [A::Reg; COUNT]) {
    unrolled!(i < COUNT, {
        x[i] = a.enter(x[i]);
    });
}

/// Settles the first register of every square.
#[inline(always)]
fn settle<const R: usize, A: Butterfly<R>>(a: A, x: &mut [A::Reg; R]) {
    unrolled!(i < R, {
        if i.is_multiple_of(A::SQUARE) {
            x[i] = a.settle(x[i]);
        }
    });
}

/// The stage that pairs registers `T` apart, if that is within a square; with a group for every register, the
/// tile would begin at group `first`.
#[inline(always)]
fn wide<const T: usize, const R: usize, A: Butterfly<R>, const FORWARD: bool>(
    a: A,
    w: &Factors<A::Word>,
    first: usize,
    x: &mut [A::Reg; R],
) {
    if T < A::SQUARE {
        stage::<R, T, R, A, FORWARD>(
            a,
            x,
            #[inline(always)]
            |group| a.broadcast(w, first / (2 * T) + group),
        );
    }
}

/// The stage that pairs words `T` apart, on transposed squares from number `square` on.
#[inline(always)]
fn within<const T: usize, const R: usize, A: Butterfly<R>, const FORWARD: bool>(
    a: A,
    narrow: &Factors<A::Word>,
    square: usize,
    x: &mut [A::Reg; R],
) {
    if T < A::SQUARE {
        stage::<R, T, R, A, FORWARD>(
            a,
            x,
            #[inline(always)]
            |group| {
                // The stages before this one have 1 + 2 + 4 + ... = groups - 1 groups.
                let groups = A::SQUARE / (2 * T);
                let square = square + group / groups;
                a.consecutive(narrow, square * (A::SQUARE - 1) + groups - 1 + group % groups)
            },
        );
    }
}

/// One stage on `M` registers, pairing those `T` apart, with a factor for each group of `2 T`.
#[inline(always)]
fn stage<const M: usize, const T: usize, const R: usize, A: Butterfly<R>, const FORWARD: bool>(
    a: A,
    x: &mut [A::Reg; M],
    factor: impl Fn(usize) -> A::Factor,
) {
    unrolled!(i < M / 2, {
        let group = i / T;
        let (low, high) = (T * group + i, T * group + i + T);
        let w = factor(group);
        let pair = (x[low], x[high]);
        (x[low], x[high]) = if FORWARD { a.forward(&w, pair) } else { a.inverse(&w, pair) };
    });
}
