//! The command line and a malicious server: memory and time are bounded, text from the server stays text, and what is meant for one
//! server is sent to no other.

use super::support;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rcgen::{BasicConstraints, CertificateParams, CertifiedKey, IsCa, KeyPair, generate_simple_self_signed};
use serde_json::{Value, json};
use support::foe::{Foe, JOB, friendly, job, keys, problem, say, say_json};
use support::process::{fails, ok, refloat};

/// Sends for as long as the other side listens.
fn for_ever(out: &mut dyn Write, head: &str, pattern: &str) -> bool {
    let chunk = pattern.repeat((1 << 16) / pattern.len() + 1);
    let mut alive = out.write_all(head.as_bytes()).is_ok();
    // A client that has taken 4 GB would take anything.
    for _ in 0..(1 << 16) {
        alive = alive && out.write_all(chunk.as_bytes()).is_ok();
    }
    alive
}

/// Keys and an exhausted ciphertext, and the ciphertext that a bootstrap makes of it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path().join("in.json"), "[0.5]").unwrap();
        ok(&folder.run("--json keygen --preset toy10 --allow-insecure --secret-only --out @keys"));
        ok(&folder.run("--json encrypt --key @keys --in @in.json --out @a.ct --exhausted"));
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, line: &str) -> Output {
        refloat(line, self.path())
    }

    fn bootstrap(&self, foe: &Foe, more: &str) -> Output {
        self.run(&format!(
            "--json bootstrap --keys @keys --in @a.ct --out @b.ct --timeout 1 --server {} {more}",
            foe.url
        ))
    }

    /// Like `bootstrap`; also returns the most memory that it took, in bytes.
    #[cfg(target_os = "linux")]
    fn bootstrap_measured(&self, foe: &Foe) -> (Output, u64) {
        let at = |name: &str| self.path().join(name);
        let child = Command::new(env!("CARGO_BIN_EXE_refloat"))
            .args(["--json", "bootstrap", "--timeout", "1", "--server", &foe.url, "--keys"])
            .args([at("keys"), "--in".into(), at("a.ct"), "--out".into(), at("b.ct")])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let status = format!("/proc/{}/status", child.id());
        let watch = std::thread::spawn(move || {
            let mut most = 0;
            // The line disappears once the process has ended.
            while let Some(now) = fs::read_to_string(&status).ok().and_then(|text| {
                let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
                line.split_whitespace().nth(1)?.parse::<u64>().ok()
            }) {
                most = most.max(now << 10);
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            most
        });
        (child.wait_with_output().unwrap(), watch.join().unwrap())
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_never_ends_takes_little_memory() {
    let folder = Folder::new();
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let plain = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    let padding = "x".repeat(2000);
    let stage = format!("id: 1\nevent: stage\ndata: {{\"{padding}\":0}}\n\n");
    let comment = format!(":{padding}\n");
    for (path, head, pattern) in [
        ("/v1/keys", plain, "[1,"),
        ("/v1/keys", "HTTP/1.1 200 OK\r\n", "x: yyyyyyyyyyyyyyyyyyy\r\n"),
        ("/v1/keys", "HTTP/1.1 200 OK\r\nx: ", "y"),
        ("/v1/keys", "HTTP/1.1 400 X\r\n\r\n", " "),
        ("/events", events, "x"),
        ("/events", events, "data: x\n"),
        ("/events", events, &stage),
        ("/events", events, &comment),
        ("/result", plain, "x"),
    ] {
        let endless = pattern.to_owned();
        let foe = Foe::start(move |got, out| {
            if got.path.ends_with(path) { for_ever(out, head, &endless) } else { friendly(got, out) }
        });
        let (output, memory) = folder.bootstrap_measured(&foe);
        fails(&output, if path == "/events" { "BAD_BYTES" } else { "NETWORK" });
        assert!(memory < 200 << 20, "{path} {pattern:?}: {} MB", memory >> 20);
        assert!(!folder.path().join("b.ct").exists());
    }
}

#[test]
fn silence_and_long_answers_are_given_up() {
    let folder = Folder::new();
    let silent = Foe::start(|_, _| false);
    assert!(fails(&folder.bootstrap(&silent, ""), "NETWORK").contains("--timeout"));
    let begun = Foe::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{").unwrap();
        out.flush().unwrap();
        false
    });
    assert!(fails(&folder.bootstrap(&begun, ""), "NETWORK").contains("broke off after 1 bytes"));
    // A length that is too large is refused when it is stated, before any byte is read.
    let boast = Foe::start(|got, out| {
        if got.path.ends_with("/result") {
            out.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n").unwrap();
            return false;
        }
        friendly(got, out)
    });
    assert!(fails(&folder.bootstrap(&boast, ""), "NETWORK").contains("1000000000000 bytes"));
    let page = Foe::start(|got, out| {
        if got.path.ends_with("/events") {
            say(out, 200, "content-type: text/html\r\n", b"<p>")
        } else {
            friendly(got, out)
        }
    });
    assert!(fails(&folder.bootstrap(&page, ""), "BAD_BYTES").contains("text/html"));
}

#[test]
fn a_server_that_is_being_restarted_is_waited_for() {
    let folder = Folder::new();
    for status in [429, 502, 503, 504] {
        let times = AtomicUsize::new(0);
        let foe = Foe::start(move |got, out| match times.fetch_add(1, Ordering::Relaxed) {
            // The page of a proxy, and no document.
            0 => say(out, status, "content-type: text/html\r\nretry-after: 0\r\n", b"<h1>Bad Gateway</h1>"),
            _ => friendly(got, out),
        });
        fails(&folder.bootstrap(&foe, ""), "NOT_FOUND");
        let paths: Vec<String> = foe.asked().into_iter().take(2).map(|got| got.path).collect();
        assert_eq!(paths, ["/v1/keys", "/v1/keys"], "{status}");
    }
    // A server that says nothing the first time.
    let times = AtomicUsize::new(0);
    let foe = Foe::start(move |got, out| times.fetch_add(1, Ordering::Relaxed) > 0 && friendly(got, out));
    fails(&folder.bootstrap(&foe, ""), "NOT_FOUND");
}

#[test]
fn an_upload_outlasts_a_restart_and_keeps_what_has_arrived() {
    let folder = Folder::new();
    let is_part = |path: &str| path.contains("/chunks/");
    let down = |out: &mut dyn Write| {
        say(out, 502, "content-type: text/html\r\nretry-after: 0\r\n", b"<h1>Bad Gateway</h1>")
    };
    // The server has answered, and then cannot be reached for more tries than it takes to give up one that never answered.
    let times = AtomicUsize::new(0);
    let foe = Foe::start(move |got, out| match got.path.as_str() {
        "/v1/keys" => say_json(out, 200, &keys("open", &[0])),
        path if is_part(path) && times.fetch_add(1, Ordering::Relaxed) < 7 => down(out),
        path if is_part(path) => say(out, 204, "", b""),
        _ => friendly(got, out),
    });
    folder.bootstrap(&foe, "");
    let sent = foe.asked().iter().filter(|got| is_part(&got.path)).count();
    assert_eq!(sent, 8);
    assert!(!is_part(&foe.asked().last().unwrap().path), "it went on");
    let dead = Foe::start(move |_, out| down(out));
    let detail = fails(&folder.bootstrap(&dead, ""), "NETWORK");
    assert!(detail.contains("that is a proxy") && detail.ends_with("check that the server runs"), "{detail}");
    assert_eq!(dead.asked().len(), 6);
    // Another failure on the way.
    let moved = Foe::start(move |got, out| match got.path.as_str() {
        "/v1/keys" => say_json(out, 200, &keys("open", &[0])),
        _ => say(out, 307, "location: http://127.0.0.1:1/\r\n", b""),
    });
    let detail = fails(&folder.bootstrap(&moved, ""), "NETWORK");
    let kept = "are kept; once the connection works, the same command sends the others";
    assert!(detail.ends_with(kept), "{detail}");
}

#[test]
fn words_of_the_server_do_not_command_the_terminal() {
    let folder = Folder::new();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}no\r\nerror (OK): all is well";
    let foe = Foe::start(move |_, out| say_json(out, 400, &problem(400, "BAD\u{1b}[31m", &evil.repeat(100))));
    for json in ["--json ", ""] {
        let line = format!("{json}bootstrap --keys @keys --in @a.ct --out @b.ct --server {}", foe.url);
        let output = folder.run(&line);
        assert!(!output.status.success());
        let shown = String::from_utf8(output.stderr).unwrap();
        assert!(shown.trim_end().chars().all(|c| !c.is_control() && c != '\u{202e}'), "{shown:?}");
        assert!(shown.contains("PROBLEM") && shown.contains("\\u001b") && shown.len() < 10_000, "{shown}");
    }
    // Names of stages are text too.
    let foe = Foe::start(move |got, out| {
        if got.path.ends_with("/events") {
            let stage = json!({ "kind": "exit", "stage": evil, "atMs": 1.0 });
            let end = json!({ "state": "failed", "problem": problem(500, "INTERNAL", evil) });
            let events = format!("id: 1\nevent: stage\ndata: {stage}\n\nid: 2\nevent: end\ndata: {end}\n\n");
            return say(out, 200, "content-type: text/event-stream\r\n", events.as_bytes());
        }
        friendly(got, out)
    });
    let shown = fails(&folder.bootstrap(&foe, ""), "INTERNAL");
    assert!(!shown.contains('\n'), "{shown:?}");
}

#[test]
fn what_is_for_one_server_goes_to_no_other() {
    let folder = Folder::new();
    let other = Foe::start(friendly);
    let url = other.url.clone();
    let foe = Foe::start(move |_, out| say(out, 307, &format!("location: {url}/v1/keys\r\n"), b""));
    let detail = fails(&folder.bootstrap(&foe, ""), "NETWORK");
    assert!(detail.contains(&other.url) && detail.contains("--server"), "{detail}");
    assert!(other.asked().is_empty());
    // Each server gets a token of its own, the same each time, and then only what the user gave for it.
    let token = |foe: &Foe| {
        fails(&folder.bootstrap(foe, ""), "NOT_FOUND");
        foe.asked().last().unwrap().header("authorization").to_owned()
    };
    let refusing = || Foe::start(|_, out| say_json(out, 404, &problem(404, "NOT_FOUND", "nothing")));
    let (one, two) = (refusing(), refusing());
    let first = token(&one);
    assert!(first.len() == 71 && first.starts_with("Bearer "), "{first}");
    assert_eq!(first, token(&one));
    assert_ne!(first, token(&two));
    // A user whose server moves to another address can print the token of the old one.
    let printed = ok(&folder.run(&format!("--json token --keys @keys --server {}/", one.url)));
    assert_eq!((&printed["server"], first[7..].into()), (&json!(one.url), printed["token"].clone()));
    let wrong = Foe::start(|_, out| say_json(out, 403, &problem(403, "TOKEN_WRONG", "no")));
    assert!(fails(&folder.bootstrap(&wrong, ""), "TOKEN_WRONG").contains("refloat token"));
    let given = "f".repeat(64);
    let more = format!("--token {given} --api-key word --header X-Gate:open");
    fails(&folder.bootstrap(&one, &more), "NOT_FOUND");
    let asked = one.asked().pop().unwrap();
    assert_eq!(asked.header("authorization"), format!("Bearer {given}"));
    assert_eq!((asked.header("x-api-key"), asked.header("x-gate")), ("word", "open"));
    let bad = fails(&folder.bootstrap(&one, "--token F00"), "INVALID_ARGUMENT");
    assert!(bad.contains("64 hexadecimal digits") && !bad.contains("F00"), "{bad}");
    assert!(!folder.bootstrap(&one, "--header Authorization:x").status.success());
}

#[test]
fn damage_on_the_way_is_found_and_lost_keys_are_sent_again() {
    let folder = Folder::new();
    ok(&folder.run("--json keygen --resume --out @keys"));
    let fresh = ok(&folder.run("--json bootstrap --keys @keys --in @a.ct --out @good.ct"));
    assert_eq!(fresh["after"]["level"], 2);
    let good = fs::read(folder.path().join("good.ct")).unwrap();
    let digest = blake3::hash(&good).to_hex().to_string();
    // The result is damaged twice, and then whole.
    let (times, result, stated) = (AtomicUsize::new(0), good.clone(), digest.clone());
    let foe = Foe::start(move |got, out| {
        if got.path.ends_with("/result") {
            let mut bytes = result.clone();
            bytes[1000] ^= u8::from(times.fetch_add(1, Ordering::Relaxed) < 2);
            return say(out, 200, &format!("refloat-digest: {stated}\r\n"), &bytes);
        }
        friendly(got, out)
    });
    ok(&folder.bootstrap(&foe, ""));
    assert_eq!(fs::read(folder.path().join("b.ct")).unwrap(), good);
    let submitted = foe.asked().into_iter().find(|got| got.path.starts_with("/v1/jobs?")).unwrap();
    assert_eq!(submitted.header("refloat-digest"), blake3::hash(&submitted.body).to_hex().as_str());
    let foe = Foe::start(|got, out| {
        if got.path.ends_with("/result") {
            return say(out, 200, &format!("refloat-digest: {}\r\n", "0".repeat(64)), b"other bytes");
        }
        friendly(got, out)
    });
    assert!(fails(&folder.bootstrap(&foe, ""), "DIGEST_MISMATCH").contains("0000"));

    // Piece 1 turns out to be damaged when the job runs; then the server has somebody else's piece 0.
    let (result, puts) = (good, Arc::new(Mutex::new(Vec::new())));
    let mut theirs = digests(&folder.path().join("keys/evaluation"));
    theirs[0] = "0".repeat(64);
    let (log, jobs, seals) = (puts.clone(), AtomicUsize::new(0), AtomicUsize::new(0));
    let foe = Foe::start(move |got, out| {
        let healing = jobs.load(Ordering::Relaxed) > 0;
        match (got.method.as_str(), got.path.split('?').next().unwrap()) {
            ("POST", "/v1/keys") if healing => say_json(out, 200, &keys("open", &[1])),
            ("POST", "/v1/jobs") => {
                jobs.fetch_add(1, Ordering::Relaxed);
                say_json(out, 201, &job())
            }
            ("PUT", path) => {
                assert_eq!(got.header("refloat-digest"), blake3::hash(&got.body).to_hex().as_str());
                log.lock().unwrap().push(path.rsplit('/').next().unwrap().to_owned());
                say(out, 204, "", b"")
            }
            ("POST", path) if path.ends_with("/commit") => {
                if seals.fetch_add(1, Ordering::Relaxed) == 0 {
                    return say_json(out, 409, &problem(409, "PIECES_DIFFER", "other pieces"));
                }
                let commit: Value = serde_json::from_slice(&got.body).unwrap();
                say_json(out, 200, &json!({ "id": JOB, "digest": commit["digest"], "bytes": 1 }))
            }
            ("GET", path) if path.starts_with("/v1/keys/") => {
                let mut state = keys("open", &[]);
                state["digests"] = json!(theirs);
                say_json(out, 200, &state)
            }
            (_, path) if path.ends_with("/events") && jobs.load(Ordering::Relaxed) == 1 => {
                let end = json!({ "state": "failed", "problem": problem(409, "KEY_PIECE_DAMAGED", "piece 1 is damaged; upload piece 1 again") });
                say(
                    out,
                    200,
                    "content-type: text/event-stream\r\n",
                    format!("event: end\ndata: {end}\n\n").as_bytes(),
                )
            }
            (_, path) if path.ends_with("/result") => say(out, 200, "", &result),
            _ => friendly(got, out),
        }
    });
    let line = format!("bootstrap --keys @keys --in @a.ct --out @c.ct --server {}", foe.url);
    let output = folder.run(&line);
    let shown = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && shown.contains("note: ") && shown.contains("piece 1"), "{shown}");
    assert_eq!(*puts.lock().unwrap(), ["1", "0"]);
}

/// Digests of the pieces in a folder, in order.
fn digests(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "part"));
    names.sort();
    names.iter().map(|path| blake3::hash(&fs::read(path).unwrap()).to_hex().to_string()).collect()
}

#[test]
fn https_is_spoken_with_servers_that_are_vouched_for() {
    let folder = Folder::new();
    let certified = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(folder.path().join("ca.pem"), certified.cert.pem()).unwrap();
    let secure = serving_tls(&certified);
    let other = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    fs::write(folder.path().join("other.pem"), other.cert.pem()).unwrap();
    let stranger = format!("--ca {}", folder.path().join("other.pem").display());
    let unknown = fails(&folder.bootstrap(&secure, &stranger), "NETWORK");
    assert!(unknown.contains("--ca FILE"), "{unknown}");
    assert!(secure.asked().is_empty(), "nothing is said to a server that nobody vouches for");
    let vouched = format!("--ca {}", folder.path().join("ca.pem").display());
    assert_eq!(fails(&folder.bootstrap(&secure, &vouched), "NOT_FOUND"), "reached");
    let authority = as_its_own_authority();
    fs::write(folder.path().join("ca.pem"), authority.cert.pem()).unwrap();
    let own = serving_tls(&authority);
    let detail = fails(&folder.bootstrap(&own, &vouched), "NETWORK");
    assert!(detail.contains("basicConstraints=critical,CA:FALSE"), "{detail}");
    fs::write(folder.path().join("ca.pem"), "no certificate").unwrap();
    assert!(fails(&folder.bootstrap(&secure, &vouched), "INVALID_ARGUMENT").contains("no certificate"));
}

/// A server with TLS that finds nothing.
fn serving_tls(certified: &CertifiedKey<KeyPair>) -> Foe {
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key.into())
        .unwrap();
    let config = Arc::new(config);
    let foe = Foe::with(
        move |stream| {
            let session = rustls::ServerConnection::new(config.clone()).ok()?;
            Some(Box::new(rustls::StreamOwned::new(session, stream)))
        },
        |_, out| say_json(out, 404, &problem(404, "NOT_FOUND", "reached")),
    );
    Foe { url: foe.url.replace("http://", "https://"), asked: foe.asked.clone() }
}

/// A certificate as `openssl req -x509` makes it: it says that it is an authority itself.
fn as_its_own_authority() -> CertifiedKey<KeyPair> {
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let signing_key = KeyPair::generate().unwrap();
    CertifiedKey { cert: params.self_signed(&signing_key).unwrap(), signing_key }
}
