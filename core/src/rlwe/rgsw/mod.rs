//! Gadget decomposition modulo one prime, and the external product RGSW x RLWE.
//!
//! The primes of DM/CGGI are single words, so digits are cut from the integer itself, not along a
//! residue number system as in [`RlweContext`](super::RlweContext).

mod gadget;
mod product;

pub use gadget::Gadget;
pub use product::{Mirrored, ProductScratch, RgswContext};
