//! Key sets as operators list and remove them, over HTTP and on the command line.

use super::support;

use std::net::SocketAddr;
use std::path::Path;

use refloat_server::config::MetricsListen;
use serde_json::{Value, json};
use support::engine::{KEY, PART, PARTS, part};
use support::process::{fails, ok, refloat};
use support::{Client, TestServer, ciphertext, open, upload};

const ROUTE: &str = "/v1/key-sets";

fn start(folder: &Path) -> (TestServer, Client) {
    let server = TestServer::start(folder, |config| {
        config.server.metrics_listen = MetricsListen::At(SocketAddr::from(([127, 0, 0, 1], 0)));
    });
    // An operator has no token.
    let operators = Client::new(server.metrics_address().unwrap()).with(&[]);
    (server, operators)
}

fn other(digit: &str) -> String {
    KEY.replace('0', digit)
}

#[test]
fn operators_list_key_sets_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    let (server, operators) = start(folder.path());
    let empty = operators.get(ROUTE).expect(200).json();
    assert_eq!((&empty["keySets"], &empty["bytes"], &empty["next"]), (&json!([]), &json!(0), &Value::Null));
    upload(&server.client);
    for digit in ["1", "2"] {
        open(&server.client, &other(digit)).expect(201);
    }
    server.client.put_chunk(&other("1"), 0, &part(0)).expect(204);
    server.engine.hold();
    let jobs = [1, 2].map(|content| server.client.submit(KEY, &ciphertext(content)).job());
    let all = operators.get(ROUTE).expect(200).json();
    let sets = all["keySets"].as_array().unwrap();
    let ids: Vec<&Value> = sets.iter().map(|set| &set["id"]).collect();
    assert_eq!(ids, [KEY, &other("1"), &other("2")]);
    assert_eq!((&all["bytes"], &all["next"]), (&json!((PARTS + 1) * PART), &Value::Null));
    let [first, second, third] = &sets[..] else { panic!("{sets:?}") };
    assert_eq!(
        (&first["state"], &first["bytes"], &first["jobs"]),
        (&json!("sealed"), &json!(PARTS * PART), &json!(2))
    );
    assert_eq!(
        (&first["params"], &first["public"], &first["apiKey"]),
        (&json!("small"), &json!(false), &Value::Null)
    );
    assert!(first["jobBytes"].as_u64().unwrap() > 0 && first["lastJobAt"].is_string(), "{first}");
    assert_eq!(
        (&second["state"], &second["bytes"], &second["jobs"]),
        (&json!("open"), &json!(PART), &json!(0))
    );
    assert!(
        third["changedAt"].as_str().unwrap().starts_with("20") && third["lastJobAt"].is_null(),
        "{third}"
    );
    // A page with one key set at a time.
    let (mut after, mut seen) = (String::new(), Vec::new());
    loop {
        let page = operators.get(&format!("{ROUTE}?limit=1{after}")).expect(200).json();
        assert_eq!(page["keySets"].as_array().unwrap().len(), 1);
        seen.push(page["keySets"][0]["id"].clone());
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(seen, [json!(KEY), json!(other("1")), json!(other("2"))]);
    assert!(
        operators.get(&format!("{ROUTE}?limit=0")).problem(400, "INVALID_ARGUMENT").contains("1 to 1000")
    );
    assert!(operators.get(&format!("{ROUTE}?limit=1001")).problem(400, "INVALID_ARGUMENT").contains("1001"));
    for bad in ["after=x", "limit=x", "before=1"] {
        operators.get(&format!("{ROUTE}?{bad}")).problem(400, "INVALID_ARGUMENT");
    }
    server.engine.release();
    for job in jobs {
        server.client.wait_state(&job, "done");
    }
    // A piece that the disk has lost is noticed.
    std::fs::remove_file(folder.path().join(format!("keys/{KEY}/1"))).unwrap();
    server.client.get(&format!("/v1/keys/{KEY}")).expect(200);
    let listed = operators.get(ROUTE).expect(200).json();
    assert_eq!(
        (&listed["keySets"][0]["state"], &listed["keySets"][0]["jobs"]),
        (&json!("damaged"), &json!(0))
    );
    server.stop();
}

#[test]
fn operators_remove_key_sets_that_no_job_needs() {
    let folder = tempfile::tempdir().unwrap();
    let (server, operators) = start(folder.path());
    upload(&server.client);
    server.engine.hold();
    let job = server.client.submit(KEY, &ciphertext(1)).job();
    let route = format!("{ROUTE}/{KEY}");
    let detail = operators.delete(&route).problem(409, "KEY_IN_USE");
    // The operator gets the same message as the owner.
    assert_eq!(server.client.delete(&format!("/v1/keys/{KEY}")).problem(409, "KEY_IN_USE"), detail);
    server.engine.release();
    server.client.wait_state(&job, "done");
    operators.delete(&route).expect(204);
    server.client.get(&format!("/v1/keys/{KEY}")).problem(404, "NOT_FOUND");
    assert!(!folder.path().join(format!("keys/{KEY}")).exists());
    assert!(operators.delete(&route).problem(404, "NOT_FOUND").contains(KEY));
    // Results stay available to the holder of the token until they expire.
    server.client.get(&format!("/v1/jobs/{job}/result")).expect(200);
    operators.delete(&format!("{ROUTE}/x")).problem(404, "NOT_FOUND");
    operators.get(&route).problem(405, "METHOD_NOT_ALLOWED");
    // The owner uploads the keys again.
    upload(&server.client);
    let again = server.client.submit(KEY, &ciphertext(1)).job();
    server.client.wait_state(&again, "done");
    assert_eq!(
        server.engine.loads.load(std::sync::atomic::Ordering::SeqCst),
        2,
        "the removed keys left memory"
    );
    server.stop();
}

#[test]
fn clients_proxies_and_pages_are_not_operators() {
    let folder = tempfile::tempdir().unwrap();
    let (server, operators) = start(folder.path());
    upload(&server.client);
    let route = format!("{ROUTE}/{KEY}");
    let asked = |client: &Client, headers: &[(&str, &str)], code: &str, status: u16| {
        for (method, path) in [("GET", ROUTE), ("DELETE", &route)] {
            let answer = client.send(method, path, headers, b"");
            let detail = answer.problem(status, code);
            assert!(!String::from_utf8_lossy(&answer.body).contains(KEY), "{detail}");
        }
    };
    asked(&server.client, &[], "NOT_FOUND", 404);
    asked(&operators, &[("x-forwarded-for", "192.0.2.1")], "FORBIDDEN", 403);
    asked(&operators, &[("forwarded", "for=192.0.2.1")], "FORBIDDEN", 403);
    asked(&operators, &[("origin", &format!("http://{}", operators.address))], "FORBIDDEN", 403);
    asked(&operators, &[("host", "rebound.example")], "FORBIDDEN", 403);
    operators.get(ROUTE).expect(200);
    let lost = operators.post_json("/v1/keys", &json!({})).problem(404, "NOT_FOUND");
    assert!(lost.contains("this is the operators' address") && lost.contains("server.listen"), "{lost}");
    server.stop();
    // If metrics are public, nobody may list or remove key sets.
    let server =
        TestServer::start(folder.path(), |config| config.server.metrics_listen = MetricsListen::Public);
    server.client.get("/metrics").expect(200);
    asked(&server.client, &[], "NOT_FOUND", 404);
    server.stop();
}

#[test]
fn the_command_line_lists_and_removes() {
    let folder = tempfile::tempdir().unwrap();
    let (server, operators) = start(folder.path());
    upload(&server.client);
    open(&server.client, &other("1")).expect(201);
    let at = format!("--operator {}", operators.url(""));
    let run = |line: &str| refloat(line, folder.path());
    let listed = ok(&run(&format!("--json key-sets list {at}")));
    assert_eq!(listed, operators.get(ROUTE).expect(200).json());
    let text = |line: &str| {
        let output = run(line);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let words = text(&format!("key-sets list --limit 1 {at}"));
    assert!(words.contains(KEY) && words.contains("300 B") && !words.contains(&other("1")), "{words}");
    assert!(words.contains(&format!("refloat key-sets list --after {KEY}")), "{words}");
    let words = text(&format!("key-sets list --after {KEY} {at}"));
    assert!(!words.contains(KEY) && words.contains(&other("1")) && !words.contains("more follow"), "{words}");
    assert!(text(&format!("key-sets list --after {} {at}", "f".repeat(32))).contains("no key sets"));
    assert_eq!(ok(&run(&format!("--json key-sets remove {KEY} {at}")))["removed"], true);
    let gone = fails(&run(&format!("--json key-sets remove {KEY} {at}")), "NOT_FOUND");
    assert_eq!(gone, format!("there is no key set {KEY}; refloat key-sets list shows which there are"));
    assert!(!run(&format!("key-sets remove 17 {at}")).status.success());
    // The listener for clients does not answer operators.
    let wrong =
        fails(&run(&format!("--json key-sets list --operator {}", server.client.url(""))), "NOT_FOUND");
    assert!(wrong.contains("server.metrics_listen"), "{wrong}");
    let nowhere = fails(&run("--json key-sets list --operator nowhere"), "INVALID_ARGUMENT");
    assert!(nowhere.contains("--operator"), "{nowhere}");
    server.stop();
}
