//! Matrices as diagonals.

use alloc::{collections::BTreeMap, format, vec, vec::Vec};

use crate::{error::Error, schemes::ckks::Complex};

/// A square matrix with one row per slot, given by its non-zero diagonals: y_i = sum_k D_k\[i\] x_((i+k) mod slots).
#[derive(Clone)]
pub struct Diagonals {
    slots: usize,
    /// By k in \[0, slots).
    entries: BTreeMap<usize, Vec<Complex>>,
}

impl Diagonals {
    /// The zero matrix.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless `slots` is a power of two, 2^17 at most.
    pub fn new(slots: usize) -> Result<Self, Error> {
        if !slots.is_power_of_two() || slots > 1 << 17 {
            return Err(Error::InvalidArgument(format!(
                "a matrix of {slots} slots; the number of slots is a power of two up to 131072"
            )));
        }
        Ok(Self { slots, entries: BTreeMap::new() })
    }

    /// The matrix of `rows`, each with as many entries as there are rows.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::InvalidArgument`] for a row of another length.
    pub fn from_rows(rows: &[Vec<Complex>]) -> Result<Self, Error> {
        let mut out = Self::new(rows.len())?;
        let slots = out.slots;
        if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != slots) {
            return Err(Error::InvalidArgument(format!(
                "row {i} of {} entries in a matrix of {slots} rows; a matrix of slots is square",
                row.len()
            )));
        }
        for k in 0..slots {
            let diagonal: Vec<Complex> = (0..slots).map(|i| rows[i][(i + k) % slots]).collect();
            if diagonal.iter().any(|z| *z != Complex::ZERO) {
                out.entries.insert(k, diagonal);
            }
        }
        Ok(out)
    }

    /// Sets diagonal `k`, counted modulo the number of slots.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there is one entry per slot.
    pub fn insert(&mut self, k: i64, diagonal: Vec<Complex>) -> Result<(), Error> {
        if diagonal.len() != self.slots {
            return Err(Error::InvalidArgument(format!(
                "diagonal {k} of {} entries in a matrix of {} slots; give one entry per slot",
                diagonal.len(),
                self.slots
            )));
        }
        self.entries.insert(k.rem_euclid(self.slots as i64) as usize, diagonal);
        Ok(())
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The diagonals present, as centred shifts in (-slots/2, slots/2\], ascending.
    pub fn shifts(&self) -> Vec<i64> {
        let half = self.slots / 2;
        let mut out: Vec<i64> =
            self.entries.keys().map(|&k| k as i64 - if k > half { self.slots as i64 } else { 0 }).collect();
        out.sort_unstable();
        out
    }

    /// Entries after which every diagonal repeats: a power of two, the number of slots if none repeats.
    pub fn period(&self) -> usize {
        let repeats = |period: usize| {
            self.entries.values().all(|d| d[period..].iter().zip(d).all(|(later, first)| later == first))
        };
        let mut period = self.slots;
        while period > 1 && repeats(period / 2) {
            period /= 2;
        }
        period
    }

    /// Diagonal `k`, counted modulo the number of slots.
    pub fn get(&self, k: i64) -> Option<&[Complex]> {
        self.entries.get(&(k.rem_euclid(self.slots as i64) as usize)).map(Vec::as_slice)
    }

    /// The product with clear slots.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of slots.
    pub fn apply(&self, x: &[Complex]) -> Result<Vec<Complex>, Error> {
        if x.len() != self.slots {
            return Err(Error::InvalidArgument(format!(
                "{} values for a matrix of {} slots; give one for every slot",
                x.len(),
                self.slots
            )));
        }
        let mut out = vec![Complex::ZERO; self.slots];
        for (&k, diagonal) in &self.entries {
            for (i, (o, &d)) in out.iter_mut().zip(diagonal).enumerate() {
                *o += d * x[(i + k) % self.slots];
            }
        }
        Ok(out)
    }

    /// The matrix that applies `first`, then this one.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of slots.
    pub fn after(&self, first: &Self) -> Result<Self, Error> {
        if self.slots != first.slots {
            return Err(Error::InvalidArgument(format!(
                "matrices of {} and {} slots cannot follow each other; make them for the same number",
                self.slots, first.slots
            )));
        }
        let mut entries: BTreeMap<usize, Vec<Complex>> = BTreeMap::new();
        for (&k, outer) in &self.entries {
            for (&j, inner) in &first.entries {
                let sum =
                    entries.entry((k + j) % self.slots).or_insert_with(|| vec![Complex::ZERO; self.slots]);
                for (i, (s, &o)) in sum.iter_mut().zip(outer).enumerate() {
                    *s += o * inner[(i + k) % self.slots];
                }
            }
        }
        Ok(Self { slots: self.slots, entries })
    }

    /// The same map on slots that repeat: a matrix of `slots` slots, a multiple of those of this one, with the same diagonals repeated.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::InvalidArgument`] for fewer slots.
    pub fn repeated(&self, slots: usize) -> Result<Self, Error> {
        let mut out = Self::new(slots)?;
        if slots < self.slots {
            return Err(Error::InvalidArgument(format!(
                "a matrix of {} slots cannot act on {slots}; give it more slots",
                self.slots
            )));
        }
        for shift in self.shifts() {
            let diagonal = self.get(shift).unwrap_or_default();
            out.insert(shift, (0..slots).map(|i| diagonal[i % self.slots]).collect())?;
        }
        Ok(out)
    }

    /// Multiplies row i by `factors[i]`: the matrix followed by a slotwise product.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there is one factor per slot.
    pub fn scale_rows(&mut self, factors: &[Complex]) -> Result<(), Error> {
        self.check_factors(factors)?;
        for diagonal in self.entries.values_mut() {
            for (d, &f) in diagonal.iter_mut().zip(factors) {
                *d = f * *d;
            }
        }
        Ok(())
    }

    /// Multiplies column j by `factors[j]`: the matrix after a slotwise product.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there is one factor per slot.
    pub fn scale_columns(&mut self, factors: &[Complex]) -> Result<(), Error> {
        self.check_factors(factors)?;
        for (&k, diagonal) in &mut self.entries {
            for (i, d) in diagonal.iter_mut().enumerate() {
                *d = factors[(i + k) % self.slots] * *d;
            }
        }
        Ok(())
    }

    fn check_factors(&self, factors: &[Complex]) -> Result<(), Error> {
        if factors.len() == self.slots {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "{} factors for a matrix of {} slots; give one for every slot",
            factors.len(),
            self.slots
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(slots: usize, seed: u64) -> Diagonals {
        let mut x = seed;
        let mut next = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (x >> 40) as f64 / f64::from(1 << 24) - 0.5
        };
        let rows: Vec<Vec<Complex>> =
            (0..slots).map(|_| (0..slots).map(|_| Complex::new(next(), next())).collect()).collect();
        Diagonals::from_rows(&rows).unwrap()
    }

    #[test]
    fn products_compose() {
        let (a, b) = (sample(8, 1), sample(8, 2));
        let x = sample(8, 3).get(0).unwrap().to_vec();
        let one = a.apply(&b.apply(&x).unwrap()).unwrap();
        let both = a.after(&b).unwrap().apply(&x).unwrap();
        assert!(one.iter().zip(&both).all(|(&y, &z)| (y - z).abs() < 1e-14));
    }

    #[test]
    fn rows_columns_and_repetitions() {
        let a = sample(4, 5);
        let x = sample(8, 3).get(0).unwrap().to_vec();
        let factors = &x[..4];
        let (mut rows, mut columns) = (a.clone(), a.clone());
        rows.scale_rows(factors).unwrap();
        columns.scale_columns(factors).unwrap();
        let ones = [Complex::ONE; 4];
        let plain = a.apply(&ones).unwrap();
        for (i, z) in rows.apply(&ones).unwrap().into_iter().enumerate() {
            assert!((z - factors[i] * plain[i]).abs() < 1e-14);
        }
        let expected = a.apply(factors).unwrap();
        assert!(columns.apply(&ones).unwrap().iter().zip(&expected).all(|(&y, &z)| (y - z).abs() < 1e-14));
        let twice: Vec<Complex> = factors.iter().chain(factors).copied().collect();
        let repeated = a.repeated(8).unwrap().apply(&twice).unwrap();
        assert!(repeated.iter().zip(expected.iter().cycle()).all(|(&y, &z)| (y - z).abs() < 1e-14));
        assert_eq!(a.shifts(), [-1, 0, 1, 2]);
        assert_eq!(
            (a.period(), a.repeated(16).unwrap().period(), Diagonals::new(4).unwrap().period()),
            (4, 4, 1)
        );
        assert!(a.repeated(2).is_err() && Diagonals::new(6).is_err());
    }
}
