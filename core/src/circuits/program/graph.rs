//! The graph: nodes, and the conditions on them for any evaluator.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use super::Reading;
use crate::{
    circuits::{linear_transform::Diagonals, polynomial::Polynomial},
    error::Error,
    schemes::ckks::Complex,
};

/// Most nodes of a program.
pub const MAX_NODES: usize = 4096;
/// Most inputs.
pub const MAX_INPUTS: usize = 64;
/// Most outputs.
pub const MAX_OUTPUTS: usize = 64;
/// Longest name of a node, in bytes.
pub const MAX_NAME: usize = 64;
/// Most complex numbers in the constants, coefficients and diagonals of a program together.
pub const MAX_VALUES: usize = 1 << 20;

/// The value of a node: its position in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub(super) u32);

impl Value {
    /// The value of node `index`.
    pub fn new(index: u32) -> Self {
        Self(index)
    }

    /// Position of the node, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node computes.
#[derive(Clone)]
#[non_exhaustive]
pub enum Operation {
    /// A ciphertext given from outside, under the name of the node.
    Input,
    /// Numbers in the clear: a single one for every slot, or one after the other and zeros from there on.
    Constant(Vec<Complex>),
    /// x + y; one of them may be a constant.
    Add(Value, Value),
    /// x - y; one of them may be a constant.
    Subtract(Value, Value),
    /// x y, slot by slot; one of them may be a constant.
    Multiply(Value, Value),
    /// -x.
    Negate(Value),
    /// Slots moved left by a number of places (negative: right), around the slots of the set.
    Rotate(Value, i32),
    /// The complex conjugate of every slot.
    Conjugate(Value),
    /// The polynomial of every slot. Chebyshev polynomials over an interval take values of that interval.
    Polynomial(Value, Polynomial),
    /// y_i = sum_k D_k\[i mod m\] x_(i+k) for a matrix of m slots, where k is counted in (-m/2, m/2\] and i + k around the
    /// slots of the set: the product with the matrix, if the slots repeat every m.
    LinearTransform(Value, Diagonals),
    /// The same slots with all levels that a bootstrap leaves.
    Bootstrap(Value),
    /// A reading of the digits of every slot, on sets that evaluate modular reduction, or of the order of the first slots, on sets that
    /// compare.
    Digits(Value, Reading),
    /// An output ciphertext, under the name of the node.
    Output(Value),
}

impl Operation {
    /// The name of the operation in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Constant(_) => "constant",
            Self::Add(..) => "add",
            Self::Subtract(..) => "subtract",
            Self::Multiply(..) => "multiply",
            Self::Negate(_) => "negate",
            Self::Rotate(..) => "rotate",
            Self::Conjugate(_) => "conjugate",
            Self::Polynomial(..) => "polynomial",
            Self::LinearTransform(..) => "linear transform",
            Self::Bootstrap(_) => "bootstrap",
            Self::Digits(_, reading) => reading.kind(),
            Self::Output(_) => "output",
        }
    }

    /// The values it is computed from.
    pub fn operands(&self) -> impl Iterator<Item = Value> {
        let (x, y) = match self {
            Self::Input | Self::Constant(_) => (None, None),
            Self::Add(x, y) | Self::Subtract(x, y) | Self::Multiply(x, y) => (Some(*x), Some(*y)),
            Self::Negate(x)
            | Self::Rotate(x, _)
            | Self::Conjugate(x)
            | Self::Polynomial(x, _)
            | Self::LinearTransform(x, _)
            | Self::Bootstrap(x)
            | Self::Digits(x, _)
            | Self::Output(x) => (Some(*x), None),
        };
        x.into_iter().chain(y)
    }

    /// Number of complex numbers that it carries.
    fn values(&self) -> usize {
        match self {
            Self::Constant(values) => values.len(),
            Self::Polynomial(_, polynomial) => polynomial.coefficients().len(),
            Self::LinearTransform(_, matrix) => matrix.slots().saturating_mul(matrix.shifts().len()),
            Self::Digits(_, reading) => reading.table().len(),
            _ => 0,
        }
    }
}

/// A node: an operation, and a name for messages; inputs and outputs must have one.
#[derive(Clone)]
pub struct Node {
    /// The name; empty for none.
    pub name: String,
    /// What it computes.
    pub operation: Operation,
}

/// A program: nodes in an order in which each follows those it uses.
#[derive(Clone)]
pub struct Program {
    nodes: Vec<Node>,
}

impl Program {
    /// Checks the nodes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], naming the node, for a value that is not computed before it is used, an output or a
    /// constant where a ciphertext is taken, a name that is missing, given twice or malformed, a number that is not
    /// finite, no output; [`Error::Limit`] for more than the limits above.
    pub fn new(nodes: Vec<Node>) -> Result<Self, Error> {
        let program = Self { nodes };
        limit(program.nodes.len(), MAX_NODES, "nodes")?;
        limit(program.inputs().count(), MAX_INPUTS, "inputs")?;
        limit(program.outputs().count(), MAX_OUTPUTS, "outputs")?;
        let values =
            program.nodes.iter().fold(0usize, |sum, node| sum.saturating_add(node.operation.values()));
        limit(values, MAX_VALUES, "numbers in constants, coefficients and diagonals")?;
        for index in 0..program.nodes.len() {
            program.check_node(index).map_err(|error| error.within(&program.describe(index)))?;
        }
        program.check_names()?;
        if program.outputs().next().is_none() {
            return Err(Error::InvalidArgument(
                "the program has no output, so nothing would be computed; add one".into(),
            ));
        }
        Ok(program)
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Positions of the inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = usize> + '_ {
        self.of_kind(|operation| matches!(operation, Operation::Input))
    }

    /// Positions of the outputs, in order.
    pub fn outputs(&self) -> impl Iterator<Item = usize> + '_ {
        self.of_kind(|operation| matches!(operation, Operation::Output(_)))
    }

    /// Names of the inputs, in order.
    pub fn input_names(&self) -> impl Iterator<Item = &str> {
        self.inputs().map(|index| self.nodes[index].name.as_str())
    }

    /// Names of the outputs, in order.
    pub fn output_names(&self) -> impl Iterator<Item = &str> {
        self.outputs().map(|index| self.nodes[index].name.as_str())
    }

    /// A node as messages name it: `node 5 "score" (polynomial)`.
    pub fn describe(&self, index: usize) -> String {
        match self.nodes.get(index) {
            Some(node) if node.name.is_empty() || !is_name(&node.name) => {
                format!("node {index} ({})", node.operation.kind())
            }
            Some(node) => format!("node {index} \"{}\" ({})", node.name, node.operation.kind()),
            None => format!("node {index}"),
        }
    }

    /// Whether the program reads digits or compares.
    pub fn reads_digits(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node.operation, Operation::Digits(..)))
    }

    /// Whether the program compares.
    pub fn compares(&self) -> bool {
        let order = |node: &Node| matches!(node.operation, Operation::Digits(_, Reading::Order(_)));
        self.nodes.iter().any(order)
    }

    /// Whether the program says how to compare.
    pub(super) fn chooses_ways(&self) -> bool {
        let chosen = |node: &Node| matches!(node.operation, Operation::Digits(_, Reading::Order(order)) if order.by.is_some());
        self.nodes.iter().any(chosen)
    }

    /// A program whose nodes come from those of a checked program.
    pub(super) fn of_checked(nodes: Vec<Node>) -> Self {
        Self { nodes }
    }

    /// The numbers of a constant.
    pub(super) fn constant(&self, value: Value) -> Option<&[Complex]> {
        match self.nodes.get(value.index()).map(|node| &node.operation) {
            Some(Operation::Constant(values)) => Some(values),
            _ => None,
        }
    }

    /// For each node whether an output needs it, constants included.
    pub(super) fn needed(&self) -> Vec<bool> {
        let mut needed: Vec<bool> =
            self.nodes.iter().map(|node| matches!(node.operation, Operation::Output(_))).collect();
        for index in (0..self.nodes.len()).rev() {
            if needed[index] {
                for operand in self.nodes[index].operation.operands() {
                    needed[operand.index()] = true;
                }
            }
        }
        needed
    }

    fn of_kind(&self, kind: impl Fn(&Operation) -> bool) -> impl Iterator<Item = usize> {
        self.nodes.iter().enumerate().filter(move |(_, node)| kind(&node.operation)).map(|(index, _)| index)
    }

    fn check_node(&self, index: usize) -> Result<(), Error> {
        let refuse = |what: String| Err(Error::InvalidArgument(what));
        let operation = &self.nodes[index].operation;
        let (mut constants, mut all) = (0, 0);
        for operand in operation.operands() {
            let at = operand.index();
            if at >= index {
                return refuse(format!(
                    "it uses node {at}, which is not before it; a node uses only those that come earlier"
                ));
            }
            if matches!(self.nodes[at].operation, Operation::Output(_)) {
                return refuse(format!("it uses {}; use what that hands out", self.describe(at)));
            }
            constants += usize::from(self.constant(operand).is_some());
            all += 1;
        }
        if all > 0 && constants == all {
            return refuse(
                "it computes with constants only; compute it in the clear, and use the result".into(),
            );
        }
        match operation {
            Operation::Constant(values) if values.is_empty() => {
                refuse("it has no number; give one for every slot or one for each".into())
            }
            Operation::Constant(values) => finite(values, "number"),
            Operation::LinearTransform(_, matrix) => {
                let shifts = matrix.shifts();
                if shifts.is_empty() {
                    return refuse("its matrix is zero; there is nothing to compute".into());
                }
                shifts
                    .iter()
                    .try_for_each(|&k| finite(matrix.get(k).unwrap_or_default(), "entry of a diagonal"))
            }
            Operation::Digits(_, reading) => {
                reading.check()?;
                finite(reading.table(), "value of the table")
            }
            _ => Ok(()),
        }
    }

    fn check_names(&self) -> Result<(), Error> {
        for (kind, indices) in
            [("input", self.inputs().collect::<Vec<_>>()), ("output", self.outputs().collect())]
        {
            let mut seen = BTreeSet::new();
            for index in indices {
                let name = &self.nodes[index].name;
                if name.is_empty() || !seen.insert(name) {
                    let what =
                        if name.is_empty() { "has no name" } else { "has a name that another one has" };
                    return Err(Error::InvalidArgument(format!(
                        "{}: this {kind} {what}; give every {kind} a name of its own",
                        self.describe(index)
                    )));
                }
            }
        }
        match self.nodes.iter().position(|node| !node.name.is_empty() && !is_name(&node.name)) {
            Some(index) => Err(Error::InvalidArgument(format!(
                "{}: its name is not one; names have 1 to {MAX_NAME} printable ASCII characters other than \" and \\",
                self.describe(index)
            ))),
            None => Ok(()),
        }
    }
}

/// Whether messages and JSON can show the name as it is.
fn is_name(name: &str) -> bool {
    let plain = |b: u8| (b' '..=b'~').contains(&b) && b != b'"' && b != b'\\';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
}

fn finite(values: &[Complex], what: &str) -> Result<(), Error> {
    match values.iter().position(|z| !(z.re.is_finite() && z.im.is_finite())) {
        Some(i) => {
            Err(Error::InvalidArgument(format!("{what} {i} is not finite; check what it is computed from")))
        }
        None => Ok(()),
    }
}

/// An error if the program has more than `limit` of something.
pub(super) fn limit(count: usize, limit: usize, what: &str) -> Result<(), Error> {
    if count <= limit {
        return Ok(());
    }
    Err(Error::Limit(format!("the program has {count} {what}, at most {limit} are taken; split it")))
}
