//! Keys that do not fit the server's memory, at toy size: read from their files as a job uses them.

use super::support;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use refloat::bootstrapping::ckks_conventional::ConventionalSecretKey;
use refloat::params::conventional_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::Complex;
use refloat::wire;
use refloat_server::engines::Engines;
use refloat_server::id::hex;
use refloat_server::memory_plan::MemoryPlan;
use refloat_server::registry::{Memory, Registry, SetFilter};
use refloat_server::{Config, Server};
use serde_json::{Value, json};
use support::process::open_keys;
use support::{Answer, Client, flip};

const SET: &str = "toy-conventional10-sparse";

/// A server whose keys may take a limited number of bytes.
struct Small {
    runtime: tokio::runtime::Runtime,
    server: Server,
    client: Client,
}

impl Small {
    fn start(folder: &Path, budget: u64) -> Self {
        let mut config = Config::default();
        config.server.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        config.server.allow_insecure = true;
        config.compute.key_cache_bytes = budget;
        folder.clone_into(&mut config.storage.data);
        let wanted = SetFilter { only: Some(SET), memory: Memory::Keys(budget) };
        let engines = Engines::with(&Registry::default(), wanted).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start(config, engines)).unwrap();
        let client = Client::new(server.address());
        Self { runtime, server, client }
    }

    fn stop(self) {
        self.runtime.block_on(self.server.stop());
    }
}

fn secret() -> ConventionalSecretKey {
    let params = conventional_preset(SET).unwrap().params().unwrap();
    ConventionalSecretKey::generate(&params, &Seed::from_bytes([1; 32]))
}

fn open(client: &Client, secret: &ConventionalSecretKey) -> Answer {
    open_keys(client, SET, secret, secret.params().key_parts().len())
}

/// Uploads the pieces of the keys that the server lacks.
fn upload(client: &Client, secret: &ConventionalSecretKey) {
    let id = hex(&secret.key_id());
    let answer = open(client, secret);
    assert!([200, 201].contains(&answer.status), "{answer:?}");
    let missing: Vec<usize> = serde_json::from_value(answer.json()["missing"].clone()).unwrap();
    for index in missing {
        client.put_chunk(&id, index, &secret.key_part(index).unwrap()).expect(204);
    }
    client.commit(&id).expect(200);
}

fn job(client: &Client, secret: &ConventionalSecretKey) -> String {
    let values: Vec<Complex> = (0..64).map(|i| Complex::new(f64::from(i) / 64.0, 0.25)).collect();
    let ciphertext = secret.encrypt(&values, 0, &Seed::from_bytes([2; 32])).unwrap();
    let bytes = wire::ciphertext_to_bytes(secret.params().ckks(), &ciphertext).unwrap();
    let query = format!("key={}&mode=complex", hex(&secret.key_id()));
    client.submit_with(&query, &[], &bytes).job()
}

fn result(client: &Client, secret: &ConventionalSecretKey) -> Vec<u8> {
    let job = job(client, secret);
    client.wait_state(&job, "done");
    client.get(&format!("/v1/jobs/{job}/result")).expect(200).body
}

#[test]
fn keys_are_read_as_they_are_used_and_damaged_ones_are_named_and_uploaded_again() {
    let secret = secret();
    let folder = tempfile::tempdir().unwrap();
    let expected = {
        let server = Small::start(folder.path(), 1 << 30);
        upload(&server.client, &secret);
        let expected = result(&server.client, &secret);
        server.stop();
        expected
    };
    let least = MemoryPlan::keeping(secret.params(), 0).kept();
    let server = Small::start(folder.path(), least);
    let client = &server.client;
    for _ in 0..2 {
        assert!(result(client, &secret) == expected);
    }
    // The files are open by now, and read ahead only to the beginning of the next bootstrap: the relinearisation key is not in memory.
    let piece = folder.path().join(format!("keys/{}/0", hex(&secret.key_id())));
    for damage in [flip, remove] {
        damage(&piece);
        let problem: Value = {
            let job = job(client, &secret);
            client.wait_state(&job, "failed")["problem"].clone()
        };
        assert_eq!(
            (&problem["code"], &problem["piece"], &problem["missing"]),
            (&"KEY_PIECE_DAMAGED".into(), &json!(0), &json!([0])),
            "{problem}"
        );
        upload(client, &secret);
        assert!(result(client, &secret) == expected);
    }
    server.stop();
}

fn remove(path: &Path) {
    fs::remove_file(path).unwrap();
}

#[test]
fn less_memory_than_a_bootstrap_holds_is_refused_before_anything_is_sent() {
    let secret = secret();
    let folder = tempfile::tempdir().unwrap();
    let least = MemoryPlan::keeping(secret.params(), 0).kept();
    assert!(2 * least < MemoryPlan::keeping(secret.params(), u64::MAX).kept());
    let server = Small::start(folder.path(), least - 1);
    let detail = open(&server.client, &secret).problem(507, "MEMORY");
    assert!(detail.contains(&format!("takes {least} bytes")), "{detail}");
    server.stop();
}
