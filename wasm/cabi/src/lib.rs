//! refloat for C and C++, natively and through Emscripten. The header `include/refloat.h` describes every function; this crate implements
//! them, one file per method, without any mathematics.
//!
//! Everything that C passes is checked in `ffi`, the only module with `unsafe` code. Errors are codes and messages (`status`). A panic does
//! not cross the boundary: natively it becomes `RF_INTERNAL`; in WebAssembly it always stops the instance.

// `export!` hands checked arguments to each function.
#![allow(clippy::needless_pass_by_value)]

mod about;
mod bgv;
mod ckks;
mod conventional;
mod digit_link;
mod entropy;
mod exports;
mod ffi;
mod gates;
mod keys;
mod level;
mod link;
mod method;
mod msb;
mod progress;
mod secret;
mod sets;
mod ship;
mod status;
#[cfg(test)]
mod tests;
