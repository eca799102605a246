//! The order of numbers on the command line, here and on a server, at toy size.

use super::support;

use std::path::Path;

use support::process::{Process, fails, ok, refloat};

/// Decrypted numbers of a file.
fn decrypted(name: &str, folder: &Path) -> Vec<f64> {
    ok(&refloat(&format!("--json decrypt --key @keys --in @{name}.ct --out @{name}.json"), folder));
    serde_json::from_slice(&std::fs::read(folder.join(format!("{name}.json"))).unwrap()).unwrap()
}

#[test]
fn sets_with_both_ways_say_which_they_take() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy-msb-link --allow-insecure --out @keys"));
    std::fs::write(at("x.json"), "[0.25, 0.875, 0.5, 0.0]").unwrap();
    ok(&run("--json encrypt --key @keys --in @x.json --out @x.ct"));
    let line = "--json argmax --count 4 --range unit --keys @keys --in @x.ct --out @y.ct";
    let open = ok(&run(line));
    for (more, by, why) in [
        (String::new(), open["compared"][0]["by"].as_str().unwrap(), "the cheaper way"),
        (" --by gates".to_owned(), "gates", "as the program says"),
        (" --by digits".to_owned(), "digits", "as the program says"),
    ] {
        let said = ok(&run(&format!("{line}{more}")));
        let [one] = said["compared"].as_array().unwrap().as_slice() else { panic!("{said}") };
        assert_eq!(one["by"], by, "{said}");
        let reason = one["reason"].as_str().unwrap();
        // The cost of either way, and how often each is wrong.
        assert_eq!(reason.matches("wrong with a probability of at most 2^-").count(), 2, "{reason}");
        assert!(reason.contains(why) && one["nodes"][0].as_str().unwrap().contains("argmax"), "{said}");
        let found = decrypted("y", folder.path());
        let wanted = [0.0, 1.0, 0.0, 0.0].into_iter().chain(std::iter::repeat(0.0));
        assert!(found.iter().zip(wanted).all(|(y, wanted)| (y - wanted).abs() < 1e-2), "{by}");
    }
    let many = "--json rank --count 20 --range unit --by gates --keys @keys --in @x.ct --out @z.ct";
    assert!(fails(&run(many), "INVALID_ARGUMENT").contains("takes 16 at once"));
}

#[test]
fn numbers_are_ranked_here_and_on_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy-link --allow-insecure --out @keys"));
    // Multiples of 1/16, two of them equal.
    std::fs::write(at("x.json"), "[0.25, 0.875, 0.5, 0.875, 0.0]").unwrap();
    ok(&run("--json encrypt --key @keys --in @x.json --out @x.ct"));
    let exactly = "--count 5 --range grid --grid-bits 4 --keys @keys --in @x.ct";
    let line = format!("--json rank {exactly} --out @rank.ct");
    let here = ok(&run(&line));
    // The failure probability of exact comparisons, look-ups and raises is known beforehand, and below what the set accepts.
    assert!(here["logFailure"].as_f64().unwrap() < -100.0 && here["leastDistance"].is_null(), "{here}");
    for (question, wanted) in [
        ("rank", [1.0, 4.0, 2.0, 3.0, 0.0]),
        ("argmax", [0.0, 1.0, 0.0, 0.0, 0.0]),
        ("argmin", [0.0, 0.0, 0.0, 0.0, 1.0]),
        ("top --most 2", [0.0, 1.0, 0.0, 1.0, 0.0]),
    ] {
        ok(&run(&format!("--json {question} {exactly} --out @y.ct")));
        let found = decrypted("y", folder.path());
        let wanted = wanted.into_iter().chain(std::iter::repeat(0.0));
        assert!(found.iter().zip(wanted).all(|(y, wanted)| (y - wanted).abs() < 1e-2), "{question}");
    }
    let before = std::fs::read(at("rank.ct")).unwrap();
    let server = Process::start(&at("data"));
    ok(&run(&format!("{line} --server {}", server.client.url(""))));
    assert!(std::fs::read(at("rank.ct")).unwrap() == before, "the same bytes here and on a server");
    assert!(server.terminate());

    // For real numbers, the least distance that they need is stated, in words too.
    let real = "argmax --count 3 --range unit --keys @keys --in @x.ct --out @y.ct";
    let said = ok(&run(&format!("--json {real}")));
    assert!(said["logFailure"].as_f64().unwrap() < -90.0, "{said}");
    let least = said["leastDistance"].as_f64().unwrap();
    assert!((0.005..0.1).contains(&least), "{said}");
    let words = run(real);
    assert!(words.status.success());
    let words = [words.stdout, words.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    for part in
        ["wrong with a probability of at most 2^-", &format!("{:.4} apart", (least * 1e4).ceil() / 1e4)]
    {
        assert!(words.iter().all(|words| words.contains(part)), "{part}: {words:?}");
    }

    let refused = |line: &str| fails(&run(line), "INVALID_ARGUMENT");
    let rest = "--keys @keys --in @x.ct --out @z.ct";
    assert!(refused(&format!("--json argmax --count 17 {rest}")).contains("17 numbers"));
    assert!(refused(&format!("--json argmax --count 1 {rest}")).contains("2 to"));
    assert!(refused(&format!("--json top --most 4 --count 3 {rest}")).contains("1 to 3"));
    assert!(
        refused(&format!("--json rank --count 3 --range grid --grid-bits 11 {rest}")).contains("11 bits")
    );
    assert!(refused(&format!("--json rank --count 3 --grid-bits 4 {rest}")).contains("--range grid"));
    ok(&run("--json keygen --preset toy10 --allow-insecure --out @ship"));
    ok(&run("--json encrypt --key @ship --in @x.json --out @small.ct"));
    let detail = refused("--json argmax --count 3 --keys @ship --in @small.ct --out @z.ct");
    assert!(detail.contains("toy10") && detail.contains("links numbers to gates"), "{detail}");
    assert!(!at("z.ct").exists());
}
