//! Comparison, ranks and sorting: the highest digit of a difference says which of two numbers is larger.
//!
//! All n^2 pairs of n numbers are compared at once, in as many slots. Ranks are sums of comparisons; the number of rank m is put in place m
//! by a table that is 1 at 0 alone. So n numbers are sorted by two readouts, whatever n.

use alloc::{format, vec::Vec};

use super::{
    evaluator::{MsbEvaluator, one},
    numbers::Numbers,
    radix::Radix,
    readout::Readout,
    rounding::Rounding,
};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, Word},
    bootstrapping::raising::KeySource,
    error::Error,
    schemes::{
        ckks::{Ciphertext, Complex},
        evaluator::Leveled,
    },
    trace::{Counters, Observer},
};

/// n numbers in order.
pub struct Order<W: Word = u64> {
    /// Slots n (i - 1) + 1 to n i hold (r + 1) / n, r the rank of number i among all: 0 for the smallest, and of equal ones the
    /// one with the smaller index first.
    pub ranks: Ciphertext<W>,
    /// Slot m, and every n-th one from there, holds the number of rank m.
    pub sorted: Ciphertext<W>,
}

impl<W: Word> MsbEvaluator<W> {
    /// 1 where x >= y, and 0 elsewhere, refreshed: x and y fractions j/T in \[0, 1/2), T the modulus of `radix`, whose largest base is
    /// even. With [`Rounding::Ephemeral`] they may be any reals; where they are within a few steps of 1/T of each other, or of being 1/2
    /// apart, the result may be either.
    ///
    /// # Errors
    /// As [`Self::read`]; [`Error::InvalidArgument`] for a largest base that is odd.
    pub fn at_least(
        &self,
        (x, y): (&Ciphertext<W>, &Ciphertext<W>),
        radix: &Radix,
        rounding: Rounding,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let difference = self.ckks().sub(x, y)?;
        let shifted = self.ckks().add_constant(&difference, DoubleDouble::ratio(1, 2).into())?;
        one(self.read(Numbers::up_to(&shifted, 1.0), &upper_half(radix)?, rounding, keys, observer)?)
    }

    /// Ranks and sorts n numbers, each as j/T in \[0, 1/2): `columns` holds number j in slot n i + j, `rows` number i there, for all i and
    /// j below n, a power of two, and again in the slots from n^2 on. `rows` may be at another level; the sorted numbers are a product with
    /// it.
    /// # Errors
    /// As [`Self::at_least`]; [`Error::InvalidArgument`] for a count that is not a power of two, with a square above the number of slots,
    /// or with a table that takes too many levels; [`Error::MissingKey`].
    pub fn sort(
        &self,
        (rows, columns): (&Ciphertext<W>, &Ciphertext<W>),
        count: usize,
        radix: &Radix,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Order<W>, Error> {
        let slots = self.params().slots();
        let most = (self.params().largest_base() as usize).min(1 << (slots.ilog2() / 2));
        if !count.is_power_of_two() || !(2..=most).contains(&count) {
            return Err(Error::InvalidArgument(format!(
                "{count} numbers to sort; {} sorts a power of two of them from 2 to {most}",
                self.params().name()
            )));
        }
        let (ckks, scale) = (self.ckks(), self.params().scale());
        let at = |slot: usize| (slot / count % count, slot % count);
        let plain = |value: &dyn Fn(usize, usize) -> f64| -> Vec<Complex> {
            let number = |slot| {
                let (i, j) = at(slot);
                Complex::new(value(i, j), 0.0)
            };
            (0..slots).map(number).collect()
        };
        // x_i > x_j, or x_i = x_j and i >= j: a step less where i < j.
        let step = 1.0 / radix.modulus() as f64;
        let difference = ckks.sub(rows, columns)?;
        let before = plain(&|i, j| if i < j { 0.5 - step } else { 0.5 });
        let shifted = ckks.add_plain(&difference, &ckks.encode(&before, difference.level(), scale)?)?;
        let numbers = Numbers::up_to(&shifted, 1.0);
        let above = one(self.read(numbers, &upper_half(radix)?, Rounding::None, keys, observer)?)?;
        // Slot n i: the count of numbers no larger than number i, over n; copied to the n - 1 slots before it.
        let sums = self.sum_of_rotations(&above, 1, count, keys)?;
        let level = sums.level();
        let mask = plain(&|_, j| if j == 0 { 1.0 / count as f64 } else { 0.0 });
        let mask = ckks.encode(&mask, level, ckks.label_of_level(level).mul(scale).div(sums.scale()))?;
        let first = ckks.rescale_labelled(&ckks.multiply_plain(&sums, &mask)?, scale)?;
        let ranks = self.sum_of_rotations(&first, 1, count, keys)?;
        // 0 where the rank is that of the place.
        let place = plain(&|_, j| -(((j + 1) % count) as f64) / count as f64);
        let distance = ckks.add_plain(&ranks, &ckks.encode(&place, ranks.level(), scale)?)?;
        let is_zero = (0..count).map(|j| f64::from(u8::from(j == 0)).into()).collect();
        let there = one(self.look_up(Numbers::up_to(&distance, 2.0), &[is_zero], keys, observer)?)?;
        // The rows as they stand around those slots.
        let mut shifted = rows.clone();
        let mut left = 1;
        while left < count {
            shifted = self.rotate(&shifted, left as i64, keys, &mut Counters::default())?;
            left *= 2;
        }
        let placed = self.multiply(&there, &shifted, keys)?;
        let sorted = self.sum_of_rotations(&placed, count, count, keys)?;
        Ok(Order { ranks, sorted })
    }

    /// The sum of `count` rotations, a power of two, by multiples of `step`.
    fn sum_of_rotations(
        &self,
        x: &Ciphertext<W>,
        step: usize,
        count: usize,
        keys: &dyn KeySource<W>,
    ) -> Result<Ciphertext<W>, Error> {
        let (mut sum, mut left) = (x.clone(), step);
        while left < step * count {
            let turned = self.rotate(&sum, left as i64, keys, &mut Counters::default())?;
            sum = self.ckks().add(&sum, &turned)?;
            left *= 2;
        }
        Ok(sum)
    }
}

/// Whether the highest digit is at least one half of its base.
fn upper_half(radix: &Radix) -> Result<Readout, Error> {
    let largest = radix.bases().iter().copied().max().unwrap_or(0);
    if largest % 2 == 1 {
        return Err(Error::InvalidArgument(format!(
            "a comparison in bases {:?}, of which the largest is odd; take an even one, such as {}",
            radix.bases(),
            largest + 1
        )));
    }
    let half = |j: u32| -> ComplexDoubleDouble { f64::from(u8::from(2 * j >= largest)).into() };
    Readout::highest_digit(radix, &[(0..largest).map(half).collect()])
}
