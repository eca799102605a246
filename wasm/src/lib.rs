//! WebAssembly surface of refloat, one file per topic and no logic of its own.
//!
//! It is written for one caller, the TypeScript package `refloat`, which gives it a shape for
//! people. Nothing here hands out a view of wasm memory: arrays are copied in and out. Errors carry
//! the core's stable code in `code`. Randomness comes from the platform, here and nowhere else.

// What JavaScript passes arrives by value.
#![allow(clippy::needless_pass_by_value)]

mod about;
mod ciphertext;
#[cfg(feature = "full")]
mod events;
mod failure;
mod gates;
#[cfg(feature = "full")]
mod inspect;
mod keys;
mod object;
mod panic;
mod presets;
mod randomness;
mod scrub;
#[cfg(feature = "full")]
mod ship;
#[cfg(feature = "full")]
mod tracks;
