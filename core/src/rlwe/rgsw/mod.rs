//! Gadget decomposition modulo one prime, the external product RGSW x RLWE, and packing of LWE samples.
//!
//! The primes of DM/CGGI are single words, so digits are cut from the integer itself, not along a
//! residue number system as in [`RlweContext`](super::RlweContext).

mod gadget;
mod monomial;
mod packing;
mod product;
mod unrolled_product;

pub use gadget::Gadget;
pub(crate) use monomial::powers_of_root;
pub use monomial::{apply_automorphism, multiply_by_monomial};
pub use packing::PackingKeys;
pub use product::{Mirrored, ProductScratch, RgswContext};
pub use unrolled_product::Monomials;
