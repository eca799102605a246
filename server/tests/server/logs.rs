//! What the server writes to its log.

use super::support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::process::Process;

/// A server that logs to a file, one JSON object per line.
fn logging(data: &Path, log: &Path) -> Process {
    let script = "export REFLOAT__LOG__LEVEL=info REFLOAT__LOG__FORMAT=json; exec \"$@\" 2>";
    Process::start_by(data, &format!("{script} '{}'", log.display()))
}

fn lines(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn requests_are_logged_with_what_they_ask_for() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let server = logging(&data, &log);
    let ready = server.client.get("/readyz").expect(200);
    let id = ready.header("x-request-id").to_owned();
    assert!(server.terminate());
    let lines = lines(&log);
    let line = lines.iter().find(|line| line["target"] == "refloat::access").unwrap();
    let fields = &line["fields"];
    assert_eq!((&fields["path"], &fields["method"]), (&"/readyz".into(), &"GET".into()), "{line}");
    assert_eq!((&fields["status"], &fields["whole"], &fields["id"]), (&200.into(), &true.into(), &id.into()));
    let said: Vec<&str> = lines.iter().filter_map(|line| line["fields"]["message"].as_str()).collect();
    assert!(said.contains(&"refloat serves") && said.ends_with(&["stopped"]), "{said:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_end_of_its_terminal_stops_a_server_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    let server = logging(&data, &log);
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    // Tests that are themselves run to outlive their terminal have servers that do.
    if u64::from_str_radix(ignored, 16).unwrap() & 1 == 0 {
        assert!(server.end_by("-HUP"));
        let lines = lines(&log);
        assert!(lines.iter().any(|line| {
            line["fields"]["message"].as_str().is_some_and(|message| message.starts_with("stopping"))
        }));
        assert_eq!(lines.last().unwrap()["fields"]["message"], "stopped");
    }
}
