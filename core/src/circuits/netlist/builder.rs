//! Building netlists in Rust.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use super::circuit::{Defect, MAX_GATES, arity, is_name};
use super::{Gate, Netlist, Node, Operand, Wire};
use crate::error::Error;

/// Collects inputs, gates and outputs. Gates can only use wires that exist, so there is no loop; all
/// other mistakes are reported by [`finish`](Self::finish), the first one made.
#[derive(Debug, Default)]
pub struct Builder {
    inputs: Vec<String>,
    nodes: Vec<Node>,
    /// The gates whose values have names, with their names.
    named: Vec<(usize, String)>,
    outputs: Vec<usize>,
    error: Option<Error>,
}

/// A wire of a [`Builder`], or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bit {
    /// A constant.
    Constant(bool),
    /// The input with this number.
    Input(u32),
    /// The value of the gate with this number.
    Gate(u32),
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new input.
    pub fn input(&mut self, name: &str) -> Bit {
        self.inputs.push(name.into());
        Bit::Input(self.inputs.len() as u32 - 1)
    }

    /// New inputs `name[0]`, ..., `name[width - 1]`.
    pub fn inputs(&mut self, name: &str, width: usize) -> Vec<Bit> {
        (0..width).map(|i| self.input(&format!("{name}[{i}]"))).collect()
    }

    /// Adds a gate and gives its value.
    pub fn gate(&mut self, gate: Gate, operands: &[Bit]) -> Bit {
        self.node(Some(gate), operands)
    }

    /// not x.
    pub fn not(&mut self, x: Bit) -> Bit {
        self.gate(Gate::Not, &[x])
    }

    /// x and y.
    pub fn and(&mut self, x: Bit, y: Bit) -> Bit {
        self.gate(Gate::And, &[x, y])
    }

    /// x or y.
    pub fn or(&mut self, x: Bit, y: Bit) -> Bit {
        self.gate(Gate::Or, &[x, y])
    }

    /// x plus y modulo 2.
    pub fn xor(&mut self, x: Bit, y: Bit) -> Bit {
        self.gate(Gate::Xor, &[x, y])
    }

    /// x plus y plus z modulo 2.
    pub fn xor3(&mut self, x: Bit, y: Bit, z: Bit) -> Bit {
        self.gate(Gate::Xor3, &[x, y, z])
    }

    /// The majority of x, y, z.
    pub fn maj3(&mut self, x: Bit, y: Bit, z: Bit) -> Bit {
        self.gate(Gate::Majority, &[x, y, z])
    }

    /// Makes a bit an output under a name.
    pub fn output(&mut self, name: &str, bit: Bit) {
        if let Bit::Gate(index) = self.node(None, &[bit]) {
            self.named.push((index as usize, name.into()));
            self.outputs.push(index as usize);
        }
    }

    /// Makes bits outputs called `name[0]`, `name[1]`, ...
    pub fn outputs(&mut self, name: &str, bits: &[Bit]) {
        for (i, bit) in bits.iter().enumerate() {
            self.output(&format!("{name}[{i}]"), *bit);
        }
    }

    /// The netlist. Gates without a name get one: `n` and their number, with `_` before it where
    /// that is taken.
    ///
    /// # Errors
    /// The first mistake made: a name used twice or malformed, a wrong number of operands, a bit of another builder, no output, or more
    /// than the limits allow.
    pub fn finish(mut self) -> Result<Netlist, Error> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let inputs = self.inputs.len();
        let mut taken = BTreeSet::new();
        for name in self.inputs.iter().chain(self.named.iter().map(|(_, name)| name)) {
            if !is_name(name) {
                return Err(Error::InvalidArgument(format!(
                    "{name:?} cannot name a wire; take letters, digits, '_', '.', '[' and ']', a letter or '_' first"
                )));
            }
            if !taken.insert(name.clone()) {
                return Err(Error::InvalidArgument(format!("two wires are called {name}; rename one")));
            }
        }
        let mut names = self.inputs;
        let mut named = self.named.into_iter().peekable();
        for index in 0..self.nodes.len() {
            names.push(match named.next_if(|(at, _)| *at == index) {
                Some((_, name)) => name,
                None => free_name(index, &taken),
            });
        }
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let operands = node.operands().iter().map(|operand| settled(*operand, inputs, index));
            let Some(operands) = operands.collect::<Option<Vec<Operand>>>() else {
                return Err(Error::InvalidArgument(format!(
                    "gate {index} has an operand of another builder; use the bits this one returned"
                )));
            };
            nodes.extend(Node::new(node.gate(), &operands));
        }
        let outputs = self.outputs.into_iter().map(|index| Wire((inputs + index) as u32)).collect();
        Netlist::new(names, inputs, nodes, outputs).map_err(|defect| match defect {
            Defect::Other(error) => error,
            // Operands come before the gate, as checked above.
            Defect::Cycle(_) => Error::InvalidArgument("the gates need each other".into()),
        })
    }

    fn node(&mut self, gate: Option<Gate>, operands: &[Bit]) -> Bit {
        // Inputs may still come, so wires are numbered in `finish`; until then gates are numbered from `GATES`.
        let operands: Vec<Operand> = operands.iter().map(|bit| provisional(*bit)).collect();
        match Node::new(gate, &operands) {
            Some(node) if self.nodes.len() < MAX_GATES => {
                self.nodes.push(node);
                return Bit::Gate(self.nodes.len() as u32 - 1);
            }
            Some(_) => self.fail(Error::Limit(format!(
                "the netlist has more than {MAX_GATES} gates; split the circuit"
            ))),
            None => self.fail(Error::InvalidArgument(format!(
                "gate {} takes {} operands and was given {}; give it that number",
                gate.map_or("", Gate::name),
                arity(gate),
                operands.len()
            ))),
        }
        Bit::Constant(false)
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

/// Gates are numbered from here while inputs may still come.
const GATES: u32 = 1 << 31;

fn provisional(bit: Bit) -> Operand {
    match bit {
        Bit::Constant(value) => Operand::Constant(value),
        Bit::Input(index) => Operand::Wire(Wire(index & !GATES)),
        Bit::Gate(index) => Operand::Wire(Wire(index | GATES)),
    }
}

/// The operand's wire, now that the number of inputs is known; `None` unless it is an input or a
/// gate before number `gate`.
fn settled(operand: Operand, inputs: usize, gate: usize) -> Option<Operand> {
    match operand {
        Operand::Constant(_) => Some(operand),
        Operand::Wire(Wire(index)) => {
            let place = (index & !GATES) as usize;
            let (limit, before) = if index >= GATES { (gate, inputs) } else { (inputs, 0) };
            (place < limit).then(|| Operand::Wire(Wire((before + place) as u32)))
        }
    }
}

fn free_name(index: usize, taken: &BTreeSet<String>) -> String {
    let mut name = format!("n{index}");
    while taken.contains(&name) {
        name.insert(0, '_');
    }
    name
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn inputs_may_come_after_gates_and_names_do_not_clash() {
        let mut b = Builder::new();
        let x = b.input("n0");
        let y = b.not(x);
        let z = b.input("z");
        let w = b.and(y, z);
        b.output("w", w);
        let netlist = b.finish().unwrap();
        assert_eq!(netlist.to_string(), "input n0 z\noutput w\n_n0 = NOT n0\nn1 = AND _n0 z\nw = n1\n");
    }

    type Mistake<'a> = (&'a dyn Fn(&mut Builder), &'a str);

    #[test]
    fn mistakes_are_reported_by_finish() {
        let mistake = |make: &dyn Fn(&mut Builder)| {
            let mut b = Builder::new();
            let x = b.input("x");
            make(&mut b);
            b.output("y", x);
            b.finish().unwrap_err().to_string()
        };
        let cases: [Mistake<'_>; 5] = [
            (&|b| _ = b.gate(Gate::And, &[Bit::Constant(true)]), "gate and takes 2 operands and was given 1"),
            (&|b| _ = b.input("x"), "two wires are called x"),
            (&|b| _ = b.input("a b"), "\"a b\" cannot name a wire"),
            (&|b| _ = b.not(Bit::Gate(7)), "gate 0 has an operand of another builder"),
            (&|b| _ = b.not(Bit::Input(1)), "gate 0 has an operand of another builder"),
        ];
        for (make, message) in cases {
            let found = mistake(make);
            assert!(found.contains(message), "{found}");
        }
        assert!(Builder::new().finish().unwrap_err().to_string().contains("no output"));
    }
}
