//! L4: homomorphic encryption schemes, each of which knows what its plaintexts mean. No scheme knows another. [`evaluator`] is what
//! circuits may ask of any scheme with levels; [`identity`], [`private`] and `parts` are shared by the schemes over ring-LWE, and
//! `probability` by all schemes that can fail.

pub mod bgv;
pub mod cggi;
pub mod ckks;
mod components;
pub mod evaluator;
pub mod identity;
pub mod private;
mod probability;

pub(crate) use probability::log2_sum;
