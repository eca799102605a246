//! Programs as bytes.
//!
//! Integers are little-endian, real numbers the eight bytes of their double.
//!
//! | bytes | content |
//! | --- | --- |
//! | 6 | `rfprog` |
//! | 2 | version, [`VERSION`] |
//! | 4 | number of nodes |
//! | ... | the nodes |
//!
//! A node is its kind (1 byte), the length of its name (1 byte), the name, and what its kind says; a value is the
//! position of its node (4 bytes):
//!
//! | kind | operation | content |
//! | --- | --- | --- |
//! | 0 | input | |
//! | 1 | constant | numbers |
//! | 2, 3, 4 | add, subtract, multiply | two values |
//! | 5 | negate | a value |
//! | 6 | rotate | a value, steps (4 bytes, signed) |
//! | 7 | conjugate | a value |
//! | 8 | polynomial | a value; 0 for monomials, or 1 and the two ends of the interval of Chebyshev polynomials; numbers |
//! | 9 | linear transform | a value, slots of the matrix (4 bytes), number of diagonals (4 bytes), for each its shift (4 bytes, signed, ascending) and numbers |
//! | 10 | bootstrap | a value |
//! | 11 | output | a value |
//! | 12 | digits, from version 2 on | a value, what is read (1 byte), and what that says |
//!
//! | read | operation | content |
//! | --- | --- | --- |
//! | 0, 1 | modulo a number, or centred | the modulus, bits (4 bytes) |
//! | 2 | integers modulo an integer | the modulus (8 bytes) |
//! | 3 | a bit | bits (4 bytes), which one (4 bytes) |
//! | 4, 5 | a table, or of exact multiples | numbers |
//! | 6, from version 3 on | an order | what is asked (1 byte: sign, rank, argmax, argmin, top; from version 4 on 16 more by gates, 32 more by digits), of how many (4 bytes), for top how many (4 bytes), where they lie (1 byte: signed, unit, grid), for a grid its bits (4 bytes) |
//!
//! Numbers are their count (4 bytes), 1 if they are real or 2 if they are complex, and one or two doubles for each.

use alloc::{format, string::String, vec::Vec};

use super::{
    Asked, Bounds, MAX_NAME, MAX_NODES, MAX_VALUES, Node, Operation, Order, Program, Reading, Value, Way,
    graph::limit,
};
use crate::{
    circuits::{
        linear_transform::Diagonals,
        polynomial::{Polynomial, PolynomialBasis},
    },
    error::Error,
    schemes::ckks::Complex,
};

/// Version of programs that say how to compare. Other programs that compare have version 3, those that read digits version 2, and all
/// others version 1, so that earlier releases read them. All versions are read.
pub const VERSION: u16 = 4;

/// Longest encoding that is read, in bytes: enough for every program within the limits.
pub const MAX_BYTES: usize = 16 * MAX_VALUES + 9 * MAX_DIAGONALS + (MAX_NAME + 64) * MAX_NODES + HEADER;

const MAGIC: &[u8; 6] = b"rfprog";
const HEADER: usize = 12;
/// Most diagonals of a program together, sqrt(MAX_NODES MAX_VALUES): d_i of m_i >= d_i entries in matrix i, so that
/// sum d_i^2 <= MAX_VALUES.
const MAX_DIAGONALS: usize = (MAX_NODES as u64 * MAX_VALUES as u64).isqrt() as usize;

impl Program {
    /// The program as bytes: a header, and the nodes in order, as the head of this source file describes them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let version = match (self.compares(), self.reads_digits()) {
            (true, _) if self.chooses_ways() => VERSION,
            (true, _) => 3,
            (_, true) => 2,
            _ => 1,
        };
        out.extend_from_slice(&version.to_le_bytes());
        put(&mut out, self.nodes().len());
        for node in self.nodes() {
            out.push(kind(&node.operation));
            out.push(node.name.len() as u8);
            out.extend_from_slice(node.name.as_bytes());
            for operand in node.operation.operands() {
                put(&mut out, operand.index());
            }
            match &node.operation {
                Operation::Constant(values) => put_numbers(&mut out, values),
                Operation::Rotate(_, steps) => out.extend_from_slice(&steps.to_le_bytes()),
                Operation::Polynomial(_, polynomial) => {
                    match polynomial.basis() {
                        PolynomialBasis::Monomial => out.push(0),
                        PolynomialBasis::Chebyshev { from, to } => {
                            out.push(1);
                            out.extend_from_slice(&from.to_le_bytes());
                            out.extend_from_slice(&to.to_le_bytes());
                        }
                    }
                    let rounded: Vec<Complex> =
                        polynomial.coefficients().iter().map(|c| c.to_complex()).collect();
                    put_numbers(&mut out, &rounded);
                }
                Operation::LinearTransform(_, matrix) => {
                    let shifts = matrix.shifts();
                    put(&mut out, matrix.slots());
                    put(&mut out, shifts.len());
                    for shift in shifts {
                        out.extend_from_slice(&(shift as i32).to_le_bytes());
                        put_numbers(&mut out, matrix.get(shift).unwrap_or_default());
                    }
                }
                Operation::Digits(_, reading) => put_reading(&mut out, reading),
                _ => {}
            }
        }
        out
    }

    /// Reads untrusted bytes.
    ///
    /// # Errors
    /// [`Error::BadBytes`] for another beginning or version, an unknown kind, bytes that are missing or left over;
    /// [`Error::Limit`] and [`Error::InvalidArgument`] as [`Program::new`]. Nothing is allocated that the bytes do not
    /// fill.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        limit(bytes.len(), MAX_BYTES, "bytes")?;
        let mut reader = Reader { rest: bytes, values: MAX_VALUES };
        if reader.take(MAGIC.len())? != MAGIC {
            return Err(Error::BadBytes(format!(
                "the bytes do not begin with {:?}; this is not a program",
                core::str::from_utf8(MAGIC).unwrap_or_default()
            )));
        }
        let version = u16::from_le_bytes(reader.array()?);
        if !(1..=VERSION).contains(&version) {
            return Err(Error::BadBytes(format!(
                "a program of version {version}, and this reader knows 1 to {VERSION}; use a release of refloat that knows both"
            )));
        }
        let count = reader.count()?;
        limit(count, MAX_NODES, "nodes")?;
        let mut nodes = Vec::new();
        for index in 0..count {
            nodes.push(reader.node(version).map_err(|error| error.within(&format!("node {index}")))?);
        }
        if !reader.rest.is_empty() {
            return Err(Error::BadBytes(format!(
                "{} bytes follow the {count} nodes of the program; send nothing after them",
                reader.rest.len()
            )));
        }
        Self::new(nodes)
    }
}

fn kind(operation: &Operation) -> u8 {
    match operation {
        Operation::Input => 0,
        Operation::Constant(_) => 1,
        Operation::Add(..) => 2,
        Operation::Subtract(..) => 3,
        Operation::Multiply(..) => 4,
        Operation::Negate(_) => 5,
        Operation::Rotate(..) => 6,
        Operation::Conjugate(_) => 7,
        Operation::Polynomial(..) => 8,
        Operation::LinearTransform(..) => 9,
        Operation::Bootstrap(_) => 10,
        Operation::Output(_) => 11,
        Operation::Digits(..) => 12,
    }
}

fn put(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

fn put_numbers(out: &mut Vec<u8>, values: &[Complex]) {
    put(out, values.len());
    let complex = values.iter().any(|z| z.im != 0.0);
    out.push(1 + u8::from(complex));
    for z in values {
        out.extend_from_slice(&z.re.to_le_bytes());
        if complex {
            out.extend_from_slice(&z.im.to_le_bytes());
        }
    }
}

/// Added to the byte of the question if the program says how to compare.
const BY_GATES: u8 = 16;
const BY_DIGITS: u8 = 32;

fn put_order(out: &mut Vec<u8>, order: &Order) {
    let (asked, most) = match order.asked {
        Asked::Sign => (0, None),
        Asked::Rank => (1, None),
        Asked::Argmax => (2, None),
        Asked::Argmin => (3, None),
        Asked::Top(most) => (4, Some(most)),
    };
    let by = match order.by {
        None => 0,
        Some(Way::Gates) => BY_GATES,
        Some(Way::Digits) => BY_DIGITS,
    };
    out.extend_from_slice(&[6, asked | by]);
    out.extend_from_slice(&order.count.to_le_bytes());
    out.extend(most.into_iter().flat_map(u32::to_le_bytes));
    let (bounds, bits) = match order.bounds {
        Bounds::Signed => (0, None),
        Bounds::Unit => (1, None),
        Bounds::Grid(bits) => (2, Some(bits)),
    };
    out.push(bounds);
    out.extend(bits.into_iter().flat_map(u32::to_le_bytes));
}

fn put_reading(out: &mut Vec<u8>, reading: &Reading) {
    match reading {
        Reading::Modulo { modulus, bits, centred } => {
            out.push(u8::from(*centred));
            out.extend_from_slice(&modulus.to_le_bytes());
            out.extend_from_slice(&bits.to_le_bytes());
        }
        Reading::Integer { modulus } => {
            out.push(2);
            out.extend_from_slice(&modulus.to_le_bytes());
        }
        Reading::Bit { bits, index } => {
            out.push(3);
            out.extend_from_slice(&bits.to_le_bytes());
            out.extend_from_slice(&index.to_le_bytes());
        }
        Reading::LookUp(table) => {
            out.push(4);
            put_numbers(out, table);
        }
        Reading::LookUpExact(table) => {
            out.push(5);
            put_numbers(out, table);
        }
        Reading::Order(order) => put_order(out, order),
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    /// Numbers that may still come.
    values: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(|| {
            Error::BadBytes(format!(
                "{} bytes are left where {count} are needed; send the whole program",
                self.rest.len()
            ))
        })?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    fn byte(&mut self) -> Result<u8, Error> {
        Ok(self.array::<1>()?[0])
    }

    fn count(&mut self) -> Result<usize, Error> {
        Ok(u32::from_le_bytes(self.array()?) as usize)
    }

    fn double(&mut self) -> Result<f64, Error> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    fn value(&mut self) -> Result<Value, Error> {
        Ok(Value(u32::from_le_bytes(self.array()?)))
    }

    fn numbers(&mut self) -> Result<Vec<Complex>, Error> {
        let count = self.count()?;
        if count > self.values {
            return Err(Error::Limit(format!(
                "{count} numbers where {} of the {MAX_VALUES} of a program are left; split it",
                self.values
            )));
        }
        self.values -= count;
        let parts = self.byte()?;
        if !(1..=2).contains(&parts) {
            return Err(Error::BadBytes(format!(
                "numbers of {parts} parts; real ones have 1, complex ones 2"
            )));
        }
        let bytes = self.take(8 * count * usize::from(parts))?;
        let mut reader = Self { rest: bytes, values: 0 };
        let mut out = Vec::with_capacity(count);
        for _ in 0..count {
            let re = reader.double()?;
            out.push(Complex::new(re, if parts == 2 { reader.double()? } else { 0.0 }));
        }
        Ok(out)
    }

    fn node(&mut self, version: u16) -> Result<Node, Error> {
        let (kind, length) = (self.byte()?, self.byte()?);
        let name = core::str::from_utf8(self.take(length.into())?)
            .map_err(|_| Error::BadBytes("its name is not UTF-8; write it with this library".into()))?;
        let operation = match kind {
            0 => Operation::Input,
            1 => Operation::Constant(self.numbers()?),
            2 => Operation::Add(self.value()?, self.value()?),
            3 => Operation::Subtract(self.value()?, self.value()?),
            4 => Operation::Multiply(self.value()?, self.value()?),
            5 => Operation::Negate(self.value()?),
            6 => Operation::Rotate(self.value()?, i32::from_le_bytes(self.array()?)),
            7 => Operation::Conjugate(self.value()?),
            8 => {
                let x = self.value()?;
                let basis = match self.byte()? {
                    0 => PolynomialBasis::Monomial,
                    1 => PolynomialBasis::Chebyshev { from: self.double()?, to: self.double()? },
                    other => return Err(Error::BadBytes(format!("basis {other}, and there are 0 and 1"))),
                };
                Operation::Polynomial(x, Polynomial::new(basis, self.numbers()?)?)
            }
            9 => Operation::LinearTransform(self.value()?, self.matrix()?),
            10 => Operation::Bootstrap(self.value()?),
            11 => Operation::Output(self.value()?),
            12 if version >= 2 => Operation::Digits(self.value()?, self.reading(version)?),
            other => {
                return Err(Error::BadBytes(format!(
                    "operation {other}, and version {version} has 0 to {}; use a release of refloat that knows it",
                    if version >= 2 { 12 } else { 11 }
                )));
            }
        };
        Ok(Node { name: String::from(name), operation })
    }

    fn reading(&mut self, version: u16) -> Result<Reading, Error> {
        Ok(match self.byte()? {
            kind @ (0 | 1) => Reading::Modulo {
                modulus: self.double()?,
                bits: u32::from_le_bytes(self.array()?),
                centred: kind == 1,
            },
            2 => Reading::Integer { modulus: u64::from_le_bytes(self.array()?) },
            3 => Reading::Bit {
                bits: u32::from_le_bytes(self.array()?),
                index: u32::from_le_bytes(self.array()?),
            },
            4 => Reading::LookUp(self.numbers()?),
            5 => Reading::LookUpExact(self.numbers()?),
            6 if version >= 3 => Reading::Order(self.order(version)?),
            other => {
                return Err(Error::BadBytes(format!(
                    "a reading {other} of digits, and version {version} has 0 to {}",
                    if version >= 3 { 6 } else { 5 }
                )));
            }
        })
    }

    fn order(&mut self, version: u16) -> Result<Order, Error> {
        let first = self.byte()?;
        let (asked, by) = match first & (BY_GATES | BY_DIGITS) {
            BY_GATES if version >= 4 => (first - BY_GATES, Some(Way::Gates)),
            BY_DIGITS if version >= 4 => (first - BY_DIGITS, Some(Way::Digits)),
            _ => (first, None),
        };
        let count = u32::from_le_bytes(self.array()?);
        let asked = match asked {
            0 => Asked::Sign,
            1 => Asked::Rank,
            2 => Asked::Argmax,
            3 => Asked::Argmin,
            4 => Asked::Top(u32::from_le_bytes(self.array()?)),
            other => {
                return Err(Error::BadBytes(format!("a question {other} of an order, and there are 0 to 4")));
            }
        };
        let bounds = match self.byte()? {
            0 => Bounds::Signed,
            1 => Bounds::Unit,
            2 => Bounds::Grid(u32::from_le_bytes(self.array()?)),
            other => {
                return Err(Error::BadBytes(format!("bounds {other} of an order, and there are 0 to 2")));
            }
        };
        Ok(Order { asked, count, bounds, by })
    }

    fn matrix(&mut self) -> Result<Diagonals, Error> {
        let (slots, count) = (self.count()?, self.count()?);
        let mut matrix = Diagonals::new(slots)?;
        let mut last = None;
        for _ in 0..count {
            let shift = i32::from_le_bytes(self.array()?);
            // Doubled, because half of one slot counts too: the one diagonal of a matrix of one slot is 0.
            let (twice, slots) = (2 * i64::from(shift), slots as i64);
            if last.is_some_and(|last| shift <= last) || !(-slots < twice && twice <= slots) {
                return Err(Error::BadBytes(format!(
                    "a diagonal {shift} in a matrix of {slots} slots; they come in ascending order, each once, above -{slots}/2 \
                     and up to {slots}/2"
                )));
            }
            last = Some(shift);
            matrix.insert(shift.into(), self.numbers()?)?;
        }
        Ok(matrix)
    }
}
