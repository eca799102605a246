//! Public keys: what others encrypt decrypts, with no more noise than is said, and in every ring.

use refloat::bootstrapping::bgv::{BgvParams, BgvPreset, BgvSecretKey};
use refloat::random::Seed;
use refloat::ring::SmallPoly;
use refloat::schemes::bgv::{BgvCiphertext, BgvEvaluator};
use refloat::security::SecretDistribution;
use refloat::wire::{ObjectKind, bgv_public_key_from_bytes, bgv_public_key_to_bytes};
use refloat_tests::bgv::{SAMPLES, log_deviation, tiny};
use refloat_tests::hostile::{Reader, rows_from};

/// Sets of integers in slots, of elements of fields, and of rings of odd index.
fn toys() -> impl Iterator<Item = &'static BgvPreset> {
    BgvPreset::all().iter().filter(|preset| preset.name.starts_with("toy-"))
}

fn decrypted(secret: &BgvSecretKey, x: &BgvCiphertext) -> Vec<u64> {
    secret.decrypt(x).unwrap().reveal_to_key_owner().clone()
}

#[test]
fn two_parties_encrypt_for_one_owner() {
    let mut seen = 0;
    for preset in toys() {
        let params = preset.params().unwrap();
        let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        let bytes = bgv_public_key_to_bytes(params.context(), &secret.public_key().unwrap());
        let key = bgv_public_key_from_bytes(params.context(), params.levels().output, &bytes).unwrap();
        assert_eq!((key.key_id(), key.level()), (secret.key_id(), params.levels().output));
        let (ring, bgv) = (params.messages(), BgvEvaluator::new(params.context()));
        let message = |factor: u64| -> Vec<u64> {
            (0..params.n() as u64).map(|i| factor * i * i % ring.value()).collect()
        };
        let (x, y) = (message(7), message(31));
        for level in [params.levels().input, params.levels().output] {
            let by_others = [(&x, 1), (&y, 2)].map(|(message, seed)| {
                let out =
                    key.encrypt(params.context(), message, level, &Seed::from_bytes([seed; 32])).unwrap();
                assert_eq!(decrypted(&secret, &out), *message, "{} at level {level}", preset.name);
                assert!(out.capacity() > 0.0 && out.noise() > params.context().noise().fresh());
                out
            });
            let own = secret.encrypt(&y, level, &Seed::from_bytes([3; 32])).unwrap();
            let sum: Vec<u64> = x.iter().zip(&y).map(|(&x, &y)| (x + y) % ring.value()).collect();
            for other in [&by_others[1], &own] {
                let found = bgv.add(&by_others[0], other).unwrap();
                assert_eq!(decrypted(&secret, &found), sum, "{} at level {level}", preset.name);
            }
        }
        seen += 1;
    }
    assert!(seen > 1, "toys of several rings");
}

/// v e + e_1 s and an error, whose coefficients are all independent: the law is a sum of squares. Ciphertexts state more by construction.
/// Their two products are counted as products of largest embeddings, which are 4.2 deviations of one, and as if both were largest in the
/// same embedding; in a ring of two axes the larger coefficients of products, which are in the law already, are counted besides.
#[test]
fn noise_is_counted() {
    for preset in toys() {
        let params = preset.params().unwrap();
        let (context, level) = (params.context(), params.levels().output);
        let model = context.noise();
        let mut noise = Vec::new();
        for owner in 0..8 {
            let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([owner; 32]));
            let key = secret.public_key().unwrap();
            for seed in 0..(SAMPLES / 8).div_ceil(params.n()) as u8 {
                let x = key.encrypt(context, &[], level, &Seed::from_bytes([seed; 32])).unwrap();
                noise.extend_from_slice(secret.noise(&x).unwrap().reveal_to_key_owner());
            }
        }
        assert!(noise.len() >= SAMPLES);
        // In a ring of two axes errors are drawn for one power more than the basis has, and coefficients of products are larger.
        let d = context.slot_degree() as f64;
        let (errors, growth) = if d > 1.0 { ((d + 1.0) / d, 2.0 - 1.0 / d) } else { (1.0, 1.0) };
        let weight = match params.spec().chain.secret {
            SecretDistribution::Ternary => 2.0 / 3.0 * params.n() as f64,
            other => panic!("{other:?} has no law here"),
        };
        let products = (2.0 / 3.0 * params.n() as f64 + weight) * errors * growth;
        let law = (SmallPoly::ERROR_SIGMA * (products + errors).sqrt()).log2();
        let (found, said) = (log_deviation(&noise), model.deviation(model.fresh_public()).log2());
        assert!((found - law).abs() < 0.1, "{}: noise of 2^{found:.2}, the law says 2^{law:.2}", preset.name);
        let tail = model.embedding(1.0) / (params.n() as f64).sqrt();
        let slack = (tail * 2f64.sqrt() * growth.sqrt()).log2();
        let above = said - found;
        assert!(
            (above - slack).abs() < 0.2,
            "{}: said to be {above:.2} bits more, {slack:.2} by its law",
            preset.name
        );
    }
}

#[test]
fn public_keys_that_do_not_fit_are_refused() {
    let params: BgvParams = BgvParams::new(&tiny(15)).unwrap();
    let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
    let key = secret.public_key().unwrap();
    let (context, top) = (params.context(), params.levels().output);
    let seed = Seed::from_bytes([1; 32]);
    let at = |level| key.encrypt(context, &[1], level, &seed).err().unwrap();
    assert_eq!(at(top + 1).code(), "LEVEL_MISMATCH");
    assert_eq!(key.encrypt(context, &[257], top, &seed).err().unwrap().code(), "INVALID_ARGUMENT");
    assert_eq!(key.encrypt(context, &vec![1; 65], top, &seed).err().unwrap().code(), "INVALID_ARGUMENT");
    let other = BgvPreset::named("toy-bgv10").unwrap().params().unwrap();
    let error = key.encrypt(other.context(), &[1], 0, &seed).err().unwrap();
    assert!(error.code() == "PARAMS_MISMATCH" || error.code() == "LEVEL_MISMATCH", "{error}");
}

/// The reader of public keys against bytes that are wrong.
#[test]
fn bytes_that_are_wrong_are_refused() {
    let params: BgvParams = BgvParams::new(&tiny(15)).unwrap();
    let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
    let (context, top) = (params.context(), params.levels().output);
    let reader = Reader {
        name: "public key",
        kind: ObjectKind::PublicKey,
        bytes: bgv_public_key_to_bytes(context, &secret.public_key().unwrap()),
        read: Box::new(|bytes| bgv_public_key_from_bytes(context, top, bytes).map(drop)),
        rows: rows_from(32, context.rlwe().q(top).primes(), params.n()),
        n: params.n(),
    };
    reader.takes_only_good_bytes(997);
}
