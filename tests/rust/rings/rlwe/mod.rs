//! Laws of hybrid key switching, of the encapsulation, of links between rings and of the raise: digits recompose, switched
//! ciphertexts decrypt, and the noise they gain is the one the formula says, at every level.

mod digits;
mod encapsulation;
mod hoisting;
mod keys;
mod links;
mod raise;
mod refusals;
mod setup;
mod switching;
