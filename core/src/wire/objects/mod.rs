//! What travels: ciphertexts, keys.
//!
//! Readers check everything against the receiver's parameters; what they accept cannot make a later
//! operation fail on its shape.

mod ciphertext;
mod keys;
mod rows;
mod ship;

pub use ciphertext::{ciphertext_from_bytes, ciphertext_len, ciphertext_to_bytes};
pub use keys::{public_key_from_bytes, public_key_to_bytes, secret_key_from_bytes, secret_key_to_bytes};
pub use rows::WireWord;
pub use ship::verify_part;
