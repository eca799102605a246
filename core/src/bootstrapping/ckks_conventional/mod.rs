//! Conventional CKKS bootstrapping: homomorphic reduction modulo q0.
//!
//! Cheon, Han, Kim, Kim, Song (EUROCRYPT 2018), with the linear maps factored (Chen, Chillotti, Song, EUROCRYPT 2019), the
//! scaled cosine and its double angles (Han, Ki, CT-RSA 2020), the arcsine (Lee, Lee, Kim, No, EUROCRYPT 2021), double
//! hoisting and exact scales (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux, EUROCRYPT 2021), and an ephemeral sparse
//! secret (Bossuat, Troncoso-Pastoriza, Hubaux, ACNS 2022).
//!
//! # What happens
//!
//! An exhausted ciphertext decrypts to m modulo q0. Read modulo a large Q it decrypts to m + q0 I, I a small integer in
//! every coefficient. Coefficients are moved into slots, a polynomial close to x - round(x) is evaluated on
//! x = m/q0 + I, and what is left, m/q0, is moved back. [`StageOrder`] says which of the two maps goes first. A message with
//! few slots occupies few coefficients, but I is in all of them: a stage of its own, a sum over rotations ("SubSum"), keeps
//! only those of the message.
//!
//! There are two ways to approximate x - round(x), and [`Reduction`] says which a set uses. [`Harmonics`] evaluates an
//! exponential, squares it r times to get e^(2 pi i x), and combines two harmonics of that; it works for every message.
//! [`EvalMod`] evaluates a scaled cosine and doubles its angle r times to get a sine of period one, followed by an arcsine
//! where the message is not small compared with q0.
//!
//! # Use
//!
//! ```no_run
//! use refloat::{
//!     bootstrapping::ckks_conventional::{
//!         ConventionalEvaluator, ConventionalKeys, ConventionalSecretKey, PlaintextStorage,
//!     },
//!     params::conventional_preset,
//!     random::Seed,
//!     schemes::ckks::Complex,
//! };
//!
//! // A demonstration set; `n16`, the default, has 128 bits of security and 32768 slots.
//! let params = conventional_preset("toy-conventional11")?.params()?;
//! let secret = ConventionalSecretKey::generate(&params, &Seed::random()?); // with the feature `getrandom`
//! let keys = ConventionalKeys::generate(&secret)?;
//! let x = secret.encrypt(&[Complex::new(0.5, 0.0)], params.levels().output, &Seed::random()?)?;
//!
//! // Whoever computes has the evaluation keys: x^2 + x / 2, with x / 2 at the scale of the product.
//! let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated)?;
//! let square = evaluator.multiply(&x, &x, &keys)?;
//! let half = evaluator.ckks().multiply_constant_rescale(&x, 0.5.into(), square.scale())?;
//! let sum = evaluator.ckks().add(&square, &half)?;
//! let refreshed = evaluator.bootstrap(&sum, &keys, &mut ())?;
//! assert_eq!(refreshed.level(), params.levels().output);
//!
//! let slots = secret.decrypt(&refreshed)?;
//! assert!((slots.reveal_to_key_owner()[0].re - 0.5).abs() < 1e-4);
//! # Ok::<(), refloat::Error>(())
//! ```

mod bootstrapper;
mod describe;
mod eval_mod;
mod evaluator;
mod harmonics;
mod inspect;
mod presets;
mod programs;
mod reduction;
mod run;
mod spec;

pub use bootstrapper::ConventionalBootstrapper;
pub use eval_mod::{ArcsineSpec, EvalMod, EvalModSpec};
pub use evaluator::ConventionalEvaluator;
pub use harmonics::{Harmonics, HarmonicsSpec};
pub use presets::{ConventionalPreset, ConventionalPromise};
pub(in crate::bootstrapping) use presets::{n15, n16, toy11_of};
pub use reduction::{FittedReduction, Reduction};
pub use run::{ConventionalRun, ConventionalState};
pub use spec::{
    ConventionalKeys, ConventionalKeysBuilder, ConventionalParams, ConventionalSecretKey, ConventionalSpec,
    EVAL_MOD,
};

pub use crate::{
    bootstrapping::{
        overflow::log2_quotient_exceeds,
        raising::{
            COEFFS_TO_SLOTS, Direction, EphemeralSpec, KeySource, Levels, MOD_RAISE, SLOTS_TO_COEFFS,
            SUB_SUM, StageOrder,
        },
        switching_keys::{SwitchingKeyId, SwitchingKeyPart as ConventionalKeyPart},
    },
    circuits::linear_transform::PlaintextStorage,
};

use super::MethodInfo;

/// Conventional bootstrapping in the registry.
pub const METHOD: MethodInfo = MethodInfo {
    id: "ckks-conventional",
    title: "CKKS bootstrapping by homomorphic modular reduction",
    source: "Cheon, Han, Kim, Kim, Song, ePrint 2018/153; Bossuat et al., ePrint 2020/1203 and 2022/024",
};
