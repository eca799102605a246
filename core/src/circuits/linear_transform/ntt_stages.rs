//! The transform between slots and coefficients modulo p^k as products of sparse matrices.
//!
//! For p that is 1 modulo 2N, a polynomial of degree N = 2n has two rows of n slots, its values at zeta^(5^j) and zeta^(-5^j). With i =
//! zeta^n and coefficients a_k, slot j of the first row is the transform of a_k + i a_(k+n), and slot j of the second that of a_k - i
//! a_(k+n) by the inverse roots. So slots x_(s, j) become coefficients by
//!
//! - *combine*: u_j = x_(0, j) + i x_(1, j) in the first row, v_j = x_(0, j) - i x_(1, j) in the second;
//! - layers m = 2, 4, .., n on blocks of m slots: (u, v) -> (u + w_j v, u - w_j v) at positions (j, j + m/2), j < m/2, with
//!   w_j = omega^(5^j), omega of order 4m, and 1/w_j in the second row.
//!
//! Then coefficient brev(j) + s n is x_(s, j), as in [`super::slots_to_coeffs_stages`]; the inverse goes back.

use alloc::{vec, vec::Vec};

use super::{
    babies_giants::{BabyGiantSteps, Step, StepGroup},
    encoded::DiagonalForm,
    slot_matrix::SlotMatrix,
    stages::{self, COMBINE},
};
use crate::{arith::PrimePower, error::Error, ring::Cyclotomic};

/// The steps of a matrix and the form of its diagonals, known without making the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerStageShape {
    /// The steps of its diagonals, ascending.
    pub steps: Vec<Step>,
    /// Entries of a row after which its diagonals repeat: half of the coefficients that a diagonal has.
    pub period: usize,
    /// The automorphisms that the steps stand for.
    pub group: StepGroup,
    /// In a ring of odd index, what is repeated in the values of its diagonals: [`DiagonalForm::Repeated`].
    pub repeated: Option<[usize; 2]>,
}

impl IntegerStageShape {
    /// The steps, divided into baby and giant steps for a ring.
    pub fn divided(&self, ring: Cyclotomic) -> BabyGiantSteps {
        BabyGiantSteps::of_steps(&self.steps, half_turn(self.group, ring))
    }

    /// The form of its diagonals in a ring.
    pub(super) fn form(&self, ring: Cyclotomic) -> DiagonalForm {
        let gap = || ring.degree() / (2 * self.period * ring.rows());
        self.repeated.map_or_else(|| DiagonalForm::InPowers(gap()), DiagonalForm::Repeated)
    }
}

/// The number of columns by which a rotation is the identity; 0 for steps that are not plain rotations.
fn half_turn(group: StepGroup, ring: Cyclotomic) -> usize {
    if group == StepGroup::Rotations { ring.columns() / 2 } else { 0 }
}

/// The `count` matrices that take slots in two rows of `columns` to coefficients, in the order in which they are applied; the layers are
/// spread as evenly as they can be.
///
/// # Errors
/// [`Error::InvalidArgument`] unless `columns` is a power of two from 2 to 2^17, p is 1 modulo 4 `columns`, and `count` is from 1 to the
/// number of layers.
pub fn integer_slots_to_coeffs_stages(
    ring: PrimePower,
    columns: usize,
    count: usize,
) -> Result<Vec<SlotMatrix>, Error> {
    let layers = stages::upward(columns, COMBINE)?;
    stages::merged(count, &layers, |m| layer(ring, columns, m), SlotMatrix::after)
}

/// The inverse matrices, in the order in which they are applied.
///
/// # Errors
/// As [`integer_slots_to_coeffs_stages`].
pub fn integer_coeffs_to_slots_stages(
    ring: PrimePower,
    columns: usize,
    count: usize,
) -> Result<Vec<SlotMatrix>, Error> {
    let layers = stages::downward(columns, COMBINE)?;
    stages::merged(count, &layers, |m| inverse_layer(ring, columns, m), SlotMatrix::after)
}

/// The shapes of [`integer_slots_to_coeffs_stages`].
///
/// # Errors
/// As there, except for those about p.
pub fn integer_slots_to_coeffs_shapes(columns: usize, count: usize) -> Result<Vec<IntegerStageShape>, Error> {
    let layers = stages::upward(columns, COMBINE)?;
    Ok(stages::divided(count, &layers)?.iter().map(|own| shape_of(columns, own)).collect())
}

/// The shapes of [`integer_coeffs_to_slots_stages`].
///
/// # Errors
/// As there, except for those about p.
pub fn integer_coeffs_to_slots_shapes(columns: usize, count: usize) -> Result<Vec<IntegerStageShape>, Error> {
    let layers = stages::downward(columns, COMBINE)?;
    Ok(stages::divided(count, &layers)?.iter().map(|own| shape_of(columns, own)).collect())
}

fn shape_of(columns: usize, layers: &[usize]) -> IntegerStageShape {
    let (steps, period) = stages::shape(columns, layers);
    IntegerStageShape {
        steps: steps.into_iter().collect(),
        period,
        group: StepGroup::Rotations,
        repeated: None,
    }
}

/// The roots of order 4m of the two rows, inverse to each other.
fn roots(ring: PrimePower, columns: usize, m: usize) -> Result<[u64; 2], Error> {
    let zeta = ring.root_of_unity(4 * columns as u64)?;
    let root = ring.pow(zeta, (columns / m) as u64);
    Ok([root, ring.inverse(root).unwrap_or(1)])
}

fn layer(ring: PrimePower, columns: usize, m: usize) -> Result<SlotMatrix, Error> {
    let minus = ring.neg(1);
    if m == COMBINE {
        let [i, _] = roots(ring, columns, 1)?;
        return rows(ring, columns, [[1, i], [ring.neg(i), 1]]);
    }
    by_pairs(ring, columns, m, |w, _| [[1, w], [1, ring.mul(minus, w)]])
}

fn inverse_layer(ring: PrimePower, columns: usize, m: usize) -> Result<SlotMatrix, Error> {
    let half = ring.inverse(2).unwrap_or(1);
    if m == COMBINE {
        let [_, over_i] = roots(ring, columns, 1)?;
        let second = ring.mul(half, over_i);
        return rows(ring, columns, [[half, half], [ring.neg(second), second]]);
    }
    by_pairs(ring, columns, m, |_, over_w| {
        let second = ring.mul(half, over_w);
        [[half, half], [second, ring.neg(second)]]
    })
}

/// The matrix that combines the rows: `by_row` has for each row the factors of the row itself and of the other.
fn rows(ring: PrimePower, columns: usize, by_row: [[u64; 2]; 2]) -> Result<SlotMatrix, Error> {
    let mut out = SlotMatrix::new(ring, columns)?;
    for (place, inverted) in [false, true].into_iter().enumerate() {
        let diagonal: Vec<u64> = (0..2 * columns).map(|i| by_row[i / columns][place]).collect();
        out.add(Step { rotation: 0, inverted }, &diagonal)?;
    }
    Ok(out)
}

/// The matrix that applies a map of pairs, given w_j and its inverse, to the two halves of every block of m slots.
fn by_pairs(
    ring: PrimePower,
    columns: usize,
    m: usize,
    map: impl Fn(u64, u64) -> [[u64; 2]; 2],
) -> Result<SlotMatrix, Error> {
    let half = m / 2;
    let both = roots(ring, columns, m)?;
    let order = 4 * m as u64;
    let exponents: Vec<u64> =
        core::iter::successors(Some(1u64), |e| Some(e * 5 % order)).take(half).collect();
    let twiddles = both.map(|root| exponents.iter().map(|&e| ring.pow(root, e)).collect::<Vec<u64>>());
    let mut main = vec![0; 2 * columns];
    let (mut up, mut down) = (main.clone(), main.clone());
    for i in 0..2 * columns {
        let (row, place) = (i / columns, i % m);
        let [[uu, uv], [vu, vv]] = map(twiddles[row][place % half], twiddles[1 - row][place % half]);
        if place < half {
            (main[i], up[i]) = (uu, uv);
        } else {
            (main[i], down[i]) = (vv, vu);
        }
    }
    let mut out = SlotMatrix::new(ring, columns)?;
    out.add(Step::IDENTITY, &main)?;
    out.add(Step::rotation(half as i64), &up)?;
    out.add(Step::rotation(-(half as i64)), &down)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::bgv::slots::SplitSlots;

    fn sample(ring: PrimePower, slots: usize) -> Vec<u64> {
        let mut x = slots as u64;
        let next = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ring.reduce(x >> 5)
        };
        core::iter::repeat_with(next).take(slots).collect()
    }

    #[test]
    fn slots_become_coefficients_and_return() {
        for (p, k, columns, stages) in
            [(17, 2, 4, 1), (257, 1, 16, 2), (257, 2, 64, 3), (65537, 2, 32, 6), (97, 2, 8, 4)]
        {
            let ring = PrimePower::new(p, k).expect("a prime");
            let x = sample(ring, 2 * columns);
            let mut y = x.clone();
            for stage in integer_slots_to_coeffs_stages(ring, columns, stages).expect("stages") {
                y = stage.apply(&y).expect("all slots");
            }
            let coefficients = SplitSlots::new(ring, 2 * columns).expect("it splits").coefficients_of(&y);
            let coefficients = coefficients.expect("as many as the degree");
            for s in 0..2 {
                for j in 0..columns {
                    let reversed = j.reverse_bits() >> (usize::BITS - columns.trailing_zeros());
                    assert_eq!(
                        coefficients[reversed + s * columns],
                        x[s * columns + j],
                        "{p}^{k}, {columns}"
                    );
                }
            }
            for stage in integer_coeffs_to_slots_stages(ring, columns, stages).expect("stages") {
                y = stage.apply(&y).expect("all slots");
            }
            assert_eq!(y, x);
        }
    }

    #[test]
    fn shapes_are_those_of_the_matrices() {
        let ring = PrimePower::new(65537, 1).expect("a prime");
        for (columns, stages) in [(2, 1), (8, 2), (64, 3)] {
            let check = |matrices: Vec<SlotMatrix>, shapes: Vec<IntegerStageShape>| {
                assert_eq!(matrices.len(), shapes.len());
                for (matrix, shape) in matrices.iter().zip(&shapes) {
                    let mut own: Vec<Step> = shape.steps.clone();
                    for step in &mut own {
                        step.rotation = step.rotation.rem_euclid(columns as i64);
                    }
                    own.sort_unstable();
                    assert_eq!(matrix.steps(), own, "{columns} slots, {stages} stages");
                    assert_eq!(matrix.period(), shape.period, "{columns} slots, {stages} stages");
                }
            };
            check(
                integer_slots_to_coeffs_stages(ring, columns, stages).expect("stages"),
                integer_slots_to_coeffs_shapes(columns, stages).expect("stages"),
            );
            check(
                integer_coeffs_to_slots_stages(ring, columns, stages).expect("stages"),
                integer_coeffs_to_slots_shapes(columns, stages).expect("stages"),
            );
        }
        // The 15 layers of bgv15 in three groups of five.
        let counts =
            |shapes: Vec<IntegerStageShape>| shapes.iter().map(|s| s.steps.len()).collect::<Vec<_>>();
        assert_eq!(counts(integer_slots_to_coeffs_shapes(1 << 14, 3).expect("stages")), [62, 63, 32]);
        assert_eq!(counts(integer_coeffs_to_slots_shapes(1 << 14, 3).expect("stages")), [32, 63, 62]);
        assert!(integer_slots_to_coeffs_stages(ring, 64, 8).is_err());
        assert!(integer_slots_to_coeffs_stages(ring, 1 << 15, 3).is_err());
        for columns in [0, 1, 3, 6, 1 << 18, usize::MAX] {
            assert!(integer_slots_to_coeffs_stages(ring, columns, 1).is_err());
            assert!(integer_coeffs_to_slots_stages(ring, columns, 1).is_err());
            assert!(integer_slots_to_coeffs_shapes(columns, 1).is_err());
            assert!(integer_coeffs_to_slots_shapes(columns, 1).is_err());
        }
    }
}
