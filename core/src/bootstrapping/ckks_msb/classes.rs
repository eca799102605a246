//! Functions of real numbers as tables: one value for each class of an interval.

use alloc::{format, vec::Vec};

use super::{
    evaluator::MsbEvaluator,
    numbers::Numbers,
    radix::{MAX_DIGIT, MAX_MODULUS},
};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, Word},
    bootstrapping::raising::KeySource,
    error::Error,
    schemes::ckks::Ciphertext,
    trace::Observer,
};

/// Classes of equal width, of an interval from its low end (included) to its high end (excluded).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Classes {
    low: f64,
    high: f64,
    count: u32,
}

/// Functions that the literature looks up, by name; any other closure does as well ([`Classes::table`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// e^x.
    Exponential,
    /// 1/x.
    Inverse,
    /// The square root of x.
    SquareRoot,
    /// The larger of x and 0.
    Relu,
    /// -1, 0 or 1.
    Sign,
    /// 1 / (1 + e^-x).
    Sigmoid,
}

impl Function {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("exponential", Self::Exponential),
        ("inverse", Self::Inverse),
        ("square-root", Self::SquareRoot),
        ("relu", Self::Relu),
        ("sign", Self::Sign),
        ("sigmoid", Self::Sigmoid),
    ];

    /// The function of this name.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] listing the names.
    pub fn named(name: &str) -> Result<Self, Error> {
        Self::ALL.iter().find(|(own, _)| *own == name).map(|&(_, function)| function).ok_or_else(|| {
            let names = Self::ALL.map(|(own, _)| own).join(", ");
            Error::InvalidArgument(format!("no function is called {name}; there are {names}"))
        })
    }

    /// Its value in the clear.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Exponential => libm::exp(x),
            Self::Inverse => 1.0 / x,
            Self::SquareRoot => libm::sqrt(x),
            Self::Relu => x.max(0.0),
            Self::Sign if x > 0.0 => 1.0,
            Self::Sign if x < 0.0 => -1.0,
            Self::Sign => 0.0,
            Self::Sigmoid => 1.0 / (1.0 + libm::exp(-x)),
        }
    }
}

impl Classes {
    /// `count` classes of the numbers from `low` to `high`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for ends that are not within -2^20 to 2^20, that are in the wrong order or closer than 2^-20, or for a
    /// count outside 2 to [`MAX_DIGIT`].
    pub fn new(low: f64, high: f64, count: u32) -> Result<Self, Error> {
        const LARGEST: f64 = MAX_MODULUS as f64;
        let width = high - low;
        let fits = low.abs() <= LARGEST && high.abs() <= LARGEST && width >= 1.0 / LARGEST;
        if !fits || !(2..=MAX_DIGIT).contains(&count) {
            return Err(Error::InvalidArgument(format!(
                "{count} classes of the numbers from {low} to {high}; take 2 to {MAX_DIGIT} of an interval within -2^20 to 2^20, no \
                 shorter than 2^-20"
            )));
        }
        Ok(Self { low, high, count })
    }

    /// The number of classes.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The middle of a class, counted from 0, where functions are evaluated.
    pub fn middle(&self, class: u32) -> f64 {
        self.low + (f64::from(class) + 0.5) * (self.high - self.low) / f64::from(self.count)
    }

    /// The class of a number in the interval.
    pub fn of(&self, x: f64) -> u32 {
        let class = f64::from(self.count) * (x - self.low) / (self.high - self.low);
        (class.max(0.0) as u32).min(self.count - 1)
    }

    /// The values of a function at the middles.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a function that is not finite there, naming where.
    pub fn table(&self, function: impl Fn(f64) -> f64) -> Result<Vec<ComplexDoubleDouble>, Error> {
        let value = |class: u32| {
            let (x, y) = (self.middle(class), function(self.middle(class)));
            if y.is_finite() {
                return Ok(y.into());
            }
            Err(Error::InvalidArgument(format!(
                "the function is {y} at {x}, the middle of class {class}; take an interval where it is finite"
            )))
        };
        (0..self.count).map(value).collect()
    }

    fn width(&self) -> f64 {
        self.high - self.low
    }
}

impl<W: Word> MsbEvaluator<W> {
    /// Functions of real numbers in an interval, each by its table ([`Classes::table`]), refreshed: two passes for any number of functions.
    ///
    /// A number outside the interval has the value of the number inside that is whole widths away. Near a boundary the result may be the
    /// value of the neighbouring class, at the low end that of the last class, as [`Self::quantise`] says. Numbers at the scale of the set
    /// over the width are read as they are; from another scale it takes a level.
    ///
    /// # Errors
    /// As [`Self::quantise`] and [`Self::modulo`]; [`Error::InvalidArgument`] for a table of another number of classes.
    pub fn classify<'x>(
        &self,
        numbers: impl Into<Numbers<'x, W>>,
        classes: &Classes,
        tables: &[Vec<ComplexDoubleDouble>],
        guard: u32,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        if let Some(i) = tables.iter().position(|table| table.len() != classes.count as usize) {
            return Err(Error::InvalidArgument(format!(
                "table {i} has {} values for {} classes; give one for each",
                tables[i].len(),
                classes.count
            )));
        }
        let x = self.fraction(numbers.into(), classes.width())?;
        let low = DoubleDouble::new(-classes.low) / DoubleDouble::new(classes.width());
        let x = x.plus(self.ckks(), low)?;
        self.quantise(x.numbers(), tables, guard, keys, observer)
    }
}
