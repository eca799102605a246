//! Modular reduction in CKKS.

mod full_size;
mod toy;
