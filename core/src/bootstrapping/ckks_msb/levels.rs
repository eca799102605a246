//! Which tables the levels of a set allow.

use alloc::format;

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

    /// Whether the tables have levels enough; `rescales` if digits are brought to the scale of the set before they are subtracted,
    /// as those of bits always are.
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
