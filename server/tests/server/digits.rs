//! Digits of numbers on the command line, here and on a server, at toy size.

use super::support;

use std::path::Path;

use support::process::{Process, fails, ok, refloat};

/// Decrypted numbers of a file.
fn decrypted(name: &str, folder: &Path) -> Vec<f64> {
    ok(&refloat(&format!("--json decrypt --key @keys --in @{name}.ct --out @{name}.json"), folder));
    serde_json::from_slice(&std::fs::read(folder.join(format!("{name}.json"))).unwrap()).unwrap()
}

#[test]
fn numbers_are_reduced_taken_apart_and_looked_up() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy-msb10 --allow-insecure --out @keys"));
    // Hours since some midnight, filling a ciphertext: integers far beyond [-1, 1].
    let hours: Vec<f64> = (0..512).map(|k| f64::from(k * 7919 % 100_003)).collect();
    std::fs::write(at("hours.json"), serde_json::to_vec(&hours).unwrap()).unwrap();
    ok(&run("--json encrypt --key @keys --in @hours.json --out @hours.ct"));
    let here = ok(&run("--json mod 24 --integers --keys @keys --in @hours.ct --out @hour.ct"));
    assert_eq!((&here["digits"], &here["bootstraps"]), (&1.into(), &0.into()), "{here}");
    let hour = decrypted("hour", folder.path());
    assert!(hour.iter().zip(&hours).all(|(found, hours)| (found - hours.rem_euclid(24.0)).abs() < 1e-4));

    // Multiples of 1/8, each moved to the middle of its step.
    let eighths: Vec<f64> = (0..512).map(|k| (f64::from(k) + 0.5) / 8.0).collect();
    std::fs::write(at("x.json"), serde_json::to_vec(&eighths).unwrap()).unwrap();
    ok(&run("--json encrypt --key @keys --in @x.json --out @x.ct"));
    let turned = ok(&run("--json mod 0.5 --bits 10 --centred --keys @keys --in @x.ct --out @turn.ct"));
    assert_eq!(turned["digits"], 2, "{turned}");
    let around = |x: f64| x - (2.0 * x).round() / 2.0;
    let turn = decrypted("turn", folder.path());
    assert!(turn.iter().zip(&eighths).all(|(y, x)| around(y - x).abs() < 1e-2 && y.abs() < 0.26));
    assert!(turn.iter().any(|y| *y < -0.1) && turn.iter().any(|y| *y > 0.1));
    std::fs::write(at("squares.csv"), "0\n1,4, 9\n16\n25\n36\n49\n").unwrap();
    ok(&run("--json table @squares.csv --keys @keys --in @x.ct --out @y.ct"));
    let squares = decrypted("y", folder.path());
    let near = squares.iter().enumerate().filter(|(k, y)| ((k % 8).pow(2) as f64 - **y).abs() < 1e-3).count();
    assert_eq!(near, 512);
    let line = "--json bits 3 --keys @keys --in @x.ct --out @b";
    let bits = ok(&run(line));
    assert_eq!(bits["outputs"].as_array().unwrap().len(), 3);
    for index in 0..3 {
        let found = decrypted(&format!("b{index}"), folder.path());
        assert!(
            found.iter().enumerate().all(|(k, b)| ((k >> index & 1) as f64 - b).abs() < 1e-3),
            "bit {index}"
        );
    }

    let before = std::fs::read(at("b2.ct")).unwrap();
    let server = Process::start(&at("data"));
    ok(&run(&format!("{line} --server {}", server.client.url(""))));
    assert!(std::fs::read(at("b2.ct")).unwrap() == before, "the same bytes here and on a server");
    assert!(server.terminate());

    let refused = |line: &str| fails(&run(line), "INVALID_ARGUMENT");
    assert!(refused("--json mod 2.5 --integers --keys @keys --in @hours.ct --out @z.ct").contains("2.5"));
    assert!(refused("--json mod 131 --integers --keys @keys --in @hours.ct --out @z.ct").contains("131"));
    assert!(refused("--json bits 3 --only 3 --keys @keys --in @x.ct --out @z").contains("bit 3 of 3"));
    std::fs::write(at("bad.csv"), "1\ntwo\n").unwrap();
    assert!(refused("--json table @bad.csv --keys @keys --in @x.ct --out @z.ct").contains("\"two\""));
    assert!(refused("--json mod 1 --keys @keys --in @x.ct --out @x.ct").contains("x.ct"));
    assert!(!at("z.ct").exists() && !at("z3.ct").exists());
    ok(&run("--json keygen --preset toy10 --allow-insecure --out @ship"));
    std::fs::write(at("small.json"), "[0.5]").unwrap();
    ok(&run("--json encrypt --key @ship --in @small.json --out @small.ct"));
    let detail = refused("--json mod 1 --keys @ship --in @small.ct --out @z.ct");
    assert!(detail.contains("toy10") && detail.contains("modular reduction"), "{detail}");
}
