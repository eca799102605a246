//! Programs on integers in slots (BGV).
//!
//! The same graphs ([`Program`](super::Program)), with whole numbers in their constants and coefficients, and values modulo P.
//! Slots are two rows: `rotate` moves both, around the slots of a row, and `conjugate` exchanges them, which is what the same
//! automorphism does to integers. Polynomials are in powers of x; there are no linear transforms of matrices here.
//!
//! In a ring of two axes slots are elements of a Galois ring. The operations are those of that ring, and constants and
//! coefficients are its integers, the sums of ones.
//!
//! # Levels and noise
//!
//! A product of values takes a level, and so does a product with numbers unless they are the same small integer in all slots; sums,
//! rotations and negation take none. Values carry a factor ([`Factor`](crate::schemes::bgv::Factor)). Products take operands of any
//! factors, sums need equal ones. The usual factor is 1 at the highest level, and f_(l-1) = f_l^2 / q_l below, which is what products come
//! to by themselves. If the operands of a sum have different factors, the value at the higher level is brought to the factor of the other;
//! if both are at one level, that takes a level.
//!
//! A plan follows the noise of every value, polynomials included, as the ciphertexts will carry it. Where there is no room for a result,
//! its operands are rescaled before. Where the planner may insert bootstraps, it never makes a value that can no longer be bootstrapped
//! from values that can; if nothing else helps, it bootstraps the operands one by one. A value that was encrypted below the level where
//! bootstraps begin stays below it, as far as its levels go.

mod clear;
mod lower;
mod numbers;
mod placing;
mod plan;
mod run;
mod state;
mod steps;
mod target;

pub use plan::IntegerPlan;
pub use run::{IntegerMachine, IntegerRefresh};
pub use state::{IntegerPending, IntegerProgramRun};
pub use target::{IntegerBootstrap, IntegerTarget};
