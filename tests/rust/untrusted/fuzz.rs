//! A short run of every fuzz target: the same inputs each time.

use std::fs;

use refloat_tests::fuzz::{TARGETS, Target, short_run};
use refloat_tests::source::root;

use super::{allocated, alone};

/// Inputs of a target, and bytes of all of them, at most.
const SIZE: (usize, usize) = (20_000, 64 << 20);

fn run(seed: u64, target: &Target) {
    let Target { name, check, memory: (times, more), .. } = target;
    short_run(target, seed, SIZE, |input| {
        let (cost, accepted) = allocated(|| check(input));
        let most = times * input.len() + more;
        assert!(
            cost <= most,
            "{name}: {cost} bytes of memory for an input of {}, at most {most}",
            input.len()
        );
        accepted
    });
}

#[test]
fn damaged_inputs_are_refused_or_written_as_they_were_read() {
    alone(|| (1..).zip(&TARGETS).for_each(|(seed, target)| run(seed, target)));
}

/// `tests/fuzz` has a program for each target, the core's and the server's, and no other.
#[test]
fn every_target_has_its_program() {
    let manifest = fs::read_to_string(root().join("tests/fuzz/Cargo.toml")).unwrap();
    let server = fs::read_to_string(root().join("server/tests/support/fuzz.rs")).unwrap();
    let quoted = |text: &str, before: &str| -> Vec<String> {
        let parts = text.split(before).skip(1);
        parts.map(|part| part.split('"').next().unwrap_or_default().to_owned()).collect()
    };
    let programs = |file: &str| -> Vec<String> {
        let entries =
            manifest.split("[[bin]]").filter(|entry| entry.contains(&format!("path = \"{file}.rs\"")));
        entries.flat_map(|entry| quoted(entry, "name = \"")).collect()
    };
    assert_eq!(programs("core"), TARGETS.each_ref().map(|target| target.name.to_owned()));
    assert_eq!(programs("server"), quoted(&server, "Target { name: \""));
}
