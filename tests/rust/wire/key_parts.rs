//! Keys of methods whose parts are of the common kind: those that travelled are those that did not, bit for bit.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use refloat::bootstrapping::SwitchingKeyId;
use refloat::bootstrapping::bgv::{BgvKeys, BgvParams, BgvPreset, BgvSecretKey};
use refloat::bootstrapping::ckks_msb::{MsbKeys, MsbParams, MsbSecretKey};
use refloat::bootstrapping::method::KeysBuilder;
use refloat::bootstrapping::raising::RaisingKeys;
use refloat::params::msb_preset;
use refloat::random::Seed;
use refloat::ring::GaloisElement;
use refloat::wire::{
    ObjectKind, SeededSecret, SeededSet, WireKeySet, frame, secret_key_from_bytes, secret_key_to_bytes,
    verify_key_part,
};
use refloat_tests::hostile::{Read, Reader, rows_from};

/// The words of every key of a set.
fn words(keys: &RaisingKeys, galois: &[GaloisElement]) -> Vec<Vec<u64>> {
    let galois = galois.iter().map(|&element| keys.galois().get(element).unwrap().1);
    let all =
        [keys.relinearization()].into_iter().chain(galois).chain(keys.ephemeral().into_iter().flatten());
    all.map(|key| key.words().to_vec()).collect()
}

/// Builds the keys of a secret key from parts that come in reverse order, and compares them with `made`.
fn travel<P>(params: &P, secret: &P::Secret, made: &RaisingKeys, galois: &[GaloisElement])
where
    P: WireKeySet<Word = u64, Keys = RaisingKeys> + SeededSet,
{
    let key_id = secret.key_id();
    let labels: BTreeSet<&str> = params.key_parts().iter().map(|part| part.label.as_str()).collect();
    assert_eq!(
        labels.len(),
        params.key_parts().len(),
        "every part of {} has a name of its own",
        params.name()
    );
    // The key of a file, to make parts with: an upload is resumed by a program started anew.
    let again: P::Secret = secret_key_from_bytes(params, &secret_key_to_bytes(secret)).unwrap();
    let mut builder = KeysBuilder::new(params, key_id);
    for part in params.key_parts().iter().rev() {
        let bytes = again.key_part(part.index).unwrap();
        assert_eq!(bytes.len(), part.bytes, "the announced length of {}", part.label);
        assert_eq!(frame::peek(&bytes).unwrap().kind, ObjectKind::KeyPart);
        verify_key_part(params, key_id, part.index, &bytes).unwrap();
        assert_eq!(
            verify_key_part(params, [0; 16], part.index, &bytes).unwrap_err().code(),
            "PARAMS_MISMATCH"
        );
        assert!(verify_key_part(params, key_id, part.index, &bytes[..bytes.len() - 1]).is_err());
        builder.add(part.index, &bytes).unwrap();
    }
    assert!(secret.key_part(params.key_parts().len()).is_err());
    let received = builder.finish().unwrap();
    assert_eq!(received.key_id(), key_id);
    assert!(words(made, galois) == words(&received, galois), "{}", params.name());
}

/// Everything that a reader of untrusted bytes has to refuse, of the part to the ephemeral secret; and a part of the same length
/// and one of another key, in its place.
fn hostile<P>(params: &P, secret: &P::Secret)
where
    P: WireKeySet<Word = u64> + SeededSet,
{
    let at = params.key_parts().iter().position(|part| part.key == SwitchingKeyId::ToEphemeral).unwrap();
    let (key_id, n) = (secret.key_id(), params.key_layout().rlwe.n());
    let verify = |bytes: &[u8]| verify_key_part(params, key_id, at, bytes);
    let add = |bytes: &[u8]| KeysBuilder::new(params, key_id).add(at, bytes);
    let part = &params.key_parts()[at];
    let primes: Vec<u64> = params.key_layout().basis(part.key).primes().collect();
    let bytes = secret.key_part(at).unwrap();
    let ways: [(_, &Read<'_>); 2] = [("verified", &verify), ("added", &add)];
    for (name, read) in ways {
        let rows = rows_from(40, primes.repeat(part.count), n);
        let of =
            |bytes, rows| Reader { name, kind: ObjectKind::KeyPart, bytes, read: Box::new(read), rows, n };
        let reader = of(bytes.clone(), rows);
        reader.takes_only_good_bytes(reader.bytes.len() / 8);
        let stranger = params.secret(&Seed::from_bytes([10; 32])).key_part(at).unwrap();
        assert_eq!(read(&stranger).unwrap_err().code(), "PARAMS_MISMATCH", "{name}: a part of another key");
        let grafted = reader.reseal(of(stranger, Vec::new()).payload());
        assert_eq!(
            read(&grafted).unwrap_err().code(),
            "PARAMS_MISMATCH",
            "{name}: another key's seed under this one's id"
        );
        let mut moved = reader.payload().to_vec();
        moved[32] ^= 1;
        assert_eq!(read(&reader.reseal(&moved)).unwrap_err().code(), "BAD_BYTES", "{name}: another index");
    }
}

/// A set and a secret key, for all tests.
fn msb() -> &'static (MsbParams, MsbSecretKey) {
    static WORLD: OnceLock<(MsbParams, MsbSecretKey)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = msb_preset("toy-msb11").unwrap().params().unwrap();
        let secret = MsbSecretKey::generate(&params, &Seed::from_bytes([9; 32]));
        (params, secret)
    })
}

/// A set and a secret key, for all tests.
fn bgv() -> &'static (BgvParams, BgvSecretKey) {
    static WORLD: OnceLock<(BgvParams, BgvSecretKey)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = BgvPreset::named("toy-bgv10").unwrap().params().unwrap();
        let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([9; 32]));
        (params, secret)
    })
}

#[test]
fn wrong_parts_of_modular_reduction_are_refused() {
    let (params, secret) = msb();
    hostile(params, secret);
}

#[test]
fn wrong_parts_of_bgv_are_refused() {
    let (params, secret) = bgv();
    hostile(params, secret);
}

#[test]
fn of_modular_reduction() {
    let (params, secret) = msb();
    let galois: Vec<_> = params.galois_elements().map(|(element, _)| element).collect();
    travel(params, secret, &MsbKeys::generate(secret).unwrap(), &galois);
}

#[test]
fn of_bgv() {
    let (params, secret) = bgv();
    let galois: Vec<_> = params.galois_elements().map(|(element, _)| element).collect();
    let named = |text: &str| params.key_parts().iter().any(|part| part.label.contains(text));
    assert!(named("rotation by 1, rows swapped, level") && !named("conjugation"));
    travel(params, secret, &BgvKeys::generate(secret).unwrap(), &galois);
}
