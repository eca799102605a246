//! Dense linear systems of 106 bits.

use alloc::{vec, vec::Vec};

use crate::{arith::DoubleDouble, error::Error};

fn singular() -> Error {
    Error::InvalidArgument(
        "the equations of the fit are singular; check that the function is finite, and take no more coefficients than points"
            .into(),
    )
}

/// Solves A x = b by elimination with row pivoting; rows of A carry b as their last entry.
pub(super) fn solve(mut rows: Vec<Vec<DoubleDouble>>) -> Result<Vec<DoubleDouble>, Error> {
    let n = rows.len();
    for column in 0..n {
        let size = |row: &Vec<DoubleDouble>| row[column].abs().to_f64();
        let pivot =
            (column..n).max_by(|&i, &j| size(&rows[i]).total_cmp(&size(&rows[j]))).ok_or_else(singular)?;
        rows.swap(column, pivot);
        let (above, below) = rows.split_at_mut(column + 1);
        let top = &above[column];
        if !top[column].is_finite() || top[column].is_zero() {
            return Err(singular());
        }
        let inverse = DoubleDouble::ONE / top[column];
        for row in below {
            let factor = row[column] * inverse;
            for (x, &t) in row[column..].iter_mut().zip(&top[column..]) {
                *x -= factor * t;
            }
        }
    }
    let triangle: Vec<&[DoubleDouble]> = rows.iter().map(Vec::as_slice).collect();
    back_substitute(&triangle)
}

/// The x that minimises |A x - b|: A by columns, each orthogonalised against those before it, and b against all of
/// them (Björck, "Solving linear least squares problems by Gram–Schmidt orthogonalization", 1967).
pub(super) fn minimise(
    mut columns: Vec<Vec<DoubleDouble>>,
    mut b: Vec<DoubleDouble>,
) -> Result<Vec<DoubleDouble>, Error> {
    let n = columns.len();
    let mut triangle = vec![vec![DoubleDouble::ZERO; n + 1]; n];
    for i in 0..n {
        let (done, rest) = columns.split_at_mut(i + 1);
        let q = &mut done[i];
        let norm = dot(q, q).sqrt();
        if !norm.is_finite() || norm.is_zero() {
            return Err(singular());
        }
        let inverse = DoubleDouble::ONE / norm;
        for x in q.iter_mut() {
            *x = *x * inverse;
        }
        triangle[i][i] = norm;
        for (j, column) in rest.iter_mut().chain([&mut b]).enumerate() {
            let product = dot(q, column);
            triangle[i][i + 1 + j] = product;
            for (x, &q) in column.iter_mut().zip(q.iter()) {
                *x -= product * q;
            }
        }
    }
    let triangle: Vec<&[DoubleDouble]> = triangle.iter().map(Vec::as_slice).collect();
    back_substitute(&triangle)
}

fn dot(x: &[DoubleDouble], y: &[DoubleDouble]) -> DoubleDouble {
    x.iter().zip(y).map(|(&x, &y)| x * y).sum()
}

/// Solves an upper triangular system whose rows carry the right side as their last entry.
fn back_substitute(rows: &[&[DoubleDouble]]) -> Result<Vec<DoubleDouble>, Error> {
    let n = rows.len();
    let mut x = vec![DoubleDouble::ZERO; n];
    for i in (0..n).rev() {
        let known: DoubleDouble = (i + 1..n).map(|j| rows[i][j] * x[j]).sum();
        x[i] = (rows[i][n] - known) / rows[i][i];
        if !x[i].is_finite() {
            return Err(singular());
        }
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hilbert_matrix_is_solved() {
        // Condition number 2^43 at n = 10, squared with normal equations.
        let n = 10i64;
        let hilbert = |i: i64, j: i64| DoubleDouble::ratio(1, i + j + 1);
        let right = |i: i64| (0..n).map(|j| hilbert(i, j)).sum::<DoubleDouble>();
        let rows = (0..n).map(|i| (0..n).map(|j| hilbert(i, j)).chain([right(i)]).collect()).collect();
        let columns = (0..n).map(|j| (0..n).map(|i| hilbert(i, j)).collect()).collect();
        let b = (0..n).map(right).collect();
        for x in [solve(rows), minimise(columns, b)] {
            for x in x.expect("regular") {
                assert!((x - DoubleDouble::ONE).abs().to_f64() < 1e-17, "{x:?}");
            }
        }
        assert!(solve(vec![vec![DoubleDouble::ZERO; 2]]).is_err());
        assert!(minimise(vec![vec![DoubleDouble::ZERO; 3]], vec![DoubleDouble::ONE; 3]).is_err());
    }
}
