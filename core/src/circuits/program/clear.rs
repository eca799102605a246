//! Programs on numbers in the clear: what every encrypted evaluation is measured by.

use alloc::{format, vec, vec::Vec};

use super::{Operation, Program, Value, reading::fits};
use crate::{circuits::linear_transform::Diagonals, error::Error, schemes::ckks::Complex};

impl Program {
    /// The outputs, in order, for inputs of `slots` slots, a power of two; missing slots are zero.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of inputs, or inputs, constants or matrices of more slots.
    pub fn evaluate(&self, slots: usize, inputs: &[Vec<Complex>]) -> Result<Vec<Vec<Complex>>, Error> {
        let wanted = self.inputs().count();
        if inputs.len() != wanted || !slots.is_power_of_two() || slots > 1 << 17 {
            return Err(Error::InvalidArgument(format!(
                "{} inputs of {slots} slots for a program of {wanted}; give one for each, and a power of two of slots",
                inputs.len()
            )));
        }
        let mut given = inputs.iter();
        self.values_of_outputs(|operation, values: &[Vec<Complex>]| {
            let of = |x: Value| values[x.index()].as_slice();
            let each = |x: Value, f: &dyn Fn(Complex) -> Complex| -> Result<Vec<Complex>, Error> {
                Ok(of(x).iter().map(|&z| f(z)).collect())
            };
            let both = |x: Value, y: Value, f: &dyn Fn(Complex, Complex) -> Complex| {
                Ok(of(x).iter().zip(of(y)).map(|(&a, &b)| f(a, b)).collect())
            };
            match operation {
                Operation::Input => spread(given.next().map_or(&[], Vec::as_slice), slots),
                Operation::Constant(numbers) if numbers.len() == 1 => Ok(vec![numbers[0]; slots]),
                Operation::Constant(numbers) => spread(numbers, slots),
                Operation::Add(x, y) => both(*x, *y, &|a, b| a + b),
                Operation::Subtract(x, y) => both(*x, *y, &|a, b| a - b),
                Operation::Multiply(x, y) => both(*x, *y, &|a, b| a * b),
                Operation::Negate(x) => each(*x, &|z| -z),
                Operation::Conjugate(x) => each(*x, &Complex::conj),
                Operation::Polynomial(x, polynomial) => each(*x, &|z| polynomial.value_f64(z)),
                Operation::Rotate(x, steps) => {
                    let places = i64::from(*steps).rem_euclid(slots as i64) as usize;
                    Ok(of(*x).iter().cycle().skip(places).take(slots).copied().collect())
                }
                Operation::LinearTransform(x, matrix) => product(matrix, of(*x)),
                Operation::Digits(x, reading) => reading.values(of(*x)),
                Operation::Bootstrap(x) | Operation::Output(x) => each(*x, &|z| z),
            }
        })
    }

    /// The outputs, in order, where `value` gives the result of an operation from itself and the values before it.
    pub(super) fn values_of_outputs<T>(
        &self,
        mut value: impl FnMut(&Operation, &[Vec<T>]) -> Result<Vec<T>, Error>,
    ) -> Result<Vec<Vec<T>>, Error> {
        let mut values: Vec<Vec<T>> = Vec::with_capacity(self.nodes().len());
        for (index, node) in self.nodes().iter().enumerate() {
            let own = value(&node.operation, &values);
            values.push(own.map_err(|error| error.within(&self.describe(index)))?);
        }
        Ok(self.outputs().map(|index| core::mem::take(&mut values[index])).collect())
    }
}

/// Numbers, and zeros up to `slots` slots.
fn spread(numbers: &[Complex], slots: usize) -> Result<Vec<Complex>, Error> {
    fits(numbers.len(), slots, "numbers")?;
    let mut out = numbers.to_vec();
    out.resize(slots, Complex::ZERO);
    Ok(out)
}

/// y_i = sum_k D_k[i mod m] x_(i+k).
fn product(matrix: &Diagonals, x: &[Complex]) -> Result<Vec<Complex>, Error> {
    let (slots, period) = (x.len(), matrix.slots());
    fits(period, slots, "slots of a matrix")?;
    let mut out = vec![Complex::ZERO; slots];
    for shift in matrix.shifts() {
        let diagonal = matrix.get(shift).unwrap_or_default();
        for (i, y) in out.iter_mut().enumerate() {
            *y += diagonal[i % period] * x[(i as i64 + shift).rem_euclid(slots as i64) as usize];
        }
    }
    Ok(out)
}
