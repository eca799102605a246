//! Secret keys, and parts of evaluation keys.

use std::sync::OnceLock;

use refloat::Error;
use refloat::bootstrapping::cggi::CggiKeys;
use refloat::bootstrapping::ckks_ship::ShipKeys;
use refloat::bootstrapping::method::KeysBuilder;
use refloat::bootstrapping::scheme_switching::{LinkKeys, LinkParams, LinkPreset, LinkSecretKey, Reduction};
use refloat::random::Seed;
use refloat::wire::{
    ObjectKind, secret_key_from_bytes, secret_key_to_bytes, verify_cggi_part, verify_key_part,
    verify_link_part, verify_ship_part,
};

use super::objects::{bgv, cggi, ship};
use super::{Label, Target, any, sealed};

/// Secret keys. Any seed is one, and the key is made from it: the memory that this takes depends on the set.
pub(super) const SECRET_KEY: Target =
    Target { name: "secret_key", corpus: secret_keys, check: secret_key, memory: (4, 1 << 14) };

fn secret_keys() -> Vec<Vec<u8>> {
    vec![secret_key_to_bytes(&bgv().1)]
}

fn secret_key(bytes: &[u8]) -> bool {
    let (params, secret) = bgv();
    any(sealed(bytes, (ObjectKind::SecretKey, params.fingerprint(), secret.key_id())), |input| {
        secret_key_from_bytes(params, input).map(|key| assert_eq!(secret_key_to_bytes(&key), input)).is_ok()
    })
}

/// The functions that check a part and that take it have to agree on every input.
fn agree(
    bytes: &[u8],
    label: Label,
    verify: impl Fn(&[u8]) -> Result<(), Error>,
    add: impl Fn(&[u8]) -> Result<(), Error>,
) -> bool {
    any(sealed(bytes, label), |input| {
        let verified = verify(input);
        assert_eq!(verified, add(input));
        verified.is_ok()
    })
}

/// Chunks of the keys of SHIP.
pub(super) const SHIP_KEY_PART: Target =
    Target { name: "ship_key_part", corpus: ship_parts, check: ship_part, memory: (16, 1 << 16) };

/// The index of the smallest part of a key, by the lengths of all parts.
fn smallest(lengths: impl Iterator<Item = usize>) -> usize {
    lengths.enumerate().min_by_key(|&(_, length)| length).expect("a part").0
}

fn ship_index() -> usize {
    smallest(ship().0.key_parts().iter().map(|part| part.bytes))
}

fn ship_parts() -> Vec<Vec<u8>> {
    vec![ship().1.key_part(ship_index()).expect("a part")]
}

fn ship_part(bytes: &[u8]) -> bool {
    let ((params, secret), at) = (ship(), ship_index());
    agree(
        bytes,
        (ObjectKind::ShipKeyPart, params.fingerprint(), secret.key_id()),
        |input| verify_ship_part(params, secret.key_id(), at, input),
        |input| ShipKeys::builder(params, secret.key_id()).add(at, input),
    )
}

/// Parts of keys that are switching keys.
pub(super) const SWITCHING_KEY_PART: Target = Target {
    name: "switching_key_part",
    corpus: switching_parts,
    check: switching_part,
    memory: (16, 1 << 16),
};

fn switching_index() -> usize {
    smallest(bgv().0.key_parts().iter().map(|part| part.bytes))
}

fn switching_parts() -> Vec<Vec<u8>> {
    vec![bgv().1.key_part(switching_index()).expect("a part")]
}

fn switching_part(bytes: &[u8]) -> bool {
    let ((params, secret), at) = (bgv(), switching_index());
    agree(
        bytes,
        (ObjectKind::KeyPart, params.fingerprint(), secret.key_id()),
        |input| verify_key_part(params, secret.key_id(), at, input),
        |input| KeysBuilder::new(params, secret.key_id()).add(at, input),
    )
}

/// Parts of the keys of DM/CGGI: key switching, and the rotation. A builder makes room for all of a key, whose size is the set's.
pub(super) const CGGI_KEY_PART: Target =
    Target { name: "cggi_key_part", corpus: cggi_parts, check: cggi_part, memory: (16, 4 << 20) };

fn cggi_parts() -> Vec<Vec<u8>> {
    [0, 1].map(|index| cggi().1.key_part(index).expect("a part")).to_vec()
}

fn cggi_part(bytes: &[u8]) -> bool {
    let (params, secret) = cggi();
    let parts = (0..2).filter(|&index| {
        agree(
            bytes,
            (ObjectKind::CggiKeyPart, params.fingerprint(), secret.key_id()),
            |input| verify_cggi_part(params, secret.key_id(), index, input),
            |input| CggiKeys::builder(params, secret.key_id()).add(index, input),
        )
    });
    parts.count() > 0
}

/// Parts of the keys between schemes: the last three, which are for packing and for both directions.
pub(super) const LINK_KEY_PART: Target =
    Target { name: "link_key_part", corpus: link_parts, check: link_part, memory: (32, 4 << 20) };

fn link() -> &'static (LinkParams<Reduction>, LinkSecretKey<Reduction>) {
    static WORLD: OnceLock<(LinkParams<Reduction>, LinkSecretKey<Reduction>)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = LinkPreset::named("toy-link").expect("a set").params().expect("a sound set");
        let secret = LinkSecretKey::generate(&params, &Seed::from_bytes([7; 32]));
        (params, secret)
    })
}

fn link_indices() -> std::ops::Range<usize> {
    let count = link().0.key_parts().len();
    count - 3..count
}

fn link_parts() -> Vec<Vec<u8>> {
    link_indices().map(|index| link().1.key_part(index).expect("a part")).collect()
}

fn link_part(bytes: &[u8]) -> bool {
    let (params, secret) = link();
    let parts = link_indices().filter(|&index| {
        agree(
            bytes,
            (ObjectKind::KeyPart, params.fingerprint(), secret.key_id()),
            |input| verify_link_part(params, secret.key_id(), index, input),
            |input| LinkKeys::builder(params, secret.key_id()).add(index, input),
        )
    });
    parts.count() > 0
}
