//! `refloat reproduce`: published figures beside those of this machine.

use clap::{Args, ValueEnum};
use refloat::bootstrapping::method::SlotMode;
use refloat::bootstrapping::scheme_switching::LinkPreset;
use refloat::params;
use serde_json::json;

use super::bench::thread_counts;
use super::conventional::ConventionalBench;
use super::failure::Failure;
use super::machine::Machine;
use super::measure::Bench;
use super::output::{Output, bytes, table};
use super::reproduce_bgv;
use super::reproduce_crossing;
use super::reproduce_demystifying;
use super::reproduce_modular::{self, Set};
use super::reproduce_seal;
use super::reproduce_switching;
use super::reproduced_row::Row;

/// Where the published figures are from: all of them. What the slides do not say is left out.
const SOURCE: &str =
    "slides of the SHIP talk (ePrint 2025/784); two AMD EPYC 7473X, 2.8 GHz, AVX2 and OpenMP";

/// Of the published precision.
const OF_WHICH: &str =
    "the talk does not say whether of the worst slot, of the mean or of the root mean square";
/// Of the published time of bits.
const CORES_UNKNOWN: &str = "the talk does not say on how many cores";
/// Of the published failure probability.
const FAILURE: &str = "log2 of the probability; the talk states at most 2^-128 for all sets";

const EXAMPLES: &str = "\
Examples:
  refloat reproduce ship --json > ship.json
  refloat reproduce ship --rows param15 --rows param16
  refloat reproduce cggi
  refloat reproduce seal-bootstrapping --set 1 --slots 10 --slots 12
  refloat reproduce ckks-openfhe
  refloat reproduce modular-reduction --table 5 --table 6
  refloat reproduce modular-reduction --rings
  refloat reproduce bgv --set bgv15 --runs 5
  refloat reproduce bgv --mode general --set toy-bgv-gf4
  refloat reproduce bgv --set V-A --mode general --runs 1 --allow-insecure
  refloat reproduce bgv --polynomials
  refloat reproduce scheme-switching --runs 1000
  refloat reproduce scheme-switching --crossing --runs 3
  refloat reproduce scheme-switching --peer openfhe
  refloat reproduce demystifying --set bool-128 --set n16";

/// Arguments of `refloat reproduce`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Arguments {
    /// What to reproduce.
    suite: Suite,
    /// Bootstrappings per figure; the fastest counts [default: 3, 5 of `bgv`, 10 of
    /// `scheme-switching`, and 30 of gates].
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    runs: Option<u16>,
    /// Published rows of `ship` [default: ship13, bits and ship14; the others take 8 and 11 GB].
    #[arg(long)]
    rows: Vec<ShipRow>,
    /// Sets: numbers of `seal-bootstrapping`, 1 to 12 [default: all]; own, paper or toy of `modular-reduction` [default: own];
    /// names of sets of `bgv` [default: bgv15] and `scheme-switching` [default: n15+fbs16-50], and of `demystifying` [default: all of
    /// its table].
    #[arg(long)]
    set: Vec<String>,
    /// Of `bgv`, the polynomials that read digits: their degrees, and what they cost. `--set` then names published sets too.
    #[arg(long, conflicts_with = "mode")]
    polynomials: bool,
    /// Of `bgv`, what bootstraps refresh: an integer in each slot, or all coordinates of slots of several [default: what the set has].
    #[arg(long)]
    mode: Option<reproduce_bgv::Mode>,
    /// Of `bgv`, published sets too, with chains of our own, which have 79 to 87 bits of security by the lattice estimator.
    #[arg(long)]
    allow_insecure: bool,
    /// Tables of `modular-reduction`, after its name: `modular-reduction --table 5 6` [default: all].
    #[arg(long, num_args = 1.., value_parser = ["5", "6", "7", "8", "10"])]
    table: Vec<String>,
    /// Of `modular-reduction`, products of integers modulo small n instead of tables, beside those of BGV.
    #[arg(long)]
    rings: bool,
    /// Of `scheme-switching`, from how many comparisons on digits are the cheaper way; on one thread.
    #[arg(long)]
    crossing: bool,
    /// Of `scheme-switching`, another library beside ours in the same run: OpenFHE's argmin, where Python (`$PYTHON`) has its package
    /// `openfhe`.
    #[arg(long, value_parser = ["openfhe"])]
    peer: Option<String>,
    /// log2 of the numbers of slots of `seal-bootstrapping`, 10 to 15 [default: 10].
    #[arg(long, value_name = "LOG", value_parser = clap::value_parser!(u32).range(10..=15))]
    slots: Vec<u32>,
    /// GiB that conventional bootstrapping may take: with less, diagonals are transformed at every use, and then keys are read
    /// from a temporary file as they are used [default: what is available].
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u16).range(1..))]
    memory: Option<u16>,
}

/// A published row of the SHIP talk.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShipRow {
    Ship13,
    Bits,
    Ship14,
    Param15,
    Param16,
}

/// A published set of figures.
#[derive(Clone, Copy, ValueEnum)]
enum Suite {
    /// CKKS bootstrapping of "SHIP" (Cheon, Hanrot, Kim, Stehlé).
    Ship,
    /// Gates and look-ups of DM/CGGI.
    Cggi,
    /// Conventional CKKS bootstrapping with sparse packing, on SEAL.
    SealBootstrapping,
    /// Conventional CKKS bootstrapping of OpenFHE, in one round and in two.
    CkksOpenfhe,
    /// Modular reduction in CKKS (Kim, Noh).
    ModularReduction,
    /// BGV bootstrapping by removal of a small digit (Ma, Huang, Wang, Wang).
    Bgv,
    /// From CKKS to DM/CGGI and back, and the largest of sixteen numbers.
    SchemeSwitching,
    /// The comparison of bootstrapping methods of a survey (Al Badawi, Polyakov).
    Demystifying,
}

impl Suite {
    /// Its name, and what chooses its sets, where `--set` does not.
    fn fixed_sets(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Ship => Some(("ship", "leave it out, or choose rows by --rows")),
            Self::Cggi => Some(("cggi", "leave it out")),
            Self::CkksOpenfhe => Some(("ckks-openfhe", "leave it out")),
            _ => None,
        }
    }

    /// That sets were named of a suite that always measures the same.
    fn without_sets(self, sets: &[String]) -> Failure {
        let (name, repair) = self.fixed_sets().unwrap_or_default();
        Failure::usage(format!(
            "--set {}: `reproduce {name}` always measures the sets of its source; {repair}",
            sets.join(", ")
        ))
    }
}

/// What the slides say of a set.
struct Published {
    row: &'static str,
    /// Bits of precision; [`OF_WHICH`].
    bits: Option<f64>,
    /// Levels left after a bootstrapping.
    levels_left: Option<f64>,
    /// log2 of the largest modulus.
    log_qp: Option<f64>,
    /// log2 of the largest probability of a wrong result.
    log_failure: f64,
    /// Cores, where they are given, and seconds.
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

/// Measures and prints.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let runs = |default| arguments.runs.map_or(default, usize::from);
    let budget = arguments.memory.map(|gib| u64::from(gib) << 30);
    match arguments.suite {
        Suite::Bgv if arguments.polynomials => reproduce_bgv::polynomials::run(&arguments.set, output),
        _ if arguments.rings && !matches!(arguments.suite, Suite::ModularReduction) => {
            Err(Failure::usage("--rings is for `reproduce modular-reduction`"))
        }
        _ if arguments.allow_insecure && !matches!(arguments.suite, Suite::Bgv) => {
            Err(Failure::usage("--allow-insecure is for `reproduce bgv`"))
        }
        _ if arguments.mode.is_some() && !matches!(arguments.suite, Suite::Bgv) => {
            Err(Failure::usage("--mode is for `reproduce bgv`"))
        }
        _ if arguments.peer.is_some() && !matches!(arguments.suite, Suite::SchemeSwitching) => {
            Err(Failure::usage("--peer is for `reproduce scheme-switching`"))
        }
        _ if arguments.crossing && !matches!(arguments.suite, Suite::SchemeSwitching) => {
            Err(Failure::usage("--crossing is for `reproduce scheme-switching`"))
        }
        _ if arguments.polynomials => Err(Failure::usage("--polynomials is for `reproduce bgv`")),
        _ if !arguments.set.is_empty() && arguments.suite.fixed_sets().is_some() => {
            Err(arguments.suite.without_sets(&arguments.set))
        }
        Suite::Ship => ship(&arguments.rows, runs(3), budget, output),
        Suite::Cggi => super::reproduce_cggi::run(runs(30), output),
        Suite::SealBootstrapping => {
            let (sets, slots) = (named(&arguments.set, "1 to 12", seal_set)?, arguments.slots.clone());
            reproduce_seal::run(&reproduce_seal::Request { sets, slots, runs: runs(3), budget }, output)
        }
        Suite::Bgv => {
            let own = |name: &String| Ok(reproduce_bgv::set(name, None)?.name.to_owned());
            let sets = arguments.set.iter().map(own).collect::<Result<_, Failure>>()?;
            reproduce_bgv::run(
                &reproduce_bgv::Request {
                    sets,
                    mode: arguments.mode,
                    runs: runs(5),
                    threads: Vec::new(),
                    budget,
                    allow_insecure: arguments.allow_insecure,
                },
                output,
            )
        }
        Suite::SchemeSwitching => {
            let known = LinkPreset::all().iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ");
            let sets = named(&arguments.set, &known, |name| {
                LinkPreset::named(name).ok().map(|set| set.name.to_owned())
            })?;
            if arguments.peer.is_some() && (arguments.crossing || sets.len() > 1) {
                return Err(Failure::usage(
                    "--peer runs beside the argmin of one set: leave --crossing out, and give at most one --set",
                ));
            }
            if arguments.crossing {
                let request = reproduce_crossing::Request { sets, runs: runs(3), budget };
                return reproduce_crossing::run(&request, output);
            }
            let request = reproduce_switching::Request {
                sets,
                runs: runs(10),
                openfhe: arguments.peer.is_some(),
                budget,
            };
            reproduce_switching::run(&request, output)
        }
        Suite::Demystifying => {
            let known = reproduce_demystifying::sets()?;
            let find = |name: &str| known.iter().find(|known| *known == name).cloned();
            let sets = named(&arguments.set, &known.join(", "), find)?;
            let request =
                reproduce_demystifying::Request { sets, runs: runs(3), gate_runs: runs(30), budget };
            reproduce_demystifying::run(&request, output)
        }
        Suite::CkksOpenfhe => super::reproduce_openfhe::run(runs(3), budget, output),
        Suite::ModularReduction => {
            let sets = named(&arguments.set, "own, paper, toy", |name| Set::from_str(name, true).ok())?;
            let tables = arguments.table.iter().filter_map(|table| table.parse::<u8>().ok()).collect();
            let request = reproduce_modular::Request { tables, sets, runs: runs(1), budget };
            if arguments.rings && !request.tables.is_empty() {
                return Err(Failure::usage(
                    "--table with --rings: products are of no table; give one of the two",
                ));
            }
            if arguments.rings {
                return reproduce_modular::rings::run(&request, output);
            }
            reproduce_modular::run(&request, output)
        }
    }
}

/// The sets that `--set` names.
fn named<T>(names: &[String], known: &str, find: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Failure> {
    let unknown = |name: &String| Failure::usage(format!("--set {name}: this suite has {known}"));
    names.iter().map(|name| find(name).ok_or_else(|| unknown(name))).collect()
}

fn seal_set(name: &str) -> Option<u32> {
    name.parse().ok().filter(|set| (1..=12).contains(set))
}

fn ship(rows: &[ShipRow], runs: usize, budget: Option<u64>, output: &Output) -> Result<(), Failure> {
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
    let held =
        if bench.plan.streamed { "at most at a time, read from a file as they are used" } else { "expanded" };
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

    /// The published precision, which is of nothing that can be measured beside it.
    fn published_precision(&self) -> Option<Row> {
        self.published.bits.map(|bits| self.row("precision", Some(bits), None, "bits", None, OF_WHICH))
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
        assert_eq!(named(&["12".into()], "1 to 12", seal_set).unwrap(), [12]);
        assert!(named(&["13".into()], "1 to 12", seal_set).unwrap_err().detail.contains("1 to 12"));
        assert!(missing(&BITS, "ship13-bits", &machine, "why").len() == 2, "a failure and a time");
        assert!(
            missing(&SHIP14, "ship14", &machine, "why")
                .iter()
                .all(|row| row.measured.is_none() && row.published.is_some())
        );
    }
}
