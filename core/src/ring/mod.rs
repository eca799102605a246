//! Polynomials of `Z[X]/(X^N + 1)`, and of [other cyclotomic rings](Cyclotomic), in residue-number-system form.
//!
//! A [`Poly`] is a matrix of residues, one row of `N` words per prime of its [`Basis`]. The domain
//! (coefficients or evaluations) is part of its type, so that adding across domains does not
//! compile. Nothing here knows of ciphertexts.

mod automorphism;
mod axes;
mod basis;
mod convert;
mod cyclotomic;
mod integers;
mod odd_index;
mod poly;
mod power;
mod rescale;
mod sampling;
mod scratch;
mod second_axis;

pub use automorphism::{Automorphism, GaloisElement};
pub use basis::{Basis, SubRing};
pub use convert::{BaseConverter, Extension, Source};
pub use cyclotomic::Cyclotomic;
pub use integers::{centered, centered_f64, centered_residues, from_integers, from_wide_integers};
pub use odd_index::{FirstAxis, OddIndex};
pub use poly::{Coeff, Domain, Eval, Poly};
pub use rescale::{ModDown, switch_modulus};
pub(crate) use sampling::fill_uniform_rows;
pub use sampling::{Binomial, SmallPoly, uniform_rows};
pub use scratch::Scratch;
