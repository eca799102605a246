//! Every reader against bytes that are wrong: damaged, cut, of another kind, set or key, well sealed
//! but out of range. They are refused with both sides named, or accepted and then harmless.

use std::sync::OnceLock;

use proptest::prelude::*;
use refloat::Error;
use refloat::bootstrapping::ckks_ship::{
    KeySource, ShipEvaluator, ShipKeys, ShipMode, ShipParams, ShipSecretKey,
};
use refloat::params::{preset, presets};
use refloat::random::Seed;
use refloat::schemes::ckks::Ciphertext;
use refloat::wire::frame::{self, DIGEST_LEN};
use refloat::wire::header::HEADER_LEN;
use refloat::wire::pack::{pack_u32, packed_len, residue_bits, unpack_u32};
use refloat::wire::{
    ObjectKind, ciphertext_from_bytes, ciphertext_to_bytes, public_key_from_bytes, public_key_to_bytes,
    secret_key_from_bytes, secret_key_to_bytes, verify_part,
};

struct World {
    params: ShipParams,
    secret: ShipSecretKey,
    keys: ShipKeys,
    evaluator: ShipEvaluator,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = preset("toy10").unwrap().params().unwrap();
        let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        let keys = ShipKeys::generate(&secret).unwrap();
        let evaluator = ShipEvaluator::new(&params).unwrap();
        World { params, secret, keys, evaluator }
    })
}

/// One kind of object: good bytes of it, and its reader.
struct Reader {
    name: &'static str,
    kind: ObjectKind,
    bytes: Vec<u8>,
    read: fn(&[u8]) -> Result<(), Error>,
}

/// The chunk that the key-part reader is given.
const PART: usize = 0;

fn ciphertext() -> Ciphertext {
    world().secret.encrypt(&[0.5, -0.25], ShipMode::Real, &Seed::from_bytes([6; 32])).unwrap()
}

fn readers() -> Vec<Reader> {
    let World { params, secret, .. } = world();
    vec![
        Reader {
            name: "ciphertext",
            kind: ObjectKind::Ciphertext,
            bytes: ciphertext_to_bytes(params.ckks(), &ciphertext()).unwrap(),
            read: |bytes| ciphertext_from_bytes(world().params.ckks(), bytes).map(drop),
        },
        Reader {
            name: "public key",
            kind: ObjectKind::PublicKey,
            bytes: public_key_to_bytes(params, &secret.public_key().unwrap()),
            read: |bytes| public_key_from_bytes(&world().params, bytes).map(drop),
        },
        Reader {
            name: "secret key",
            kind: ObjectKind::SecretKey,
            bytes: secret_key_to_bytes(secret),
            read: |bytes| secret_key_from_bytes(&world().params, bytes).map(drop),
        },
        Reader {
            name: "key part, verified",
            kind: ObjectKind::ShipKeyPart,
            bytes: secret.key_part(PART).unwrap(),
            read: |bytes| verify_part(&world().params, world().secret.key_id(), PART, bytes),
        },
        Reader {
            name: "key part, added",
            kind: ObjectKind::ShipKeyPart,
            bytes: secret.key_part(PART).unwrap(),
            read: |bytes| ShipKeys::builder(&world().params, world().secret.key_id()).add(PART, bytes),
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

/// The rows of packed residues in a payload: where each begins, its prime, and what they are after.
fn rows(reader: &Reader) -> Vec<(usize, u64)> {
    let World { params, .. } = world();
    let rlwe = params.ckks().rlwe();
    let (mut at, bases): (usize, Vec<Vec<u64>>) = match reader.kind {
        ObjectKind::Ciphertext => (24, vec![rlwe.q(2).primes().collect(); 2]),
        ObjectKind::PublicKey => (32, vec![rlwe.q(2).primes().collect()]),
        ObjectKind::ShipKeyPart => (40, vec![params.encapsulation().q0p().primes().collect()]),
        _ => return Vec::new(),
    };
    let mut rows = Vec::new();
    for prime in bases.into_iter().flatten() {
        rows.push((at, prime));
        at += packed_len(residue_bits(prime), params.n());
    }
    assert_eq!(at, payload(&reader.bytes).len(), "{}: the layout is the documented one", reader.name);
    rows
}

#[test]
fn good_bytes_are_read() {
    for reader in readers() {
        assert_eq!((reader.read)(&reader.bytes), Ok(()), "{}", reader.name);
        assert_eq!(
            reader.bytes,
            reseal(&reader, payload(&reader.bytes)),
            "{}: writing is canonical",
            reader.name
        );
    }
}

#[test]
fn what_is_cut_or_extended_is_refused() {
    for reader in readers() {
        let whole = reader.bytes.len();
        let lengths = (0..=HEADER_LEN + 64).chain((HEADER_LEN..whole).step_by(997)).chain(whole - 64..whole);
        for len in lengths.filter(|&len| len < whole) {
            let error = (reader.read)(&reader.bytes[..len]).unwrap_err();
            assert_eq!(error.code(), "BAD_BYTES", "{}, {len} bytes: {error}", reader.name);
            assert!(error.to_string().contains(&format!("{len} bytes")), "{error}");
        }
        let mut longer = reader.bytes.clone();
        longer.push(0);
        assert_eq!((reader.read)(&longer).unwrap_err().code(), "BAD_BYTES", "{}", reader.name);
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    for reader in readers() {
        let whole = reader.bytes.len();
        let bits =
            (0..8 * (HEADER_LEN + 64)).chain((0..8 * whole).step_by(7919)).chain(8 * (whole - 40)..8 * whole);
        let mut damaged = reader.bytes.clone();
        for bit in bits.filter(|&bit| bit < 8 * whole) {
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!((reader.read)(&damaged).is_err(), "{}, bit {bit}", reader.name);
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(damaged, reader.bytes);
    }
}

#[test]
fn another_kind_set_or_key_is_named() {
    for reader in readers() {
        let header = frame::peek(&reader.bytes).unwrap();
        for kind in ObjectKind::ALL.into_iter().filter(|&kind| kind != reader.kind) {
            let bytes = frame::write(kind, header.fingerprint, header.key_id, payload(&reader.bytes));
            let error = (reader.read)(&bytes).unwrap_err();
            assert_eq!(error.code(), "BAD_BYTES", "{}: {error}", reader.name);
            assert!(
                error.to_string().contains(kind.name()) && error.to_string().contains(reader.kind.name()),
                "{error}"
            );
        }
        let bytes = frame::write(reader.kind, [0xab; 16], header.key_id, payload(&reader.bytes));
        let error = (reader.read)(&bytes).unwrap_err();
        assert_eq!(error.code(), "PARAMS_MISMATCH", "{}: {error}", reader.name);
        assert!(error.to_string().contains(&"ab".repeat(16)), "{error}");
        if reader.kind == ObjectKind::Ciphertext {
            continue;
        }
        // The key id of a key is a function of its seed: no other one is believed.
        let bytes = frame::write(reader.kind, header.fingerprint, [0xcd; 16], payload(&reader.bytes));
        let error = (reader.read)(&bytes).unwrap_err();
        assert_eq!(error.code(), "PARAMS_MISMATCH", "{}: {error}", reader.name);
    }
}

#[test]
fn payloads_of_another_length_are_refused() {
    for reader in readers() {
        let body = payload(&reader.bytes);
        for len in [0, 1, 8, 23, 24, 31, 32, 40, body.len() - 1, body.len() + 1, body.len() + 24] {
            let mut other = body.to_vec();
            other.resize(len, 0);
            if len == body.len() {
                continue;
            }
            let error = (reader.read)(&reseal(&reader, &other)).unwrap_err();
            assert_eq!(error.code(), "BAD_BYTES", "{}, payload of {len}: {error}", reader.name);
        }
    }
}

#[test]
fn residues_at_or_above_their_prime_are_refused() {
    let n = world().params.n();
    for reader in readers() {
        for (at, prime) in rows(&reader) {
            let bits = residue_bits(prime);
            let row = at..at + packed_len(bits, n);
            let mut residues = vec![0; n];
            unpack_u32(bits, prime as u32, &payload(&reader.bytes)[row.clone()], &mut residues).unwrap();
            for position in [0, n / 2, n - 1] {
                let mut wrong = residues.clone();
                wrong[position] = prime as u32;
                let mut body = payload(&reader.bytes).to_vec();
                pack_u32(bits, &wrong, &mut body[row.clone()]);
                let error = (reader.read)(&reseal(&reader, &body)).unwrap_err();
                assert_eq!(error.code(), "BAD_BYTES", "{}: {error}", reader.name);
                let text = error.to_string();
                assert!(text.contains(&format!("residue {position} is {prime}")), "{}: {text}", reader.name);
            }
        }
    }
}

#[test]
fn chunks_are_bound_to_their_index_and_seed() {
    let World { params, secret, .. } = world();
    let part = secret.key_part(PART).unwrap();
    for index in [PART + 1, params.key_parts().len() - 1, params.key_parts().len(), usize::MAX] {
        assert!(verify_part(params, secret.key_id(), index, &part).is_err(), "index {index}");
        assert!(ShipKeys::builder(params, secret.key_id()).add(index, &part).is_err(), "index {index}");
    }
    // Two chunks of one size: only the index tells them apart.
    let same_size: Vec<usize> = params
        .key_parts()
        .iter()
        .filter(|p| p.bytes == params.key_parts()[params.key_parts().len() - 1].bytes)
        .map(|p| p.index)
        .collect();
    assert!(same_size.len() > 1, "the test needs two chunks of one size");
    let error = verify_part(params, secret.key_id(), same_size[0], &secret.key_part(same_size[1]).unwrap())
        .unwrap_err();
    assert!(error.to_string().contains(&format!("chunk {}", same_size[0])), "{error}");
    assert!(error.to_string().contains(&format!("chunk {}", same_size[1])), "{error}");

    let other = ShipSecretKey::generate(params, &Seed::from_bytes([8; 32]));
    let foreign = other.key_part(PART).unwrap();
    assert_eq!(verify_part(params, secret.key_id(), PART, &foreign).unwrap_err().code(), "PARAMS_MISMATCH");
    // Another key's seed under this key's id.
    let header = frame::peek(&part).unwrap();
    let grafted = frame::write(ObjectKind::ShipKeyPart, header.fingerprint, header.key_id, payload(&foreign));
    assert_eq!(verify_part(params, secret.key_id(), PART, &grafted).unwrap_err().code(), "PARAMS_MISMATCH");
}

#[test]
fn a_key_set_is_whole_or_nothing() {
    let World { params, secret, evaluator, .. } = world();
    let mut builder = ShipKeys::builder(params, secret.key_id());
    let count = params.key_parts().len();
    assert_eq!(builder.missing().len(), count);
    for index in (1..count).rev() {
        let bytes = secret.key_part(index).unwrap();
        assert_eq!(bytes.len(), params.key_parts()[index].bytes, "the announced length");
        builder.add(index, &bytes).unwrap();
    }
    assert_eq!(builder.missing(), [0]);
    assert!(builder.add(0, &[]).is_err());
    assert_eq!(builder.missing(), [0], "a refused chunk is still missing");
    builder.add(0, &secret.key_part(0).unwrap()).unwrap();
    let keys = builder.finish().unwrap();
    assert_eq!(keys.key_id(), secret.key_id());
    // The keys that travelled do what the keys that did not do, bit for bit.
    let input = ciphertext();
    let bytes = |keys: &ShipKeys| {
        let output = evaluator.bootstrap(&input, ShipMode::Real, keys, &mut ()).unwrap();
        ciphertext_to_bytes(params.ckks(), &output).unwrap()
    };
    assert!(bytes(&keys) == bytes(&world().keys));

    let mut incomplete = ShipKeys::builder(params, secret.key_id());
    incomplete.add(0, &secret.key_part(0).unwrap()).unwrap();
    let error = incomplete.finish().map(|_| ()).unwrap_err();
    assert_eq!(error.code(), "MISSING_KEY");
    assert!(error.to_string().contains(&format!("{} of {count}", count - 1)), "{error}");
}

/// Does everything that a server or client may do with a ciphertext it accepted. Errors are fine.
fn exercise(ciphertext: &Ciphertext) {
    let World { params, secret, keys, evaluator } = world();
    let _ = secret.decrypt(ciphertext, ShipMode::Complex);
    let _ = evaluator.square(ciphertext, keys);
    let _ = evaluator.ckks().add(ciphertext, ciphertext);
    let _ = evaluator.ckks().rescale(ciphertext);
    let _ = evaluator.ckks().multiply(ciphertext, ciphertext);
    let _ = evaluator.exhaust(ciphertext);
    let _ = evaluator.bootstrap(ciphertext, ShipMode::Real, keys, &mut ());
    assert!(ciphertext_to_bytes(params.ckks(), ciphertext).is_ok());
}

/// Good ciphertext bytes with other metadata: level, components, reserved bytes, scale.
fn with_metadata(level: u8, components: u8, reserved: u8, scale: (f64, f64)) -> Vec<u8> {
    let reader = &readers()[0];
    let mut body = payload(&reader.bytes).to_vec();
    body[0] = level;
    body[1] = components;
    body[2] = reserved;
    body[8..16].copy_from_slice(&scale.0.to_le_bytes());
    body[16..24].copy_from_slice(&scale.1.to_le_bytes());
    reseal(reader, &body)
}

#[test]
fn ciphertext_metadata_is_checked() {
    let context = world().params.ckks();
    let scale = (2f64.powi(26), 0.0);
    assert!(ciphertext_from_bytes(context, &with_metadata(2, 2, 0, scale)).is_ok());
    for (level, components, reserved) in
        [(1, 2, 0), (3, 2, 0), (255, 2, 0), (2, 3, 0), (2, 0, 0), (2, 255, 0), (2, 2, 1)]
    {
        let error = ciphertext_from_bytes(context, &with_metadata(level, components, reserved, scale))
            .map(drop)
            .unwrap_err();
        assert_eq!(error.code(), "BAD_BYTES", "{level}, {components}, {reserved}: {error}");
    }
    let nonsense =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, -0.0, f64::MIN_POSITIVE, 1e300, f64::MAX];
    for high in nonsense {
        let result = ciphertext_from_bytes(context, &with_metadata(2, 2, 0, (high, 0.0)));
        assert!(result.is_err(), "scale {high}");
    }
    for low in [f64::NAN, f64::INFINITY, 1.0, -1.0, 1e300] {
        let result = ciphertext_from_bytes(context, &with_metadata(2, 2, 0, (scale.0, low)));
        assert!(result.is_err(), "low part {low} of a scale of {}", scale.0);
    }
}

#[test]
fn an_accepted_scale_makes_nothing_panic() {
    let context = world().params.ckks();
    for log_scale in [0, 1, 5, 20, 26, 40, 60, 100, 140, 200] {
        let bytes = with_metadata(2, 2, 0, (2f64.powi(log_scale), 0.0));
        if let Ok(ciphertext) = ciphertext_from_bytes(context, &bytes) {
            exercise(&ciphertext);
        }
    }
}

#[test]
fn ciphertexts_of_every_shape_come_back_and_do_no_harm() {
    let World { params, secret, evaluator, .. } = world();
    let top = ciphertext();
    let product = evaluator.ckks().multiply(&top, &top).unwrap();
    assert_eq!(product.components(), 3);
    let bottom = evaluator.ckks().drop_to_level(&top, 0).unwrap();
    for ciphertext in [&top, &evaluator.exhaust(&top).unwrap(), &bottom, &product] {
        let bytes = ciphertext_to_bytes(params.ckks(), ciphertext).unwrap();
        let back = ciphertext_from_bytes(params.ckks(), &bytes).unwrap();
        assert_eq!((back.level(), back.components()), (ciphertext.level(), ciphertext.components()));
        assert!(back.scale() == ciphertext.scale() && back.key_id() == secret.key_id());
        assert!(ciphertext_to_bytes(params.ckks(), &back).unwrap() == bytes);
        exercise(&back);
    }
}

#[test]
fn a_length_belongs_to_one_shape_only() {
    // Readers tell shapes apart by their length before they look inside.
    for preset in presets() {
        let params = preset.params().unwrap();
        let mut lengths: Vec<usize> = (0..=params.max_level())
            .flat_map(|level| [2, 3].map(|c| refloat::wire::objects::ciphertext_len(params.ckks(), level, c)))
            .collect();
        let shapes = lengths.len();
        lengths.sort_unstable();
        lengths.dedup();
        assert_eq!(lengths.len(), shapes, "{}", preset.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for reader in readers().into_iter().take(3) {
            prop_assert!((reader.read)(&bytes).is_err());
        }
    }

    /// Damage under a good seal: whatever is accepted must be usable without a panic.
    #[test]
    fn sealed_damage_is_refused_or_harmless(
        which in 0usize..5,
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        near_start in any::<bool>(),
    ) {
        let reader = &readers()[which];
        let mut body = payload(&reader.bytes).to_vec();
        let reach = if near_start { body.len().min(48) } else { body.len() };
        for (index, value) in edits {
            body[index.index(reach)] = value;
        }
        let bytes = reseal(reader, &body);
        let accepted = (reader.read)(&bytes).is_ok();
        if accepted && reader.kind == ObjectKind::Ciphertext {
            let ciphertext = ciphertext_from_bytes(world().params.ckks(), &bytes).unwrap();
            let _ = world().secret.decrypt(&ciphertext, ShipMode::Real);
            let _ = world().evaluator.square(&ciphertext, &world().keys);
        }
    }
}
