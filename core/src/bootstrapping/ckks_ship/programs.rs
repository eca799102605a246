//! Programs on SHIP sets.

use super::params::ShipParams;
use crate::{
    arith::Word,
    circuits::program::{Refreshed, Target},
    error::Error,
};

impl<W: Word> ShipParams<W> {
    /// What programs are planned for: products above the level where bootstraps begin, and no rotations.
    pub fn program_target(&self) -> Result<Target, Error> {
        let (input, output) = (self.input_level(), self.output_level());
        let target = Target::new(self.ckks(), self.slots(), output, self.scale())?;
        Ok(target
            .with_relinearization(output)
            .with_floor(input)
            .with_bootstrapping(input, output)
            .with_refreshed(Refreshed::At(self.root_scale(self.tree_levels()))))
    }
}
