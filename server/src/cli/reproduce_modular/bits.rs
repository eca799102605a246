//! Table 10: the bits of a real, by digits.

use std::time::Instant;

use refloat::bootstrapping::ckks_msb::{Radix, Rounding};

use super::{BASE, Bench, Input, Measured, Row, System};
use crate::cli::failure::Failure;
use crate::cli::keyfiles::fresh_seed;
use crate::cli::measure::Precision;
use crate::cli::output::Output;
use crate::cli::progress;

/// Bits that are read.
pub(super) const BITS: usize = 10;

/// The paper's figures for a way to read bits. For its own way, the mean and the largest error of the number are swapped in print.
pub(super) struct Published {
    pub seconds: f64,
    /// Bits of the mean and of the largest error of the bits, from the nearest of 0 and 1.
    pub bits: [f64; 2],
    /// The same for the number that the bits stand for.
    pub number: [f64; 2],
}

const OWN: Published = Published { seconds: 53.8, bits: [31.0, 25.6], number: [11.0, 9.46] };

/// Decrypted bits, the highest first.
struct Bits {
    /// The distance of every bit from the nearest of 0 and 1.
    errors: Vec<f64>,
    /// What the bits stand for, in [0, 1).
    numbers: Vec<f64>,
    /// How many bits are off by more than 2^-[`BITS`], and how many slots have such a bit.
    wrong: [usize; 2],
}

impl Bits {
    fn of(bits: &[Vec<f64>], slots: usize) -> Self {
        let mut out = Self { errors: Vec::new(), numbers: vec![0.0; slots], wrong: [0; 2] };
        for slot in 0..slots {
            let mut wrong = 0;
            for (weight, bit) in (1..).map(|i| 0.5f64.powi(i)).zip(bits) {
                let nearest = bit[slot].round();
                let error = (bit[slot] - nearest).abs();
                out.errors.push(error);
                out.numbers[slot] += nearest * weight;
                wrong += usize::from(error.is_nan() || error > 0.5f64.powi(BITS as i32));
            }
            out.wrong[0] += wrong;
            out.wrong[1] += usize::from(wrong > 0);
        }
        out
    }
}

/// The closest of x - 1, x and x + 1 to `of`: numbers are read modulo 1, and one just below 1 may come back as 0.
fn beside(x: f64, of: f64) -> f64 {
    x + if x - of > 0.5 {
        -1.0
    } else if of - x > 0.5 {
        1.0
    } else {
        0.0
    }
}

/// The figures of all runs of one way to read bits.
#[derive(Default)]
pub(super) struct Tally {
    bits: Option<Measured>,
    number: Option<Measured>,
    wrong: [usize; 2],
    slots: usize,
}

impl Tally {
    /// Adds a run: its bits, the highest first, and the numbers they should stand for.
    pub fn add(&mut self, bits: &[Vec<f64>], values: &[f64], seconds: f64) {
        let own = |precision: Precision, best: Option<Measured>| {
            let next = Measured { seconds, precision };
            Some(best.map_or_else(|| Measured { ..next }, |best| best.and(&next)))
        };
        let read = Bits::of(bits, values.len());
        self.bits = own(Precision::of(&read.errors, &vec![0.0; read.errors.len()]), self.bits.take());
        let turned: Vec<f64> = read.numbers.iter().zip(values).map(|(&x, &of)| beside(x, of)).collect();
        self.number = own(Precision::of(&turned, values), self.number.take());
        self.wrong = [0, 1].map(|i| self.wrong[i] + read.wrong[i]);
        self.slots += values.len();
    }

    /// The share of bits that are off by more than 2^-[`BITS`].
    pub fn failures(&self) -> f64 {
        self.wrong[0] as f64 / (self.slots * BITS).max(1) as f64
    }

    /// A row of the bits, and one of the number.
    pub fn rows(
        self,
        params: &'static str,
        digits: usize,
        slots: usize,
        published: &Published,
        (what, note): (&str, &str),
    ) -> [Row; 2] {
        let make =
            |row: String, published: [f64; 2], measured: Option<Measured>, seconds: Option<f64>, note| Row {
                suite: "modular-reduction",
                table: 10,
                system: row,
                params,
                digits,
                published_seconds: seconds,
                seconds: measured.as_ref().filter(|_| seconds.is_some()).map(|measured| measured.seconds),
                published_mean_bits: Some(published[0]),
                mean_bits: measured.as_ref().map(|measured| measured.precision.mean),
                published_worst_bits: Some(published[1]),
                worst_bits: measured.as_ref().map(|measured| measured.precision.worst),
                milliseconds_per_slot: measured
                    .as_ref()
                    .filter(|_| seconds.is_some())
                    .map(|measured| measured.seconds * 1e3 / slots as f64),
                threads: 1,
                note,
            };
        let failures = format!(
            "{:.3} % of the bits off by more than 2^-{BITS}, in {} of {} slots; {note}",
            100.0 * self.failures(),
            self.wrong[1],
            self.slots
        );
        let number = format!("the number that they are, {what}");
        [
            make(
                format!("ten bits of a real, {what}"),
                published.bits,
                self.bits,
                Some(published.seconds),
                failures,
            ),
            make(number, published.number, self.number, None, "with its truncation, modulo 1".to_owned()),
        ]
    }
}

impl Bench {
    /// The ten highest bits of reals in [0, 1), with five guard bits below them for the noise of the rounding.
    pub(super) fn bits(&self, output: &Output) -> Result<[Row; 2], Failure> {
        let spinner = progress::spinner(output, &format!("{}: Table 10", self.preset));
        let radix = Radix::new(&[BASE; 3])?;
        let guard = radix.modulus().ilog2() as usize - BITS;
        let mut tally = Tally::default();
        for _ in 0..self.runs {
            let input =
                Input::draw(System::Boot, radix.modulus() as f64, self.params.slots(), &fresh_seed()?);
            let x = self.encrypt(&input.values, self.params.levels().input)?;
            let began = Instant::now();
            let results = self
                .pool
                .install(|| self.evaluator.bits(&x, &radix, Rounding::Ephemeral, &self.keys, &mut ()))?;
            let seconds = began.elapsed().as_secs_f64();
            let decrypted: Vec<Vec<f64>> =
                results[guard..].iter().rev().map(|bit| self.decrypt(bit)).collect::<Result<_, _>>()?;
            tally.add(&decrypted, &input.values, seconds);
        }
        spinner.finish_and_clear();
        let note = "published: in less than 1 of 2^15";
        Ok(tally.rows(self.preset, radix.bases().len(), self.params.slots(), &OWN, ("by digits", note)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_and_put_together() {
        let read = Bits::of(&[vec![1.0, 0.001], vec![0.0, 0.9995]], 2);
        assert_eq!((read.numbers, read.wrong), (vec![0.5, 0.25], [1, 1]));
        assert_eq!(Bits::of(&[vec![f64::NAN], vec![0.3]], 1).wrong, [2, 1]);
        assert_eq!(
            [(0.0, 0.75), (0.9, 0.1), (0.25, 0.5)].map(|(x, of)| beside(x, of) < 0.3),
            [false, true, true]
        );
        assert!(beside(1e9, 0.5) > 1e8, "values far from any bit are not hidden");
        let mut tally = Tally::default();
        for _ in 0..2 {
            tally.add(&vec![vec![0.0, 0.5]; BITS], &[0.0, 0.0], 2.0);
        }
        assert!((tally.failures() - 0.5).abs() < 1e-12);
        let [bits, _] = tally.rows("toy", 3, 2, &OWN, ("by hand", "and a note"));
        assert!(
            bits.note.starts_with("50.000 % of the bits")
                && bits.note.contains("in 2 of 4 slots; and a note")
        );
    }
}
