//! Products of several left sides with several keys, each of which is read from memory once.

use super::products::{DoubleWords, Sums};
use crate::arith::Modulus;
use crate::arith::simd::{gates::prefetch_far, scalar::Scalar, vector::Products};
use alloc::vec::Vec;
use core::ops::Range;

/// Words that come from memory together: 64 bytes.
pub const fn line<W>() -> usize {
    64 / size_of::<W>()
}

/// Words of a row of a key at rest that lie together: so many lines that a product with some of the samples leaves whole
/// pieces of memory out.
pub const fn key_tile<W>() -> usize {
    4 * line::<W>()
}

/// One of several products, see [`Kernels::key_products`](crate::arith::Kernels::key_products).
pub struct KeyProduct<'a, W> {
    /// The results of the first and of the second component.
    pub out: [&'a mut [W]; 2],
    /// The left side.
    pub lhs: LeftRows<'a, W>,
    /// As many samples as the left side has rows.
    pub key: KeyRows<'a, W>,
}

/// The rows of a left side: whole ones, or in lines of [`line()`] words, `[line][row][words]`, which are read from end to
/// end.
#[derive(Clone, Copy)]
pub struct LeftRows<'a, W> {
    rows: &'a [&'a [W]],
    step: usize,
    log_run: u32,
    start: usize,
}

impl<'a, W> LeftRows<'a, W> {
    /// Whole rows.
    pub fn whole(rows: &'a [&'a [W]]) -> Self {
        Self::lines(rows, line::<W>())
    }

    /// Rows given by where they begin, whose lines are `step` words apart.
    pub fn lines(rows: &'a [&'a [W]], step: usize) -> Self {
        Self { rows, step, log_run: line::<W>().ilog2(), start: 0 }
    }

    /// A line stands for `run` neighbouring words, a power of two, [`line()`] or more: the row repeats each of its words so
    /// often.
    #[must_use]
    pub fn repeating(self, run: usize) -> Self {
        debug_assert!(run.is_power_of_two() && run >= line::<W>());
        Self { log_run: run.ilog2(), ..self }
    }

    /// The rows from word `at` on, where a line begins.
    #[must_use]
    pub fn from(self, at: usize) -> Self {
        debug_assert!(at.is_multiple_of(line::<W>()));
        Self { start: self.start + (at >> self.log_run) * self.step, ..self }
    }

    /// Where word `at` lies in every row.
    #[inline(always)]
    fn place(self, at: usize) -> usize {
        self.start + (at >> self.log_run) * self.step + at % const { line::<W>() }
    }
}

/// Puts whole rows of `n` words, `[row][n]`, in lines, `[line][row][words]`; rows shorter than a line stay as they are.
pub fn to_lines<W: Copy>(rows: &[W], n: usize, out: &mut [W]) {
    let count = rows.len() / n;
    rows.chunks_exact(n).enumerate().for_each(|(j, row)| row_to_lines(row, (j, count), out));
}

/// Puts row `j` of `count` where [`to_lines`] puts it.
pub fn row_to_lines<W: Copy>(row: &[W], (j, count): (usize, usize), out: &mut [W]) {
    // Two copies of one text: the first has a length that the compiler knows.
    let whole = const { line::<W>() };
    if row.len() >= whole {
        for (words, line) in row.chunks_exact(whole).zip(out.chunks_exact_mut(count * whole)) {
            line[j * whole..][..whole].copy_from_slice(&words[..whole]);
        }
    } else {
        out[j * row.len()..][..row.len()].copy_from_slice(row);
    }
}

/// Row `j` of [`to_lines`], whole again.
pub fn whole_row<W: Copy>(lines: &[W], n: usize, j: usize) -> Vec<W> {
    let whole = const { line::<W>() };
    if n < whole {
        return lines[j * n..(j + 1) * n].to_vec();
    }
    let mut out = Vec::with_capacity(n);
    for line in lines.chunks_exact(lines.len() / n * whole) {
        out.extend_from_slice(&line[j * whole..][..whole]);
    }
    out
}

/// The rows within the lines of [`to_lines`], and their step.
pub fn in_lines<W>(lines: &[W], n: usize) -> (Vec<&[W]>, usize) {
    let (size, count) = (line::<W>().min(n), lines.len() / n);
    ((0..count).map(|j| &lines[j * size..]).collect(), count * size)
}

/// Samples (b, a) modulo one prime, `[tile][sample][2][words]`, where a tile holds a run of words of every row. One
/// tile makes whole rows, which lie powers of two apart: neither a cache nor its prefetcher likes that. Tiles of one [`line()`] or of
/// [`key_tile()`] are what products read from end to end.
#[derive(Clone, Copy)]
pub struct KeyRows<'a, W> {
    data: &'a [W],
    tile: usize,
    samples: usize,
    first: usize,
    count: usize,
    next: Option<&'a [W]>,
}

impl<'a, W> KeyRows<'a, W> {
    /// Rows of `samples` samples in tiles of `tile` words, a power of two or all words.
    pub fn new(data: &'a [W], tile: usize, samples: usize) -> Self {
        debug_assert!(data.len().is_multiple_of((2 * tile * samples).max(1)));
        Self { data, tile, samples, first: 0, count: samples, next: None }
    }

    /// Samples `first .. first + count` of these.
    #[must_use]
    pub fn range(self, first: usize, count: usize) -> Self {
        debug_assert!(first + count <= self.count);
        Self { first: self.first + first, count, ..self }
    }

    /// The rows from word `at` on, where a tile begins.
    #[must_use]
    pub fn from(self, at: usize) -> Self {
        debug_assert!(at.is_multiple_of(self.tile));
        Self { data: &self.data[2 * at * self.samples..], ..self }
    }

    /// These, when the product that follows begins to read `next`: a product asks memory for words some time before it needs
    /// them, and would not know where to look near its end.
    #[must_use]
    pub fn followed_by(self, next: Option<KeyRows<'a, W>>) -> Self {
        Self { next: next.map(|next| next.at(0)), ..self }
    }

    /// From word `at` of the first row to the end of its tile's samples, none if there are none.
    #[inline(always)]
    fn at(self, at: usize) -> &'a [W] {
        let (tile, within) = (at / self.tile, at % self.tile);
        let start = (tile * self.samples + self.first) * 2 * self.tile;
        self.data[start..start + self.count * 2 * self.tile].get(within..).unwrap_or_default()
    }
}

/// The sums of products of left sides with the first and the second rows of their keys.
#[inline(always)]
pub(crate) fn key_products<V: Products>(
    v: V,
    m: &Modulus<V::Word>,
    products: &mut [KeyProduct<'_, V::Word>],
    accumulate: bool,
) {
    key_products_by(DoubleWords::new(v, m), m, products, accumulate);
}

/// [`key_products`] by these sums.
///
/// A few lines at a time, so that the second product with a key, or with a left side, finds it in a cache.
#[inline(always)]
pub(crate) fn key_products_by<S: Sums>(
    s: S,
    m: &Modulus<S::Word>,
    products: &mut [KeyProduct<'_, S::Word>],
    accumulate: bool,
) {
    let Some(KeyProduct { out: [row, _], .. }) = products.first() else { return };
    let (words, line) = (row.len(), const { line::<S::Word>() });
    if S::LANES > 1 && !products.iter().all(|x| x.key.tile.is_multiple_of(line)) {
        return key_products(Scalar::new(), m, products, accumulate);
    }
    // One pack in registers or two; scalars go word by word, as rows may have any length.
    let packs = if S::LANES > 1 { line / S::LANES } else { 1 };
    let (width, step) = (packs * S::LANES, packs.min(2) * S::LANES);
    let samples = products.iter().map(|x| x.key.count).max().unwrap_or_default();
    let burst = (BURST / (2 * samples.max(1) * size_of::<S::Word>())).next_multiple_of(line);
    for start in (0..words).step_by(burst) {
        let end = words.min(start + burst);
        for i in 0..products.len() {
            let next = match products.get(i + 1) {
                Some(follower) => Some(follower.key.at(start)),
                None if end < words => Some(products[0].key.at(end)),
                None => products[i].key.next,
            };
            let KeyProduct { out: [out0, out1], lhs, key } = &mut products[i];
            let ahead = Ahead::new(*key, start..end, next);
            let mut tile = start;
            while tile < end {
                let (rows, ahead) = (key.at(tile), ahead.of(tile));
                let next = end.min(tile / key.tile * key.tile + key.tile);
                for at in (tile..next).step_by(width) {
                    let left = lhs.place(at);
                    for first in (0..width).step_by(step) {
                        let words = at + first..at + first + step;
                        let outs = [&mut out0[words.clone()], &mut out1[words]];
                        let place =
                            Place { left: left + first, right: at - tile + first, tile: key.tile, ahead };
                        if packs == 1 {
                            add_products::<S, 1>(s, outs, lhs.rows, rows, place, accumulate);
                        } else {
                            add_products::<S, 2>(s, outs, lhs.rows, rows, place, accumulate);
                        }
                    }
                }
                tile = next;
            }
        }
    }
}

/// Bytes of a key, about, from those that are multiplied to those that are asked for: memory is slower than the products,
/// and a processor does not look so far by itself.
const AHEAD: usize = 16 << 10;

/// Where the words lie that are asked for while others are multiplied: further on in the same rows, and near their end,
/// where the next rows begin.
struct Ahead {
    /// From here on it is the next rows.
    turn: usize,
    same: isize,
    next: isize,
}

impl Ahead {
    /// For words `range` of a key's rows, after which `next` is read, or what follows if that is none.
    #[inline(always)]
    fn new<W: Copy>(key: KeyRows<'_, W>, range: Range<usize>, next: Option<&[W]>) -> Self {
        // From a place to the same one some tiles on: a key is not asked for samples that this product leaves out.
        let period = (2 * key.tile * key.samples).max(1);
        let tiles = (AHEAD / size_of::<W>() / period).max(1);
        let same = (tiles * period) as isize;
        let first = key.at(range.start).as_ptr();
        // Addresses alone, in words: nothing is read.
        let words = |from: *const W, to: *const W| (to as isize - from as isize) / size_of::<W>() as isize;
        let length = (range.len() / key.tile * period) as isize;
        let next = next.map_or(same, |next| words(first, next.as_ptr()) + same - length);
        Self { turn: range.end.saturating_sub(tiles * key.tile), same, next }
    }

    /// The distance for the tile at word `at`.
    #[inline(always)]
    fn of(&self, at: usize) -> isize {
        if at < self.turn { self.same } else { self.next }
    }
}

/// Bytes of a key that one product reads before it is the next one's turn: long enough for a prefetcher to follow, and what
/// several keys of one left side take fits a second-level cache.
const BURST: usize = 64 << 10;

/// Where packs begin: in every row of the left side, in the first row of the key; the distance of rows of the key, and of
/// words to be asked for.
#[derive(Clone, Copy)]
struct Place {
    left: usize,
    right: usize,
    tile: usize,
    ahead: isize,
}

/// `P` packs of both sums, which stay in registers.
#[inline(always)]
fn add_products<S: Sums, const P: usize>(
    s: S,
    [out0, out1]: [&mut [S::Word]; 2],
    lhs: &[&[S::Word]],
    key: &[S::Word],
    Place { left, right, tile, ahead }: Place,
    accumulate: bool,
) {
    let (out0, out1) = (s.packs_mut(out0).0, s.packs_mut(out1).0);
    let (mut sums0, mut sums1) = ([s.zero(); P], [s.zero(); P]);
    if accumulate {
        for i in 0..P {
            sums0[i] = s.of(s.load(&out0[i]));
            sums1[i] = s.of(s.load(&out1[i]));
        }
    }
    let width = P * S::LANES;
    for (run, lhs) in lhs.chunks(s.room()).enumerate() {
        if run > 0 {
            for i in 0..P {
                sums0[i] = s.shrink(sums0[i]);
                sums1[i] = s.shrink(sums1[i]);
            }
        }
        let start = run * s.room() * 2 * tile + right;
        for (j, row) in lhs.iter().enumerate() {
            let at = start + j * 2 * tile;
            let (first, second) = (&key[at..at + width], &key[at + tile..at + tile + width]);
            prefetch_far(first.as_ptr().wrapping_offset(ahead));
            prefetch_far(second.as_ptr().wrapping_offset(ahead));
            let (row, first, second) =
                (s.packs(&row[left..left + width]).0, s.packs(first).0, s.packs(second).0);
            for i in 0..P {
                let a = s.load(&row[i]);
                sums0[i] = s.mul_add(sums0[i], a, s.load(&first[i]));
                sums1[i] = s.mul_add(sums1[i], a, s.load(&second[i]));
            }
        }
    }
    for i in 0..P {
        s.store(&mut out0[i], s.residue(sums0[i]));
        s.store(&mut out1[i], s.residue(sums1[i]));
    }
}
