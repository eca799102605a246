//! DM/CGGI objects on the wire: they come back, and wrong bytes are refused with both sides named.

use std::sync::OnceLock;

use refloat::Error;
use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys, key_parts};
use refloat::params::{CggiPreset, cggi_peer_preset, cggi_peer_presets, cggi_preset};
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiCiphertext, CggiParams, CggiSecretKey, Encoding, Gate};
use refloat::wire::frame::{self, DIGEST_LEN};
use refloat::wire::header::HEADER_LEN;
use refloat::wire::{
    ObjectKind, cggi_ciphertexts_from_bytes, cggi_ciphertexts_len, cggi_ciphertexts_to_bytes,
    cggi_secret_key_from_bytes, cggi_secret_key_to_bytes, verify_cggi_part,
};

struct World {
    params: CggiParams,
    secret: CggiSecretKey,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = cggi_preset("toy-bool").unwrap().params().unwrap();
        let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        World { params, secret }
    })
}

fn ciphertexts() -> Vec<CggiCiphertext> {
    let World { secret, .. } = world();
    let mut list = secret.encrypt_bits(&[true, false], &Seed::from_bytes([6; 32]));
    for encoding in [Encoding::Padded { messages: 8 }, Encoding::Cyclic { messages: 64 }] {
        list.extend(secret.encrypt(encoding, &[7, 3], &Seed::from_bytes([7; 32])).unwrap());
    }
    list
}

/// One kind of object: good bytes of it, and its reader.
struct Reader {
    name: &'static str,
    kind: ObjectKind,
    bytes: Vec<u8>,
    read: fn(&[u8]) -> Result<(), Error>,
}

fn readers() -> Vec<Reader> {
    let World { params, secret } = world();
    vec![
        Reader {
            name: "ciphertexts",
            kind: ObjectKind::CggiCiphertexts,
            bytes: cggi_ciphertexts_to_bytes(params, &ciphertexts()).unwrap(),
            read: |bytes| cggi_ciphertexts_from_bytes(&world().params, bytes).map(drop),
        },
        Reader {
            name: "secret key",
            kind: ObjectKind::SecretKey,
            bytes: cggi_secret_key_to_bytes(secret),
            read: |bytes| cggi_secret_key_from_bytes(&world().params, bytes).map(drop),
        },
        Reader {
            name: "switch part, verified",
            kind: ObjectKind::CggiKeyPart,
            bytes: secret.key_part(0).unwrap(),
            read: |bytes| verify_cggi_part(&world().params, world().secret.key_id(), 0, bytes),
        },
        Reader {
            name: "rotation part, verified",
            kind: ObjectKind::CggiKeyPart,
            bytes: secret.key_part(1).unwrap(),
            read: |bytes| verify_cggi_part(&world().params, world().secret.key_id(), 1, bytes),
        },
        Reader {
            name: "switch part, added",
            kind: ObjectKind::CggiKeyPart,
            bytes: secret.key_part(0).unwrap(),
            read: |bytes| CggiKeys::builder(&world().params, world().secret.key_id()).add(0, bytes),
        },
        Reader {
            name: "rotation part, added",
            kind: ObjectKind::CggiKeyPart,
            bytes: secret.key_part(1).unwrap(),
            read: |bytes| CggiKeys::builder(&world().params, world().secret.key_id()).add(1, bytes),
        },
    ]
}

fn payload(bytes: &[u8]) -> &[u8] {
    &bytes[HEADER_LEN..bytes.len() - DIGEST_LEN]
}

/// A well-sealed frame around another payload.
fn reseal(reader: &Reader, payload: &[u8]) -> Vec<u8> {
    let header = frame::peek(&reader.bytes).unwrap();
    frame::write(reader.kind, header.fingerprint, header.key_id, payload)
}

#[test]
fn everything_comes_back() {
    let World { params, secret } = world();
    let list = ciphertexts();
    let bytes = cggi_ciphertexts_to_bytes(params, &list).unwrap();
    assert_eq!(bytes.len(), cggi_ciphertexts_len(params, list.len()));
    assert_eq!(cggi_ciphertexts_from_bytes(params, &bytes).unwrap(), list);
    let again = cggi_secret_key_from_bytes(params, &cggi_secret_key_to_bytes(secret)).unwrap();
    assert_eq!(again.key_id(), secret.key_id());
    let parts = key_parts(params);
    let mut builder = CggiKeys::builder(params, secret.key_id());
    assert_eq!(builder.missing(), (0..parts.len()).collect::<Vec<_>>());
    for part in parts.iter().rev() {
        let bytes = again.key_part(part.index).unwrap();
        assert_eq!(bytes.len(), part.bytes);
        verify_cggi_part(params, secret.key_id(), part.index, &bytes).unwrap();
        assert!(builder.missing().contains(&part.index));
        builder.add(part.index, &bytes).unwrap();
    }
    let [made, received] =
        [CggiKeys::generate(secret).unwrap(), builder.finish().unwrap()].map(CggiEvaluator::new);
    let outs = [made, received].map(|e| e.gate(Gate::Nand, &[&list[0], &list[1]], &mut ()).unwrap());
    assert_eq!(outs[0], outs[1], "keys from the wire are the keys that were made");
    assert_eq!(secret.decrypt_bit(&outs[0]), Ok(true));
}

/// NTRU keys have no masks: their parts are all there is.
#[test]
fn keys_without_masks_come_back() {
    let params = cggi_preset("toy-bool-ntru").unwrap().params().unwrap();
    let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([25; 32]));
    let again = cggi_secret_key_from_bytes(&params, &cggi_secret_key_to_bytes(&secret)).unwrap();
    let mut builder = CggiKeys::builder(&params, secret.key_id());
    for part in key_parts(&params) {
        let bytes = again.key_part(part.index).unwrap();
        assert_eq!(bytes.len(), part.bytes);
        verify_cggi_part(&params, secret.key_id(), part.index, &bytes).unwrap();
        builder.add(part.index, &bytes).unwrap();
    }
    let bits = secret.encrypt_bits(&[true, false], &Seed::from_bytes([26; 32]));
    let [made, received] = [CggiKeys::generate(&secret).unwrap(), builder.finish().unwrap()];
    assert_eq!(made.memory_bytes(), received.memory_bytes());
    let outs = [made, received]
        .map(CggiEvaluator::new)
        .map(|e| e.gate(Gate::Nand, &[&bits[0], &bits[1]], &mut ()).unwrap());
    assert_eq!(outs[0], outs[1]);
    assert_eq!(secret.decrypt_bit(&outs[0]), Ok(true));
}

#[test]
fn incomplete_keys_are_named() {
    let World { params, secret } = world();
    let mut builder = CggiKeys::builder(params, secret.key_id());
    builder.add(1, &secret.key_part(1).unwrap()).unwrap();
    let error = builder.finish().err().unwrap();
    assert_eq!(error.code(), "MISSING_KEY");
    assert!(error.to_string().contains("key-switching key"), "{error}");
    assert_eq!(secret.key_part(99).unwrap_err().code(), "INVALID_ARGUMENT");
}

#[test]
fn keys_of_the_default_set_take_what_is_promised() {
    let params = cggi_preset("bool-128").unwrap().params().unwrap();
    let bytes: usize = key_parts(&params).iter().map(|part| part.bytes).sum();
    assert!((9_100_000..9_200_000).contains(&bytes), "{bytes} bytes of keys");
    assert_eq!(cggi_ciphertexts_len(&params, 1), 96 + 8 + (1025usize * 27).div_ceil(8));
}

#[test]
fn keys_and_ciphertexts_of_an_earlier_set_are_read_and_computed_on() {
    // What version 0.1 wrote as bool-128: found by the fingerprint, under its present name.
    let old = CggiPreset::retired().iter().find(|old| old.now == "bool-128").unwrap();
    let made = CggiSecretKey::generate(&old.preset.params().unwrap(), &Seed::from_bytes([5; 32]));
    let (key, list) =
        (cggi_secret_key_to_bytes(&made), made.encrypt_bits(&[true, true], &Seed::from_bytes([6; 32])));
    let list = cggi_ciphertexts_to_bytes(made.params(), &list).unwrap();

    let preset = CggiPreset::by_fingerprint(&frame::peek(&key).unwrap().fingerprint).unwrap();
    assert_eq!(preset.name, "bool-128-2026a");
    let params = preset.params().unwrap();
    let secret = cggi_secret_key_from_bytes(&params, &key).unwrap();
    let inputs: Vec<CggiCiphertext> = cggi_ciphertexts_from_bytes(&params, &list).unwrap();
    let mut builder = CggiKeys::builder(&params, secret.key_id());
    for index in 0..key_parts(&params).len() {
        builder.add(index, &secret.key_part(index).unwrap()).unwrap();
    }
    let evaluator = CggiEvaluator::new(builder.finish().unwrap());
    let out = evaluator.gate(Gate::Nand, &[&inputs[0], &inputs[1]], &mut ()).unwrap();
    assert_eq!(secret.decrypt_bit(&out), Ok(false));

    // The current set has the name and reads none of it; new keys of the old one are refused with the set to take.
    let today = cggi_preset("bool-128").unwrap().params().unwrap();
    assert_eq!(cggi_ciphertexts_from_bytes(&today, &list).unwrap_err().code(), "PARAMS_MISMATCH");
    let refused = cggi_preset(preset.name).unwrap_err().to_string();
    assert!(refused.contains("no new keys") && refused.ends_with("take bool-128"), "{refused}");
}

#[test]
fn cut_extended_and_damaged_bytes_are_refused() {
    for reader in readers() {
        assert_eq!((reader.read)(&reader.bytes), Ok(()), "{}", reader.name);
        let whole = reader.bytes.len();
        let lengths = (0..=HEADER_LEN + 48).chain((HEADER_LEN..whole).step_by(9973)).chain(whole - 40..whole);
        for len in lengths.filter(|&len| len < whole) {
            let error = (reader.read)(&reader.bytes[..len]).unwrap_err();
            assert_eq!(error.code(), "BAD_BYTES", "{}, {len} bytes: {error}", reader.name);
        }
        let mut longer = reader.bytes.clone();
        longer.push(0);
        assert_eq!((reader.read)(&longer).unwrap_err().code(), "BAD_BYTES", "{}", reader.name);
        let mut damaged = reader.bytes.clone();
        for bit in (0..8 * HEADER_LEN).chain((8 * HEADER_LEN..8 * whole).step_by(100_003)) {
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!((reader.read)(&damaged).is_err(), "{}, bit {bit}", reader.name);
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn payloads_of_another_length_kind_set_or_key_are_refused() {
    for reader in readers() {
        let header = frame::peek(&reader.bytes).unwrap();
        let body = payload(&reader.bytes);
        for len in [0, 1, 8, 31, 32, 39, 40, body.len() - 1, body.len() + 1, 2 * body.len() + 3] {
            let mut other = body.to_vec();
            other.resize(len, 0);
            if len == body.len() {
                continue;
            }
            let error = (reader.read)(&reseal(&reader, &other)).unwrap_err();
            assert_eq!(error.code(), "BAD_BYTES", "{}, payload of {len}: {error}", reader.name);
        }
        for kind in ObjectKind::ALL.into_iter().filter(|&kind| kind != reader.kind) {
            let bytes = frame::write(kind, header.fingerprint, header.key_id, body);
            let error = (reader.read)(&bytes).unwrap_err();
            assert_eq!(error.code(), "BAD_BYTES", "{}", reader.name);
            assert!(error.to_string().contains(kind.name()), "{error}");
        }
        let bytes = frame::write(reader.kind, [0xab; 16], header.key_id, body);
        assert_eq!((reader.read)(&bytes).unwrap_err().code(), "PARAMS_MISMATCH", "{}", reader.name);
        if reader.kind != ObjectKind::CggiCiphertexts {
            let bytes = frame::write(reader.kind, header.fingerprint, [0xcd; 16], body);
            assert_eq!((reader.read)(&bytes).unwrap_err().code(), "PARAMS_MISMATCH", "{}", reader.name);
        }
    }
}

#[test]
fn residues_beyond_the_modulus_and_wrong_metadata_are_refused() {
    for reader in readers().iter().filter(|reader| reader.kind != ObjectKind::SecretKey) {
        let start = if reader.kind == ObjectKind::CggiCiphertexts { 8 * ciphertexts().len() } else { 40 };
        let mut body = payload(&reader.bytes).to_vec();
        body[start..start + 4].fill(0xff);
        let outcome = (reader.read)(&reseal(reader, &body));
        // Every word is a residue of the power of two that key switching is done modulo.
        if reader.name.starts_with("switch") {
            assert_eq!(outcome, Ok(()));
        } else {
            assert!(outcome.unwrap_err().to_string().contains("residue 0"), "{}", reader.name);
        }
    }
    let reader = &readers()[0];
    for (at, value) in [(0, 1), (0, 3), (1, 1), (2, 0), (2, 65), (3, 1), (7, 1), (16, 0)] {
        let mut body = payload(&reader.bytes).to_vec();
        body[at] = value;
        if body == payload(&reader.bytes) || (at, value) == (0, 1) {
            continue;
        }
        let outcome = (reader.read)(&reseal(reader, &body));
        assert_eq!(outcome.map_err(|e| e.code()), Err("BAD_BYTES"), "byte {at} = {value}");
    }
    // A part under another index, and one with another seed.
    let World { params, secret } = world();
    let part = readers().remove(3);
    let mut body = payload(&part.bytes).to_vec();
    body[32] = 2;
    let error = (part.read)(&reseal(&part, &body)).unwrap_err();
    assert!(error.to_string().contains("part 2"), "{error}");
    let mut body = payload(&part.bytes).to_vec();
    body[0] ^= 1;
    let error = (part.read)(&reseal(&part, &body)).unwrap_err();
    assert_eq!(error.code(), "PARAMS_MISMATCH", "{error}");
    assert!(cggi_ciphertexts_to_bytes(params, &[]).is_err());
    let other = CggiSecretKey::generate(params, &Seed::from_bytes([8; 32]));
    let mixed = [secret, &other].map(|key| key.encrypt_bit(true, &Seed::from_bytes([9; 32])));
    assert_eq!(cggi_ciphertexts_to_bytes(params, &mixed).unwrap_err().code(), "PARAMS_MISMATCH");
}

#[test]
fn presets_are_found_by_name_and_fingerprint() {
    fn check<W: refloat::arith::Word>(preset: &CggiPreset) {
        let params = preset.params_over::<W>().unwrap();
        assert_eq!(params.name(), preset.name);
        assert_eq!(preset.policy, params.spec().policy);
        assert_eq!(preset.secure(), params.security().bits >= 128.0, "{}", preset.name);
        assert!(params.gate_failure() <= params.spec().log_failure);
        assert!(params.look_up_failure() <= params.spec().log_failure);
    }
    for preset in CggiPreset::all() {
        let fingerprint = (preset.spec)().fingerprint();
        assert_eq!(CggiPreset::by_fingerprint(&fingerprint).unwrap().name, preset.name);
        assert!(cggi_peer_preset(preset.name).is_err());
    }
    // Nobody is offered a set of another library, and one below 128 bits says so in its name.
    for preset in cggi_peer_presets() {
        assert_eq!(cggi_peer_preset(preset.name).unwrap().name, preset.name);
        assert!(cggi_preset(preset.name).is_err());
        assert_eq!(preset.secure(), !preset.name.starts_with("below-128"), "{}", preset.name);
    }
    for preset in CggiPreset::all().iter().chain(cggi_peer_presets()) {
        check::<u64>(preset);
        if preset.wide() {
            assert_eq!(preset.params().err().unwrap().code(), "INVALID_ARGUMENT");
        } else {
            check::<u32>(preset);
        }
    }
    assert!(cggi_preset("nope").unwrap_err().to_string().contains("bool-128"));
    assert_eq!(CggiPreset::by_fingerprint(&[0; 16]).unwrap_err().code(), "PARAMS_MISMATCH");
}
