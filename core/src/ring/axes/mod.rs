//! The transform of rings of odd index: values at all primitive m-th roots of unity, axis by axis.
//!
//! The ring is a tensor product of rings Z\[`X_i`\]/`Phi_p` of primes p, and both orders of [`OddIndex`], that of the coefficients and that
//! of the values, are products of orders of the axes (Good, 1958). So transforming along one axis after the other gives the values. All
//! axes but the last are short and are done by products with matrices; the last is done by a convolution.

mod across;
mod along;
mod convolution;

use alloc::{sync::Arc, vec::Vec};

use self::{across::Across, along::Along};
use super::{odd_index::OddIndex, scratch::Scratch};
use crate::{
    arith::{Kernels, Modulus, Word, primes::primitive_root},
    error::Error,
};

pub(super) use self::along::{Order, convolution};

/// The transform modulo one prime.
pub(super) struct Axes<W> {
    /// From the last axis but one to the first, each with the distance in words of its coefficients: the size of all axes after it.
    across: Vec<(Across<W>, usize)>,
    along: Along<W>,
    /// Held by value: a crate built without these rings has no such value, and so no transform and none of its code.
    index: OddIndex,
}

impl<W: Word> Axes<W> {
    /// `order` is that of the last axis, for all primes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless the prime is 1 modulo the index and twice the length of a convolution.
    pub(super) fn new(index: OddIndex, order: &Arc<Order>, modulus: Modulus<W>) -> Result<Self, Error> {
        let zeta = primitive_root(&modulus, index.index())?;
        // The value of X_i where X is zeta.
        let root = |p: u64| modulus.pow(zeta, index.index() / p);
        let along = Along::new(order, root(index.last_axis().0), modulus)?;
        let mut columns = along.len();
        let mut across: Vec<(Across<W>, usize)> = Vec::new();
        for (prime, generator) in index.short_axes().rev() {
            across.push((Across::new(prime, generator, root(prime), modulus), columns));
            columns *= prime as usize - 1;
        }
        Ok(Self { across, along, index })
    }

    fn degree(&self) -> usize {
        self.index.orders().into_iter().product()
    }

    /// Coefficients to values, in place; the words after them stay.
    pub(super) fn forward(&self, kernels: &dyn Kernels<W>, row: &mut [W], scratch: &mut Scratch<W>) {
        let all = &mut row[..self.degree()];
        for row in all.chunks_exact_mut(self.along.len()) {
            self.along.forward(kernels, row, scratch);
        }
        for (axis, columns) in &self.across {
            for block in all.chunks_exact_mut(axis.rows() * columns) {
                axis.forward(kernels, block, *columns, scratch);
            }
        }
    }

    /// Values to coefficients, in place; the words after them stay.
    pub(super) fn inverse(&self, kernels: &dyn Kernels<W>, row: &mut [W], scratch: &mut Scratch<W>) {
        let all = &mut row[..self.degree()];
        for (axis, columns) in self.across.iter().rev() {
            for block in all.chunks_exact_mut(axis.rows() * columns) {
                axis.inverse(kernels, block, *columns, scratch);
            }
        }
        for row in all.chunks_exact_mut(self.along.len()) {
            self.along.inverse(kernels, row, scratch);
        }
    }
}

#[cfg(all(test, feature = "odd-index"))]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::{
        arith::{all_backends, primes::ntt_primes},
        random::Seed,
        ring::Cyclotomic,
    };

    /// Values at all powers of zeta in their order, from their definition.
    fn values<W: Word>(index: OddIndex, m: &Modulus<W>, coefficients: &[W]) -> Vec<W> {
        let zeta = primitive_root(m, index.index()).expect("a root");
        let [rows, columns] = index.orders();
        let exponents: Vec<usize> =
            (0..rows).flat_map(|i| (0..columns).map(move |j| index.exponent([i, j]))).collect();
        let at = |unit: u64| {
            let terms = coefficients.iter().zip(&exponents);
            terms.fold(W::ZERO, |sum, (&c, &e)| {
                m.add(sum, m.mul(c, m.pow(zeta, e as u64 * unit % index.index())))
            })
        };
        index.units().into_iter().map(at).collect()
    }

    fn transforms_are_values_on_every_backend<W: Word>(bits: f64) {
        let mut stream = Seed::from_bytes([7; 32]).stream();
        // Convolutions by one transform and by two, with and without words beyond them, and more columns than a block.
        for m in [15, 21, 35, 51, 129, 215, 301, 939, 1191, 1285, 1517, 105, 255, 1001] {
            let ring = Cyclotomic::of_odd_index(m).expect("odd primes");
            let index = ring.odd_index().expect("odd primes");
            let prime = ntt_primes(bits, ring.divisor_of_primes())
                .find(|p| p >> (W::BITS - 3) == 0)
                .expect("a prime");
            let modulus = Modulus::<W>::new(prime).expect("a modulus");
            let transform = Axes::new(index, &Order::new(index), modulus).expect("a ring");
            let mut x = vec![W::ZERO; ring.width()];
            W::fill_uniform(&mut stream, prime, &mut x[..ring.degree()]);
            // Corners: the largest residue everywhere, and one coefficient alone.
            let largest = vec![modulus.neg(W::ONE); ring.degree()];
            let mut one = vec![W::ZERO; ring.degree()];
            one[ring.degree() - 1] = W::ONE;
            for x in [&x[..ring.degree()], &largest, &one] {
                let expected = values(index, &modulus, x);
                for kernels in all_backends::<W>() {
                    // Memory of another use, and rows with something behind them, which stays.
                    let mut scratch = Scratch::default();
                    scratch.words(4096).fill(W::ONE);
                    let mut row = x.to_vec();
                    row.push(W::ONE);
                    transform.forward(kernels, &mut row, &mut scratch);
                    assert_eq!(
                        (&row[..x.len()], row[x.len()]),
                        (&*expected, W::ONE),
                        "{m}, {}",
                        kernels.name()
                    );
                    transform.inverse(kernels, &mut row, &mut scratch);
                    assert_eq!((&row[..x.len()], row[x.len()]), (x, W::ONE), "{m}, {}", kernels.name());
                }
            }
        }
    }

    #[test]
    fn transforms_are_values() {
        transforms_are_values_on_every_backend::<u32>(28.5);
        transforms_are_values_on_every_backend::<u64>(49.5);
        transforms_are_values_on_every_backend::<u64>(60.5);
    }
}
