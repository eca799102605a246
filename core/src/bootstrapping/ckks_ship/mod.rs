//! SHIP: bootstrapping CKKS through roots of unity, at depth log2(h + 1) + 1.
//!
//! Cheon, Hanrot, Kim, Stehlé, "SHIP: A Shallow and Highly Parallelizable CKKS Bootstrapping
//! Algorithm", ePrint 2025/784. Where the layout of the keys, the digits of the encapsulation or
//! the slope of the sine differ from the paper, the module of that stage says so.
//!
//! # What happens
//!
//! An exhausted ciphertext has a modulus too small to compute with. Its slots are first moved into
//! coefficients m_i modulo q0 ([`SlotsToCoeffs`]), and its key is switched to a sparse secret
//! s' = sum_k ± X^(e_k) of weight h. With w = exp(2 pi i / q0), coefficient i decrypts in the
//! exponent:
//!
//! w^(b_i) · prod_k F_(i - J_k) = w^(m_i), where F_t = w^(a_t) for t < N, F_(t+N) = conj(F_t),
//!
//! and J_k (modulo 2N, the sign folded in) is the only secret. F is public, so each factor is a
//! rotated window of a public sequence: a *blind rotation* by an encrypted amount, done in slots at
//! the full modulus Q, which is where the roots of unity come from. The h rotations are independent tracks.
//! Their product takes log2(h + 1) levels; the imaginary part of w^(m_i) is sin(2 pi m_i / q0), the
//! message again, at a high modulus.
//!
//! # One track
//!
//! J = o + r (+ N for a negative sign), o public, r = r_0 + theta r_1. The *column* multiplies the
//! rotations by r_0 < theta of the four quarters of F with encrypted masks; *multiplexers* then
//! rotate by the mixed-radix digits of theta r_1, and by o in the first of them. No level is used:
//! masks and selectors are encrypted with factor P, which ModDown removes.
//!
//! # Use
//!
//! ```
//! use refloat::{
//!     bootstrapping::ckks_ship::{ShipEvaluator, ShipKeys, ShipSecretKey},
//!     params::ship_preset,
//!     random::Seed,
//! };
//!
//! // A demonstration set; `ship13`, the default, has 128 bits of security.
//! let params = ship_preset("toy10")?.params()?;
//! // Seeds must come from the system's entropy: these are for the example alone.
//! let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
//! let keys = ShipKeys::generate(&secret)?;
//! let x = secret.encrypt(&[0.5, -0.25], params.mode(), &Seed::from_bytes([2; 32]))?;
//!
//! // Whoever computes has the evaluation keys, and learns nothing.
//! let evaluator = ShipEvaluator::new(&params)?;
//! let refreshed = evaluator.bootstrap(&evaluator.exhaust(&x)?, params.mode(), &keys, &mut ())?;
//! assert!(refreshed.level() > 0);
//!
//! let slots = secret.decrypt(&refreshed, params.mode())?;
//! assert!((slots.reveal_to_key_owner()[1] + 0.25).abs() < 0.01);
//! # Ok::<(), refloat::Error>(())
//! ```

mod batch;
mod blind_rotate;
mod bootstrapper;
mod describe;
mod diagonals;
mod evaluator;
mod failure;
mod groups;
mod inspect;
mod key_samples;
mod keys;
mod layout;
mod masks;
mod noise;
mod numbers;
mod on_the_fly;
mod params;
mod phase;
mod presets;
mod product_tree;
mod programs;
mod run;
mod secret;
mod slots_to_coeffs;
mod spec;
mod split;
mod stages;
mod tracks;

pub use crate::bootstrapping::{
    method::SlotMode,
    wire_sizes::{MAX_PART_BYTES, PART_OVERHEAD},
};
pub use bootstrapper::{METHOD, ShipBootstrapper};
pub use diagonals::Diagonals;
pub use evaluator::ShipEvaluator;
pub use keys::{CommonKeys, GeneratedKeys, KeySource, ShipKeys, ShipKeysBuilder, TrackKeys, generate_track};
pub use layout::{KeyPart, KeyPartKind};
pub use noise::NoiseModel;
pub use params::{INPUT_LEVEL, OUTPUT_LEVEL, ShipParams};
pub use phase::{EncodedPhases, Phases};
pub use presets::ShipPreset;
pub use run::{ShipRun, ShipState};
pub use secret::{ShipSecretKey, key_id_of};
pub use slots_to_coeffs::SlotsToCoeffs;
pub use spec::ShipSpec;
pub use split::ShipHelper;
pub use stages::{BLIND_ROTATE, CONJUGATE, ENCAPSULATE, ENCODE_PHASE, PRODUCT_TREE, SLOTS_TO_COEFFS};

// For tests and benchmarks, and types that those above hold. They are hidden instead of behind a feature, so that the library that is
// tested is the one that is released.
#[doc(hidden)]
pub use {
    blind_rotate::TrackScratch,
    layout::{BlockId, Segment},
    masks::{quarter_masks, window_positions},
    product_tree::Layer,
};
