//! L5: computations on ciphertexts that several methods share.

pub mod netlist;
