//! Scheme switching: from CKKS to DM/CGGI and back, for comparisons, ranks, argmax and nearest-neighbour search.
//!
//! Slots are fast at sums and products but cannot compare; gates can compare but are slow at sums. Here a ciphertext of one scheme is
//! converted to the other, under one key set. After Boura, Gama, Georgieva, Jetchev ("CHIMERA", 2018); Lu, Huang, Hong, Ma, Qu ("PEGASUS",
//! S&P 2021); Al Badawi, Polyakov ("Demystifying Bootstrapping"); packing after Chen, Dai, Kim, Song (ACNS 2021).
//!
//! # What happens
//!
//! Slots become coefficients at the lowest levels, as gamma x q0. Rounded to a prime p_s that suits both rings, the
//! ciphertext is switched to the key z of the gates, padded with zeros to the larger ring; then a coefficient is an LWE sample of the
//! smaller dimension ([`Phase`]). The sign of a difference is one blind rotation.
//!
//! All pairs of a few numbers are compared at once. The rank of one is the sum of its comparisons, and a table on the rank says whether
//! it is the largest, the smallest, or among the k largest.
//!
//! Back, bits at ±1/4 of a turn are packed into a ring sample under z, read as one of the larger ring under z(X^(N'/N)), and switched
//! to the ephemeral secret of the slots modulo q0. From there a bootstrap takes over with ModRaise and coefficients-to-slots. The sine of
//! ±1/4 + I turns is ±1, and flat there, so errors are squared ([`LinkEvaluator::to_slots`]).
//!
//! # Use
//!
//! ```
//! use refloat::{
//!     bootstrapping::scheme_switching::{LinkEvaluator, LinkKeys, LinkSecretKey, PlaintextStorage, Range},
//!     params::link_preset,
//!     random::Seed,
//!     schemes::ckks::Complex,
//! };
//!
//! // A demonstration set; `n15+fbs16-50` has 128 bits of security.
//! let params = link_preset("toy-link")?.params()?;
//! // Seeds must come from the system's entropy: these are for the example alone.
//! let secret = LinkSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
//! let scores: Vec<Complex> = [0.2, 0.9, 0.5].map(|x| Complex::new(x, 0.0)).to_vec();
//! let x = secret.ckks().encrypt(&scores, params.input_level(), &Seed::from_bytes([2; 32]))?;
//!
//! // Whoever computes has the evaluation keys, and learns nothing.
//! let keys = LinkKeys::generate(&secret)?;
//! let evaluator = LinkEvaluator::new(&params, keys, PlaintextStorage::Coefficients)?;
//! let numbers = evaluator.extract(&x, &[0, 1, 2], Range::Unit, &mut ())?;
//! let winner = evaluator.argmax(&numbers, &mut ())?;
//! assert_eq!(secret.cggi().decrypt_bits(&winner)?, [false, true, false]);
//!
//! let mask = evaluator.to_slots(&winner, &mut ())?;
//! assert!((secret.ckks().decrypt(&mask)?.reveal_to_key_owner()[1].re - 1.0).abs() < 1e-3);
//! # Ok::<(), refloat::Error>(())
//! ```

mod comparison;
mod describe;
mod digits_and_gates;
mod evaluator;
mod gates_to_slots;
mod inspect;
mod keys;
mod layout;
mod noise;
mod order;
mod params;
mod phase;
mod presets;
mod programs;
mod questions;
mod range;
mod run;
mod secret;
mod slots_to_gates;
mod spec;
mod stages;

pub use comparison::Comparison;
pub use digits_and_gates::DigitLinkBootstrapper;
pub use evaluator::{LinkEvaluator, LinkTables};
pub use keys::{LinkKeys, LinkKeysBuilder};
pub use layout::{LinkKeyPart, LinkPartKind};
pub use noise::LinkNoise;
pub use params::LinkParams;
pub use phase::Phase;
pub use presets::{DigitLinkPreset, LinkPreset};
pub use programs::LinkBootstrapper;
pub use range::Range;
pub use run::{OrderRun, OrderState, Rotations};
pub use secret::LinkSecretKey;
pub use spec::LinkSpec;
pub use stages::{COMPARE, LOOK_UP, READ_BITS, SLOTS_TO_BASE, STAGES, TO_GATES, TO_SLOTS};

pub use crate::{
    bootstrapping::{ckks_conventional::Reduction, ckks_msb::RootsSpec},
    circuits::linear_transform::PlaintextStorage,
};

use super::MethodInfo;

/// Scheme switching in the registry.
pub const METHOD: MethodInfo = MethodInfo {
    id: "scheme-switching",
    title: "CKKS with comparison by DM/CGGI, under one key set",
    source: "Boura, Gama, Georgieva, Jetchev, CHIMERA, ePrint 2018/758; Lu, Huang, Hong, Ma, Qu, PEGASUS, ePrint 2020/1606",
};
