//! Computations on ciphertexts that several methods share. Each folder is one kind of computation; its `mod.rs` says which schemes it
//! works on. Folders do not import from each other, except `program` and `arithmetic`, which are built from the others.

pub mod arithmetic;
pub mod digit_removal;
pub mod linear_transform;
pub mod netlist;
pub mod polynomial;
pub mod program;
