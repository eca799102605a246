//! The transform along an axis whose coefficients are rows.

use alloc::vec::Vec;
use core::ops::Range;

use crate::{
    arith::{Deferred, Kernels, Modulus, Shoup, Word},
    ring::scratch::Scratch,
};

/// Columns that are transformed together, while they are in the nearest cache.
const BLOCK: usize = 64;

/// The columns of a block are padded with zeros to a multiple of this, so that no kernel has words left over.
const FILLED: usize = 32;

/// From coefficients of 1, .., X^(p-2) to values at the powers of omega by `gamma^a` for 0 <= a < p - 1, and back: omega is a root of
/// unity of prime order p, gamma a primitive root modulo p.
///
/// As `gamma^h` = -1 for h = (p - 1)/2, the values at `gamma^a` and at `gamma^(a+h)` are the sum and the difference of two products with
/// matrices: of the sums `c_j + c_(p-j)` with (omega^(j `gamma^a`) + omega^(-j `gamma^a`))/2, and of the differences `c_j - c_(p-j)` with
/// (omega^(j `gamma^a`) - omega^(-j `gamma^a`))/2.
pub(super) struct Across<W> {
    prime: u64,
    generator: u64,
    omega: W,
    modulus: Modulus<W>,
    tables: Deferred<Tables<W>>,
}

/// Matrices for sums and for differences, row after row.
struct Tables<W> {
    /// `[a][j - 1]` for 0 <= a < h and 1 <= j <= h.
    forward: [Vec<Shoup<W>>; 2],
    /// `[j][a]`, divided by p: for sums 0 <= j <= h, for differences 1 <= j <= h.
    inverse: [Vec<Shoup<W>>; 2],
}

impl<W: Word> Across<W> {
    pub(super) fn new(prime: u64, generator: u64, omega: W, modulus: Modulus<W>) -> Self {
        let tables = Deferred::new(|| Tables::new(prime, generator, omega, &modulus));
        Self { prime, generator, omega, modulus, tables }
    }

    /// p - 1.
    pub(super) fn rows(&self) -> usize {
        self.prime as usize - 1
    }

    /// Rows of coefficients to rows of values.
    pub(super) fn forward(
        &self,
        kernels: &dyn Kernels<W>,
        x: &mut [W],
        columns: usize,
        scratch: &mut Scratch<W>,
    ) {
        let (m, h, [even, odd]) = (&self.modulus, self.rows() / 2, &self.tables().forward);
        for start in (0..columns).step_by(BLOCK) {
            let place = Place { columns, start, own: BLOCK.min(columns - start) };
            let Memory { constant, mut folded, out: [first, second] } = Memory::new(h, place.own, scratch);
            constant[..place.own].copy_from_slice(&x[place.of(0)]);
            for j in 1..=h {
                // X^(p-1) is not in the basis: it has no coefficient.
                let other = (j > 1).then(|| &x[place.of(2 * h + 1 - j)]);
                folded.fold(kernels, m, j - 1, &x[place.of(j)], other);
            }
            let [sums, differences] = folded.terms();
            for (a, (even, odd)) in even.chunks_exact(h).zip(odd.chunks_exact(h)).enumerate() {
                first.copy_from_slice(constant);
                kernels.add_multiples(m, first, &sums, even);
                second.fill(W::ZERO);
                kernels.add_multiples(m, second, &differences, odd);
                for (row, minus) in [(a, false), (a + h, true)] {
                    place.unfold(kernels, m, &mut x[place.of(row)], [first, second], minus);
                }
            }
        }
    }

    /// Rows of values to rows of coefficients.
    pub(super) fn inverse(
        &self,
        kernels: &dyn Kernels<W>,
        x: &mut [W],
        columns: usize,
        scratch: &mut Scratch<W>,
    ) {
        let (m, h, [even, odd]) = (&self.modulus, self.rows() / 2, &self.tables().inverse);
        for start in (0..columns).step_by(BLOCK) {
            let place = Place { columns, start, own: BLOCK.min(columns - start) };
            let Memory { constant: last, mut folded, out: [first, second] } =
                Memory::new(h, place.own, scratch);
            for a in 0..h {
                folded.fold(kernels, m, a, &x[place.of(a)], Some(&x[place.of(a + h)]));
            }
            let [sums, differences] = folded.terms();
            let (constant, even) = even.split_at(h);
            for (j, (even, odd)) in (1..).zip(even.chunks_exact(h).zip(odd.chunks_exact(h))) {
                first.fill(W::ZERO);
                kernels.add_multiples(m, first, &sums, even);
                second.fill(W::ZERO);
                kernels.add_multiples(m, second, &differences, odd);
                // The coefficient of X^(p-1), which is minus the sum of the basis, comes with the first and is subtracted from all others.
                if j == 1 {
                    last.copy_from_slice(first);
                    kernels.sub_assign(m, last, second);
                }
                kernels.sub_assign(m, first, last);
                place.unfold(kernels, m, &mut x[place.of(j)], [first, second], false);
                if j > 1 {
                    place.unfold(kernels, m, &mut x[place.of(2 * h + 1 - j)], [first, second], true);
                }
            }
            first.fill(W::ZERO);
            kernels.add_multiples(m, first, &sums, constant);
            place.unfold(kernels, m, &mut x[place.of(0)], [first, last], true);
        }
    }

    fn tables(&self) -> &Tables<W> {
        self.tables.get(|| Tables::new(self.prime, self.generator, self.omega, &self.modulus))
    }
}

/// Where the columns of a block are among all columns.
#[derive(Clone, Copy)]
struct Place {
    columns: usize,
    start: usize,
    own: usize,
}

impl Place {
    fn of(self, row: usize) -> Range<usize> {
        let from = row * self.columns + self.start;
        from..from + self.own
    }

    /// Writes a + b, or a - b if `minus`.
    fn unfold<W: Word>(
        self,
        kernels: &dyn Kernels<W>,
        m: &Modulus<W>,
        out: &mut [W],
        [a, b]: [&[W]; 2],
        minus: bool,
    ) {
        out.copy_from_slice(&a[..self.own]);
        if minus {
            kernels.sub_assign(m, out, &b[..self.own]);
        } else {
            kernels.add_assign(m, out, &b[..self.own]);
        }
    }
}

/// The memory that a block needs.
struct Memory<'a, W> {
    constant: &'a mut [W],
    folded: Folded<'a, W>,
    out: [&'a mut [W]; 2],
}

/// Sums and differences, h rows of each.
struct Folded<'a, W> {
    sums: &'a mut [W],
    differences: &'a mut [W],
    width: usize,
}

impl<'a, W: Word> Memory<'a, W> {
    fn new(h: usize, own: usize, scratch: &'a mut Scratch<W>) -> Self {
        let width = own.next_multiple_of(FILLED);
        let all = scratch.words((2 * h + 3) * width);
        all.fill(W::ZERO);
        let (constant, all) = all.split_at_mut(width);
        let (first, all) = all.split_at_mut(width);
        let (second, all) = all.split_at_mut(width);
        let (sums, differences) = all.split_at_mut(h * width);
        Self { constant, folded: Folded { sums, differences, width }, out: [first, second] }
    }
}

impl<W: Word> Folded<'_, W> {
    /// The sum and the difference of two rows, or of one and nothing.
    fn fold(&mut self, kernels: &dyn Kernels<W>, m: &Modulus<W>, at: usize, x: &[W], y: Option<&[W]>) {
        let own = at * self.width..at * self.width + x.len();
        let (sum, difference) = (&mut self.sums[own.clone()], &mut self.differences[own]);
        sum.copy_from_slice(x);
        difference.copy_from_slice(x);
        if let Some(y) = y {
            kernels.add_assign(m, sum, y);
            kernels.sub_assign(m, difference, y);
        }
    }

    fn terms(&self) -> [Vec<&[W]>; 2] {
        [&*self.sums, &*self.differences].map(|rows| rows.chunks_exact(self.width).collect())
    }
}

impl<W: Word> Tables<W> {
    fn new(prime: u64, generator: u64, omega: W, m: &Modulus<W>) -> Self {
        let h = prime / 2;
        let powers: Vec<W> =
            core::iter::successors(Some(W::ONE), |&x| Some(m.mul(x, omega))).take(prime as usize).collect();
        let units: Vec<u64> =
            core::iter::successors(Some(1), |k| Some(k * generator % prime)).take(h as usize).collect();
        // Neither 2 nor p is a multiple of the prime of the modulus, which is 1 modulo both.
        let over = |x: u64| m.inv(m.reduce_u64(x)).unwrap_or(W::ONE);
        let (half, scaled) = (over(2), over(2 * prime));
        let entry = |scale: W, odd: bool, e: u64| {
            let [x, y] = [e % prime, (prime - e % prime) % prime].map(|e| powers[e as usize]);
            m.shoup(m.mul(scale, if odd { m.sub(x, y) } else { m.add(x, y) }))
        };
        let forward = |odd| {
            let row = |&k: &u64| (1..=h).map(move |j| j * k);
            units.iter().flat_map(row).map(|e| entry(half, odd, e)).collect()
        };
        let inverse = |odd: bool| {
            let row = |j: u64| units.iter().map(move |&k| (prime - j) * k);
            (u64::from(odd)..=h).flat_map(row).map(|e| entry(scaled, odd, e)).collect()
        };
        Self { forward: [false, true].map(forward), inverse: [false, true].map(inverse) }
    }
}
