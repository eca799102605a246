//! The real binary as a server and as a command line.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use refloat::bootstrapping::ckks_ship::{ShipParams, ShipSecretKey};
use refloat::random::Seed;
use refloat::wire::{self, SeededSecret, SeededSet};
use refloat_server::id::hex;
use serde_json::{Value, json};

use super::{Client, DEADLINE};

/// A server in a process of its own.
pub struct Process {
    child: Child,
    pub client: Client,
}

impl Process {
    /// Starts `refloat serve` on a free port with its data in `folder`.
    pub fn start(folder: &Path) -> Self {
        Self::start_by(folder, "exec \"$@\"")
    }

    /// Starts the server by a shell script that gets the command as its arguments.
    pub fn start_by(folder: &Path, script: &str) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", script, "sh", env!("CARGO_BIN_EXE_refloat")])
            .args(["serve", "--listen", "127.0.0.1:0", "--allow-insecure", "--data"])
            .arg(folder)
            .env("REFLOAT__LOG__LEVEL", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        // In the format of the log.
        let stated: Value = serde_json::from_str(&line).unwrap_or_default();
        let url = stated["url"].as_str().or_else(|| line.trim().strip_prefix("refloat serves "));
        let address = url.and_then(|url| url.strip_prefix("http://")).unwrap_or_else(|| panic!("{line:?}"));
        Self { client: Client::new(address.parse().unwrap()), child }
    }

    /// The process identifier.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the server, as a power failure would.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Tells the server to stop. Returns whether it ended in order.
    pub fn terminate(self) -> bool {
        self.end_by("-TERM")
    }

    /// Tells the server to stop by a signal. Returns whether it ended in order.
    pub fn end_by(self, signal: &str) -> bool {
        self.signal(signal);
        self.end() == Some(0)
    }

    /// Sends a signal to the server.
    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits until the server has ended. Returns its exit code, if it was not killed.
    pub fn end(mut self) -> Option<i32> {
        ended(&mut self.child)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a process has ended. Returns its exit code, if it was not killed.
pub fn ended(child: &mut Child) -> Option<i32> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if began.elapsed() >= DEADLINE {
            child.kill().unwrap();
            panic!("process {} does not end", child.id());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs a command line. Words that begin with `@` name files in `folder`.
pub fn refloat(line: &str, folder: &Path) -> Output {
    let word = |word: &str| match word.split_once('@') {
        Some((name, file)) if name.is_empty() || name.ends_with('=') => {
            let mut word = OsString::from(name);
            word.push(folder.join(file));
            word
        }
        _ => word.into(),
    };
    Command::new(env!("CARGO_BIN_EXE_refloat")).args(line.split_whitespace().map(word)).output().unwrap()
}

/// The JSON document of a command line that succeeds.
#[track_caller]
pub fn ok(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&output.stdout)))
}

/// The words of a command line that fails with a code.
#[track_caller]
pub fn fails(output: &Output, code: &str) -> String {
    assert!(!output.status.success());
    let error: Value = serde_json::from_slice(&output.stderr)
        .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(error["error"]["code"], code, "{error}");
    error["error"]["detail"].as_str().unwrap().to_owned()
}

/// A key of a set, from a seed.
pub fn secret(set: &str, seed: u8) -> ShipSecretKey {
    let params: ShipParams = refloat::params::ship_preset(set).unwrap().params().unwrap();
    ShipSecretKey::generate(&params, &Seed::from_bytes([seed; 32]))
}

/// Text form of a key's identifier.
pub fn key_id(secret: &ShipSecretKey) -> String {
    hex(&secret.key_id())
}

/// Opens the keys of a set on a server.
pub fn open_keys<S: SeededSecret>(client: &Client, set: &str, secret: &S, parts: usize) -> super::Answer {
    let (fingerprint, key) = (hex(&secret.set().fingerprint()), hex(&secret.key_id()));
    let manifest = json!({ "params": set, "fingerprint": fingerprint, "keyId": key, "parts": parts });
    client.post_json("/v1/keys", &manifest)
}

/// Uploads the keys of a set and seals them. Returns their identifier.
pub fn upload_keys<S: SeededSecret>(client: &Client, set: &str, secret: &S, parts: usize) -> String {
    open_keys(client, set, secret, parts).expect(201);
    let key = hex(&secret.key_id());
    for index in 0..parts {
        client.put_chunk(&key, index, &secret.key_part(index).unwrap()).expect(204);
    }
    client.commit(&key).expect(200);
    key
}

/// Opens the key set on a server.
pub fn open(client: &Client, secret: &ShipSecretKey) -> super::Answer {
    open_keys(client, secret.params().name(), secret, secret.params().key_parts().len())
}

/// Uploads the whole key set and seals it.
pub fn upload(client: &Client, secret: &ShipSecretKey) {
    upload_keys(client, secret.params().name(), secret, secret.params().key_parts().len());
}

/// A server with the keys of `toy10` from a seed, and their identifier.
pub fn serving(folder: &Path, seed: u8) -> (Process, ShipSecretKey, String) {
    let (server, secret) = (Process::start(folder), secret("toy10", seed));
    upload(&server.client, &secret);
    let key = key_id(&secret);
    (server, secret, key)
}

/// A message that fills the slots.
pub fn message(secret: &ShipSecretKey) -> Vec<f64> {
    let slots = secret.params().slots();
    (0..slots).map(|slot| (slot as f64 * 0.37).sin()).collect()
}

/// An encryption in wire form.
pub fn encrypt(secret: &ShipSecretKey, values: &[f64], level: usize, seed: u8) -> Vec<u8> {
    let params = secret.params();
    let ciphertext = secret.encrypt_at(values, params.mode(), level, &Seed::from_bytes([seed; 32])).unwrap();
    wire::ciphertext_to_bytes(params.ckks(), &ciphertext).unwrap()
}

/// Decrypts a ciphertext in wire form. Returns its level and the bits of precision of the worst slot.
pub fn precision(secret: &ShipSecretKey, bytes: &[u8], expected: &[f64]) -> (usize, f64) {
    let params = secret.params();
    let ciphertext = wire::ciphertext_from_bytes(params.ckks(), bytes).unwrap();
    let private = secret.decrypt(&ciphertext, params.mode()).unwrap();
    let values = private.reveal_to_key_owner();
    let worst =
        values.iter().zip(expected).map(|(value, expected)| (value - expected).abs()).fold(0.0, f64::max);
    (ciphertext.level(), -worst.log2())
}
