//! Plans: the operations of a netlist, sorted into levels.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use super::Netlist;
use super::fold::{self, Kind, Op, Signal};

/// The ops of a netlist that have to be run, by level; those of one level are independent of each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    inputs: usize,
    ops: Vec<Op>,
    /// Where each level ends in `ops`.
    ends: Vec<usize>,
    outputs: Vec<Signal>,
}

impl Plan {
    pub(super) fn new(netlist: &Netlist) -> Self {
        let inputs = netlist.inputs();
        let (mut ops, mut outputs) = fold::fold(netlist);
        // Ops that no output needs would keep their operands from being merged.
        leave_out_unused(inputs, &mut ops, &mut outputs);
        fold::merge_xor(inputs, &mut ops, &mut outputs);
        // Merging can have made ops equal.
        fold::refold(inputs, &mut ops, &mut outputs);
        leave_out_unused(inputs, &mut ops, &mut outputs);
        let ends = level(inputs, &mut ops, &mut outputs);
        Self { inputs, ops, ends, outputs }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The ops, level by level; op `i` is the source of wire `inputs() + i`.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The range of each level in [`ops`](Self::ops).
    pub fn levels(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.ends
            .iter()
            .scan(0, |start, end| Some(core::mem::replace(start, *end)..*end))
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// Where in [`ops`](Self::ops) the level of op `at` ends; `None` after the last op.
    pub(super) fn level_end(&self, at: usize) -> Option<usize> {
        self.ends.iter().copied().find(|&end| end > at)
    }

    /// The outputs: constants, or wires of the plan.
    pub fn outputs(&self) -> &[Signal] {
        &self.outputs
    }

    /// Number of levels: bootstrappings that follow one another.
    pub fn depth(&self) -> usize {
        self.ends.len()
    }

    /// Number of ops of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.ops.iter().filter(|op| op.kind() == kind).count()
    }

    /// Number of blind rotations.
    pub fn bootstraps(&self) -> usize {
        self.ops.iter().map(|op| op.kind().bootstraps()).sum()
    }

    /// Ops of the largest level: how many threads can have something to do at once.
    pub fn width(&self) -> usize {
        self.levels().map(|level| level.len()).max().unwrap_or(0)
    }
}

fn leave_out_unused(inputs: usize, ops: &mut Vec<Op>, outputs: &mut [Signal]) {
    let mut gone = vec![true; ops.len()];
    let source = |signal: &Signal| signal.index()?.checked_sub(inputs);
    outputs.iter().filter_map(source).for_each(|i| gone[i] = false);
    for at in (0..ops.len()).rev() {
        if !gone[at] {
            ops[at].operands().iter().filter_map(source).for_each(|i| gone[i] = false);
        }
    }
    fold::renumber(inputs, ops, outputs, &gone);
}

/// Sorts the ops by level, kept in order within one, and gives the end of each level.
fn level(inputs: usize, ops: &mut Vec<Op>, outputs: &mut [Signal]) -> Vec<usize> {
    let mut levels = vec![0usize; ops.len()];
    for (at, op) in ops.iter().enumerate() {
        let of = |signal: &Signal| Some(levels[signal.index()?.checked_sub(inputs)?] + 1);
        levels[at] = op.operands().iter().filter_map(of).max().unwrap_or(0);
    }
    let mut sorted: Vec<usize> = (0..ops.len()).collect();
    sorted.sort_by_key(|&at| levels[at]);
    let mut place = vec![0u32; ops.len()];
    for (new, &old) in sorted.iter().enumerate() {
        place[old] = (inputs + new) as u32;
    }
    *ops = sorted.iter().map(|&at| ops[at]).collect();
    fold::move_to(&place, inputs, ops, outputs);
    let mut ends = vec![0; levels.iter().max().map_or(0, |last| last + 1)];
    for &level in &levels {
        ends[level] += 1;
    }
    (1..ends.len()).for_each(|i| ends[i] += ends[i - 1]);
    ends
}

#[cfg(test)]
mod tests {
    use super::super::{Clear, Gate};
    use super::*;

    fn plan(text: &str) -> Plan {
        Netlist::parse(text).unwrap().plan()
    }

    /// Every gate on every choice of three wires, inverses and constants.
    #[test]
    fn folding_keeps_every_function_and_leaves_distinct_operands() {
        let operands = ["0", "1", "a", "b", "c", "na", "nb", "nc"];
        for gate in Gate::ALL {
            for choice in 0..512usize {
                let names = [choice & 7, choice >> 3 & 7, choice >> 6].map(|i| operands[i]);
                if choice >> (3 * gate.arity()) != 0 {
                    continue;
                }
                let text = alloc::format!(
                    "input a b c\noutput y\nna = NOT a\nnb = NOT b\nnc = NOT c\ny = {} {}\n",
                    gate.name().to_ascii_uppercase(),
                    names[..gate.arity()].join(" ")
                );
                let plan = plan(&text);
                assert!(plan.bootstraps() <= gate.rotations(), "{text}");
                for op in plan.ops() {
                    let wires: Vec<usize> = op.operands().iter().filter_map(|s| s.index()).collect();
                    let distinct = wires.iter().collect::<alloc::collections::BTreeSet<_>>().len();
                    assert_eq!(distinct, op.kind().operands(), "{text}");
                    let inverted = op.operands().iter().filter(|s| s.is_inverted()).count();
                    assert!(inverted <= [2, 0, 0, 1, 1][op.kind() as usize], "{text}");
                }
                for bits in 0..8 {
                    let [a, b, c] = [bits & 1 == 1, bits & 2 == 2, bits & 4 == 4];
                    let of = |name| match name {
                        "0" => false,
                        "1" => true,
                        "a" => a,
                        "b" => b,
                        "c" => c,
                        "na" => !a,
                        "nb" => !b,
                        _ => !c,
                    };
                    let expected = gate.evaluate(&names.map(of)[..gate.arity()]).unwrap();
                    assert_eq!(plan.run(&Clear, &[a, b, c], &mut ()).unwrap(), [expected], "{text}");
                }
            }
        }
    }

    #[test]
    fn equal_gates_are_one_and_unused_ones_none() {
        let shared = plan("input a b\noutput x y\nx = NAND a b\ny = AND b a\nz = XOR a b\n");
        assert_eq!((shared.ops().len(), shared.depth()), (1, 1));
        // Through any number of names: x and not x.
        let never = plan("input a b\noutput z\nx = OR a b\ny = NOR b a\nz = AND x y\n");
        assert_eq!((never.ops().len(), never.outputs()), (0, &[Signal::Constant(false)][..]));
    }

    #[test]
    fn chains_of_xor_become_xor3_unless_a_link_is_needed() {
        let chain = "w = XOR a b\nx = XOR w c\ny = XOR x d\nz = XOR y e\n";
        let whole = plan(&alloc::format!("input a b c d e\noutput z\n{chain}"));
        assert_eq!((whole.bootstraps(), whole.depth(), whole.count(Kind::Xor3)), (2, 2, 2));
        let needed = plan(&alloc::format!("input a b c d e\noutput w z\n{chain}"));
        assert_eq!((needed.bootstraps(), needed.count(Kind::Xor3)), (3, 1));
        // A link with two uses, both XOR, goes into both.
        let fork = plan("input a b c d\noutput x y\nw = XOR a b\nx = XOR w c\ny = XOR w d\n");
        assert_eq!((fork.bootstraps(), fork.depth()), (2, 1));
        // Two ways to one sum.
        let twice =
            plan("input a b c\noutput z\nv = XOR a b\nw = XOR b c\nx = XOR v c\ny = XOR w a\nz = AND x y\n");
        assert_eq!((twice.ops().len(), twice.count(Kind::Xor3)), (1, 1));
        // What cancels stays two gates: the operands of XOR3 must differ.
        let cancels = plan("input a b c\noutput y z\nw = XOR a b\ny = XOR w a\nz = XOR y c\n");
        for bits in 0..8 {
            let [a, b, c] = [bits & 1 == 1, bits & 2 == 2, bits & 4 == 4];
            assert_eq!(cancels.run(&Clear, &[a, b, c], &mut ()).unwrap(), [b, b ^ c]);
        }
    }

    #[test]
    fn every_op_is_above_its_operands_and_no_higher_than_need_be() {
        let plan = super::super::aes::sbox_netlist().unwrap().plan();
        let mut start = plan.inputs();
        for level in plan.levels() {
            for op in &plan.ops()[level.clone()] {
                let highest = op.operands().iter().filter_map(|s| s.index()).max().unwrap();
                assert!(highest < plan.inputs() + level.start, "an operand is not below its level");
                assert!(level.start == 0 || highest >= start, "the op fits a level below");
            }
            start = plan.inputs() + level.start;
        }
        assert_eq!(plan.levels().map(|level| level.len()).sum::<usize>(), plan.ops().len());
    }
}
