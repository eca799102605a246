//! A new scheme has jobs of its own. In this one, ciphertexts are integers under a pad, and jobs add them. It is listed, makes keys and
//! is served, while no other code knows of it. `tests/rust/circuits/leveled_integers.rs` shows how circuits of this library run on a
//! new scheme.

use super::support;

use refloat::Error;
use refloat::bootstrapping::method::{
    Catalogue, MethodInfo, ParamSet, Part, Preset, Promise, Scheme, SetInfo, SetSpec,
};
use refloat::random::Seed;
use refloat::security::SecurityPolicy;
use refloat::trace::Observer;
use refloat::wire::{self, SeededSecret, SeededSet};
use refloat_server::clients::{KeyOwnerSet, SetQuery};
use refloat_server::engine::{Described, JobSet, LoadError, LoadedKeys, ReadPart, Runner, Task};
use refloat_server::id::Id;
use refloat_server::registry::{Registered, Registry, SetFilter, Sets};
use serde_json::json;
use support::process::open_keys;
use support::registered::{self, is_command};

// The scheme: integers modulo 2^64 plus a pad.

struct Secret {
    seed: Seed,
    key_id: [u8; 16],
    pad: u64,
}

impl Secret {
    fn encrypt(&self, message: u64) -> [u8; 8] {
        message.wrapping_add(self.pad).to_le_bytes()
    }

    fn decrypt_sum_of(&self, terms: u64, bytes: &[u8]) -> u64 {
        u64::from_le_bytes(bytes.try_into().unwrap()).wrapping_sub(self.pad.wrapping_mul(terms))
    }
}

impl SeededSet for Params {
    type Secret = Secret;

    fn fingerprint(&self) -> [u8; 16] {
        FINGERPRINT
    }

    fn secret(&self, seed: &Seed) -> Secret {
        let [mut key_id, mut pad] = [[0; 16], [0; 16]];
        key_id.copy_from_slice(&seed.derive("key id", &[]).as_bytes()[..16]);
        pad.copy_from_slice(&seed.derive("pad", &[]).as_bytes()[..16]);
        Secret { seed: seed.clone(), key_id, pad: u128::from_le_bytes(pad) as u64 }
    }
}

impl SeededSecret for Secret {
    type Set = Params;

    fn set(&self) -> &Params {
        &Params
    }

    fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    fn secret_seed(&self) -> &Seed {
        &self.seed
    }

    fn key_part(&self, _: usize) -> Result<Vec<u8>, Error> {
        Ok(self.key_id.to_vec())
    }
}

// Its sets, their description, and their jobs.

const METHOD: MethodInfo = MethodInfo { id: "pads", title: "The sample scheme", source: "none" };
const FINGERPRINT: [u8; 16] = [8; 16];

struct Spec;

static SETS: Catalogue<Spec> = Catalogue {
    current: &[Preset {
        name: "pad8",
        title: "integers of 8 bytes",
        policy: SecurityPolicy::Strict128,
        promised: (),
        source: "none",
        spec: || Spec,
    }],
    retired: &[],
};

impl SetSpec for Spec {
    const METHOD: MethodInfo = METHOD;
    const WHAT: &'static str = "sample set";
    type Promised = ();

    fn catalogue() -> &'static Catalogue<Self> {
        &SETS
    }

    fn promise(&self, (): &()) -> Promise {
        Promise::Exact { log_failure: -1000.0 }
    }

    fn fingerprint(&self) -> [u8; 16] {
        FINGERPRINT
    }
}

struct Params;

impl ParamSet for Params {
    type Spec = Spec;

    fn checked(_: &Spec) -> Result<Self, Error> {
        Ok(Self)
    }

    fn info(&self, preset: &Preset<Spec>) -> SetInfo {
        let parts = Part::list([("keys".to_owned(), 16)]);
        SetInfo { ciphertext_bytes: vec![8], ..SetInfo::of(preset, Scheme::Cggi, parts) }
    }
}

struct Pads(SetInfo);

impl JobSet for Pads {
    fn info(&self) -> &SetInfo {
        &self.0
    }

    fn operations(&self) -> &'static [&'static str] {
        &["add"]
    }

    fn working_bytes(&self) -> u64 {
        16
    }

    fn largest_input(&self) -> usize {
        16
    }

    fn verify_part(&self, key: Id, _: usize, bytes: &[u8]) -> Result<(), Error> {
        if bytes == key.0 { Ok(()) } else { Err(Error::BadBytes("another piece".into())) }
    }

    fn check(&self, _: Id, _: &Task, input: &[u8]) -> Result<u64, Error> {
        if input.len() == 16 { Ok(8) } else { Err(Error::BadBytes("no two ciphertexts".into())) }
    }

    fn load(&self, _: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError> {
        Ok(LoadedKeys::new(read(0)?.len() as u64, Keys))
    }
}

struct Keys;

impl Runner for Keys {
    fn run(&self, _: &Task, input: &[u8], _: &mut dyn Observer) -> Result<Vec<u8>, Error> {
        let (words, _) = input.as_chunks::<8>();
        let sum = words.iter().fold(0u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)));
        Ok(sum.to_le_bytes().to_vec())
    }
}

fn sets(wanted: SetFilter<'_>) -> Result<Sets, Error> {
    let set = |preset: &Preset<Spec>| {
        let params: Params = preset.checked()?;
        Ok(Box::new(Pads(preset.describe(&params))) as Box<dyn JobSet>)
    };
    wanted.presets().map(set).collect()
}

fn client(which: SetQuery<'_>) -> Result<Option<KeyOwnerSet>, Error> {
    let Some(preset) = which.preset() else { return Ok(None) };
    Ok(Some(KeyOwnerSet::Other(Box::new(Described::<Params>::of(preset)?))))
}

/// The line in the registry.
fn registry() -> Registry {
    Registry::default().with(Registered { method: METHOD, sets, client })
}

#[test]
fn keys_are_made_and_jobs_of_its_operation_run() {
    if is_command(&registry()) {
        return;
    }
    let refloat = |arguments: &[&str]| {
        registered::refloat("sample_scheme::keys_are_made_and_jobs_of_its_operation_run", arguments)
    };
    let listed = refloat(&["params"]);
    assert!(listed.contains("The sample scheme") && listed.contains("pad8"), "{listed}");
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    refloat(&["keygen", "--preset", "pad8", "--out", keys.to_str().unwrap()]);
    let params: Params = Preset::<Spec>::named("pad8").unwrap().checked().unwrap();
    let secret = std::fs::read(keys.join("secret.key")).unwrap();
    let secret = wire::secret_key_from_bytes(&params, &secret).unwrap();

    let data = tempfile::tempdir().unwrap();
    let server = registered::Registered::start(data.path(), &registry());
    let client = &server.client;
    let sets = client.get("/v1/params").json()["sets"].as_array().unwrap().clone();
    assert!(sets.iter().any(|set| set["name"] == "pad8" && set["operations"] == json!(["add"])));
    let key = Id(secret.key_id()).to_string();
    open_keys(client, "pad8", &secret, 1).expect(201);
    client.put_chunk(&key, 0, &[0; 16]).problem(422, "BAD_BYTES");
    client.put_chunk(&key, 0, &secret.key_part(0).unwrap()).expect(204);
    client.commit(&key).expect(200);
    let input = [secret.encrypt(40), secret.encrypt(2)].concat();
    client.submit(&key, &input).problem(400, "INVALID_ARGUMENT");
    let add = format!("key={key}&op=add");
    client.submit_with(&add, &[], &input[1..]).problem(422, "BAD_BYTES");
    let job = client.submit_with(&add, &[], &input).job();
    client.wait_state(&job, "done");
    let sum = client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
    assert_eq!(secret.decrypt_sum_of(2, &sum), 42);
    server.stop();
}
