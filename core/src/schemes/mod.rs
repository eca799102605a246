//! L4: homomorphic encryption schemes, each knowing what its plaintexts mean. No scheme knows
//! another.

pub mod cggi;
pub mod ckks;
