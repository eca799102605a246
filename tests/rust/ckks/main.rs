//! CKKS, and what is evaluated on it.

mod eval_mod;
mod laws;
mod linear;
mod meta;
mod polynomial;
mod program;
mod program_steps;
mod roots;
mod toy;
