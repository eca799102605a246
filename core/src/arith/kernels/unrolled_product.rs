//! The product of blind rotation unrolled by two coordinates: digits times a key that is combined on the way.
//!
//! For two bits s1 and s2 exactly one of the four products (1 - s1)(1 - s2), s1 (1 - s2), (1 - s1) s2, s1 s2 is 1, and
//! X^(e1 s1 + e2 s2) is their sum with the coefficients 1, X^e1, X^e2 and X^(e1 + e2). The same sum of their RGSW
//! samples is the key that the digits are multiplied by.

use super::Kernels;
use super::gate_product::{doublings, negative_inverse, reduce, rough_bound};
use crate::arith::simd::vector::{Montgomery, Vector};
use crate::arith::{MachineWord, Modulus, Shoup};
use alloc::{vec, vec::Vec};

/// Keys of a pair of bits.
pub const PAIR_KEYS: usize = 4;

/// Places in a run of [`Turns`].
pub const TURN_RUN: usize = 64;

/// X^e1, X^e2 and X^(e1 + e2), evaluated: place `TURN_RUN h + l` of row i is `low[i][l] high[h][i]`.
pub struct Turns<W> {
    /// The first run of every row, residues.
    pub low: [[W; TURN_RUN]; 3],
    /// The factor of that run in every run.
    pub high: Vec<[Shoup<W>; 3]>,
}

impl<W: MachineWord> Turns<W> {
    /// Room for rows of `n` places, a multiple of [`TURN_RUN`].
    pub fn new(n: usize) -> Self {
        Self { low: [[W::ZERO; TURN_RUN]; 3], high: vec![[Shoup::default(); 3]; n / TURN_RUN] }
    }

    /// The rows themselves.
    fn rows(&self, kernels: &(impl Kernels<W> + ?Sized), m: &Modulus<W>) -> [Vec<W>; 3] {
        let mut rows = [const { Vec::new() }; 3];
        for (i, row) in rows.iter_mut().enumerate() {
            for high in &self.high {
                let start = row.len();
                row.extend_from_slice(&self.low[i]);
                kernels.mul_scalar_assign(m, &mut row[start..], &high[i]);
            }
        }
        rows
    }
}

/// Words of a run of the prepared key: 64 bytes.
const fn run<W>() -> usize {
    super::line::<W>()
}

/// Whether unrolled products of `terms` rows fit, of residues or, if `rough`, of words below [`rough_bound`].
pub fn unrolled_fits<W: MachineWord>(p: u64, n: usize, terms: usize, rough: bool) -> bool {
    let whole = n.is_multiple_of(TURN_RUN) && n > 0;
    whole
        && match (W::BITS, rough) {
            (32, true) => rough_bound(p, n).is_some_and(|largest| fits(32, p, largest, terms)),
            (32, false) => fits(32, p, p, terms),
            // Primes too large for the lanes use the ordinary products.
            (_, false) => p >> 50 != 0 || fits(52, p, p, terms),
            (_, true) => false,
        }
}

/// The combined key is below 4p before it is brought below 2p.
fn fits(radix_bits: u32, p: u64, largest: u64, terms: usize) -> bool {
    p >> (radix_bits - 2) == 0 && doublings(radix_bits, p, 2 * largest, terms).is_some()
}

/// Brings the four keys of a pair, `[key][terms][2][n]` residues, into one stream,
/// `[n / run][terms][2][key][run]`, the first one times the Montgomery radix and the others times its square.
pub(crate) fn prepare<W: MachineWord>(m: &Modulus<W>, radix_bits: u32, n: usize, out: &mut [W], key: &[W]) {
    debug_assert!(out.len() == key.len() && key.len().is_multiple_of(PAIR_KEYS * n));
    let once = m.reduce_u64(1 << radix_bits);
    let [once, twice] = [once, m.mul(once, once)].map(|factor| m.shoup(factor));
    let (run, samples) = (const { run::<W>() }, key.len() / (PAIR_KEYS * n));
    for (row, words) in key.chunks_exact(n).enumerate() {
        let (number, slot) = (row / samples, row % samples);
        let factor = if number == 0 { &once } else { &twice };
        for (place, words) in words.chunks_exact(run).enumerate() {
            let start = ((place * samples + slot) * PAIR_KEYS + number) * run;
            for (out, &x) in out[start..start + run].iter_mut().zip(words) {
                *out = m.mul_shoup(x, factor);
            }
        }
    }
}

/// See [`GateKernels::unrolled_product`](super::gates::GateKernels).
#[inline(always)]
pub(crate) fn product<V: Montgomery>(
    v: V,
    m: &Modulus<V::Word>,
    out: [&mut [V::Word]; 2],
    rows: &[V::Word],
    key: &[V::Word],
    turns: &Turns<V::Word>,
    rough: bool,
) {
    let (p, n) = (m.value_u64(), out[0].len());
    let largest = if rough { rough_bound(p, n).unwrap_or(p) } else { p };
    if doublings(V::RADIX_BITS, p, 2 * largest, rows.len() / n) == Some(2) {
        product_by::<V, 2>(v, m, out, rows, key, turns);
    } else {
        product_by::<V, 3>(v, m, out, rows, key, turns);
    }
}

#[inline(always)]
fn product_by<V: Montgomery, const DOUBLINGS: u32>(
    v: V,
    m: &Modulus<V::Word>,
    [out0, out1]: [&mut [V::Word]; 2],
    rows: &[V::Word],
    key: &[V::Word],
    turns: &Turns<V::Word>,
) {
    let n = out0.len();
    let per_run = const { run::<V::Word>() / V::LANES };
    let (terms, per_row) = (rows.len() / n, n / V::LANES);
    let reduction = Reduction::new(v, m);
    let (rows, key) = (v.packs(rows).0, v.packs(key).0);
    let (out0, out1) = (v.packs_mut(out0).0, v.packs_mut(out1).0);
    let (low0, low1, low2) = (v.packs(&turns.low[0]).0, v.packs(&turns.low[1]).0, v.packs(&turns.low[2]).0);
    for (block, high) in turns.high.iter().enumerate() {
        let (high0, high1, high2) = (v.factor(&high[0]), v.factor(&high[1]), v.factor(&high[2]));
        for within in 0..TURN_RUN / V::LANES {
            let at = block * (TURN_RUN / V::LANES) + within;
            let turns = [
                v.mul_lazy(v.load(&low0[within]), &high0, reduction.p),
                v.mul_lazy(v.load(&low1[within]), &high1, reduction.p),
                v.mul_lazy(v.load(&low2[within]), &high2, reduction.p),
            ];
            let mut start = at / per_run * (2 * PAIR_KEYS * terms * per_run) + at % per_run;
            let (mut sum0, mut sum1, mut row) = (v.sum_zero(), v.sum_zero(), at);
            for _ in 0..terms {
                let x = v.load(&rows[row]);
                let (first, second) = (start, start + PAIR_KEYS * per_run);
                sum0 = v.sum_mul_add(sum0, x, reduction.combined(&key[first..], per_run, turns));
                sum1 = v.sum_mul_add(sum1, x, reduction.combined(&key[second..], per_run, turns));
                start += 2 * PAIR_KEYS * per_run;
                row += per_row;
            }
            v.store(&mut out0[at], reduce::<V, DOUBLINGS>(v, reduction.reduced(sum0), m));
            v.store(&mut out1[at], reduce::<V, DOUBLINGS>(v, reduction.reduced(sum1), m));
        }
    }
}

/// The constants of a prime in every lane.
#[derive(Clone, Copy)]
struct Reduction<V: Vector> {
    v: V,
    p: V::Reg,
    twice: V::Reg,
    inverse: V::Reg,
}

impl<V: Montgomery> Reduction<V> {
    #[inline(always)]
    fn new(v: V, m: &Modulus<V::Word>) -> Self {
        let p = v.splat(m.value());
        let inverse = negative_inverse(m.value_u64(), V::RADIX_BITS);
        Self { v, p, twice: v.add(p, p), inverse: v.splat(V::Word::from_u64(inverse)) }
    }

    #[inline(always)]
    fn reduced(self, sum: V::Sum) -> V::Reg {
        self.v.sum_redc(sum, self.inverse, self.p)
    }

    /// The first key plus the others times their turns, for one pack of a row. Turns are below 2p; the result is below 2p, times the radix.
    #[inline(always)]
    fn combined(self, key: &[V::Pack], per_run: usize, [t0, t1, t2]: [V::Reg; 3]) -> V::Reg {
        let v = self.v;
        let key = &key[..=3 * per_run];
        let sum = v.sum_mul_add(v.sum_zero(), t0, v.load(&key[per_run]));
        let sum = v.sum_mul_add(sum, t1, v.load(&key[2 * per_run]));
        let sum = v.sum_mul_add(sum, t2, v.load(&key[3 * per_run]));
        v.reduce_once(v.add(self.reduced(sum), v.load(&key[0])), self.twice)
    }
}

/// [`product`] by the ordinary products of rows, for a key that has not been prepared.
pub(crate) fn product_of_rows<W: MachineWord>(
    kernels: &(impl Kernels<W> + ?Sized),
    m: &Modulus<W>,
    out: [&mut [W]; 2],
    rows: &[W],
    key: &[W],
    turns: &Turns<W>,
) {
    let n = out[0].len();
    let samples = key.len() / (PAIR_KEYS * n);
    let turns = turns.rows(kernels, m);
    let turns = [turns[0].as_slice(), &turns[1], &turns[2]];
    let mut combined = key[..samples * n].to_vec();
    for (slot, sum) in combined.chunks_exact_mut(n).enumerate() {
        let row = |number: usize| &key[(number * samples + slot) * n..][..n];
        kernels.inner_product(m, sum, &turns, &[row(1), row(2), row(3)], true);
    }
    let rows: Vec<&[W]> = rows.chunks_exact(n).collect();
    for (column, out) in out.into_iter().enumerate() {
        let keys: Vec<&[W]> = combined.chunks_exact(n).skip(column).step_by(2).collect();
        kernels.inner_product(m, out, &rows, &keys, false);
    }
}
