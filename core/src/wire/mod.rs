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
//!
//! | object | written by | read by |
//! | --- | --- | --- |
//! | CKKS ciphertext | [`ciphertext_to_bytes`] | [`ciphertext_from_bytes`] |
//! | BGV ciphertext | [`bgv_ciphertext_to_bytes`] | [`bgv_ciphertext_from_bytes`] |
//! | list of DM/CGGI ciphertexts | [`cggi_ciphertexts_to_bytes`] | [`cggi_ciphertexts_from_bytes`] |
//! | secret key of CKKS, BGV or scheme switching | [`secret_key_to_bytes`] | [`secret_key_from_bytes`] |
//! | secret key of DM/CGGI | [`cggi_secret_key_to_bytes`] | [`cggi_secret_key_from_bytes`] |
//! | public key of CKKS | [`public_key_to_bytes`] | [`public_key_from_bytes`] |
//! | public key of BGV | [`bgv_public_key_to_bytes`] | [`bgv_public_key_from_bytes`] |
//! | evaluation keys, part by part | `key_part` of a secret key | `add` of a builder, such as [`KeysBuilder`](crate::bootstrapping::method::KeysBuilder) |
//!
//! To find the set that bytes belong to, read the header alone ([`frame::peek`]) and ask each type of presets for its fingerprint
//! ([`Preset::by_fingerprint`](crate::bootstrapping::method::Preset::by_fingerprint)).
//!
//! ```no_run
//! use refloat::{bootstrapping::ckks_conventional::{ConventionalKeys, ConventionalSecretKey}, params, random::Seed, wire};
//!
//! let set = params::conventional_preset("toy-conventional11")?.params()?;
//! let secret = ConventionalSecretKey::generate(&set, &Seed::random()?); // with the feature `getrandom`
//! let x = secret.encrypt(&[], set.levels().output, &Seed::random()?)?;
//!
//! // The owner stores the secret key, and sends ciphertexts and evaluation keys.
//! let stored = wire::secret_key_to_bytes(&secret);
//! let sent = wire::ciphertext_to_bytes(set.ckks(), &x)?;
//! let parts = (0..set.key_parts().len()).map(|index| secret.key_part(index));
//!
//! // Whoever computes reads them, in any order; whose they are stands in every header.
//! let owner = wire::frame::peek(&sent)?.key_id;
//! let mut builder = ConventionalKeys::builder(&set, owner);
//! for (index, part) in parts.enumerate() {
//!     builder.add(index, &part?)?;
//! }
//! let keys = builder.finish()?;
//! let x = wire::ciphertext_from_bytes(set.ckks(), &sent)?;
//!
//! // Other bytes give an error of code `BAD_BYTES` or `PARAMS_MISMATCH`.
//! assert_eq!(wire::secret_key_from_bytes(&set, &sent).err().map(|error| error.code()), Some("BAD_BYTES"));
//! let secret = wire::secret_key_from_bytes(&set, &stored)?;
//! # Ok::<(), refloat::Error>(())
//! ```

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
