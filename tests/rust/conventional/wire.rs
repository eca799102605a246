//! Objects of conventional CKKS sets on the wire: keys that travelled are the keys that did not, bit for bit, and wrong
//! bytes are refused with both sides named.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use refloat::bootstrapping::ckks_conventional::{
    ConventionalEvaluator, ConventionalKeys, ConventionalParams, ConventionalSecretKey, SwitchingKeyId,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::params::{ConventionalPreset, conventional_preset};
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, Complex};
use refloat::wire::{
    ObjectKind, ciphertext_from_bytes, ciphertext_to_bytes, frame, secret_key_from_bytes,
    secret_key_to_bytes, verify_key_part,
};
use refloat_tests::hostile::{Reader, rows_from};

struct World {
    params: ConventionalParams,
    secret: ConventionalSecretKey,
}

fn params(name: &str) -> ConventionalParams {
    conventional_preset(name).unwrap().params().unwrap()
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = params("toy-conventional10-sparse");
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([5; 32]));
        World { params, secret }
    })
}

fn ciphertext() -> Ciphertext<u64> {
    let values = [Complex { re: 0.5, im: -0.25 }];
    world().secret.encrypt(&values, 1, &Seed::from_bytes([6; 32])).unwrap()
}

/// The parts of the key to the ephemeral secret and of a Galois key: of different moduli.
fn chosen() -> [usize; 2] {
    let parts = world().params.key_parts();
    let find = |wanted: &dyn Fn(SwitchingKeyId) -> bool| parts.iter().position(|p| wanted(p.key)).unwrap();
    [
        find(&|key| key == SwitchingKeyId::ToEphemeral),
        find(&|key| matches!(key, SwitchingKeyId::Galois { .. })),
    ]
}

fn readers() -> Vec<Reader<'static>> {
    let World { params, secret } = world();
    let n = params.n();
    let rows = |index: usize| {
        let part = &params.key_parts()[index];
        let primes: Vec<u64> = params.key_basis(part.key).primes().collect();
        rows_from(40, primes.repeat(part.count), n)
    };
    let kind = ObjectKind::ConventionalKeyPart;
    let part = |index| secret.key_part(index).unwrap();
    let verify = |index| move |bytes: &[u8]| verify_key_part(params, secret.key_id(), index, bytes);
    let add =
        |index| move |bytes: &[u8]| ConventionalKeys::builder(params, secret.key_id()).add(index, bytes);
    let [there, galois] = chosen();
    let mut readers = Vec::from(Reader::of_ckks(secret, &ciphertext()));
    readers.extend([
        Reader {
            name: "part of the key to the ephemeral secret, verified",
            kind,
            bytes: part(there),
            read: Box::new(verify(there)),
            rows: rows(there),
            n,
        },
        Reader {
            name: "part of the key to the ephemeral secret, added",
            kind,
            bytes: part(there),
            read: Box::new(add(there)),
            rows: rows(there),
            n,
        },
        Reader {
            name: "part of a Galois key, verified",
            kind,
            bytes: part(galois),
            read: Box::new(verify(galois)),
            // Every fifth row: the part is large.
            rows: {
                let mut rows = rows(galois);
                let last = rows.len() - 1;
                let mut index = 0..;
                rows.retain(|_| index.next().is_some_and(|i| i % 5 == 0 || i == last));
                rows
            },
            n,
        },
    ]);
    readers
}

#[test]
fn good_bytes_are_read() {
    readers().iter().for_each(Reader::takes_good_bytes);
}

#[test]
fn another_length_is_refused() {
    readers().iter().for_each(Reader::refuses_another_length);
    readers().iter().for_each(Reader::refuses_another_payload);
}

#[test]
fn flipped_bits_are_noticed() {
    for reader in readers() {
        reader.notices_flipped_bits(reader.bytes.len() / 8);
    }
}

#[test]
fn another_kind_set_or_key_is_named() {
    readers().iter().for_each(Reader::names_another_kind_set_or_key);
    // Of a real set and of a real key, too.
    let World { params: here, secret } = world();
    let galois = chosen()[1];
    let seed = Seed::from_bytes([5; 32]);
    let elsewhere = ConventionalSecretKey::generate(&params("toy-conventional10-50bit"), &seed);
    let another = ConventionalSecretKey::generate(here, &Seed::from_bytes([8; 32]));
    for bytes in [elsewhere.key_part(galois).unwrap(), another.key_part(galois).unwrap()] {
        let error = verify_key_part(here, secret.key_id(), galois, &bytes).unwrap_err();
        assert_eq!(error.code(), "PARAMS_MISMATCH", "{error}");
    }
    // Another key's seed under this key's id.
    let mut grafted = readers().remove(5);
    let foreign = Reader { bytes: another.key_part(galois).unwrap(), ..readers().remove(5) };
    grafted.bytes = grafted.reseal(foreign.payload());
    let error = (grafted.read)(&grafted.bytes).unwrap_err();
    assert_eq!(error.code(), "PARAMS_MISMATCH", "{error}");
}

#[test]
fn residues_at_or_above_their_prime_are_refused() {
    readers().iter().for_each(Reader::refuses_residues_out_of_range);
}

#[test]
fn parts_are_bound_to_their_index() {
    let World { params, secret } = world();
    let parts = params.key_parts();
    let galois = chosen()[1];
    // Two parts of one size: only the index tells them apart.
    let twin = parts.iter().find(|p| p.index != galois && p.bytes == parts[galois].bytes).unwrap().index;
    let bytes = secret.key_part(twin).unwrap();
    let error = verify_key_part(params, secret.key_id(), galois, &bytes).unwrap_err().to_string();
    assert!(error.contains(&format!("part {twin}")) && error.contains(&format!("part {galois}")), "{error}");
    for index in [0, parts.len() - 1, parts.len(), usize::MAX] {
        assert!(verify_key_part(params, secret.key_id(), index, &bytes).is_err(), "index {index}");
        let mut builder = ConventionalKeys::builder(params, secret.key_id());
        assert!(builder.add(index, &bytes).is_err(), "index {index}");
        assert_eq!(builder.missing().len(), parts.len(), "a refused part is still missing");
    }
    assert_eq!(secret.key_part(parts.len()).unwrap_err().code(), "INVALID_ARGUMENT");
}

/// The words of every key of a set.
fn words(params: &ConventionalParams, keys: &ConventionalKeys) -> Vec<Vec<u64>> {
    let galois = params.galois_elements().map(|(g, _)| keys.galois().get(g).unwrap().1);
    let all =
        [keys.relinearization()].into_iter().chain(galois).chain(keys.ephemeral().into_iter().flatten());
    all.map(|key| key.words().to_vec()).collect()
}

/// Keys built from parts that came in reverse order.
fn travelled(secret: &ConventionalSecretKey) -> ConventionalKeys {
    let params = secret.params();
    // The key of a file, to make parts with: an upload is resumed by a program started anew.
    let again = secret_key_from_bytes(params, &secret_key_to_bytes(secret)).unwrap();
    let mut builder = ConventionalKeys::builder(params, secret.key_id());
    for part in params.key_parts().iter().rev() {
        let bytes = again.key_part(part.index).unwrap();
        assert_eq!(bytes.len(), part.bytes, "the announced length of {}", part.label);
        assert_eq!(frame::peek(&bytes).unwrap().kind, ObjectKind::ConventionalKeyPart);
        verify_key_part(params, secret.key_id(), part.index, &bytes).unwrap();
        assert!(builder.missing().contains(&part.index));
        builder.add(part.index, &bytes).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn keys_that_travelled_are_those_that_did_not() {
    for name in ["toy-conventional10-sparse", "toy-conventional10-slots-first", "toy-conventional10-50bit"] {
        let params = params(name);
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([9; 32]));
        let [made, received] = [ConventionalKeys::generate(&secret).unwrap(), travelled(&secret)];
        assert!(words(&params, &made) == words(&params, &received), "{name}");
        assert_eq!(made.memory_bytes() as u64, params.expanded_key_bytes(), "{name}");
        let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Coefficients).unwrap();
        let values = [Complex { re: 0.5, im: -0.25 }];
        let input = secret.encrypt(&values, params.levels().input, &Seed::from_bytes([6; 32])).unwrap();
        let refreshed = [&made, &received].map(|keys| {
            let output = evaluator.bootstrap(&input, keys, &mut ()).unwrap();
            ciphertext_to_bytes(params.ckks(), &output).unwrap()
        });
        assert!(refreshed[0] == refreshed[1], "{name}");
        let back = ciphertext_from_bytes(params.ckks(), &refreshed[1]).unwrap();
        let slots = secret.decrypt(&back).unwrap();
        assert!((slots.reveal_to_key_owner()[0] - values[0]).abs() < 1e-4, "{name}");
    }
}

#[test]
fn a_set_without_an_ephemeral_secret_has_no_keys_of_one() {
    let mut spec = (conventional_preset("toy-conventional10-sparse").unwrap().spec)();
    spec.ephemeral = None;
    let params = ConventionalParams::new(&spec).unwrap();
    assert!(params.switching_keys().iter().all(|key| *key != SwitchingKeyId::ToEphemeral));
    let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([10; 32]));
    let [made, received] = [ConventionalKeys::generate(&secret).unwrap(), travelled(&secret)];
    assert!(received.ephemeral().is_none());
    assert!(words(&params, &made) == words(&params, &received));
}

#[test]
fn a_key_set_is_whole_or_nothing() {
    let World { params, secret } = world();
    let mut builder = ConventionalKeys::builder(params, secret.key_id());
    builder.add(1, &secret.key_part(1).unwrap()).unwrap();
    let error = builder.finish().map(drop).unwrap_err();
    assert_eq!(error.code(), "MISSING_KEY");
    let count = params.key_parts().len();
    assert!(error.to_string().contains(&format!("{} of {count}", count - 1)), "{error}");
    assert!(error.to_string().contains("relinearisation"), "{error}");
}

#[test]
fn parts_cover_every_sample_and_are_of_bearable_size() {
    for preset in ConventionalPreset::all() {
        let params = preset.params().unwrap();
        let parts = params.key_parts();
        let mut covered: Vec<(SwitchingKeyId, usize)> = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            assert_eq!(part.index, index);
            // A sample of the largest sets is above 8 MiB; none is above twice that.
            assert!(part.bytes <= 8 << 20 || (part.count == 1 && part.bytes <= 16 << 20), "{}", part.label);
            covered.extend((part.first..part.first + part.count).map(|sample| (part.key, sample)));
        }
        let rlwe = params.ckks().rlwe();
        let samples = |key: &SwitchingKeyId| match *key {
            SwitchingKeyId::Galois { level, .. } => rlwe.digit_count(level),
            SwitchingKeyId::Relinearization => rlwe.digit_count(params.levels().reduction),
            SwitchingKeyId::FromEphemeral => rlwe.digit_count(rlwe.max_level()),
            SwitchingKeyId::ToEphemeral => covered.iter().filter(|(k, _)| k == key).count().max(1),
        };
        let keys = params.switching_keys();
        let wanted: Vec<_> = keys.iter().flat_map(|key| (0..samples(key)).map(|s| (*key, s))).collect();
        assert!(covered == wanted, "{}: every sample once, in order", preset.name);
        let labels: BTreeSet<&str> = parts.iter().map(|part| part.label.as_str()).collect();
        assert_eq!(labels.len(), parts.len(), "{}: labels tell parts apart", preset.name);
        assert!(2 * params.key_bytes() < params.expanded_key_bytes(), "{}: seeded and packed", preset.name);
    }
}
