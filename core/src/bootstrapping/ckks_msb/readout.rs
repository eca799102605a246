//! What is read off fractions, digit by digit, and the tables that do it.

use alloc::{format, vec, vec::Vec};

use super::{noise, radix::Radix};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble},
    circuits::polynomial::{Plan, roots},
    error::Error,
};

/// Smallest base of a guard digit of numbers that are rounded: with base g, a share of 1.33 / g of them has the neighbour's value.
pub const LEAST_GUARD: u32 = 32;

/// What is read off fractions: passes, of which each reads one digit, from the lowest on.
#[derive(Debug, Clone)]
pub struct Readout {
    passes: Vec<Pass>,
    grid: u64,
}

/// What one pass reads.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    /// t: fractions are on the roots of unity of this order.
    pub base: u32,
    /// k: what the fraction is multiplied by before.
    pub factor: u64,
    pub tables: Plan,
    pub yields: Yields,
}

/// What the tables of a pass give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Yields {
    /// One table, of the digit over t: a part of the one result.
    Digit,
    /// The same for a digit that is only taken off.
    Guard,
    /// Bits of the digit, the lowest first, each a result.
    Bits,
    /// Values of functions, each a result. The digit could not be subtracted afterwards: of the last pass alone.
    Values,
}

impl Readout {
    /// The fraction itself, in \[0, 1): one result.
    ///
    /// # Errors
    /// None for bases that were checked.
    pub fn digits(radix: &Radix) -> Result<Self, Error> {
        Self::of_digits(radix, false)
    }

    /// The fraction itself, in \[-1/2, 1/2): one result.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for several digits of which the largest base is odd: its digits have no middle at which the
    /// range could end.
    pub fn centred(radix: &Radix) -> Result<Self, Error> {
        match radix.bases() {
            [_, .., last] if last % 2 == 1 => Err(Error::InvalidArgument(format!(
                "centred digits in bases {:?}, of which the largest is odd; take an even one, such as {}",
                radix.bases(),
                last + 1
            ))),
            _ => Self::of_digits(radix, true),
        }
    }

    fn of_digits(radix: &Radix, centred: bool) -> Result<Self, Error> {
        let last = radix.bases().len() - 1;
        let pass = |(i, &base): (usize, &u32)| {
            let digit = |j: u32| {
                let (j, t) = (i64::from(j), i64::from(base));
                let above = centred && i == last && 2 * j >= t;
                DoubleDouble::ratio(if above { j - t } else { j }, t)
            };
            Ok(Pass {
                base,
                factor: radix.after(i),
                tables: Plan::new(&[roots::hermite(&values(base, digit))?])?,
                yields: Yields::Digit,
            })
        };
        let passes = radix.bases().iter().enumerate().map(pass).collect::<Result<_, Error>>()?;
        Ok(Self { passes, grid: radix.modulus() })
    }

    /// The bits of T x: log2 T results, the lowest bit first.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a base that is no power of two.
    pub fn bits(radix: &Radix) -> Result<Self, Error> {
        let pass = |(i, &base): (usize, &u32)| {
            if !base.is_power_of_two() {
                return Err(Error::InvalidArgument(format!(
                    "bits of a digit in base {base}; take bases that are powers of two"
                )));
            }
            let tables = Plan::new(&roots::bits(base.ilog2())?)?;
            Ok(Pass { base, factor: radix.after(i), tables, yields: Yields::Bits })
        };
        let passes = radix.bases().iter().enumerate().map(pass).collect::<Result<_, Error>>()?;
        Ok(Self { passes, grid: radix.modulus() })
    }

    /// Functions of j = floor(t x), each given by its t values: one result for each. With a guard digit, x is read in base
    /// t times that first, and the lowest digit taken off; without, x has to be j/t.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no table or more than 256 of them, for one of another length than the first or that is not
    /// finite, and as [`Radix::new`] for t and the guard.
    pub fn tables(functions: &[Vec<ComplexDoubleDouble>], guard: Option<u32>) -> Result<Self, Error> {
        let base = functions.first().map_or(0, Vec::len);
        if let Some(i) = functions.iter().position(|f| f.len() != base) {
            return Err(Error::InvalidArgument(format!(
                "table {i} has {} values, the first has {base}; give as many in each",
                functions[i].len()
            )));
        }
        if functions.is_empty() || functions.len() > 256 {
            return Err(Error::InvalidArgument(format!(
                "{} tables; look up 1 to 256 of them at once",
                functions.len()
            )));
        }
        let base = u32::try_from(base).unwrap_or(u32::MAX);
        let bases: Vec<u32> = guard.into_iter().chain([base]).collect();
        let grid = Radix::new(&bases)?.modulus();
        let tables = functions.iter().map(|f| roots::hermite(f)).collect::<Result<Vec<_>, Error>>()?;
        let mut passes = vec![];
        if let Some(guard) = guard {
            let digit = |j: u32| DoubleDouble::ratio(j.into(), guard.into());
            passes.push(Pass {
                base: guard,
                factor: base.into(),
                tables: Plan::new(&[roots::hermite(&values(guard, digit))?])?,
                yields: Yields::Guard,
            });
        }
        passes.push(Pass { base, factor: 1, tables: Plan::new(&tables)?, yields: Yields::Values });
        Ok(Self { passes, grid })
    }

    /// Whether numbers that are off by up to `off` from multiples of 1/T are read to within a quarter of one.
    pub fn bears(&self, off: f64) -> bool {
        let passes = self.passes.iter().map(|pass| (pass.base, pass.factor));
        noise::is_borne(noise::after(off, self.grid, passes))
    }

    /// # Errors
    /// [`Error::InvalidArgument`] unless numbers off by `off` are read as they are.
    pub(super) fn check_noise(&self, off: f64) -> Result<(), Error> {
        if self.bears(off) {
            return Ok(());
        }
        let bases: Vec<u32> = self.passes.iter().map(|pass| pass.base).collect();
        Err(Error::InvalidArgument(format!(
            "digits in bases {bases:?} of numbers that are off by up to 2^{:.1}, where multiples of 1/{} are read: some could be \
             wrong; state a smaller bound of the numbers, or take smaller bases, the first ones above all",
            libm::log2(off),
            self.grid
        )))
    }

    /// Whether a rounding leaves a guard digit its use.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a base below [`LEAST_GUARD`].
    pub(super) fn check_guard(&self) -> Result<(), Error> {
        match self.passes.iter().find(|pass| pass.yields == Yields::Guard) {
            Some(guard) if guard.base < LEAST_GUARD => Err(Error::InvalidArgument(format!(
                "a guard digit in base {} for numbers that are rounded: the neighbour's value would come in {:.0} % of the slots; \
                 take {LEAST_GUARD} or more",
                guard.base,
                100.0 * (1.33 / f64::from(guard.base)).min(1.0)
            ))),
            _ => Ok(()),
        }
    }

    /// T: what is read are multiples of 1/T.
    pub fn grid(&self) -> u64 {
        self.grid
    }

    /// Digits, each of which takes a pass.
    pub fn passes(&self) -> usize {
        self.passes.len()
    }

    /// Levels that the tables of each pass take.
    pub fn levels(&self) -> impl Iterator<Item = usize> + '_ {
        self.passes.iter().map(|pass| pass.tables.levels())
    }

    /// Levels that the tables of each result take.
    pub(super) fn levels_of_results(&self) -> Vec<usize> {
        let mut out = vec![];
        for pass in &self.passes {
            match pass.yields {
                Yields::Digit => out = vec![out.first().copied().unwrap_or(0).max(pass.tables.levels())],
                Yields::Guard => {}
                Yields::Bits | Yields::Values => out.extend(pass.tables.levels_of_each()),
            }
        }
        out
    }

    /// Key switches of all tables.
    pub fn key_switches(&self) -> usize {
        self.passes.iter().map(|pass| pass.tables.key_switches()).sum()
    }

    pub(super) fn pass(&self, i: usize) -> &Pass {
        &self.passes[i]
    }

    pub(super) fn is_last(&self, i: usize) -> bool {
        i + 1 == self.passes.len()
    }
}

fn values(base: u32, f: impl Fn(u32) -> DoubleDouble) -> Vec<ComplexDoubleDouble> {
    (0..base).map(|j| f(j).into()).collect()
}
