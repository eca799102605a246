//! `refloat reproduce ckks-openfhe`: conventional bootstrapping of the comparison, in one round and in two.

use std::fmt::Write;

use refloat::bootstrapping::ckks_conventional::ConventionalBootstrapper;
use refloat::bootstrapping::{MetaBootstrapper, Method};
use refloat::params::conventional_preset;
use serde::Serialize;
use serde_json::json;

use super::conventional::{ConventionalBench, Timed};
use super::failure::Failure;
use super::machine::Machine;
use super::output::{Output, table};

/// Source of the published figures.
const SOURCE: &str =
    "comparison of bootstrapping methods: OpenFHE 1.1.1, Intel Core i7-9700, 3.0 GHz, one thread";

/// Published figures: the number of slots, bits of precision and seconds with one round and with two; and our set for them.
struct Published {
    log_slots: u32,
    rounds: [(f64, f64); 2],
    preset: &'static str,
}

const PUBLISHED: [Published; 2] = [
    Published { log_slots: 15, rounds: [(13.0, 44.0), (28.0, 92.4)], preset: "n16" },
    Published { log_slots: 5, rounds: [(18.0, 21.5), (36.0, 45.3)], preset: "n16-precise" },
];

/// One row, published and measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    params: &'static str,
    slots: usize,
    rounds: u32,
    published_bits: f64,
    /// Bits of the mean error, and of the worst slot.
    mean_bits: Option<f64>,
    worst_bits: Option<f64>,
    published_seconds: f64,
    seconds: Option<f64>,
    published_slots_per_second: f64,
    slots_per_second: Option<f64>,
    levels_left: usize,
    note: String,
}

/// Measures and prints.
pub fn run(runs: usize, budget: Option<u64>, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let mut rows = Vec::new();
    for published in &PUBLISHED {
        measure(published, runs, budget, output, &mut rows)?;
    }
    let value = json!({ "suite": "ckks-openfhe", "source": SOURCE, "machine": machine, "rows": rows });
    output.result(&value, || text(&rows, &machine, runs))
}

fn measure(
    published: &Published,
    runs: usize,
    budget: Option<u64>,
    output: &Output,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let preset = conventional_preset(published.preset)?;
    let params = preset.params_with_slots(published.log_slots)?;
    let (slots, left) = (params.slots(), params.levels().left());
    let (bench, note) = match ConventionalBench::new(params, 1.0, budget, output) {
        Ok(bench) => (Some(bench), String::new()),
        Err(failure) if failure.code == "LIMIT" => (None, failure.detail),
        Err(failure) => return Err(failure),
    };
    // A second round bootstraps the error of the first, scaled up by this many bits.
    let gain = preset.gain_bits()?;
    for (rounds, (bits, seconds)) in (1..).zip(published.rounds) {
        let timed: Option<Timed> = bench
            .as_ref()
            .map(|bench| {
                bench.best_of(1, runs, output, |bench, x, observer| {
                    let (evaluator, keys) = (&bench.evaluator, bench.keys.source());
                    let method = ConventionalBootstrapper { evaluator, keys };
                    MetaBootstrapper::new(&method, rounds, gain)?.bootstrap(x, observer)
                })
            })
            .transpose()?;
        let mean = timed.as_ref().map(|timed| timed.precision.mean);
        let mut note = note.clone();
        if rounds == 2 && bench.is_some() {
            note = format!("the second round gains up to {gain} bits, and takes a level");
        }
        if let Some(short) = mean.map(|mean| bits - mean).filter(|short| *short > 0.0) {
            let _ = write!(note, "; {short:.1} bits below the published precision");
        }
        rows.push(Row {
            params: published.preset,
            slots,
            rounds,
            published_bits: bits,
            mean_bits: mean,
            worst_bits: timed.as_ref().map(|timed| timed.precision.worst),
            published_seconds: seconds,
            seconds: timed.as_ref().map(|timed| timed.seconds),
            published_slots_per_second: slots as f64 / seconds,
            slots_per_second: timed.as_ref().map(|timed| slots as f64 / timed.seconds),
            levels_left: left - (rounds as usize - 1),
            note,
        });
    }
    Ok(())
}

fn text(rows: &[Row], machine: &Machine, runs: usize) -> String {
    let heading = [
        "slots",
        "rounds",
        "set",
        "bits published",
        "mean",
        "worst",
        "s published",
        "ours",
        "slots/s published",
        "ours",
        "levels left",
        "note",
    ];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        vec![
            row.slots.to_string(),
            row.rounds.to_string(),
            row.params.to_owned(),
            format!("{:.0}", row.published_bits),
            number(row.mean_bits, 2),
            number(row.worst_bits, 2),
            format!("{:.1}", row.published_seconds),
            number(row.seconds, 2),
            format!("{:.2}", row.published_slots_per_second),
            number(row.slots_per_second, 2),
            row.levels_left.to_string(),
            row.note.clone(),
        ]
    }));
    format!(
        "published: {SOURCE}\nmeasured:  {}, one thread, fastest of {runs}\n\n{}",
        machine.line(),
        table(&cells)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_rates_are_those_of_the_times() {
        let mut rows = Vec::new();
        for published in &PUBLISHED {
            measure(published, 1, Some(1 << 20), &Output::new(true), &mut rows).unwrap();
        }
        let rates: Vec<f64> = rows.iter().map(|row| row.published_slots_per_second).collect();
        for (rate, expected) in rates.iter().zip([745.0, 355.0, 1.49, 0.71]) {
            assert!((rate / expected - 1.0).abs() < 0.01, "{rate}");
        }
        assert!(rows.iter().all(|row| row.seconds.is_none() && row.note.contains("takes")));
    }
}
