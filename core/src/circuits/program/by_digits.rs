//! Questions about the order of numbers answered by reading digits: the nodes that replace them.
//!
//! The real parts of the first slots are written in rows and in columns of a square, so that every pair is in a slot of its own, and the
//! highest digit of all differences is read at once: it says which of two numbers is the larger. The sum of a column is the rank of its
//! number, and a table on it says whether it is the largest, the smallest, or among the k largest. The lowered program has only operations
//! that programs have anyway.

use alloc::{collections::BTreeMap, format, vec, vec::Vec};

use super::{Asked, Bounds, Node, Operation, Order, Program, Reading, Value};
use crate::{error::Error, schemes::ckks::Complex};

/// Most numbers that are ranked by digits: each pair takes a slot, and a value in constants.
const MOST_RANKED: u32 = 64;

/// How a set tells orders by digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DigitOrders {
    /// The largest base of a digit.
    pub base: u32,
    /// The largest base of a digit with two levels left after its table: one for ranks, and one to bring them to the scale of the set.
    pub base_of_pairs: u32,
    /// The base of the guard digit, which is read first to take a rounding off.
    pub guard: u32,
    /// The most by which a rounding moves a number, in points of its grid.
    pub rounding: f64,
    /// The most by which numbers up to 1 are off beside that, in turns.
    pub off: f64,
    /// Modelled seconds of a key switch outside of readings.
    pub key_switch: f64,
}

/// A program with orders told by digits.
pub(super) struct Lowered {
    pub program: Program,
    /// For each node, the node of the original program that it stands for.
    pub origins: Vec<usize>,
    /// How far apart real numbers have to be.
    pub least_distance: f64,
}

/// How a difference is read.
struct Pairs {
    /// The factor of a number.
    turns: f64,
    /// What is subtracted from a difference where equal numbers are to count as smaller, and added where they are not.
    ties: [f64; 2],
    reading: Reading,
    least_distance: f64,
}

impl DigitOrders {
    /// How numbers within `bounds` are compared.
    fn pairs(&self, bounds: Bounds, base: u32) -> Result<Pairs, Error> {
        // No difference is further than a quarter of a turn from a half.
        let reals = |turns: f64| Pairs {
            turns,
            ties: [0.0; 2],
            reading: Reading::LookUp(upper_half(base)),
            least_distance: (self.rounding / f64::from(base) / f64::from(self.guard) + self.off) / turns,
        };
        match bounds {
            Bounds::Signed => Ok(reals(0.125)),
            Bounds::Unit => Ok(reals(0.25)),
            Bounds::Grid(bits) if bits < base.ilog2() => {
                let values = 2u32 << bits;
                let ties = [1.0 / f64::from(values), 0.0];
                Ok(Pairs {
                    turns: 0.5,
                    ties,
                    reading: Reading::LookUpExact(upper_half(values)),
                    least_distance: 0.0,
                })
            }
            // Five bits are read below these, so half a step is 32 points of the grid, and a rounding moves by fewer.
            Bounds::Grid(bits @ ..=12) => {
                let tie = libm::ldexp(1.0, -(bits as i32) - 3);
                let reading = Reading::Bit { bits: bits + 3, index: bits + 2 };
                Ok(Pairs { turns: 0.25, ties: [tie; 2], reading, least_distance: 0.0 })
            }
            Bounds::Grid(bits) => Err(Error::InvalidArgument(format!(
                "numbers on a grid of {bits} bits are not compared by digits; take at most 12"
            ))),
        }
    }
}

/// The table of t values that is 1 for the upper half.
fn upper_half(t: u32) -> Vec<Complex> {
    (0..t).map(|j| f64::from(u8::from(2 * j >= t)).into()).collect()
}

impl Lowered {
    /// `program` with the orders at the nodes `at` told by digits, in `slots` slots.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], naming the node, for more numbers than are ranked, or on a grid that is too fine.
    pub fn new(program: &Program, orders: &DigitOrders, at: &[usize], slots: usize) -> Result<Self, Error> {
        let (nodes, origins, read_signs) = (Vec::new(), Vec::new(), Vec::new());
        let mut lowering = Lowering { orders, slots, nodes, origins, least_distance: 0.0, read_signs };
        let mut values: Vec<Value> = Vec::new();
        // Ranks that were found, and those scaled for a table.
        let mut ranks: Vec<(Value, Order, Value)> = Vec::new();
        let mut of_tables: BTreeMap<Value, Value> = BTreeMap::new();
        for (index, node) in program.nodes().iter().enumerate() {
            let value = match &node.operation {
                Operation::Digits(x, Reading::Order(order)) if at.contains(&index) => {
                    let x = values[x.index()];
                    let known =
                        ranks.iter().find(|(of, other, _)| *of == x && order.shares_comparisons(other));
                    let within = |error: Error| error.within(&program.describe(index));
                    match (order.asked, known.map(|&(_, _, rank)| rank)) {
                        (Asked::Sign, _) => lowering.signs(index, x, order).map_err(within)?,
                        (_, Some(rank)) => lowering.answer(index, rank, order, &mut of_tables),
                        (_, None) => {
                            let rank = lowering.ranks(index, x, order).map_err(within)?;
                            ranks.push((x, *order, rank));
                            lowering.answer(index, rank, order, &mut of_tables)
                        }
                    }
                }
                operation => lowering.push(index, moved(operation, &values)),
            };
            if let Some(last) = lowering.nodes.get_mut(value.index()).filter(|last| last.name.is_empty()) {
                last.name.clone_from(&node.name);
            }
            values.push(value);
        }
        let Lowering { nodes, origins, least_distance, .. } = lowering;
        Ok(Self { program: Program::of_checked(nodes), origins, least_distance })
    }
}

/// The operation with its operands replaced by what they became.
fn moved(operation: &Operation, values: &[Value]) -> Operation {
    let of = |x: &Value| values[x.index()];
    match operation {
        Operation::Input => Operation::Input,
        Operation::Constant(numbers) => Operation::Constant(numbers.clone()),
        Operation::Add(x, y) => Operation::Add(of(x), of(y)),
        Operation::Subtract(x, y) => Operation::Subtract(of(x), of(y)),
        Operation::Multiply(x, y) => Operation::Multiply(of(x), of(y)),
        Operation::Negate(x) => Operation::Negate(of(x)),
        Operation::Rotate(x, steps) => Operation::Rotate(of(x), *steps),
        Operation::Conjugate(x) => Operation::Conjugate(of(x)),
        Operation::Polynomial(x, p) => Operation::Polynomial(of(x), p.clone()),
        Operation::LinearTransform(x, matrix) => Operation::LinearTransform(of(x), matrix.clone()),
        Operation::Bootstrap(x) => Operation::Bootstrap(of(x)),
        Operation::Digits(x, reading) => Operation::Digits(of(x), reading.clone()),
        Operation::Output(x) => Operation::Output(of(x)),
    }
}

struct Lowering<'a> {
    orders: &'a DigitOrders,
    slots: usize,
    nodes: Vec<Node>,
    origins: Vec<usize>,
    least_distance: f64,
    /// Signs that were read: of which numbers, how many, and where they are.
    read_signs: Vec<(Value, u32, Value)>,
}

impl Lowering<'_> {
    fn push(&mut self, origin: usize, operation: Operation) -> Value {
        self.nodes.push(Node { name: alloc::string::String::new(), operation });
        self.origins.push(origin);
        Value::new(self.nodes.len() as u32 - 1)
    }

    /// x times real numbers, followed by zeros.
    fn times(&mut self, origin: usize, x: Value, numbers: Vec<f64>) -> Value {
        let numbers = self.constant(origin, numbers);
        self.push(origin, Operation::Multiply(x, numbers))
    }

    fn plus(&mut self, origin: usize, x: Value, numbers: Vec<f64>) -> Value {
        let numbers = self.constant(origin, numbers);
        self.push(origin, Operation::Add(x, numbers))
    }

    fn constant(&mut self, origin: usize, mut numbers: Vec<f64>) -> Value {
        // One number alone would stand in every slot.
        if numbers.len() == 1 && self.slots > 1 {
            numbers.push(0.0);
        }
        self.push(origin, Operation::Constant(numbers.into_iter().map(Complex::from).collect()))
    }

    /// The sum of `count` slots, a power of two, each `step` further than the last.
    fn sum(&mut self, origin: usize, x: Value, count: usize, step: i32) -> Value {
        (0..count.ilog2()).fold(x, |sum, log| {
            let turned = self.push(origin, Operation::Rotate(sum, step << log));
            self.push(origin, Operation::Add(sum, turned))
        })
    }

    /// A number for each of the slots: that of `of`, or else 1/4, which is read as 0.
    fn middles(&self, of: impl Fn(usize) -> Option<f64>) -> Vec<f64> {
        (0..self.slots).map(|slot| of(slot).unwrap_or(0.25)).collect()
    }

    fn signs(&mut self, origin: usize, x: Value, order: &Order) -> Result<Value, Error> {
        if let Some(&(.., known)) = self.read_signs.iter().find(|&&(of, n, _)| (of, n) == (x, order.count)) {
            return Ok(known);
        }
        let (of, count) = (x, order.count as usize);
        if count > self.slots {
            return Err(Error::InvalidArgument(format!(
                "signs of {count} numbers in {} slots; ask for fewer, or take a set with more slots",
                self.slots
            )));
        }
        // No number is further than 1 from 0.
        let Pairs { turns, reading, least_distance, .. } =
            self.orders.pairs(Bounds::Unit, self.orders.base)?;
        self.least_distance = self.least_distance.max(least_distance);
        let x = self.times(origin, x, vec![turns; count]);
        let middles = self.middles(|slot| (slot < count).then_some(0.5));
        let x = self.plus(origin, x, middles);
        let read = self.push(origin, Operation::Digits(x, reading));
        self.read_signs.push((of, order.count, read));
        Ok(read)
    }

    /// In slot j how many of the other numbers are smaller than number j; slots after those of the numbers may hold anything.
    fn ranks(&mut self, origin: usize, x: Value, order: &Order) -> Result<Value, Error> {
        let (count, n) = (order.count as usize, (order.count as usize).next_power_of_two());
        if order.count > MOST_RANKED || n * n > self.slots {
            return Err(Error::InvalidArgument(format!(
                "{count} numbers to rank by digits, as many pairs as {n} times {n} in {} slots; rank at most {MOST_RANKED} at once, and no \
                 more than fit",
                self.slots
            )));
        }
        let Pairs { turns, ties, reading, least_distance } =
            self.orders.pairs(order.bounds, self.orders.base_of_pairs)?;
        self.least_distance = self.least_distance.max(least_distance);
        let row = n as i32;
        let x = self.times(origin, x, vec![turns; count]);
        let columns = self.sum(origin, x, n, -row);
        // x_i alone in row i, first at its head, then in every slot of the row.
        let square = |is: &dyn Fn(usize, usize) -> bool| -> Vec<f64> {
            (0..n * n).map(|slot| f64::from(u8::from(is(slot / n, slot % n)))).collect()
        };
        let diagonal = self.times(origin, columns, square(&|i, j| i == j));
        let heads = self.sum(origin, diagonal, n, 1);
        let heads = self.times(origin, heads, square(&|_, j| j == 0));
        let rows = self.sum(origin, heads, n, -1);
        // Rows that hold no number stay empty.
        let columns = if count < n { self.times(origin, columns, vec![1.0; n * count]) } else { columns };
        let differences = self.push(origin, Operation::Subtract(columns, rows));
        // Of equal numbers the first has the higher rank.
        let middles = self.middles(|slot| {
            let (i, j) = (slot / n, slot % n);
            let pair = i < count && j < count && i != j;
            pair.then(|| if j > i { 0.5 - ties[0] } else { 0.5 + ties[1] })
        });
        let differences = self.plus(origin, differences, middles);
        let larger = self.push(origin, Operation::Digits(differences, reading));
        Ok(self.sum(origin, larger, n, row))
    }

    /// The answer to `order` by ranks, in the first slots, and zeros in the others.
    fn answer(
        &mut self,
        origin: usize,
        ranks: Value,
        order: &Order,
        of_tables: &mut BTreeMap<Value, Value>,
    ) -> Value {
        let count = order.count as usize;
        if order.asked == Asked::Rank {
            return self.times(origin, ranks, vec![1.0; count]);
        }
        // One value more than ranks, for the slots that hold none.
        let values = (order.count + 1).next_power_of_two();
        let over = *of_tables.entry(ranks).or_insert_with(|| {
            let scaled = self.times(origin, ranks, vec![1.0 / f64::from(values); count]);
            let none = f64::from(order.count) / f64::from(values);
            let others = (0..self.slots).map(|slot| if slot < count { 0.0 } else { none }).collect();
            self.plus(origin, scaled, others)
        });
        let table = (0..values).map(|rank| {
            let meant = rank < order.count && order.is_meant(rank);
            f64::from(u8::from(meant)).into()
        });
        self.push(origin, Operation::Digits(over, Reading::LookUpExact(table.collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;

    const ORDERS: DigitOrders =
        DigitOrders { base: 128, base_of_pairs: 128, guard: 32, rounding: 16.5, off: 0.0, key_switch: 0.0 };

    /// Ends of the range, and numbers beyond it where nothing is asked.
    #[test]
    fn a_sign_of_one_number_is_in_its_slot_alone() {
        let program =
            Program::parse("x = input\na = sign x 1\nb = sign x 1\nc = add a b\nc = output c").unwrap();
        let lowered = Lowered::new(&program, &ORDERS, &[1, 2], 8).unwrap();
        for first in [1.0, 0.5, -0.5, -1.0] {
            let x = [first, 1.0, -1.0, 3.0, -3.0, 0.0, 0.25, -0.25].map(Complex::from).to_vec();
            let found = lowered.program.evaluate(8, core::slice::from_ref(&x)).unwrap();
            let wanted = [if first > 0.0 { 2.0 } else { 0.0 }].into_iter().chain([0.0; 7]);
            let off = found[0].iter().zip(wanted).map(|(y, wanted)| (y.re - wanted).abs());
            assert!(off.fold(0.0, f64::max) < 1e-9, "{first}: {found:?}");
        }
        let readings =
            lowered.program.nodes().iter().filter(|n| matches!(n.operation, Operation::Digits(..)));
        assert_eq!(readings.count(), 1, "asked twice, read once");
    }

    #[test]
    fn what_is_lowered_computes_the_same() {
        let orders = ORDERS;
        let mut stream = Seed::from_bytes([3; 32]).stream();
        for (count, bounds, steps) in [
            (2, "grid 1", 2),
            (3, "grid 3", 8),
            (5, "unit", 1 << 20),
            (7, "grid 9", 512),
            (8, "signed", 1 << 20),
            (16, "grid 6", 64),
        ] {
            let text = format!(
                "x = input\na = argmax x {count} {bounds}\nb = argmin x {count} {bounds}\nc = top x {count} 2 {bounds}\n\
                 r = rank x {count} {bounds}\ns = sign x {count}\nt = add r a\na = output a\nb = output b\nc = output c\n\
                 s = output s\nt = output t"
            );
            let program = Program::parse(&text).unwrap();
            let at = [1, 2, 3, 4, 5];
            let lowered = Lowered::new(&program, &orders, &at, 256).unwrap();
            assert_eq!(lowered.origins.len(), lowered.program.nodes().len());
            for _ in 0..20 {
                let low = if bounds == "signed" { -1.0 } else { 0.0 };
                let mut number = |_| {
                    let fraction = f64::from(stream.below(steps)) / f64::from(steps);
                    Complex::from(low + fraction * (1.0 - low))
                };
                // Also where nothing is asked.
                let x: Vec<Complex> = (0..256).map(&mut number).collect();
                let wanted = program.evaluate(256, core::slice::from_ref(&x)).unwrap();
                let found = lowered.program.evaluate(256, core::slice::from_ref(&x)).unwrap();
                for (found, wanted) in found.iter().zip(&wanted) {
                    let off = found.iter().zip(wanted).map(|(a, b)| (a.re - b.re).abs());
                    assert!(off.fold(0.0, f64::max) < 1e-9, "{text}: {x:?}");
                }
            }
        }
    }
}
