//! Seeds, as keys hold them.

use zeroize::Zeroize;

use crate::random::Seed;

pub(super) const SEED_LEN: usize = 32;

/// The first 32 bytes, wiped from the stack after use.
pub(super) fn seed_from(bytes: &[u8]) -> Seed {
    let mut seed = [0; SEED_LEN];
    seed.copy_from_slice(&bytes[..SEED_LEN]);
    let out = Seed::from_bytes(seed);
    seed.zeroize();
    out
}
