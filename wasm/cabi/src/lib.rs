//! refloat for C and C++, natively and through Emscripten. The header `include/refloat.h` describes every function; here is
//! what stands behind them, one file a method and no mathematics.
//!
//! All that C hands over is checked in `ffi`, the only module with `unsafe` code. Errors are codes and messages
//! (`status`). A panic does not cross the boundary: natively it becomes `RF_INTERNAL`, in WebAssembly it stops the
//! instance, as it does there whatever is said here.

// `export!` hands each function its arguments, checked.
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
