//! `refloat reproduce demystifying`: a survey's comparison of bootstrapping methods, beside the same on this machine.

use refloat::bootstrapping::ckks_conventional::ConventionalBootstrapper;
use refloat::bootstrapping::{MetaBootstrapper, Method};
use refloat::params::{cggi_preset, conventional_preset};
use refloat::schemes::cggi::Encoding;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::conventional::ConventionalBench;
use super::failure::Failure;
use super::gate_times::GateBench;
use super::machine::Machine;
use super::output::{Output, table};
use super::reproduce_bgv;

/// The published table, with its source.
const PUBLISHED: &str = include_str!("demystifying.json");

/// The survey's table.
#[derive(Debug, Deserialize)]
struct Survey {
    source: String,
    rows: Vec<Published>,
}

/// A row of the table, and our set that does the same, if there is one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    method: String,
    slots: usize,
    /// Bits of precision, or of the message if it is exact.
    bits: String,
    seconds: f64,
    ours: Option<Own>,
}

/// One of our sets, and what is measured with it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Own {
    /// NAND.
    Gate(String),
    /// A function of an integer with a padding bit.
    LookUp(String),
    /// Bootstraps of numbers.
    #[serde(rename_all = "camelCase")]
    Ckks { set: String, log_slots: u32, rounds: u32 },
    /// Bootstraps of integers in slots.
    Bgv(String),
}

/// One method, published and measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    method: String,
    published_slots: usize,
    published_bits: String,
    published_seconds: f64,
    published_slots_per_second: f64,
    params: Option<String>,
    measured: Option<Measured>,
    note: String,
    /// Whether the measurement failed; the note says why.
    failed: bool,
}

/// What one of our sets does in one bootstrap.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    slots: usize,
    bits: f64,
    seconds: f64,
    slots_per_second: f64,
}

/// What to measure.
pub struct Request {
    /// Our sets whose rows are measured; all if empty.
    pub sets: Vec<String>,
    /// Runs of each bootstrap of numbers or integers; the fastest counts.
    pub runs: usize,
    /// Runs of each gate or look-up; the fastest counts.
    pub gate_runs: usize,
    /// Bytes that may be taken.
    pub budget: Option<u64>,
}

/// Names of the sets of ours in the table.
///
/// # Errors
/// None: the table is tested.
pub fn sets() -> Result<Vec<String>, Failure> {
    let own = survey()?.rows.into_iter().filter_map(|row| row.ours);
    let mut names: Vec<String> = own.map(|own| own.set().to_owned()).collect();
    names.dedup();
    Ok(names)
}

/// Measures and prints.
///
/// # Errors
/// [`Failure`] after all rows, if a measurement failed, which its row explains. A set that does not fit the memory is not a failure.
pub fn run(request: &Request, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let survey = survey()?;
    let wanted = |row: &Published| {
        let own = row.ours.as_ref().map(Own::set);
        request.sets.is_empty() || own.is_some_and(|own| request.sets.iter().any(|set| set == own))
    };
    let rows: Vec<Row> = survey.rows.into_iter().filter(wanted).map(|row| of(row, request, output)).collect();
    let value = json!({ "suite": "demystifying", "source": survey.source, "machine": machine, "rows": rows });
    output.result(&value, || text(&survey.source, &rows, &machine, request))?;
    failures(&rows)
}

/// A failure that names the rows whose measurement failed, if there are any.
fn failures(rows: &[Row]) -> Result<(), Failure> {
    let failed: Vec<&str> = rows.iter().filter(|row| row.failed).map(|row| row.method.as_str()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure {
        code: "MEASUREMENT_FAILED".to_owned(),
        detail: format!(
            "{} of {} rows failed, for the reasons beside them: {}",
            failed.len(),
            rows.len(),
            failed.join("; ")
        ),
    })
}

fn survey() -> Result<Survey, Failure> {
    serde_json::from_str(PUBLISHED).map_err(|error| Failure {
        code: "INTERNAL".to_owned(),
        detail: format!("the survey's table: {error}"),
    })
}

impl Own {
    fn set(&self) -> &str {
        match self {
            Self::Gate(set) | Self::LookUp(set) | Self::Bgv(set) | Self::Ckks { set, .. } => set,
        }
    }

    /// Slots, bits and seconds on one thread, and what the bits mean.
    fn measure(&self, request: &Request, output: &Output) -> Result<(Measured, &'static str), Failure> {
        match self {
            Self::Gate(set) => {
                let seconds = GateBench::new(&cggi_preset(set)?.params()?)?.nand(request.gate_runs)?;
                Ok((Measured::new(1, 1.0, seconds), "a bit, exactly"))
            }
            Self::LookUp(set) => {
                let preset = cggi_preset(set)?;
                let messages = (preset.spec)().messages;
                let (encoding, runs) = (Encoding::Padded { messages }, request.gate_runs);
                let seconds = if preset.wide() {
                    GateBench::new(&preset.params_over::<u64>()?)?.look_up(encoding, runs)?
                } else {
                    GateBench::new(&preset.params()?)?.look_up(encoding, runs)?
                };
                Ok((
                    Measured::new(1, f64::from(messages).log2(), seconds),
                    "an integer and a padding bit, exactly",
                ))
            }
            Self::Ckks { set, log_slots, rounds } => {
                let preset = conventional_preset(set)?;
                let params = preset.params_with_slots(*log_slots)?;
                let (slots, gain) = (params.slots(), preset.gain_bits()?);
                let bench = ConventionalBench::new(params, 1.0, request.budget, output)?;
                let timed = bench.best_of(1, request.runs, output, |bench, x, observer| {
                    let (evaluator, keys) = (&bench.evaluator, bench.keys.source());
                    let method = ConventionalBootstrapper { evaluator, keys };
                    MetaBootstrapper::new(&method, *rounds, gain)?.bootstrap(x, observer)
                })?;
                Ok((
                    Measured::new(slots, timed.precision.mean, timed.seconds),
                    "precision in the mean over slots",
                ))
            }
            Self::Bgv(set) => {
                let (slots, bits, seconds) =
                    reproduce_bgv::on_one_thread(set, request.runs, request.budget, output)?;
                Ok((Measured::new(slots, bits, seconds), "an integer a slot, exactly"))
            }
        }
    }
}

impl Measured {
    fn new(slots: usize, bits: f64, seconds: f64) -> Self {
        Self { slots, bits, seconds, slots_per_second: slots as f64 / seconds }
    }
}

/// A published row with our measurement.
fn of(published: Published, request: &Request, output: &Output) -> Row {
    let (measured, note, failed) = match published.ours.as_ref().map(|own| own.measure(request, output)) {
        None => (None, "no set of 128 bits for it here".to_owned(), false),
        Some(Ok((measured, note))) => (Some(measured), note.to_owned(), false),
        Some(Err(failure)) if failure.code == "LIMIT" => (None, failure.detail, false),
        // The other rows are measured all the same.
        Some(Err(failure)) => (None, format!("failed ({}): {}", failure.code, failure.detail), true),
    };
    Row {
        method: published.method,
        published_slots: published.slots,
        published_bits: published.bits,
        published_seconds: published.seconds,
        published_slots_per_second: published.slots as f64 / published.seconds,
        params: published.ours.map(|own| own.set().to_owned()),
        measured,
        note,
        failed,
    }
}

fn text(source: &str, rows: &[Row], machine: &Machine, request: &Request) -> String {
    let heading = [
        "method", "slots", "bits", "seconds", "slots/s", "set", "slots", "bits", "seconds", "slots/s", "note",
    ];
    let mut cells = vec![heading.map(str::to_owned).to_vec()];
    cells.extend(rows.iter().map(|row| {
        let own = |shown: fn(&Measured) -> String| row.measured.as_ref().map_or("-".to_owned(), shown);
        vec![
            row.method.clone(),
            row.published_slots.to_string(),
            row.published_bits.clone(),
            format!("{:.4}", row.published_seconds),
            format!("{:.2}", row.published_slots_per_second),
            row.params.clone().unwrap_or_else(|| "-".to_owned()),
            own(|own| own.slots.to_string()),
            own(|own| format!("{:.1}", own.bits)),
            own(|own| format!("{:.4}", own.seconds)),
            own(|own| format!("{:.2}", own.slots_per_second)),
            row.note.clone(),
        ]
    }));
    format!(
        "published, on the left: {source}\nmeasured, on the right: {}, one thread, fastest of {}, of gates and look-ups of {}\n\n{}",
        machine.line(),
        request.runs,
        request.gate_runs,
        table(&cells)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::approx_constant)] // 6.28 slots a second.
    fn the_table_has_the_published_rates_and_sets_that_there_are() {
        let survey = survey().unwrap();
        assert!(survey.source.contains("2023/149"));
        // Slots per second, which the survey states too.
        let published = [33.9, 2.22, 745.0, 355.0, 1.49, 0.71, 68.3, 6.28];
        assert_eq!(survey.rows.len(), published.len());
        for (row, rate) in survey.rows.iter().zip(published) {
            let found = row.slots as f64 / row.seconds;
            assert!((found / rate - 1.0).abs() < 0.01, "{}: {found}", row.method);
        }
        for own in survey.rows.iter().filter_map(|row| row.ours.as_ref()) {
            let secure = match own {
                Own::Gate(set) | Own::LookUp(set) => cggi_preset(set).unwrap().secure(),
                Own::Ckks { set, .. } => conventional_preset(set).unwrap().secure(),
                Own::Bgv(set) => refloat::params::BgvPreset::named(set).unwrap().secure(),
            };
            assert!(secure, "{own:?}");
        }
        assert_eq!(sets().unwrap(), ["bool-128", "fbs16-50", "n16", "n16-precise", "bgv15", "bgv16-gf4"]);
    }

    #[test]
    fn every_kind_of_row_is_measured_on_toys() {
        let output = Output::new(true);
        let request = Request { sets: Vec::new(), runs: 1, gate_runs: 2, budget: None };
        let toys = [
            Some(Own::Gate("toy-bool".into())),
            Some(Own::LookUp("toy-fbs".into())),
            Some(Own::Ckks { set: "toy-conventional11".into(), log_slots: 10, rounds: 2 }),
            Some(Own::Bgv("toy-bgv7".into())),
            None,
        ];
        let row = |ours: Option<Own>| {
            let published =
                Published { method: "a method".into(), slots: 4, bits: "1".into(), seconds: 2.0, ours };
            of(published, &request, &output)
        };
        let rows: Vec<Row> = toys.into_iter().map(row).collect();
        let slots: Vec<Option<usize>> =
            rows.iter().map(|row| row.measured.as_ref().map(|own| own.slots)).collect();
        assert_eq!(slots, [Some(1), Some(1), Some(1024), Some(128), None]);
        for own in rows.iter().filter_map(|row| row.measured.as_ref()) {
            assert!(own.bits >= 1.0 && (own.slots_per_second * own.seconds - own.slots as f64).abs() < 1e-6);
        }
        // Two rounds of a toy that promises 15 bits or more in one.
        assert!(rows[2].measured.as_ref().unwrap().bits > 15.0);
        let text = text("a survey", &rows, &Machine::here(), &request);
        assert!(text.contains("toy-bgv7") && text.contains("no set of 128 bits"));
        let small = Request { budget: Some(1 << 20), ..request };
        let large = Own::Ckks { set: "n16".into(), log_slots: 15, rounds: 1 };
        let published =
            Published { method: "CKKS".into(), slots: 1, bits: "1".into(), seconds: 1.0, ours: Some(large) };
        let row = of(published, &small, &output);
        assert!(row.measured.is_none() && !row.failed && row.note.contains("takes"), "{row:?}");
        failures(std::slice::from_ref(&row)).unwrap();
        // A row that fails does not lose the others.
        let unknown = Published {
            method: "another method".into(),
            slots: 1,
            bits: "1".into(),
            seconds: 1.0,
            ours: Some(Own::Gate("no-such-set".into())),
        };
        let rows = [row, of(unknown, &small, &output)];
        assert!(rows[1].failed && rows[1].note.starts_with("failed (INVALID_ARGUMENT)"), "{rows:?}");
        let all = failures(&rows).unwrap_err().detail;
        assert!(all.contains("1 of 2") && all.contains("another method"), "{all}");
    }
}
