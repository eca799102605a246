//! Gates with the same ciphertext on several inputs. The noise of these is the same, so it would add up linearly instead of in
//! quadrature; such a gate is replaced by a simpler one.

use crate::{
    arith::Word,
    schemes::cggi::{CggiCiphertext, Gate},
};

/// What a gate amounts to when some of its inputs are the same ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Simplified {
    /// The result does not depend on the inputs.
    Constant(bool),
    /// This input.
    Input(usize),
    /// The inverse of this input.
    Inverse(usize),
    /// A gate of two different inputs.
    Gate(Gate, [usize; 2]),
}

impl Simplified {
    /// What the gate amounts to; `None` if all inputs differ.
    pub(super) fn of<W: Word>(gate: Gate, inputs: &[&CggiCiphertext<W>]) -> Option<Self> {
        let same = |i: usize, j: usize| core::ptr::eq(inputs[i], inputs[j]) || inputs[i] == inputs[j];
        // For every input, the first one that is the same.
        let mut first = [0, 1, 2];
        for (j, first) in first.iter_mut().enumerate().take(inputs.len()) {
            *first = (0..j).find(|&i| same(i, j)).unwrap_or(j);
        }
        Self::of_pattern(gate, &first[..inputs.len()])
    }

    /// [`Self::of`] for the pattern of coincidences.
    fn of_pattern(gate: Gate, first: &[usize]) -> Option<Self> {
        let other = (1..first.len()).find(|&j| first[j] != 0 && first[j] == j);
        if (0..first.len()).all(|j| first[j] == j) {
            return None;
        }
        // The result for each value of the first input and of the other one, if there is one.
        let value = |x: bool, y: bool| {
            let mut bits = [false; 3];
            for (bit, &first) in bits.iter_mut().zip(first) {
                *bit = if first == 0 { x } else { y };
            }
            gate.evaluate(&bits[..first.len()]).unwrap_or_default()
        };
        let table = [value(false, false), value(true, false), value(false, true), value(true, true)];
        let j = other.unwrap_or(0);
        Some(match table {
            [a, b, c, d] if a == b && b == c && c == d => Self::Constant(a),
            [false, true, false, true] => Self::Input(0),
            [true, false, true, false] => Self::Inverse(0),
            [false, false, true, true] => Self::Input(j),
            [true, true, false, false] => Self::Inverse(j),
            _ => {
                let is_same = |gate: &Gate| {
                    [[false, false], [true, false], [false, true], [true, true]]
                        .iter()
                        .zip(table)
                        .all(|(bits, value)| gate.evaluate(bits) == Ok(value))
                };
                // Every table that depends on both inputs is one of the gates.
                let gate = Gate::ALL.into_iter().filter(|gate| gate.arity() == 2).find(is_same)?;
                Self::Gate(gate, [0, j])
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simpler_gate_has_the_same_truth() {
        let mut gates = 0;
        for gate in Gate::ALL {
            let patterns: &[&[usize]] = match gate.arity() {
                1 => &[&[0]],
                2 => &[&[0, 0], &[0, 1]],
                _ => &[&[0, 0, 0], &[0, 0, 2], &[0, 1, 0], &[0, 1, 1], &[0, 1, 2]],
            };
            for &pattern in patterns {
                let simplified = Simplified::of_pattern(gate, pattern);
                let distinct = pattern.iter().enumerate().all(|(i, &first)| i == first);
                assert_eq!(simplified.is_none(), distinct, "{gate} {pattern:?}");
                let Some(simplified) = simplified else { continue };
                for bits in 0..8 {
                    let value = |i: usize| bits >> pattern[i] & 1 == 1;
                    let inputs: alloc::vec::Vec<bool> = (0..pattern.len()).map(value).collect();
                    let result = match simplified {
                        Simplified::Constant(bit) => bit,
                        Simplified::Input(i) => inputs[i],
                        Simplified::Inverse(i) => !inputs[i],
                        Simplified::Gate(simple, [i, j]) => {
                            gates += 1;
                            assert!(pattern[i] != pattern[j]);
                            simple.evaluate(&[inputs[i], inputs[j]]).unwrap()
                        }
                    };
                    assert_eq!(Ok(result), gate.evaluate(&inputs), "{gate} {pattern:?} {inputs:?}");
                }
            }
        }
        assert!(gates > 0);
    }
}
