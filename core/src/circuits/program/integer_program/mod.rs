//! Programs on integers in slots (BGV).
//!
//! The same graphs ([`Program`](super::Program)), with whole numbers in their constants and coefficients, and values modulo P.
//! Slots are two rows: `rotate` moves both, around the slots of a row, and `conjugate` exchanges them, which is what the same
//! automorphism does to integers. Polynomials are in powers of x; there are no linear transforms of matrices here.
//!
//! # Levels and noise
//!
//! Every value has the factor of its level ([`Factor`]): 1 at the highest, and f_(l-1) = f_l^2 / q_l
//! below, which is what products come to by themselves. A value goes down by a rescaling that gives it the factor of the level where
//! it arrives and noise of little more than a rounding; sums of values at two levels begin with that. A product takes a level, and so
//! does one with numbers that are not the same small integer in all slots; sums, rotations and negation take none.
//!
//! A plan follows the noise of every value, as ciphertexts carry it: what sums and integers have made large is rescaled before it is
//! multiplied or bootstrapped, and where bootstraps may be put in, no value stays where it could not be bootstrapped any more. What
//! a polynomial leaves is not followed inside; should a plan be wrong there, the run refuses, and nothing is decrypted to nonsense.

mod clear;
mod lower;
mod plan;
mod run;
mod steps;
mod target;

use alloc::format;

pub use plan::IntegerPlan;
pub use run::{IntegerMachine, IntegerRefresh};
pub use target::IntegerTarget;

use crate::{
    arith::Word,
    error::Error,
    schemes::{
        bgv::{BgvCiphertext, Factor},
        ckks::Complex,
    },
};

/// Where an input stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntegerShape {
    /// Its level.
    pub level: usize,
    /// Its factor.
    pub factor: Factor,
    /// The estimate of its noise.
    pub noise: f64,
}

impl IntegerShape {
    /// That of a ciphertext.
    pub fn of<W: Word>(x: &BgvCiphertext<W>) -> Self {
        Self { level: x.level(), factor: x.factor(), noise: x.noise() }
    }
}

/// A number of a program as an integer.
fn integer(number: Complex) -> Result<i64, Error> {
    let Complex { re, im } = number;
    // Doubles have every integer up to 2^53.
    if im.abs() == 0.0 && (re - libm::trunc(re)).abs() == 0.0 && libm::fabs(re) <= (1u64 << 53) as f64 {
        return Ok(re as i64);
    }
    Err(Error::InvalidArgument(format!(
        "{re:?} + {im:?} i is no integer up to 2^53; programs on integers take whole numbers"
    )))
}
