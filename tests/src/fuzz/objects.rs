//! Headers, ciphertexts and public keys.

use std::sync::OnceLock;

use refloat::bootstrapping::bgv::{BgvParams, BgvPreset, BgvSecretKey};
use refloat::bootstrapping::ckks_ship::{ShipParams, ShipSecretKey};
use refloat::bootstrapping::method::SlotMode;
use refloat::params::{cggi_preset, ship_preset};
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiParams, CggiSecretKey, Encoding};
use refloat::wire::frame::DIGEST_LEN;
use refloat::wire::header::HEADER_LEN;
use refloat::wire::{
    Expect, ObjectKind, bgv_ciphertext_from_bytes, bgv_ciphertext_to_bytes, bgv_public_key_from_bytes,
    bgv_public_key_to_bytes, cggi_ciphertexts_from_bytes, cggi_ciphertexts_to_bytes, ciphertext_from_bytes,
    ciphertext_to_bytes, frame, public_key_from_bytes, public_key_to_bytes,
};

use super::{Target, any, sealed};

/// Any object: its header, and its frame if that is what the header says.
pub(super) const HEADER: Target =
    Target { name: "header", corpus: ckks_ciphertexts, check: header, memory: (2, 4096) };

fn header(bytes: &[u8]) -> bool {
    let Ok(header) = frame::peek(bytes) else { return false };
    assert_eq!(header.to_bytes(), bytes[..HEADER_LEN]);
    let (kind, fingerprint) = (header.kind, header.fingerprint);
    // Readers compute the length that they expect; here it is whatever there is.
    let payload_len = bytes.len().saturating_sub(HEADER_LEN + DIGEST_LEN);
    let expect = Expect { kind, fingerprint, key_id: None, payload_len };
    if let Ok(frame) = frame::read(bytes, &expect) {
        assert_eq!(frame::write(kind, fingerprint, header.key_id, frame.payload), bytes);
    }
    true
}

/// Ciphertexts of CKKS, in words of 32 bits.
pub(super) const CKKS_CIPHERTEXT: Target =
    Target { name: "ckks_ciphertext", corpus: ckks_ciphertexts, check: ckks_ciphertext, memory: (12, 8192) };

pub(super) fn ship() -> &'static (ShipParams, ShipSecretKey) {
    static WORLD: OnceLock<(ShipParams, ShipSecretKey)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params: ShipParams = ship_preset("toy10").expect("a set").params().expect("a sound set");
        let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        (params, secret)
    })
}

fn ckks_ciphertexts() -> Vec<Vec<u8>> {
    let (params, secret) = ship();
    let of_level = |level| {
        let seed = Seed::from_bytes([2; 32]);
        let x = secret.encrypt_at(&[0.5, -0.25], SlotMode::Real, level, &seed).expect("a level");
        ciphertext_to_bytes(params.ckks(), &x).expect("of the set")
    };
    [1, 2].map(of_level).to_vec()
}

fn ckks_ciphertext(bytes: &[u8]) -> bool {
    let (params, secret) = ship();
    let context = params.ckks();
    any(sealed(bytes, (ObjectKind::Ciphertext, context.fingerprint(), secret.key_id())), |input| {
        ciphertext_from_bytes(context, input)
            .map(|x| assert!(ciphertext_to_bytes(context, &x).expect("of the set") == input))
            .is_ok()
    })
}

/// Public keys of CKKS.
pub(super) const CKKS_PUBLIC_KEY: Target =
    Target { name: "ckks_public_key", corpus: ckks_public_keys, check: ckks_public_key, memory: (16, 8192) };

fn ckks_public_keys() -> Vec<Vec<u8>> {
    let (params, secret) = ship();
    vec![public_key_to_bytes(params, &secret.public_key().expect("levels"))]
}

fn ckks_public_key(bytes: &[u8]) -> bool {
    let (params, secret) = ship();
    any(sealed(bytes, (ObjectKind::PublicKey, params.ckks().fingerprint(), secret.key_id())), |input| {
        public_key_from_bytes(params, input)
            .map(|key| assert!(public_key_to_bytes(params, &key) == input))
            .is_ok()
    })
}

/// Ciphertexts of BGV, in words of 64 bits.
pub(super) const BGV_CIPHERTEXT: Target =
    Target { name: "bgv_ciphertext", corpus: bgv_ciphertexts, check: bgv_ciphertext, memory: (12, 8192) };

pub(super) fn bgv() -> &'static (BgvParams, BgvSecretKey) {
    static WORLD: OnceLock<(BgvParams, BgvSecretKey)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = BgvPreset::named("toy-bgv7").expect("a set").params().expect("a sound set");
        let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
        (params, secret)
    })
}

fn bgv_ciphertexts() -> Vec<Vec<u8>> {
    let (params, secret) = bgv();
    let of_level = |level| {
        let x = secret.encrypt(&[1, 2, 3], level, &Seed::from_bytes([4; 32])).expect("a level");
        bgv_ciphertext_to_bytes(params.context(), &x).expect("of the set")
    };
    [params.levels().input, params.levels().output].map(of_level).to_vec()
}

/// Place of the noise in the metadata of BGV. A reader believes no noise below the floor.
const NOISE: std::ops::Range<usize> = HEADER_LEN + 16..HEADER_LEN + 24;

fn bgv_ciphertext(bytes: &[u8]) -> bool {
    let (params, secret) = bgv();
    let context = params.context();
    any(sealed(bytes, (ObjectKind::BgvCiphertext, context.fingerprint(), secret.key_id())), |input| {
        bgv_ciphertext_from_bytes(context, input)
            .map(|x| {
                let written = bgv_ciphertext_to_bytes(context, &x).expect("of the set");
                let after = NOISE.end..input.len() - DIGEST_LEN;
                assert!(written.len() == input.len() && written[..NOISE.start] == input[..NOISE.start]);
                assert!(written[after.clone()] == input[after]);
            })
            .is_ok()
    })
}

/// Public keys of BGV.
pub(super) const BGV_PUBLIC_KEY: Target =
    Target { name: "bgv_public_key", corpus: bgv_public_keys, check: bgv_public_key, memory: (16, 8192) };

fn bgv_public_keys() -> Vec<Vec<u8>> {
    let (params, secret) = bgv();
    vec![bgv_public_key_to_bytes(params.context(), &secret.public_key().expect("levels"))]
}

fn bgv_public_key(bytes: &[u8]) -> bool {
    let (params, secret) = bgv();
    let (context, level) = (params.context(), params.levels().output);
    any(sealed(bytes, (ObjectKind::PublicKey, context.fingerprint(), secret.key_id())), |input| {
        bgv_public_key_from_bytes(context, level, input)
            .map(|key| assert!(bgv_public_key_to_bytes(context, &key) == input))
            .is_ok()
    })
}

/// Lists of ciphertexts of bits and integers.
pub(super) const CGGI_CIPHERTEXTS: Target =
    Target { name: "cggi_ciphertexts", corpus: cggi_lists, check: cggi_list, memory: (12, 8192) };

pub(super) fn cggi() -> &'static (CggiParams, CggiSecretKey) {
    static WORLD: OnceLock<(CggiParams, CggiSecretKey)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params: CggiParams = cggi_preset("toy-bool").expect("a set").params().expect("a sound set");
        let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        (params, secret)
    })
}

fn cggi_lists() -> Vec<Vec<u8>> {
    let (params, secret) = cggi();
    let seed = Seed::from_bytes([6; 32]);
    let bits = secret.encrypt_bits(&[true, false], &seed);
    let [padded, cyclic] = [Encoding::Padded { messages: 8 }, Encoding::Cyclic { messages: 64 }]
        .map(|encoding| secret.encrypt(encoding, &[7, 3], &seed).expect("messages of the encoding"));
    [bits, padded, cyclic].map(|list| cggi_ciphertexts_to_bytes(params, &list).expect("of the set")).to_vec()
}

fn cggi_list(bytes: &[u8]) -> bool {
    let (params, secret) = cggi();
    any(sealed(bytes, (ObjectKind::CggiCiphertexts, params.fingerprint(), secret.key_id())), |input| {
        cggi_ciphertexts_from_bytes(params, input)
            .map(|list| assert!(cggi_ciphertexts_to_bytes(params, &list).expect("of the set") == input))
            .is_ok()
    })
}
