//! `refloat plan` against what the sets say themselves.

use super::support;

use std::collections::BTreeSet;

use serde_json::Value;
use support::process::{fails, ok, refloat};

fn asked(line: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    ok(&refloat(line, folder.path()))
}

/// The rotations that the labels of key pieces name, modulo the ring's slots.
fn labelled(set: &Value) -> BTreeSet<i64> {
    let labels = set["keyParts"].as_array().unwrap().iter().map(|part| part["label"].as_str().unwrap());
    let steps = labels.filter_map(|label| {
        let (steps, rest) = label.split_once("rotation by ")?.1.split_once(", ")?;
        // A rotation together with an inversion does not count.
        if rest.starts_with("level") { steps.parse().ok() } else { None }
    });
    let around = 1i64 << (set["logN"].as_i64().unwrap() - 1);
    steps.map(|steps: i64| steps.rem_euclid(around)).collect()
}

#[test]
fn a_plan_agrees_with_the_set() {
    for name in ["toy10", "toy-conventional10-50bit", "toy-msb10", "toy-link", "toy-bgv10", "toy-bool"] {
        let (plan, set) =
            (asked(&format!("--json plan --preset {name}")), asked(&format!("--json params {name}")));
        assert_eq!(plan["params"], name);
        assert_eq!(plan["evaluationKeys"]["bytes"], set["keyBytes"], "{name}");
        assert_eq!(
            plan["evaluationKeys"]["pieces"].as_u64().unwrap(),
            set["keyParts"].as_array().unwrap().len() as u64
        );
        assert_eq!(plan["ciphertextBytes"], set["ciphertextBytes"], "{name}");
        assert_eq!(plan["memory"]["keys"], set["expandedKeyBytes"], "{name}");
        assert!(plan["memory"]["run"].as_u64().unwrap() > 0 && plan["secretKeyBytes"].as_u64().unwrap() > 64);
        assert!(plan.get("measured").is_none());
        let levels = ["input", "output"].map(|end| plan["levels"][end].as_u64().unwrap());
        assert_eq!(plan["levels"]["products"], levels[1] - levels[0]);
        let Some(rotations) = plan.get("rotations") else {
            assert_eq!(name, "toy-bool", "a set without slots");
            continue;
        };
        let around = 1i64 << (set["logN"].as_i64().unwrap() - 1);
        let steps: Vec<i64> =
            rotations.as_array().unwrap().iter().map(|one| one["steps"].as_i64().unwrap()).collect();
        assert!(
            steps.is_sorted() && steps.iter().all(|steps| steps.abs() <= around / 2),
            "{name}: {steps:?}"
        );
        let found: BTreeSet<i64> = steps.iter().map(|steps| steps.rem_euclid(around)).collect();
        assert_eq!(found, labelled(&set), "{name}");
        assert_eq!(found.is_empty(), name == "toy10", "SHIP rotates nothing");
        let moduli: Vec<f64> =
            plan["logQ"].as_array().unwrap().iter().map(|log| log.as_f64().unwrap()).collect();
        assert!(moduli.len() as u64 > levels[1] && moduli.is_sorted_by(|a, b| a < b), "{name}: {moduli:?}");
        assert!(plan["products"].as_u64().is_some());
    }
}

/// Keys are made a piece at a time: that takes more than the largest piece, but far less than all of them loaded.
#[test]
#[cfg(target_os = "linux")]
fn the_memory_of_making_keys_is_that_of_their_largest_pieces() {
    let plan = asked("--json plan --preset ship13");
    let set = asked("--json params ship13");
    let pieces = set["keyParts"].as_array().unwrap().iter().map(|part| part["bytes"].as_u64().unwrap());
    let keygen = plan["memory"]["keygen"].as_u64().unwrap();
    assert!(keygen > pieces.max().unwrap(), "{keygen}");
    assert!(keygen < plan["memory"]["keys"].as_u64().unwrap() / 2, "{keygen}");
    let folder = tempfile::tempdir().unwrap();
    let words = String::from_utf8(refloat("plan --preset toy10", folder.path()).stdout).unwrap();
    assert!(words.contains("memory of making keys"), "{words}");
}

#[test]
fn keys_are_made_and_loaded_to_be_measured() {
    for name in ["toy10", "toy-bool"] {
        let measured = &asked(&format!("--json plan --preset {name} --measure"))["measured"];
        assert!(
            measured["makeSeconds"].as_f64().unwrap() > 0.0
                && measured["loadSeconds"].as_f64().unwrap() > 0.0
        );
        assert!(measured["machine"].as_str().unwrap().contains("threads"));
    }
}

#[test]
fn people_read_it_and_other_names_are_told_the_sets() {
    let folder = tempfile::tempdir().unwrap();
    let said = refloat("plan --preset toy-bgv10", folder.path());
    let words = String::from_utf8(said.stdout).unwrap();
    for part in [
        "INSECURE",
        "rotations with keys of their own",
        "others are composed",
        "swap of rows",
        "--measure",
        "log2 Q",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let detail = fails(&refloat("--json plan --preset nope", folder.path()), "INVALID_ARGUMENT");
    assert!(
        ["nope", "ship13", "n16", "msb16", "bgv15", "bool-128", "toy-link"]
            .iter()
            .all(|name| detail.contains(name)),
        "{detail}"
    );
}
