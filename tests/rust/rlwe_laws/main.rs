//! Laws of hybrid key switching and of the encapsulation: digits recompose, switched ciphertexts
//! decrypt, and the noise they gain is the one the formula says, at every level.

mod digits;
mod encapsulation;
mod hoisting;
mod keys;
mod refusals;
mod setup;
mod switching;
