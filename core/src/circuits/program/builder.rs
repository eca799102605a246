//! Building programs in Rust.

use alloc::{string::String, vec::Vec};

use super::{MAX_VALUES, Node, Operation, Order, Program, Reading, Value};
use crate::{
    circuits::{
        linear_transform::Diagonals,
        polynomial::{Polynomial, clamp},
    },
    error::Error,
    schemes::ckks::Complex,
};

/// Collects nodes. Values come from earlier calls, so there is no loop; mistakes are reported by [`finish`](Self::finish), or with
/// their line where the text of a program is read.
#[derive(Default)]
pub struct Builder {
    nodes: Vec<Node>,
    error: Option<Error>,
    /// Number of values in the tables made here.
    values: usize,
}

fn limit_of_values(count: usize) -> Error {
    Error::Limit(alloc::format!(
        "the program has {count} numbers in tables, at most {MAX_VALUES} are taken; split it"
    ))
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// A ciphertext given from outside.
    pub fn input(&mut self, name: &str) -> Value {
        let value = self.push(Operation::Input);
        self.name(value, name);
        value
    }

    /// Numbers in the clear: a single one for every slot, or one after the other and zeros from there on.
    pub fn constant(&mut self, values: impl IntoIterator<Item = impl Into<Complex>>) -> Value {
        self.push(Operation::Constant(values.into_iter().map(Into::into).collect()))
    }

    /// x + y.
    pub fn add(&mut self, x: Value, y: Value) -> Value {
        self.push(Operation::Add(x, y))
    }

    /// x - y.
    pub fn subtract(&mut self, x: Value, y: Value) -> Value {
        self.push(Operation::Subtract(x, y))
    }

    /// x y, slot by slot.
    pub fn multiply(&mut self, x: Value, y: Value) -> Value {
        self.push(Operation::Multiply(x, y))
    }

    /// -x.
    pub fn negate(&mut self, x: Value) -> Value {
        self.push(Operation::Negate(x))
    }

    /// Slots moved left by `steps` places, or right if `steps` is negative.
    pub fn rotate(&mut self, x: Value, steps: i32) -> Value {
        self.push(Operation::Rotate(x, steps))
    }

    /// In every slot the sum of `count` slots from it on, by log2(count) rotations.
    ///
    /// `count` is a power of two, which [`Self::finish`] checks.
    pub fn rotate_sum(&mut self, x: Value, count: usize) -> Value {
        if !count.is_power_of_two() || count > 1 << 17 {
            self.error.get_or_insert_with(|| {
                Error::InvalidArgument(alloc::format!(
                    "a sum of {count} slots by rotations; take a power of two up to 131072"
                ))
            });
            return x;
        }
        (0..count.ilog2()).fold(x, |sum, log| {
            let turned = self.rotate(sum, 1 << log);
            self.add(sum, turned)
        })
    }

    /// The complex conjugate.
    pub fn conjugate(&mut self, x: Value) -> Value {
        self.push(Operation::Conjugate(x))
    }

    /// The polynomial of every slot, its coefficients rounded to doubles.
    pub fn polynomial(&mut self, x: Value, polynomial: &Polynomial) -> Value {
        let rounded = polynomial.coefficients().iter().map(|c| c.to_complex());
        match Polynomial::new(polynomial.basis(), rounded) {
            Ok(rounded) => self.push(Operation::Polynomial(x, rounded)),
            Err(error) => {
                self.error.get_or_insert(error);
                x
            }
        }
    }

    /// Keeps a real number x in every slot where |x| <= 1 - `margin`, and takes it to its sign where 1 <= |x| <= 1 + `overshoot`, by the
    /// polynomial of a degree that [`clamp`](crate::circuits::polynomial::clamp) makes. Its error and levels are stated there.
    pub fn clamp(&mut self, x: Value, overshoot: f64, margin: f64, degree: usize) -> Value {
        match clamp(overshoot, margin, degree) {
            Ok(fit) => self.polynomial(x, &fit.polynomial),
            Err(error) => {
                self.error.get_or_insert(error);
                x
            }
        }
    }

    /// The product with a matrix.
    pub fn linear_transform(&mut self, x: Value, matrix: &Diagonals) -> Value {
        self.push(Operation::LinearTransform(x, matrix.clone()))
    }

    /// The same slots with all levels that a bootstrap leaves.
    pub fn bootstrap(&mut self, x: Value) -> Value {
        self.push(Operation::Bootstrap(x))
    }

    /// A reading of the digits of every slot, on sets that evaluate modular reduction.
    pub fn digits(&mut self, x: Value, reading: Reading) -> Value {
        self.push(Operation::Digits(x, reading))
    }

    /// The answer to a question about the order of the first slots, on sets that compare.
    pub fn order(&mut self, x: Value, order: Order) -> Value {
        self.digits(x, Reading::Order(order))
    }

    /// floor(t x) / t for x modulo 1; close to a multiple of 1/t the neighbouring value may result.
    ///
    /// [`Self::finish`] refuses a t outside 2 to [`MAX_VALUES`].
    pub fn quantise(&mut self, x: Value, t: u32) -> Value {
        if !(2..=MAX_VALUES as u32).contains(&t) {
            self.error.get_or_insert_with(|| {
                Error::InvalidArgument(alloc::format!("{t} steps to quantise to; take 2 to {MAX_VALUES}"))
            });
            return x;
        }
        self.values += t as usize;
        if self.values > MAX_VALUES {
            let values = self.values;
            self.error.get_or_insert_with(|| limit_of_values(values));
            return x;
        }
        let table = (0..t).map(|j| (f64::from(j) / f64::from(t)).into());
        self.digits(x, Reading::LookUp(table.collect()))
    }

    /// The multiple of 1/t that is nearest to x modulo 1.
    pub fn quantise_nearest(&mut self, x: Value, t: u32) -> Value {
        let half = self.constant([0.5 / f64::from(t)]);
        let shifted = self.add(x, half);
        self.quantise(shifted, t)
    }

    /// Makes a ciphertext an output.
    pub fn output(&mut self, name: &str, x: Value) {
        let value = self.push(Operation::Output(x));
        self.name(value, name);
    }

    /// Names a node, for messages.
    pub fn name(&mut self, value: Value, name: &str) {
        if let Some(node) = self.nodes.get_mut(value.index()) {
            node.name = String::from(name);
        }
    }

    /// Number of nodes so far.
    pub(super) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The first mistake so far, for a caller who can say where it was made.
    pub(super) fn mistake(&mut self) -> Result<(), Error> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// The program.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn finish(self) -> Result<Program, Error> {
        match self.error {
            Some(error) => Err(error),
            None => Program::new(self.nodes),
        }
    }

    fn push(&mut self, operation: Operation) -> Value {
        let value = Value(self.nodes.len() as u32);
        self.nodes.push(Node { name: String::new(), operation });
        value
    }
}
