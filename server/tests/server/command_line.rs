//! The commands on files, and against a server.

use super::support;

use support::process::{Process, fails, ok, refloat};

#[test]
fn numbers_go_the_whole_way() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    fails(&run("--json keygen --preset toy10 --out @keys"), "INSECURE");
    let made = ok(&run("--json keygen --preset toy10 --allow-insecure --out @keys"));
    assert_eq!(made["secure"], false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(at("keys/secret.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let before = std::fs::read(at("keys/secret.key")).unwrap();
    let again = run("--json keygen --preset toy10 --allow-insecure --out @keys");
    assert!(fails(&again, "INVALID_ARGUMENT").contains("--force"));
    assert_eq!(std::fs::read(at("keys/secret.key")).unwrap(), before);

    let numbers: Vec<f64> = (0..512).map(|index| (f64::from(index) / 80.0).cos()).collect();
    std::fs::write(at("in.json"), serde_json::to_vec(&numbers).unwrap()).unwrap();
    let encrypted = ok(&run("--json encrypt --key @keys --in @in.json --out @in.ct --exhausted"));
    assert_eq!((&encrypted["level"], &encrypted["numbers"]), (&1.into(), &512.into()));
    let square = run("--json bootstrap --keys @keys --in @in.ct --out @x.ct --op square");
    fails(&square, "LEVEL_MISMATCH");
    let cube = run("--json bootstrap --keys @keys --in @in.ct --out @x.ct --op bootstrap,cube");
    let offered = "cube is not an operation on ciphertexts of toy10; take one of: square, bootstrap";
    assert_eq!(fails(&cube, "INVALID_ARGUMENT"), offered);
    let fresh = ok(&run("--json bootstrap --keys @keys --in @in.ct --out @fresh.ct"));
    assert_eq!((&fresh["before"]["level"], &fresh["after"]["level"]), (&1.into(), &2.into()));
    assert_eq!(fresh["stages"].as_array().unwrap().len(), 6);
    let decrypted = ok(&run("--json decrypt --key @keys --in @fresh.ct --out @out.csv --compare @in.json"));
    assert!(decrypted["precision"]["worst"].as_f64().unwrap() >= 10.0, "{decrypted}");
    let text = std::fs::read_to_string(at("out.csv")).unwrap();
    assert!((text.lines().next().unwrap().parse::<f64>().unwrap() - 1.0).abs() < 0.01);
}

#[test]
fn bootstrap_offers_the_operations_it_has_and_names_the_command_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| refloat(line, folder.path());
    std::fs::write(folder.path().join("one.csv"), "1").unwrap();
    let refused = |set: &str, op: &str| {
        let keys = format!("@{set}");
        if !folder.path().join(set).exists() {
            ok(&run(&format!("--json keygen --preset {set} --allow-insecure --secret-only --out {keys}")));
            ok(&run(&format!("--json encrypt --key {keys} --in @one.csv --out @{set}.ct")));
        }
        // Refused before any server is asked.
        let line = format!("--json bootstrap --keys {keys} --in @{set}.ct --out @x.ct --op {op}");
        let there = fails(&run(&format!("{line} --server http://127.0.0.1:1")), "INVALID_ARGUMENT");
        assert_eq!(fails(&run(&line), "INVALID_ARGUMENT"), there);
        there
    };
    // On a server, a set that runs programs has the operation `program`, which this command does not take.
    let cube =
        "cube is not an operation on ciphertexts of toy-conventional11; take one of: square, bootstrap";
    assert_eq!(refused("toy-conventional11", "square,cube"), cube);
    let cube =
        "cube is not an operation on ciphertexts of toy-bgv10; take one of: square, multiply, bootstrap";
    assert_eq!(refused("toy-bgv10", "cube"), cube);
    let multiply = "multiply is for integers, and toy-conventional11 is a set for real and complex numbers; \
                    take one of: square, bootstrap";
    assert_eq!(refused("toy-conventional11", "multiply"), multiply);
    for (op, command) in
        [("program", "program"), ("lookup", "look-up"), ("circuit", "circuit"), ("argmax", "argmax")]
    {
        let expected = format!(
            "{op} is not an operation of refloat bootstrap; it is a command of its own: refloat {command}"
        );
        assert_eq!(refused("toy-conventional11", op), expected);
    }
    // Files given as inputs of programs are.
    let named = run("--json bootstrap --keys @toy-bgv10 --in z=n.ct --out @x.ct");
    let detail = fails(&named, "INVALID_ARGUMENT");
    assert!(
        detail.contains("no file z=n.ct") && detail.ends_with("give the ciphertext alone: n.ct"),
        "{detail}"
    );
}

#[test]
fn a_server_does_the_work_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    // Without a folder of evaluation keys, the pieces are made from the secret key on the way.
    ok(&run("--json keygen --preset toy10 --allow-insecure --secret-only --out @keys"));
    let numbers: Vec<f64> = (0..512).map(|index| (f64::from(index) / 80.0).cos()).collect();
    std::fs::write(at("in.json"), serde_json::to_vec(&numbers).unwrap()).unwrap();
    ok(&run("--json encrypt --key @keys --in @in.json --out @fresh.ct"));
    let server = Process::start(&folder.path().join("data"));
    let url = server.client.url("");
    let remote = ok(&run(&format!(
        "--json bootstrap --keys @keys --in @fresh.ct --out @squared.ct --op square,bootstrap --server {url}"
    )));
    assert_eq!((&remote["after"]["level"], remote["stages"].as_array().unwrap().len()), (&2.into(), 6));
    let squares: Vec<f64> = numbers.iter().map(|number| number * number).collect();
    std::fs::write(at("squares.json"), serde_json::to_vec(&squares).unwrap()).unwrap();
    let decrypted = ok(&run(
        "--json decrypt --key @keys/secret.key --in @squared.ct --out @out.json --compare @squares.json",
    ));
    assert!(decrypted["precision"]["worst"].as_f64().unwrap() >= 8.0, "{decrypted}");
    assert!(server.terminate());
    let gone = run(&format!("--json bootstrap --keys @keys --in @fresh.ct --out @x.ct --server {url}"));
    assert!(fails(&gone, "NETWORK").contains("check that the server runs"));
}

#[test]
fn bits_go_through_gates_and_circuits_here_and_on_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    fails(&run("--json keygen --preset toy-bool --out @keys"), "INSECURE");
    ok(&run("--json keygen --preset toy-bool --allow-insecure --out @keys"));
    ok(&run("--json encrypt --key @keys --integer 200 --width 8 --out @a.ct"));
    ok(&run("--json encrypt --key @keys --bits 10110010 --out @b.ct"));
    let integer = |file: &str| {
        let out = ok(&run(&format!("--json decrypt --key @keys --in @{file} --out @out.csv")));
        out["integer"].as_u64().unwrap()
    };
    assert_eq!(integer("b.ct"), 77);
    let gate = ok(&run("--json gate NAND --keys @keys --in @a.ct --in @b.ct --out @c.ct"));
    assert_eq!((&gate["bootstraps"], &gate["levels"]), (&8.into(), &1.into()));
    assert_eq!(integer("c.ct"), 0xff ^ (0xc8 & 0x4d));
    let sum = ok(&run("--json circuit adder8 --keys @keys --in @a.ct --in @b.ct --out @c.ct"));
    assert_eq!(sum["bootstraps"], 16);
    assert_eq!(integer("c.ct"), 277);

    // A circuit from a file, on the server, which gets the keys that it lacks.
    std::fs::write(
        at("my.txt"),
        "input x[0..8]\noutput any\na = OR3 x[0] x[1] x[2]\nany = OR3 a x[3] x[7]\n",
    )
    .unwrap();
    let server = Process::start(&folder.path().join("data"));
    let url = server.client.url("");
    ok(&run(&format!("--json circuit @my.txt --keys @keys --in @a.ct --out @c.ct --server {url}")));
    assert_eq!(integer("c.ct"), 1);
    ok(&run(&format!("--json gate xor --keys @keys --in @a.ct --in @b.ct --out @c.ct --server {url}")));
    assert_eq!(integer("c.ct"), 0xc8 ^ 0x4d);
    // Integers and a table, here and on the server.
    ok(&run("--json keygen --preset toy-fbs --allow-insecure --out @intkeys"));
    ok(&run("--json encrypt --key @intkeys --integers 3,5,7 --messages 8 --out @x.ct"));
    for place in [String::new(), format!(" --server {url}")] {
        let table = "--json look-up --table 0,1,4,1,0,1,4,1 --keys @intkeys --in @x.ct --out @y.ct";
        assert_eq!(ok(&run(&format!("{table}{place}")))["lookUps"], 3);
        ok(&run("--json decrypt --key @intkeys --in @y.ct --out @y.csv"));
        let numbers = std::fs::read_to_string(at("y.csv")).unwrap();
        let numbers: Vec<f64> = numbers.split_whitespace().map(|number| number.parse().unwrap()).collect();
        assert_eq!(numbers, [1.0; 3]);
    }
    assert!(
        fails(&run("--json look-up --table 0,1 --keys @intkeys --in @x.ct --out @y.ct"), "INVALID_ARGUMENT")
            .contains("8 messages")
    );
    assert!(server.terminate());

    let described = ok(&run("--json circuit aes-sbox"));
    assert_eq!((&described["bootstraps"], &described["levels"]), (&94.into(), &26.into()));
    std::fs::write(at("bad.txt"), "input a\noutput y\ny = AND a z\n").unwrap();
    assert!(fails(&run("--json circuit @bad.txt"), "INVALID_ARGUMENT").contains("line 3"));
    assert!(
        fails(&run("--json circuit adder8 --keys @keys --in @a.ct --out @c.ct"), "INVALID_ARGUMENT")
            .contains("16 inputs")
    );
    fails(&run("--json gate nand --keys @keys --in @a.ct --out @c.ct"), "INVALID_ARGUMENT");
    fails(&run("--json encrypt --key @keys --integer 256 --width 8 --out @d.ct"), "INVALID_ARGUMENT");
    fails(&run("--json encrypt --key @keys --bits 01 --out @d.ct --exhausted"), "INVALID_ARGUMENT");
    fails(&run("--json decrypt --key @keys --in @c.ct --out @d.csv --count 3"), "INVALID_ARGUMENT");
    fails(&run("--json decrypt --key @keys --in @keys/secret.key --out @d.csv"), "BAD_BYTES");
}

#[test]
fn a_picture_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    let picture = image::GrayImage::from_fn(64, 64, |x, y| image::Luma([((x * 2 + y) % 256) as u8]));
    picture.save_with_format(at("photo.png"), image::ImageFormat::Png).unwrap();
    ok(&run("--json keygen --preset toy10 --allow-insecure --out @keys"));
    let encrypted = ok(&run("--json encrypt --key @keys --in @photo.png --out @photo.ct --mode complex"));
    assert_eq!(encrypted["numbers"], 1024, "two pixels in each slot");
    ok(&run("--json bootstrap --keys @keys --in @photo.ct --out @fresh.ct --mode complex"));
    let decrypted = ok(&run(
        "--json decrypt --key @keys --in @fresh.ct --out @fresh.png --mode complex --compare @photo.png",
    ));
    assert!(decrypted["precision"]["worst"].as_f64().unwrap() >= 9.0, "{decrypted}");
    let back = image::open(at("fresh.png")).unwrap();
    assert_eq!((back.width(), back.height()), (32, 32));
}

#[test]
fn files_that_are_something_else_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy10 --allow-insecure --out @keys --secret-only"));
    ok(&run("--json keygen --preset toy11 --allow-insecure --out @other --secret-only"));
    std::fs::write(at("numbers.csv"), "0.5, -0.5").unwrap();
    let encrypt =
        |key: &str, input: &str| run(&format!("--json encrypt --key @{key} --in @{input} --out @a.ct"));
    ok(&encrypt("keys", "numbers.csv"));
    std::fs::write(at("large.csv"), "2").unwrap();
    assert!(fails(&encrypt("keys", "large.csv"), "INVALID_ARGUMENT").contains("[-1, 1]"));
    fails(&encrypt("nowhere", "numbers.csv"), "FILE");
    assert!(fails(&encrypt("numbers.csv", "numbers.csv"), "BAD_BYTES").contains("numbers.csv"));
    let no_key = run("--json encrypt --key @a.ct --in @numbers.csv --out @b.ct");
    assert!(fails(&no_key, "BAD_BYTES").contains("a.ct"));
    let decrypt =
        |key: &str, input: &str| run(&format!("--json decrypt --key @{key} --in @{input} --out @b.csv"));
    ok(&decrypt("keys", "a.ct"));
    fails(&decrypt("other", "a.ct"), "PARAMS_MISMATCH");
    fails(&decrypt("keys", "keys/secret.key"), "BAD_BYTES");
    // Every command says plainly that a message was not encrypted.
    std::fs::write(at("empty.csv"), "").unwrap();
    let empty = "is empty and no ciphertext; was it written to the end?";
    for (file, words) in [("numbers.csv", ["holds text", "refloat encrypt"]), ("empty.csv", [empty; 2])] {
        let bits = run(&format!("--json gate not --keys @keys --in @{file} --out @c.ct"));
        let refresh = run(&format!("--json bootstrap --keys @keys --in @{file} --out @c.ct"));
        for refused in [decrypt("keys", file), refresh, bits] {
            let detail = fails(&refused, "BAD_BYTES");
            assert!(words.iter().all(|word| detail.contains(word)), "{detail}");
        }
    }
    assert!(fails(&encrypt("keys", "empty.csv"), "INVALID_ARGUMENT").contains("holds no numbers"));
    let bootstrap = run("--json bootstrap --keys @keys --in @a.ct --out @c.ct");
    assert!(fails(&bootstrap, "INVALID_ARGUMENT").contains("refloat keygen"));
    let printed = run("decrypt --key @keys --in @a.ct --out - --count 2");
    assert!(printed.status.success());
    assert_eq!(String::from_utf8(printed.stdout).unwrap().lines().count(), 2);
}

#[test]
fn sets_machine_and_settings_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| refloat(line, folder.path());
    let sets = ok(&run("--json params"));
    let names: Vec<&str> = sets.as_array().unwrap().iter().map(|set| set["name"].as_str().unwrap()).collect();
    assert!(names.starts_with(&["ship13"]) && names.contains(&"toy10"), "{names:?}");
    let toy = ok(&run("--json params toy10"));
    assert_eq!((&toy["secure"], &toy["slots"]), (&false.into(), &512.into()));
    fails(&run("--json params ship99"), "INVALID_ARGUMENT");
    let text = String::from_utf8(run("params").stdout).unwrap();
    assert!(text.contains("INSECURE") && text.contains("ship13"), "{text}");
    let about = ok(&run("--json about"));
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    let config = run("serve --max-queued 5 --print-config");
    assert!(String::from_utf8(config.stdout).unwrap().contains("max_queued = 5"));
    let exposed = run("--json serve --listen 0.0.0.0:0 --data @unused");
    assert!(fails(&exposed, "START").contains("--insecure-listen"));
    for command in [
        "serve",
        "params",
        "keygen",
        "encrypt",
        "bootstrap",
        "gate",
        "circuit",
        "look-up",
        "decrypt",
        "bench",
        "reproduce",
    ] {
        let help = run(&format!("{command} --help"));
        assert!(help.status.success() && !help.stdout.is_empty(), "{command}");
    }
}

#[test]
fn a_set_is_timed_stage_by_stage() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| refloat(line, folder.path());
    let bench = ok(&run("--json bench --preset toy10 --runs 1 --threads 1 --threads 2"));
    assert_eq!(bench["machine"]["version"], env!("CARGO_PKG_VERSION"), "figures are of a build");
    let rows = bench["measurements"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!((row["stages"].as_array().unwrap().len(), &row["level"]), (6, &2.into()));
        assert!(
            row["seconds"].as_f64().unwrap() > 0.0 && row["precision"]["worst"].as_f64().unwrap() >= 10.0
        );
    }
    assert_eq!(rows[0]["precision"], rows[1]["precision"], "the same bits on any number of threads");
    let beside = fails(&run("--json bench --peer lattigo --preset toy10"), "INVALID_ARGUMENT");
    assert!(beside.contains("n16 or n15"), "{beside}");
}

#[test]
fn sets_of_earlier_versions_are_refused_with_the_name_to_take() {
    let folder = tempfile::tempdir().unwrap();
    for (old, now) in
        [("bool-110-unrolled", "bool-100-unrolled"), ("bool-128-2026a", "bool-128"), ("n16-2026a", "n16")]
    {
        for command in ["keygen --out @keys --preset", "bench --preset", "verify --preset"] {
            let refused = refloat(&format!("--json {command} {old}"), folder.path());
            let detail = fails(&refused, "INVALID_ARGUMENT");
            assert!(detail.contains(old) && detail.ends_with(&format!("take {now}")), "{command}: {detail}");
        }
    }
    for command in ["keygen --out @keys --preset", "bench --preset", "verify --preset"] {
        let unknown = refloat(&format!("--json {command} n17"), folder.path());
        let detail = fails(&unknown, "INVALID_ARGUMENT");
        assert!(
            ["ship13", "n16", "bool-128"].iter().all(|name| detail.contains(name)),
            "{command}: {detail}"
        );
    }
    let gates = refloat("--json verify --preset bool-128", folder.path());
    assert!(fails(&gates, "INVALID_ARGUMENT").contains("refloat params bool-128"));
}

#[test]
fn types_of_the_npm_package_are_those_of_the_core() {
    let folder = tempfile::tempdir().unwrap();
    let written = refloat("about --types", folder.path());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ts/src/sets.ts");
    let committed = std::fs::read_to_string(path).unwrap();
    assert!(
        String::from_utf8(written.stdout).unwrap() == committed,
        "ts/src/sets.ts is stale: write it with `cargo run -p refloat-server -- about --types > target/sets.ts && mv target/sets.ts ts/src/sets.ts`"
    );
}

#[test]
fn conventional_sets_are_listed_and_timed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| refloat(line, folder.path());
    let sets = ok(&run("--json params"));
    let n16 = sets.as_array().unwrap().iter().find(|set| set["name"] == "n16").unwrap();
    assert!(n16["secure"] == true && n16["securityBits"].as_f64().unwrap() >= 128.0, "{n16}");
    assert_eq!((&n16["slots"], &n16["outputLevel"]), (&32768.into(), &9.into()));
    let text = String::from_utf8(run("params n15").stdout).unwrap();
    assert!(text.contains("coeffs_to_slots") && text.contains("16384"), "{text}");
    assert!(text.contains("products between bootstraps") && text.contains("coeffs-to-slots-first"), "{text}");

    // The precision after a chain of bootstraps, and a promise that is verified.
    assert!(text.contains("every message with parts in [-1, 1]"), "{text}");
    let chain = String::from_utf8(run("params toy10 --bootstraps 8").stdout).unwrap();
    assert!(chain.contains("bootstraps in a row") && chain.contains("7.00 bits"), "{chain}");
    assert!(chain.contains("nothing computed between the bootstraps"), "{chain}");
    let chain = String::from_utf8(run("params n16 --bootstraps 6").stdout).unwrap();
    assert!(chain.contains("22.92 bits") && chain.contains("every message"), "{chain}");
    let chain = ok(&run("--json params ship13 --bootstraps 50"));
    assert_eq!((&chain["chain"][5]["bootstraps"], chain["chain"].as_array().unwrap().len()), (&31.into(), 6));
    assert_eq!((&chain["gainBits"], &chain["chain"][0]["worst"]), (&5.into(), &5.0.into()));
    let gates = run("--json params bool-128 --bootstraps 4");
    assert!(fails(&gates, "INVALID_ARGUMENT").contains("results of bool-128 are exact"));
    let old = String::from_utf8(run("params n16-2026a").stdout).unwrap();
    assert!(old.contains("take n16\n") && old.contains("random with mean zero"), "{old}");
    assert!(sets.as_array().unwrap().iter().all(|set| set["successor"].is_null()));
    let report = ok(&run("--json verify --preset toy-bgv7 --preset bgv15 --keys 1 --memory 1"));
    assert!(report["exact"].as_array().unwrap().iter().all(|row| row["wrong"] == 0), "{report}");
    assert_eq!(
        (report["exact"].as_array().unwrap().len(), &report["leftOut"][0]["set"]),
        (6, &"bgv15".into())
    );
    let report = ok(&run(
        "--json verify --preset toy-conventional10-sparse --preset toy10 --preset ship14 --keys 1 --memory 1",
    ));
    let rows = report["rows"].as_array().unwrap();
    assert!(
        rows.len() == 34 && rows.iter().all(|row| row["holds"] == true && row["promised"] == true),
        "{rows:?}"
    );
    // Complex numbers too; and a set that does not fit is left out, while the others are verified.
    assert!(rows.iter().any(|row| row["set"] == "toy10" && row["message"] == "unit circle"), "{rows:?}");
    assert_eq!(report["leftOut"][0]["set"], "ship14");
    assert!(fails(&run("--json verify --preset ship14 --memory 1"), "LIMIT").contains("ship14 takes"));

    let set = "--json bench --preset toy-conventional10-sparse --runs 1";
    let bench = ok(&run(&format!("{set} --threads 1 --threads 2")));
    let rows = bench["measurements"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    let promised = ok(&run("--json params toy-conventional10-sparse"));
    for row in rows {
        assert_eq!((row["stages"].as_array().unwrap().len(), &row["levelsLeft"]), (5, &3.into()));
        let precision = &row["precision"];
        assert!(
            precision["mean"].as_f64() >= promised["promisedMeanBits"].as_f64()
                && precision["worst"].as_f64() >= promised["promisedBits"].as_f64(),
            "{row}"
        );
    }
    let fewer = ok(&run(&format!("{set} --threads 1 --slots 4")));
    assert_eq!(fewer["slots"], 16);
    assert!(fewer["keyMemoryBytes"].as_u64() < bench["keyMemoryBytes"].as_u64());
    fails(&run(&format!("{set} --slots 10")), "INVALID_ARGUMENT");
    let full = run("--json bench --preset n16 --memory 1");
    assert!(fails(&full, "LIMIT").contains("n16 takes"));
    assert!(fails(&run("--json bench --preset toy10 --memory 4"), "INVALID_ARGUMENT").contains("--memory"));
}
