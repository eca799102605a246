//! BLAKE3 of bytes that travel outside frames: parts of keys, bodies of requests, and what is derived for a server.

/// Length of a digest and of a token, in bytes.
pub const LEN: usize = 32;

/// BLAKE3 of some bytes, for `refloat-digest`.
pub fn digest(bytes: &[u8]) -> [u8; LEN] {
    *blake3::hash(bytes).as_bytes()
}

/// The token with which the holder of a secret key asks for its evaluation keys at a server: derived from the secret in wire form and from
/// the origin of the server (`https://host:port`), so that one server cannot use it at another, and nothing but the secret has to be kept.
/// It reveals nothing about the secret.
pub fn server_token(secret: &[u8], origin: &str) -> [u8; LEN] {
    let mut hasher = blake3::Hasher::new_derive_key("refloat 2026-11-22 token of a key set v1");
    hasher.update(&(secret.len() as u64).to_le_bytes());
    hasher.update(secret);
    hasher.update(origin.as_bytes());
    let token = *hasher.finalize().as_bytes();
    zeroize::Zeroize::zeroize(&mut hasher);
    token
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_blake3() {
        // The digest of the empty input, from the test vectors of BLAKE3.
        let expected = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(crate::error::hex(&digest(b"")), expected);
        assert_ne!(digest(b"a"), digest(b"b"));
    }

    #[test]
    fn tokens_differ_by_secret_and_by_server() {
        let token = server_token(b"secret", "https://a.example");
        assert_eq!(token, server_token(b"secret", "https://a.example"));
        assert_ne!(token, server_token(b"secret", "https://b.example"));
        assert_ne!(token, server_token(b"secreu", "https://a.example"));
        assert_ne!(token, server_token(b"secreth", "ttps://a.example"));
        assert_ne!(token, digest(b"secret"));
    }
}
