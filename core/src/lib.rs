//! refloat: bringing exhausted ciphertexts back afloat.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

pub mod about;
pub mod arith;
pub mod bootstrapping;
pub mod error;
pub mod par;
pub mod params;
pub mod random;
pub mod ring;
pub mod rlwe;
pub mod schemes;
pub mod security;
pub mod trace;
pub mod wire;

pub use about::{About, about};
pub use error::Error;
