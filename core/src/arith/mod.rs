//! L1: arithmetic on one residue, and on one row of residues.
//!
//! A *word* is `u32` or `u64`; a *row* is a slice of residues modulo one prime. Single residues go through [`Modulus`], whole rows
//! through [`Kernels`], an object that is chosen once for the CPU.
//!
//! Arithmetic on rows is split into three folders, each of which imports only from those above it in this table:
//!
//! | folder | what it holds |
//! | --- | --- |
//! | `simd` | one file per instruction set: the vector operations of `simd/vector.rs`, and the CPU detection |
//! | `kernels` | the algorithms, written once over vector operations of any width: `ntt` and `butterfly`, `pointwise`, `products`, `convert`, `permute` |
//! | `backends` | one file per instruction set: the kernels compiled for it, and algorithms that only it has, such as the signed butterflies of NEON (`neon/signed.rs`) and the transforms in `f64` of AVX2 and NEON (`reals.rs`); `dispatch` chooses among them |

mod backends;
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
mod simd;
pub(crate) mod unrolled_loop;
mod word;

pub use backends::{Word, all_backends, backend_choice, backend_name};
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
pub use word::MachineWord;

#[cfg(test)]
mod tests;
