//! The methods there are: one line each.

use super::{cggi, ckks_conventional, ckks_ship};

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

/// Every method of this version.
pub fn methods() -> &'static [MethodInfo] {
    &[ckks_ship::METHOD, ckks_conventional::METHOD, cggi::METHOD]
}
