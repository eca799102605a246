//! WebAssembly surface of refloat, one file per topic and no logic of its own. Features make seven modules of it: `client`, `full`,
//! `gates`, `conventional`, `digits`, `link` and `integers`.
//!
//! It is written for one caller, the TypeScript package `refloat`, which gives it a shape for
//! people. Nothing here hands out a view of wasm memory: arrays are copied in and out. Errors carry
//! the core's stable code in `code`. Randomness comes from the platform, here and nowhere else.

// What JavaScript passes arrives by value.
#![allow(clippy::needless_pass_by_value)]

#[cfg(feature = "ckks")]
mod about;
mod accessors;
#[cfg(feature = "ckks")]
mod ckks;
#[cfg(feature = "ckks-bootstrap")]
mod ckks_arithmetic;
#[cfg(feature = "ckks-bootstrap")]
mod ckks_bootstrap;
#[cfg(feature = "ckks-bootstrap")]
mod ckks_program;
#[cfg(feature = "evaluation")]
mod collected;
#[cfg(feature = "conventional")]
mod conventional;
mod digest;
#[cfg(feature = "digits")]
mod digits;
#[cfg(feature = "evaluation")]
mod evaluators;
#[cfg(feature = "runs")]
mod events;
mod failure;
#[cfg(feature = "gates")]
mod gates;
#[cfg(feature = "integers")]
mod integers;
#[cfg(feature = "link")]
mod link;
mod object;
mod panic;
#[cfg(any(feature = "conventional", feature = "digits", feature = "link"))]
mod raising;
mod randomness;
#[cfg(any(feature = "ckks-bootstrap", feature = "integers"))]
mod rotations;
#[cfg(feature = "ckks-bootstrap")]
mod rounds;
mod secret_key;
mod sets;
#[cfg(feature = "client")]
mod ship;
#[cfg(any(feature = "full", feature = "gates"))]
mod split;
#[cfg(feature = "ckks-bootstrap")]
mod views;
