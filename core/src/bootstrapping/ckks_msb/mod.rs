//! Modular reduction in CKKS: integers, reals and tables, digit by digit.
//!
//! Kim, Noh, "Modular Reduction in CKKS"; Bae, Kim, Stehlé, Suvanto (ASIACRYPT 2024, ePrint 2024/1637); Bae, Cheon, Kim, Stehlé
//! (EUROCRYPT 2024, ePrint 2024/767); tables on roots of unity after Chung et al. (ePrint 2024/274).
//!
//! # What happens
//!
//! A slot holds a fraction x, and slots-to-coefficients leaves x q0 modulo q0 in a coefficient: that alone is the reduction of x
//! modulo 1. Multiplied by k and raised, a coefficient over q0 is k x + I, and e^(2 pi i (k x + I)) no longer knows I. Where k x
//! is a multiple of 1/t modulo 1, that is one of the t-th roots of unity, and a polynomial looks the digit up: the lowest one of
//! x in base t ([`roots::hermite`](crate::circuits::polynomial::roots::hermite), which squares the errors of its argument). The digit
//! goes back into coefficients, is subtracted, and the next one is read with a smaller k. One pass a digit; their sum takes no
//! level, because each table is evaluated at the scale that makes its digit one of x.
//!
//! Integers over their modulus are multiples of 1/t already. Real numbers are rounded to a grid before, while they are under the
//! ephemeral secret ([`Rounding`]). What is read, and in which base, is a [`Readout`]; [`MsbEvaluator`] has the systems by name.
//!
//! # What can go wrong
//!
//! The lowest digit is read in the noise of its number times almost the modulus, and a digit that is read wrongly is wrong without
//! a sign of it. Therefore a readout is refused that the noise of its [`Numbers`] does not allow: it grows with their size.

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

pub use bootstrapper::{METHOD, MsbBootstrapper};
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
