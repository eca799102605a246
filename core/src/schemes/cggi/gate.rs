//! Gates: names, truth tables, and the sum of ciphertexts whose sign is the result.

use alloc::{format, string::String, vec::Vec};
use core::{fmt, str::FromStr};

use crate::error::Error;

/// A Boolean function of one to three bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gate {
    /// not a. No bootstrap.
    Not,
    /// a and b.
    And,
    /// not (a and b).
    Nand,
    /// a or b.
    Or,
    /// not (a or b).
    Nor,
    /// a xor b.
    Xor,
    /// a = b.
    Xnor,
    /// (not a) and b.
    AndNotA,
    /// a and not b.
    AndNotB,
    /// (not a) or b.
    OrNotA,
    /// a or not b.
    OrNotB,
    /// a ? b : c. Two blind rotations.
    Mux,
    /// At least two of three.
    Majority,
    /// a xor b xor c.
    Xor3,
    /// a and b and c. Two bootstraps.
    And3,
    /// a or b or c. Two bootstraps.
    Or3,
    /// not (a and b and c). Two bootstraps.
    Nand3,
    /// not (a or b or c). Two bootstraps.
    Nor3,
}

/// sum_i weights\[i\] · c_i + eighths / 8: positive where the result is 1, for bits at ±1/8 of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearForm {
    /// One weight per input; 0 beyond the gate's inputs.
    pub weights: [i8; 3],
    /// The constant, in eighths of the turn.
    pub eighths: i8,
    /// Distance of every sum from the nearest change of sign, in eighths of the turn: 1, or 2 where all
    /// weights are doubled.
    pub margin: u8,
}

impl LinearForm {
    const fn new(weights: [i8; 3], eighths: i8, margin: u8) -> Self {
        Self { weights, eighths, margin }
    }

    /// Variance of the sum for inputs of the given variances, at a margin of 1/8: doubled weights count
    /// as much as single ones, as the margin is doubled too.
    pub fn weight_at_margin(&self, variances: &[u32]) -> u32 {
        let squares =
            self.weights.iter().zip(variances).map(|(&w, &v)| u32::from(w.unsigned_abs()).pow(2) * v);
        squares.sum::<u32>().div_ceil(u32::from(self.margin).pow(2))
    }
}

impl Gate {
    /// Every gate.
    pub const ALL: [Self; 18] = [
        Self::Not,
        Self::And,
        Self::Nand,
        Self::Or,
        Self::Nor,
        Self::Xor,
        Self::Xnor,
        Self::AndNotA,
        Self::AndNotB,
        Self::OrNotA,
        Self::OrNotB,
        Self::Mux,
        Self::Majority,
        Self::Xor3,
        Self::And3,
        Self::Or3,
        Self::Nand3,
        Self::Nor3,
    ];

    /// Stable name: `not`, `and`, …, `andny` (not a, b), `andyn`, `mux`, `maj3`, `xor3`, ….
    pub fn name(self) -> &'static str {
        match self {
            Self::Not => "not",
            Self::And => "and",
            Self::Nand => "nand",
            Self::Or => "or",
            Self::Nor => "nor",
            Self::Xor => "xor",
            Self::Xnor => "xnor",
            Self::AndNotA => "andny",
            Self::AndNotB => "andyn",
            Self::OrNotA => "orny",
            Self::OrNotB => "oryn",
            Self::Mux => "mux",
            Self::Majority => "maj3",
            Self::Xor3 => "xor3",
            Self::And3 => "and3",
            Self::Or3 => "or3",
            Self::Nand3 => "nand3",
            Self::Nor3 => "nor3",
        }
    }

    /// Number of inputs.
    pub fn arity(self) -> usize {
        match self {
            Self::Not => 1,
            Self::Mux | Self::Majority | Self::Xor3 | Self::And3 | Self::Or3 | Self::Nand3 | Self::Nor3 => 3,
            _ => 2,
        }
    }

    /// Blind rotations that one evaluation takes.
    pub fn rotations(self) -> usize {
        match self {
            Self::Not => 0,
            Self::Mux | Self::And3 | Self::Or3 | Self::Nand3 | Self::Nor3 => 2,
            _ => 1,
        }
    }

    /// The result on plain bits.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of inputs.
    pub fn evaluate(self, inputs: &[bool]) -> Result<bool, Error> {
        self.check_inputs(inputs.len())?;
        let bit = |i: usize| inputs.get(i).copied().unwrap_or_default();
        let (a, b, c) = (bit(0), bit(1), bit(2));
        Ok(match self {
            Self::Not => !a,
            Self::And => a && b,
            Self::Nand => !(a && b),
            Self::Or => a || b,
            Self::Nor => !(a || b),
            Self::Xor => a ^ b,
            Self::Xnor => a == b,
            Self::AndNotA => !a && b,
            Self::AndNotB => a && !b,
            Self::OrNotA => !a || b,
            Self::OrNotB => a || !b,
            Self::Mux => {
                if a {
                    b
                } else {
                    c
                }
            }
            Self::Majority => (a && b) || (c && (a || b)),
            Self::Xor3 => a ^ b ^ c,
            Self::And3 => a && b && c,
            Self::Or3 => a || b || c,
            Self::Nand3 => !(a && b && c),
            Self::Nor3 => !(a || b || c),
        })
    }

    /// The sum whose sign is the result, for the gates of one rotation.
    pub fn linear_form(self) -> Option<LinearForm> {
        Some(match self {
            Self::And => LinearForm::new([1, 1, 0], -1, 1),
            Self::Nand => LinearForm::new([-1, -1, 0], 1, 1),
            Self::Or => LinearForm::new([1, 1, 0], 1, 1),
            Self::Nor => LinearForm::new([-1, -1, 0], -1, 1),
            Self::Xor => LinearForm::new([2, 2, 0], 2, 2),
            Self::Xnor => LinearForm::new([-2, -2, 0], -2, 2),
            Self::AndNotA => LinearForm::new([-1, 1, 0], -1, 1),
            Self::AndNotB => LinearForm::new([1, -1, 0], -1, 1),
            Self::OrNotA => LinearForm::new([-1, 1, 0], 1, 1),
            Self::OrNotB => LinearForm::new([1, -1, 0], 1, 1),
            Self::Majority => LinearForm::new([1, 1, 1], 0, 1),
            Self::Xor3 => LinearForm::new([-2, -2, -2], 0, 2),
            Self::Not | Self::Mux | Self::And3 | Self::Or3 | Self::Nand3 | Self::Nor3 => return None,
        })
    }

    /// For gates of two bootstraps one after the other: the gate of the first two inputs, and the gate of its result and the third input.
    pub fn chain(self) -> Option<[Self; 2]> {
        Some(match self {
            Self::And3 => [Self::And, Self::And],
            Self::Nand3 => [Self::And, Self::Nand],
            Self::Or3 => [Self::Or, Self::Or],
            Self::Nor3 => [Self::Or, Self::Nor],
            _ => return None,
        })
    }

    /// Refuses another number of inputs than [`Self::arity`].
    pub(crate) fn check_inputs(self, count: usize) -> Result<(), Error> {
        if count == self.arity() {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "the gate `{self}` takes {} and got {count}; give it those, or take another gate",
            if self.arity() == 1 { "1 input".into() } else { format!("{} inputs", self.arity()) }
        )))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Gate {
    type Err = Error;

    /// Reads a [`name`](Self::name), in upper or lower case.
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|gate| gate.name().eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|gate| gate.name()).collect();
            let names: String = names.join(", ");
            Error::InvalidArgument(format!("no gate is called {name:?}; there are {names}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn inputs(arity: usize) -> impl Iterator<Item = Vec<bool>> {
        (0..1 << arity).map(move |bits: usize| (0..arity).map(|i| bits >> i & 1 == 1).collect())
    }

    #[test]
    fn the_sign_of_the_form_is_the_truth() {
        let mut forms = 0;
        for gate in Gate::ALL {
            let Some(form) = gate.linear_form() else { continue };
            forms += 1;
            for bits in inputs(gate.arity()) {
                let sum: i32 = bits
                    .iter()
                    .zip(form.weights)
                    .map(|(&bit, w)| i32::from(w) * (2 * i32::from(bit) - 1))
                    .sum::<i32>()
                    + i32::from(form.eighths);
                // The turn has eight eighths.
                let phase = sum.rem_euclid(8);
                assert_eq!((1..4).contains(&phase), gate.evaluate(&bits).unwrap(), "{gate} of {bits:?}");
                let margin = [phase, (phase - 4).abs(), 8 - phase].into_iter().min();
                assert!(margin >= Some(i32::from(form.margin)), "{gate} of {bits:?}: {margin:?}");
            }
        }
        assert_eq!(forms, 12);
        assert_eq!(Gate::Xor.linear_form().unwrap().weight_at_margin(&[1, 1]), 2);
        assert_eq!(Gate::Majority.linear_form().unwrap().weight_at_margin(&[1, 1, 2]), 4);
    }

    #[test]
    fn chains_are_what_they_stand_for() {
        for gate in Gate::ALL {
            let Some([first, second]) = gate.chain() else { continue };
            for bits in inputs(3) {
                let inner = first.evaluate(&bits[..2]).unwrap();
                assert_eq!(second.evaluate(&[inner, bits[2]]).unwrap(), gate.evaluate(&bits).unwrap());
            }
        }
    }

    #[test]
    fn names_come_back() {
        for gate in Gate::ALL {
            assert_eq!(gate.name().parse(), Ok(gate));
            assert!(gate.evaluate(&[true; 4]).is_err());
        }
        assert!("nope".parse::<Gate>().unwrap_err().to_string().contains("maj3"));
    }
}
