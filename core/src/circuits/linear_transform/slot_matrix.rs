//! Matrices of integer slots as diagonals.

use alloc::{collections::BTreeMap, format, vec, vec::Vec};

use super::babies_giants::Step;
use crate::{arith::PrimePower, error::Error};

/// A map of two rows of n slots of integers modulo P: sum_k D_k sigma_k(x), where sigma_k turns both rows to the left and swaps
/// them if the step is inverted, and D_k multiplies slot by slot.
///
/// Slot (s, j), row s < 2, is at s n + j.
#[derive(Debug, Clone, PartialEq)]
pub struct SlotMatrix {
    ring: PrimePower,
    columns: usize,
    /// Rotations in [0, n).
    entries: BTreeMap<Step, Vec<u64>>,
}

impl SlotMatrix {
    /// The zero matrix on two rows of `columns` slots.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless `columns` is a power of two up to 2^17.
    pub fn new(ring: PrimePower, columns: usize) -> Result<Self, Error> {
        if !columns.is_power_of_two() || columns > 1 << 17 {
            return Err(Error::InvalidArgument(format!(
                "a matrix of two rows of {columns} slots; their number is a power of two up to 2^17"
            )));
        }
        Ok(Self { ring, columns, entries: BTreeMap::new() })
    }

    /// Adds `diagonal`, one residue per slot, to the diagonal of a step.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of entries, or one that is not below P.
    pub fn add(&mut self, step: Step, diagonal: &[u64]) -> Result<(), Error> {
        let (ring, slots) = (self.ring, self.slots());
        if diagonal.len() != slots || diagonal.iter().any(|&d| d >= ring.value()) {
            return Err(Error::InvalidArgument(format!(
                "a diagonal of {} entries for {slots} slots of integers below {}; give one for each, reduced",
                diagonal.len(),
                ring.value()
            )));
        }
        let own = self.entries.entry(self.canonical(step)).or_insert_with(|| vec![0; slots]);
        for (own, &d) in own.iter_mut().zip(diagonal) {
            *own = ring.add(*own, d);
        }
        Ok(())
    }

    /// Z/P.
    pub fn ring(&self) -> PrimePower {
        self.ring
    }

    /// Number of slots in a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        2 * self.columns
    }

    /// The steps of its diagonals, with rotations in [0, n).
    pub fn steps(&self) -> Vec<Step> {
        self.entries.keys().copied().collect()
    }

    /// Entries of a row after which every diagonal repeats in both rows: a power of two, the number of columns if one does not
    /// repeat.
    pub fn period(&self) -> usize {
        let rows = || self.entries.values().flat_map(|diagonal| diagonal.chunks_exact(self.columns));
        let repeats =
            |period: usize| rows().all(|row| row[period..].iter().zip(row).all(|(x, first)| x == first));
        let mut period = self.columns;
        while period > 1 && repeats(period / 2) {
            period /= 2;
        }
        period
    }

    /// The diagonal of a step.
    pub fn get(&self, step: Step) -> Option<&[u64]> {
        self.entries.get(&self.canonical(step)).map(Vec::as_slice)
    }

    fn canonical(&self, step: Step) -> Step {
        Step { rotation: step.rotation.rem_euclid(self.columns as i64), ..step }
    }

    /// Where slot `i` of sigma(x) is in x.
    fn source(&self, step: Step, i: usize) -> usize {
        let (row, column) = (i / self.columns, i % self.columns);
        let turned = (column as i64 + step.rotation).rem_euclid(self.columns as i64) as usize;
        (row ^ usize::from(step.inverted)) * self.columns + turned
    }

    /// A vector with its entries moved as `step` moves slots.
    pub(super) fn moved(&self, step: Step, x: &[u64]) -> Vec<u64> {
        (0..x.len()).map(|i| x[self.source(step, i)]).collect()
    }

    /// The matrix applied to slots.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of slots.
    pub fn apply(&self, x: &[u64]) -> Result<Vec<u64>, Error> {
        if x.len() != self.slots() {
            return Err(Error::InvalidArgument(format!(
                "{} values for a matrix of {} slots; give one for each slot",
                x.len(),
                self.slots()
            )));
        }
        let mut out = vec![0; x.len()];
        for (&step, diagonal) in &self.entries {
            for (i, (out, &d)) in out.iter_mut().zip(diagonal).enumerate() {
                *out = self.ring.add(*out, self.ring.mul(d, x[self.source(step, i)]));
            }
        }
        Ok(out)
    }

    /// The product self · other, which applies `other` first.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for matrices of different slots.
    pub fn after(&self, other: &Self) -> Result<Self, Error> {
        if (self.ring, self.columns) != (other.ring, other.columns) {
            return Err(Error::InvalidArgument(format!(
                "a product of matrices of {} slots modulo {} and {} modulo {}; make both for the same slots",
                self.slots(),
                self.ring.value(),
                other.slots(),
                other.ring.value()
            )));
        }
        let mut out = Self::new(self.ring, self.columns)?;
        for (&step, diagonal) in &self.entries {
            for (&first, inner) in &other.entries {
                let mut product = self.moved(step, inner);
                for (p, &d) in product.iter_mut().zip(diagonal) {
                    *p = self.ring.mul(*p, d);
                }
                out.add(step.combine(first), &product)?;
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_compose() {
        let ring = PrimePower::new(257, 2).expect("a prime");
        let mut x = 7u64;
        let mut next = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ring.reduce(x >> 5)
        };
        let mut random = |steps: &[(i64, bool)]| {
            let mut out = SlotMatrix::new(ring, 8).expect("a power of two");
            for &(rotation, inverted) in steps {
                let diagonal: Vec<u64> = (0..16).map(|_| next()).collect();
                out.add(Step { rotation, inverted }, &diagonal).expect("reduced");
            }
            out
        };
        let a = random(&[(0, false), (3, true), (-1, false), (4, true)]);
        let b = random(&[(-4, true), (1, true), (0, false)]);
        let x = random(&[(0, false)]).get(Step::IDENTITY).expect("one").to_vec();
        let one_by_one = a.apply(&b.apply(&x).expect("16 slots")).expect("16 slots");
        assert_eq!(a.after(&b).expect("one size").apply(&x).expect("16 slots"), one_by_one);
        // Half a turn is the same either way.
        assert_eq!(b.get(Step { rotation: 4, inverted: true }), b.get(Step { rotation: -4, inverted: true }));
        assert!(a.after(&SlotMatrix::new(ring, 4).expect("a power of two")).is_err());
        assert!(SlotMatrix::new(ring, 6).is_err() && a.apply(&x[1..]).is_err());
        assert!(a.clone().add(Step::IDENTITY, &[0; 8]).is_err());
        assert!(a.clone().add(Step::IDENTITY, &[ring.value(); 16]).is_err());
    }
}
