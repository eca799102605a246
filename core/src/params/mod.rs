//! L7: named parameter sets as data: the numbers, where they come from, and what they promise.

mod cggi;
mod cggi_peers;
mod cggi_specs;
mod conventional;
mod seal;
mod ship;

use alloc::{format, vec::Vec};

use crate::{
    arith::Word,
    bootstrapping::ckks_ship::{ShipMode, ShipParams, ShipSpec},
    error::Error,
    schemes::ckks::hex,
    security::SecurityPolicy,
};

pub use cggi::{CggiPreset, DEFAULT_CGGI_PRESET, cggi_preset, cggi_preset_by_fingerprint, cggi_presets};
pub use cggi_peers::{cggi_peer_preset, cggi_peer_presets};
pub use conventional::{
    ConventionalPreset, DEFAULT_CONVENTIONAL_PRESET, conventional_preset, conventional_preset_by_fingerprint,
    conventional_presets,
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
    /// Bits of precision of the worst slot of one bootstrap that the set promises, uniform messages
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

    /// Bits that a further round of META-BTS gains ([`crate::bootstrapping::Rounds`]): those one bootstrap promises in the
    /// worst slot.
    pub fn gain_bits(&self) -> u32 {
        self.promised_bits as u32
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

/// The set used where nobody chose one.
pub const DEFAULT_PRESET: &str = "ship13";

/// Every named set, the default first, insecure ones last.
pub fn presets() -> &'static [Preset] {
    &ship::PRESETS
}

/// The set of a name.
///
/// # Errors
/// [`Error::InvalidArgument`] listing the names there are.
pub fn preset(name: &str) -> Result<&'static Preset, Error> {
    presets().iter().find(|p| p.name == name).ok_or_else(|| {
        let names: Vec<&str> = presets().iter().map(|p| p.name).collect();
        Error::InvalidArgument(format!("no parameter set is called {name:?}; there are {}", names.join(", ")))
    })
}

/// The set with a fingerprint.
///
/// # Errors
/// [`Error::ParamsMismatch`] if no preset has it.
pub fn preset_by_fingerprint(fingerprint: &[u8; 16]) -> Result<&'static Preset, Error> {
    presets().iter().find(|p| (p.spec)().fingerprint() == *fingerprint).ok_or_else(|| {
        Error::ParamsMismatch(format!(
            "no parameter set of this version has fingerprint {}; use the version that made it",
            hex(fingerprint)
        ))
    })
}
