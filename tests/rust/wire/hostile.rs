//! Every reader against bytes that are wrong: damaged, cut, of another kind, set or key, well sealed
//! but out of range. They are refused with both sides named, or accepted and then harmless.

use std::sync::OnceLock;

use proptest::prelude::*;
use refloat::bootstrapping::ckks_ship::{KeySource, ShipEvaluator, ShipKeys, ShipParams, ShipSecretKey};
use refloat::bootstrapping::method::SlotMode;
use refloat::params::{ShipPreset, ship_preset};
use refloat::random::Seed;
use refloat::schemes::ckks::Ciphertext;
use refloat::wire::frame::{self, DIGEST_LEN};
use refloat::wire::header::HEADER_LEN;
use refloat::wire::{ObjectKind, ciphertext_from_bytes, ciphertext_to_bytes, verify_ship_part};
use refloat_tests::hostile::{Reader, rows_from};

struct World {
    params: ShipParams,
    secret: ShipSecretKey,
    keys: ShipKeys,
    evaluator: ShipEvaluator,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = ship_preset("toy10").unwrap().params().unwrap();
        let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        let keys = ShipKeys::generate(&secret).unwrap();
        let evaluator = ShipEvaluator::new(&params).unwrap();
        World { params, secret, keys, evaluator }
    })
}

/// The chunk that the key-part reader is given.
const PART: usize = 0;

fn ciphertext() -> Ciphertext {
    world().secret.encrypt(&[0.5, -0.25], SlotMode::Real, &Seed::from_bytes([6; 32])).unwrap()
}

fn readers() -> Vec<Reader<'static>> {
    let World { params, secret, .. } = world();
    let n = params.n();
    let part_rows = || rows_from(40, params.encapsulation().q0p().primes(), n);
    let mut readers = Vec::from(Reader::of_ckks(secret, &ciphertext()));
    readers.extend([
        Reader {
            name: "key part, verified",
            kind: ObjectKind::ShipKeyPart,
            bytes: secret.key_part(PART).unwrap(),
            read: Box::new(|bytes| verify_ship_part(params, secret.key_id(), PART, bytes)),
            rows: part_rows(),
            n,
        },
        Reader {
            name: "key part, added",
            kind: ObjectKind::ShipKeyPart,
            bytes: secret.key_part(PART).unwrap(),
            read: Box::new(|bytes| ShipKeys::builder(params, secret.key_id()).add(PART, bytes)),
            rows: part_rows(),
            n,
        },
    ]);
    readers
}

refloat_tests::tests_of_readers!(readers);

#[test]
fn chunks_are_bound_to_their_index_and_seed() {
    let World { params, secret, .. } = world();
    let part = secret.key_part(PART).unwrap();
    for index in [PART + 1, params.key_parts().len() - 1, params.key_parts().len(), usize::MAX] {
        assert!(verify_ship_part(params, secret.key_id(), index, &part).is_err(), "index {index}");
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
    let error =
        verify_ship_part(params, secret.key_id(), same_size[0], &secret.key_part(same_size[1]).unwrap())
            .unwrap_err();
    assert!(error.to_string().contains(&format!("chunk {}", same_size[0])), "{error}");
    assert!(error.to_string().contains(&format!("chunk {}", same_size[1])), "{error}");

    let other = ShipSecretKey::generate(params, &Seed::from_bytes([8; 32]));
    let foreign = other.key_part(PART).unwrap();
    assert_eq!(
        verify_ship_part(params, secret.key_id(), PART, &foreign).unwrap_err().code(),
        "PARAMS_MISMATCH"
    );
    // Another key's seed under this key's id.
    let foreign_payload = &foreign[HEADER_LEN..foreign.len() - DIGEST_LEN];
    let header = frame::peek(&part).unwrap();
    let grafted = frame::write(ObjectKind::ShipKeyPart, header.fingerprint, header.key_id, foreign_payload);
    assert_eq!(
        verify_ship_part(params, secret.key_id(), PART, &grafted).unwrap_err().code(),
        "PARAMS_MISMATCH"
    );
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
        let output = evaluator.bootstrap(&input, SlotMode::Real, keys, &mut ()).unwrap();
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
    let _ = secret.decrypt(ciphertext, SlotMode::Complex);
    let _ = evaluator.square(ciphertext, keys);
    let _ = evaluator.ckks().add(ciphertext, ciphertext);
    let _ = evaluator.ckks().rescale(ciphertext);
    let _ = evaluator.ckks().tensor(ciphertext, ciphertext);
    let _ = evaluator.exhaust(ciphertext);
    let _ = evaluator.bootstrap(ciphertext, SlotMode::Real, keys, &mut ());
    assert!(ciphertext_to_bytes(params.ckks(), ciphertext).is_ok());
}

/// Good ciphertext bytes with other metadata: level, components, reserved bytes, scale.
fn with_metadata(level: u8, components: u8, reserved: u8, scale: (f64, f64)) -> Vec<u8> {
    let reader = &readers()[0];
    let mut body = reader.payload().to_vec();
    body[0] = level;
    body[1] = components;
    body[2] = reserved;
    body[8..16].copy_from_slice(&scale.0.to_le_bytes());
    body[16..24].copy_from_slice(&scale.1.to_le_bytes());
    reader.reseal(&body)
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
    let product = evaluator.ckks().tensor(&top, &top).unwrap();
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
    for preset in ShipPreset::all() {
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
        let mut body = reader.payload().to_vec();
        let reach = if near_start { body.len().min(48) } else { body.len() };
        for (index, value) in edits {
            body[index.index(reach)] = value;
        }
        let bytes = reader.reseal(&body);
        let accepted = (reader.read)(&bytes).is_ok();
        if accepted && reader.kind == ObjectKind::Ciphertext {
            let ciphertext = ciphertext_from_bytes(world().params.ckks(), &bytes).unwrap();
            let _ = world().secret.decrypt(&ciphertext, SlotMode::Real);
            let _ = world().evaluator.square(&ciphertext, &world().keys);
        }
    }
}
