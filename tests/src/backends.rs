//! A test once more in a process of its own, with each arithmetic that the machine has.

use std::process::Command;

use refloat::arith::{Word, all_backends};

/// What a child process prints before its answer.
const ANSWER: &str = "answer of this backend:";

/// The results of `answer` with each backend, by name, each from a child process that runs the test `test` alone; `None` in such a
/// child. `used` is the name of the arithmetic in this process.
///
/// # Panics
/// If a child gives no answer, or another arithmetic than was asked for is used.
pub fn answers<W: Word>(
    test: &str,
    used: &str,
    answer: impl FnOnce() -> String,
) -> Option<Vec<(&'static str, String)>> {
    if std::env::var("REFLOAT_TEST_CHILD").is_ok() {
        println!("{ANSWER} {used} {}", answer());
        return None;
    }
    let names: Vec<&'static str> = all_backends::<W>().iter().map(|kernels| kernels.name()).collect();
    assert!(names.contains(&"scalar"));
    println!("backends compared: {names:?}");
    let of = |name: &'static str| {
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", test, "--nocapture"])
            .env("REFLOAT_TEST_CHILD", "1")
            .env("REFLOAT_BACKEND", name)
            .output()
            .expect("this test's own program");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.split(ANSWER).nth(1).and_then(|rest| rest.lines().next());
        let (used, answer) = line
            .and_then(|line| line.trim().split_once(' '))
            .unwrap_or_else(|| panic!("no answer from {name}: {text}"));
        assert_eq!(used, name, "the backend that was asked for");
        (name, answer.to_owned())
    };
    Some(names.into_iter().map(of).collect())
}
