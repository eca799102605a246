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
//!
//! # For maintainers: vectors
//!
//! Four things meet when a row is computed.
//!
//! - A *token*, such as `Avx2` or `Neon`, is a value without data whose existence proves that the CPU has the instructions: only its
//!   `detect` hands it out, or the build where every CPU of the target has them. Plain words are the token `Scalar`, which always is there.
//! - A *vector*, in `simd`, is made from a token and implements the trait `Vector`: registers of `LANES` words, and some twenty operations on
//!   them. `Products`, `Transpose` and `Montgomery` are further ones, for kernels that need them. These are the only files with intrinsics.
//!   Every method is inlined into the function that was compiled for its instructions; called from elsewhere it would be slow.
//! - A *kernel*, in `kernels`, is safe code over any vector, and names none. It takes whole registers from the front of a row, and what does
//!   not fill one goes through the same text over `Scalar`. Kernels call each other as texts, with the vector that they were given. What
//!   they hold meanwhile may be lazy, up to a bound that they state; rows go in and come out as residues below the prime.
//! - A *back-end*, in `backends`, implements [`Kernels`] for a token: `kernel!` compiles a text for the instructions, and the call of that
//!   function is what the token makes sound. `dispatch` chooses a back-end once, by the word.
//!
//! Code outside this module has rows, asks [`Word::kernels`] for the back-end, and calls it row by row: a call through it costs as much as
//! some words do, so nothing is called word by word. It never sees a vector or a token.
//!
//! A new operation is a text in `kernels`, a method of [`Kernels`] that says ranges and shapes, and a line `kernel!`; if it can be made of
//! other methods without a loss, it is a method with a body, and there is no line. It is right when every back-end gives the words of
//! plain arithmetic, bit for bit, for random and extreme residues of every length, which `tests/rows.rs` and [`self_check()`] ask. It may
//! neither branch on a residue nor index by one, as rows can be secret. CONTRIBUTING has the steps, also of a new instruction set.
//!
//! DM/CGGI has a trait of its own, [`GateKernels`], so that programs without gates do not contain it. Its evaluations may be in an order
//! that the back-end prefers, which never leaves it: keys are put into that order when they are loaded.

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
