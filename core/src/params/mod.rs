//! L7: parameter sets of all methods: the named ones, and those of other libraries.
//!
//! A method's named sets are in its folder, with the numbers, where they come from, and what they promise.

mod cggi_peers;
mod seal;

use crate::error::Error;

pub use crate::bootstrapping::{
    bgv::BgvPreset, cggi::CggiPreset, ckks_conventional::ConventionalPreset, ckks_msb::MsbPreset,
    ckks_ship::ShipPreset, scheme_switching::DigitLinkPreset, scheme_switching::LinkPreset,
};
pub use cggi_peers::{cggi_peer_preset, cggi_peer_presets};
pub use seal::{SealSet, seal_sets};

/// The set used where nobody chose one.
pub const DEFAULT_PRESET: &str = "ship13";

/// The conventional set used where nobody chose one.
pub const DEFAULT_CONVENTIONAL_PRESET: &str = "n16";

/// The DM/CGGI set used where nobody chose one.
pub const DEFAULT_CGGI_PRESET: &str = "bool-128";

/// As [`ShipPreset::named`].
///
/// # Errors
/// As [`ShipPreset::named`].
pub fn preset(name: &str) -> Result<&'static ShipPreset, Error> {
    ShipPreset::named(name)
}

/// As [`ConventionalPreset::named`].
///
/// # Errors
/// As [`ConventionalPreset::named`].
pub fn conventional_preset(name: &str) -> Result<&'static ConventionalPreset, Error> {
    ConventionalPreset::named(name)
}

/// As [`MsbPreset::named`].
///
/// # Errors
/// As [`MsbPreset::named`].
pub fn msb_preset(name: &str) -> Result<&'static MsbPreset, Error> {
    MsbPreset::named(name)
}

/// As [`LinkPreset::named`].
///
/// # Errors
/// As [`LinkPreset::named`].
pub fn link_preset(name: &str) -> Result<&'static LinkPreset, Error> {
    LinkPreset::named(name)
}

/// As [`CggiPreset::named`].
///
/// # Errors
/// As [`CggiPreset::named`].
pub fn cggi_preset(name: &str) -> Result<&'static CggiPreset, Error> {
    CggiPreset::named(name)
}
