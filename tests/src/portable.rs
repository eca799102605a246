//! Digests, as the vectors have them; those of BGV bootstraps from fixed seeds, the same in every build, are in
//! `tests/vectors/bgv.json`.

use refloat::bootstrapping::bgv::{Approach, BgvBootstrapper, BgvKeys, BgvParams, BgvSecretKey, BgvSpec};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::random::Seed;
use refloat::schemes::bgv::BgvCiphertext;

use crate::bgv::{odd_index, odd_index_by, small_prime, tiny_by};

/// The end of every object on the wire: the BLAKE3 hash of all before.
pub fn wire_digest(bytes: &[u8]) -> String {
    hex(&bytes[bytes.len() - 32..])
}

/// Two digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Bytes of what [`hex`] wrote.
///
/// # Panics
/// If the text is not pairs of hexadecimal digits.
pub fn unhex(text: &str) -> Vec<u8> {
    assert!(text.len().is_multiple_of(2), "{} hexadecimal digits are not whole bytes", text.len());
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("hexadecimal digits");
    (0..text.len() / 2).map(byte).collect()
}

/// Sets of kinds that no named set has, by the names of the vectors: rings of odd index, thin and general, whose slots one automorphism
/// turns or does not turn, with messages modulo a prime, a square and bits; an index of three primes; and digits that are read from
/// multiples of q0, modulo a power of p or beside multiples of another number.
pub fn unnamed_sets() -> [(&'static str, BgvSpec); 7] {
    [
        ("m = 215, p = 8191", odd_index((215, 8191, 1), true)),
        ("m = 205, p = 8191, thin", odd_index((205, 8191, 1), false)),
        ("m = 129, p = 257^2", odd_index((129, 257, 2), true)),
        ("m = 85, p = 2", small_prime(2, 4, 85, 1, true)),
        ("m = 255, p = 2^2", small_prime(2, 4, 255, 2, true)),
        ("m = 129, p = 257^2, multiples of q0", odd_index_by(Approach::Multiples, (129, 257, 2), true)),
        ("m = 128, p = 257, beside 15", tiny_by(Approach::Beside { step: 15 }, 7, 14)),
    ]
}

/// Digests of a fresh ciphertext, of its square, and of both refreshed.
///
/// # Panics
/// If the set is not sound.
pub fn digests(params: &BgvParams<u64>) -> Vec<String> {
    let secret = BgvSecretKey::generate(params, &Seed::from_bytes([7; 32]));
    let keys = BgvKeys::generate(&secret).expect("keys");
    let bootstrapper = BgvBootstrapper::new(params, PlaintextStorage::Coefficients).expect("a sound set");
    let message: Vec<u64> = (0..params.n() as u64).map(|i| 37 * i * i % params.messages().value()).collect();
    let fresh =
        secret.encrypt(&message, params.levels().output, &Seed::from_bytes([9; 32])).expect("reduced");
    let square = bootstrapper.multiply(&fresh, &fresh, &keys).expect("room");
    let refreshed = [&fresh, &square].map(|x| bootstrapper.bootstrap(x, &keys, &mut ()).expect("an input"));
    [fresh, square].iter().chain(&refreshed).map(digest).collect()
}

fn digest(x: &BgvCiphertext<u64>) -> String {
    let mut hash = blake3::Hasher::new();
    for word in [x.level() as u64, x.factor().value(), x.ring().value(), x.noise().to_bits()] {
        hash.update(&word.to_le_bytes());
    }
    for word in x.parts().iter().flat_map(refloat::ring::Poly::data) {
        hash.update(&word.to_le_bytes());
    }
    hash.finalize().to_hex()[..32].to_owned()
}
