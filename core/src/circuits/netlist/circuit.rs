//! The netlist itself: inputs, gates, outputs, and what must hold of them.

use alloc::{collections::BTreeSet, format, string::String, vec, vec::Vec};

use super::{Gate, Plan};
use crate::error::Error;

/// Most gates of a netlist.
pub const MAX_GATES: usize = 1 << 17;
/// Most inputs.
pub const MAX_INPUTS: usize = 1 << 13;
/// Most outputs.
pub const MAX_OUTPUTS: usize = 1 << 13;
/// Longest name of a wire, in bytes.
pub const MAX_NAME: usize = 64;

/// A wire: an input, or the value of a gate. Inputs are counted first, then gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wire(pub(super) u32);

impl Wire {
    /// The wire's number: below [`Netlist::inputs`] it is that input.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a gate is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A constant.
    Constant(bool),
    /// A wire.
    Wire(Wire),
}

impl From<Wire> for Operand {
    fn from(wire: Wire) -> Self {
        Self::Wire(wire)
    }
}

impl From<bool> for Operand {
    fn from(value: bool) -> Self {
        Self::Constant(value)
    }
}

/// A gate with what it is applied to, or another name for a bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    gate: Option<Gate>,
    operands: [Operand; 3],
}

impl Node {
    /// Pairs a gate, or none, with its operands; `None` if their number is wrong.
    pub(super) fn new(gate: Option<Gate>, operands: &[Operand]) -> Option<Self> {
        if operands.len() != arity(gate) {
            return None;
        }
        let mut all = [Operand::Constant(false); 3];
        all[..operands.len()].copy_from_slice(operands);
        Some(Self { gate, operands: all })
    }

    /// The gate; `None` if the value is that of the one operand.
    pub fn gate(&self) -> Option<Gate> {
        self.gate
    }

    /// Its operands, as many as the gate takes.
    pub fn operands(&self) -> &[Operand] {
        &self.operands[..arity(self.gate)]
    }

    fn wires(&self) -> impl Iterator<Item = Wire> {
        self.operands().iter().filter_map(|operand| match operand {
            Operand::Wire(wire) => Some(*wire),
            Operand::Constant(_) => None,
        })
    }
}

/// Number of operands.
pub(super) fn arity(gate: Option<Gate>) -> usize {
    gate.map_or(1, Gate::arity)
}

/// A circuit without loops: every wire has one name and one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Netlist {
    /// Names of the inputs, then of the gates' values.
    names: Vec<String>,
    inputs: usize,
    nodes: Vec<Node>,
    outputs: Vec<Wire>,
    /// The gates in an order in which each follows those it needs.
    order: Vec<u32>,
}

/// What is wrong with a netlist. The caller, which knows where the parts were written, makes the message.
pub(super) enum Defect {
    /// Gates that need each other, in the order of need.
    Cycle(Vec<usize>),
    /// Anything else.
    Other(Error),
}

impl Netlist {
    /// Checks the limits, the outputs, and that there are no loops. [`Builder`](super::Builder) and the parser make sure that every input
    /// and gate has a unique, well-formed name, and that operands exist.
    pub(super) fn new(
        names: Vec<String>,
        inputs: usize,
        nodes: Vec<Node>,
        outputs: Vec<Wire>,
    ) -> Result<Self, Defect> {
        for (count, limit, what) in [
            (inputs, MAX_INPUTS, "inputs"),
            (nodes.len(), MAX_GATES, "gates"),
            (outputs.len(), MAX_OUTPUTS, "outputs"),
        ] {
            if count > limit {
                return Err(Defect::Other(Error::Limit(format!(
                    "the netlist has {count} {what}, at most {limit} are taken; split the circuit"
                ))));
            }
        }
        if outputs.is_empty() {
            return Err(Defect::Other(Error::InvalidArgument(
                "the netlist has no output, so nothing would be computed; name one with \"output\"".into(),
            )));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = outputs.iter().find(|wire| !seen.insert(**wire)) {
            return Err(Defect::Other(Error::InvalidArgument(format!(
                "{} is an output twice; give the second one a name of its own",
                names[twice.index()]
            ))));
        }
        let order = order(inputs, &nodes).map_err(Defect::Cycle)?;
        Ok(Self { names, inputs, nodes, outputs, order })
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The gates, in the order they were written; gate `i` is the source of wire `inputs() + i`.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The outputs.
    pub fn outputs(&self) -> &[Wire] {
        &self.outputs
    }

    /// The name of a wire.
    pub fn name(&self, wire: Wire) -> &str {
        self.names.get(wire.index()).map_or("", String::as_str)
    }

    /// Names of the inputs, in order.
    pub fn input_names(&self) -> &[String] {
        &self.names[..self.inputs]
    }

    /// Names of the outputs, in order.
    pub fn output_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.outputs.iter().map(|wire| self.name(*wire))
    }

    /// Indices of [`nodes`](Self::nodes) in an order in which each gate follows those it needs.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The plan to run: the gates, folded and levelled.
    pub fn plan(&self) -> Plan {
        Plan::new(self)
    }
}

/// Whether `name` may name a wire.
pub(super) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    name.len() <= MAX_NAME
        && bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b"_.[]".contains(&b))
}

/// Kahn's order of the gates, beginning with the ready ones in the order they were written; or a cycle.
fn order(inputs: usize, nodes: &[Node]) -> Result<Vec<u32>, Vec<usize>> {
    // Users of gate i: users[start[i]..start[i + 1]].
    let mut start = vec![0usize; nodes.len() + 1];
    let gates = |node: &Node| -> Vec<usize> {
        node.wires().filter_map(|wire| wire.index().checked_sub(inputs)).collect()
    };
    for node in nodes {
        for source in gates(node) {
            start[source + 1] += 1;
        }
    }
    for i in 0..nodes.len() {
        start[i + 1] += start[i];
    }
    let mut users = vec![0usize; start[nodes.len()]];
    let mut next = start.clone();
    let mut waiting = vec![0u8; nodes.len()];
    for (user, node) in nodes.iter().enumerate() {
        for source in gates(node) {
            users[next[source]] = user;
            next[source] += 1;
            waiting[user] += 1;
        }
    }
    let mut order: Vec<u32> = (0..nodes.len() as u32).filter(|&i| waiting[i as usize] == 0).collect();
    let mut at = 0;
    while let Some(&done) = order.get(at) {
        for &user in &users[start[done as usize]..start[done as usize + 1]] {
            waiting[user] -= 1;
            if waiting[user] == 0 {
                order.push(user as u32);
            }
        }
        at += 1;
    }
    if order.len() == nodes.len() {
        return Ok(order);
    }
    // Every gate that still waits has an operand that waits: follow these until one comes again.
    let mut place = vec![usize::MAX; nodes.len()];
    let mut path = Vec::new();
    let mut gate = waiting.iter().position(|&count| count > 0).unwrap_or(0);
    while place[gate] == usize::MAX {
        place[gate] = path.len();
        path.push(gate);
        gate = gates(&nodes[gate]).into_iter().find(|&source| waiting[source] > 0).unwrap_or(gate);
    }
    Err(path.split_off(place[gate]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_plain() {
        for good in ["a", "_", "sum[7]", "x.y_1", &"n".repeat(MAX_NAME)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "0", "1a", "[0]", "a b", "a-b", "ä", "a=", &"n".repeat(MAX_NAME + 1)] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_cycle_is_given_in_order_and_without_what_leads_to_it() {
        let wire = |i| Operand::Wire(Wire(i));
        let node = |a, b| Node::new(Some(Gate::And), &[wire(a), wire(b)]).unwrap();
        // One input; gates 1..=4: 1 <- 2 <- 3 <- 4 <- 2.
        let nodes = [node(0, 2), node(0, 3), node(0, 4), node(2, 0)];
        assert_eq!(order(1, &nodes), Err(alloc::vec![1, 2, 3]));
        let own = [node(0, 1)];
        assert_eq!(order(1, &own), Err(alloc::vec![0]));
        let backwards = [node(0, 2), node(3, 3), node(0, 0)];
        assert_eq!(order(1, &backwards), Ok(alloc::vec![2, 1, 0]));
    }
}
