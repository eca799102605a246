//! How parameter sets and keys are identified.

/// 16 bytes that identify what was hashed.
pub(crate) fn identifier(hasher: &blake3::Hasher) -> [u8; 16] {
    let mut out = [0; 16];
    out.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    out
}
