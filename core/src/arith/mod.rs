//! L1: arithmetic on one residue, and on one row of residues.
//!
//! A *word* is `u32` or `u64`; a *row* is a slice of residues modulo one prime. Single residues go
//! through [`Modulus`], whole rows through [`Kernels`], the object chosen once for the CPU.

pub mod bigint;
pub mod complex;
mod deferred;
mod double_double;
mod kernels;
mod modulus;
mod montgomery;
mod ntt;
pub mod primes;
mod residue;
mod round;
mod self_check;
pub mod simd;
pub(crate) mod unroll;
mod word;

pub(crate) use deferred::Deferred;
pub use double_double::{ComplexDoubleDouble, DoubleDouble};
pub use kernels::gates::{
    DigitCut, GateKernels, PAIR_KEYS, TURN_RUN, Turns, product_fits, rough_bound, unrolled_fits,
};
pub use kernels::{
    Kernels, KeyProduct, KeyRows, LeftRows, in_lines, key_tile, line, row_to_lines, to_lines, whole_row,
};
pub use modulus::{Modulus, Shoup};
pub use montgomery::Montgomery;
pub use ntt::NttTable;
pub use residue::PrimePower;
pub use round::round_ties_even;
pub use self_check::self_check;
pub use word::Word;

#[cfg(test)]
mod tests;
