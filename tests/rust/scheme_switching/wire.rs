//! Keys between the schemes on the wire: wrong bytes are refused with both sides named.

use std::sync::OnceLock;

use refloat::bootstrapping::scheme_switching::{
    LinkKeys, LinkParams, LinkPartKind, LinkPreset, LinkSecretKey, Reduction,
};
use refloat::random::Seed;
use refloat::schemes::cggi::Encoding;
use refloat::wire::frame::DIGEST_LEN;
use refloat::wire::header::HEADER_LEN;
use refloat::wire::pack::{packed_len, residue_bits};
use refloat::wire::{
    ObjectKind, cggi_ciphertexts_from_bytes, cggi_ciphertexts_to_bytes, cggi_secret_key_from_bytes,
    cggi_secret_key_to_bytes, secret_key_from_bytes, secret_key_to_bytes, verify_link_part,
};
use refloat_tests::hostile::{Reader, rows_from};

struct World {
    params: LinkParams<Reduction>,
    secret: LinkSecretKey<Reduction>,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = LinkPreset::named("toy-link").unwrap().params().unwrap();
        let secret = LinkSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        World { params, secret }
    })
}

/// The last three parts: the packing keys, and the keys between the schemes.
const PACKING: usize = 3;
const TO_GATES: usize = 2;
const TO_SLOTS: usize = 1;

fn part(from_end: usize) -> usize {
    world().params.key_parts().len() - from_end
}

fn verify(from_end: usize, bytes: &[u8]) -> Result<(), refloat::Error> {
    verify_link_part(&world().params, world().secret.key_id(), part(from_end), bytes)
}

fn add(from_end: usize, bytes: &[u8]) -> Result<(), refloat::Error> {
    LinkKeys::builder(&world().params, world().secret.key_id()).add(part(from_end), bytes)
}

fn readers() -> Vec<Reader<'static>> {
    let World { params, secret } = world();
    let kinds = [PACKING, TO_GATES, TO_SLOTS].map(|from_end| &params.key_parts()[part(from_end)].kind);
    let [LinkPartKind::Packing(samples), LinkPartKind::ToGates, LinkPartKind::ToSlots] = kinds else {
        panic!("the last parts are {kinds:?}");
    };
    // After the public seed and the index.
    let rows = |primes: Vec<u64>, n| rows_from(40, primes, n);
    let (ckks, gates) = (params.ckks(), params.cggi());
    let there = params.to_gates().q0p().primes().collect::<Vec<_>>();
    // q0 and the prime of the ephemeral secret, once for each digit.
    let special = ckks.spec().ephemeral.as_ref().unwrap().prime;
    let digit: Vec<u64> = ckks.ckks().rlwe().q(0).primes().chain([special]).collect();
    let of_digit: usize = digit.iter().map(|&prime| packed_len(residue_bits(prime), ckks.n())).sum();
    let payload = params.key_parts()[part(TO_SLOTS)].bytes - HEADER_LEN - DIGEST_LEN - 40;
    let digits = digit.repeat(payload / of_digit);
    let packing = vec![gates.modulus().value_u64(); *samples];
    let reader = |name, from_end, read: fn(usize, &[u8]) -> Result<(), refloat::Error>, rows, n| Reader {
        name,
        kind: ObjectKind::KeyPart,
        bytes: secret.key_part(part(from_end)).unwrap(),
        read: Box::new(move |bytes| read(from_end, bytes)),
        rows,
        n,
    };
    vec![
        Reader::of_secret_key(secret, ckks.n()),
        reader("packing, verified", PACKING, verify, rows(packing.clone(), gates.n()), gates.n()),
        reader("packing, added", PACKING, add, rows(packing, gates.n()), gates.n()),
        reader("to gates, verified", TO_GATES, verify, rows(there.clone(), ckks.n()), ckks.n()),
        reader("to gates, added", TO_GATES, add, rows(there, ckks.n()), ckks.n()),
        reader("to slots, verified", TO_SLOTS, verify, rows(digits.clone(), ckks.n()), ckks.n()),
        reader("to slots, added", TO_SLOTS, add, rows(digits, ckks.n()), ckks.n()),
    ]
}

refloat_tests::tests_of_readers!(readers);

#[test]
fn parts_of_one_length_are_told_apart_by_their_index() {
    let World { params, secret } = world();
    let parts = params.key_parts();
    for part in parts {
        let bytes = secret.key_part(part.index).unwrap();
        for other in parts.iter().filter(|other| other.index != part.index && other.bytes == part.bytes) {
            assert!(verify_link_part(params, secret.key_id(), other.index, &bytes).is_err());
        }
    }
    let last = secret.key_part(parts.len() - 1).unwrap();
    for index in [parts.len(), usize::MAX] {
        let error = verify_link_part(params, secret.key_id(), index, &last).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
        assert!(LinkKeys::builder(params, secret.key_id()).add(index, &last).is_err());
    }
}

#[test]
fn parts_of_two_uploads_do_not_mix() {
    let World { params, secret } = world();
    // Well sealed under this key's id, with the public seed of another.
    let other = LinkSecretKey::generate(params, &Seed::from_bytes([6; 32]));
    for from_end in [PACKING, TO_GATES, TO_SLOTS] {
        let bytes = other.key_part(part(from_end)).unwrap();
        let payload = Reader {
            name: "of another key",
            kind: ObjectKind::KeyPart,
            bytes,
            read: Box::new(|_| Ok(())),
            rows: Vec::new(),
            n: 0,
        };
        let forged = refloat::wire::frame::write(
            ObjectKind::KeyPart,
            params.fingerprint(),
            secret.key_id(),
            payload.payload(),
        );
        assert_eq!(verify(from_end, &forged).unwrap_err().code(), "PARAMS_MISMATCH");
        assert_eq!(add(from_end, &forged).unwrap_err().code(), "PARAMS_MISMATCH");
    }
}

/// The key of the gates is a part of the link's: its bytes are not a key of a set of gates, and do not give the link's away.
#[test]
fn the_key_of_the_gates_travels_with_that_of_the_link() {
    let World { params, secret } = world();
    let gates = secret.cggi();
    let alone = cggi_secret_key_to_bytes(gates);
    assert_eq!(cggi_secret_key_from_bytes(params.cggi(), &alone).err().unwrap().code(), "PARAMS_MISMATCH");
    let master = secret.export_secret_seed().as_bytes();
    assert!(!alone.windows(master.len()).any(|window| window == master));
    // What it decrypts travels as that of other sets does.
    let again: LinkSecretKey<Reduction> =
        secret_key_from_bytes(params, &secret_key_to_bytes(secret)).unwrap();
    let mut list = gates.encrypt_bits(&[true, false], &Seed::from_bytes([7; 32]));
    list.extend(gates.encrypt(Encoding::Padded { messages: 16 }, &[11], &Seed::from_bytes([8; 32])).unwrap());
    let bytes = cggi_ciphertexts_to_bytes(params.cggi(), &list).unwrap();
    let read = cggi_ciphertexts_from_bytes(params.cggi(), &bytes).unwrap();
    assert_eq!(read, list);
    assert_eq!(again.cggi().decrypt_bits(&read[..2]), Ok(vec![true, false]));
    assert_eq!(again.cggi().decrypt(&read[2]), Ok(11));
    // And the key of the slots has the bytes of the link, which it is made of.
    assert_eq!(LinkKeys::generate(&again).unwrap().key_id(), secret.key_id());
}
