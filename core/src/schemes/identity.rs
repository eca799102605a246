//! Identity of parameter sets and of key sets, for schemes over ring-LWE.

use alloc::string::String;

use crate::random::Seed;

/// The identifier that keys of a parameter set expanded from `public` must carry: BLAKE3 of the fingerprint and the public
/// seed.
pub fn key_set_id(fingerprint: &[u8; 16], public: &Seed) -> [u8; 16] {
    let mut h = blake3::Hasher::new_derive_key("refloat 2026-11-21 key id v1");
    h.update(fingerprint);
    h.update(public.as_bytes());
    let mut out = [0; 16];
    out.copy_from_slice(&h.finalize().as_bytes()[..16]);
    out
}

/// A seed bound to the parameter set, so that one seed never meets two moduli.
pub fn key_set_seed(seed: &Seed, label: &'static str, fingerprint: &[u8; 16]) -> Seed {
    let words = [0, 8].map(|i| {
        let mut w = [0; 8];
        w.copy_from_slice(&fingerprint[i..i + 8]);
        u64::from_le_bytes(w)
    });
    seed.derive(label, &words)
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use core::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}
