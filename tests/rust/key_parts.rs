//! Keys of methods whose parts are of the common kind: those that travelled are those that did not, bit for bit.

use refloat::bootstrapping::bgv::{BgvPreset, BgvSecretKey};
use refloat::bootstrapping::ckks_msb::{MsbKeys, MsbSecretKey};
use refloat::bootstrapping::method::KeysBuilder;
use refloat::bootstrapping::raising::RaisingKeys;
use refloat::params::msb_preset;
use refloat::random::Seed;
use refloat::ring::GaloisElement;
use refloat::wire::{
    ObjectKind, SeededSecret, SeededSet, WireKeySet, frame, secret_key_from_bytes, secret_key_to_bytes,
    verify_key_part,
};

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

#[test]
fn of_modular_reduction() {
    let params = msb_preset("toy-msb11").unwrap().params().unwrap();
    let secret = MsbSecretKey::generate(&params, &Seed::from_bytes([9; 32]));
    let galois: Vec<_> = params.galois_elements().map(|(element, _)| element).collect();
    travel(&params, &secret, &MsbKeys::generate(&secret).unwrap(), &galois);
}

#[test]
fn of_bgv() {
    let params = BgvPreset::named("toy-bgv10").unwrap().params().unwrap();
    let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([9; 32]));
    let galois: Vec<_> = params.galois_elements().map(|(element, _)| element).collect();
    travel(&params, &secret, &secret.evaluation_keys().unwrap(), &galois);
}
