//! Matrices that act on the slots of a ring of odd index, and those that take integers in slots to coefficients and back.
//!
//! The slots are a rectangle ([`Hypercube`]) of elements of a Galois ring. Integers x_(i,j) in the slots become coefficients of f = sum
//! x_(i,j) `X_1`^i `X_2`^(dj): its values come from a matrix of powers of `zeta_2` along the second dimension and one of powers of `zeta_1`
//! along the first. On the way back the other coefficients do not count: coefficient (i, dj) is 1/m times the sum over all units (k, l) of
//! (`zeta_1`^(-ik) - `zeta_1`^k)(`zeta_2`^(-djl) - `zeta_2`^l) f(zeta^(k,l)), and the sum over units that differ by powers of p is a trace
//! (Halevi, Shoup, J. Cryptology 2021). If `m_1` = p q, the first factor is a product of two such differences, one for each prime.
//!
//! For all N coefficients at once, the coefficient of `X_1`^i `X_2`^(dj+k) is coordinate k of slot (i, j), and the matrices of the second
//! dimension are sums of matrices that are applied after powers of the Frobenius automorphism. On the way to coefficients the coordinates
//! are in the basis `X_2`^k, k < d, of the slot: powers of another root of unity in every column. On the way back they are in the dual of
//! that basis for the trace. So the ciphertexts of the coordinates are packed by monomials, and unpacked by traces of products with
//! monomials.

use alloc::{collections::BTreeMap, format, vec, vec::Vec};

use super::{
    babies_giants::{Step, StepGroup},
    ntt_stages::IntegerStageShape,
};
use crate::{
    arith::PrimePower,
    error::Error,
    schemes::bgv::slots::{GaloisRing, Hypercube},
};

/// A sum of matrices along one dimension of slots, the same for all indices of the other, with entries in the Galois ring of the slots.
/// There is one matrix for each power of the Frobenius automorphism, which is applied to the slots first, or only one for the power 0.
pub struct HypercubeMatrix {
    cube: Hypercube,
    ring: PrimePower,
    dimension: usize,
    powers: usize,
    /// By power and shift, the entries (row, row + shift), d coordinates each; 0 where there is none.
    diagonals: BTreeMap<(i64, i64), Vec<u64>>,
}

impl HypercubeMatrix {
    /// The matrices for the powers below `powers`; `entry` gives the d coordinates of an entry by power, row and column.
    pub fn new(
        (cube, ring): (Hypercube, PrimePower),
        dimension: usize,
        powers: usize,
        entry: impl Fn(usize, usize, usize) -> Vec<u64>,
    ) -> Self {
        let (length, d) = (cube.dimensions()[dimension], cube.slot_degree());
        let mut diagonals = BTreeMap::new();
        let places = (0..powers).flat_map(|power| (0..length * length).map(move |place| (power, place)));
        for (power, place) in places {
            let (row, column) = (place / length, place % length);
            let own = diagonals
                .entry(place_of(cube, dimension, power as i64, [row, column]))
                .or_insert_with(|| vec![0; length * d]);
            own[row * d..][..d].copy_from_slice(&entry(power, row, column));
        }
        Self { cube, ring, dimension, powers, diagonals }
    }

    /// The arrangement of the slots.
    pub fn cube(&self) -> Hypercube {
        self.cube
    }

    /// Z/P.
    pub fn ring(&self) -> PrimePower {
        self.ring
    }

    /// The steps that the matrix takes, and the form of its diagonals.
    pub fn shape(&self) -> IntegerStageShape {
        shape_of(self.cube, self.dimension, self.powers)
    }

    /// The dimension along which the matrix acts.
    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// The diagonal of a step: its slots along the dimension, the same for all indices of the other.
    pub(super) fn entries_of(&self, step: Step) -> Vec<u64> {
        let place = divided(self.cube, self.dimension, step);
        let length = self.cube.dimensions()[self.dimension] * self.cube.slot_degree();
        self.diagonals.get(&place).cloned().unwrap_or_else(|| vec![0; length])
    }
}

/// The place of the entry of a row and a column: the power of the Frobenius automorphism, and the shift. In a good dimension all rotations
/// are to the left; in others they go both ways. A dimension that is a rectangle itself has no such powers, and shifts of its rows take
/// their place.
fn place_of(cube: Hypercube, dimension: usize, power: i64, [row, column]: [usize; 2]) -> (i64, i64) {
    let difference = |row: usize, column: usize| column as i64 - row as i64;
    let [height, width] = cube.index().grid();
    if dimension == 0 && height > 1 {
        let down = difference(row / width, column / width).rem_euclid(height as i64);
        return (down, difference(row % width, column % width).rem_euclid(width as i64));
    }
    let (shift, length) = (difference(row, column), cube.dimensions()[dimension] as i64);
    (power, if cube.is_good(dimension) { shift.rem_euclid(length) } else { shift })
}

/// Width of the shifts in a step, which counts powers of the Frobenius automorphism in multiples of it.
fn width(cube: Hypercube, dimension: usize) -> i64 {
    4 * (cube.dimensions()[dimension] as i64 + 1).max(4).unsigned_abs().next_power_of_two() as i64
}

/// The power and the shift of a step.
fn divided(cube: Hypercube, dimension: usize, step: Step) -> (i64, i64) {
    let width = width(cube, dimension);
    let power = (step.rotation + width / 2).div_euclid(width);
    (power, step.rotation - power * width)
}

fn shape_of(cube: Hypercube, dimension: usize, powers: usize) -> IntegerStageShape {
    let (mut length, mut powers, width) =
        (cube.dimensions()[dimension] as i64, powers, width(cube, dimension));
    let mut across = cube.frobenius(1);
    let [height, along] = cube.index().grid();
    if dimension == 0 && height > 1 {
        (length, powers, across) = (along as i64, height, cube.rotation(0, along as i64));
    }
    let least = if cube.is_good(dimension) { 0 } else { 1 - length };
    let shifts = |power: i64| (least..length).map(move |shift| Step::rotation(power * width + shift));
    let [rows, columns] = cube.index().orders();
    // A diagonal of the second dimension is a polynomial in X_2. One of the first is fixed by the rotation of the second dimension, if it
    // has one.
    let repeated = match dimension {
        0 if cube.is_good(1) => [rows, cube.slot_degree()],
        0 => [rows, columns],
        _ => [1, columns],
    };
    let coefficients = if dimension == 0 { rows * columns } else { columns };
    IntegerStageShape {
        steps: (0..powers as i64).flat_map(shifts).collect(),
        period: coefficients / 2,
        repeated: Some(repeated),
        group: StepGroup::Products { along: cube.rotation(dimension, 1), across, width },
    }
}

/// The shapes of both lists of matrices: [`hypercube_slots_to_coeffs_stages`] and [`hypercube_coeffs_to_slots_stages`].
pub fn hypercube_shapes(cube: Hypercube, general: bool) -> [Vec<IntegerStageShape>; 2] {
    let d = cube.slot_degree();
    let there = vec![shape_of(cube, 1, if general { d } else { 1 }), shape_of(cube, 0, 1)];
    [there, vec![shape_of(cube, 0, 1), shape_of(cube, 1, d)]]
}

/// The matrices that take slots to coefficients, in the order in which they are applied. The integer of slot (i, j) becomes the coefficient
/// of `X_1`^i `X_2`^(dj). In the general case coordinate k of the slot, in the basis `X_2`^k, k < d, becomes the coefficient of `X_1`^i
/// `X_2`^(dj+k).
///
/// # Errors
/// As [`GaloisRing::new`] and [`GaloisRing::root_of_unity`].
pub fn hypercube_slots_to_coeffs_stages(
    cube: Hypercube,
    ring: PrimePower,
    general: bool,
) -> Result<Vec<HypercubeMatrix>, Error> {
    let Roots { galois, first } = &Roots::new(cube, ring)?;
    let ([of_rows, of_columns], d, axis) = (cube.exponents(), cube.slot_degree(), cube.index().first_axis());
    let across = |_: usize, row: usize, column: usize| {
        first[(axis.rows[column] * of_rows[row]) as usize % first.len()].clone()
    };
    let place = (cube, ring);
    let at = |row: usize, power: usize| galois.power_of_zeta(power as u64 * of_columns[row]);
    let along =
        if general {
            let duals = duals(cube, galois)?;
            HypercubeMatrix::new(place, 1, d, |power, row, column| {
                galois.sum((0..d).map(|k| {
                    galois.mul(&galois.frobenius(&duals[column][k], power), at(row, d * column + k))
                }))
            })
        } else {
            HypercubeMatrix::new(place, 1, 1, |_, row, column| at(row, d * column).to_vec())
        };
    Ok(vec![along, HypercubeMatrix::new(place, 0, 1, across)])
}

/// The matrices that take coefficients to slots: the coefficient of `X_1`^i `X_2`^(dj) becomes the integer of slot (i, j), whatever the
/// other coefficients are. In the general case the coefficient of `X_1`^i `X_2`^(dj+k) becomes a coordinate of that slot, the trace of the
/// slot's product with `X_2`^k.
///
/// # Errors
/// As [`hypercube_slots_to_coeffs_stages`].
pub fn hypercube_coeffs_to_slots_stages(
    cube: Hypercube,
    ring: PrimePower,
    general: bool,
) -> Result<Vec<HypercubeMatrix>, Error> {
    let Roots { galois, first } = &Roots::new(cube, ring)?;
    let ([of_rows, of_columns], d, axis) = (cube.exponents(), cube.slot_degree(), cube.index().first_axis());
    // Units: p divides neither prime of the index.
    let over = cube.index().parts().map(|q| galois.integer(ring.inverse(ring.reduce(q)).unwrap_or(1)));
    let across = |_: usize, row: usize, column: usize| {
        galois.mul(&galois.dual_of_row(first, &axis, row, of_rows[column]), &over[0])
    };
    // The trace of this times the value in a column is what the value adds to a coefficient of X_2.
    let part = |coefficient: usize, column: usize| {
        let (l, order) = (of_columns[column], cube.index().parts()[1]);
        let powers = [(order - coefficient as u64) * l, l].map(|e| galois.power_of_zeta(e));
        galois.mul(&galois.sub(powers[0], powers[1]), &over[1])
    };
    let place = (cube, ring);
    let along =
        if general {
            let duals = duals(cube, galois)?;
            HypercubeMatrix::new(place, 1, d, |power, row, column| {
                galois.sum((0..d).map(|k| {
                    galois.mul(&duals[row][k], &galois.frobenius(&part(d * row + k, column), power))
                }))
            })
        } else {
            HypercubeMatrix::new(place, 1, d, |power, row, column| {
                galois.frobenius(&part(d * row, column), power)
            })
        };
    Ok(vec![HypercubeMatrix::new(place, 0, 1, across), along])
}

/// The Galois ring of slots, and in it the powers of a root of unity of the order of the first axis.
struct Roots {
    galois: GaloisRing,
    first: Vec<Vec<u64>>,
}

impl Roots {
    fn new(cube: Hypercube, ring: PrimePower) -> Result<Self, Error> {
        let [first, second] = cube.index().parts();
        let galois = GaloisRing::new(ring, second)?;
        let root = galois.root_of_unity(first)?;
        let powers = core::iter::successors(Some(galois.integer(1)), |x| Some(galois.mul(x, &root)));
        let first = powers.take(first as usize).collect();
        Ok(Self { galois, first })
    }
}

/// For each column, the basis dual for the trace to the values of `X_2`^k, k < d.
fn duals(cube: Hypercube, galois: &GaloisRing) -> Result<Vec<Vec<Vec<u64>>>, Error> {
    let (d, traces) = (cube.slot_degree() as u64, galois.traces());
    let [_, of_columns] = cube.exponents();
    let dual = |&l: &u64| {
        let trace = |i: u64, j: u64| traces[((i + j) * l % traces.len() as u64) as usize];
        let gram = (0..d).map(|i| (0..d).map(|j| trace(i, j)).collect()).collect();
        let combination = |row: &Vec<u64>| {
            galois.sum(
                (0..)
                    .zip(row)
                    .map(|(j, &c): (u64, _)| galois.mul(galois.power_of_zeta(j * l), &galois.integer(c))),
            )
        };
        Ok(inverse_matrix(galois.ring(), gram)?.iter().map(combination).collect())
    };
    of_columns.iter().map(dual).collect()
}

/// The inverse of a square matrix modulo a power of p.
fn inverse_matrix(ring: PrimePower, mut matrix: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>, Error> {
    let size = matrix.len();
    for (i, row) in matrix.iter_mut().enumerate() {
        row.extend((0..size).map(|j| u64::from(i == j)));
    }
    for column in 0..size {
        let pivot = (column..size).find(|&row| ring.is_unit(matrix[row][column]));
        let found = pivot.and_then(|row| Some((row, ring.inverse(matrix[row][column])?)));
        let Some((row, inverse)) = found else {
            return Err(Error::InvalidArgument(format!(
                "a basis of {size} elements of a slot has no dual modulo {}; give elements that are independent modulo the prime",
                ring.value()
            )));
        };
        matrix.swap(row, column);
        matrix[column].iter_mut().for_each(|x| *x = ring.mul(*x, inverse));
        let own = matrix[column].clone();
        for (i, row) in matrix.iter_mut().enumerate() {
            let factor = row[column];
            if i != column && factor != 0 {
                row.iter_mut().zip(&own).for_each(|(x, &y)| *x = ring.sub(*x, ring.mul(factor, y)));
            }
        }
    }
    Ok(matrix.into_iter().map(|mut row| row.split_off(size)).collect())
}
