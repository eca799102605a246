//! Laws of hybrid key switching, of the encapsulation and of links between rings: digits recompose, switched ciphertexts
//! decrypt, and the noise they gain is the one the formula says, at every level.

mod digits;
mod encapsulation;
mod hoisting;
mod keys;
mod links;
mod refusals;
mod setup;
mod switching;
