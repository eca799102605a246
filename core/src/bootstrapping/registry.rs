//! The methods there are: one line each.

use super::{MethodInfo, cggi, ckks_conventional, ckks_msb, ckks_ship};

/// Every method of this version.
pub fn methods() -> &'static [MethodInfo] {
    &[ckks_ship::METHOD, ckks_conventional::METHOD, ckks_msb::METHOD, cggi::METHOD]
}
