//! Programs on integers in the clear: what every encrypted evaluation is measured by.

use alloc::{format, vec, vec::Vec};

use super::{
    super::{Operation, Program, Value},
    numbers::{coefficients, integer, missing},
};
use crate::{arith::PrimePower, error::Error};

impl Program {
    /// The outputs, in order, for inputs of two rows of `columns` slots modulo P; missing slots are zero.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of inputs, inputs or constants of more slots, numbers that are not whole, and
    /// operations that integers do not have.
    pub fn evaluate_integers(
        &self,
        ring: PrimePower,
        columns: usize,
        inputs: &[Vec<u64>],
    ) -> Result<Vec<Vec<u64>>, Error> {
        let wanted = self.inputs().count();
        if inputs.len() != wanted || !columns.is_power_of_two() || columns > 1 << 17 {
            return Err(Error::InvalidArgument(format!(
                "{} inputs of two rows of {columns} slots for a program of {wanted}; give one for each, and a power of two of slots",
                inputs.len()
            )));
        }
        let slots = 2 * columns;
        let mut given = inputs.iter();
        self.values_of_outputs(|operation, values: &[Vec<u64>]| {
            let of = |x: Value| values[x.index()].as_slice();
            let both = |x: Value, y: Value, f: &dyn Fn(u64, u64) -> u64| -> Result<Vec<u64>, Error> {
                Ok(of(x).iter().zip(of(y)).map(|(&a, &b)| f(a, b)).collect())
            };
            match operation {
                Operation::Input => {
                    let own = given.next().map_or(&[][..], Vec::as_slice);
                    spread(own.iter().map(|&x| ring.reduce(x)).collect(), slots)
                }
                Operation::Constant(numbers) => {
                    let all = numbers.iter().map(|&z| Ok(ring.reduce_signed(integer(z)?)));
                    let all = all.collect::<Result<Vec<u64>, Error>>();
                    all.and_then(
                        |all| if all.len() == 1 { Ok(vec![all[0]; slots]) } else { spread(all, slots) },
                    )
                }
                Operation::Add(x, y) => both(*x, *y, &|a, b| ring.add(a, b)),
                Operation::Subtract(x, y) => both(*x, *y, &|a, b| ring.sub(a, b)),
                Operation::Multiply(x, y) => both(*x, *y, &|a, b| ring.mul(a, b)),
                Operation::Negate(x) => Ok(of(*x).iter().map(|&a| ring.neg(a)).collect()),
                Operation::Rotate(x, steps) => {
                    let places = i64::from(*steps).rem_euclid(columns as i64) as usize;
                    let row = |row: &[u64]| [&row[places..], &row[..places]].concat();
                    Ok(of(*x).chunks_exact(columns).flat_map(row).collect())
                }
                Operation::Conjugate(x) => Ok([&of(*x)[columns..], &of(*x)[..columns]].concat()),
                Operation::Polynomial(x, polynomial) => coefficients(polynomial).map(|all| {
                    let value = |m: u64| {
                        all.iter().rev().fold(0, |sum, &c| ring.add(ring.mul(sum, m), ring.reduce_signed(c)))
                    };
                    of(*x).iter().map(|&m| value(m)).collect()
                }),
                operation @ (Operation::LinearTransform(..) | Operation::Digits(..)) => {
                    Err(missing(operation))
                }
                Operation::Bootstrap(x) | Operation::Output(x) => Ok(of(*x).to_vec()),
            }
        })
    }
}

/// Numbers, and zeros up to `slots` slots.
fn spread(mut numbers: Vec<u64>, slots: usize) -> Result<Vec<u64>, Error> {
    super::super::reading::fits(numbers.len(), slots, "numbers")?;
    numbers.resize(slots, 0);
    Ok(numbers)
}
