//! `refloat reproduce cggi`: gates and look-ups of a published comparison beside those of this machine.

use refloat::params::{CggiPreset, cggi_peer_preset, cggi_preset};
use refloat::schemes::cggi::Encoding;
use refloat::wire::WireWord;
use serde::Serialize;
use serde_json::json;

use super::failure::Failure;
use super::gate_times::GateBench;
use super::machine::Machine;
use super::output::{Output, table};

/// Source of the published figures.
const SOURCE: &str = "comparison of bootstrapping methods: OpenFHE 1.1.1, Intel Core i7-9700, one thread";

/// Published seconds of one NAND.
const NAND: f64 = 0.0295;

/// Published seconds of one f(x) mod p of 3 to 4 bits.
const LOOK_UP: f64 = 0.450;

/// One figure, published and measured.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names)] // `row` is the name other programs read.
struct Row {
    suite: &'static str,
    row: &'static str,
    params: &'static str,
    note: &'static str,
    /// Seconds of one gate or look-up.
    published: f64,
    measured: f64,
    /// Values bootstrapped a second.
    published_per_second: f64,
    measured_per_second: f64,
}

/// Measures and prints.
pub fn run(runs: usize, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let mut rows = Vec::new();
    let gates = [
        ("bool-128", "one bit, GINX, binary key"),
        ("bool-64", "one bit, GINX, binary key"),
        ("bool-100-unrolled", "one bit, GINX by pairs of key bits"),
        ("bool-128-ternary", "one bit, GINX, ternary key"),
        ("lmk-128", "one bit, LMKCDEY"),
        ("ntru-128", "one bit, NTRU, experimental"),
        ("ntru-64", "one bit, NTRU, experimental"),
    ];
    for (set, note) in gates {
        rows.push(row("NAND", set, note, NAND, gate_time(cggi_preset(set)?, runs)?));
    }
    let peers = [
        ("below-128-openfhe-std128", "their set, GINX, ternary key"),
        ("below-128-openfhe-std128-lmkcdey", "their set, LMKCDEY"),
        ("below-128-openfhe-std128-ap", "their set, DM (AP)"),
    ];
    for (set, note) in peers {
        rows.push(row("NAND", set, note, NAND, gate_time(cggi_peer_preset(set)?, runs)?));
    }
    let look_ups = [
        ("fbs8", Encoding::Cyclic { messages: 8 }, "3 bits, any f modulo 8, no padding: two rotations"),
        ("fbs8", Encoding::Padded { messages: 8 }, "3 bits and a padding bit: one rotation"),
        ("fbs16", Encoding::Padded { messages: 16 }, "4 bits and a padding bit: one rotation"),
    ];
    for (set, encoding, note) in look_ups {
        rows.push(row("f(x) mod p", set, note, LOOK_UP, look_up_time::<u32>(set, encoding, runs)?));
    }
    let wide = [
        ("fbs8-50", Encoding::Cyclic { messages: 8 }, "3 bits, any f modulo 8, no padding, 64-bit words"),
        ("fbs16-50", Encoding::Padded { messages: 16 }, "4 bits and a padding bit, 64-bit words"),
    ];
    for (set, encoding, note) in wide {
        rows.push(row("f(x) mod p", set, note, LOOK_UP, look_up_time::<u64>(set, encoding, runs)?));
    }
    let value = json!({ "suite": "cggi", "source": SOURCE, "machine": machine, "runs": runs, "rows": rows });
    output.result(&value, || text(&rows, &machine, runs))
}

fn gate_time(set: &CggiPreset, runs: usize) -> Result<f64, Failure> {
    GateBench::new(&set.params()?)?.nand(runs)
}

fn look_up_time<W: WireWord>(set: &str, encoding: Encoding, runs: usize) -> Result<f64, Failure> {
    GateBench::new(&cggi_preset(set)?.params_over::<W>()?)?.look_up(encoding, runs)
}

fn row(row: &'static str, params: &'static str, note: &'static str, published: f64, measured: f64) -> Row {
    Row {
        suite: "cggi",
        row,
        params,
        note,
        published,
        measured,
        published_per_second: 1.0 / published,
        measured_per_second: 1.0 / measured,
    }
}

fn text(rows: &[Row], machine: &Machine, runs: usize) -> String {
    let heading = ["row", "set", "published", "measured", "published/s", "measured/s", "what"];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        vec![
            row.row.to_owned(),
            row.params.to_owned(),
            format!("{:.4} s", row.published),
            format!("{:.4} s", row.measured),
            format!("{:.2}", row.published_per_second),
            format!("{:.2}", row.measured_per_second),
            row.note.to_owned(),
        ]
    }));
    format!(
        "published: {SOURCE}\nmeasured:  {}, one thread, fastest of {runs}; values per second on one thread\n\n{}",
        machine.line(),
        table(&cells)
    )
}
