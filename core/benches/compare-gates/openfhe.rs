//! OpenFHE, through the script beside this file.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::Row;

/// Row, name, seconds to make keys, seconds of the fastest run.
pub type Time = (Row, String, f64, f64);

/// Times of OpenFHE on one thread; none, and a message, if Python does not have it.
pub fn times(runs: usize) -> Vec<Time> {
    let python = std::env::var("REFLOAT_PYTHON").unwrap_or_else(|_| "python3".into());
    let import = Command::new(&python).args(["-c", "import openfhe"]).stderr(Stdio::null()).status();
    if !import.is_ok_and(|status| status.success()) {
        println!(
            "OpenFHE is left out: {python} cannot import openfhe. Make a virtual environment of a Python that its \
             wheel supports, `pip install openfhe` there, and name that python in REFLOAT_PYTHON."
        );
        return Vec::new();
    }
    println!("OpenFHE ...");
    let child = Command::new(&python)
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/openfhe_gates.py"), &runs.to_string()])
        .env("OMP_NUM_THREADS", "1")
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("the Python that was there a moment ago");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let times = lines.map(|line| time(&line.expect("text")).expect("a line of the script")).collect();
    assert!(child.wait().is_ok_and(|status| status.success()), "the script failed");
    times
}

/// Reads row, name, and two times, between tabulators.
fn time(line: &str) -> Option<Time> {
    let mut fields = line.split('\t');
    let row = match fields.next()? {
        "gate" => Row::Gate,
        "modulo 8" => Row::ModuloEight,
        _ => return None,
    };
    let name = format!("OpenFHE {}", fields.next()?);
    Some((row, name, fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}
