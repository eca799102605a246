//! DM/CGGI bootstrapping: one bit or a few, any function, in milliseconds.
//!
//! Ducas, Micciancio (EUROCRYPT 2015); Chillotti, Gama, Georgieva, Izabachène (ASIACRYPT 2016). An exact
//! transform modulo one prime takes the place of the floating-point one. The order is key switch,
//! modulus switch, blind rotation, extraction, and rounding errors are centred (as by
//! `CenteredMeanNoiseReduction` in tfhe-rs).
//!
//! # What happens
//!
//! A gate is the sign of a sum: with bits at ±1/8 of the turn, 1/8 - x - y is positive unless both are 1.
//! The sum is an LWE sample of dimension N; its phase is switched to a short key s of dimension n, rounded to
//! an exponent phi modulo 2N, and the polynomial v, whose coefficients are the results for all phases, is
//! multiplied by X^(-phi) obliviously: X^(-b), known, times X^(-a_i s_i), with s_i encrypted in the keys.
//! The constant coefficient is the result for phi, with the noise of the rotation alone.
//!
//! A set says by which method its accumulator is rotated ([`RotationMethod`](crate::schemes::cggi::RotationMethod)): GINX for
//! binary or ternary keys, or for two coordinates of a binary key at once; automorphisms (LMKCDEY) for any key, with merged
//! keys if wanted, or the same on NTRU samples; or the digits of the masks (AP), the method that was published first. All give
//! the same kind of ciphertext.
//!
//! # Use
//!
//! ```
//! use refloat::{
//!     bootstrapping::cggi::{CggiEvaluator, CggiKeys, CggiSecretKey, Gate},
//!     params::cggi_preset,
//!     random::Seed,
//! };
//!
//! // A demonstration set; `bool-128`, the default, has 128 bits of security.
//! let params = cggi_preset("toy-bool")?.params()?;
//! // Seeds must come from the system's entropy: these are for the example alone.
//! let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
//! let bits = secret.encrypt_bits(&[true, false], &Seed::from_bytes([2; 32]));
//!
//! // Whoever computes has the evaluation keys, and learns nothing.
//! let evaluator = CggiEvaluator::new(CggiKeys::generate(&secret)?);
//! let nand = evaluator.gate(Gate::Nand, &[&bits[0], &bits[1]], &mut ())?;
//!
//! assert!(secret.decrypt_bit(&nand)?);
//! # Ok::<(), refloat::Error>(())
//! ```
//!
//! - Keys travel as parts ([`key_parts`], [`CggiSecretKey::key_part`](crate::schemes::cggi::CggiSecretKey),
//!   [`CggiKeys::builder`]): seeded and packed, 9.2 MB for `bool-128`.
//! - [`CggiEvaluator::gates`] computes independent gates on all available threads.
//! - [`CggiEvaluator::gate_run`] gives one gate as a [`CggiRun`] that the caller drives, step by step; the owner
//!   of the key can look at it ([`CggiView`]).

mod accumulator;
mod ap;
mod describe;
mod evaluator;
mod ginx;
mod ginx_unrolled;
mod inspect;
mod integers;
mod keys;
mod layout;
mod lmkcdey;
mod look_up;
mod methods;
mod netlist;
mod ntru;
mod phase;
mod presets;
mod rotation;
mod rotation_key;
mod run;
mod schedule;
mod sign_plan;
mod simplify;
mod split;
mod stages;
mod test_vector;
mod tree;

pub(in crate::bootstrapping) use describe::expanded_bytes;
pub use evaluator::CggiEvaluator;
pub use inspect::CggiView;
pub(in crate::bootstrapping) use integers::too_noisy;
pub use keys::{CggiKeys, CggiKeysBuilder};
pub use layout::{
    CggiKeyPart, CggiPartKind, MAX_PART_BYTES, key_parts, rotation_sample_words, rotation_samples,
};
pub use presets::CggiPreset;
pub(crate) use presets::{bool_128, fbs_16_50, toy_fbs};
pub use rotation::Rotation;
pub use run::{CggiRun, CggiState};
pub(in crate::bootstrapping) use sign_plan::{NoisyResidue, SignPlan};
pub use split::{CircuitHelper, CircuitRun};
pub use stages::{BLIND_ROTATE, EXTRACT, KEY_SWITCH, MOD_SWITCH};
pub use test_vector::TestVector;
pub use tree::CggiPackingKeys;

pub use crate::schemes::cggi::{CggiCiphertext, CggiParams, CggiSecretKey, CggiSpec, Gate};

use super::MethodInfo;

/// DM/CGGI in the registry.
pub const METHOD: MethodInfo = MethodInfo {
    id: "cggi",
    title: "DM/CGGI: gates and look-ups on single bits and small integers",
    source: "Ducas, Micciancio, EUROCRYPT 2015; Chillotti, Gama, Georgieva, Izabachène, ASIACRYPT 2016",
};
