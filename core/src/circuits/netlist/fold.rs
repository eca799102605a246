//! Folding: reducing the gates that were written to the few kinds that need one bootstrap each.
//!
//! An [`Op`] has distinct operands, none of them constant. This is not only economy: a gate adds
//! its operands' noise as if it were independent, and with the same ciphertext twice it is not.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{Gate, Netlist, Operand};

/// A bit of a plan: a constant, or a wire of the plan, inverted or not.
///
/// Inverting an encrypted bit is a negation, without bootstrapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// A constant.
    Constant(bool),
    /// A wire of the plan: inputs are counted first, then ops.
    Wire {
        /// Its number.
        index: u32,
        /// Whether its inverse is meant.
        inverted: bool,
    },
}

impl Signal {
    /// The wire of that number.
    pub fn wire(index: usize) -> Self {
        Self::Wire { index: index as u32, inverted: false }
    }

    /// The inverse if `invert`.
    #[must_use]
    pub fn inverted_if(self, invert: bool) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(value != invert),
            Self::Wire { index, inverted } => Self::Wire { index, inverted: inverted != invert },
        }
    }

    /// The number of its wire, if it has one.
    pub fn index(self) -> Option<usize> {
        match self {
            Self::Constant(_) => None,
            Self::Wire { index, .. } => Some(index as usize),
        }
    }

    pub(super) fn is_inverted(self) -> bool {
        matches!(self, Self::Wire { inverted: true, .. })
    }

    fn upright(self) -> Self {
        self.inverted_if(self.is_inverted())
    }
}

/// What every gate comes down to, up to inversions of operands and result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// x and y; operands may be inverted, which makes it any of AND, NOR, ANDNY and ANDYN.
    And,
    /// x plus y modulo 2; no operand is inverted.
    Xor,
    /// x plus y plus z modulo 2; no operand is inverted.
    Xor3,
    /// The majority; at most one operand is inverted.
    Maj3,
    /// y if x, else z; only z may be inverted.
    Mux,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::And, Self::Xor, Self::Xor3, Self::Maj3, Self::Mux];

    /// The gate of that function.
    pub fn gate(self) -> Gate {
        match self {
            Self::And => Gate::And,
            Self::Xor => Gate::Xor,
            Self::Xor3 => Gate::Xor3,
            Self::Maj3 => Gate::Majority,
            Self::Mux => Gate::Mux,
        }
    }

    /// Number of operands.
    pub fn operands(self) -> usize {
        self.gate().arity()
    }

    /// Number of blind rotations that a gate of this kind takes.
    pub fn bootstraps(self) -> usize {
        self.gate().rotations()
    }
}

/// One gate of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Op {
    kind: Kind,
    operands: [Signal; 3],
}

impl Op {
    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its operands: distinct wires.
    pub fn operands(&self) -> &[Signal] {
        &self.operands[..self.kind.operands()]
    }

    pub(super) fn operands_mut(&mut self) -> &mut [Signal] {
        &mut self.operands[..self.kind.operands()]
    }

    pub(super) fn new(kind: Kind, operands: &[Signal]) -> Self {
        let mut all = [Signal::Constant(false); 3];
        all[..operands.len()].copy_from_slice(operands);
        Self { kind, operands: all }
    }
}

/// The ops of a netlist, each after those it needs, and its outputs. Equal ops are merged.
pub(super) fn fold(netlist: &Netlist) -> (Vec<Op>, Vec<Signal>) {
    let inputs = netlist.inputs();
    let mut folder = Folder { inputs, ops: Vec::new(), known: BTreeMap::new() };
    let mut values: Vec<Signal> = (0..inputs).map(Signal::wire).collect();
    values.resize(inputs + netlist.nodes().len(), Signal::Constant(false));
    for &at in netlist.order() {
        let node = &netlist.nodes()[at as usize];
        let value = |operand: &Operand| match operand {
            Operand::Constant(value) => Signal::Constant(*value),
            Operand::Wire(wire) => values[wire.index()],
        };
        let operands = padded(node.operands(), value);
        values[inputs + at as usize] = match node.gate() {
            Some(gate) => folder.gate(gate, &operands),
            None => operands[0],
        };
    }
    let outputs = netlist.outputs().iter().map(|wire| values[wire.index()]).collect();
    (folder.ops, outputs)
}

/// Folds ops again, after some were replaced.
pub(super) fn refold(inputs: usize, ops: &mut Vec<Op>, outputs: &mut [Signal]) {
    let mut folder = Folder { inputs, ops: Vec::new(), known: BTreeMap::new() };
    let mut values: Vec<Signal> = (0..inputs).map(Signal::wire).collect();
    let value = |values: &[Signal], signal: &Signal| match signal.index() {
        Some(index) => values[index].inverted_if(signal.is_inverted()),
        None => *signal,
    };
    for op in ops.iter() {
        let operands = padded(op.operands(), |signal| value(&values, signal));
        values.push(folder.gate(op.kind.gate(), &operands));
    }
    for signal in outputs {
        *signal = value(&values, signal);
    }
    *ops = folder.ops;
}

fn padded<T>(operands: &[T], value: impl Fn(&T) -> Signal) -> [Signal; 3] {
    core::array::from_fn(|i| operands.get(i).map_or(Signal::Constant(false), &value))
}

struct Folder {
    inputs: usize,
    ops: Vec<Op>,
    known: BTreeMap<Op, Signal>,
}

impl Folder {
    /// The value of a gate on three signals; the last ones may not matter.
    fn gate(&mut self, gate: Gate, operands: &[Signal; 3]) -> Signal {
        if let Some([first, second]) = gate.chain() {
            let inner = self.gate(first, operands);
            return self.gate(second, &[inner, operands[2], Signal::Constant(false)]);
        }
        // The wires it depends on: those that change its value when they change.
        let mut wires: Vec<Signal> = Vec::with_capacity(3);
        for operand in &operands[..gate.arity()] {
            let wire = operand.upright();
            if wire.index().is_some() && !wires.contains(&wire) {
                wires.push(wire);
            }
        }
        loop {
            let table = table(gate, operands, &wires);
            let count = 1 << wires.len();
            let idle = (0..wires.len()).find(|&i| (0..count).all(|x| table(x) == table(x ^ (1 << i))));
            match idle {
                Some(i) => {
                    // Its value does not matter, and the other operands stay as they are.
                    wires.remove(i);
                }
                None => break,
            }
        }
        let value = table(gate, operands, &wires);
        match *wires.as_slice() {
            [] => Signal::Constant(value(0)),
            [x] => x.inverted_if(value(0)),
            [x, y] => self.two(x, y, core::array::from_fn(value)),
            _ => self.three(gate, *operands),
        }
    }

    /// A function of two wires that depends on both, by its values at (x, y) = 00, 10, 01, 11.
    fn two(&mut self, x: Signal, y: Signal, values: [bool; 4]) -> Signal {
        match values.iter().filter(|value| **value).count() {
            2 => self.op(Kind::Xor, &[x, y]).inverted_if(values[0]),
            ones => {
                // True, or false, at one point only.
                let point = values.iter().position(|value| *value == (ones == 1)).unwrap_or(0);
                let operands = [x.inverted_if(point & 1 == 0), y.inverted_if(point & 2 == 0)];
                self.op(Kind::And, &operands).inverted_if(ones == 3)
            }
        }
    }

    /// A gate on three distinct wires.
    fn three(&mut self, gate: Gate, [x, y, z]: [Signal; 3]) -> Signal {
        let inverted = [x, y, z].map(Signal::is_inverted);
        match gate {
            Gate::Xor3 => {
                let odd = inverted.iter().fold(false, |odd, inverted| odd != *inverted);
                self.op(Kind::Xor3, &[x.upright(), y.upright(), z.upright()]).inverted_if(odd)
            }
            Gate::Majority => {
                // The majority of inverses is the inverse of the majority.
                let flip = inverted.iter().filter(|inverted| **inverted).count() > 1;
                self.op(Kind::Maj3, &[x, y, z].map(|s| s.inverted_if(flip))).inverted_if(flip)
            }
            _ => {
                let [y, z] = if inverted[0] { [z, y] } else { [y, z] };
                let flip = y.is_inverted();
                let operands = [x.upright(), y.inverted_if(flip), z.inverted_if(flip)];
                self.op(Kind::Mux, &operands).inverted_if(flip)
            }
        }
    }

    fn op(&mut self, kind: Kind, operands: &[Signal]) -> Signal {
        let mut op = Op::new(kind, operands);
        if kind != Kind::Mux {
            op.operands_mut().sort_unstable();
        }
        let next = Signal::wire(self.inputs + self.ops.len());
        let ops = &mut self.ops;
        *self.known.entry(op).or_insert_with(|| {
            ops.push(op);
            next
        })
    }
}

/// The gate's value where bit i of the argument is the value of `wires[i]`; other wires are 0.
fn table(gate: Gate, operands: &[Signal; 3], wires: &[Signal]) -> impl Fn(usize) -> bool + use<> {
    let (operands, wires) = (*operands, wires.to_vec());
    move |assignment| {
        let bits = operands.map(|operand| match operand {
            Signal::Constant(value) => value,
            Signal::Wire { inverted, .. } => {
                let place = wires.iter().position(|wire| *wire == operand.upright());
                place.is_some_and(|i| assignment >> i & 1 == 1) != inverted
            }
        });
        gate.evaluate(&bits[..gate.arity()]).unwrap_or_default()
    }
}

/// Removes an XOR that only XORs use by turning these into XOR3: one op less, and one level less on the way. In a tree of XOR, going up
/// from the leaves finds the most replacements.
pub(super) fn merge_xor(inputs: usize, ops: &mut Vec<Op>, outputs: &mut [Signal]) {
    let mut users: Vec<Vec<u32>> = alloc::vec![Vec::new(); ops.len()];
    for (user, op) in ops.iter().enumerate() {
        for source in op.operands().iter().filter_map(|s| s.index()?.checked_sub(inputs)) {
            users[source].push(user as u32);
        }
    }
    let mut needed = alloc::vec![false; ops.len()];
    outputs.iter().filter_map(|s| s.index()?.checked_sub(inputs)).for_each(|i| needed[i] = true);
    let mut gone = alloc::vec![false; ops.len()];
    for at in 0..ops.len() {
        let op = ops[at];
        users[at].retain(|&user| !gone[user as usize]);
        let mergeable = |&user: &u32| {
            let user = ops[user as usize];
            user.kind == Kind::Xor && !user.operands().iter().any(|s| op.operands().contains(s))
        };
        if op.kind != Kind::Xor || needed[at] || users[at].is_empty() || !users[at].iter().all(mergeable) {
            continue;
        }
        gone[at] = true;
        let adopted = core::mem::take(&mut users[at]);
        for &user in &adopted {
            let own = Signal::wire(inputs + at);
            let other = ops[user as usize].operands().iter().find(|s| **s != own).copied();
            let mut all: Vec<Signal> = op.operands().iter().copied().chain(other).collect();
            all.sort_unstable();
            ops[user as usize] = Op::new(Kind::Xor3, &all);
        }
        for source in op.operands().iter().filter_map(|s| s.index()?.checked_sub(inputs)) {
            // `at` stays in the list, where it counts no longer.
            users[source].extend_from_slice(&adopted);
        }
    }
    renumber(inputs, ops, outputs, &gone);
}

/// Gives every op the index of its wire in `places`.
pub(super) fn move_to(places: &[u32], inputs: usize, ops: &mut [Op], outputs: &mut [Signal]) {
    for signal in ops.iter_mut().flat_map(Op::operands_mut).chain(outputs) {
        if let Signal::Wire { index, .. } = signal
            && let Some(op) = (*index as usize).checked_sub(inputs)
        {
            *index = places[op];
        }
    }
}

/// Leaves out the ops marked `gone`, which nothing uses.
pub(super) fn renumber(inputs: usize, ops: &mut Vec<Op>, outputs: &mut [Signal], gone: &[bool]) {
    let mut new = Vec::with_capacity(ops.len());
    let mut count = inputs as u32;
    for gone in gone {
        new.push(count);
        count += u32::from(!gone);
    }
    let mut at = 0;
    ops.retain(|_| {
        at += 1;
        !gone[at - 1]
    });
    move_to(&new, inputs, ops, outputs);
}
