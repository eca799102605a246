//! Matrices of slots of a ring of odd index, and those that take integers in slots to coefficients and back.
//!
//! The slots are a rectangle ([`Hypercube`]) of elements of a Galois ring. Those with integers x_(i,j) become coefficients of
//! f = sum x_(i,j) `X_1`^i `X_2`^(dj): its values are those of a matrix of powers of `zeta_2` along the second dimension and of one of `zeta_1`
//! along the first. Back, the other coefficients do not count: coefficient (i, dj) is 1/m times the sum over all units (k, l) of
//! (`zeta_1`^(-ik) - `zeta_1`^k)(`zeta_2`^(-djl) - `zeta_2`^l) f(zeta^(k,l)), that over units that are powers of p apart being a trace
//! (Halevi, Shoup, J. Cryptology 2021).

use alloc::{collections::BTreeMap, vec, vec::Vec};

use super::{
    babies_giants::{Step, StepGroup},
    ntt_stages::IntegerStageShape,
};
use crate::{
    arith::PrimePower,
    error::Error,
    ring::GaloisElement,
    schemes::bgv::slots::{GaloisRing, Hypercube},
};

/// A matrix along one dimension of slots, the same for all indices of the other, whose entries are elements of their Galois ring; then, if
/// it is *traced*, the trace of every slot, the sum of its images under all powers of the Frobenius automorphism.
pub struct HypercubeMatrix {
    cube: Hypercube,
    ring: PrimePower,
    dimension: usize,
    traced: bool,
    /// By shift, the entries (row, row + shift), d coordinates each; 0 where there is none.
    diagonals: BTreeMap<i64, Vec<u64>>,
}

impl HypercubeMatrix {
    /// The matrix whose entry in a row and a column `entry` gives, d coordinates.
    pub fn new(
        (cube, ring): (Hypercube, PrimePower),
        dimension: usize,
        traced: bool,
        entry: impl Fn(usize, usize) -> Vec<u64>,
    ) -> Self {
        let (length, d) = (cube.dimensions()[dimension], cube.slot_degree());
        let mut diagonals = BTreeMap::new();
        for row in 0..length {
            for column in 0..length {
                let shift = shift_of(cube, dimension, row, column);
                let own = diagonals.entry(shift).or_insert_with(|| vec![0; length * d]);
                own[row * d..][..d].copy_from_slice(&entry(row, column));
            }
        }
        Self { cube, ring, dimension, traced, diagonals }
    }

    /// The arrangement of the slots.
    pub fn cube(&self) -> Hypercube {
        self.cube
    }

    /// Z/P.
    pub fn ring(&self) -> PrimePower {
        self.ring
    }

    /// What the matrix takes.
    pub fn shape(&self) -> IntegerStageShape {
        shape_of(self.cube, self.dimension, self.traced)
    }

    /// The slots of the diagonal of a step, before the power of the Frobenius automorphism that belongs to it.
    pub(super) fn slots_of(&self, step: Step) -> Vec<u64> {
        let (_, shift) = divided(self.cube, self.dimension, step);
        let ([rows, columns], d) = (self.cube.dimensions(), self.cube.slot_degree());
        let own = self.diagonals.get(&shift).map_or(&[][..], Vec::as_slice);
        let mut out = vec![0; rows * columns * d];
        for (slot, out) in out.chunks_exact_mut(d).enumerate() {
            let place = if self.dimension == 0 { slot / columns } else { slot % columns };
            if let Some(entry) = own.get(place * d..(place + 1) * d) {
                out.copy_from_slice(entry);
            }
        }
        out
    }

    /// The power of the Frobenius automorphism of a step.
    pub(super) fn frobenius_of(&self, step: Step) -> GaloisElement {
        let (power, _) = divided(self.cube, self.dimension, step);
        self.cube.frobenius(power as usize)
    }
}

/// Rotations that a good dimension takes are all to the left; another one takes both.
fn shift_of(cube: Hypercube, dimension: usize, row: usize, column: usize) -> i64 {
    let (shift, length) = (column as i64 - row as i64, cube.dimensions()[dimension] as i64);
    if cube.is_good(dimension) { shift.rem_euclid(length) } else { shift }
}

/// Of shifts in a step that counts powers of the Frobenius automorphism above them.
fn width(cube: Hypercube, dimension: usize) -> i64 {
    4 * (cube.dimensions()[dimension] as i64 + 1).max(4).unsigned_abs().next_power_of_two() as i64
}

/// The power of the Frobenius automorphism and the shift of a step.
fn divided(cube: Hypercube, dimension: usize, step: Step) -> (i64, i64) {
    let width = width(cube, dimension);
    let power = (step.rotation + width / 2).div_euclid(width);
    (power, step.rotation - power * width)
}

fn shape_of(cube: Hypercube, dimension: usize, traced: bool) -> IntegerStageShape {
    let (length, width) = (cube.dimensions()[dimension] as i64, width(cube, dimension));
    let least = if cube.is_good(dimension) { 0 } else { 1 - length };
    let powers = if traced { cube.slot_degree() as i64 } else { 1 };
    let shifts = |power: i64| (least..length).map(move |shift| Step::rotation(power * width + shift));
    let [rows, columns] = cube.index().orders();
    IntegerStageShape {
        steps: (0..powers).flat_map(shifts).collect(),
        period: rows * columns / 2,
        group: StepGroup::Products { along: cube.rotation(dimension, 1), across: cube.frobenius(1), width },
    }
}

/// The shapes of both lists of matrices: [`hypercube_slots_to_coeffs_stages`] and [`hypercube_coeffs_to_slots_stages`].
pub fn hypercube_shapes(cube: Hypercube) -> [Vec<IntegerStageShape>; 2] {
    [
        vec![shape_of(cube, 1, false), shape_of(cube, 0, false)],
        vec![shape_of(cube, 0, false), shape_of(cube, 1, true)],
    ]
}

/// The matrices that take integers in slots to coefficients, in the order in which they are applied: that of slot (i, j) becomes the
/// coefficient of `X_1`^i `X_2`^(dj).
///
/// # Errors
/// As [`GaloisRing::new`] and [`GaloisRing::root_of_unity`].
pub fn hypercube_slots_to_coeffs_stages(
    cube: Hypercube,
    ring: PrimePower,
) -> Result<Vec<HypercubeMatrix>, Error> {
    let (galois, first) = roots(cube, ring)?;
    let ([of_rows, of_columns], d) = (cube.exponents(), cube.slot_degree() as u64);
    let along =
        |row: usize, column: usize| galois.power_of_zeta(d * column as u64 * of_columns[row]).to_vec();
    let across = |row: usize, column: usize| first[column * of_rows[row] as usize % first.len()].clone();
    let place = (cube, ring);
    Ok(vec![HypercubeMatrix::new(place, 1, false, along), HypercubeMatrix::new(place, 0, false, across)])
}

/// The matrices that take the coefficients of all `X_1`^i `X_2`^(dj) to slots (i, j), as integers, whatever the others are.
///
/// # Errors
/// As [`hypercube_slots_to_coeffs_stages`].
pub fn hypercube_coeffs_to_slots_stages(
    cube: Hypercube,
    ring: PrimePower,
) -> Result<Vec<HypercubeMatrix>, Error> {
    let (galois, first) = roots(cube, ring)?;
    let ([of_rows, of_columns], d) = (cube.exponents(), cube.slot_degree() as u64);
    // Units: p divides neither prime of the index.
    let over = cube.index().primes().map(|q| galois.integer(ring.inverse(ring.reduce(q)).unwrap_or(1)));
    let across = |row: usize, column: usize| {
        let (k, order) = (of_rows[column] as usize, first.len());
        galois.mul(&galois.sub(&first[(order - row) * k % order], &first[k % order]), &over[0])
    };
    let along = |row: usize, column: usize| {
        let (l, order) = (of_columns[column], cube.index().primes()[1]);
        let dual = galois.sub(galois.power_of_zeta((order - d * row as u64) * l), galois.power_of_zeta(l));
        galois.mul(&dual, &over[1])
    };
    let place = (cube, ring);
    Ok(vec![HypercubeMatrix::new(place, 0, false, across), HypercubeMatrix::new(place, 1, true, along)])
}

/// The Galois ring of slots, and in it the powers of a root of unity of the order of the first axis.
fn roots(cube: Hypercube, ring: PrimePower) -> Result<(GaloisRing, Vec<Vec<u64>>), Error> {
    let [first, second] = cube.index().primes();
    let galois = GaloisRing::new(ring, second)?;
    let root = galois.root_of_unity(first)?;
    let powers = core::iter::successors(Some(galois.integer(1)), |x| Some(galois.mul(x, &root)));
    let powers = powers.take(first as usize).collect();
    Ok((galois, powers))
}
