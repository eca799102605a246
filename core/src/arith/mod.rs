//! Arithmetic on one residue, and on one row of residues.
//!
//! A *word* is `u32` or `u64`; a *row* is a slice of residues modulo one prime. Single residues go through [`Modulus`], whole rows
//! through [`Kernels`], an object that is chosen once for the CPU.
//!
//! Arithmetic on rows is split into three folders, each of which imports only from those above it in this table:
//!
//! | folder | what it holds |
//! | --- | --- |
//! | `simd` | one file per instruction set: the vector operations of `simd/vector.rs`, and the CPU detection |
//! | `kernels` | the algorithms, written once over vector operations of any width: `ntt` and `butterfly`, `pointwise`, `products`, `convert`, `permute`; `reals` for residues held as `f64` |
//! | `backends` | one file per instruction set: the kernels compiled for it, and algorithms that only it has, such as the signed butterflies of NEON (`neon/signed.rs`); `dispatch` chooses among them |
//!
//! # For maintainers: vectors
//!
//! Four kinds of things work together on a row.
//!
//! - A *token*, such as `Avx2` or `Neon`, is a value without data that proves that the CPU has the instructions. Only `detect` returns one,
//!   or the build itself where every CPU of the target has them. The token of plain words, `Scalar`, always exists.
//! - A *vector*, in `simd`, is made from a token. It implements the traits `Registers`, for loads and stores of `LANES` words, and
//!   `Vector`, for a dozen operations on them. `Products`, `Transpose` and `Montgomery` add operations for the kernels that need them;
//!   `Reals` is for `f64` in registers. Only `simd`, and algorithms that one backend alone has, use intrinsics. Every method is inlined
//!   into a function compiled for its instructions; anywhere else it would be slow.
//! - A *kernel*, in `kernels`, is safe code, generic over the vector. It processes a row register by register from the front, and the
//!   remainder with the same code over `Scalar`. Kernels call each other with the vector they were given. Within a kernel, words may
//!   exceed the prime, up to a bound that it documents; rows go in and come out as residues below the prime.
//! - A *backend*, in `backends`, implements [`Kernels`] for a token. `kernel!` compiles a kernel for the instructions; calling it is sound
//!   because of the token. `dispatch` chooses a backend once for each word size.
//!
//! Code outside this module asks [`Word::kernels`] for the backend and calls it row by row. A call costs as much as the work on a few
//! words, so nothing is called word by word. That code never sees a vector or a token.
//!
//! A new operation takes a function in `kernels`, a method of [`Kernels`] that documents ranges and shapes, and a `kernel!` line; if it can
//! be composed of other methods at no cost, a method with a default body is enough. Every backend must give the words of plain
//! arithmetic, bit for bit, for random and extreme residues of every length; `tests/rows.rs` and [`self_check()`] check that. It must
//! neither branch on a residue nor use one as an index, since rows can be secret. CONTRIBUTING has the steps, and those for a new
//! instruction set.
//!
//! DM/CGGI has a trait of its own, [`GateKernels`], so that programs without gates do not contain it. A backend may keep evaluations in
//! an order of its own, which no other code sees: keys are put into that order when they are loaded.

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
