//! Negacyclic transforms: Cooley–Tukey forward, Gentleman–Sande inverse, Shoup twiddles (Harvey,
//! "Faster arithmetic for number-theoretic transforms"), two stages per pass over memory.
//!
//! With `LAZY` words stay below `4p` (forward) or `2p` (inverse) between stages; otherwise, for primes too large for
//! that, they are residues throughout. Stages that pair words within a register split two registers and merge them again.

use crate::arith::ntt::Twiddles;
use crate::arith::simd::{scalar::Scalar, vector::Vector};
use crate::arith::{NttTable, Word};

/// Natural to bit-reversed order.
#[inline(always)]
pub(crate) fn forward<V: Vector>(v: V, t: &NttTable<V::Word>, row: &mut [V::Word]) {
    debug_assert_eq!(row.len(), t.n());
    let lazy = t.modulus().value_u64() >> V::LAZY_BITS == 0;
    match (row.len() < 2 * V::LANES, lazy) {
        (true, _) => forward_short(t, row),
        (false, true) => forward_rows::<V, true>(v, t, row),
        (false, false) => forward_rows::<V, false>(v, t, row),
    }
}

/// Bit-reversed to natural order, times `1/n`.
#[inline(always)]
pub(crate) fn inverse<V: Vector>(v: V, t: &NttTable<V::Word>, row: &mut [V::Word]) {
    debug_assert_eq!(row.len(), t.n());
    let lazy = t.modulus().value_u64() >> V::LAZY_BITS == 0;
    match (row.len() < 2 * V::LANES, lazy) {
        (true, _) => inverse_short(t, row),
        (false, true) => inverse_rows::<V, true>(v, t, row),
        (false, false) => inverse_rows::<V, false>(v, t, row),
    }
}

/// Rows too short for the registers.
#[cold]
fn forward_short<W: Word>(t: &NttTable<W>, row: &mut [W]) {
    forward_rows::<_, false>(Scalar::new(), t, row);
}

/// Rows too short for the registers.
#[cold]
fn inverse_short<W: Word>(t: &NttTable<W>, row: &mut [W]) {
    inverse_rows::<_, false>(Scalar::new(), t, row);
}

/// The modulus in every lane.
#[derive(Clone, Copy)]
struct Bounds<R> {
    p: R,
    twice: R,
}

#[inline(always)]
fn bounds<V: Vector>(v: V, t: &NttTable<V::Word>) -> Bounds<V::Reg> {
    let p = v.splat(t.modulus().value());
    Bounds { p, twice: v.add(p, p) }
}

#[inline(always)]
fn forward_rows<V: Vector, const LAZY: bool>(v: V, t: &NttTable<V::Word>, row: &mut [V::Word]) {
    let b = bounds(v, t);
    let w = t.forward();
    let (packs, _) = v.packs_mut(row);
    let total = packs.len();
    let mut groups = 1;
    match packs {
        [x, y] => {
            let pair = (v.load(x), v.load(y));
            let pair = forward_pair::<V, LAZY>(v, b, &v.factor(&w.get(1)), pair);
            let [pair] = forward_narrow::<V, LAZY, 1>(v, b, w, 1, [pair]);
            v.store(x, pair.0);
            v.store(y, pair.1);
            return;
        }
        [q0, q1, q2, q3] => {
            let pairs = forward_quad::<V, LAZY>(v, b, w, 1, [q0, q1, q2, q3]);
            let [low, high] = forward_narrow::<V, LAZY, 2>(v, b, w, 2, pairs);
            v.store(q0, low.0);
            v.store(q1, low.1);
            v.store(q2, high.0);
            v.store(q3, high.1);
            return;
        }
        _ => {}
    }
    // Stages pairing registers at least four apart; an odd one goes first, alone.
    if total.trailing_zeros() % 2 == 1 {
        forward_two::<V, LAZY>(v, b, w, packs, groups);
        groups *= 2;
    }
    while total > 4 * groups {
        forward_four::<V, LAZY>(v, b, w, packs, groups);
        groups *= 4;
    }
    // All other stages within four registers. They depend on each other: two sets at a time hide the delay.
    for (i, [q0, q1, q2, q3, r0, r1, r2, r3]) in packs.as_chunks_mut().0.iter_mut().enumerate() {
        let q = forward_quad::<V, LAZY>(v, b, w, groups + 2 * i, [q0, q1, q2, q3]);
        let r = forward_quad::<V, LAZY>(v, b, w, groups + 2 * i + 1, [r0, r1, r2, r3]);
        let pairs = [q[0], q[1], r[0], r[1]];
        let pairs = forward_narrow::<V, LAZY, 4>(v, b, w, total / 2 + 4 * i, pairs);
        v.store(q0, pairs[0].0);
        v.store(q1, pairs[0].1);
        v.store(q2, pairs[1].0);
        v.store(q3, pairs[1].1);
        v.store(r0, pairs[2].0);
        v.store(r1, pairs[2].1);
        v.store(r2, pairs[3].0);
        v.store(r3, pairs[3].1);
    }
}

/// The two stages pairing four registers, group `group` of the first.
#[inline(always)]
fn forward_quad<V: Vector, const LAZY: bool>(
    v: V,
    b: Bounds<V::Reg>,
    w: &Twiddles<V::Word>,
    group: usize,
    [q0, q1, q2, q3]: [&V::Pack; 4],
) -> [(V::Reg, V::Reg); 2] {
    let outer = v.factor(&w.get(group));
    let inner0 = v.factor(&w.get(2 * group));
    let inner1 = v.factor(&w.get(2 * group + 1));
    let (x0, x2) = forward_pair::<V, LAZY>(v, b, &outer, (v.load(q0), v.load(q2)));
    let (x1, x3) = forward_pair::<V, LAZY>(v, b, &outer, (v.load(q1), v.load(q3)));
    [forward_pair::<V, LAZY>(v, b, &inner0, (x0, x1)), forward_pair::<V, LAZY>(v, b, &inner1, (x2, x3))]
}

/// `(x, y)` to `(x + w y, x - w y)`.
#[inline(always)]
fn forward_pair<V: Vector, const LAZY: bool>(
    v: V,
    b: Bounds<V::Reg>,
    w: &V::Factor,
    (x, y): (V::Reg, V::Reg),
) -> (V::Reg, V::Reg) {
    let product = v.mul_lazy(y, w, b.p);
    if LAZY {
        let x = v.reduce_once(x, b.twice);
        (v.add(x, product), v.add(x, v.sub(b.twice, product)))
    } else {
        let product = v.reduce_once(product, b.p);
        (v.reduce_once(v.add(x, product), b.p), v.correct(v.sub(x, product), b.p))
    }
}

#[inline(always)]
fn forward_two<V: Vector, const LAZY: bool>(
    v: V,
    b: Bounds<V::Reg>,
    w: &Twiddles<V::Word>,
    packs: &mut [V::Pack],
    groups: usize,
) {
    let half = packs.len() / (2 * groups);
    for (i, block) in packs.chunks_exact_mut(2 * half).enumerate() {
        let w = v.factor(&w.get(groups + i));
        let (low, high) = block.split_at_mut(half);
        for (x, y) in low.iter_mut().zip(high) {
            let pair = forward_pair::<V, LAZY>(v, b, &w, (v.load(x), v.load(y)));
            v.store(x, pair.0);
            v.store(y, pair.1);
        }
    }
}

#[inline(always)]
fn forward_four<V: Vector, const LAZY: bool>(
    v: V,
    b: Bounds<V::Reg>,
    w: &Twiddles<V::Word>,
    packs: &mut [V::Pack],
    groups: usize,
) {
    let quarter = packs.len() / (4 * groups);
    for (i, block) in packs.chunks_exact_mut(4 * quarter).enumerate() {
        let outer = v.factor(&w.get(groups + i));
        let inner0 = v.factor(&w.get(2 * (groups + i)));
        let inner1 = v.factor(&w.get(2 * (groups + i) + 1));
        let (low, high) = block.split_at_mut(2 * quarter);
        let (q0, q1) = low.split_at_mut(quarter);
        let (q2, q3) = high.split_at_mut(quarter);
        for (((q0, q1), q2), q3) in q0.iter_mut().zip(q1).zip(q2).zip(q3) {
            let (x0, x2) = forward_pair::<V, LAZY>(v, b, &outer, (v.load(q0), v.load(q2)));
            let (x1, x3) = forward_pair::<V, LAZY>(v, b, &outer, (v.load(q1), v.load(q3)));
            let (x0, x1) = forward_pair::<V, LAZY>(v, b, &inner0, (x0, x1));
            let (x2, x3) = forward_pair::<V, LAZY>(v, b, &inner1, (x2, x3));
            v.store(q0, x0);
            v.store(q1, x1);
            v.store(q2, x2);
            v.store(q3, x3);
        }
    }
}

/// The stages within registers, on consecutive pairs, and the final reduction. `group` is the first pair's
/// group in the stage that pairs whole registers.
#[inline(always)]
fn forward_narrow<V: Vector, const LAZY: bool, const PAIRS: usize>(
    v: V,
    b: Bounds<V::Reg>,
    w: &Twiddles<V::Word>,
    group: usize,
    mut pairs: [(V::Reg, V::Reg); PAIRS],
) -> [(V::Reg, V::Reg); PAIRS] {
    pairs = forward_within::<V, LAZY, 8, PAIRS>(v, b, w, group, pairs);
    pairs = forward_within::<V, LAZY, 4, PAIRS>(v, b, w, group, pairs);
    pairs = forward_within::<V, LAZY, 2, PAIRS>(v, b, w, group, pairs);
    pairs = forward_within::<V, LAZY, 1, PAIRS>(v, b, w, group, pairs);
    if LAZY {
        for pair in &mut pairs {
            pair.0 = v.reduce_once(v.reduce_once(pair.0, b.twice), b.p);
            pair.1 = v.reduce_once(v.reduce_once(pair.1, b.twice), b.p);
        }
    }
    pairs
}

/// The stage pairing words `T` apart, where that is within a register.
#[inline(always)]
fn forward_within<V: Vector, const LAZY: bool, const T: usize, const PAIRS: usize>(
    v: V,
    b: Bounds<V::Reg>,
    w: &Twiddles<V::Word>,
    group: usize,
    mut pairs: [(V::Reg, V::Reg); PAIRS],
) -> [(V::Reg, V::Reg); PAIRS] {
    if T < V::LANES {
        for (k, pair) in pairs.iter_mut().enumerate() {
            let w = v.factors::<T>(w, group + k);
            let (x, y) = forward_pair::<V, LAZY>(v, b, &w, v.split::<T>(pair.0, pair.1));
            *pair = v.merge::<T>(x, y);
        }
    }
    pairs
}

#[inline(always)]
fn inverse_rows<V: Vector, const LAZY: bool>(v: V, t: &NttTable<V::Word>, row: &mut [V::Word]) {
    let b = bounds(v, t);
    let w = t.inverse();
    let (packs, _) = v.packs_mut(row);
    let total = packs.len();
    let mut groups = total / 4;
    // The stages within four registers, two sets at a time, but not the last stage of all.
    match packs {
        [x, y] => {
            let [pair] = inverse_narrow::<V, LAZY, 1>(v, b, w, 1, [(v.load(x), v.load(y))]);
            v.store(x, pair.0);
            v.store(y, pair.1);
        }
        [q0, q1, q2, q3] => {
            let pairs = [(v.load(q0), v.load(q1)), (v.load(q2), v.load(q3))];
            let [low, high] = inverse_narrow::<V, LAZY, 2>(v, b, w, 2, pairs);
            let low = inverse_pair::<V, LAZY>(v, b, &v.factor(&w.get(2)), low);
            let high = inverse_pair::<V, LAZY>(v, b, &v.factor(&w.get(3)), high);
            v.store(q0, low.0);
            v.store(q1, low.1);
            v.store(q2, high.0);
            v.store(q3, high.1);
        }
        _ => {
            for (i, [q0, q1, q2, q3, r0, r1, r2, r3]) in packs.as_chunks_mut().0.iter_mut().enumerate() {
                let pairs = [
                    (v.load(q0), v.load(q1)),
                    (v.load(q2), v.load(q3)),
                    (v.load(r0), v.load(r1)),
                    (v.load(r2), v.load(r3)),
                ];
                let pairs = inverse_narrow::<V, LAZY, 4>(v, b, w, total / 2 + 4 * i, pairs);
                let q = [pairs[0], pairs[1]];
                let r = [pairs[2], pairs[3]];
                inverse_quad::<V, LAZY>(v, b, w, groups + 2 * i, q, [q0, q1, q2, q3]);
                inverse_quad::<V, LAZY>(v, b, w, groups + 2 * i + 1, r, [r0, r1, r2, r3]);
            }
        }
    }
    groups /= 2;
    if groups.max(1).trailing_zeros() % 2 == 1 {
        inverse_two::<V, LAZY>(v, b, w, packs, groups);
        groups /= 2;
    }
    while groups > 1 {
        groups /= 2;
        inverse_four::<V, LAZY>(v, b, w, packs, groups);
        groups /= 2;
    }
    inverse_last::<V, LAZY>(v, b, t, packs);
}

/// The two stages pairing four registers, group `group` of the second.
#[inline(always)]
fn inverse_quad<V: Vector, const LAZY: bool>(
    v: V,
    b: Bounds<V::Reg>,
    w: &Twiddles<V::Word>,
    group: usize,
    [low, high]: [(V::Reg, V::Reg); 2],
    [q0, q1, q2, q3]: [&mut V::Pack; 4],
) {
    let outer = v.factor(&w.get(group));
    let inner0 = v.factor(&w.get(2 * group));
    let inner1 = v.factor(&w.get(2 * group + 1));
    let (x0, x1) = inverse_pair::<V, LAZY>(v, b, &inner0, low);
    let (x2, x3) = inverse_pair::<V, LAZY>(v, b, &inner1, high);
    let (x0, x2) = inverse_pair::<V, LAZY>(v, b, &outer, (x0, x2));
    let (x1, x3) = inverse_pair::<V, LAZY>(v, b, &outer, (x1, x3));
    v.store(q0, x0);
    v.store(q1, x1);
    v.store(q2, x2);
    v.store(q3, x3);
}

/// The last stage, with the factor `1/n` and full reduction.
#[inline(always)]
fn inverse_last<V: Vector, const LAZY: bool>(
    v: V,
    b: Bounds<V::Reg>,
    t: &NttTable<V::Word>,
    packs: &mut [V::Pack],
) {
    let (scale, root) = (v.factor(t.scale()), v.factor(t.scaled_root()));
    let (low, high) = packs.split_at_mut(packs.len() / 2);
    for (x, y) in low.iter_mut().zip(high) {
        let (a, c) = (v.load(x), v.load(y));
        let difference = v.add(v.sub(a, c), if LAZY { b.twice } else { b.p });
        v.store(x, v.reduce_once(v.mul_lazy(v.add(a, c), &scale, b.p), b.p));
        v.store(y, v.reduce_once(v.mul_lazy(difference, &root, b.p), b.p));
    }
}

/// `(x, y)` to `(x + y, (x - y) w)`.
#[inline(always)]
fn inverse_pair<V: Vector, const LAZY: bool>(
    v: V,
    b: Bounds<V::Reg>,
    w: &V::Factor,
    (x, y): (V::Reg, V::Reg),
) -> (V::Reg, V::Reg) {
    let bound = if LAZY { b.twice } else { b.p };
    let product = v.mul_lazy(v.add(v.sub(x, y), bound), w, b.p);
    let sum = v.reduce_once(v.add(x, y), bound);
    (sum, if LAZY { product } else { v.reduce_once(product, b.p) })
}

#[inline(always)]
fn inverse_two<V: Vector, const LAZY: bool>(
    v: V,
    b: Bounds<V::Reg>,
    w: &Twiddles<V::Word>,
    packs: &mut [V::Pack],
    groups: usize,
) {
    let half = packs.len() / (2 * groups);
    for (i, block) in packs.chunks_exact_mut(2 * half).enumerate() {
        let w = v.factor(&w.get(groups + i));
        let (low, high) = block.split_at_mut(half);
        for (x, y) in low.iter_mut().zip(high) {
            let pair = inverse_pair::<V, LAZY>(v, b, &w, (v.load(x), v.load(y)));
            v.store(x, pair.0);
            v.store(y, pair.1);
        }
    }
}

/// The stages with `2 groups` and with `groups` groups.
#[inline(always)]
fn inverse_four<V: Vector, const LAZY: bool>(
    v: V,
    b: Bounds<V::Reg>,
    w: &Twiddles<V::Word>,
    packs: &mut [V::Pack],
    groups: usize,
) {
    let quarter = packs.len() / (4 * groups);
    for (i, block) in packs.chunks_exact_mut(4 * quarter).enumerate() {
        let outer = v.factor(&w.get(groups + i));
        let inner0 = v.factor(&w.get(2 * (groups + i)));
        let inner1 = v.factor(&w.get(2 * (groups + i) + 1));
        let (low, high) = block.split_at_mut(2 * quarter);
        let (q0, q1) = low.split_at_mut(quarter);
        let (q2, q3) = high.split_at_mut(quarter);
        for (((q0, q1), q2), q3) in q0.iter_mut().zip(q1).zip(q2).zip(q3) {
            let (x0, x1) = inverse_pair::<V, LAZY>(v, b, &inner0, (v.load(q0), v.load(q1)));
            let (x2, x3) = inverse_pair::<V, LAZY>(v, b, &inner1, (v.load(q2), v.load(q3)));
            let (x0, x2) = inverse_pair::<V, LAZY>(v, b, &outer, (x0, x2));
            let (x1, x3) = inverse_pair::<V, LAZY>(v, b, &outer, (x1, x3));
            v.store(q0, x0);
            v.store(q1, x1);
            v.store(q2, x2);
            v.store(q3, x3);
        }
    }
}

/// The stages within registers, on consecutive pairs. `group` is the first pair's group in the stage that
/// pairs whole registers.
#[inline(always)]
fn inverse_narrow<V: Vector, const LAZY: bool, const PAIRS: usize>(
    v: V,
    b: Bounds<V::Reg>,
    w: &Twiddles<V::Word>,
    group: usize,
    mut pairs: [(V::Reg, V::Reg); PAIRS],
) -> [(V::Reg, V::Reg); PAIRS] {
    pairs = inverse_within::<V, LAZY, 1, PAIRS>(v, b, w, group, pairs);
    pairs = inverse_within::<V, LAZY, 2, PAIRS>(v, b, w, group, pairs);
    pairs = inverse_within::<V, LAZY, 4, PAIRS>(v, b, w, group, pairs);
    inverse_within::<V, LAZY, 8, PAIRS>(v, b, w, group, pairs)
}

/// The stage pairing words `T` apart, where that is within a register.
#[inline(always)]
fn inverse_within<V: Vector, const LAZY: bool, const T: usize, const PAIRS: usize>(
    v: V,
    b: Bounds<V::Reg>,
    w: &Twiddles<V::Word>,
    group: usize,
    mut pairs: [(V::Reg, V::Reg); PAIRS],
) -> [(V::Reg, V::Reg); PAIRS] {
    if T < V::LANES {
        for (k, pair) in pairs.iter_mut().enumerate() {
            let w = v.factors::<T>(w, group + k);
            let (x, y) = inverse_pair::<V, LAZY>(v, b, &w, v.split::<T>(pair.0, pair.1));
            *pair = v.merge::<T>(x, y);
        }
    }
    pairs
}
