//! `refloat bench --peer`: another library's bootstrapping beside ours, on the same machine in the same run.
//!
//! Lattigo is a Go module: a small program that uses it is built if Go is installed, and run as a process of its own. Both
//! sides bootstrap complex slots, uniform in the square with parts in [-1, 1], in all N/2 slots, on the same number of threads,
//! and measure errors in the same way.

pub mod openfhe;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use refloat::params::conventional_preset;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::conventional::{ConventionalBench, Timed};
use super::failure::Failure;
use super::machine::{self, Machine};
use super::output::{Output, bytes, table};
use super::progress;

/// Libraries to measure beside ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// github.com/tuneinsight/lattigo/v6, default parameters of the same degree; needs Go, and the module or a way to it.
    Lattigo,
}

/// The files of the Go module.
const SOURCES: [(&str, &str); 3] = [
    ("main.go", include_str!("lattigo/main.go")),
    ("go.mod", include_str!("lattigo/go.mod")),
    ("go.sum", include_str!("lattigo/go.sum")),
];

/// Our sets and the default parameters they are measured beside.
const SETS: [(&str, &str); 2] = [("n16", "N16QP1546H192H32"), ("n15", "N15QP768H192H32")];

/// One side of the comparison, as a row of the table. The Go program prints its row as JSON with these names.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Side {
    log_n: u32,
    slots: usize,
    #[serde(rename = "logQP")]
    log_qp: f64,
    keygen_seconds: f64,
    seconds: Vec<f64>,
    mean_bits: f64,
    worst_bits: f64,
    levels: usize,
    #[serde(rename = "logQ")]
    log_q: f64,
    peak_bytes: u64,
}

impl Side {
    fn fastest(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// Measures both.
///
/// # Errors
/// A failure that says what is missing: a comparable set, Go, or the module.
pub fn run(peer: Peer, preset: &str, threads: usize, runs: usize, output: &Output) -> Result<(), Failure> {
    let Peer::Lattigo = peer;
    let Some((_, set)) = SETS.iter().find(|(ours, _)| *ours == preset) else {
        let names: Vec<&str> = SETS.iter().map(|(ours, _)| *ours).collect();
        return Err(Failure::usage(format!(
            "no parameters of Lattigo are comparable to {preset}; --peer lattigo takes --preset {}",
            names.join(" or ")
        )));
    };
    let machine = Machine::here();
    let theirs = lattigo(set, threads, runs, output)?;
    let bench = ConventionalBench::new(conventional_preset(preset)?.params()?, 1.0, None, output)?;
    let times = bench.runs(threads, runs, output)?;
    let least = |of: fn(&Timed) -> f64| times.iter().map(of).fold(f64::INFINITY, f64::min);
    let ours = Side {
        log_n: bench.params.n().trailing_zeros(),
        slots: bench.params.slots(),
        log_qp: bench.params.log_qp(),
        keygen_seconds: bench.keygen_seconds,
        mean_bits: least(|timed| timed.precision.mean),
        worst_bits: least(|timed| timed.precision.worst),
        levels: bench.params.levels().left(),
        log_q: least(|timed| timed.log_q),
        // If the system does not tell: the keys and diagonals.
        peak_bytes: machine::peak_memory().unwrap_or(bench.memory_bytes() as u64),
        seconds: times.iter().map(|timed| timed.seconds).collect(),
    };
    let ratio = theirs.fastest() / ours.fastest();
    let text = || {
        let titles = [
            "",
            "set",
            "N",
            "slots",
            "log QP",
            "seconds",
            "mean bits",
            "worst bits",
            "levels",
            "log Q left",
            "peak",
            "keys made in",
        ];
        let row = |name: &str, set: &str, side: &Side| {
            vec![
                name.to_owned(),
                set.to_owned(),
                format!("2^{}", side.log_n),
                side.slots.to_string(),
                format!("{:.0}", side.log_qp),
                format!("{:.2}", side.fastest()),
                format!("{:.1}", side.mean_bits),
                format!("{:.1}", side.worst_bits),
                side.levels.to_string(),
                format!("{:.0}", side.log_q),
                bytes(side.peak_bytes),
                format!("{:.1} s", side.keygen_seconds),
            ]
        };
        format!(
            "bootstrap of one ciphertext, fastest of {runs}, threads: {threads}; {}\n{}refloat takes {:.3} of the time: \
             {ratio:.2} times as fast\n",
            machine.line(),
            table(&[
                titles.map(str::to_owned).to_vec(),
                row("refloat", preset, &ours),
                row("lattigo", set, &theirs),
            ]),
            1.0 / ratio
        )
    };
    let value = json!({
        "machine": machine, "threads": threads, "runs": runs, "ratio": ratio,
        "refloat": { "set": preset, "figures": ours }, "lattigo": { "set": set, "figures": theirs },
    });
    output.result(&value, text)
}

/// Builds the Go program in a folder of its own, runs it, and reads what it measured.
fn lattigo(set: &str, threads: usize, runs: usize, output: &Output) -> Result<Side, Failure> {
    let version = go(Path::new("."), ["version"]).map_err(|failure| Failure {
        detail: format!("{}; install Go (https://go.dev) to measure Lattigo", failure.detail),
        ..failure
    })?;
    let folder = std::env::temp_dir().join(format!("refloat-peer-lattigo-{}", std::process::id()));
    let result = build_and_run(&folder, &version, set, threads, runs, output);
    // Failing to remove a temporary folder is no reason to fail.
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn build_and_run(
    folder: &Path,
    version: &str,
    set: &str,
    threads: usize,
    runs: usize,
    output: &Output,
) -> Result<Side, Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    for (name, text) in SOURCES {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| Failure::file("write", &path, &error))?;
    }
    let spinner = progress::spinner(output, &format!("building with {}", version.trim()));
    go(folder, ["build", "-mod=readonly", "-buildvcs=false", "-o", "peer", "."])?;
    spinner.finish_and_clear();
    let spinner = progress::spinner(output, &format!("Lattigo, {set}"));
    let arguments = [format!("-set={set}"), format!("-runs={runs}"), format!("-threads={threads}")];
    let text = finish(Command::new(folder.join("peer")).args(arguments), "Lattigo's program")?;
    spinner.finish_and_clear();
    read(&text)
}

fn read(text: &str) -> Result<Side, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure::system(&format!("the peer's program wrote something else than its figures: {error}"))
    })
}

fn go<const N: usize>(folder: &Path, arguments: [&str; N]) -> Result<String, Failure> {
    finish(Command::new("go").current_dir(folder).args(arguments.map(OsStr::new)), "go")
}

/// Standard output of a program, which must succeed.
fn finish(command: &mut Command, what: &str) -> Result<String, Failure> {
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::system(&format!("cannot start {what}: {error}")))?;
    if !done.status.success() {
        let complaint = String::from_utf8_lossy(&done.stderr);
        return Err(Failure::system(&format!("{what} failed ({}): {}", done.status, complaint.trim())));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_program_are_read() {
        let line = r#"{"logN":15,"slots":16384,"logQP":767.9,"keygenSeconds":9.5,"seconds":[5.5,5.25],"meanBits":15.5,
            "worstBits":12.1,"levels":2,"logQ":108.0,"peakBytes":5000000000}"#;
        let side = read(line).expect("figures");
        assert_eq!((side.log_n, side.slots, side.levels, side.peak_bytes), (15, 16384, 2, 5_000_000_000));
        assert!((side.fastest() - 5.25).abs() < 1e-12);
        assert!(read("no figures").is_err());
    }

    #[test]
    fn sets_and_sources_belong_together() {
        let program = SOURCES[0].1;
        for (ours, theirs) in SETS {
            assert!(conventional_preset(ours).is_ok() && program.contains(theirs));
        }
        assert!(
            SOURCES[1].1.contains("tuneinsight/lattigo/v6")
                && SOURCES[2].1.contains("tuneinsight/lattigo/v6")
        );
    }
}
