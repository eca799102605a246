//! Base conversion: centred residues in one basis to residues in another.

use alloc::vec::Vec;

use super::basis::Basis;
use crate::arith::{Shoup, Word};

/// Converts x, known modulo D = product of the source primes, to the residues of its centred
/// representative in (-D/2, D/2] modulo each target prime.
///
/// With one source prime the lift is exact. With several, the number of wraps is
/// round(sum y_i / d_i) in double precision (y_i = [x (D/d_i)^-1] mod d_i): exact unless x lies
/// within about D 2^-50 of ±D/2, where the other representative may be taken. Every backend sums in
/// the same order, so results are bit-identical.
pub struct BaseConverter<W: Word> {
    from: Basis<W>,
    to: Basis<W>,
    /// (D/d_i)^-1 mod d_i.
    y_scale: Vec<Shoup<W>>,
    inv_d: Vec<f64>,
    /// `[target][source]`: D/d_i mod target.
    weights: Vec<Vec<Shoup<W>>>,
    /// D mod target.
    product: Vec<Shoup<W>>,
}

impl<W: Word> BaseConverter<W> {
    /// Precomputes the conversion; `from` must not be empty and the two bases must be disjoint.
    ///
    /// # Panics
    /// Never: the primes of a basis are distinct.
    pub fn new(from: &Basis<W>, to: &Basis<W>) -> Self {
        debug_assert!(!from.is_empty());
        let primes: Vec<u64> = from.primes().collect();
        let y_scale = (0..primes.len())
            .map(|i| {
                let m = from.modulus(i);
                let mut others = W::ONE;
                for (j, &d) in primes.iter().enumerate() {
                    if j != i {
                        others = m.mul(others, m.reduce_u64(d));
                    }
                }
                m.shoup(m.inv(others).expect("distinct primes are invertible"))
            })
            .collect();
        let inv_d = primes.iter().map(|&d| 1.0 / d as f64).collect();
        let mut weights = Vec::with_capacity(to.len());
        let mut product = Vec::with_capacity(to.len());
        for t in 0..to.len() {
            let m = to.modulus(t);
            let partial = |skip: usize| {
                let mut w = W::ONE;
                for (j, &d) in primes.iter().enumerate() {
                    if j != skip {
                        w = m.mul(w, m.reduce_u64(d));
                    }
                }
                m.shoup(w)
            };
            weights.push((0..primes.len()).map(partial).collect());
            product.push(partial(usize::MAX));
        }
        Self { from: from.clone(), to: to.clone(), y_scale, inv_d, weights, product }
    }

    /// Target basis.
    pub fn to(&self) -> &Basis<W> {
        &self.to
    }

    /// Source basis.
    pub fn from(&self) -> &Basis<W> {
        &self.from
    }

    /// Brings the row of source prime `i`, coefficient domain, into the form that [`Self::source`] takes: y_i in place of
    /// x mod d_i.
    pub fn prepare(&self, i: usize, row: &mut [W]) {
        if self.from.len() > 1 {
            self.from.kernels().mul_scalar_assign(self.from.modulus(i), row, &self.y_scale[i]);
        }
    }

    /// A value given by one [prepared](Self::prepare) row per source prime, in order, for `Source::row_into`.
    pub fn source<'a>(&'a self, rows: Vec<&'a [W]>) -> Source<'a, W> {
        debug_assert_eq!(rows.len(), self.from.len());
        let mut v = Vec::new();
        if rows.len() > 1 {
            v.resize(self.from.n(), W::ZERO);
            self.from.kernels().crt_overflow(&mut v, &rows, &self.inv_d);
        }
        Source { converter: self, rows, v }
    }
}

/// A value ready to be converted, row by row.
pub struct Source<'a, W: Word> {
    converter: &'a BaseConverter<W>,
    rows: Vec<&'a [W]>,
    /// How many times the sum of y_i D/d_i contains D; empty for a single prime.
    v: Vec<W>,
}

impl<W: Word> Source<'_, W> {
    /// Writes the coefficient-domain row modulo target prime `target`.
    pub fn row_into(&self, target: usize, out: &mut [W]) {
        let c = self.converter;
        let kernels = c.from.kernels();
        if let [x] = self.rows.as_slice() {
            kernels.lift_centered(c.from.modulus(0), c.to.modulus(target), out, x);
        } else {
            kernels.crt_combine(
                c.to.modulus(target),
                out,
                &self.rows,
                &c.weights[target],
                &self.v,
                &c.product[target],
            );
        }
    }
}

/// Some rows of a basis, and the conversion of the value that they hold to all other rows.
pub struct Extension<W: Word> {
    own: Vec<usize>,
    /// For each row of the basis, its target index in `converter`; `None` for an own row.
    target: Vec<Option<usize>>,
    converter: BaseConverter<W>,
}

impl<W: Word> Extension<W> {
    /// `own` are positions in `basis`, at least one.
    pub fn new(basis: &Basis<W>, own: Vec<usize>) -> Self {
        let mut others = Vec::new();
        let target = (0..basis.len())
            .map(|row| {
                if own.contains(&row) {
                    return None;
                }
                others.push(row);
                Some(others.len() - 1)
            })
            .collect();
        let converter = BaseConverter::new(&basis.select(own.iter().copied()), &basis.select(others));
        Self { own, target, converter }
    }

    /// Positions of the own rows.
    pub fn own(&self) -> &[usize] {
        &self.own
    }

    /// Where the conversion finds a row of the basis; `None` for an own one.
    pub fn target(&self, row: usize) -> Option<usize> {
        self.target[row]
    }

    /// [`BaseConverter::prepare`] for the `i`-th own row.
    pub fn prepare(&self, i: usize, row: &mut [W]) {
        self.converter.prepare(i, row);
    }

    /// [`BaseConverter::source`]: one prepared row for each own prime, in order.
    pub fn source<'a>(&'a self, rows: Vec<&'a [W]>) -> Source<'a, W> {
        self.converter.source(rows)
    }
}
