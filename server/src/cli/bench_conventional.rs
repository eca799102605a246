//! `refloat bench` of sets for conventional CKKS bootstrapping.

use std::fmt::Write;

use refloat::params::ConventionalPreset;
use serde_json::json;

use super::conventional::ConventionalBench;
use super::failure::Failure;
use super::machine::{self, Machine};
use super::output::{Output, bytes};
use super::progress::stage_table;

/// What `refloat bench` was asked.
pub struct Request {
    /// log2 of the number of slots, if not that of the set.
    pub log_slots: Option<u32>,
    /// Runs per number of threads.
    pub runs: usize,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// Bytes that keys, diagonals and runs may take.
    pub budget: Option<u64>,
}

/// Times a set, stage by stage, and measures its precision.
pub fn run(preset: &ConventionalPreset, request: &Request, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let params = match request.log_slots {
        Some(log_slots) => preset.params_with_slots(log_slots)?,
        None => preset.params()?,
    };
    let [fewest, most] = preset.promised.log_slots;
    if !(fewest..=most).contains(&params.slots().ilog2()) {
        output.note(&format!(
            "{} promises its precision for {} to {} slots, not for {}",
            preset.name,
            1u32 << fewest,
            1u32 << most,
            params.slots()
        ));
    }
    let bench = ConventionalBench::new(params, 1.0, request.budget, output)?;
    let params = &bench.params;
    let mut text = format!(
        "{} with {} slots on {}\n{}\n{}\n",
        preset.name,
        params.slots(),
        machine.line(),
        params.security().statement,
        bench.summary()
    );
    let mut rows = Vec::new();
    for &threads in &request.threads {
        let timed = bench.best(threads, request.runs, output)?;
        let _ = write!(
            text,
            "\n{threads} thread{}: {:.3} s (fastest of {}), {:.2} bits in the mean, {:.2} in the worst slot; {} level{} \
             and a modulus of {:.0} bits left\n{}",
            if threads == 1 { "" } else { "s" },
            timed.seconds,
            request.runs,
            timed.precision.mean,
            timed.precision.worst,
            params.levels().left(),
            if params.levels().left() == 1 { "" } else { "s" },
            timed.log_q,
            stage_table(&timed.stages)
        );
        rows.push(json!({
            "threads": threads, "runs": request.runs, "seconds": timed.seconds, "precision": timed.precision,
            "level": timed.level, "levelsLeft": params.levels().left(), "logQ": timed.log_q, "stages": timed.stages,
        }));
    }
    let peak = machine::peak_memory();
    if let Some(peak) = peak {
        let _ = writeln!(text, "\npeak memory {}", bytes(peak));
    }
    let value = json!({
        "params": preset.name, "slots": params.slots(), "logQP": params.log_qp(),
        "security": params.security().statement, "machine": machine,
        "keygenSeconds": bench.keygen_seconds, "encodeSeconds": bench.encode_seconds, "plan": bench.plan,
        "keyMemoryBytes": bench.keys.memory_bytes(), "diagonalBytes": bench.evaluator.memory_bytes(),
        "peakBytes": peak, "measurements": rows,
    });
    output.result(&value, || text)
}
