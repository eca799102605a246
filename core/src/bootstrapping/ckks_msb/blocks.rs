//! Boot^k of Kim and Noh, "Modular Reduction in CKKS": real numbers of any precision, block by block.

use alloc::format;

use super::{
    evaluator::{MsbEvaluator, one, run},
    noise,
    numbers::Numbers,
    radix::{MAX_MODULUS, Radix},
    readout::Readout,
    rounding::Rounding,
    run::MsbRun,
};
use crate::{
    arith::Word,
    bootstrapping::raising::KeySource,
    error::Error,
    schemes::ckks::Ciphertext,
    trace::{Counters, Observer},
};

impl<W: Word> MsbEvaluator<W> {
    /// Boot^k: real numbers in \[0, T^(k-1)), refreshed and rounded to multiples of 1/T: k times the bits of [`Self::boot`].
    ///
    /// The integer part is divided by T, one level each time, and read as an integer. x has to be `blocks` - 1 levels above inputs, and for
    /// several blocks so do the results of the tables. The result is at the scale of the set. A number near 0 may come back near T^(k-1).
    /// The observer sees the digits of each block counted from 1.
    ///
    /// # Errors
    /// As [`Self::read`]; [`Error::InvalidArgument`] for no block, for T^(k-1) above [`LARGEST_MESSAGE`](super::LARGEST_MESSAGE), or for
    /// several blocks in bases that do not bear the error which the rounding of the first one leaves (two digits do from about T = 2^10
    /// on); [`Error::LevelMismatch`] for too few levels.
    pub fn boot_blocks(
        &self,
        x: &Ciphertext<W>,
        radix: &Radix,
        blocks: u32,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let (modulus, digits) = (radix.modulus(), Readout::digits(radix)?);
        let mut largest = self.check_blocks(x, radix, &digits, blocks)?;
        let mut off = noise::of_input(self.params());
        let mut rest = x.clone();
        let mut sum: Option<Ciphertext<W>> = None;
        let mut weight = 1i64;
        // Work of a division, which the next block reports.
        let mut divided = Counters::default();
        for block in 0..blocks {
            let rounding = if block == 0 { Rounding::Ephemeral } else { Rounding::None };
            let numbers = Numbers::up_to(&rest, largest).off_by(off).after(core::mem::take(&mut divided));
            let part = one(run(MsbRun::new(self, numbers, &digits, rounding)?, keys, observer)?)?;
            if block + 1 < blocks {
                off = self.off_of_next(&rest, largest, modulus);
                rest = self.divide(&self.ckks().sub(&rest, &part)?, modulus as f64, &mut divided)?;
                largest = (largest / modulus as f64).max(1.0);
            }
            let part = self.ckks().multiply_integer(&part, weight)?;
            weight *= modulus as i64;
            sum = Some(match sum {
                None => part,
                Some(sum) => self.ckks().add(&sum, &part)?,
            });
        }
        sum.ok_or_else(|| Error::InvalidArgument("no blocks".into()))
    }

    /// The error of the integer part of numbers up to `largest` after its division by `modulus`: the rounding of the block that was
    /// subtracted, and that of the constant.
    fn off_of_next(&self, x: &Ciphertext<W>, largest: f64, modulus: u64) -> f64 {
        let params = self.params();
        let rounded = noise::of_rounding(params, Rounding::Ephemeral, modulus) / modulus as f64;
        noise::of_input(params) + rounded + self.off_divided(x, largest)
    }

    /// Checks the arguments of [`Self::boot_blocks`], and returns the bound of its numbers.
    fn check_blocks(
        &self,
        x: &Ciphertext<W>,
        radix: &Radix,
        digits: &Readout,
        blocks: u32,
    ) -> Result<f64, Error> {
        let (params, modulus) = (self.params(), radix.modulus());
        params.check_input(x, 0)?;
        let above = blocks.checked_sub(1);
        let range = above.and_then(|above| modulus.checked_pow(above)).filter(|&range| range <= MAX_MODULUS);
        let (Some(above), Some(range)) = (above, range) else {
            return Err(Error::InvalidArgument(format!(
                "{blocks} blocks in base {modulus}; take at least one, and numbers below base^(blocks - 1) up to {MAX_MODULUS}"
            )));
        };
        let levels = params.levels();
        let deepest = digits.levels().max().unwrap_or(0);
        let (needed, left) = (levels.input + above as usize, levels.output.saturating_sub(deepest));
        if x.level() < needed || (above > 0 && left < needed) {
            return Err(Error::LevelMismatch(format!(
                "{blocks} blocks are read from level {needed} on; the ciphertext is at {}, and tables in bases {:?} leave results at \
                 level {left}: read them earlier, read fewer, or take smaller bases",
                x.level(),
                radix.bases()
            )));
        }
        if above > 0 {
            let largest = (range as f64 / modulus as f64).max(1.0);
            let (off, map) =
                (self.off_of_next(x, range as f64, modulus), noise::of_first_map(params, largest));
            let rounded = noise::of_rounding(params, Rounding::Ephemeral, modulus) / modulus as f64;
            digits.check_noise(off + map).map_err(|error| {
                if 2.0 * rounded < off + map {
                    return error;
                }
                Error::InvalidArgument(format!(
                    "{blocks} blocks in bases {:?}: the rounding of the first is taken for digits of the next; take two digits, and \
                     bases whose product is 1024 or more",
                    radix.bases()
                ))
            })?;
        }
        Ok(range as f64)
    }
}
