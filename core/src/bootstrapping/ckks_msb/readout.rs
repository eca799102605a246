//! Readouts: which digits are read from fractions, in which bases, and the tables for it.

use alloc::{format, sync::Arc, vec, vec::Vec};

use super::{digit_noise, radix::Radix};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble},
    circuits::polynomial::{Plan, roots},
    error::Error,
};

/// Smallest base of a guard digit of numbers that are rounded: with base g, a share of 1.33 / g of them has the neighbour's value.
pub const LEAST_GUARD: u32 = 32;

/// What is read from fractions: passes that read one digit each, from the lowest on. A clone shares the tables.
#[derive(Debug, Clone)]
pub struct Readout {
    passes: Arc<[Pass]>,
    grid: u64,
}

/// What one pass reads.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    /// t: fractions are on the roots of unity of this order.
    pub base: u32,
    /// k: the factor by which the fraction is multiplied first.
    pub factor: u64,
    /// `None` for [`Yields::Binary`].
    pub tables: Option<Plan>,
    pub yields: Yields,
}

impl Pass {
    /// A pass that reads a digit by one table.
    fn digit(
        (base, factor): (u32, u64),
        value: impl Fn(u32) -> DoubleDouble,
        yields: Yields,
    ) -> Result<Self, Error> {
        let values: Vec<ComplexDoubleDouble> = (0..base).map(|j| value(j).into()).collect();
        Ok(Self { base, factor, tables: Some(Plan::new(&[roots::hermite(&values)?])?), yields })
    }

    /// Levels that the tables take.
    pub fn levels(&self) -> usize {
        self.tables.as_ref().map_or(0, Plan::levels)
    }

    /// Values that the tables give, each of which is a result.
    fn values(&self) -> usize {
        match self.yields {
            Yields::Digit | Yields::Guard => 0,
            Yields::Bits | Yields::Values | Yields::Binary => {
                self.tables.as_ref().map_or(1, |tables| tables.levels_of_each().count())
            }
        }
    }
}

/// What the tables of a pass give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Yields {
    /// One table, of the digit over t: a part of the one result.
    Digit,
    /// The same table for a digit that is only subtracted.
    Guard,
    /// Bits of the digit, the lowest first, each a result.
    Bits,
    /// Values of functions, each a result. Only in the last pass, because the digit could not be subtracted afterwards.
    Values,
    /// A bit, (1 - z) / 2 for z = e^(2 pi i b / 2), without a table. Only in a readout of one pass.
    Binary,
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
    /// [`Error::InvalidArgument`] for several digits with an odd largest base: its digits have no middle at which the range could end.
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
            Pass::digit((base, radix.after(i)), digit, Yields::Digit)
        };
        let passes = radix.bases().iter().enumerate().map(pass).collect::<Result<_, Error>>()?;
        Ok(Self { passes, grid: radix.modulus() })
    }

    /// The bits of T x: log2 T results, the lowest bit first. If numbers are rounded, the first five are noise and mean nothing.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a base that is not a power of two.
    pub fn bits(radix: &Radix) -> Result<Self, Error> {
        let pass = |(i, &base): (usize, &u32)| {
            if !base.is_power_of_two() {
                return Err(Error::InvalidArgument(format!(
                    "bits of a digit in base {base}; take bases that are powers of two"
                )));
            }
            let tables = Some(Plan::new(&roots::bits(base.ilog2())?)?);
            Ok(Pass { base, factor: radix.after(i), tables, yields: Yields::Bits })
        };
        let passes = radix.bases().iter().enumerate().map(pass).collect::<Result<_, Error>>()?;
        Ok(Self { passes, grid: radix.modulus() })
    }

    /// Functions of j = floor(t x), each given by its t values: one result for each. With a guard digit in base g, x is read in multiples
    /// of 1/(t g), and the lowest digit is subtracted; without one, x has to be j/t.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no table or more than 256 of them, for one of another length than the first or that is not
    /// finite, and as [`Radix::new`] for t and the guard.
    pub fn tables(functions: &[Vec<ComplexDoubleDouble>], guard: Option<u32>) -> Result<Self, Error> {
        let base = functions.first().map(|f| u32::try_from(f.len()).unwrap_or(u32::MAX));
        let bases: Vec<u32> = guard.into_iter().chain(base).collect();
        if base.is_some() {
            // A check alone: they stay in this order, whichever is the larger one.
            Radix::new(&bases)?;
        }
        Self::of_last_digit(&bases, functions)
    }

    /// Functions of the highest digit, each given by its values for all digits: one result for each. The lower digits are only subtracted.
    ///
    /// # Errors
    /// As [`Self::tables`], for functions of another number of values than the largest base.
    pub fn highest_digit(radix: &Radix, functions: &[Vec<ComplexDoubleDouble>]) -> Result<Self, Error> {
        Self::of_last_digit(radix.bases(), functions)
    }

    /// A bit as a multiple of 1/2, without a table: one result, one half of 1 - e^(2 pi i x).
    pub fn binary() -> Self {
        let pass = Pass { base: 2, factor: 1, tables: None, yields: Yields::Binary };
        Self { passes: [pass].into(), grid: 2 }
    }

    fn of_last_digit(bases: &[u32], functions: &[Vec<ComplexDoubleDouble>]) -> Result<Self, Error> {
        if functions.is_empty() || functions.len() > 256 {
            return Err(Error::InvalidArgument(format!(
                "{} tables; look up 1 to 256 of them at once",
                functions.len()
            )));
        }
        let (guards, base) = match bases {
            [guards @ .., base] => (guards, *base),
            [] => (bases, 0),
        };
        if let Some(i) = functions.iter().position(|f| f.len() != base as usize) {
            return Err(Error::InvalidArgument(format!(
                "table {i} has {} values, and there are {base} to look up; give as many in each",
                functions[i].len()
            )));
        }
        let after = |i: usize| bases[i + 1..].iter().copied().map(u64::from).product();
        let guard = |(i, &guard): (usize, &u32)| {
            let digit = |j: u32| DoubleDouble::ratio(j.into(), guard.into());
            Pass::digit((guard, after(i)), digit, Yields::Guard)
        };
        let mut passes = guards.iter().enumerate().map(guard).collect::<Result<Vec<_>, Error>>()?;
        let tables = functions.iter().map(|f| roots::hermite(f)).collect::<Result<Vec<_>, Error>>()?;
        passes.push(Pass { base, factor: 1, tables: Some(Plan::new(&tables)?), yields: Yields::Values });
        Ok(Self { passes: passes.into(), grid: bases.iter().copied().map(u64::from).product() })
    }

    /// Whether numbers that are off by up to `off` from multiples of 1/T are read to within a quarter of one.
    pub fn bears(&self, off: f64) -> bool {
        digit_noise::is_borne(self.left_of(off))
    }

    /// The error after the reading of numbers that are off by up to `off`, in units of 1/T.
    pub(super) fn left_of(&self, off: f64) -> f64 {
        let passes = self.passes.iter().map(|pass| (pass.base, pass.factor));
        digit_noise::after(off, self.grid, passes)
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

    /// Checks that functions of a digit are still of use after a rounding, which moves numbers by a deviation of `deviation` points.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no guard digits, or a product of theirs below [`LEAST_GUARD`], or below more for a larger deviation.
    pub(super) fn check_guard(&self, deviation: f64) -> Result<(), Error> {
        if !self.passes.iter().any(|pass| matches!(pass.yields, Yields::Values | Yields::Binary)) {
            return Ok(());
        }
        let guards = self.passes.iter().filter(|pass| pass.yields == Yields::Guard);
        let guarded: u64 = guards.map(|pass| u64::from(pass.base)).product();
        // The deviation under an ephemeral secret of weight 32.
        let usual = libm::sqrt(33.0 / 12.0);
        let least = libm::ceil(f64::from(LEAST_GUARD) * (deviation / usual).max(1.0) - 1e-9);
        if guarded as f64 >= least {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "a guard digit in base {guarded} for numbers that are rounded: the neighbour's value would come in {:.0} % of the slots; \
             take {least} or more",
            100.0 * (0.8 * deviation / guarded as f64).min(1.0)
        )))
    }

    /// T: numbers are read as multiples of 1/T.
    pub fn grid(&self) -> u64 {
        self.grid
    }

    /// Number of digits, each of which takes a pass.
    pub fn passes(&self) -> usize {
        self.passes.len()
    }

    /// Levels that the tables of each pass take.
    pub fn levels(&self) -> impl Iterator<Item = usize> + '_ {
        self.passes.iter().map(Pass::levels)
    }

    /// Levels that the tables of each result take.
    pub(super) fn levels_of_results(&self) -> Vec<usize> {
        let mut out = vec![];
        for pass in self.passes.iter() {
            match pass.yields {
                Yields::Digit => out = vec![out.first().copied().unwrap_or(0).max(pass.levels())],
                Yields::Guard => {}
                Yields::Bits | Yields::Values | Yields::Binary => match &pass.tables {
                    Some(tables) => out.extend(tables.levels_of_each()),
                    None => out.push(0),
                },
            }
        }
        out
    }

    /// Values of the passes before pass i.
    pub(super) fn values_before(&self, i: usize) -> usize {
        self.passes[..i].iter().map(Pass::values).sum()
    }

    /// Most ciphertexts that exist at once, beside the first result, if results at these places are kept.
    pub(super) fn values_held(&self, places: &[usize]) -> usize {
        let widest = self.passes.iter().map(Pass::values).max().unwrap_or(0);
        widest.max(1) + places.len().saturating_sub(1)
    }

    /// Key switches of all tables.
    pub fn key_switches(&self) -> usize {
        self.passes.iter().filter_map(|pass| pass.tables.as_ref()).map(Plan::key_switches).sum()
    }

    pub(super) fn pass(&self, i: usize) -> &Pass {
        &self.passes[i]
    }

    pub(super) fn is_last(&self, i: usize) -> bool {
        i + 1 == self.passes.len()
    }
}
