//! L4: homomorphic encryption schemes, each knowing what its plaintexts mean. No scheme knows
//! another; [`evaluator`] is what circuits may ask of any that has levels, [`identity`], [`private`] and `parts` are what schemes over
//! ring-LWE share, `probability` what all do that fail.

pub mod bgv;
pub mod cggi;
pub mod ckks;
pub mod evaluator;
pub mod identity;
mod parts;
pub mod private;
mod probability;

pub(crate) use probability::log2_sum;
