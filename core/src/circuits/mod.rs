//! L5: computations on ciphertexts that several methods share.

pub mod arithmetic;
pub mod digit_removal;
pub mod linear_transform;
pub mod netlist;
pub mod polynomial;
pub mod program;
