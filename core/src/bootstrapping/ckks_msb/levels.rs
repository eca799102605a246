//! Which tables the levels of a set allow.

use alloc::{format, vec::Vec};

use super::{
    radix::MAX_DIGIT,
    readout::{Readout, Yields},
    spec::MsbParams,
};
use crate::{arith::Word, error::Error};

impl<W: Word> MsbParams<W> {
    /// The largest base whose tables leave their results no lower than inputs are.
    pub fn largest_base(&self) -> u32 {
        let levels = self.levels();
        MAX_DIGIT.min(1 << levels.left().saturating_sub(1).min(16))
    }

    /// Level to which digit i is raised: the highest, less the levels that would be left over at the end of its pass. `wanted` says whether
    /// the digit is a result or a part of one. If it is only subtracted, it has to end at the level of inputs; a part of a result, at the
    /// level of the part with the deepest table. A raise to fewer levels is cheaper in proportion.
    pub(super) fn raised(&self, readout: &Readout, i: usize, wanted: bool, rescales: bool) -> usize {
        let (levels, top) = (self.levels(), self.ckks().rlwe().max_level());
        let left = |i: usize| levels.output.saturating_sub(readout.pass(i).levels());
        let lowest = levels.input + usize::from(rescales || readout.pass(i).yields == Yields::Bits);
        let least = match readout.pass(i).yields {
            Yields::Digit if readout.is_last(i) => left_of_all(readout, left),
            Yields::Digit => lowest.max(left_of_all(readout, left)),
            Yields::Guard => lowest,
            Yields::Bits if !wanted && !readout.is_last(i) => lowest,
            Yields::Bits | Yields::Values | Yields::Binary => left(i),
        };
        let less = left(i).saturating_sub(least);
        if self.are_alike(top - less - self.spec().coeffs_to_slots) { top - less } else { top }
    }

    /// Whether levels above `level` are of primes of one size: then diagonals encoded for one of them serve at another.
    fn are_alike(&self, level: usize) -> bool {
        let log2 = |primes: &Vec<u64>| primes.iter().map(|&p| libm::log2(p as f64)).sum::<f64>();
        let mut sizes = self.spec().chain.levels.iter().skip(level + 1).map(log2);
        let first = sizes.next().unwrap_or_default();
        sizes.all(|size| (size - first).abs() < 1.0 / 64.0)
    }

    /// Checks that the set has levels enough for the tables; `rescales` if digits are brought to the scale of the set before they are
    /// subtracted, as those of bits always are.
    pub(super) fn check_levels(&self, readout: &Readout, rescales: bool) -> Result<(), Error> {
        let levels = self.levels();
        for i in 0..readout.passes() {
            let pass = readout.pass(i);
            let needed = match pass.yields {
                _ if readout.is_last(i) => 0,
                _ if rescales => levels.input + 1,
                Yields::Bits => levels.input + 1,
                Yields::Digit | Yields::Guard | Yields::Values | Yields::Binary => levels.input,
            };
            let taken = pass.levels();
            if levels.output < needed + taken {
                return Err(Error::LevelMismatch(format!(
                    "tables in base {} take {taken} levels and their results have to be at level {needed}; {} begins them at \
                     level {}: take smaller bases, or a set with more levels",
                    pass.base,
                    self.name(),
                    levels.output
                )));
            }
        }
        Ok(())
    }
}

/// The lowest level at which a part of a result stands.
fn left_of_all(readout: &Readout, left: impl Fn(usize) -> usize) -> usize {
    (0..readout.passes()).map(left).min().unwrap_or_default()
}
