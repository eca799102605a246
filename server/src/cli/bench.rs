//! `refloat bench`.

use std::fmt::Write;

use clap::Args;
use clap::builder::ArgPredicate;
use refloat::bootstrapping::bgv::BgvPreset;
use refloat::bootstrapping::method::SlotMode;
use refloat::params::{self, CggiPreset, ConventionalPreset};
use refloat::schemes::cggi::{CggiParams, Encoding};
use refloat::wire::WireWord;
use serde_json::json;

use super::bench_conventional;
use super::failure::Failure;
use super::gate_times::GateBench;
use super::machine::{self, Machine};
use super::measure::{self, Bench};
use super::output::{Output, bytes};
use super::peer::{self, Peer};
use super::progress::stage_table;
use super::reproduce_bgv;
use super::sets;
use crate::registry::Registry;

const EXAMPLES: &str = "\
Examples:
  refloat bench --preset ship13
  refloat bench --preset toy10 --runs 10 --threads 1 --threads 2
  refloat bench --preset ship13 --complex --batch 8
  refloat bench --preset n16 --runs 2 --memory 12
  refloat bench --preset n16-sparse --slots 5
  refloat bench --peer lattigo --preset n16
  refloat bench --preset bool-128
  refloat bench --preset bgv15";

/// Arguments of `refloat bench`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Parameter set; insecure ones are fine, nothing is protected here.
    #[arg(long, default_value = params::DEFAULT_PRESET, default_value_if("peer", ArgPredicate::IsPresent, params::DEFAULT_CONVENTIONAL_PRESET))]
    preset: String,
    /// Measures another library beside ours, one thread each unless one number of threads is asked for.
    #[arg(long, conflicts_with_all = ["complex", "batch", "slots", "memory"])]
    peer: Option<Peer>,
    /// Bootstrappings per number of threads; the fastest counts. Of gates at least 10.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: u16,
    /// Numbers of threads; by default 1 and all.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Vec<u16>,
    /// Also with complex slots, by turns with real ones.
    #[arg(long)]
    complex: bool,
    /// Also a batch of this many ciphertexts in one pass over the keys, by turns with a single one.
    #[arg(long, value_parser = clap::value_parser!(u16).range(2..=64))]
    batch: Option<u16>,
    /// log2 of the number of slots, of a set for conventional bootstrapping.
    #[arg(long, value_name = "LOG")]
    slots: Option<u32>,
    /// GiB that keys, diagonals and runs of such a set may take; with less, diagonals are transformed at every use,
    /// and then keys are read from a temporary file as they are used [default: what is available].
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u16).range(1..))]
    memory: Option<u16>,
}

/// Times a set, or another library beside ours.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    time(arguments, registry, output)?;
    if let Some(request) = machine::request() {
        output.note(request);
    }
    Ok(())
}

fn time(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    if let Some(peer) = arguments.peer {
        let threads = arguments.threads.first().copied().map_or(1, usize::from);
        return peer::run(peer, &arguments.preset, threads, arguments.runs.into(), output);
    }
    if let Ok(preset) = params::conventional_preset(&arguments.preset) {
        return conventional(preset, arguments, output);
    }
    if BgvPreset::named(&arguments.preset).is_ok() {
        return integers(arguments, output);
    }
    let cggi = params::cggi_preset(&arguments.preset);
    let ship = params::ship_preset(&arguments.preset);
    if cggi.is_err() && ship.is_err() {
        return Err(sets::not_for(registry, &arguments.preset, "bench"));
    }
    if arguments.slots.is_some() || arguments.memory.is_some() {
        return Err(Failure::usage(format!(
            "--slots and --memory are for sets of conventional bootstrapping such as {}, and {} is not one",
            params::DEFAULT_CONVENTIONAL_PRESET,
            arguments.preset
        )));
    }
    if let Ok(preset) = cggi {
        return gates(preset, arguments, output);
    }
    let preset = ship?;
    let machine = Machine::here();
    let threads = thread_counts(&arguments.threads, &machine);
    let params = preset.params()?;
    let fill_seconds = measure::fill_seconds(&params, None)?;
    let bench = Bench::new(params, None, output)?;
    let memory = bench.keys.memory_bytes();
    let mut rows = Vec::new();
    let mut text = format!(
        "{} on {}\nevaluation keys made in {:.2} s on all threads, {:.2} times what filling as much fresh memory takes: \
         {} on the wire, {} in memory\n",
        preset.name,
        machine.line(),
        bench.keygen_seconds,
        bench.keygen_seconds / fill_seconds,
        bytes(bench.params.key_bytes()),
        bytes(memory as u64)
    );
    let mut works = vec![bench.work(bench.params.mode(), 1)?];
    if arguments.complex {
        works.push(bench.work(SlotMode::Complex, 1)?);
    }
    if let Some(count) = arguments.batch {
        works.push(bench.work(bench.params.mode(), count.into())?);
    }
    for threads in threads {
        let best = bench.best(&works, threads, usize::from(arguments.runs), output)?;
        let read = bench.read_seconds(threads, usize::from(arguments.runs))?;
        for (work, timed) in works.iter().zip(&best) {
            let ciphertexts = work.ciphertexts();
            let single_runs = timed.seconds / (ciphertexts as f64 * best[0].seconds);
            let what = match (ciphertexts, work.mode().name()) {
                (1, mode) => format!("one ciphertext, {mode} slots"),
                (_, mode) => format!("{ciphertexts} ciphertexts together, {mode} slots"),
            };
            let beside = if std::ptr::eq(timed, &raw const best[0]) {
                String::new()
            } else {
                format!("; {single_runs:.2} of {ciphertexts} times the first")
            };
            let _ = write!(
                text,
                "\n{threads} thread{}, {what}: {:.3} s (fastest of {}{beside}), {:.2} times a plain read of the \
                 blind-rotation keys, {:.2} bits in the worst slot, {:.2} bits rms\n{}",
                if threads == 1 { "" } else { "s" },
                timed.seconds,
                arguments.runs,
                timed.seconds / read,
                timed.precision.worst,
                timed.precision.rms,
                stage_table(&timed.stages)
            );
            rows.push(json!({
                "threads": threads, "runs": arguments.runs, "ciphertexts": ciphertexts,
                "mode": work.mode().name(), "seconds": timed.seconds, "readSeconds": read, "ofSingleRuns": single_runs,
                "precision": timed.precision, "level": timed.level, "stages": timed.stages,
            }));
        }
    }
    let value = json!({
        "params": preset.name, "machine": machine, "keygenSeconds": bench.keygen_seconds, "writeSeconds": fill_seconds,
        "keyBytes": bench.params.key_bytes(), "keyMemoryBytes": memory, "measurements": rows,
    });
    output.result(&value, || text)
}

/// Times a set for conventional bootstrapping.
fn conventional(preset: &ConventionalPreset, arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    if arguments.complex || arguments.batch.is_some() {
        return Err(Failure::usage(format!(
            "--complex and --batch are for SHIP sets, and {} is not one; its slots are complex",
            preset.name
        )));
    }
    let request = bench_conventional::Request {
        log_slots: arguments.slots,
        runs: arguments.runs.into(),
        threads: thread_counts(&arguments.threads, &Machine::here()),
        budget: arguments.memory.map(|gib| u64::from(gib) << 30),
    };
    bench_conventional::run(preset, &request, output)
}

/// Times a set of integers: the rows of `refloat reproduce bgv`.
fn integers(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    if arguments.complex || arguments.batch.is_some() || arguments.slots.is_some() {
        return Err(Failure::usage(format!(
            "--complex, --batch and --slots are for sets of CKKS, and {} is not one; its slots are integers",
            arguments.preset
        )));
    }
    let request = reproduce_bgv::Request {
        sets: vec![arguments.preset.clone()],
        mode: None,
        runs: arguments.runs.into(),
        threads: arguments.threads.clone(),
        budget: arguments.memory.map(|gib| u64::from(gib) << 30),
        allow_insecure: false,
    };
    reproduce_bgv::run(&request, output)
}

/// Times a DM/CGGI set: a NAND, a look-up of the integers it is made for, an addition of bytes, independent gates.
fn gates(preset: &CggiPreset, arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    if arguments.complex || arguments.batch.is_some() {
        return Err(Failure::usage(format!(
            "--complex and --batch are for SHIP sets, and {} is not one",
            preset.name
        )));
    }
    match preset.params() {
        Ok(params) => gates_over(preset, &params, arguments, output),
        Err(_) => gates_over(preset, &preset.params_over::<u64>()?, arguments, output),
    }
}

fn gates_over<W: WireWord>(
    preset: &CggiPreset,
    params: &CggiParams<W>,
    arguments: &Arguments,
    output: &Output,
) -> Result<(), Failure> {
    let machine = Machine::here();
    let bench = GateBench::new(params)?;
    let runs = usize::from(arguments.runs).max(10);
    let nand = bench.nand(runs)?;
    let messages = params.spec().messages;
    let look_up = bench.look_up(Encoding::Padded { messages }, runs)?;
    let mut rows = Vec::new();
    let mut text = format!(
        "{} on {}\nevaluation keys made in {:.2} s on all threads, {} in memory\nfastest of {runs} on one thread: \
         NAND {:.2} ms, look-up of an integer below {messages} {:.2} ms\n",
        preset.name,
        machine.line(),
        bench.keygen_seconds,
        bytes(bench.memory_bytes() as u64),
        1e3 * nand,
        1e3 * look_up
    );
    let mut alone = None;
    for threads in thread_counts(&arguments.threads, &machine) {
        let (seconds, bootstraps) = bench.adder(threads, runs.min(10))?;
        let independent = bench.independent(INDEPENDENT, threads, runs.min(10))?;
        let first = *alone.get_or_insert(independent);
        let _ = write!(
            text,
            "\n{threads} thread{}: sum of two bytes, {bootstraps} bootstraps, {:.1} ms, {:.1} bootstraps a second; \
             {INDEPENDENT} independent gates {:.1} ms, {:.2} times as fast as on the fewest threads",
            if threads == 1 { "" } else { "s" },
            1e3 * seconds,
            bootstraps as f64 / seconds,
            1e3 * independent,
            first / independent
        );
        rows.push(json!({
            "threads": threads, "seconds": seconds, "bootstraps": bootstraps, "independentGates": INDEPENDENT,
            "independentSeconds": independent, "speedup": first / independent,
        }));
    }
    let value = json!({
        "params": preset.name, "machine": machine, "keygenSeconds": bench.keygen_seconds,
        "keyMemoryBytes": bench.memory_bytes(), "runs": runs, "nandSeconds": nand, "lookUpSeconds": look_up,
        "adder": rows,
    });
    output.result(&value, || text)
}

/// Gates of the circuit that shows what threads are worth.
const INDEPENDENT: usize = 64;

/// The numbers of threads asked for, or 1 and all.
pub fn thread_counts(asked: &[u16], machine: &Machine) -> Vec<usize> {
    let mut counts: Vec<usize> = if asked.is_empty() {
        vec![1, machine.threads]
    } else {
        asked.iter().copied().map(usize::from).collect()
    };
    counts.sort_unstable();
    counts.dedup();
    counts
}
