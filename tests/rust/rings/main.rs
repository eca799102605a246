//! Rings and ring-LWE.

mod laws;
mod rlwe;
mod two_axes;
