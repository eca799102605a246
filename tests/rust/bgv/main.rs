//! BGV and its bootstrapping.

mod arithmetic;
mod bfv;
mod bits;
mod bootstrap;
mod digit_removal;
mod fields;
mod full_size;
mod general;
mod intersection;
mod laws;
mod linear;
mod odd_index;
mod odd_index_general;
mod odd_index_thin;
mod portable;
mod program;
mod program_steps;
mod public_key;
mod small_integers;
mod two_axes;
mod wire;
