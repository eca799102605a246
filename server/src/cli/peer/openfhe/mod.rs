//! OpenFHE's argmin by scheme switching, by way of its Python package.

use std::io::Write;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::super::failure::Failure;
use super::super::output::Output;
use super::super::progress;

/// The program that Python runs.
const SCRIPT: &str = include_str!("argmin.py");

/// Exit status of the program if the package is not installed.
const MISSING: i32 = 3;

/// What the program measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Argmin {
    /// Ring degree of the slots.
    pub ring: u32,
    /// Seconds of each run, from slots to slots.
    pub seconds: Vec<f64>,
    /// Runs whose answer was wrong.
    pub wrong: usize,
    /// Seconds that keys and tables took.
    pub key_seconds: f64,
}

impl Argmin {
    /// Seconds of the fastest run.
    pub fn fastest(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// Measures `runs` runs of finding the smallest of `count` numbers, at 128 bits or as a toy. The inner error says why it cannot.
///
/// # Errors
/// [`Failure`] if Python runs and the program fails for another reason than the missing package.
pub fn argmin(
    count: usize,
    runs: usize,
    threads: usize,
    secure: bool,
    output: &Output,
) -> Result<Result<Argmin, String>, Failure> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let set = if secure { "128" } else { "toy" };
    let arguments = [count.to_string(), runs.to_string(), threads.to_string(), set.to_owned()];
    let spinner = progress::spinner(output, &format!("OpenFHE: argmin of {count}"));
    let started = Command::new(&python)
        .arg("-")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            spinner.finish_and_clear();
            return Ok(Err(format!(
                "{python} does not start ({error}); install Python, or name it in PYTHON"
            )));
        }
    };
    // If the program ends early, its status says why.
    if let Some(mut input) = child.stdin.take() {
        let _ = input.write_all(SCRIPT.as_bytes());
    }
    let done = child.wait_with_output();
    spinner.finish_and_clear();
    let done = done.map_err(|error| Failure::system(&format!("cannot wait for {python}: {error}")))?;
    let complaint = String::from_utf8_lossy(&done.stderr);
    let complaint = complaint.trim().lines().last().unwrap_or_default();
    if done.status.code() == Some(MISSING) {
        return Ok(Err(format!("{complaint}; pip install openfhe, for a version of Python that it has")));
    }
    if !done.status.success() {
        return Err(Failure::system(&format!("OpenFHE's program failed ({}): {complaint}", done.status)));
    }
    let text = String::from_utf8_lossy(&done.stdout);
    // The library may print lines of its own before.
    let line = text.trim().lines().last().unwrap_or_default();
    let read = serde_json::from_str(line);
    read.map(Ok).map_err(|error| {
        Failure::system(&format!("OpenFHE's program wrote something else than its figures: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_the_program_writes_them() {
        let line = r#"{"ring": 8192, "seconds": [2.5, 2.0], "wrong": 0, "keySeconds": 7.5}"#;
        let read: Argmin = serde_json::from_str(line).unwrap();
        assert!((read.fastest() - 2.0).abs() < 1e-12 && read.wrong == 0 && read.ring == 8192);
        for field in ["ring", "seconds", "wrong", "keySeconds"] {
            assert!(SCRIPT.contains(&format!("\"{field}\"")), "{field}");
        }
        assert!(SCRIPT.contains(&format!("sys.exit({MISSING})")));
    }
}
