//! Conventional bootstrapping of CKKS.

mod keys;
mod messages;
mod n15;
mod toy;
mod views;
mod wire;
