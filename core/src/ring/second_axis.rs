//! The transform along the second axis of a ring: values at all Z with Z^m' = 1 but Z = 1.

use alloc::vec::Vec;

use super::{cyclotomic::Cyclotomic, scratch::Scratch};
use crate::{
    arith::{Kernels, Modulus, Shoup, Word, primes::primitive_root},
    error::Error,
};

/// Words that are transformed together, in all rows, while they are in the nearest cache.
const BLOCK: usize = 2048;

/// The matrices from coefficients of Z, .., Z^(m'-1) to values at omega, .., omega^(m'-1) and back, omega a root of unity of
/// order m' modulo a prime.
///
/// {Z^k} is a normal basis, whose dual for the trace is (Z^-k - 1)/m'.
pub struct SecondAxis<W> {
    /// `[value][coefficient]`: omega^(jk).
    forward: Vec<Shoup<W>>,
    /// `[coefficient][value]`: (omega^(-jk) - 1)/m'.
    inverse: Vec<Shoup<W>>,
    rows: usize,
}

impl<W: Word> SecondAxis<W> {
    /// Matrices modulo a prime; none for a ring of one axis.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless the prime is 1 modulo m'.
    pub(super) fn new(ring: Cyclotomic, m: &Modulus<W>) -> Result<Option<Self>, Error> {
        let (odd, rows) = (ring.odd_part(), ring.rows());
        if odd == 1 {
            return Ok(None);
        }
        let omega = primitive_root(m, odd)?;
        // The prime is 1 modulo m', and so not m' itself.
        let scale = m.inv(m.reduce_u64(odd)).unwrap_or(W::ONE);
        let power = |e: u64| m.pow(omega, e % odd);
        let entry = |f: &dyn Fn(u64, u64) -> W| {
            (0..rows * rows).map(|i| m.shoup(f((i / rows) as u64 + 1, (i % rows) as u64 + 1))).collect()
        };
        Ok(Some(Self {
            forward: entry(&|j, k| power(j * k)),
            inverse: entry(&|k, j| m.mul(m.sub(power((odd - 1) * j * k), W::ONE), scale)),
            rows,
        }))
    }

    /// Rows of coefficients to rows of values.
    pub(super) fn forward(
        &self,
        kernels: &dyn Kernels<W>,
        m: &Modulus<W>,
        x: &mut [W],
        scratch: &mut Scratch<W>,
    ) {
        self.apply(kernels, m, &self.forward, x, scratch);
    }

    /// Rows of values to rows of coefficients.
    pub(super) fn inverse(
        &self,
        kernels: &dyn Kernels<W>,
        m: &Modulus<W>,
        x: &mut [W],
        scratch: &mut Scratch<W>,
    ) {
        self.apply(kernels, m, &self.inverse, x, scratch);
    }

    fn apply(
        &self,
        kernels: &dyn Kernels<W>,
        m: &Modulus<W>,
        matrix: &[Shoup<W>],
        x: &mut [W],
        scratch: &mut Scratch<W>,
    ) {
        let (rows, columns) = (self.rows, x.len() / self.rows);
        let block = (BLOCK / rows).min(columns);
        for start in (0..columns).step_by(block) {
            let width = block.min(columns - start);
            let own = |row: usize| row * columns + start..row * columns + start + width;
            let memory = scratch.words(rows * width);
            for (row, copy) in memory.chunks_exact_mut(width).enumerate() {
                copy.copy_from_slice(&x[own(row)]);
            }
            let terms: Vec<&[W]> = memory.chunks_exact(width).collect();
            for (row, factors) in matrix.chunks_exact(rows).enumerate() {
                let out = &mut x[own(row)];
                out.fill(W::ZERO);
                kernels.add_multiples(m, out, &terms, factors);
            }
        }
    }
}
