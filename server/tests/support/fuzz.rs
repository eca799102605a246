//! Fuzz targets of the server: bodies of jobs, documents of clients, messages between machines and records on disk.

use std::sync::OnceLock;

use refloat::bootstrapping::ckks_conventional::{ConventionalParams, ConventionalSecretKey};
use refloat::circuits::netlist::arithmetic::{Form, adder};
use refloat::circuits::program::{Bootstraps, Builder};
use refloat::params::{cggi_preset, conventional_preset};
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiParams, CggiSecretKey, Encoding};
use refloat::schemes::ckks::Complex;
use refloat_server::dispatch::nats::Standing;
use refloat_server::dispatch::{Alive, Done, Outcome, Sign};
use refloat_server::gates::CircuitJob;
use refloat_server::look_ups::LookUpJob;
use refloat_server::programs::ProgramJob;
use refloat_server::service::views::NewKeys;
use refloat_server::store::jobs::JobRecord;
use refloat_server::store::keys::KeyRecord;
use refloat_server::work::Work;
use refloat_tests::fuzz::Target;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

/// The targets.
pub const TARGETS: [Target; 11] = [
    Target { name: "circuit_job", corpus: circuit_jobs, check: circuit_job, memory: MEMORY },
    Target { name: "look_up_job", corpus: look_up_jobs, check: look_up_job, memory: MEMORY },
    Target { name: "program_job", corpus: program_jobs, check: program_job, memory: MEMORY },
    Target { name: "new_keys", corpus: new_keys, check: document::<NewKeys>, memory: MEMORY },
    Target { name: "job_record", corpus: job_records, check: document::<JobRecord>, memory: MEMORY },
    Target { name: "key_record", corpus: key_records, check: document::<KeyRecord>, memory: MEMORY },
    Target { name: "work", corpus: works, check: document::<Work>, memory: MEMORY },
    Target { name: "alive", corpus: alives, check: document::<Alive>, memory: MEMORY },
    Target { name: "sign", corpus: signs, check: document::<Sign>, memory: MEMORY },
    Target { name: "done", corpus: ends, check: document::<Done>, memory: MEMORY },
    Target { name: "standing", corpus: standings, check: document::<Standing>, memory: MEMORY },
];

/// This program does not count what it allocates.
const MEMORY: (usize, usize) = (usize::MAX, 0);

fn cggi() -> &'static (CggiParams, CggiSecretKey) {
    static WORLD: OnceLock<(CggiParams, CggiSecretKey)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params: CggiParams = cggi_preset("toy-bool").unwrap().params().unwrap();
        let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        (params, secret)
    })
}

fn circuit_jobs() -> Vec<Vec<u8>> {
    let (params, secret) = cggi();
    let circuit = adder(2, Form::Ripple).unwrap();
    let bits = secret.encrypt_bits(&[true, false, true, true], &Seed::from_bytes([2; 32]));
    vec![CircuitJob::to_bytes(params, &circuit, &bits).unwrap()]
}

fn circuit_job(bytes: &[u8]) -> bool {
    let (params, _) = cggi();
    let Ok(job) = CircuitJob::from_bytes(params, bytes) else { return false };
    let written = CircuitJob::to_bytes(params, &job.netlist, &job.inputs).unwrap();
    let again = CircuitJob::from_bytes(params, &written).unwrap();
    assert!(CircuitJob::to_bytes(params, &again.netlist, &again.inputs).unwrap() == written);
    true
}

fn look_up_jobs() -> Vec<Vec<u8>> {
    let (params, secret) = cggi();
    let output = Encoding::Padded { messages: 8 };
    let inputs = secret.encrypt(output, &[7, 3], &Seed::from_bytes([3; 32])).unwrap();
    let table = (0..8).rev().collect();
    vec![LookUpJob { table, output, inputs }.to_bytes(params).unwrap()]
}

fn look_up_job(bytes: &[u8]) -> bool {
    let (params, _) = cggi();
    let Ok(job) = LookUpJob::from_bytes(params, bytes) else { return false };
    let written = job.to_bytes(params).unwrap();
    let again = LookUpJob::from_bytes(params, &written).unwrap();
    assert!(again.to_bytes(params).unwrap() == written);
    true
}

fn ckks() -> &'static (ConventionalParams, ConventionalSecretKey) {
    static WORLD: OnceLock<(ConventionalParams, ConventionalSecretKey)> = OnceLock::new();
    WORLD.get_or_init(|| {
        let params = conventional_preset("toy-conventional10-sparse").unwrap().params().unwrap();
        let secret = ConventionalSecretKey::generate(&params, &Seed::from_bytes([4; 32]));
        (params, secret)
    })
}

fn program_jobs() -> Vec<Vec<u8>> {
    let (params, secret) = ckks();
    let mut builder = Builder::new();
    let x = builder.input("x");
    let square = builder.multiply(x, x);
    builder.output("square", square);
    let (program, bootstraps) = (builder.finish().unwrap(), Bootstraps::WhereNeeded);
    let inputs = vec![secret.encrypt(&[Complex::ONE], 1, &Seed::from_bytes([5; 32])).unwrap()];
    vec![ProgramJob { program, bootstraps, inputs }.to_bytes(params.ckks()).unwrap()]
}

fn program_job(bytes: &[u8]) -> bool {
    let (params, _) = ckks();
    let Ok(job) = ProgramJob::from_bytes(params.ckks(), bytes) else { return false };
    let written = job.to_bytes(params.ckks()).unwrap();
    let again = ProgramJob::from_bytes(params.ckks(), &written).unwrap();
    assert!(again.to_bytes(params.ckks()).unwrap() == written);
    true
}

/// JSON of a type: what can be read can be written and read again, and is the same.
fn document<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> bool {
    let Ok(value) = serde_json::from_slice::<T>(bytes) else { return false };
    let written = serde_json::to_string(&value).unwrap();
    let again: T = serde_json::from_str(&written).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
    true
}

const ID: &str = "0f0102030405060708090a0b0c0d0ef0";
const DIGEST: &str = "7ea2c8b1d3f40596a7b8c9daebfc0d1e2f30415263748596a7b8c9daebfc0d1e";

fn new_keys() -> Vec<Vec<u8>> {
    let body = json!({ "params": "toy10", "fingerprint": ID, "keyId": ID, "parts": 3, "public": true });
    vec![body.to_string().into_bytes()]
}

fn job_records() -> Vec<Vec<u8>> {
    let record = json!({
        "id": ID, "sequence": 1, "key": ID, "params": "toy10", "state": "done", "cancel": false,
        "task": { "mode": "real", "operations": ["square", "bootstrap"], "rounds": 1 },
        "attempts": 1, "crashes": 0, "failures": 2, "trouble": "disk", "notBefore": 7, "created": 3, "finished": 4,
        "inputBytes": 5, "inputDigest": DIGEST, "mostResultBytes": 6, "result": [DIGEST, 6], "content": DIGEST,
    });
    vec![record.to_string().into_bytes()]
}

fn key_records() -> Vec<Vec<u8>> {
    let record = json!({
        "id": ID, "params": "toy10", "fingerprint": ID, "parts": 2, "state": "sealed", "touched": 1, "digest": DIGEST, "bytes": 6,
    });
    vec![record.to_string().into_bytes()]
}

fn works() -> Vec<Vec<u8>> {
    let job: JobRecord = serde_json::from_slice(&job_records()[0]).unwrap();
    let keys: KeyRecord = serde_json::from_slice(&key_records()[0]).unwrap();
    vec![serde_json::to_vec(&Work::new(&job, &keys, vec![(0, [3; 32], 3), (1, [4; 32], 3)])).unwrap()]
}

fn alives() -> Vec<Vec<u8>> {
    let body = json!({
        "worker": "w1", "slots": 2, "threads": 4, "keyBytes": 1000, "sets": { ID: 10 }, "keys": [ID], "jobs": [ID], "hung": 0,
        "storageFails": false,
    });
    vec![body.to_string().into_bytes()]
}

fn signs() -> Vec<Vec<u8>> {
    let news = [
        json!({ "at": { "stage": "raise", "parts": [1, 5] } }),
        json!({ "event": { "name": "stage", "data": "{\"stage\":\"raise\"}", "urgency": "later" } }),
        json!({ "stage": { "stage": "raise", "seconds": 0.25 } }),
        json!({ "keys": { "loaded": 1.5 } }),
        json!("panicked"),
    ];
    let sign = |news| json!({ "job": ID, "attempt": 2, "news": news }).to_string().into_bytes();
    news.into_iter().map(sign).chain([json!({ "job": ID, "attempt": 1 }).to_string().into_bytes()]).collect()
}

fn ends() -> Vec<Vec<u8>> {
    let outcomes = [
        Outcome::Loaded,
        Outcome::Trouble("the disk is full".to_owned()),
        Outcome::DamagedKeys(3),
        Outcome::Crashed,
    ];
    let done = |outcome| serde_json::to_vec(&Done { job: ID.parse().unwrap(), attempt: 2, outcome }).unwrap();
    outcomes.into_iter().map(done).collect()
}

fn standings() -> Vec<Vec<u8>> {
    let body = json!({ "front": "f1", "version": "0.1.0", "queued": 3, "out": 1, "sets": [ID] });
    vec![body.to_string().into_bytes()]
}
