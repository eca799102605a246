//! What commands write: whole or not at all, never onto an input or a key, and completed where it was interrupted.
#![cfg(unix)]

use super::support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use support::DEADLINE;
use support::process::{fails, ok, refloat};

/// Runs a command line whose files may have up to `blocks` blocks of 512 or 1024 bytes, as on a full disk.
fn cramped(blocks: u32, line: &str, folder: &Path) -> Output {
    let program = env!("CARGO_BIN_EXE_refloat");
    let line = line.replace('@', &format!("{}/", folder.display()));
    // With the signal ignored, a write beyond the limit fails like one on a full disk.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {program} {line}");
    Command::new("sh").args(["-c", &script]).output().unwrap()
}

/// Names of all files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

fn nothing_half_done(folder: &Path) {
    let left: Vec<String> = files(folder).into_iter().filter(|name| name.contains("partial")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy10 --allow-insecure --secret-only --out @keys"));
    fs::write(at("in.json"), "[0.5]").unwrap();
    let encrypt = "--json encrypt --key @keys --in @in.json --out @a.ct";
    let decrypt = "--json decrypt --key @keys --in @a.ct --out @out.csv";
    ok(&run(encrypt));
    ok(&run(decrypt));
    let before = (fs::read(at("a.ct")).unwrap(), fs::read(at("out.csv")).unwrap());
    for line in [encrypt, decrypt] {
        assert!(fails(&cramped(1, line, folder.path()), "FILE").contains("cannot write"));
    }
    assert_eq!((fs::read(at("a.ct")).unwrap(), fs::read(at("out.csv")).unwrap()), before);
    assert!(fails(&cramped(1, &encrypt.replace("a.ct", "new.ct"), folder.path()), "FILE").contains("new.ct"));
    assert!(!at("new.ct").exists());
    assert!(
        fails(&run("--json decrypt --key @keys --in @a.ct --format csv --out /dev/full"), "FILE")
            .contains("/dev/full")
    );
    ok(&run("--json decrypt --key @keys --in @a.ct --format csv --out /dev/null"));
    nothing_half_done(folder.path());
}

#[test]
fn inputs_and_keys_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy10 --allow-insecure --out @keys"));
    ok(&run("--json keygen --preset toy10 --allow-insecure --secret-only --out @others"));
    fs::write(at("in.json"), "[0.5]").unwrap();
    ok(&run("--json encrypt --key @keys --in @in.json --out @a.ct"));
    symlink(at("keys/secret.key"), at("soft")).unwrap();
    fs::hard_link(at("others/secret.key"), at("hard")).unwrap();
    fs::hard_link(at("a.ct"), at("same")).unwrap();
    let before: Vec<Vec<u8>> = files(folder.path()).iter().map(|name| fs::read(name).unwrap()).collect();
    let encrypt = "--json encrypt --key @keys/secret.key --in @in.json";
    for (out, reason) in [
        ("keys/secret.key", "same file"),
        ("soft", "same file"),
        ("others/secret.key", "secret key"),
        ("hard", "secret key"),
        ("in.json", "same file"),
        ("keys/evaluation/00000.part", "bootstrapping key part"),
        ("keys/evaluation/keys.json", "key folder"),
        ("keys", "is a folder"),
        ("none/a.ct", "make it first"),
    ] {
        let detail = fails(&run(&format!("{encrypt} --out @{out}")), "INVALID_ARGUMENT");
        assert!(detail.contains(reason) && detail.contains(out.rsplit('/').next().unwrap()), "{detail}");
    }
    for line in [
        "--json decrypt --key @others --in @a.ct --out @same --format csv",
        "--json decrypt --key @others --in @a.ct --out @in.json --compare @in.json",
        "--json bootstrap --keys @keys --in @a.ct --out @same",
        "--json bootstrap --keys @keys --in @a.ct --out @hard",
    ] {
        fails(&run(line), "INVALID_ARGUMENT");
    }
    let after: Vec<Vec<u8>> = files(folder.path()).iter().map(|name| fs::read(name).unwrap()).collect();
    assert!(before == after, "nothing is changed, nothing is left");

    let run = |line: &str| refloat(line, folder.path());
    fs::write(at("two.txt"), "x = input\na = output x\nb = output x\n").unwrap();
    let detail = fails(
        &run("--json program @two.txt --keys @keys --in @a.ct --out a=@sum.ct --out b=@./sum.ct"),
        "INVALID_ARGUMENT",
    );
    assert!(detail.contains("two outputs"), "{detail}");
    assert!(
        fails(&run("--json program @two.txt --keys @keys --in @a.ct --out @two.txt"), "INVALID_ARGUMENT")
            .contains("same file")
    );

    ok(&run("--json keygen --preset toy-bool --allow-insecure --out @gates"));
    ok(&run("--json encrypt --key @gates --bits 01 --out @bits.ct"));
    for line in [
        "--json encrypt --key @gates --bits 01 --out @gates/secret.key",
        "--json gate not --keys @gates --in @bits.ct --out @bits.ct",
        "--json circuit adder1 --keys @gates --in @bits.ct --out @gates/secret.key",
        "--json decrypt --key @gates --in @bits.ct --out @bits.ct --format json",
    ] {
        fails(&run(line), "INVALID_ARGUMENT");
    }
}

#[test]
fn a_key_folder_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    fs::write(at("in.json"), "[0.5]").unwrap();
    let keygen = "--json keygen --preset toy10 --allow-insecure --out @keys";
    // A disk too small for the first piece: the secret key is there and whole.
    let detail = fails(&cramped(1, keygen, folder.path()), "FILE");
    assert!(detail.contains("00000.part") && detail.contains("keygen --resume --out"), "{detail}");
    let secret = fs::read(at("keys/secret.key")).unwrap();
    assert_eq!(fs::metadata(at("keys/secret.key")).unwrap().permissions().mode() & 0o777, 0o600);
    ok(&run("--json encrypt --key @keys --in @in.json --out @a.ct --exhausted"));
    for keys in ["keys", "keys/evaluation"] {
        let detail = fails(
            &run(&format!("--json bootstrap --keys @{keys} --in @a.ct --out @b.ct")),
            "INVALID_ARGUMENT",
        );
        assert!(detail.contains(&format!("keygen --resume --out {}", at("keys").display())), "{detail}");
    }
    // Keygen completes the keys by itself; it refuses if they are of another set or already complete.
    let other = fails(&run("--json keygen --preset ship13 --out @keys"), "INVALID_ARGUMENT");
    assert!(other.contains("ship13") && other.contains("toy10") && other.contains("--force"), "{other}");
    fails(&run(&format!("{keygen} --secret-only")), "INVALID_ARGUMENT");
    let completed = ok(&run(keygen));
    assert_eq!(completed["piecesKept"], 0);
    let pieces = completed["piecesMade"].as_u64().unwrap();
    assert!(pieces > 2 && fs::read(at("keys/secret.key")).unwrap() == secret);
    let fresh = ok(&run("--json bootstrap --keys @keys --in @a.ct --out @b.ct"));
    assert_eq!(fresh["after"]["level"], 2);
    let refused = fails(&run(keygen), "INVALID_ARGUMENT");
    assert!(refused.contains("--resume") && refused.contains("--force"), "{refused}");

    // A damaged piece of the right length, one of another index and a missing one are made again, bit for bit.
    let piece = |index: u64| at(&format!("keys/evaluation/{index:05}.part"));
    let good: Vec<Vec<u8>> = (0..pieces).map(|index| fs::read(piece(index)).unwrap()).collect();
    let mut damaged = good[0].clone();
    damaged[1000] ^= 1;
    fs::write(piece(0), &damaged).unwrap();
    let detail = fails(&run("--json bootstrap --keys @keys --in @a.ct --out @b.ct"), "BAD_BYTES");
    assert!(detail.contains("00000.part") && detail.contains("keygen --resume"), "{detail}");
    fs::write(piece(1), &good[2]).unwrap();
    fs::remove_file(piece(2)).unwrap();
    let resumed = ok(&run("--json keygen --resume --out @keys"));
    let made = if good[1].len() == good[2].len() { 3 } else { 2 + u64::from(good[1] != good[2]) };
    assert_eq!(
        (resumed["piecesMade"].as_u64(), resumed["piecesKept"].as_u64()),
        (Some(made), Some(pieces - made))
    );
    let again: Vec<Vec<u8>> = (0..pieces).map(|index| fs::read(piece(index)).unwrap()).collect();
    assert!(good == again);
    assert_eq!(ok(&run("--json keygen --resume --out @keys"))["piecesMade"], 0);

    // Evaluation keys of another secret key are not replaced.
    ok(&run("--json keygen --preset toy10 --allow-insecure --secret-only --out @other"));
    fs::rename(at("keys/evaluation"), at("other/evaluation")).unwrap();
    assert!(
        fails(&run("--json keygen --resume --out @other"), "INVALID_ARGUMENT")
            .contains("move that folder away")
    );
    let mine = fs::read(at("other/secret.key")).unwrap();
    fs::remove_file(at("other/secret.key")).unwrap();
    let detail = fails(&run(&keygen.replace("@keys", "@other")), "INVALID_ARGUMENT");
    assert!(detail.contains("no secret key beside them"), "{detail}");
    fs::write(at("other/secret.key"), mine).unwrap();
    // With --force, the old keys no longer count as complete, even if the command is interrupted.
    fails(&cramped(1, &keygen.replace("@keys", "@other --force"), folder.path()), "FILE");
    assert!(
        fails(&run("--json bootstrap --keys @other --in @a.ct --out @b.ct"), "INVALID_ARGUMENT")
            .contains("--resume")
    );
    assert_eq!(ok(&run("--json keygen --resume --out @other"))["piecesMade"], pieces);
    let detail = fails(&run("--json keygen --resume --out @nowhere"), "INVALID_ARGUMENT");
    assert!(detail.contains("without --resume") && !at("nowhere").exists(), "{detail}");
    // An empty secret key, which earlier versions left on a full disk, blocks nothing.
    fs::create_dir(at("old")).unwrap();
    fs::write(at("old/secret.key"), "").unwrap();
    ok(&run("--json keygen --preset toy10 --allow-insecure --out @old"));
    nothing_half_done(folder.path());
}

#[test]
fn an_interrupted_keygen_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    let mut child = Command::new(env!("CARGO_BIN_EXE_refloat"))
        .args(["keygen", "--preset", "ship14", "--out"])
        .arg(&keys)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !keys.join("evaluation/00001.part").exists() {
        assert!(began.elapsed() < DEADLINE && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    nothing_half_done(folder.path());
    assert!(!keys.join("evaluation/keys.json").exists());
    assert!(fs::metadata(keys.join("secret.key")).unwrap().len() > 0);
    assert!(fs::metadata(keys.join("evaluation/00000.part")).unwrap().len() > 0);
}

#[test]
fn standard_output_that_takes_nothing_is_a_failure() {
    let into = |out: Stdio, line: &str| {
        Command::new(env!("CARGO_BIN_EXE_refloat")).args(line.split(' ')).stdout(out).output().unwrap()
    };
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap().into();
    for line in ["params", "--json params", "about", "circuit adder8 --print", "serve --print-config"] {
        let output = into(full(), line);
        assert!(!output.status.success(), "{line}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"), "{line}");
    }
    assert!(!into(full(), "--help").status.success());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    for line in ["params", "--help"] {
        let output = into(writer.try_clone().unwrap().into(), line);
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
    }
}

#[test]
fn damaged_keys_are_named_with_what_mends_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy10 --allow-insecure --out @keys"));
    fs::write(at("in.json"), "[0.5]").unwrap();
    ok(&run("--json encrypt --key @keys --in @in.json --out @a.ct --exhausted"));
    let bootstrap = "--json bootstrap --keys @keys --in @a.ct --out @b.ct";
    let resume = format!("refloat keygen --resume --out {}", at("keys").display());

    let part = fs::read(at("keys/evaluation/00001.part")).unwrap();
    for damaged in [&part[..20], &[&part[..30], &[!part[30]], &part[31..]].concat()] {
        fs::write(at("keys/evaluation/00001.part"), damaged).unwrap();
        let detail = fails(&run(bootstrap), "BAD_BYTES");
        assert!(detail.ends_with(&format!("; make it again with {resume}")), "{detail}");
        assert!(detail.contains("00001.part") && !detail.contains("send"), "{detail}");
    }
    // Without a list of the parts nothing is done, and keygen makes it again, with what is damaged.
    let list = fs::read(at("keys/evaluation/keys.json")).unwrap();
    fs::write(at("keys/evaluation/keys.json"), &list[..list.len() / 2]).unwrap();
    let detail = fails(&run(bootstrap), "FILE");
    assert!(
        detail.contains("keys.json") && detail.ends_with(&format!("make it again with {resume}")),
        "{detail}"
    );
    fails(&run("--json keygen --out @keys"), "FILE");
    let made = ok(&run("--json keygen --resume --out @keys"));
    assert_eq!(made["piecesMade"], 1, "{made}");
    assert_eq!(fs::read(at("keys/evaluation/keys.json")).unwrap(), list);
    assert_eq!(fs::read(at("keys/evaluation/keys.json.damaged")).unwrap(), list[..list.len() / 2]);
    assert_eq!(fs::read(at("keys/evaluation/00001.part")).unwrap(), part);
    ok(&run(bootstrap));

    // Nothing makes a secret key again.
    let secret = fs::read(at("keys/secret.key")).unwrap();
    for damaged in [&secret[..20], &[&secret[..30], &[!secret[30]], &secret[31..]].concat()] {
        fs::write(at("keys/secret.key"), damaged).unwrap();
        for line in
            ["--json decrypt --key @keys --in @a.ct --out @b.csv", "--json keygen --resume --out @keys"]
        {
            let detail = fails(&run(line), "BAD_BYTES");
            assert!(detail.contains("backup") && detail.contains("nothing encrypted with it"), "{detail}");
            assert!(detail.contains("secret.key") && !detail.contains("send"), "{detail}");
        }
    }
}
