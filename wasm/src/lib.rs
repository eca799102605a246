//! WebAssembly surface of refloat, one file per topic and no logic of its own. Seven modules are made of it, by
//! feature: `client`, `full`, `gates`, `conventional`, `digits`, `link` and `integers`.
//!
//! It is written for one caller, the TypeScript package `refloat`, which gives it a shape for
//! people. Nothing here hands out a view of wasm memory: arrays are copied in and out. Errors carry
//! the core's stable code in `code`. Randomness comes from the platform, here and nowhere else.

// What JavaScript passes arrives by value.
#![allow(clippy::needless_pass_by_value)]

#[cfg(any(feature = "client", feature = "conventional", feature = "digits", feature = "link"))]
mod about;
#[cfg(any(feature = "client", feature = "conventional", feature = "digits", feature = "link"))]
mod ckks;
#[cfg(any(feature = "full", feature = "conventional", feature = "digits", feature = "link"))]
mod ckks_arithmetic;
#[cfg(any(feature = "full", feature = "conventional", feature = "digits", feature = "link"))]
mod ckks_bootstrap;
#[cfg(any(feature = "full", feature = "conventional", feature = "digits", feature = "link"))]
mod ckks_program;
#[cfg(any(
    feature = "full",
    feature = "conventional",
    feature = "digits",
    feature = "link",
    feature = "integers"
))]
mod collected;
#[cfg(feature = "conventional")]
mod conventional;
mod digest;
#[cfg(feature = "digits")]
mod digits;
#[cfg(any(
    feature = "full",
    feature = "conventional",
    feature = "digits",
    feature = "link",
    feature = "integers"
))]
mod evaluators;
#[cfg(any(
    feature = "full",
    feature = "gates",
    feature = "conventional",
    feature = "digits",
    feature = "link",
    feature = "integers"
))]
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
mod randomness;
#[cfg(any(feature = "full", feature = "conventional", feature = "digits", feature = "link"))]
mod rounds;
mod secret_key;
mod sets;
#[cfg(feature = "client")]
mod ship;
#[cfg(any(feature = "full", feature = "gates"))]
mod split;
#[cfg(any(feature = "full", feature = "conventional", feature = "digits", feature = "link"))]
mod views;
