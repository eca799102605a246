//! L7: named parameter sets as data: the numbers, where they come from, and what they promise.

mod catalogue;
mod cggi;
mod cggi_peers;
mod cggi_retired;
mod cggi_specs;
mod conventional;
mod conventional_retired;
mod seal;
mod ship;

use crate::{
    arith::Word,
    bootstrapping::ckks_ship::{ShipMode, ShipParams, ShipSpec},
    error::Error,
    security::SecurityPolicy,
};
use catalogue::{Catalogue, Named};

pub use catalogue::Retired;
pub use cggi::{
    CggiPreset, DEFAULT_CGGI_PRESET, cggi_preset, cggi_preset_by_fingerprint, cggi_presets,
    readable_cggi_presets, retired_cggi_presets,
};
pub use cggi_peers::{cggi_peer_preset, cggi_peer_presets};
pub use conventional::{
    ConventionalPreset, DEFAULT_CONVENTIONAL_PRESET, conventional_preset, conventional_preset_by_fingerprint,
    conventional_presets, readable_conventional_presets, retired_conventional_presets,
};
pub use seal::{SealSet, seal_sets};

/// A named parameter set.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Name, as users write it.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// What the slots hold by default.
    pub mode: ShipMode,
    /// Security policy the set is validated against.
    pub policy: SecurityPolicy,
    /// Bits of precision of the worst slot of one bootstrap that the set promises, every message with parts
    /// in [-1, 1] (or bits).
    pub promised_bits: f64,
    /// Where the numbers come from.
    pub source: &'static str,
    /// The numbers.
    pub spec: fn() -> ShipSpec,
}

impl Preset {
    /// Whether the set claims security at all.
    pub fn secure(&self) -> bool {
        self.policy != SecurityPolicy::InsecureForTests
    }

    /// For which messages the promise holds, in words.
    pub fn promised_for(&self) -> &'static str {
        if self.mode == ShipMode::Bits { "every message of bits" } else { EVERY_MESSAGE }
    }

    /// Bits that a further round of META-BTS gains ([`crate::bootstrapping::Rounds`]): those one bootstrap promises in the
    /// worst slot.
    pub fn gain_bits(&self) -> u32 {
        self.promised_bits as u32
    }

    /// Bits of the worst slot that `bootstraps` promise of a message of which nothing is computed between them: errors add
    /// up at worst. A computation multiplies those before it by its slope. Bits are cleaned by each bootstrap, so that
    /// theirs do not add up.
    pub fn promised_bits_after(&self, bootstraps: u32) -> f64 {
        if self.mode == ShipMode::Bits {
            self.promised_bits
        } else {
            bits_after(self.promised_bits, bootstraps)
        }
    }

    /// The validated parameters, 32-bit words: every prime of a preset is below 2^31.
    ///
    /// # Errors
    /// None for a shipped preset; validation runs all the same.
    pub fn params(&self) -> Result<ShipParams, Error> {
        ShipParams::new(&(self.spec)())
    }

    /// [`Self::params`] over another word.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if a prime does not fit the word.
    pub fn params_over<W: Word>(&self) -> Result<ShipParams<W>, Error> {
        ShipParams::new(&(self.spec)())
    }
}

/// What a promise for every message covers.
const EVERY_MESSAGE: &str = "every message with parts in [-1, 1]";

/// What is left of `bits` after so many bootstraps: each adds an error of at most 2^-bits to that of all before.
fn bits_after(bits: f64, bootstraps: u32) -> f64 {
    bits - libm::log2(f64::from(bootstraps.max(1)))
}

/// The set used where nobody chose one.
pub const DEFAULT_PRESET: &str = "ship13";

impl Named for Preset {
    const WHAT: &'static str = "parameter set of SHIP";

    fn name(&self) -> &'static str {
        self.name
    }

    fn fingerprint(&self) -> [u8; 16] {
        (self.spec)().fingerprint()
    }
}

static SETS: Catalogue<Preset> = Catalogue { current: &ship::PRESETS, retired: &ship::RETIRED };

/// Every named set, the default first, insecure ones last.
pub fn presets() -> &'static [Preset] {
    SETS.current
}

/// Sets of earlier versions: their keys are read, and no new ones made.
pub fn retired_presets() -> &'static [Retired<Preset>] {
    SETS.retired
}

/// [`presets`], then those of earlier versions.
pub fn readable_presets() -> impl Iterator<Item = &'static Preset> {
    SETS.readable()
}

/// The set of a name, to make keys of.
///
/// # Errors
/// [`Error::InvalidArgument`] listing the names there are, or naming the set to take instead of a retired one.
pub fn preset(name: &str) -> Result<&'static Preset, Error> {
    SETS.named(name)
}

/// The set with a fingerprint, retired or not.
///
/// # Errors
/// [`Error::ParamsMismatch`] if no preset has it.
pub fn preset_by_fingerprint(fingerprint: &[u8; 16]) -> Result<&'static Preset, Error> {
    SETS.by_fingerprint(fingerprint)
}

/// The set to make new keys of instead of a retired one, of any method; `None` for a set of today.
pub fn successor(name: &str) -> Option<&'static str> {
    SETS.successor(name).or_else(|| conventional::SETS.successor(name)).or_else(|| cggi::SETS.successor(name))
}
