//! The ranges in which numbers may lie when they are compared.

use alloc::format;

use crate::error::Error;

/// The range of numbers in slots. It says how much of a turn a distance of 1 becomes: the more, the closer two numbers may be and still be
/// told apart, but beyond half a turn their order is reversed. Nobody can check the range of encrypted numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Range {
    /// Numbers in \[-1, 1\].
    Signed,
    /// Numbers in \[0, 1\], or any whose differences are at most 1.
    Unit,
    /// Multiples of 2^-`bits` in \[0, 1), each off by at most [`Self::GRID_TOLERANCE`] of a step, compared exactly: equal ones are
    /// equal.
    Grid {
        /// 1 to 10.
        bits: u32,
    },
}

/// The maps to coefficients leave a number x as x / 32 of a turn.
const STEPS: f64 = 32.0;

impl Range {
    /// Most bits of [`Self::Grid`].
    pub const MAX_BITS: u32 = 10;

    /// How far a number may be from its place on a grid, in steps. At 10 bits that is 2^-17.
    pub const GRID_TOLERANCE: f64 = 1.0 / 128.0;

    /// The phase that a slot of 1 becomes before it is multiplied by [`Self::factor`], in turns.
    pub(super) const TURNS: f64 = 1.0 / STEPS;

    /// The integer by which the numbers are multiplied first.
    pub(super) fn factor(self) -> i64 {
        match self {
            Self::Signed => 7,
            Self::Unit => 14,
            Self::Grid { .. } => 16,
        }
    }

    /// gamma: the part of a turn that a distance of 1 becomes.
    pub fn turns(self) -> f64 {
        self.factor() as f64 * Self::TURNS
    }

    /// Checks the number of bits.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a grid of no bits, or of more than [`Self::MAX_BITS`].
    pub fn check(self) -> Result<(), Error> {
        match self {
            Self::Grid { bits } if !(1..=Self::MAX_BITS).contains(&bits) => Err(Error::InvalidArgument(
                format!("numbers on a grid of {bits} bits; phases hold 1 to {} of them", Self::MAX_BITS),
            )),
            _ => Ok(()),
        }
    }
}
