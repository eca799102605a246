//! `refloat cluster plan`: results from given times and from measured ones, and refused arguments.

use super::support;

use serde_json::Value;
use support::process::{fails, ok, refloat};

fn plan(line: &str) -> std::process::Output {
    refloat(&format!("--json cluster plan {line}"), std::path::Path::new("."))
}

/// A column of the rows.
fn column(plan: &Value, name: &str) -> Vec<f64> {
    plan["rows"].as_array().unwrap().iter().map(|row| row[name].as_f64().unwrap()).collect()
}

#[test]
fn jobs_a_second_follow_from_the_times_that_are_given() {
    let site = "--node-cores 32 --node-memory 64 --key-memory 8 --slots 16 --front-jobs 100";
    let found = ok(&plan(&format!(
        "--preset toy10 --seconds 2 --load-seconds 20 --cores 32 --cores 320 --cores 3200 {site}"
    )));
    assert_eq!((&found["params"], &found["source"]), (&"toy10".into(), &"given".into()));
    assert_eq!(column(&found, "nodes"), [1.0, 10.0, 100.0]);
    assert_eq!(column(&found, "slots"), [16.0, 160.0, 1600.0]);
    // 16 at once, two seconds each.
    assert_eq!(column(&found, "jobs"), [8.0, 80.0, 800.0]);
    assert_eq!(column(&found, "fronts"), [1.0, 1.0, 8.0]);
    assert_eq!(found["rows"][2]["limit"], "table");
    let carried =
        found["job"]["inputBytes"].as_f64().unwrap() + found["job"]["resultBytes"].as_f64().unwrap();
    assert!(carried > 0.0 && column(&found, "bytes") == [8.0, 80.0, 800.0].map(|jobs| jobs * carried));
    // Patience of two machines with 16 slots each; and 90 % of a machine's time against the 20 s of one loading.
    assert_eq!((&found["patience"], &found["jobsALoad"]), (&320.0.into(), &1440.0.into()));
    let usual = ok(&plan("--preset toy10 --seconds 2 --load-seconds 20"));
    assert_eq!(column(&usual, "cores"), [2.0, 32.0, 320.0, 3200.0, 10_000.0]);
    let text =
        refloat("cluster plan --preset toy10 --seconds 2 --load-seconds 20", std::path::Path::new("."));
    let words = String::from_utf8(text.stdout).unwrap();
    for part in ["processors", "jobs/s", "10000", "(assumed)", "a third worker loads keys"] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn times_that_are_not_given_are_measured_here() {
    let found = ok(&plan("--preset toy10 --threads 1 --cores 2 --node-cores 2"));
    assert!(found["source"].as_str().unwrap().starts_with("measured here"), "{found}");
    let job = &found["job"];
    let [seconds, load] = ["seconds", "loadSeconds"].map(|name| job[name].as_f64().unwrap());
    assert!(seconds > 0.0 && load > 0.0 && job["threads"] == 1, "{job}");
    let set = ok(&refloat("--json params toy10", std::path::Path::new(".")));
    assert_eq!(job["keyBytes"], set["expandedKeyBytes"]);
    let slots = column(&found, "slots")[0];
    assert!((column(&found, "jobs")[0] - slots / seconds).abs() < 1e-9 * slots / seconds, "{found}");
}

#[test]
fn what_cannot_be_planned_is_refused_with_the_way_out() {
    let given = "--seconds 1 --load-seconds 1";
    for (line, words) in [
        (format!("--preset nope {given}"), ["nope", "toy10"]),
        ("--preset toy-bool".to_owned(), ["toy-bool", "--load-seconds"]),
        (format!("--preset n16 {given} --key-memory 1"), ["n16", "--key-memory"]),
        (format!("--preset n16 {given} --slots 500"), ["500", "--slots"]),
    ] {
        let detail = fails(&plan(&line), "INVALID_ARGUMENT");
        assert!(words.iter().all(|word| detail.contains(word)), "{line}: {detail}");
    }
    // Refused before anything is planned.
    for (line, word) in [
        ("--seconds 1", "--load-seconds"),
        ("--seconds 0 --load-seconds 1", "above 0"),
        ("--seconds x --load-seconds 1", "not a number"),
        ("--cores 0", "--cores"),
    ] {
        let refused = plan(line);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains(word), "{line}: {said}");
    }
}
