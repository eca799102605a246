//! BGV ciphertexts and secret keys on the wire: they come back as they went, and bytes that are wrong are refused.

use std::sync::OnceLock;

use proptest::prelude::*;
use refloat::random::Seed;
use refloat::schemes::bgv::BgvCiphertext;
use refloat::wire::{
    ObjectKind, bgv_ciphertext_from_bytes, bgv_ciphertext_len, bgv_ciphertext_to_bytes,
    secret_key_from_bytes, secret_key_to_bytes,
};
use refloat_tests::bgv::{BgvChain, tiny};
use refloat_tests::hostile::{Reader, rows_from};
use refloat_tests::keyed_bgv::KeyedBgv;

fn world() -> &'static KeyedBgv<u64> {
    static WORLD: OnceLock<KeyedBgv<u64>> = OnceLock::new();
    WORLD.get_or_init(|| KeyedBgv::new(&tiny(15)))
}

fn ciphertext(level: usize) -> BgvCiphertext<u64> {
    world().secret.encrypt(&[1, 2, 256], level, &Seed::from_bytes([6; 32])).expect("reduced")
}

fn bytes(x: &BgvCiphertext<u64>) -> Vec<u8> {
    bgv_ciphertext_to_bytes(world().params.context(), x).expect("of the set")
}

fn read(bytes: &[u8]) -> Result<BgvCiphertext<u64>, refloat::Error> {
    bgv_ciphertext_from_bytes(world().params.context(), bytes)
}

fn readers() -> Vec<Reader<'static>> {
    let KeyedBgv { params, secret, .. } = world();
    let q = || params.context().rlwe().q(2).primes();
    vec![
        Reader {
            name: "ciphertext",
            kind: ObjectKind::BgvCiphertext,
            bytes: bytes(&ciphertext(2)),
            read: Box::new(|bytes| read(bytes).map(drop)),
            rows: rows_from(24, q().chain(q()), params.n()),
            n: params.n(),
        },
        Reader::of_secret_key(secret, params.n()),
    ]
}

#[test]
fn bytes_that_are_wrong_are_refused() {
    for reader in readers() {
        reader.takes_only_good_bytes(if reader.rows.is_empty() { 1 } else { 97 });
    }
}

#[test]
fn ciphertexts_of_every_shape_come_back() {
    let KeyedBgv { params, secret, bootstrapper, .. } = world();
    let (top, bgv) = (ciphertext(params.levels().output), bootstrapper.bgv());
    let product = bgv.tensor(&top, &top).expect("room");
    let low = bgv.drop_to_level(&top, 0).expect("lower");
    let factor = bgv.multiply_unit(&top, 77).expect("a unit");
    let larger = bgv.multiply_by_prime(&top, 1).expect("a power of the set");
    let square = bootstrapper.multiply(&top, &top, &world().keys).expect("room");
    let rescaled = bgv.rescale(&square).expect("a level");
    let floor = params.context().noise().floor();
    assert!(rescaled.noise() < floor, "less noise than a reader believes");
    for x in [top, product, low, factor, larger, square, rescaled] {
        let sent = bytes(&x);
        assert_eq!(sent.len(), bgv_ciphertext_len(params.context(), x.level(), x.components()));
        let back = read(&sent).expect("our own");
        assert_eq!((back.level(), back.factor(), back.components()), (x.level(), x.factor(), x.components()));
        assert_eq!((back.noise(), back.key_id()), (x.noise().max(floor), x.key_id()));
        assert_eq!(bytes(&back), sent);
        assert_eq!(world().decrypt(&back), world().decrypt(&x));
    }
    let seed = secret_key_from_bytes(params, &secret_key_to_bytes(secret)).expect("our own");
    assert_eq!(seed.key_id(), secret.key_id());
}

/// What a reader would refuse is not sent.
#[test]
fn levels_that_do_not_hold_the_floor_are_named() {
    // Level 0 holds noise of 2^6.5 with plaintexts modulo 65537: more than a rounding's 64, less than the floor's 130.
    let chain = BgvChain::<u64>::new(64, (&[23.5, 30.0], &[30.5], 1), (65537, 1, 1));
    let x = chain.evaluator.rescale(&chain.encrypt(&[1, 2, 3], 1, 1)).expect("a level");
    assert_eq!(chain.decrypt(&x)[..3], [1, 2, 3]);
    let error = bgv_ciphertext_to_bytes(&chain.context, &x).expect_err("below the floor");
    assert!(error.code() == "LIMIT" && error.to_string().contains("higher level"), "{error}");
    let x = chain.encrypt(&[1, 2, 3], 1, 1);
    let sent = bgv_ciphertext_to_bytes(&chain.context, &x).expect("room");
    assert!(bgv_ciphertext_from_bytes(&chain.context, &sent).is_ok());
}

/// The good ciphertext with other metadata.
fn with(change: impl Fn(&mut [u8])) -> Vec<u8> {
    let reader = &readers()[0];
    let mut body = reader.payload().to_vec();
    change(&mut body);
    reader.reseal(&body)
}

#[test]
fn metadata_is_checked() {
    let refused = |name: &str, bytes: &[u8]| {
        let error = read(bytes).map(drop).expect_err(name);
        assert_eq!(error.code(), "BAD_BYTES", "{name}: {error}");
    };
    for (level, components) in [(1, 2), (3, 2), (255, 2), (2, 3), (2, 0), (2, 255)] {
        refused("shape", &with(|body| body[..2].copy_from_slice(&[level, components])));
    }
    for exponent in [0, 3, 255] {
        refused("exponent", &with(|body| body[2] = exponent));
    }
    for place in 3..8 {
        refused("reserved", &with(|body| body[place] = 1));
    }
    for factor in [0, 257, 514, 258, 257 * 257, u64::MAX] {
        refused("factor", &with(|body| body[8..16].copy_from_slice(&factor.to_le_bytes())));
    }
    // Modulo the square, multiples of p alone.
    for (factor, fits) in [(1u64, true), (258, true), (514, false), (66_049, false), (66_048, true)] {
        let bytes = with(|body| {
            body[2] = 2;
            body[8..16].copy_from_slice(&factor.to_le_bytes());
        });
        assert_eq!(read(&bytes).is_ok(), fits, "{factor}");
    }
    for noise in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300, f64::MAX] {
        refused("noise", &with(|body| body[16..24].copy_from_slice(&noise.to_le_bytes())));
    }
}

/// Less noise than any ciphertext has is not believed: it would be decrypted with too few primes.
#[test]
fn noise_is_at_least_the_floor() {
    let params = &world().params;
    for noise in [0.0f64, 1e-300, 1.0] {
        let x = read(&with(|body| body[16..24].copy_from_slice(&noise.to_le_bytes()))).expect("a floor");
        assert!((x.noise() - params.context().noise().floor()).abs() < 1e-9);
        assert_eq!(world().decrypt(&x)[..3], [1, 2, 256]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Damage under a good seal: whatever is accepted must be usable without a panic.
    #[test]
    fn sealed_damage_is_refused_or_harmless(
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        near_start in any::<bool>(),
    ) {
        let KeyedBgv { secret, keys, bootstrapper, .. } = world();
        let reader = &readers()[0];
        let mut body = reader.payload().to_vec();
        let reach = if near_start { 24 } else { body.len() };
        for (index, value) in edits {
            body[index.index(reach)] = value;
        }
        if let Ok(x) = read(&reader.reseal(&body)) {
            let _ = secret.decrypt(&x);
            let _ = bootstrapper.multiply(&x, &x, keys);
            let _ = bootstrapper.bgv().at_factor(&x, ciphertext(2).factor());
            let _ = bootstrapper.bootstrap(&x, keys, &mut ());
            prop_assert_eq!(read(&bytes(&x)).map(|back| back.factor()), Ok(x.factor()));
        }
    }
}
