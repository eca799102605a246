//! Sums, differences and products, any operand of which may be a constant.

use super::{
    Operation, Program, Value,
    steps::{Register, register_of},
};
use crate::{error::Error, schemes::ckks::Complex};

/// A constant of a program, and its numbers.
pub(super) type Constant<'p> = (Value, &'p [Complex]);

/// What plans push for sums and products: each takes the node it is for and gives the register of its result.
pub(super) trait SumsAndProducts {
    fn add(&mut self, node: usize, x: Register, y: Register) -> Result<Register, Error>;

    fn subtract(&mut self, node: usize, x: Register, y: Register) -> Result<Register, Error>;

    fn multiply(&mut self, node: usize, x: Register, y: Register) -> Result<Register, Error>;

    fn multiply_integer(&mut self, node: usize, x: Register, factor: i64) -> Result<Register, Error>;

    fn add_constant(&mut self, node: usize, x: Register, constant: Constant<'_>) -> Result<Register, Error>;

    fn multiply_constant(&mut self, node: usize, x: Register, by: Constant<'_>) -> Result<Register, Error>;

    /// The steps of a node that is a sum, a difference, a product or a negation; `None` for any other.
    fn sum_or_product(
        &mut self,
        program: &Program,
        node: usize,
        registers: &[Option<Register>],
    ) -> Result<Option<Register>, Error> {
        let of = |x: &Value| register_of(program, registers, *x);
        let constant = |x: &Value| program.constant(*x).map(|numbers| (*x, numbers));
        Ok(Some(match &program.nodes()[node].operation {
            Operation::Add(x, y) => match (constant(x), constant(y)) {
                (Some(constant), _) => self.add_constant(node, of(y)?, constant)?,
                (_, Some(constant)) => self.add_constant(node, of(x)?, constant)?,
                _ => self.add(node, of(x)?, of(y)?)?,
            },
            Operation::Subtract(x, y) => match (constant(x), constant(y)) {
                (Some(constant), _) => {
                    let negative = self.multiply_integer(node, of(y)?, -1)?;
                    self.add_constant(node, negative, constant)?
                }
                (_, Some(constant)) => {
                    // -(-x + c): there is no subtraction of constants.
                    let negative = self.multiply_integer(node, of(x)?, -1)?;
                    let sum = self.add_constant(node, negative, constant)?;
                    self.multiply_integer(node, sum, -1)?
                }
                _ => self.subtract(node, of(x)?, of(y)?)?,
            },
            Operation::Multiply(x, y) => match (constant(x), constant(y)) {
                (Some(constant), _) => self.multiply_constant(node, of(y)?, constant)?,
                (_, Some(constant)) => self.multiply_constant(node, of(x)?, constant)?,
                _ => self.multiply(node, of(x)?, of(y)?)?,
            },
            Operation::Negate(x) => self.multiply_integer(node, of(x)?, -1)?,
            _ => return Ok(None),
        }))
    }
}
