//! `refloat reproduce`: published figures beside those of this machine.

use clap::{Args, ValueEnum};
use refloat::params;
use serde::Serialize;
use serde_json::json;

use super::bench::thread_counts;
use super::failure::Failure;
use super::machine::Machine;
use super::measure::Bench;
use super::output::{Output, bytes, table};

/// Where the published figures are from.
const SOURCE: &str = "SHIP talk, ePrint 2025/784; two AMD EPYC 7473X, 2.8 GHz, AVX2 and OpenMP";

/// Arguments of `refloat reproduce`.
#[derive(Args)]
#[command(after_help = "Example:\n  refloat reproduce ship --json > ship.json")]
pub struct Arguments {
    /// What to reproduce.
    suite: Suite,
    /// Bootstrappings per figure; the fastest counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    runs: u16,
}

/// A published set of figures.
#[derive(Clone, Copy, ValueEnum)]
enum Suite {
    /// CKKS bootstrapping of "SHIP" (Cheon, Hanrot, Kim, Stehlé).
    Ship,
}

/// One figure, published and measured.
#[derive(Debug, Clone, Serialize)]
#[allow(clippy::struct_field_names)] // `row` is the name other programs read.
struct Row {
    suite: &'static str,
    row: &'static str,
    metric: &'static str,
    published: Option<f64>,
    measured: Option<f64>,
    unit: &'static str,
    threads: usize,
    params: &'static str,
    machine: String,
    note: String,
}

/// What the talk says of a set.
struct Published {
    row: &'static str,
    worst_bits: f64,
    log_qp: f64,
    seconds_one: f64,
    seconds_32: f64,
}

const SHIP13: Published =
    Published { row: "SHIP13", worst_bits: 4.45, log_qp: 218.0, seconds_one: 3.0, seconds_32: 0.22 };
const SHIP14: Published =
    Published { row: "SHIP14", worst_bits: 16.9, log_qp: 437.0, seconds_one: 4.9, seconds_32: 0.33 };

/// Our sets for each published one.
const PAIRS: [(&Published, &str); 3] = [(&SHIP13, "ship13"), (&SHIP13, "ship13-he2018"), (&SHIP14, "ship14")];

/// Measures and prints.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let Suite::Ship = arguments.suite;
    let machine = Machine::here();
    let mut rows = Vec::new();
    for (published, name) in PAIRS {
        match params::preset(name) {
            Ok(preset) => {
                measure(published, preset, &machine, usize::from(arguments.runs), output, &mut rows)?;
            }
            Err(_) => rows.extend(missing(published, name, &machine)),
        }
    }
    let value = json!({ "suite": "ship", "source": SOURCE, "machine": machine, "rows": rows });
    output.result(&value, || text(&rows, &machine));
    Ok(())
}

fn measure(
    published: &Published,
    preset: &'static params::Preset,
    machine: &Machine,
    runs: usize,
    output: &Output,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let params = preset.params()?;
    let statement = params.security().statement.clone();
    let bench = Bench::new(params, output)?;
    let row = |metric, published_value, measured, unit, threads, note: String| Row {
        suite: "ship",
        row: published.row,
        metric,
        published: published_value,
        measured: Some(measured),
        unit,
        threads,
        params: preset.name,
        machine: machine.line(),
        note,
    };
    let mut timed = Vec::new();
    for threads in thread_counts(&[], machine) {
        timed.push((threads, bench.best(threads, runs, output)?));
    }
    let Some((threads, first)) = timed.first() else { return Ok(()) };
    let memory = refloat::bootstrapping::ckks_ship::ShipKeys::memory_bytes(&bench.keys);
    let (bits, key) = (first.precision, "one key, uniform slots in [-1, 1]".to_owned());
    rows.push(row(
        "precision, worst slot",
        Some(published.worst_bits),
        bits.worst,
        "bits",
        *threads,
        key.clone(),
    ));
    rows.push(row("precision, rms", None, bits.rms, "bits", *threads, key));
    let left = first.level - bench.params.input_level();
    rows.push(row(
        "levels left",
        Some(1.0),
        left as f64,
        "levels",
        *threads,
        "for multiplications before the next bootstrapping".into(),
    ));
    rows.push(row("log2 QP", Some(published.log_qp), bench.params.log_qp(), "bits", *threads, statement));
    for (threads, run) in &timed {
        let (value, note) = if *threads == 1 {
            (Some(published.seconds_one), format!("fastest of {runs}; published: one core"))
        } else {
            (
                Some(published.seconds_32),
                format!("fastest of {runs} on {threads} threads; published: 32 cores"),
            )
        };
        rows.push(row("bootstrapping", value, run.seconds, "s", *threads, note));
    }
    let wire = bench.params.key_bytes();
    rows.push(row(
        "evaluation keys, wire",
        None,
        wire as f64,
        "bytes",
        machine.threads,
        "seeded and packed".into(),
    ));
    rows.push(row(
        "evaluation keys, memory",
        None,
        memory as f64,
        "bytes",
        machine.threads,
        "expanded".into(),
    ));
    Ok(())
}

/// Rows of a set that this version does not have.
fn missing(published: &Published, params: &'static str, machine: &Machine) -> Vec<Row> {
    let figures = [
        ("precision, worst slot", published.worst_bits, "bits", 1),
        ("levels left", 1.0, "levels", 1),
        ("log2 QP", published.log_qp, "bits", 1),
        ("bootstrapping", published.seconds_one, "s", 1),
        ("bootstrapping", published.seconds_32, "s", machine.threads),
    ];
    figures
        .into_iter()
        .map(|(metric, value, unit, threads)| Row {
            suite: "ship",
            row: published.row,
            metric,
            published: Some(value),
            measured: None,
            unit,
            threads,
            params,
            machine: machine.line(),
            note: format!("refloat {} has no set {params}", env!("CARGO_PKG_VERSION")),
        })
        .collect()
}

fn text(rows: &[Row], machine: &Machine) -> String {
    let mut cells = vec![
        ["row", "set", "metric", "published", "measured", "threads", "note"].map(str::to_owned).to_vec(),
    ];
    cells.extend(rows.iter().map(|row| {
        let shown = |value: Option<f64>| value.map_or("-".to_owned(), |value| show(value, row.unit));
        vec![
            row.row.to_owned(),
            row.params.to_owned(),
            row.metric.to_owned(),
            shown(row.published),
            shown(row.measured),
            row.threads.to_string(),
            row.note.clone(),
        ]
    }));
    format!("published: {SOURCE}\nmeasured:  {}\n\n{}", machine.line(), table(&cells))
}

fn show(value: f64, unit: &str) -> String {
    match unit {
        "bytes" => bytes(value as u64),
        "levels" => format!("{value:.0}"),
        _ => format!("{value:.2} {unit}"),
    }
}
