//! The gates that a netlist may name.

/// A gate: a Boolean function of one to three bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gate {
    /// x.
    Buf,
    /// not x.
    Not,
    /// x and y.
    And,
    /// not (x and y).
    Nand,
    /// x or y.
    Or,
    /// not (x or y).
    Nor,
    /// x plus y modulo 2.
    Xor,
    /// 1 plus x plus y modulo 2.
    Xnor,
    /// (not x) and y.
    AndNy,
    /// x and (not y).
    AndYn,
    /// (not x) or y.
    OrNy,
    /// x or (not y).
    OrYn,
    /// y if x, else z.
    Mux,
    /// Whether two or three of x, y, z are 1.
    Maj3,
    /// x plus y plus z modulo 2.
    Xor3,
}

impl Gate {
    /// Every gate.
    pub const ALL: [Self; 15] = [
        Self::Buf,
        Self::Not,
        Self::And,
        Self::Nand,
        Self::Or,
        Self::Nor,
        Self::Xor,
        Self::Xnor,
        Self::AndNy,
        Self::AndYn,
        Self::OrNy,
        Self::OrYn,
        Self::Mux,
        Self::Maj3,
        Self::Xor3,
    ];

    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Buf => "BUF",
            Self::Not => "NOT",
            Self::And => "AND",
            Self::Nand => "NAND",
            Self::Or => "OR",
            Self::Nor => "NOR",
            Self::Xor => "XOR",
            Self::Xnor => "XNOR",
            Self::AndNy => "ANDNY",
            Self::AndYn => "ANDYN",
            Self::OrNy => "ORNY",
            Self::OrYn => "ORYN",
            Self::Mux => "MUX",
            Self::Maj3 => "MAJ3",
            Self::Xor3 => "XOR3",
        }
    }

    /// The gate of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|gate| gate.name() == name)
    }

    /// Number of operands: 1 to 3.
    pub fn operands(self) -> usize {
        match self {
            Self::Buf | Self::Not => 1,
            Self::Mux | Self::Maj3 | Self::Xor3 => 3,
            _ => 2,
        }
    }

    /// The gate's value; operands beyond [`operands`](Self::operands) do not matter.
    pub fn apply(self, [x, y, z]: [bool; 3]) -> bool {
        match self {
            Self::Buf => x,
            Self::Not => !x,
            Self::And => x && y,
            Self::Nand => !(x && y),
            Self::Or => x || y,
            Self::Nor => !(x || y),
            Self::Xor => x != y,
            Self::Xnor => x == y,
            Self::AndNy => !x && y,
            Self::AndYn => x && !y,
            Self::OrNy => !x || y,
            Self::OrYn => x || !y,
            Self::Mux => {
                if x {
                    y
                } else {
                    z
                }
            }
            Self::Maj3 => (x && y) || (z && (x || y)),
            Self::Xor3 => x ^ y ^ z,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_operands_beyond_the_fan_in_do_not_matter() {
        for gate in Gate::ALL {
            assert_eq!(Gate::from_name(gate.name()), Some(gate));
            for bits in 0..8 {
                let x = [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0];
                let mut cut = [false; 3];
                cut[..gate.operands()].copy_from_slice(&x[..gate.operands()]);
                assert_eq!(gate.apply(x), gate.apply(cut));
            }
        }
        assert_eq!(Gate::from_name("nand"), None);
    }
}
