//! Questions about the order of numbers in slots, which programs ask and comparisons answer.

use alloc::{format, vec, vec::Vec};

use crate::{error::Error, schemes::ckks::Complex};

/// Most numbers of one question.
const MAX_COUNT: u32 = 1 << 16;

/// A question about the real parts of the first slots of a value. The answer to number j is in slot j; the other slots are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The question.
    pub asked: Asked,
    /// How many numbers it is about.
    pub count: u32,
    /// The range of the numbers.
    pub bounds: Bounds,
    /// How the numbers are to be compared; left to the plan if `None`.
    pub by: Option<Way>,
}

/// How numbers in slots are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// By one blind rotation per pair, between a conversion from slots to gates and one back.
    Gates,
    /// All pairs at once, by the highest digit of their differences.
    Digits,
}

impl Way {
    /// The name in messages and in texts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gates => "gates",
            Self::Digits => "digits",
        }
    }

    /// The other way.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Gates => Self::Digits,
            Self::Digits => Self::Gates,
        }
    }
}

/// A question about the order of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// 1 for numbers of at least 0, and 0 for those below; only for [`Bounds::Signed`].
    Sign,
    /// How many of the others are smaller. Of equal ones the first has the higher rank.
    Rank,
    /// 1 for the largest, and 0 for the others.
    Argmax,
    /// 1 for the smallest, and 0 for the others.
    Argmin,
    /// 1 for the given number of largest ones, and 0 for the others.
    Top(u32),
}

/// The range of numbers that are compared: the narrower it is, the finer the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// In \[-1, 1\].
    Signed,
    /// In \[0, 1\].
    Unit,
    /// Multiples of 2^-bits in \[0, 1), compared exactly.
    Grid(u32),
}

impl Order {
    /// A question about `count` numbers, compared in the way that the plan chooses.
    pub fn new(asked: Asked, count: u32, bounds: Bounds) -> Self {
        Self { asked, count, bounds, by: None }
    }

    /// The same question, to be answered in the given way.
    #[must_use]
    pub fn by(self, way: Way) -> Self {
        Self { by: Some(way), ..self }
    }

    /// The name in messages and in texts.
    pub fn kind(&self) -> &'static str {
        match self.asked {
            Asked::Sign => "sign",
            Asked::Rank => "rank",
            Asked::Argmax => "argmax",
            Asked::Argmin => "argmin",
            Asked::Top(_) => "top",
        }
    }

    /// Whether the same comparisons answer both questions.
    pub fn shares_comparisons(&self, other: &Self) -> bool {
        let ranks = |order: &Self| order.asked != Asked::Sign;
        (self.count, self.bounds, self.by, ranks(self)) == (other.count, other.bounds, other.by, ranks(other))
    }

    /// Whether a number of this rank, counted from 0 for the smallest, is meant; for all questions but sign and rank.
    pub fn is_meant(&self, rank: u32) -> bool {
        match self.asked {
            Asked::Argmax => rank + 1 == self.count,
            Asked::Argmin => rank == 0,
            Asked::Top(most) => rank + most >= self.count,
            Asked::Sign | Asked::Rank => false,
        }
    }

    /// # Errors
    /// [`Error::InvalidArgument`] for what no set could answer.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |what| Err(Error::InvalidArgument(what));
        let least = if self.asked == Asked::Sign { 1 } else { 2 };
        match (self.asked, self.bounds) {
            _ if !(least..=MAX_COUNT).contains(&self.count) => {
                refuse(format!("{} of {} numbers; take {least} to {MAX_COUNT}", self.kind(), self.count))
            }
            (Asked::Top(most), _) if !(1..=self.count).contains(&most) => {
                refuse(format!("the {most} largest of {} numbers; take 1 to {}", self.count, self.count))
            }
            (Asked::Sign, Bounds::Unit | Bounds::Grid(_)) => refuse(
                "the sign of numbers of which none is below 0; say signed, for numbers in [-1, 1]".into(),
            ),
            (_, Bounds::Grid(bits)) if !(1..=52).contains(&bits) => {
                refuse(format!("numbers of {bits} bits; take 1 to 52"))
            }
            _ => Ok(()),
        }
    }

    /// The exact answers.
    pub(crate) fn of(&self, numbers: &[Complex]) -> Vec<Complex> {
        let count = (self.count as usize).min(numbers.len());
        let mut out = vec![Complex::ZERO; numbers.len()];
        for (i, out) in out.iter_mut().enumerate().take(count) {
            let x = numbers[i].re;
            let smaller = |&j: &usize| if i < j { x >= numbers[j].re } else { i > j && numbers[j].re < x };
            let value = match self.asked {
                Asked::Sign => f64::from(u8::from(x >= 0.0)),
                Asked::Rank => (0..count).filter(smaller).count() as f64,
                _ => f64::from(u8::from(self.is_meant((0..count).filter(smaller).count() as u32))),
            };
            *out = value.into();
        }
        out
    }
}
