//! Modular reduction in CKKS: integers, reals and tables, digit by digit.
//!
//! Kim, Noh, "Modular Reduction in CKKS"; Bae, Kim, Stehlé, Suvanto (ASIACRYPT 2024, ePrint 2024/1637); Bae, Cheon, Kim, Stehlé
//! (EUROCRYPT 2024, ePrint 2024/767); tables on roots of unity after Chung et al. (ePrint 2024/274).
//!
//! # What happens
//!
//! A slot holds a fraction x, and slots-to-coefficients leaves x q0 modulo q0 in a coefficient, which already reduces x modulo 1.
//! Multiplied by k and raised, a coefficient over q0 is k x + I, and e^(2 pi i (k x + I)) no longer knows I. Where k x is a multiple of 1/t
//! modulo 1, that is one of the t-th roots of unity, and a polynomial looks the digit up: the lowest one of x in base t
//! ([`roots::hermite`](crate::circuits::polynomial::roots::hermite), which squares the errors of its argument). The digit goes back into
//! coefficients, is subtracted, and the next one is read with a smaller k. Each digit takes one pass; adding them up takes no level,
//! because each table is evaluated at the scale that gives its digit its place in x.
//!
//! Integers divided by their modulus are already multiples of 1/t. Real numbers are rounded to a grid first, while they are under the
//! ephemeral secret ([`Rounding`]). A [`Readout`] says what is read and in which base; [`MsbEvaluator`] offers the usual number systems
//! by name.
//!
//! # What can go wrong
//!
//! To read the lowest digit, the number is multiplied by almost the whole modulus, and its noise with it. A digit that is misread shows
//! no sign of it. So a readout is refused if the noise of its [`Numbers`], which grows with their size, is too large for it.
//!
//! # Use
//!
//! ```
//! use refloat::{
//!     bootstrapping::ckks_msb::{MsbEvaluator, MsbKeys, MsbSecretKey, Numbers, PlaintextStorage, Radix},
//!     params::msb_preset,
//!     random::Seed,
//!     schemes::ckks::Complex,
//! };
//!
//! // A demonstration set; `msb16` has 128 bits of security.
//! let params = msb_preset("toy-msb11")?.params()?;
//! // Seeds must come from the system's entropy: these are for the example alone.
//! let secret = MsbSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
//! let keys = MsbKeys::generate(&secret)?;
//!
//! // Integers modulo 1024, two digits in base 32: 1031 is to become 7.
//! let radix = Radix::new(&[32, 32])?;
//! let slots = [7.0, 1000.0, 1031.0].map(|j| Complex::new(j / 1024.0, 0.0));
//! let x = secret.encrypt(&slots, params.levels().input, &Seed::from_bytes([2; 32]))?;
//!
//! // Whoever computes has the evaluation keys, and learns nothing.
//! let evaluator = MsbEvaluator::new(&params, PlaintextStorage::Coefficients)?;
//! let reduced = evaluator.int_boot(Numbers::up_to(&x, 2.0), &radix, &keys, &mut ())?;
//!
//! let slots = secret.decrypt(&reduced)?;
//! let integers = slots.reveal_to_key_owner()[..3].iter().map(|z| (z.re * 1024.0).round());
//! assert_eq!(integers.collect::<Vec<_>>(), [7.0, 1000.0, 7.0]);
//! # Ok::<(), refloat::Error>(())
//! ```

mod blocks;
mod bootstrapper;
mod classes;
mod describe;
mod digit_noise;
mod digits;
mod evaluator;
mod fraction;
mod gates;
mod inspect;
mod levels;
mod noise;
mod numbers;
mod order;
mod presets;
mod programs;
mod radix;
mod reading;
mod readout;
mod residue;
mod residue_evaluator;
mod rounding;
mod run;
mod spec;
mod stages;

pub use bootstrapper::MsbBootstrapper;
pub use classes::{Classes, Function};
pub use evaluator::MsbEvaluator;
pub use numbers::Numbers;
pub use order::Order;
pub use presets::{MsbPreset, MsbPromise};
pub(in crate::bootstrapping) use presets::{msb16, toy11};
pub use radix::{MAX_DIGIT, MAX_MODULUS, Radix};
pub use reading::MsbReading;
pub use readout::{LEAST_GUARD, Readout};
pub use residue::{Residue, ResidueRing};
pub use residue_evaluator::ResidueEvaluator;
pub use rounding::Rounding;
pub use run::{MsbRun, MsbState};
pub use spec::{LARGEST_MESSAGE, MsbKeys, MsbKeysBuilder, MsbParams, MsbSecretKey, MsbSpec, RootsSpec};
pub use stages::{DISCRETISE, EVAL_EXP, LOOK_UP, TO_EPHEMERAL};

pub use crate::circuits::linear_transform::PlaintextStorage;

use super::MethodInfo;

/// Modular reduction in the registry.
pub const METHOD: MethodInfo = MethodInfo {
    id: "ckks-msb",
    title: "CKKS bootstrapping digit by digit, modular reduction and tables",
    source: "Kim, Noh, Modular Reduction in CKKS; Bae, Kim, Stehlé, Suvanto, ePrint 2024/1637",
};
