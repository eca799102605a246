//! The commands of the README, as a reader types them.

use super::support;

use std::fs;
use std::process::Command;

use support::process::Process;

/// The server's address in the README.
const ADDRESS: &str = "http://127.0.0.1:7878";

/// Runs the blocks marked `sh` one after the other in one folder, beside a server that offers toy sets. Examples with full-size sets
/// have no mark.
#[test]
#[cfg(unix)]
fn commands_of_the_readme_run_as_they_stand() {
    let readme = include_str!("../../README.md");
    let blocks: Vec<&str> =
        readme.split("\n```sh\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
    assert!(blocks.len() >= 6, "{} blocks", blocks.len());
    assert!(blocks.iter().any(|block| block.contains(ADDRESS)), "no block asks the server");
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(&folder.path().join("data"));
    let url = server.client.url("");
    // The program under its own name, wherever cargo has put it.
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_refloat"), programs.join("refloat")).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let has_curl = Command::new("curl").arg("--version").output().is_ok();
    for block in blocks {
        if block.contains("\ncurl ") && !has_curl {
            eprintln!("skipped: a block that takes curl, which is not installed");
            continue;
        }
        let output = Command::new("sh")
            .args(["-euc", &block.replace(ADDRESS, &url)])
            .current_dir(folder.path())
            .env("PATH", &path)
            .output()
            .unwrap();
        let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(output.status.success(), "{block}\n{out}\n{err}");
    }
    let decrypted = |name: &str| -> Vec<f64> {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        text.split([',', '\n'])
            .filter(|entry| !entry.is_empty())
            .map(|entry| entry.trim().parse().unwrap())
            .collect()
    };
    let again = decrypted("numbers-again.csv");
    assert_eq!(again.len(), 3);
    for (found, number) in again.into_iter().zip([0.5, -0.25, 1.0]) {
        assert!((found - number).abs() < 0.01, "{found} for {number}");
    }
    for (found, hour) in decrypted("hour.csv").into_iter().zip([7.0, 19.0, 0.0, 16.0]) {
        assert!((found - hour).abs() < 0.01, "{found} for {hour}");
    }
    assert_eq!(decrypted("score.csv").len(), 4);
}
