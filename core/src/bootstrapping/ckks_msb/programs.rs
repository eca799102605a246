//! Programs on sets for modular reduction: those of every CKKS set, and readings of digits.

use alloc::sync::Arc;
use core::fmt;

use super::{
    bootstrapper::{LARGEST_DRIFT, MsbBootstrapper},
    digits::Digits,
    noise,
    radix::Radix,
    readout::LEAST_GUARD,
    rounding::Rounding,
    spec::MsbParams,
    stages,
};
use crate::{
    arith::Word,
    bootstrapping::{program::ProgramMethod, raising::KeySource},
    circuits::program::{DigitOrders, DigitReader, Modular, PlannedDigits, Readings, Refreshed, Target},
    error::Error,
    schemes::ckks::Scale,
};

/// Bits that a bootstrap of a program keeps.
const REFRESHED_BITS: u32 = 15;

/// The largest base in which those bits are read: three digits, or more where the set has few levels.
const REFRESHED_BASE: u32 = 32;

/// Levels that pairs need after their table: for ranks, and to bring them to the scale of the set.
const LEFT_OF_PAIRS: usize = 2;

/// Time of a key switch at the levels of inputs, as a part of a pass: a pass has 112, most of them at three times as many levels or more.
const KEY_SWITCH: f64 = 1.0 / 400.0;

/// Levels that a bootstrap of a program leaves for products, if the set has them.
const PRODUCTS: usize = 2;

impl<W: Word> MsbParams<W> {
    /// The target that programs are planned for. The keys are those of bootstraps, and rotations without a key are composed of those with
    /// one. A bootstrap takes real slots in (-1/2, 1/2), and reads them in the bases of [`Self::refreshing_radix`].
    pub fn program_target(&self) -> Result<Target, Error> {
        let levels = self.levels();
        let target = Target::new(self.ckks(), self.slots(), levels.output, self.scale())?;
        let radix = self.refreshing_radix()?;
        Ok(target
            .with_relinearization(levels.reduction)
            .with_galois(self.galois_elements())
            .with_bootstrapping(levels.input, self.refreshed_level())
            .with_failure(self.log2_failure().map(|one| one + libm::log2(radix.bases().len() as f64)))
            .with_refreshed(Refreshed::At(self.scale()))
            .with_scale_at(self.refreshed_level())
            // A message takes all of q0.
            .with_floor(1)
            .with_modular_bootstraps(Modular {
                scale: self.scale(),
                drift: LARGEST_DRIFT / radix.modulus() as f64,
                passes: radix.bases().len(),
            })
            .with_digits(Arc::new(Reader(self.clone()))))
    }

    /// How programs compare numbers by digits.
    pub(in crate::bootstrapping) fn digit_orders(&self) -> DigitOrders {
        let spare = self.levels().left().saturating_sub(LEFT_OF_PAIRS + 1).clamp(2, 16);
        let base = self.largest_base();
        DigitOrders {
            base,
            base_of_pairs: base.min(1 << spare),
            guard: LEAST_GUARD.min(base),
            rounding: noise::largest_rounding(self, Rounding::Ephemeral),
            // Fourteen deviations instead of six: exceeded with less than 2^-140 a slot.
            off: 14.0 / noise::DEVIATIONS * (noise::of_input(self) + noise::of_first_map(self, 1.0)),
            key_switch: self.seconds_of_pass() * KEY_SWITCH,
        }
    }

    /// The level that a bootstrap of a program leaves.
    pub fn refreshed_level(&self) -> usize {
        self.levels().output.saturating_sub(stages::table_levels(self.refreshing_base()))
    }

    fn refreshing_base(&self) -> u32 {
        let spare = self.levels().left().saturating_sub(PRODUCTS + 1).clamp(1, 16);
        REFRESHED_BASE.min(1 << spare).min(self.largest_base())
    }

    /// The bases in which bootstraps of programs read 15 bits: as large as possible with levels left for two products.
    pub fn refreshing_radix(&self) -> Result<Radix, Error> {
        Radix::of_modulus(1 << REFRESHED_BITS, self.refreshing_base())
    }
}

/// A bootstrapper for [`MsbParams::refreshing_radix`] runs plans that were made for [`MsbParams::program_target`].
impl<W: Word> ProgramMethod<W> for MsbBootstrapper<'_, W> {
    fn program_keys(&self) -> &dyn KeySource<W> {
        self.keys()
    }
}

/// What plans need to know of a set.
struct Reader<W: Word>(MsbParams<W>);

impl<W: Word> fmt::Debug for Reader<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "digits of {}", self.0.name())
    }
}

impl<W: Word> DigitReader for Reader<W> {
    fn plan(&self, scale: Scale, readings: Readings<'_>) -> Result<PlannedDigits, Error> {
        Digits::of(&self.0, scale, readings)?.plan(&self.0, scale, readings.list)
    }
}
