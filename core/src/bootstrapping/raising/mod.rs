//! What is shared by the methods that raise the modulus (conventional CKKS and modular reduction): sets, keys, and everything around
//! the reduction itself.
//!
//! A ciphertext modulo q0 decrypts to m modulo q0, and read modulo a large Q to m + q0 I. Coefficients are moved into slots,
//! a function of x = m/q0 + I that no longer depends on I is evaluated, and slots are moved into coefficients before or
//! after ([`StageOrder`]). The function depends on the method: a [`ReductionSpec`] inside a [`RaisingSpec`]. Levels and keys
//! ([`RaisingParams`], [`RaisingSecretKey`], [`RaisingKeys`]) and the part of the circuit that surrounds the reduction
//! ([`RaisingEvaluator`]) follow from the numbers of both.

mod chain;
mod cost;
mod describe;
mod evaluator;
mod key_order;
pub(super) mod key_source;
mod keys;
pub(super) mod maps;
mod numbers;
mod params;
mod raise;
mod reduction;
mod secret;
mod spec;
pub(super) mod stages;
pub(super) mod steps;

pub(super) use chain::digits_of;
pub(crate) use chain::{Sizes, chain};
pub use evaluator::RaisingEvaluator;
pub use key_source::{Direction, KeySource};
pub(in crate::bootstrapping) use keys::raising_key_set;
pub use keys::{RaisingKeys, RaisingKeysBuilder, RaisingSecret};
pub(super) use params::security_of;
pub use params::{Levels, RaisingParams};
pub use reduction::ReductionSpec;
pub use secret::RaisingSecretKey;
pub use spec::{EphemeralSpec, RaisingSpec, StageOrder};
pub use stages::{COEFFS_TO_SLOTS, MOD_RAISE, SLOTS_TO_COEFFS, SUB_SUM};
