//! Readings of digits: the operations of sets that evaluate modular reduction.

use alloc::{format, vec::Vec};
use core::fmt::Debug;

use super::{InputShape, Known, Operation, Order, Program, clear::fits};
use crate::{
    error::Error,
    schemes::ckks::{Complex, Scale},
};

/// Most bits of a number that a program asks for.
pub const MAX_BITS: u32 = 52;

/// Most passes of a plan that read digits.
pub const MAX_PASSES: usize = 1024;

/// Most readings of the same digits: as many tables are looked up in at once.
pub(super) const MAX_TOGETHER: usize = 256;

/// What is read of the real part of every slot, or for [`Self::Order`] of the first ones. The result is refreshed: it has the levels
/// of the set, less those of the tables that are looked up in.
///
/// Numbers are read up to 2^20, and up to 2^20 times their modulus. They are taken to be off by little more than encryption leaves;
/// what is made of integers that were read is known to be off by more ([`Known`]), and refused where that would make digits wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// The number modulo `modulus`, rounded to `modulus` / 2^`bits`; in \[0, `modulus`), or in \[-`modulus`/2, `modulus`/2) if
    /// `centred`. Within a few of these steps of an end of that range it may come back at the other end.
    Modulo {
        /// What it is divided by.
        modulus: f64,
        /// Bits of the result.
        bits: u32,
        /// Whether 0 is in the middle of the range.
        centred: bool,
    },
    /// An integer modulo another one, in \[0, `modulus`). Not of what a bootstrap or [`Self::Modulo`] has rounded.
    Integer {
        /// What it is divided by.
        modulus: u64,
    },
    /// A bit of floor(2^`bits` x) for x modulo 1, wrong within a little of a multiple of 2^-`bits`.
    Bit {
        /// Bits there are.
        bits: u32,
        /// Which one, 0 for the lowest.
        index: u32,
    },
    /// A value of a table of t: that of floor(t x) for x modulo 1. Within a little of a multiple of 1/t the neighbour's may come.
    LookUp(Vec<Complex>),
    /// A value of a table of t: that of t x, where x is a multiple of 1/t. Fewer digits than [`Self::LookUp`]; not
    /// of what a bootstrap or [`Self::Modulo`] has rounded to other steps.
    LookUpExact(Vec<Complex>),
    /// What comparison tells of the first slots, of sets that compare.
    Order(Order),
}

impl Reading {
    /// What it is called in messages and in texts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Modulo { centred: false, .. } => "mod",
            Self::Modulo { centred: true, .. } => "mod-centred",
            Self::Integer { .. } => "int-mod",
            Self::Bit { .. } => "bit",
            Self::LookUp(_) => "lut",
            Self::LookUpExact(_) => "lut-exact",
            Self::Order(order) => order.kind(),
        }
    }

    /// The values of its table.
    pub(super) fn table(&self) -> &[Complex] {
        match self {
            Self::LookUp(table) | Self::LookUpExact(table) => table,
            _ => &[],
        }
    }

    /// Whether one reading of digits gives both.
    pub(crate) fn shares_digits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bit { bits, .. }, Self::Bit { bits: others, .. }) => bits == others,
            (Self::LookUp(table), Self::LookUp(other))
            | (Self::LookUpExact(table), Self::LookUpExact(other)) => table.len() == other.len(),
            (Self::Order(order), Self::Order(other)) => order.shares_comparisons(other),
            _ => self == other,
        }
    }

    /// # Errors
    /// [`Error::InvalidArgument`] for what no set could read.
    pub(super) fn check(&self) -> Result<(), Error> {
        let refuse = |what| Err(Error::InvalidArgument(what));
        let bits = |bits: u32| {
            if (1..=MAX_BITS).contains(&bits) {
                return Ok(());
            }
            refuse(format!("{bits} bits of a number; ask for 1 to {MAX_BITS}"))
        };
        match self {
            // Written so that NaN is refused too.
            Self::Modulo { modulus, .. } if !(modulus.is_finite() && *modulus > 0.0) => {
                refuse(format!("numbers modulo {modulus}; take a number above 0"))
            }
            Self::Modulo { bits: count, .. } => bits(*count),
            Self::Integer { modulus: 0 | 1 } => {
                refuse("integers modulo less than 2; take a modulus of 2 or more".into())
            }
            Self::Bit { bits: count, index } => {
                bits(*count)?;
                if index < count {
                    return Ok(());
                }
                refuse(format!("bit {index} of {count}; they are counted from 0, the lowest"))
            }
            Self::LookUp(table) | Self::LookUpExact(table) if table.len() < 2 => {
                refuse(format!("a table of {} values; give 2 or more", table.len()))
            }
            Self::Order(order) => order.check(),
            Self::Integer { .. } | Self::LookUp(_) | Self::LookUpExact(_) => Ok(()),
        }
    }

    /// The exact values for the numbers of all slots.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for fewer slots than numbers that are compared.
    pub(super) fn values(&self, numbers: &[Complex]) -> Result<Vec<Complex>, Error> {
        match self {
            Self::Order(order) => {
                fits(order.count as usize, numbers.len(), "numbers to compare")?;
                Ok(order.of(numbers))
            }
            _ => Ok(numbers.iter().map(|&x| self.of(x)).collect()),
        }
    }

    /// The exact value for a number.
    fn of(&self, x: Complex) -> Complex {
        // x - floor(x) is below 1, and rounded to it for x just below an integer.
        let fraction = |x: f64| x - libm::floor(x);
        let digit = |x: f64, t: f64| libm::fmin(libm::floor(t * fraction(x)), t - 1.0);
        match self {
            Self::Modulo { modulus, centred, .. } => {
                let shift = if *centred { 0.5 } else { 0.0 };
                ((fraction(x.re / modulus + shift) - shift) * modulus).into()
            }
            Self::Integer { modulus } => {
                let modulus = (*modulus).min(i64::MAX as u64) as i64;
                ((libm::round(x.re) as i64).rem_euclid(modulus) as f64).into()
            }
            Self::Bit { bits, index } => {
                let whole = digit(x.re, libm::exp2((*bits).into())) as u64;
                ((whole >> index & 1) as f64).into()
            }
            Self::LookUp(table) => table[digit(x.re, table.len() as f64) as usize],
            Self::LookUpExact(table) => {
                table[(libm::round(x.re * table.len() as f64) as i64).rem_euclid(table.len() as i64) as usize]
            }
            // Of one number alone.
            Self::Order(order) => order.of(&[x])[0],
        }
    }
}

impl Program {
    /// What its outputs are, in order, of a program that reads digits of its one input and does nothing else: what can be run a
    /// stage at a time.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], naming the node, for another program.
    pub fn readings(&self) -> Result<Vec<&Reading>, Error> {
        let other = |index: usize| {
            Error::InvalidArgument(format!(
                "{}: no reading of the digits of the one input; plan the program as a whole",
                self.describe(index)
            ))
        };
        let mut inputs = self.inputs();
        let input = inputs.next();
        if let Some(second) = inputs.next() {
            return Err(other(second));
        }
        let reading = |index: usize| {
            let Operation::Output(value) = self.nodes()[index].operation else { return Err(other(index)) };
            match &self.nodes()[value.index()].operation {
                Operation::Digits(of, reading) if Some(of.index()) == input => Ok(reading),
                _ => Err(other(value.index())),
            }
        };
        self.outputs().map(reading).collect()
    }
}

/// What is read of one ciphertext, all of it of the same digits.
#[derive(Debug, Clone, Copy)]
pub struct Readings<'a> {
    /// Each once.
    pub list: &'a [&'a Reading],
    /// What is known of its numbers, beside what is taken of all: where they are made of integers that were read.
    pub known: Option<Known>,
}

impl<'a> From<&'a [&'a Reading]> for Readings<'a> {
    fn from(list: &'a [&'a Reading]) -> Self {
        Self { list, known: None }
    }
}

/// How a set reads digits, for plans.
pub trait DigitReader: Debug + Send + Sync {
    /// What is read of numbers at a scale: the level that it takes, and where the results stand.
    ///
    /// # Errors
    /// For what the set cannot read.
    fn plan(&self, scale: Scale, readings: Readings<'_>) -> Result<PlannedDigits, Error>;
}

/// Where numbers have to be for their digits to be read, and where what is read will stand.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedDigits {
    /// The lowest level at which the numbers are read.
    pub level: usize,
    /// Level and scale of each result.
    pub results: Vec<InputShape>,
    /// What is known of each result.
    pub known: Vec<Option<Known>>,
    /// Passes, each of which takes about as long as a bootstrap.
    pub passes: usize,
    /// Levels of the values that a reading holds at once, at most, beside its first result.
    pub held: Vec<usize>,
    /// log2 of the probability that any of the results is wrong, at most; `None` where nothing is known of it.
    pub log_failure: Option<f64>,
    /// How far apart numbers that are compared have to be for it; 0 where that does not matter.
    pub least_distance: f64,
    /// About how long it takes on one thread, by a model that was fitted to the times of `core/BENCHMARKS.md`: for choosing between two
    /// ways.
    pub seconds: f64,
}
