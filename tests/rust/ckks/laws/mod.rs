//! Laws of CKKS against the canonical embedding by definition: encoding, encryption noise, every
//! operation on slots, exact scales, levels of one and of several primes, both words; and what each
//! mismatch is called.

mod encoder;
mod noise;
mod operations;
mod refusals;
mod scales;
mod setup;
mod wire;
