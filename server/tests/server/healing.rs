//! The command line, and a server whose disk has lost or altered pieces of keys: the command sends them again by itself.

use super::support;

use std::fs;
use std::path::{Path, PathBuf};

use support::process::{Process, ok, refloat};
use support::{TOKEN, flip};

/// Tests pass a token: a derived one would depend on the server's port, which changes at a restart.
const GATE: &str = "gate nand --keys @keys --in @a.ct --in @b.ct --out @c.ct";

/// A way in which a disk damages pieces.
type Spoil = fn(&[PathBuf]);

/// The stored pieces of a server's only key set, by index.
fn pieces(data: &Path) -> Vec<PathBuf> {
    let sets: Vec<PathBuf> =
        fs::read_dir(data.join("keys")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(sets.len(), 1, "{sets:?}");
    let count = fs::read_dir(&sets[0]).unwrap().count();
    (0..count).map(|index| sets[0].join(index.to_string())).collect()
}

#[test]
fn pieces_that_the_server_has_lost_are_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy-bool --allow-insecure --out @keys"));
    ok(&run("--json encrypt --key @keys --bits 0011 --out @a.ct"));
    ok(&run("--json encrypt --key @keys --bits 0101 --out @b.ct"));
    let mut server = Process::start(&data);
    let nand = |server: &Process| {
        let url = server.client.url("");
        let gate = run(&format!("{GATE} --server {url} --token {TOKEN}"));
        let words = String::from_utf8(gate.stderr).unwrap();
        assert!(gate.status.success(), "{words}");
        let key = if folder.path().join("secret.key").exists() { "@secret.key" } else { "@keys" };
        ok(&run(&format!("--json decrypt --key {key} --in @c.ct --out @c.csv")));
        assert_eq!(fs::read_to_string(folder.path().join("c.csv")).unwrap(), "1\n1\n1\n0\n");
        words
    };
    assert!(!nand(&server).contains("missing"), "the first time all is sent");
    let stored: Vec<Vec<u8>> = pieces(&data).iter().map(|path| fs::read(path).unwrap()).collect();
    assert_eq!(stored.len(), 2);
    // Each on the running server, whose keys were not in memory yet, and on one restarted with what is left.
    let cases: [(&str, Spoil); 5] = [
        ("altered", |pieces| flip(&pieces[1])),
        ("gone", |pieces| fs::remove_file(&pieces[0]).unwrap()),
        ("cut short", |pieces| fs::write(&pieces[0], b"short").unwrap()),
        ("empty", |pieces| fs::write(&pieces[0], b"").unwrap()),
        ("altered and gone", |pieces| {
            flip(&pieces[0]);
            fs::remove_file(&pieces[1]).unwrap();
        }),
    ];
    for (what, spoil) in cases {
        for running in [false, true] {
            let there = pieces(&data);
            server.kill();
            if running {
                server = Process::start(&data);
                spoil(&there);
            } else {
                spoil(&there);
                server = Process::start(&data);
            }
            let words = nand(&server);
            if what == "altered" {
                assert!(words.contains("piece 1") && words.contains("sending what is missing"), "{words}");
            }
            let healed: Vec<Vec<u8>> = pieces(&data).iter().map(|path| fs::read(path).unwrap()).collect();
            assert!(healed == stored, "{what}, running {running}: the pieces are there again");
        }
    }
    server.kill();

    // Without the secret key, evaluation keys are read from their files.
    fs::rename(folder.path().join("keys/secret.key"), folder.path().join("secret.key")).unwrap();
    let data = folder.path().join("other data");
    let server = Process::start(&data);
    nand(&server);
    server.kill();
    flip(&pieces(&data)[1]);
    let server = Process::start(&data);
    assert!(nand(&server).contains("piece 1"));
    assert!(pieces(&data).iter().map(|path| fs::read(path).unwrap()).eq(stored));
}
