//! Rings and ring-LWE.

mod automorphisms;
mod laws;
mod odd_index;
mod rlwe;
mod two_axes;
