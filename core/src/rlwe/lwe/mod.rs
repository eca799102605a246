//! LWE: single samples, extraction from ring samples, key switching to a small dimension and modulus
//! switching to exponents of X.
//!
//! A sample (a, b) of dimension n has phase b + <a, s>.

mod rounding;
mod sample;
mod switch;

pub use rounding::{Exponents, Grid};
pub use sample::LweSample;
pub use switch::{LweSwitchKey, LweSwitchRows, LweSwitchSpec, SwitchedLwe};
