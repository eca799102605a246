//! `refloat fetch`, and what a command says that leaves a job on a server.

use super::support;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use refloat::wire::frame;
use refloat_server::id::hex;
use serde_json::{Value, json};
use support::foe::{Foe, Got, JOB, friendly, job, problem, say, say_json};
use support::process::{encrypt, fails, message, ok, refloat, serving};
use support::{TOKEN, until};

/// A server with one job, which gives this document, these events and this result.
fn with_job(document: Value, end: Value, result: Vec<u8>) -> Foe {
    Foe::start(move |got: &Got, out: &mut dyn Write| match got.path.as_str() {
        path if path.ends_with("/events") => {
            let events = format!("id: 1\nevent: end\ndata: {end}\n\n");
            say(out, 200, "content-type: text/event-stream\r\n", events.as_bytes())
        }
        path if path.ends_with("/result") => say(out, 200, "", &result),
        path if path == format!("/v1/jobs/{JOB}") => say_json(out, 200, &document),
        _ => friendly(got, out),
    })
}

/// A job of operation `op` with set `params`, under the key of the ciphertext `bytes`.
fn of(op: &str, params: &str, bytes: &[u8]) -> Value {
    let mut document = job();
    document["op"] = op.into();
    document["params"] = params.into();
    document["key"] = hex(&frame::peek(bytes).unwrap().key_id).into();
    document
}

/// Keys of `toy10` and a ciphertext `a.ct`.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.json"), "[0.5]").unwrap();
    let run = |line: &str| ok(&refloat(line, folder.path()));
    run("--json keygen --preset toy10 --allow-insecure --secret-only --out @keys");
    run("--json encrypt --key @keys --in @in.json --out @a.ct");
    folder
}

fn fetch(foe: &Foe, folder: &Path, more: &str) -> Output {
    refloat(&format!("--json fetch {JOB} --keys @keys --server {} {more}", foe.url), folder)
}

#[test]
fn a_job_that_was_left_on_a_server_is_waited_for_and_fetched() {
    let folder = tempfile::tempdir().unwrap();
    let (server, secret, key) = serving(&folder.path().join("data"), 7);
    let at = |name: &str| folder.path().join(name);
    let job = server.client.submit(&key, &encrypt(&secret, &message(&secret), 1, 3)).job();
    let url = server.client.url("");
    let line = format!("--json fetch {job} --server {url} --out @fresh.ct");
    let run = |line: &str| refloat(line, folder.path());
    let fetched = ok(&run(&format!("{line} --token {TOKEN}")));
    assert_eq!((&fetched["job"], &fetched["op"]), (&json!(job), &json!("bootstrap")));
    assert_eq!((&fetched["params"], &fetched["outputs"][0]["level"]), (&json!("toy10"), &json!(2)));
    assert_eq!(fetched["stages"].as_array().unwrap().len(), 6);
    let result = server.client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
    assert_eq!(fs::read(at("fresh.ct")).unwrap(), result);
    // Again, over the file that is there, but over no key.
    ok(&run(&format!("{line} --token {TOKEN}")));
    ok(&run("--json keygen --preset toy10 --allow-insecure --secret-only --out @keys"));
    let over = line.replace("@fresh.ct", "@keys/secret.key");
    assert!(fails(&run(&over), "INVALID_ARGUMENT").contains("not overwritten"));
    // Nobody else gets it, and no other job is given.
    assert!(fails(&run(&line), "TOKEN_MISSING").contains("--token"));
    fails(&run(&format!("{line} --keys @keys")), "TOKEN_WRONG");
    let unknown = run(&format!("{line} --token {TOKEN}").replace(&job, JOB));
    assert!(fails(&unknown, "NOT_FOUND").contains(JOB));
    assert!(!run(&line.replace(&job, "job")).status.success());
    assert!(server.terminate());
}

#[test]
fn jobs_that_have_no_result_say_why() {
    let folder = folder();
    let a = fs::read(folder.path().join("a.ct")).unwrap();
    let ended = |end: Value| with_job(of("bootstrap", "toy10", &a), end, a.clone());
    let cancelled =
        fails(&fetch(&ended(json!({ "state": "cancelled" })), folder.path(), "--out @b.ct"), "ABORTED");
    assert!(cancelled.contains(JOB) && cancelled.contains("cancelled"), "{cancelled}");
    let why = problem(500, "INTERNAL", "the evaluation stopped unexpectedly");
    let failed = ended(json!({ "state": "failed", "problem": why }));
    let failed = fails(&fetch(&failed, folder.path(), "--out @b.ct"), "INTERNAL");
    assert!(failed.contains(JOB) && failed.contains("stopped unexpectedly"), "{failed}");
    let done = json!({ "state": "done", "seconds": 1 });
    let strange = with_job(of("bootstrap", "toy99", &a), done.clone(), a.clone());
    assert!(fails(&fetch(&strange, folder.path(), "--out @b.ct"), "INVALID_ARGUMENT").contains("toy99"));
    // A result under another key than the job's, or a document of another job.
    let other = with_job(job(), done.clone(), a.clone());
    assert!(fails(&fetch(&other, folder.path(), "--out @b.ct"), "NETWORK").contains("under key"));
    let mut wrong = of("bootstrap", "toy10", &a);
    wrong["id"] = "f".repeat(32).into();
    let wrong = with_job(wrong, done, a);
    assert!(fails(&fetch(&wrong, folder.path(), "--out @b.ct"), "NETWORK").contains("answers with job ffff"));
    assert!(!folder.path().join("b.ct").exists());
}

#[test]
fn several_results_go_to_as_many_files() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| ok(&refloat(line, folder.path()));
    run("--json encrypt --key @keys --in @in.json --out @b.ct --exhausted");
    let (a, b) = (fs::read(at("a.ct")).unwrap(), fs::read(at("b.ct")).unwrap());
    let done = json!({ "state": "done", "seconds": 1 });
    let program = with_job(of("program", "toy10", &a), done.clone(), [&a[..], &b].concat());
    let few = fails(&fetch(&program, folder.path(), "--out @x.ct"), "INVALID_ARGUMENT");
    assert!(few.contains("2 results") && few.contains("1 file") && !at("x.ct").exists(), "{few}");
    let one = fails(&fetch(&program, folder.path(), "--out @x.ct --out @x.ct"), "INVALID_ARGUMENT");
    assert!(one.contains("two outputs"), "{one}");
    let fetched = ok(&fetch(&program, folder.path(), "--out @x.ct --out @y.ct"));
    assert_eq!(fetched["outputs"].as_array().unwrap().len(), 2);
    assert_eq!((fs::read(at("x.ct")).unwrap(), fs::read(at("y.ct")).unwrap()), (a.clone(), b));
    // Any other job on numbers has one result, and no more than that is read.
    let two = with_job(of("bootstrap", "toy10", &a), done.clone(), vec![0; 10 * a.len()]);
    assert!(fails(&fetch(&two, folder.path(), "--out @z.ct"), "NETWORK").contains("are the most"));
    // A circuit has one list as its result.
    run("--json keygen --preset toy-bool --allow-insecure --secret-only --out @gates");
    run("--json encrypt --key @gates --bits 0110 --out @bits.ct");
    let bits = fs::read(at("bits.ct")).unwrap();
    let circuit = with_job(of("circuit", "toy-bool", &bits), done.clone(), bits.clone());
    ok(&fetch(&circuit, folder.path(), "--out @list.ct"));
    assert_eq!(fs::read(at("list.ct")).unwrap(), bits);
    let mixed = with_job(of("circuit", "toy-bool", &bits), done, a);
    assert!(fails(&fetch(&mixed, folder.path(), "--out @z.ct"), "NETWORK").contains("toy-bool"));
    assert!(!at("z.ct").exists());
}

#[test]
fn who_loses_the_server_is_told_how_to_get_the_result() {
    let folder = folder();
    let lost = Foe::start(|got, out| {
        if !got.path.ends_with("/result") {
            return friendly(got, out);
        }
        // The server dies in the middle of the result.
        out.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{").is_ok()
    });
    let line = format!(
        "--json bootstrap --keys @keys --in @a.ct --out @b.ct --header X-Gate:open --timeout 1 --server {}",
        lost.url
    );
    let detail = fails(&refloat(&line, folder.path()), "NETWORK");
    let keys = folder.path().join("keys");
    let command = format!("refloat fetch {JOB} --server {} --keys {}", lost.url, keys.display());
    assert!(detail.contains(&command) && detail.contains("--header 'x-gate: VALUE'"), "{detail}");
    // A secret is not repeated.
    let secret = "e".repeat(64);
    let detail = fails(&refloat(&format!("{line} --token {secret}"), folder.path()), "NETWORK");
    assert!(detail.contains("--token HEX") && !detail.contains(&secret), "{detail}");
    // A job that is gone is not offered for fetching either.
    let gone = Foe::start(friendly);
    let line = format!("--json bootstrap --keys @keys --in @a.ct --out @b.ct --server {}", gone.url);
    assert_eq!(fails(&refloat(&line, folder.path()), "NOT_FOUND"), "nothing");
}

#[cfg(unix)]
#[test]
fn who_is_interrupted_is_told_how_to_get_the_result() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let silent = Foe::start(|got, out| {
        if !got.path.ends_with("/events") {
            return friendly(got, out);
        }
        out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").unwrap();
        false
    });
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        silent.asked.lock().unwrap().clear();
        let child = Command::new(env!("CARGO_BIN_EXE_refloat"))
            .args(["--json", "bootstrap", "--server", &silent.url, "--keys"])
            .args([at("keys"), "--in".into(), at("a.ct"), "--out".into(), at("b.ct")])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        until("it waits for the job", || silent.asked().iter().any(|got| got.path.ends_with("/events")));
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        let detail = fails(&output, "STOPPED_WAITING");
        assert!(detail.contains(&format!("refloat fetch {JOB} --server {}", silent.url)), "{detail}");
    }
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("partial")), "{left:?}");
}
