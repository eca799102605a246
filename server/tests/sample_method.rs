//! A method is a folder and a line in the registry: one that gives ciphertexts back as they are is listed, served and run, and
//! nothing else knows of it.

mod support;

use std::net::SocketAddr;
use std::process::{Command, ExitCode};

use refloat::Error;
use refloat::bootstrapping::method::{
    Catalogue, MethodInfo, ParamSet, Part, Preset, Promise, Scheme, SetInfo, SetSpec,
};
use refloat::security::SecurityPolicy;
use refloat::trace::Observer;
use refloat_server::engine::{JobSet, LoadError, LoadedKeys, ReadPart, Runner, Task};
use refloat_server::engines::Engines;
use refloat_server::id::Id;
use refloat_server::registry::{Memory, Registered, Registry, Wanted};
use refloat_server::{Config, Server};
use serde_json::json;
use support::Client;

// The method: its named sets, their description, keys of one piece, and what is done with them.

const METHOD: MethodInfo = MethodInfo { id: "sample", title: "The sample method", source: "none" };
const PIECE: &[u8] = b"the only piece";

struct Spec;

static SETS: Catalogue<Spec> = Catalogue {
    current: &[Preset {
        name: "sample8",
        title: "ciphertexts of 8 bytes",
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
        [8; 16]
    }
}

struct Params;

impl ParamSet for Params {
    type Spec = Spec;

    fn checked(_: &Spec) -> Result<Self, Error> {
        Ok(Self)
    }

    fn info(&self, preset: &Preset<Spec>) -> SetInfo {
        let parts = Part::list([("keys".to_owned(), PIECE.len())]);
        SetInfo { ciphertext_bytes: vec![8], ..SetInfo::of(preset, Scheme::Ckks, parts) }
    }
}

struct Sample(SetInfo);

impl JobSet for Sample {
    fn info(&self) -> &SetInfo {
        &self.0
    }

    fn operations(&self) -> &'static [&'static str] {
        &["copy"]
    }

    fn verify_part(&self, _: Id, _: usize, bytes: &[u8]) -> Result<(), Error> {
        if bytes == PIECE { Ok(()) } else { Err(Error::BadBytes("another piece".into())) }
    }

    fn check(&self, _: Id, _: &Task, input: &[u8]) -> Result<u64, Error> {
        if input.len() == 8 { Ok(8) } else { Err(Error::BadBytes("no ciphertext of 8 bytes".into())) }
    }

    fn load(&self, _: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError> {
        Ok(LoadedKeys::new(read(0)?.len() as u64, Keys))
    }
}

struct Keys;

impl Runner for Keys {
    fn run(&self, _: &Task, input: &[u8], _: &mut dyn Observer) -> Result<Vec<u8>, Error> {
        Ok(input.to_vec())
    }
}

fn sets(wanted: Wanted<'_>) -> Result<Vec<Box<dyn JobSet>>, Error> {
    let set = |preset: &Preset<Spec>| {
        let params: Params = preset.checked()?;
        Ok(Box::new(Sample(preset.describe(&params))) as Box<dyn JobSet>)
    };
    wanted.presets().map(set).collect()
}

/// The line.
fn registry() -> Registry {
    Registry::default().with(Registered { method: METHOD, sets, client: |_| Ok(None) })
}

#[test]
fn its_sets_are_served_and_its_jobs_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.server.listen = SocketAddr::from(([127, 0, 0, 1], 0));
    folder.path().clone_into(&mut config.storage.data);
    let engines = Engines::with(&registry(), Wanted { only: None, memory: Memory::Keys(1 << 30) }).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(Server::start(config, engines)).unwrap();
    let client = Client::new(server.address());
    let sets = client.get("/v1/params").json()["sets"].as_array().unwrap().clone();
    assert!(sets.iter().any(|set| set["name"] == "sample8"
        && set["method"] == "sample"
        && set["operations"] == json!(["copy"])));
    let key = "ab".repeat(16);
    let manifest = json!({ "params": "sample8", "fingerprint": "08".repeat(16), "keyId": key, "parts": 1 });
    client.post_json("/v1/keys", &manifest).expect(201);
    client.put_chunk(&key, 0, b"another piece!").problem(422, "BAD_BYTES");
    client.put_chunk(&key, 0, PIECE).expect(204);
    client.send("POST", &format!("/v1/keys/{key}/commit"), &[], b"").expect(200);
    client.submit(&key, b"in, out.").problem(400, "INVALID_ARGUMENT");
    let copy = format!("key={key}&op=copy");
    client.submit_with(&copy, &[], b"7 bytes").problem(422, "BAD_BYTES");
    let job =
        client.submit_with(&copy, &[], b"in, out.").expect(202).json()["id"].as_str().unwrap().to_owned();
    client.wait_state(&job, "done");
    assert_eq!(client.get(&format!("/v1/jobs/{job}/result")).expect(200).body, b"in, out.");
    runtime.block_on(server.stop());
}

/// Whether this process is to be the command line.
const AS_COMMAND: &str = "REFLOAT_TEST_AS_COMMAND";

#[test]
fn its_sets_are_listed_by_the_command_line() {
    if std::env::var_os(AS_COMMAND).is_some() {
        let arguments = ["refloat", "params"].map(Into::into);
        let code = refloat_server::cli::main_with(arguments, &registry());
        assert!(code == ExitCode::SUCCESS);
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "its_sets_are_listed_by_the_command_line", "--nocapture"]);
    let found = command.env(AS_COMMAND, "1").output().unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    assert!(found.status.success() && text.contains("ship13"), "{text}");
    assert!(text.contains("The sample method") && text.contains("sample8"), "{text}");
}
