//! The wire format: what leaves a process, and how untrusted bytes are validated.
//!
//! Every object is one *frame*: a fixed 64-byte [`header`], a payload, and a BLAKE3 digest of both
//! (see [`frame`]). Integers are little-endian. Residues are packed to the bit length of their
//! modulus (see [`pack`]).
//!
//! Bytes are untrusted. A reader is told beforehand what it is to receive: kind, parameters, and
//! the payload length *computed* from them. No length taken from the input is ever used to
//! allocate, every residue is compared with its modulus, and an object that was accepted conforms
//! to its parameters, so that no later operation can fail on its shape.
//!
//! The digest detects damage, not forgery: authenticity is the transport's business.

pub mod digest;
pub mod frame;
pub mod header;
pub mod objects;
pub mod pack;

pub use digest::{digest, server_token};
pub use frame::{Expect, Frame};
pub use header::{Header, ObjectKind};
pub use objects::{
    CkksSet, MAX_CIPHERTEXTS, SeededSecret, SeededSet, WireKeySet, WireWord, bgv_ciphertext_from_bytes,
    bgv_ciphertext_len, bgv_ciphertext_to_bytes, bgv_public_key_from_bytes, bgv_public_key_to_bytes,
    cggi_ciphertexts_from_bytes, cggi_ciphertexts_len, cggi_ciphertexts_to_bytes, cggi_secret_key_from_bytes,
    cggi_secret_key_to_bytes, ciphertext_from_bytes, ciphertext_len, ciphertext_to_bytes,
    public_key_from_bytes, public_key_to_bytes, secret_key_from_bytes, secret_key_to_bytes, verify_cggi_part,
    verify_key_part, verify_link_part, verify_ship_part,
};
