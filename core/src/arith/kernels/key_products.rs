//! Products of several left sides with several keys. Each key is read from memory once.

use super::products::{DoubleWords, Sums};
use crate::arith::Modulus;
use crate::arith::simd::{
    prefetch::prefetch_far,
    scalar::Scalar,
    vector::{Pack, Products},
};
use alloc::vec::Vec;
use core::ops::Range;

/// Words of a cache line: 64 bytes.
pub const fn line<W>() -> usize {
    64 / size_of::<W>()
}

/// Words of a row that lie together in a key at rest: enough lines for a product with only some of the samples to skip
/// whole pieces of memory.
pub const fn key_tile<W>() -> usize {
    4 * line::<W>()
}

/// One of several products, see [`Kernels::key_products`](crate::arith::Kernels::key_products).
pub struct KeyProduct<'a, W> {
    /// The results of the first and of the second component.
    pub out: [&'a mut [W]; 2],
    /// The left side.
    pub lhs: LeftRows<'a, W>,
    /// The key, with one sample for each row of the left side.
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

    /// Rows whose lines are `step` words apart; each slice of `rows` begins where its row begins.
    pub fn lines(rows: &'a [&'a [W]], step: usize) -> Self {
        Self { rows, step, log_run: line::<W>().ilog2(), start: 0 }
    }

    /// Lets each line stand for `run` neighbouring words, a power of two of at least [`line()`]: the line repeats within the
    /// run.
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
    // Written twice so that the length of the first is constant.
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

/// Samples (b, a) modulo one prime, `[tile][sample][2][words]`, where a tile holds a run of words of every row. With a single tile,
/// rows are whole and lie powers of two apart, which suits neither a cache nor its prefetcher. Products read tiles of one [`line()`] or
/// of [`key_tile()`] from end to end.
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

    /// True if both are the same samples in the same place.
    fn is(self, other: Self) -> bool {
        let shape = |x: Self| (x.tile, x.samples, x.first, x.count);
        core::ptr::eq(self.data, other.data) && shape(self) == shape(other)
    }

    /// The same rows, where the next product begins to read `next`. A product prefetches words some time before it needs them,
    /// and near its end would not know where to look.
    #[must_use]
    pub fn followed_by(self, next: Option<KeyRows<'a, W>>) -> Self {
        Self { next: next.map(|next| next.at(0)), ..self }
    }

    /// The words from `at` of the first row to the end of that tile's samples; empty if there are none.
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

/// [`key_products`] with the sums `s`.
///
/// It does a few lines at a time, so that the second product with a key, or with a left side, finds it in a cache.
/// Neighbouring products with one key read it together.
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
    let samples = products.iter().map(|x| x.key.count).max().unwrap_or_default();
    let burst = (BURST / (2 * samples.max(1) * size_of::<S::Word>())).next_multiple_of(line);
    for start in (0..words).step_by(burst) {
        let end = words.min(start + burst);
        let mut done = 0;
        while let Some(KeyProduct { key, .. }) = products.get(done) {
            let key = *key;
            let count = products[done..].iter().take_while(|x| x.key.is(key)).count();
            let next = match products.get(done + count) {
                Some(follower) => Some(follower.key.at(start)),
                None if end < words => Some(products[0].key.at(end)),
                None => key.next,
            };
            let ahead = Ahead::new(key, start..end, next);
            for (i, products) in products[done..done + count].chunks_mut(S::LEFT_SIDES).enumerate() {
                // After the first left sides the key is in a cache, and after the first key so are the left sides.
                let asked = Asked { ahead: if i == 0 { ahead } else { Ahead::NONE }, left: done == 0 };
                match products {
                    [a, b, c, d] if S::LEFT_SIDES == 4 => {
                        add_words::<S, 4, 1>(s, &mut [a, b, c, d], start..end, asked, accumulate);
                    }
                    [a, b, rest @ ..] if S::LEFT_SIDES > 1 => {
                        add_words::<S, 2, 1>(s, &mut [a, b], start..end, asked, accumulate);
                        for c in rest {
                            add_words::<S, 1, 1>(s, &mut [c], start..end, asked, accumulate);
                        }
                    }
                    products => {
                        for a in products {
                            if S::PACKS == 2 {
                                add_words::<S, 1, 2>(s, &mut [a], start..end, asked, accumulate);
                            } else {
                                add_words::<S, 1, 1>(s, &mut [a], start..end, asked, accumulate);
                            }
                        }
                    }
                }
            }
            done += count;
        }
    }
}

/// How many bytes of a key, about, prefetches run ahead of products: memory is slower than the products, and a processor
/// does not look so far ahead by itself.
const AHEAD: usize = 16 << 10;

/// How far ahead the words to prefetch lie: further on in the same rows or, near their end, where the next rows begin.
#[derive(Clone, Copy)]
struct Ahead {
    /// From this word on, the next rows are prefetched.
    turn: usize,
    same: isize,
    next: isize,
}

impl Ahead {
    /// No distance: the words that are being multiplied, which are in a cache.
    const NONE: Self = Self { turn: 0, same: 0, next: 0 };

    /// The distances for words `range` of a key's rows. After them `next` is read, or what follows them if that is none.
    #[inline(always)]
    fn new<W: Copy>(key: KeyRows<'_, W>, range: Range<usize>, next: Option<&[W]>) -> Self {
        // From a place to the same one some tiles on: samples that this product leaves out are not prefetched.
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

/// Bytes of a key that one product reads before the next product has its turn: enough for a prefetcher to follow, and few
/// enough for those of several keys of one left side to fit a second-level cache.
const BURST: usize = 64 << 10;

/// Words of some products with one key, in packs whose sums stay in registers: `P` packs at a time of each of `L` left
/// sides.
#[inline(always)]
fn add_words<S: Sums, const L: usize, const P: usize>(
    s: S,
    products: &mut [&mut KeyProduct<'_, S::Word>; L],
    words: Range<usize>,
    Asked { ahead, left }: Asked,
    accumulate: bool,
) {
    let line = const { line::<S::Word>() };
    // Scalars go word by word, as rows may have any length.
    let width = if S::LANES > 1 { line } else { 1 };
    let key = products[0].key;
    let (mut lhs, mut steps): ([&[&[S::Word]]; L], _) = ([&[]; L], [0; L]);
    for l in 0..L {
        lhs[l] = products[l].lhs.rows;
        steps[l] = if left { products[l].lhs.step } else { 0 };
        debug_assert_eq!(lhs[l].len(), lhs[0].len());
    }
    let mut tile = words.start;
    while tile < words.end {
        let (rows, ahead) = (key.at(tile), ahead.of(tile));
        let next = words.end.min(tile / key.tile * key.tile + key.tile);
        for at in (tile..next).step_by(width) {
            let mut starts = [0; L];
            for l in 0..L {
                starts[l] = products[l].lhs.place(at);
            }
            for first in (0..width).step_by(P * S::LANES) {
                let words = at + first..at + first + P * S::LANES;
                let mut sums = [[[s.zero(); P]; 2]; L];
                if accumulate {
                    for l in 0..L {
                        let [out0, out1] = &products[l].out;
                        let out0 = S::Pack::packs(&out0[words.clone()]).0;
                        let out1 = S::Pack::packs(&out1[words.clone()]).0;
                        for i in 0..P {
                            sums[l][0][i] = s.of(s.load(&out0[i]));
                            sums[l][1][i] = s.of(s.load(&out1[i]));
                        }
                    }
                }
                let place = Place { left: first, right: at - tile + first, tile: key.tile, ahead };
                let sums = add_samples(s, sums, lhs, (starts, steps), rows, place);
                for l in 0..L {
                    let [out0, out1] = &mut products[l].out;
                    let out0 = S::Pack::packs_mut(&mut out0[words.clone()]).0;
                    let out1 = S::Pack::packs_mut(&mut out1[words.clone()]).0;
                    for i in 0..P {
                        s.store(&mut out0[i], s.residue(sums[l][0][i]));
                        s.store(&mut out1[i], s.residue(sums[l][1][i]));
                    }
                }
            }
        }
        tile = next;
    }
}

/// What is prefetched while words are multiplied: words of the key and, if `left`, the next line of the left sides.
#[derive(Clone, Copy)]
struct Asked {
    ahead: Ahead,
    left: bool,
}

/// Where packs begin: `left` words after the places of the left sides, and at word `right` of the first row of the key. Rows
/// of the key are `tile` words apart, and the words to prefetch `ahead`.
#[derive(Clone, Copy)]
struct Place {
    left: usize,
    right: usize,
    tile: usize,
    ahead: isize,
}

/// The sums of each left side, `[left side][component][pack]`.
type Packs<A, const L: usize, const P: usize> = [[[A; P]; 2]; L];

/// Adds the products with all samples.
#[inline(always)]
fn add_samples<S: Sums, const L: usize, const P: usize>(
    s: S,
    mut sums: Packs<S::Acc, L, P>,
    lhs: [&[&[S::Word]]; L],
    (starts, steps): ([usize; L], [usize; L]),
    key: &[S::Word],
    Place { left, right, tile, ahead }: Place,
) -> Packs<S::Acc, L, P> {
    let (width, count, room) = (P * S::LANES, lhs[0].len(), s.room());
    let mut done = 0;
    while done < count {
        if done > 0 {
            for sums in sums.as_flattened_mut().as_flattened_mut() {
                *sums = s.shrink(*sums);
            }
        }
        let next = count.min(done.saturating_add(room));
        while done < next {
            let j = done;
            done += 1;
            let at = right + j * 2 * tile;
            let (row0, row1) = (&key[at..at + width], &key[at + tile..at + tile + width]);
            prefetch_far(row0.as_ptr().wrapping_offset(ahead));
            prefetch_far(row1.as_ptr().wrapping_offset(ahead));
            let (row0, row1) = (S::Pack::packs(row0).0, S::Pack::packs(row1).0);
            for i in 0..P {
                let (key0, key1) = (s.load(&row0[i]), s.load(&row1[i]));
                for l in 0..L {
                    let row = &lhs[l][j][starts[l] + left..starts[l] + left + width];
                    if i == 0 {
                        prefetch_far(row.as_ptr().wrapping_add(steps[l]));
                    }
                    let a = s.load(&S::Pack::packs(row).0[i]);
                    sums[l][0][i] = s.mul_add(sums[l][0][i], a, key0);
                    sums[l][1][i] = s.mul_add(sums[l][1][i], a, key1);
                }
            }
        }
    }
    sums
}
