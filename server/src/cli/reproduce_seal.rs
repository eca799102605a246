//! `refloat reproduce seal-bootstrapping`: the published rows of the twelve sets beside those of this machine.

use std::process::{Command, Stdio};

use refloat::bootstrapping::ckks_conventional::ConventionalParams;
use refloat::params::{SealSet, seal_sets};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::conventional::ConventionalBench;
use super::failure::Failure;
use super::machine::Machine;
use super::measure::Precision;
use super::output::{Output, bytes, table};
use super::progress::spinner;
use super::seal_rows::{SealRow, rows};

/// Source of the published figures.
const SOURCE: &str = "RNS-CKKS bootstrapping on SEAL 3.5.6, Intel Core i7-9700K, 3.6 GHz, one thread";

/// Which rows, and how.
pub struct Request {
    /// Numbers of the sets; all if empty.
    pub sets: Vec<u32>,
    /// log2 of the numbers of slots; the smallest if empty.
    pub slots: Vec<u32>,
    /// Runs of each; the fastest counts.
    pub runs: usize,
    /// Bytes of memory that a row may take.
    pub budget: Option<u64>,
}

impl Request {
    fn wants(&self, row: &SealRow) -> bool {
        (self.sets.is_empty() || self.sets.contains(&row.set))
            && (self.slots.contains(&row.log_slots) || self.slots.is_empty() && row.log_slots == 10)
    }
}

/// One row, published and measured.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    params: String,
    title: String,
    log_slots: u32,
    #[serde(rename = "logQP")]
    log_qp: f64,
    integer_bits: u32,
    published_fraction_bits: f64,
    /// Bits of the mean error.
    fraction_bits: Option<f64>,
    worst_fraction_bits: Option<f64>,
    published_levels: usize,
    levels: usize,
    published_seconds: f64,
    seconds: Option<f64>,
    /// Milliseconds a slot.
    published_amortised: f64,
    amortised: Option<f64>,
    key_bytes: u64,
    /// log2 of the probability that a bootstrapping fails, computed.
    log_failure: Option<f64>,
    note: String,
}

/// Measures and prints.
pub fn run(request: &Request, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let wanted: Vec<SealRow> = rows().filter(|row| request.wants(row)).collect();
    if wanted.is_empty() {
        return Err(Failure::usage("there is no such row; sets are 1 to 12, slots 10 to 15 (as log2)"));
    }
    let mut measured = Vec::new();
    for published in &wanted {
        let set = seal_sets()
            .iter()
            .find(|set| set.number == published.set)
            .ok_or_else(|| Failure::usage(format!("there is no set {}", published.set)))?;
        let alone = wanted.len() == 1;
        measured.push(if alone {
            row(set, published, request, output)?
        } else {
            row_apart(set, published, request, output)?
        });
    }
    let value =
        json!({ "suite": "seal-bootstrapping", "source": SOURCE, "machine": machine, "rows": measured });
    output.result(&value, || text(&measured, &machine, request.runs))
}

/// Runs [`row`] in a process of its own: the allocator keeps what a row used, in pieces that do not fit the next row's keys. If the
/// row fails, its note says so.
fn row_apart(set: &SealSet, published: &SealRow, request: &Request, output: &Output) -> Result<Row, Failure> {
    #[derive(Deserialize)]
    struct Answer {
        rows: Vec<Row>,
    }
    let (number, slots) = (published.set.to_string(), published.log_slots.to_string());
    let spinner = spinner(output, &format!("set {number}, 2^{slots} slots"));
    let mut command = Command::new(std::env::current_exe().map_err(|error| Failure::system(&error))?);
    command.args(["--json", "reproduce", "seal-bootstrapping", "--set", &number, "--slots", &slots]);
    command.args(["--runs", &request.runs.to_string()]);
    if let Some(budget) = request.budget {
        command.args(["--memory", &(budget >> 30).to_string()]);
    }
    let answer = command.stdin(Stdio::null()).output().map_err(|error| Failure::system(&error))?;
    spinner.finish_and_clear();
    let rows = serde_json::from_slice(&answer.stdout).map(|Answer { rows }| rows).unwrap_or_default();
    if let Some(row) = rows.into_iter().next() {
        return Ok(row);
    }
    let note = format!("failed, {}: {}", answer.status, String::from_utf8_lossy(&answer.stderr).trim());
    Ok(Row { note, ..Row::unmeasured(set, published, &set.params(published.log_slots)?) })
}

impl Row {
    fn unmeasured(set: &SealSet, published: &SealRow, params: &ConventionalParams<u64>) -> Self {
        Self {
            params: set.name(),
            title: set.title(params),
            log_slots: published.log_slots,
            log_qp: params.log_qp(),
            integer_bits: set.integer_bits,
            published_fraction_bits: published.fraction_bits,
            fraction_bits: None,
            worst_fraction_bits: None,
            published_levels: set.levels_left[usize::from(params.is_full())],
            levels: params.levels().left(),
            published_seconds: published.seconds,
            seconds: None,
            published_amortised: amortised(published.seconds, published.log_slots),
            amortised: None,
            key_bytes: params.expanded_key_bytes(),
            log_failure: params.log2_failure(),
            note: String::new(),
        }
    }
}

fn row(set: &SealSet, published: &SealRow, request: &Request, output: &Output) -> Result<Row, Failure> {
    let params = set.params(published.log_slots)?;
    let mut row = Row::unmeasured(set, published, &params);
    let bench = match ConventionalBench::new(params, 1.0, request.budget, output) {
        Ok(bench) => bench,
        Err(failure) if failure.code == "LIMIT" => {
            row.note = failure.detail;
            return Ok(row);
        }
        Err(failure) => return Err(failure),
    };
    let timed = bench.best(1, request.runs, output)?;
    // The message has parts in [-1, 1] and stands for one that is 2^integer_bits as large.
    let Precision { mean, worst, .. } = timed.precision;
    let fraction = |bits: f64| bits - f64::from(set.integer_bits);
    row.fraction_bits = Some(fraction(mean));
    row.worst_fraction_bits = Some(fraction(worst));
    row.seconds = Some(timed.seconds);
    row.amortised = Some(amortised(timed.seconds, published.log_slots));
    let mut notes = Vec::new();
    let short = published.fraction_bits - fraction(mean);
    if short > 0.0 {
        notes.push(format!("{short:.1} bits below the published precision"));
    }
    if bench.plan.streamed {
        let held = bytes(bench.plan.keys);
        notes.push(format!(
            "keys read from a file as they are used, {held} in memory at a time, for lack of memory"
        ));
    }
    if !bench.plan.evaluated {
        notes.push("diagonals transformed at every use, for lack of memory".to_owned());
    }
    row.note = notes.join("; ");
    Ok(row)
}

/// Milliseconds a slot.
fn amortised(seconds: f64, log_slots: u32) -> f64 {
    1e3 * seconds / f64::from(1 << log_slots)
}

fn text(rows: &[Row], machine: &Machine, runs: usize) -> String {
    let heading = [
        "set",
        "slots",
        "bits published",
        "mean",
        "worst",
        "levels",
        "ours",
        "s published",
        "ours",
        "ms a slot",
        "ours",
        "keys",
        "failure",
        "note",
    ];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        let bits = |value: Option<f64>| {
            value.map_or("-".to_owned(), |value| format!("{}+{value:.2}", row.integer_bits))
        };
        let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        vec![
            row.params.clone(),
            format!("2^{}", row.log_slots),
            bits(Some(row.published_fraction_bits)),
            bits(row.fraction_bits),
            bits(row.worst_fraction_bits),
            row.published_levels.to_string(),
            row.levels.to_string(),
            format!("{:.1}", row.published_seconds),
            number(row.seconds),
            format!("{:.1}", row.published_amortised),
            number(row.amortised),
            bytes(row.key_bytes),
            row.log_failure.map_or("-".to_owned(), |log| format!("2^{log:.0}")),
            row.note.clone(),
        ]
    }));
    let mut titles: Vec<String> = rows.iter().map(|row| format!("{}: {}", row.params, row.title)).collect();
    titles.dedup();
    format!(
        "published: {SOURCE}\nmeasured:  {}, one thread, fastest of {runs}; bits of the mean and of the worst slot, \
         before + after the point; failure: probability of a coefficient beyond the range of the polynomial, computed\n\n{}\n{}\n",
        machine.line(),
        table(&cells),
        titles.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_chosen_by_set_and_slots() {
        let count = |sets: &[u32], slots: &[u32]| {
            let request = Request { sets: sets.to_vec(), slots: slots.to_vec(), runs: 1, budget: None };
            rows().filter(|row| request.wants(row)).count()
        };
        assert_eq!(rows().count(), 72);
        assert_eq!(
            (count(&[], &[]), count(&[3], &[]), count(&[3, 4], &[10, 15]), count(&[13], &[])),
            (12, 1, 4, 0)
        );
    }

    #[test]
    fn a_row_that_does_not_fit_says_so() {
        let (set, published) = (&seal_sets()[0], rows().next().unwrap());
        let request = Request { sets: vec![1], slots: vec![10], runs: 1, budget: Some(1 << 30) };
        let row = row(set, &published, &request, &Output::new(true)).unwrap();
        assert!(row.seconds.is_none() && row.note.contains("seal-1 takes"), "{row:?}");
        assert!((row.published_amortised - 91.6).abs() < 0.05, "{row:?}");
        assert!(row.log_failure.is_some_and(|log| log < -100.0), "{row:?}");
    }
}
