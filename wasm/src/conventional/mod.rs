//! Conventional CKKS bootstrapping: what the modules `client` and `full` have for SHIP, under the same names, so that one
//! engine in TypeScript serves both.

mod bootstrap;
mod ciphertext;
mod clamp;
mod keys;
mod presets;
mod reduction;
