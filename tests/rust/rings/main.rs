//! Rings and ring-LWE.

mod laws;
mod odd_index;
mod rlwe;
mod two_axes;
mod written_out;
