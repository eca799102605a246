//! A reading of digits: what is read from numbers, and its result for numbers in the clear.

use alloc::{format, vec::Vec};

use super::order::Order;
use crate::{error::Error, schemes::ckks::Complex};

/// Most bits of a number that a program may ask for.
pub const MAX_BITS: u32 = 52;

/// A reading of the real part of every slot, or for [`Self::Order`] of the first slots. The result is refreshed: it has the levels of the
/// set, less those of the tables that are looked up in.
///
/// Numbers are read up to 2^20, and up to 2^20 times their modulus. They are assumed to be off by little more than the error of encryption.
/// Numbers made of integers that were read are known to be off by more ([`Known`](super::Known)), and are refused if that would make digits
/// wrong.
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
    /// An integer modulo another one, in \[0, `modulus`). Not for numbers that a bootstrap or [`Self::Modulo`] has rounded.
    Integer {
        /// What it is divided by.
        modulus: u64,
    },
    /// A bit of floor(2^`bits` x) for x modulo 1; it may be wrong close to a multiple of 2^-`bits`.
    Bit {
        /// Number of bits.
        bits: u32,
        /// Which one, 0 for the lowest.
        index: u32,
    },
    /// The value at floor(t x) of a table of t, for x modulo 1. Close to a multiple of 1/t the neighbouring value may result.
    LookUp(Vec<Complex>),
    /// The value at t x of a table of t, for a multiple x of 1/t modulo 1. It takes fewer digits than [`Self::LookUp`], but is not for
    /// numbers that a bootstrap or [`Self::Modulo`] has rounded to other steps.
    LookUpExact(Vec<Complex>),
    /// The answer to a question about the order of the first slots, on sets that compare.
    Order(Order),
}

impl Reading {
    /// The name in messages and in texts.
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
        // x - floor(x) is below 1, but rounding can make it 1 for x just below an integer.
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
            // For one number alone.
            Self::Order(order) => order.of(&[x])[0],
        }
    }
}

/// An error if there are more of something than slots.
pub(super) fn fits(count: usize, slots: usize, what: &str) -> Result<(), Error> {
    if count <= slots {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!("{count} {what}, and {slots} slots; take a set with more")))
}
