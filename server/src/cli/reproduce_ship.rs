//! `refloat reproduce ship`: the figures of the SHIP talk beside those of this machine.

use clap::ValueEnum;
use refloat::bootstrapping::method::SlotMode;
use refloat::params;
use serde_json::json;

use super::bench::thread_counts;
use super::conventional::ConventionalBench;
use super::failure::Failure;
use super::machine::Machine;
use super::measure::Bench;
use super::output::{Output, bytes, table};
use super::reproduced_row::Row;

/// Source of all published figures; what the slides do not give is left out.
const SOURCE: &str =
    "slides of the SHIP talk (ePrint 2025/784); two AMD EPYC 7473X, 2.8 GHz, AVX2 and OpenMP";

/// Note on the published precision.
const BITS_UNKNOWN: &str =
    "the talk does not say whether this is the worst slot, the mean or the root mean square";
/// Note on the published time of bits.
const CORES_UNKNOWN: &str = "the talk does not say on how many cores";
/// Note on the published failure probability.
const FAILURE: &str = "log2 of the probability; the talk states at most 2^-128 for all sets";

/// A published row of the SHIP talk.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShipRow {
    Ship13,
    Bits,
    Ship14,
    Param15,
    Param16,
}

/// What the slides say about a set.
struct Published {
    row: &'static str,
    /// Bits of precision; [`BITS_UNKNOWN`].
    bits: Option<f64>,
    /// Levels left after a bootstrapping.
    levels_left: Option<f64>,
    /// log2 of the largest modulus.
    log_qp: Option<f64>,
    /// log2 of the largest probability of a wrong result.
    log_failure: f64,
    /// Times: the number of cores, if it is given, and seconds.
    seconds: &'static [(Option<usize>, f64)],
}

const SHIP13: Published = Published {
    row: "SHIP13",
    bits: Some(4.45),
    levels_left: Some(1.0),
    log_qp: None,
    log_failure: -128.0,
    seconds: &[(Some(1), 3.0), (Some(8), 0.45), (Some(16), 0.29), (Some(32), 0.22)],
};

const BITS: Published = Published {
    row: "SHIP, bits",
    bits: None,
    levels_left: None,
    log_qp: None,
    log_failure: -128.0,
    seconds: &[(None, 0.17)],
};

const SHIP14: Published = Published {
    row: "SHIP14",
    bits: Some(16.9),
    levels_left: Some(1.0),
    log_qp: None,
    log_failure: -128.0,
    seconds: &[(Some(1), 4.9), (Some(8), 0.70), (Some(16), 0.42), (Some(32), 0.33)],
};

const PARAM15: Published = Published {
    row: "Param15",
    bits: Some(16.7),
    levels_left: Some(1.0),
    log_qp: Some(771.0),
    log_failure: -128.0,
    seconds: &[(Some(1), 3.4), (Some(8), 0.90), (Some(16), 0.64), (Some(32), 0.62)],
};

const PARAM16: Published = Published {
    row: "Param16",
    bits: Some(22.0),
    levels_left: Some(9.0),
    log_qp: Some(1555.0),
    log_failure: -128.0,
    seconds: &[(Some(1), 8.7), (Some(8), 1.9), (Some(16), 1.4), (Some(32), 1.1)],
};

impl ShipRow {
    /// What was published, and our sets for it.
    fn sets(self) -> (&'static Published, &'static [&'static str]) {
        match self {
            Self::Ship13 => (&SHIP13, &["ship13", "ship13-he2018"]),
            Self::Bits => (&BITS, &["ship13-bits"]),
            Self::Ship14 => (&SHIP14, &["ship14", "ship14-he2018"]),
            Self::Param15 => (&PARAM15, &["n15"]),
            Self::Param16 => (&PARAM16, &["n16"]),
        }
    }
}

/// Measures and prints. Without `rows`, those of SHIP are measured.
pub fn run(rows: &[ShipRow], runs: usize, budget: Option<u64>, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let wanted = if rows.is_empty() { &[ShipRow::Ship13, ShipRow::Bits, ShipRow::Ship14] } else { rows };
    let mut rows = Vec::new();
    for (published, names) in wanted.iter().map(|row| row.sets()) {
        for &name in names {
            if let Ok(preset) = params::conventional_preset(name) {
                conventional(published, preset, &machine, (runs, budget), output, &mut rows)?;
                continue;
            }
            let preset = params::ship_preset(name)?;
            match Bench::fits(&preset.params()?, budget) {
                Ok(()) => measure(published, preset, &machine, (runs, budget), output, &mut rows)?,
                Err(failure) => rows.extend(missing(published, name, &machine, &failure.detail)),
            }
        }
    }
    let value = json!({ "suite": "ship", "source": SOURCE, "machine": machine, "rows": rows });
    output.result(&value, || text(&rows, &machine))
}

/// The rows of a published conventional set.
fn conventional(
    published: &Published,
    preset: &'static params::ConventionalPreset,
    machine: &Machine,
    (runs, budget): (usize, Option<u64>),
    output: &Output,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let bench = match ConventionalBench::new(preset.params()?, 1.0, budget, output) {
        Ok(bench) => bench,
        Err(failure) if failure.code == "LIMIT" => {
            rows.extend(missing(published, preset.name, machine, &failure.detail));
            return Ok(());
        }
        Err(failure) => return Err(failure),
    };
    let make = Maker { published, params: preset.name, machine };
    let mut times = Vec::new();
    let mut bits = None;
    for threads in thread_counts(&[], machine) {
        let timed = bench.best(threads, runs, output)?;
        bits.get_or_insert(timed.precision);
        times.push((threads, timed.seconds));
    }
    let key = "one key, complex slots with parts in [-1, 1]";
    let left = "multiplications before the next bootstrapping";
    let params = &bench.params;
    rows.extend(make.published_precision());
    rows.push(make.row("precision, mean", None, bits.map(|bits| bits.mean), "bits", 1, key));
    rows.push(make.row("precision, worst slot", None, bits.map(|bits| bits.worst), "bits", 1, key));
    let levels = params.levels().left() as f64;
    rows.push(make.row("levels left", published.levels_left, Some(levels), "levels", 1, left));
    rows.push(make.failure(params.log2_failure(), "a quotient beyond the range of the polynomial"));
    let statement = &params.security().statement;
    rows.push(make.row("log2 QP", published.log_qp, Some(params.log_qp()), "bits", 1, statement));
    rows.extend(make.times(&times, runs));
    let memory = bench.keys.memory_bytes() as f64;
    let held = if bench.plan.streamed {
        "the most held at a time; read from a file as they are used"
    } else {
        "expanded"
    };
    rows.push(make.row("evaluation keys, memory", None, Some(memory), "bytes", 1, held));
    let diagonals = bench.evaluator.memory_bytes() as f64;
    let kept = if bench.plan.evaluated { "kept evaluated" } else { "kept as coefficients" };
    rows.push(make.row("diagonals, memory", None, Some(diagonals), "bytes", 1, kept));
    Ok(())
}

fn measure(
    published: &Published,
    preset: &'static params::ShipPreset,
    machine: &Machine,
    (runs, budget): (usize, Option<u64>),
    output: &Output,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let bench = Bench::new(preset.params()?, budget, output)?;
    let statement = bench.params.security().statement.clone();
    let memory = bench.keys.memory_bytes() as f64;
    let make = Maker { published, params: preset.name, machine };
    let mut timed = Vec::new();
    let work = [bench.work(bench.params.mode(), 1)?];
    for threads in thread_counts(&[], machine) {
        let best = bench.best(&work, threads, runs, output)?;
        timed.extend(best.into_iter().map(|best| (threads, best)));
    }
    let Some((threads, first)) = timed.first() else { return Ok(()) };
    let uniform =
        if bench.params.mode() == SlotMode::Bits { "uniform bits" } else { "uniform slots in [-1, 1]" };
    let (bits, key) = (first.precision, &format!("one key, {uniform}"));
    let left = (first.level - bench.params.input_level()) as f64;
    rows.extend(make.published_precision());
    rows.push(make.row("precision, worst slot", None, Some(bits.worst), "bits", *threads, key));
    rows.push(make.row("precision, rms", None, Some(bits.rms), "bits", *threads, key));
    let use_of_levels = "multiplications before the next bootstrapping";
    rows.push(make.row("levels left", published.levels_left, Some(left), "levels", *threads, use_of_levels));
    rows.push(make.failure(Some(bench.log2_failure()), "noise beyond the margin, of this key"));
    rows.push(make.row("log2 QP", published.log_qp, Some(bench.params.log_qp()), "bits", 1, &statement));
    rows.extend(
        make.times(&timed.iter().map(|(threads, run)| (*threads, run.seconds)).collect::<Vec<_>>(), runs),
    );
    let wire = bench.params.key_bytes() as f64;
    rows.push(make.row("evaluation keys, wire", None, Some(wire), "bytes", 1, "seeded and packed"));
    rows.push(make.row("evaluation keys, memory", None, Some(memory), "bytes", 1, "expanded"));
    Ok(())
}

/// Rows of a set that cannot be measured here, for the reason in the note.
fn missing(published: &Published, params: &'static str, machine: &Machine, note: &str) -> Vec<Row> {
    let make = Maker { published, params, machine };
    let figures = [
        ("precision", published.bits, "bits"),
        ("levels left", published.levels_left, "levels"),
        ("failure", Some(published.log_failure), "log2"),
        ("log2 QP", published.log_qp, "bits"),
    ];
    let figures = figures.into_iter().filter(|(_, value, _)| value.is_some());
    let times = published
        .seconds
        .iter()
        .map(|&(threads, seconds)| make.row("bootstrapping", Some(seconds), None, "s", threads, note));
    figures.map(|(metric, value, unit)| make.row(metric, value, None, unit, 1, note)).chain(times).collect()
}

/// Makes the rows of one set.
struct Maker<'a> {
    published: &'a Published,
    params: &'static str,
    machine: &'a Machine,
}

impl Maker<'_> {
    fn row(
        &self,
        metric: &str,
        published: Option<f64>,
        measured: Option<f64>,
        unit: &'static str,
        threads: impl Into<Option<usize>>,
        note: &str,
    ) -> Row {
        Row {
            suite: "ship",
            row: Some(self.published.row),
            metric: metric.to_owned(),
            published,
            measured,
            unit,
            threads: threads.into(),
            params: self.params,
            machine: self.machine.line(),
            note: note.to_owned(),
        }
    }

    /// The published precision. No figure of ours stands beside it, because the talk does not say what it measures.
    fn published_precision(&self) -> Option<Row> {
        self.published.bits.map(|bits| self.row("precision", Some(bits), None, "bits", None, BITS_UNKNOWN))
    }

    /// The probability of a wrong result, published and computed; `event` says what would go wrong.
    fn failure(&self, computed: Option<f64>, event: &str) -> Row {
        let note = format!("{FAILURE}; ours computed: {event}");
        self.row("failure", Some(self.published.log_failure), computed, "log2", None, &note)
    }

    /// Published and measured times, by number of threads; first those for which no number is given.
    fn times(&self, measured: &[(usize, f64)], runs: usize) -> Vec<Row> {
        let measured: Vec<_> = measured.iter().map(|&(threads, seconds)| (Some(threads), seconds)).collect();
        let find = |list: &[(Option<usize>, f64)], threads| {
            list.iter().find(|(count, _)| *count == threads).map(|(_, s)| *s)
        };
        let mut counts: Vec<Option<usize>> =
            self.published.seconds.iter().chain(&measured).map(|(threads, _)| *threads).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
            .into_iter()
            .map(|threads| {
                let (there, here) = (find(self.published.seconds, threads), find(&measured, threads));
                let note = match (there, here) {
                    _ if threads.is_none() => CORES_UNKNOWN.to_owned(),
                    (_, None) => format!("not measured: this machine has {} threads", self.machine.threads),
                    (None, _) => format!("fastest of {runs}; nothing published for this number"),
                    _ => format!("fastest of {runs}"),
                };
                self.row("bootstrapping", there, here, "s", threads, &note)
            })
            .collect()
    }
}

fn text(rows: &[Row], machine: &Machine) -> String {
    let mut cells = vec![
        ["row", "set", "metric", "published", "measured", "threads", "note"].map(str::to_owned).to_vec(),
    ];
    cells.extend(rows.iter().map(|row| {
        let shown = |value: Option<f64>| value.map_or("-".to_owned(), |value| show(value, row.unit));
        vec![
            row.row.unwrap_or_default().to_owned(),
            row.params.to_owned(),
            row.metric.clone(),
            shown(row.published),
            shown(row.measured),
            row.threads.map_or("-".to_owned(), |threads| threads.to_string()),
            row.note.clone(),
        ]
    }));
    format!("published: {SOURCE}\nmeasured:  {}\n\n{}", machine.line(), table(&cells))
}

fn show(value: f64, unit: &str) -> String {
    match unit {
        "bytes" => bytes(value as u64),
        "levels" => format!("{value:.0}"),
        "log2" => format!("2^{value:.0}"),
        _ => format!("{value:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_machine() -> Machine {
        Machine {
            version: "0",
            cpu: "x".into(),
            threads: 2,
            system: "y".into(),
            backend: "z".into(),
            load: None,
        }
    }

    #[test]
    fn every_published_time_has_a_row_and_measured_ones_their_own() {
        let machine = some_machine();
        let make = Maker { published: &SHIP13, params: "ship13", machine: &machine };
        let rows = make.times(&[(1, 0.5), (2, 0.3)], 3);
        let brief: Vec<_> = rows.iter().map(|row| (row.threads, row.published, row.measured)).collect();
        assert_eq!(
            brief,
            [
                (Some(1), Some(3.0), Some(0.5)),
                (Some(2), None, Some(0.3)),
                (Some(8), Some(0.45), None),
                (Some(16), Some(0.29), None),
                (Some(32), Some(0.22), None)
            ]
        );
        let bits = Maker { published: &BITS, params: "ship13-bits", machine: &machine };
        let rows = bits.times(&[(1, 0.25)], 3);
        assert_eq!((rows[0].threads, rows[0].published, rows[0].measured), (None, Some(0.17), None));
        assert!(rows[0].note.contains("how many cores"));
        assert_eq!((rows[1].threads, rows[1].published, rows[1].measured), (Some(1), None, Some(0.25)));
    }

    #[test]
    fn a_published_precision_is_beside_none_of_ours_and_failures_are_computed() {
        let machine = some_machine();
        let make = Maker { published: &SHIP14, params: "ship14", machine: &machine };
        let precision = make.published_precision().unwrap();
        assert_eq!(
            (precision.metric.as_str(), precision.published, precision.measured),
            ("precision", Some(16.9), None)
        );
        let failure = make.failure(Some(-529.4), "an event");
        assert_eq!((failure.published, failure.measured, failure.unit), (Some(-128.0), Some(-529.4), "log2"));
        assert_eq!(show(-529.4, "log2"), "2^-529");
        assert!(missing(&BITS, "ship13-bits", &machine, "why").len() == 2, "a failure and a time");
        assert!(
            missing(&SHIP14, "ship14", &machine, "why")
                .iter()
                .all(|row| row.measured.is_none() && row.published.is_some())
        );
    }
}
