//! Integers in slots and polynomials.

use alloc::{format, vec, vec::Vec};

use zeroize::{Zeroize, Zeroizing};

use super::slots::{Hypercube, HypercubeSlots, SplitSlots};
use crate::{arith::PrimePower, error::Error, ring::Cyclotomic};

/// Slots to plaintext polynomials modulo P and back.
///
/// In Z\[X\]/(X^N + 1) a slot is an integer. In a ring of two axes, of degree N = n' d, there are n' slots. Each is an element of the
/// Galois ring Z/P\[Z\]/Phi_m' of degree d = m' - 1 (modulo p, the field of p^d elements), and is given by its d coordinates in the normal
/// basis Z, Z^2, .., Z^d, next to each other. The basis sums to -1, so the integer c has -c in every coordinate. The row of the
/// coefficients of Z^k holds coordinate k of all slots, as a polynomial in Y.
///
/// In a ring of odd index the slots are a [`Hypercube`], the second dimension running first. Each is an element of a Galois ring, given
/// by its coordinates in 1, zeta, .., zeta^(d-1): the integer c has coordinates c, 0, .., 0.
pub struct BgvEncoder {
    slots: Slots,
    degree: usize,
}

enum Slots {
    /// Values at the roots of the first axis.
    Axis(SplitSlots),
    Hypercube(HypercubeSlots),
}

impl BgvEncoder {
    /// Tables for plaintexts of a ring of polynomials, modulo P.
    ///
    /// # Errors
    /// As [`SplitSlots::new`] for the degree of the first axis, and [`Hypercube::new`].
    pub fn new(ring: PrimePower, polynomials: Cyclotomic) -> Result<Self, Error> {
        if polynomials.odd_index().is_some() {
            let slots = HypercubeSlots::new(ring, polynomials)?;
            return Ok(Self { degree: slots.cube().slot_degree(), slots: Slots::Hypercube(slots) });
        }
        let axis = SplitSlots::new(ring, polynomials.columns())?;
        Ok(Self { slots: Slots::Axis(axis), degree: polynomials.rows() })
    }

    /// Z/P.
    pub fn ring(&self) -> PrimePower {
        match &self.slots {
            Slots::Axis(axis) => axis.ring(),
            Slots::Hypercube(slots) => slots.galois().ring(),
        }
    }

    /// Number of slots: two rows of half as many, one after the other; in a ring of odd index, a rectangle.
    pub fn slots(&self) -> usize {
        match &self.slots {
            Slots::Axis(axis) => axis.len(),
            Slots::Hypercube(slots) => slots.len(),
        }
    }

    /// The arrangement of the slots of a ring of odd index.
    pub fn hypercube(&self) -> Option<Hypercube> {
        match &self.slots {
            Slots::Axis(_) => None,
            Slots::Hypercube(slots) => Some(slots.cube()),
        }
    }

    /// d: integers in a slot.
    pub fn slot_degree(&self) -> usize {
        self.degree
    }

    /// The N centred coefficients of the polynomial with these slots, given by [`Self::slot_degree`] coordinates each; missing ones are 0.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more integers than there are coordinates, or one that is not below P.
    pub fn encode(&self, values: &[u64]) -> Result<Vec<i64>, Error> {
        let (slots, degree) = (self.slots(), self.degree);
        self.check(values, slots * degree)?;
        let axis = match &self.slots {
            Slots::Axis(axis) => axis,
            Slots::Hypercube(cube) => {
                let mut all = Zeroizing::new(vec![0; slots * degree]);
                all[..values.len()].copy_from_slice(values);
                let coefficients = Zeroizing::new(cube.coefficients_of(&all));
                return Ok(coefficients.iter().map(|&c| self.ring().centered(c)).collect());
            }
        };
        // Allocated at full length: a vector that grows leaves copies of the message behind.
        let mut own = Zeroizing::new(vec![0; slots]);
        let mut out = vec![0; slots * degree];
        for (k, out) in out.chunks_exact_mut(slots).enumerate() {
            own.fill(0);
            own.iter_mut().zip(values.iter().skip(k).step_by(degree)).for_each(|(own, &x)| *own = x);
            let coefficients = Zeroizing::new(axis.coefficients_of(&own)?);
            out.iter_mut().zip(coefficients.iter()).for_each(|(out, &c)| *out = self.ring().centered(c));
        }
        Ok(out)
    }

    /// [`Self::encode`] of public slots of a ring of odd index that vary along one dimension only, and are given along it. For dimension 1
    /// the polynomial is one in `X_2`, and only its coefficients in `X_2` are returned.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another ring, another number of coordinates, or one that is not below P.
    pub(crate) fn encode_along(&self, dimension: usize, values: &[u64]) -> Result<Vec<i64>, Error> {
        let Slots::Hypercube(cube) = &self.slots else {
            return Err(Error::InvalidArgument(
                "slots along a dimension of a ring whose slots are not a rectangle; take a ring of odd index"
                    .into(),
            ));
        };
        let length = cube.cube().dimensions()[dimension] * self.degree;
        if values.len() != length {
            return Err(Error::InvalidArgument(format!(
                "{} values along a dimension of {length}; give {length}",
                values.len()
            )));
        }
        self.check(values, length)?;
        let coefficients = cube.coefficients_along(dimension, values);
        Ok(coefficients.into_iter().map(|c| self.ring().centered(c)).collect())
    }

    /// [`Self::encode`] of slots that hold an integer each.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more slots than there are, or a value that is not below P.
    pub fn encode_integers(&self, values: &[u64]) -> Result<Vec<i64>, Error> {
        if self.degree == 1 {
            return self.encode(values);
        }
        self.check(values, self.slots())?;
        let Slots::Axis(axis) = &self.slots else {
            return self.encode(&Zeroizing::new(self.coordinates_of(values)));
        };
        let mut own = Zeroizing::new(vec![0; self.slots()]);
        own.iter_mut().zip(values).for_each(|(own, &x)| *own = self.ring().neg(x));
        let coefficients = Zeroizing::new(axis.coefficients_of(&own)?);
        let all = coefficients.iter().cycle().take(self.slots() * self.degree);
        Ok(all.map(|&c| self.ring().centered(c)).collect())
    }

    /// Integers in the form that [`Self::encode`] takes: the coordinates of a slot for each.
    pub fn coordinates_of(&self, integers: &[u64]) -> Vec<u64> {
        if self.degree == 1 {
            return integers.to_vec();
        }
        let ring = self.ring();
        if let Slots::Hypercube(cube) = &self.slots {
            return integers.iter().flat_map(|&c| cube.galois().integer(ring.reduce(c))).collect();
        }
        integers.iter().flat_map(|&c| core::iter::repeat_n(ring.neg(ring.reduce(c)), self.degree)).collect()
    }

    /// The products of slots, in the clear and in the form that [`Self::encode`] takes, to compare products of ciphertexts with.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more slots than there are, a value that is not below P, and operands of different lengths or that end
    /// within a slot.
    pub fn multiply(&self, x: &[u64], y: &[u64]) -> Result<Vec<u64>, Error> {
        let (ring, d) = (self.ring(), self.degree);
        self.check(x, self.slots() * d)?;
        self.check(y, self.slots() * d)?;
        if x.len() != y.len() || !x.len().is_multiple_of(d) {
            return Err(Error::InvalidArgument(format!(
                "a product of {} and {} values, with {d} to a slot; give whole slots, as many of each",
                x.len(),
                y.len()
            )));
        }
        if d == 1 {
            return Ok(x.iter().zip(y).map(|(&x, &y)| ring.mul(x, y)).collect());
        }
        if let Slots::Hypercube(cube) = &self.slots {
            let slots = x.chunks_exact(d).zip(y.chunks_exact(d));
            return Ok(slots.flat_map(|(x, y)| cube.galois().mul(x, y)).collect());
        }
        let mut out = vec![0; x.len()];
        // By powers of Z: Z^0 is minus the sum of the others.
        let mut powers = vec![0; d + 1];
        for ((x, y), out) in x.chunks_exact(d).zip(y.chunks_exact(d)).zip(out.chunks_exact_mut(d)) {
            powers.fill(0);
            for (i, &x) in x.iter().enumerate() {
                for (j, &y) in y.iter().enumerate() {
                    let at = (i + j + 2) % (d + 1);
                    powers[at] = ring.add(powers[at], ring.mul(x, y));
                }
            }
            out.iter_mut().zip(&powers[1..]).for_each(|(out, &c)| *out = ring.sub(c, powers[0]));
        }
        Ok(out)
    }

    /// The slots of the polynomial with these N coefficients below P, which are wiped.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of coefficients.
    pub fn decode(&self, coefficients: Vec<u64>) -> Result<Vec<u64>, Error> {
        if let (Slots::Axis(axis), 1) = (&self.slots, self.degree) {
            return axis.slots_of(coefficients);
        }
        let coefficients = Zeroizing::new(coefficients);
        let (slots, degree) = (self.slots(), self.degree);
        if coefficients.len() != slots * degree {
            return Err(Error::InvalidArgument(format!(
                "{} coefficients in a ring of degree {}; give as many as its degree",
                coefficients.len(),
                slots * degree
            )));
        }
        let axis = match &self.slots {
            Slots::Axis(axis) => axis,
            Slots::Hypercube(cube) => return Ok(cube.slots_of(coefficients.to_vec())),
        };
        let mut out = vec![0; slots * degree];
        for (k, row) in coefficients.chunks_exact(slots).enumerate() {
            let mut own = axis.slots_of(row.to_vec())?;
            out.iter_mut().skip(k).step_by(degree).zip(&own).for_each(|(out, &x)| *out = x);
            own.zeroize();
        }
        Ok(out)
    }

    fn check(&self, values: &[u64], most: usize) -> Result<(), Error> {
        if values.len() > most {
            let (found, slots, each) = (values.len(), self.slots(), most / self.slots());
            return Err(Error::InvalidArgument(if each == 1 {
                format!("{found} integers for {slots} slots; split them, or choose a set with more")
            } else {
                format!("{found} integers for {slots} slots of {each}; split them, or choose a set with more")
            }));
        }
        let ring = self.ring();
        if let Some(i) = values.iter().position(|&x| x >= ring.value()) {
            return Err(Error::InvalidArgument(format!(
                "value {i} is {}, slots hold integers below {}; reduce it",
                values[i],
                ring.value()
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_along_a_dimension_are_encoded_as_all_of_them() {
        // Slots that rotate by one automorphism, slots that do not, and the square of a prime.
        for (index, p, k) in [(215, 8191, 1), (205, 8191, 1), (129, 257, 2)] {
            let polynomials = Cyclotomic::of_odd_index(index).expect("odd primes");
            let ring = PrimePower::new(p, k).expect("a prime");
            let encoder = BgvEncoder::new(ring, polynomials).expect("a prime that fits");
            let (cube, d) = (encoder.hypercube().expect("a rectangle"), encoder.slot_degree());
            let [rows, columns] = cube.dimensions();
            for (dimension, length) in [rows, columns].into_iter().enumerate() {
                let own: Vec<u64> = (1..).map(|i| ring.reduce(i * i * 1_000_003)).take(length * d).collect();
                let place = |slot: usize| if dimension == 0 { slot / columns } else { slot % columns };
                let all: Vec<u64> =
                    (0..rows * columns).flat_map(|slot| &own[place(slot) * d..][..d]).copied().collect();
                let mut found = encoder.encode_along(dimension, &own).expect("a dimension");
                assert_eq!(
                    found.len(),
                    if dimension == 0 { rows * columns * d } else { polynomials.columns() }
                );
                found.resize(rows * columns * d, 0);
                assert_eq!(encoder.encode(&all), Ok(found), "{index}, dimension {dimension}");
                assert!(encoder.encode_along(dimension, &own[1..]).is_err());
            }
        }
        let plain = BgvEncoder::new(
            PrimePower::new(257, 1).expect("a prime"),
            Cyclotomic::new(8, 1).expect("a ring"),
        );
        assert!(plain.expect("a prime that splits").encode_along(0, &[1]).is_err());
    }
}
