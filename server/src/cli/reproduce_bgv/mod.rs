//! `refloat reproduce bgv`: BGV bootstrapping by removal of a small digit, beside published figures.

mod estimates;
mod measured;
pub mod polynomials;
mod published;

use std::time::Instant;

use clap::ValueEnum;
use refloat::bootstrapping::bgv::{BgvBootstrapper, BgvKeys, BgvParams, BgvPreset, BgvRun, BgvSecretKey};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::schemes::bgv::BgvCiphertext;
use serde_json::json;

use crate::cli::bench::thread_counts;
use crate::cli::failure::Failure;
use crate::cli::keyfiles::fresh_seed;
use crate::cli::machine::{self, Machine};
use crate::cli::measure;
use crate::cli::output::{Output, table};
use crate::cli::progress;
use crate::cli::reproduced_row::Row;

use estimates::security;
use measured::{Measured, Stages, capacity, room};
pub use published::set;
use published::{Figures, Helib};

/// What a bootstrap refreshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// An integer in each slot.
    Thin,
    /// All coordinates of slots that are elements of a Galois ring.
    General,
}

impl Mode {
    /// The mode of a set's bootstraps.
    fn of(params: &BgvParams) -> Self {
        if params.is_general() { Self::General } else { Self::Thin }
    }

    /// Checks that a set has this mode.
    fn check(self, params: &BgvParams) -> Result<(), Failure> {
        if self == Self::of(params) {
            return Ok(());
        }
        let name = params.name();
        Err(Failure::usage(match self {
            Self::Thin => format!(
                "--mode thin: a slot of {name} has {} integers, and its bootstraps refresh all of them; take --mode general, or a set of \
                 one integer a slot, such as bgv15",
                params.context().slot_degree()
            ),
            Self::General => format!(
                "--mode general: bootstraps of {name} refresh one integer a slot; take --mode thin, or a set whose bootstraps refresh \
                 several, such as {GENERAL}"
            ),
        }))
    }
}

/// The set measured for general bootstraps if none is named.
const GENERAL: &str = "bgv16-gf4";

/// What to measure.
pub struct Request {
    /// Names of sets; where none is given, bgv15, or the first of the mode.
    pub sets: Vec<String>,
    /// The mode that every set must have, if one was asked for.
    pub mode: Option<Mode>,
    /// Bootstraps for each number of threads, of which the fastest counts.
    pub runs: usize,
    /// Numbers of threads; by default 1 and all.
    pub threads: Vec<u16>,
    /// Bytes that may be taken.
    pub budget: Option<u64>,
    /// Whether published sets may be measured although they protect too little.
    pub allow_insecure: bool,
}

/// The metric that decides whether a run succeeded.
const WRONG: &str = "wrong slots";

/// Measures and prints.
///
/// # Errors
/// [`Failure`] for an unknown set, for too little memory, and after printing if a slot was wrong.
pub fn run(request: &Request, output: &Output) -> Result<(), Failure> {
    let machine = Machine::here();
    let own = vec![if request.mode == Some(Mode::General) { GENERAL } else { "bgv15" }.to_owned()];
    let sets = if request.sets.is_empty() { &own } else { &request.sets };
    // Checked before anything is measured.
    for name in sets {
        let preset = set(name, request.mode)?;
        published::check_allowed(preset, request.allow_insecure)?;
        request.mode.map_or(Ok(()), |mode| mode.check(&preset.params()?))?;
    }
    let (mut rows, mut sources) = (Vec::new(), Vec::new());
    for name in sets {
        let bench = Bench::new(name, request.mode, request.budget, output)?;
        rows.extend(bench.rows(&machine, request, output)?);
        let source = Figures::of(&bench.params).map(|figures| figures.source);
        sources.extend(source.filter(|source| !sources.contains(source)));
    }
    let sources = if sources.is_empty() { "nothing of these sets".to_owned() } else { sources.join("; ") };
    let value = json!({ "suite": "bgv", "source": sources, "machine": machine, "rows": rows });
    output.result(&value, || text(&rows, &sources, &machine, request.runs))?;
    all_right(&rows)
}

/// Slots, bits of the message in each, and seconds of the fastest of some bootstraps on one thread.
///
/// # Errors
/// As [`run`].
pub fn on_one_thread(
    name: &str,
    runs: usize,
    budget: Option<u64>,
    output: &Output,
) -> Result<(usize, f64, f64), Failure> {
    let bench = Bench::new(name, None, budget, output)?;
    let measured = bench.measure(1, runs, output)?;
    if measured.wrong > 0 {
        return Err(Failure {
            code: "WRONG_RESULT".to_owned(),
            detail: format!(
                "{} slots of {name} differ from the clear result; please report this",
                measured.wrong
            ),
        });
    }
    let (messages, integers) = (bench.params.messages(), bench.params.context().slot_degree());
    let bits = integers as f64 * (messages.value() as f64).log2();
    Ok((bench.params.n() / integers, bits, measured.seconds))
}

/// A failure that names the sets with wrong slots, if there are any.
fn all_right(rows: &[Row]) -> Result<(), Failure> {
    let wrong: Vec<String> = rows
        .iter()
        .filter(|row| row.metric == WRONG && row.measured != Some(0.0))
        .map(|row| format!("{} of {}", row.measured.unwrap_or(f64::NAN), row.params))
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure {
        code: "WRONG_RESULT".to_owned(),
        detail: format!("slots that differ from the clear result: {}; please report this", wrong.join(", ")),
    })
}

/// Keys and evaluator of a set, made afresh.
pub struct Bench {
    preset: &'static BgvPreset,
    params: BgvParams,
    secret: BgvSecretKey,
    keys: BgvKeys<u64>,
    bootstrapper: BgvBootstrapper,
}

impl Bench {
    /// Keys and evaluator of a set within `budget` bytes, or within the available memory.
    ///
    /// # Errors
    /// [`Failure`] for an unknown name, a set of another mode, and too little memory.
    pub fn new(
        name: &str,
        mode: Option<Mode>,
        budget: Option<u64>,
        output: &Output,
    ) -> Result<Self, Failure> {
        let preset = set(name, mode)?;
        let params = preset.params()?;
        mode.map_or(Ok(()), |mode| mode.check(&params))?;
        // Keys and diagonals, and some ciphertexts for each coordinate of a slot.
        let ciphertext = 16 * (params.n() * params.context().rlwe().max_level()) as u64;
        let keys = params.expanded_key_bytes() + params.expanded_key_bytes() / 8;
        let needed = keys
            + params.diagonal_bytes(PlaintextStorage::Evaluated)
            + 4 * ciphertext * params.context().slot_degree() as u64;
        machine::check_memory(params.name(), needed, budget)?;
        let spinner = progress::spinner(output, &format!("{name}: making keys"));
        let secret = BgvSecretKey::generate(&params, &fresh_seed()?);
        let keys = BgvKeys::generate(&secret)?;
        spinner.set_message(format!("{name}: encoding diagonals"));
        let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated)?;
        spinner.finish_and_clear();
        Ok(Self { preset, params, secret, keys, bootstrapper })
    }

    /// The set.
    pub fn params(&self) -> &BgvParams {
        &self.params
    }

    /// How many slots differ from the message after it was encrypted at the input level and bootstrapped.
    ///
    /// # Errors
    /// [`Failure`] for integers that do not fit the slots.
    pub fn wrong_slots(&self, message: &[u64]) -> Result<usize, Failure> {
        let x = self.secret.encrypt(message, self.params.levels().input, &fresh_seed()?)?;
        self.differing(&self.bootstrapper.bootstrap(&x, &self.keys, &mut ())?, message)
    }

    /// How many slots of a ciphertext differ from the expected ones.
    fn differing(&self, x: &BgvCiphertext, wanted: &[u64]) -> Result<usize, Failure> {
        let (found, integers) = (self.secret.decrypt(x)?, self.params.context().slot_degree());
        let slots = found.reveal_to_key_owner().chunks(integers).zip(wanted.chunks(integers));
        Ok(slots.filter(|(found, wanted)| found != wanted).count())
    }

    /// Encrypts random slots, squares them down to the input level, bootstraps, and compares with the clear result.
    fn measure(&self, threads: usize, runs: usize, output: &Output) -> Result<Measured, Failure> {
        let spinner = progress::spinner(output, &format!("{}: {threads} thread(s)", self.preset.name));
        let (pool, ring) = (measure::pool(threads)?, self.params.messages());
        let mut best: Option<Measured> = None;
        for _ in 0..runs {
            let mut stream = fresh_seed()?.stream();
            let below = u32::try_from(ring.value()).unwrap_or(u32::MAX);
            let encoder = self.params.context().message_modulus().encoder();
            // If slots hold several numbers, a thin bootstrap refreshes the first of each.
            let degree = self.params.context().slot_degree();
            let step = if self.params.is_general() { 1 } else { degree };
            let mut wanted = vec![0; self.params.n()];
            wanted.iter_mut().step_by(step).for_each(|slot| *slot = u64::from(stream.below(below)));
            let mut x = self.secret.encrypt(&wanted, self.params.levels().output, &fresh_seed()?)?;
            while x.level() > self.params.levels().input {
                x = self.bootstrapper.multiply(&x, &x, &self.keys)?;
                wanted = encoder.multiply(&wanted, &wanted)?;
            }
            let mut stages = Stages { began: Instant::now(), seconds: Vec::new() };
            let began = Instant::now();
            let mut run = BgvRun::new(&self.bootstrapper, &x)?;
            let (mut capacities, mut taken) = (Vec::new(), Vec::new());
            while let Some(stage) = run.next_stage().map(|stage| stage.id) {
                let before = room(run.state());
                pool.install(|| run.step(&self.keys, &mut stages))?;
                capacities.extend(capacity(run.state()).map(|bits| (stage, bits)));
                taken.extend(before.zip(room(run.state())).map(|(before, after)| (stage, before - after)));
            }
            let seconds = began.elapsed().as_secs_f64();
            let refreshed = run.finish()?;
            let wrong = self.differing(&refreshed, &wanted)? + best.as_ref().map_or(0, |best| best.wrong);
            match &mut best {
                Some(best) if best.seconds <= seconds => best.wrong = wrong,
                _ => {
                    best = Some(Measured {
                        seconds,
                        stages: stages.seconds,
                        wrong,
                        capacity: refreshed.capacity(),
                        capacities,
                        taken,
                    });
                }
            }
        }
        spinner.finish_and_clear();
        best.ok_or_else(|| Failure::usage("--runs 0: take one at least"))
    }

    fn rows(&self, machine: &Machine, request: &Request, output: &Output) -> Result<Vec<Row>, Failure> {
        let (params, runs) = (&self.params, request.runs);
        let figures = Figures::of(params);
        let row = |metric: &str, published: Option<f64>, measured: f64, unit, threads, note: &str| Row {
            suite: "bgv",
            row: figures.map(|figures| figures.row),
            metric: metric.to_owned(),
            published,
            measured: Some(measured),
            unit,
            threads,
            params: self.preset.name,
            machine: machine.line(),
            note: note.to_owned(),
        };
        let of = |figure: fn(&Figures) -> f64| figures.map(figure);
        let and = |figure: fn(&Figures) -> Option<f64>| figures.and_then(figure);
        let mut rows = Vec::new();
        let (mut wrong, mut left) = (0, 0.0);
        for threads in thread_counts(&request.threads, machine) {
            let measured = self.measure(threads, runs, output)?;
            let figures = figures.filter(|_| threads == 1);
            let note = format!("fastest of {runs}");
            let seconds = figures.map(|figures| figures.seconds);
            rows.push(row("seconds", seconds, measured.seconds, "s", Some(threads), &note));
            for &(stage, seconds) in &measured.stages {
                let published = figures.and_then(|figures| figures.of_stage(stage));
                rows.push(row(stage, published, seconds, "s", Some(threads), "of the same run"));
            }
            if let Some(parts) = figures.and_then(|figures| figures.parts) {
                let names = ["linear maps, seconds", "removal, seconds"];
                for ((name, published), own) in names.into_iter().zip(parts).zip(measured.parts()) {
                    rows.push(row(name, Some(published), own, "s", Some(threads), "of the same run"));
                }
            }
            if let Some(capacity) = figures.and_then(|figures| figures.capacity) {
                let names = ["initial", "linear maps", "removal", "remaining"];
                for ((name, published), own) in names.into_iter().zip(capacity).zip(measured.budget()) {
                    let name = format!("capacity, {name}");
                    rows.push(row(&name, Some(published), own, "bits", None, "as estimated"));
                }
                let published = figures.map(|figures| capacity[3] / figures.seconds);
                let own = measured.capacity / measured.seconds;
                rows.push(row("throughput", published, own, "bits/s", Some(threads), "remaining capacity"));
            }
            for &(stage, bits) in figures.map_or(&[][..], |figures| figures.stage_bits) {
                let mut row =
                    row(&format!("{stage}, bits"), Some(bits), 0.0, "bits", Some(threads), "as estimated");
                row.measured = measured.bits_of_stage(stage);
                rows.push(row);
            }
            let helib = figures.and_then(|figures| figures.helib);
            for (metric, published, unit) in helib.map(Helib::rows).into_iter().flatten() {
                let mut row = row(metric, Some(published), 0.0, unit, Some(threads), "published only");
                row.measured = None;
                rows.push(row);
            }
            wrong += measured.wrong;
            left = measured.capacity;
        }
        let slots = params.context().slots() as f64;
        rows.push(row("slots", of(|own| own.slots as f64), slots, "", None, ""));
        let integers = params.context().slot_degree() as f64;
        rows.push(row("integers in a slot", of(|own| own.integers as f64), integers, "", None, ""));
        rows.push(row(WRONG, None, wrong as f64, "", None, "of all runs"));
        let failure = "log2 of the probability of a wrong slot in a bootstrap";
        rows.push(row("failure", None, params.log2_failure(), "log2", None, failure));
        let note = "bits that the noise may grow by after a bootstrap";
        rows.push(row("capacity remaining", None, left, "bits", None, note));
        let products = params.levels().left() as f64;
        rows.push(row("products between bootstraps", None, products, "levels", None, ""));
        let degree = params.removal().degree() as f64;
        rows.push(row(
            "degree of the removal",
            and(|own| own.degree.map(|degree| degree as f64)),
            degree,
            "",
            None,
            "",
        ));
        rows.push(row("log2 QP", and(|own| own.log_qp), params.log_qp(), "bits", None, ""));
        let (bits, note) = security(params);
        let mut secure = row("security", Figures::security_of(params), 0.0, "bits", None, &note);
        secure.measured = bits;
        rows.push(secure);
        let memory = self.keys.memory_bytes() as f64;
        rows.push(row("evaluation keys, memory", None, memory, "bytes", None, "expanded"));
        let wire = params.key_bytes() as f64;
        rows.push(row("evaluation keys, wire", None, wire, "bytes", None, "seeded and packed"));
        let diagonals = self.bootstrapper.memory_bytes() as f64;
        rows.push(row("diagonals, memory", None, diagonals, "bytes", None, "evaluated"));
        Ok(rows)
    }
}

fn text(rows: &[Row], sources: &str, machine: &Machine, runs: usize) -> String {
    let mut cells = vec![
        ["set", "metric", "published", "measured", "unit", "threads", "note"].map(str::to_owned).to_vec(),
    ];
    cells.extend(rows.iter().map(|row| {
        let digits = if row.unit == "s" { 3 } else { 1 };
        let shown = |value: Option<f64>| match value {
            None => "-".to_owned(),
            Some(value) if value.fract() == 0.0 => format!("{value:.0}"),
            Some(value) => format!("{value:.digits$}"),
        };
        vec![
            row.params.to_owned(),
            row.metric.clone(),
            shown(row.published),
            shown(row.measured),
            row.unit.to_owned(),
            row.threads.map_or("-".to_owned(), |threads| threads.to_string()),
            row.note.clone(),
        ]
    }));
    format!(
        "published: {sources}\nmeasured:  {}, fastest of {runs}, random slots after as many squares as there are levels for\n\n{}",
        machine.line(),
        table(&cells)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toy_set_gives_every_row_and_no_wrong_slot() {
        let output = Output::new(true);
        let sets = vec!["toy-bgv10".to_owned()];
        let request =
            Request { sets, mode: None, runs: 2, threads: vec![1], budget: None, allow_insecure: false };
        let bench = Bench::new("toy-bgv10", None, None, &output).unwrap();
        let rows = bench.rows(&Machine::here(), &request, &output).unwrap();
        let value = |metric: &str| rows.iter().find(|row| row.metric == metric).unwrap().measured.unwrap();
        assert_eq!(
            (value("wrong slots"), value("slots"), value("degree of the removal")),
            (0.0, 1024.0, 61.0)
        );
        assert!(value("failure") < -138.0 && value("capacity remaining") > 60.0);
        let stages: f64 =
            rows.iter().filter(|row| row.threads == Some(1)).skip(1).filter_map(|row| row.measured).sum();
        assert!(stages > 0.0 && stages <= value("seconds") + 1e-3, "stages are parts of the whole");
        assert!(
            rows.iter().all(|row| row.published.is_none() && row.row.is_none()),
            "nothing is published of a toy"
        );
        all_right(&rows).unwrap();
        // Bits by stage, which are published for P16 too.
        let measured = bench.measure(1, 1, &output).unwrap();
        let bits =
            ["slots_to_coeffs", "coeffs_to_slots", "digit_removal"].map(|id| measured.bits_of_stage(id));
        assert!(bits.iter().all(|bits| bits.is_some_and(|bits| (50.0..300.0).contains(&bits))), "{bits:?}");
        assert_eq!(measured.bits_of_stage("mod_raise"), None);
        let mut rows = rows;
        rows.iter_mut().filter(|row| row.metric == WRONG).for_each(|row| row.measured = Some(2.0));
        let failure = all_right(&rows).unwrap_err();
        assert!(failure.code == "WRONG_RESULT" && failure.detail.contains("2 of toy-bgv10"), "{failure:?}");
        assert!(Bench::new("bgv15", None, Some(1 << 20), &output).is_err());
    }

    #[test]
    fn slots_of_several_integers_are_measured_as_general() {
        let output = Output::new(true);
        let (toy, mode) = ("toy-bgv-gf4", Some(Mode::General));
        let sets = vec![toy.to_owned()];
        let request = Request { sets, mode, runs: 1, threads: vec![1], budget: None, allow_insecure: false };
        let bench = Bench::new(toy, mode, None, &output).unwrap();
        let rows = bench.rows(&Machine::here(), &request, &output).unwrap();
        let value = |metric: &str| rows.iter().find(|row| row.metric == metric).unwrap().measured.unwrap();
        let found = ["wrong slots", "slots", "integers in a slot", "degree of the removal"].map(value);
        assert_eq!(found.map(f64::to_bits), [0.0, 256.0, 4.0, 109.0].map(f64::to_bits));
        assert!(rows.iter().any(|row| row.metric == "unpack" && row.threads == Some(1)));
        // Modes that a set does not have.
        let refused = |name, mode| {
            let failure = Bench::new(name, Some(mode), None, &output).err().unwrap();
            assert_eq!(failure.code, "INVALID_ARGUMENT");
            failure.detail
        };
        let text = refused(toy, Mode::Thin);
        assert!(text.contains("has 4 integers") && text.contains("bgv15"), "{text}");
        let text = refused("toy-bgv10", Mode::General);
        assert!(text.contains("one integer a slot") && text.contains(GENERAL), "{text}");
    }

    #[test]
    fn published_sets_are_measured_by_an_explicit_word() {
        for (preset, params) in published::made() {
            let without = published::check_allowed(preset, false);
            assert_eq!(without.is_ok(), preset.secure(), "{}", preset.name);
            assert!(without.err().is_none_or(|refused| refused.detail.contains("--allow-insecure")));
            published::check_allowed(preset, true).unwrap();
            assert!(params.log2_failure() <= preset.promised, "{}", params.log2_failure());
            // What a source says about its set must be true of ours with that name.
            let Some(figures) = Figures::of(params) else { continue };
            let own = [params.context().slots(), params.context().slot_degree()];
            assert_eq!(own, [figures.slots, figures.integers], "{}", preset.name);
            // A published even degree is the number of points less one; odd polynomials, which ours are, have one less.
            let odd = |degree: usize| if degree.is_multiple_of(2) { degree - 1 } else { degree };
            let own = params.removal().degree();
            assert!(
                figures.degree.is_none_or(|degree| [degree, odd(degree)].contains(&own)),
                "{}",
                preset.name
            );
            assert!(figures.log_qp.is_none_or(|log_qp| params.log_qp() <= log_qp));
            assert!(params.is_general() != preset.name.ends_with("-thin"));
        }
        assert_eq!(set("V-A", Some(Mode::Thin)).unwrap().name, "V-A-thin");
        assert_eq!(set("V-A", None).unwrap().name, "V-A");
        // Figures for P16 stand beside our own set with the same slots and plaintexts.
        let own = set("P16", Some(Mode::Thin)).unwrap();
        assert_eq!(own.name, "bgv15");
        assert!(Figures::of(&own.params().unwrap()).unwrap().row.starts_with("P16"));
        let output = Output::new(true);
        assert!(Bench::new("V-A", Some(Mode::General), Some(1 << 20), &output).is_err());
    }
}
