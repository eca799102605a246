//! The objects that travel: ciphertexts and keys.
//!
//! Readers check everything against the receiver's parameters; what they accept cannot make a later
//! operation fail on its shape.

mod bgv;
mod cggi;
mod ciphertext;
mod key_part;
mod keys;
mod part_frame;
mod rows;
mod scheme_switching;
mod seed;
mod sets;
mod ship;

pub use bgv::{
    bgv_ciphertext_from_bytes, bgv_ciphertext_len, bgv_ciphertext_to_bytes, bgv_public_key_from_bytes,
    bgv_public_key_to_bytes,
};
pub use cggi::{
    MAX_CIPHERTEXTS, cggi_ciphertexts_from_bytes, cggi_ciphertexts_len, cggi_ciphertexts_to_bytes,
    cggi_secret_key_from_bytes, cggi_secret_key_to_bytes, verify_cggi_part,
};
pub use ciphertext::{ciphertext_from_bytes, ciphertext_len, ciphertext_to_bytes};
pub use key_part::{WireKeySet, verify_key_part};
pub use keys::{public_key_from_bytes, public_key_to_bytes, secret_key_from_bytes, secret_key_to_bytes};
pub use rows::WireWord;
pub use scheme_switching::verify_link_part;
pub use sets::{CkksSet, SeededSecret, SeededSet};
pub use ship::verify_ship_part;
