//! What all bootstrapping methods share: how a set is named, promised and described, how its evaluation keys are collected,
//! how a ciphertext is refreshed, and how the work of a run is shared.

mod keys;
pub(in crate::bootstrapping) mod limits;
mod numbers;
mod preset;
mod promise;
mod refresh;
mod set;
pub(in crate::bootstrapping) mod split;

pub use keys::{KeysBuilder, SwitchingKeySet};
pub use numbers::{NumberSecret, NumberSet, slots_of_known};
pub use preset::{Catalogue, Preset, Retired, SetSpec};
pub use promise::{Messages, Promise};
pub use refresh::Method;
pub use set::{Fact, GateInfo, OrderInfo, ParamSet, Part, Scheme, SetInfo, SlotMode, Stage};
pub use split::{Helper, Split, Tasks};

/// A bootstrapping method as listed by servers and pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// Stable identifier.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Where it was published.
    pub source: &'static str,
}
