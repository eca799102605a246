//! `refloat verify`: checks that every promise of precision and exactness holds here, for messages of every kind and fresh keys.

use std::fmt::Write;

use clap::Args;
use refloat::bootstrapping::method::SlotMode;
use refloat::bootstrapping::{NamedMessage, bit_messages, complex_messages, real_messages};
use refloat::params::{self, BgvPreset, ConventionalPreset, ShipPreset};
use serde::Serialize;

use super::conventional::ConventionalBench;
use super::failure::Failure;
use super::measure::{Bench, Precision};
use super::output::{Output, table};
use super::sets;
use super::verify_exact::{self, ExactRow};
use crate::registry::Registry;

const EXAMPLES: &str = "\
Examples:
  refloat verify                                every secure set of numbers and of integers; minutes, and the memory of n16
  refloat verify --preset n15 --preset ship13
  refloat verify --preset toy-conventional11 --keys 10

A set of several numbers of slots is verified at the fewest and at the most. One that does not fit the memory is left out, and
named at the end. Sets of integers are exact: of them slots are counted that come back wrong. Gates and look-ups promise a
probability of wrong results instead: refloat params.";

/// Arguments of `refloat verify`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A set to verify, as often as wanted [default: every secure one].
    #[arg(long)]
    preset: Vec<String>,
    /// Fresh keys for each set.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    keys: u16,
    /// GiB that keys, diagonals and runs may take [default: what is available].
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u16).range(1..))]
    memory: Option<u16>,
}

/// The findings.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    rows: Vec<Row>,
    exact: Vec<ExactRow>,
    left_out: Vec<LeftOut>,
}

impl Report {
    /// Notes a set that does not fit the memory.
    ///
    /// # Errors
    /// Any other failure.
    fn leave_out(&mut self, set: &str, failure: Failure, output: &Output) -> Result<(), Failure> {
        if failure.code != "LIMIT" {
            return Err(failure);
        }
        output.note(&format!("{set} is left out: {}", failure.detail));
        self.left_out.push(LeftOut { set: set.to_owned(), why: failure.detail });
        Ok(())
    }
}

/// A set that was not verified, because it does not fit the memory.
#[derive(Debug, Serialize)]
struct LeftOut {
    set: String,
    why: String,
}

/// A message of a set, over all keys.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    set: String,
    message: &'static str,
    /// Bits of the mean error: promised, if the set promises any, and the fewest found.
    mean: [Option<f64>; 2],
    /// Bits of the worst slot: promised, and the fewest found.
    worst: [f64; 2],
    /// Whether the promise covers this message, and whether it holds.
    promised: bool,
    holds: bool,
}

/// What a set promises.
struct Promise {
    set: String,
    mean: Option<f64>,
    worst: f64,
    /// Whether the promise also covers messages that are not random.
    every: bool,
}

impl Promise {
    /// A row of a message, from bits of the mean and of the worst slot under each key. The first message is random.
    fn row(&self, first: bool, message: &'static str, found: &[[f64; 2]]) -> Row {
        let least = |k: usize| found.iter().map(|bits| bits[k]).fold(f64::INFINITY, f64::min);
        let (mean, worst, promised) = (least(0), least(1), self.every || first);
        let holds = !promised || (self.mean.is_none_or(|promise| mean >= promise) && worst >= self.worst);
        Row {
            set: self.set.clone(),
            message,
            mean: [self.mean, Some(mean)],
            worst: [self.worst, worst],
            promised,
            holds,
        }
    }
}

/// A set, with a number of slots.
enum Subject {
    Ship(&'static ShipPreset),
    Conventional(&'static ConventionalPreset, u32),
}

impl Subject {
    /// The subjects of a conventional set: both ends of its range of slots.
    fn conventional(preset: &'static ConventionalPreset) -> Vec<Self> {
        let [fewest, most] = preset.promised.log_slots;
        let mut ends = vec![fewest, most];
        ends.dedup();
        ends.into_iter().map(|log_slots| Self::Conventional(preset, log_slots)).collect()
    }

    fn named(registry: &Registry, name: &str) -> Result<Vec<Self>, Failure> {
        if let Ok(preset) = params::conventional_preset(name) {
            return Ok(Self::conventional(preset));
        }
        if params::cggi_preset(name).is_ok() {
            return Err(Failure::usage(format!(
                "{name} is a set of gates, which promise a probability of wrong results: refloat params {name}"
            )));
        }
        let ship = params::ship_preset(name).map(|preset| vec![Self::Ship(preset)]);
        ship.map_err(|_| sets::not_for(registry, name, "verify"))
    }

    /// All secure sets.
    fn all() -> Vec<Self> {
        let ship = ShipPreset::all().iter().filter(|preset| preset.secure()).map(Self::Ship);
        let conventional = ConventionalPreset::all().iter().filter(|preset| preset.secure());
        ship.chain(conventional.flat_map(Self::conventional)).collect()
    }

    fn promise(&self) -> Promise {
        match self {
            Self::Ship(preset) => {
                Promise { set: preset.name.to_owned(), mean: None, worst: preset.promised, every: true }
            }
            Self::Conventional(preset, log_slots) => {
                let [mean, worst] = preset.promised.bits;
                let several = preset.promised.log_slots[0] != preset.promised.log_slots[1];
                let slots = if several { format!(", {} slots", 1u32 << log_slots) } else { String::new() };
                let every = preset.promise().holds_for_every_message();
                Promise { set: format!("{}{slots}", preset.name), mean: Some(mean), worst, every }
            }
        }
    }

    /// Bootstraps every message once under a fresh key, and returns the remaining bits.
    fn measure(&self, key: u64, budget: Option<u64>, output: &Output) -> Result<Vec<Found>, Failure> {
        match self {
            Self::Ship(preset) => ship(preset, key, budget, output),
            Self::Conventional(preset, log_slots) => {
                let params = preset.params_with_slots(*log_slots)?;
                let messages = complex_messages(params.slots(), key);
                let bench = ConventionalBench::new(params, 1.0, budget, output)?;
                found(messages, |slots| bench.precision_of(slots))
            }
        }
    }
}

/// A message, with the bits of its mean error and of its worst slot.
type Found = (&'static str, [f64; 2]);

fn found(
    messages: impl IntoIterator<Item = NamedMessage>,
    measure: impl Fn(&[refloat::schemes::ckks::Complex]) -> Result<Precision, Failure>,
) -> Result<Vec<Found>, Failure> {
    let measured = messages.into_iter().map(|NamedMessage { name, slots }| {
        let Precision { mean, worst, .. } = measure(&slots)?;
        Ok((name, [mean, worst]))
    });
    measured.collect()
}

/// Findings for a set of numbers, with real slots and complex ones, or for a set of bits.
fn ship(preset: &ShipPreset, key: u64, budget: Option<u64>, output: &Output) -> Result<Vec<Found>, Failure> {
    let bench = Bench::new(preset.params()?, budget, output)?;
    let slots = bench.params.slots();
    let one_a_slot = |mode, messages| {
        found(messages, |slots| bench.precision_of(mode, &slots.iter().map(|z| z.re).collect::<Vec<_>>()))
    };
    if bench.params.mode() == SlotMode::Bits {
        return one_a_slot(SlotMode::Bits, bit_messages(slots, key));
    }
    let mut rows = one_a_slot(SlotMode::Real, real_messages(slots, key))?;
    let complex = complex_messages(slots, key)
        .into_iter()
        .filter(|message| message.slots.iter().any(|z| z.im.abs() > 0.0));
    rows.extend(found(complex, |slots| {
        let parts: Vec<f64> = slots.iter().flat_map(|z| [z.re, z.im]).collect();
        bench.precision_of(SlotMode::Complex, &parts)
    })?);
    Ok(rows)
}

/// Verifies sets; a promise that does not hold is a failure.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let budget = arguments.memory.map(|gib| u64::from(gib) << 30);
    let (mut subjects, mut exact) = (Vec::new(), Vec::new());
    if arguments.preset.is_empty() {
        subjects = Subject::all();
        exact.extend(BgvPreset::all().iter().filter(|preset| preset.secure()));
    }
    for name in &arguments.preset {
        match BgvPreset::named(name) {
            Ok(preset) => exact.push(preset),
            Err(_) => subjects.extend(Subject::named(registry, name)?),
        }
    }
    let mut report = Report::default();
    for preset in exact {
        match verify_exact::rows(preset, arguments.keys.into(), budget, output) {
            Ok(rows) => {
                let broken = rows.iter().filter(|row| !row.holds()).count();
                output.note(&format!("{}: {} messages, {broken} with wrong slots", preset.name, rows.len()));
                report.exact.extend(rows);
            }
            Err(failure) => report.leave_out(preset.name, failure, output)?,
        }
    }
    for subject in &subjects {
        let promise = subject.promise();
        match over_keys(&promise, arguments.keys.into(), |key| subject.measure(key, budget, output)) {
            Ok(rows) => {
                let broken = rows.iter().filter(|row| !row.holds).count();
                output.note(&format!("{}: {} messages, {broken} below the promise", promise.set, rows.len()));
                report.rows.extend(rows);
            }
            Err(failure) => report.leave_out(&promise.set, failure, output)?,
        }
    }
    if report.rows.is_empty() && report.exact.is_empty() {
        let why: Vec<&str> = report.left_out.iter().map(|left| left.why.as_str()).collect();
        return Err(Failure {
            code: "LIMIT".to_owned(),
            detail: format!("nothing was verified: {}", why.join("; ")),
        });
    }
    let broken = report.rows.iter().filter(|row| !row.holds).count();
    output.result(&report, || text(&report, arguments.keys))?;
    let wrong = report.exact.iter().filter(|row| !row.holds()).count();
    if wrong > 0 {
        return Err(Failure {
            code: "WRONG_RESULT".to_owned(),
            detail: format!(
                "{wrong} of {} messages of integers came back with wrong slots; please report this",
                report.exact.len()
            ),
        });
    }
    if broken == 0 {
        return Ok(());
    }
    Err(Failure {
        code: "PRECISION".to_owned(),
        detail: format!(
            "{broken} of {} messages came back with fewer bits than their set promises; the table names them, and a report \
             of it is welcome",
            report.rows.len()
        ),
    })
}

/// The rows of a set, from the same messages under each of `keys` keys.
fn over_keys(
    promise: &Promise,
    keys: u64,
    measure: impl FnMut(u64) -> Result<Vec<Found>, Failure>,
) -> Result<Vec<Row>, Failure> {
    let found = (0..keys).map(measure).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&'static str> =
        found.first().map_or_else(Vec::new, |first| first.iter().map(|m| m.0).collect());
    Ok(names
        .into_iter()
        .enumerate()
        .map(|(i, name)| {
            let bits: Vec<[f64; 2]> = found.iter().map(|key| key[i].1).collect();
            promise.row(i == 0, name, &bits)
        })
        .collect())
}

fn text(report: &Report, keys: u16) -> String {
    let mut text =
        if report.exact.is_empty() { String::new() } else { verify_exact::text(&report.exact) + "\n" };
    let heading = ["set", "message", "mean: promised", "found", "worst slot: promised", "found", ""];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    let bits = |bits: Option<f64>| bits.map_or_else(|| "-".to_owned(), |bits| format!("{bits:.2}"));
    lines.extend(report.rows.iter().map(|row| {
        let verdict = match (row.promised, row.holds) {
            (false, _) => "not promised",
            (true, true) => "holds",
            (true, false) => "BELOW THE PROMISE",
        };
        vec![
            row.set.clone(),
            row.message.to_owned(),
            bits(row.mean[0]),
            bits(row.mean[1]),
            bits(Some(row.worst[0])),
            bits(Some(row.worst[1])),
            verdict.to_owned(),
        ]
    }));
    if !report.rows.is_empty() {
        let _ = writeln!(text, "fewest bits over {keys} fresh key{}\n", if keys == 1 { "" } else { "s" });
        text += &table(&lines);
    }
    for LeftOut { set, why } in &report.left_out {
        let _ = write!(text, "\nnot verified: {set}: {why}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_if_the_fewest_bits_of_all_keys_do() {
        let promise = |every| Promise { set: "a".to_owned(), mean: Some(10.0), worst: 8.0, every };
        let shown = |row, keys| text(&Report { rows: vec![row], ..Report::default() }, keys);
        let found = [[11.0, 9.0], [10.5, 8.5]];
        assert!(promise(true).row(false, "m", &found).holds);
        let below = promise(true).row(false, "m", &[found[0], [10.5, 7.9]]);
        assert!(!below.holds && below.promised && shown(below, 2).contains("BELOW THE PROMISE"));
        let random = |first| promise(false).row(first, "m", &[[1.0, 1.0]]);
        assert!(!random(true).holds && random(false).holds && !random(false).promised);
        assert!(shown(random(false), 1).contains("not promised"));
        // NaN has no bits.
        assert!(!promise(true).row(true, "m", &[[f64::NEG_INFINITY; 2]]).holds);
    }

    #[test]
    fn both_ends_of_a_range_of_slots_are_verified() {
        let of = |name: &str| -> Vec<String> {
            Subject::named(&Registry::default(), name)
                .unwrap()
                .iter()
                .map(|subject| subject.promise().set)
                .collect()
        };
        assert_eq!(of("n16-sparse"), ["n16-sparse, 32 slots", "n16-sparse, 16384 slots"]);
        assert_eq!(of("n16-precise"), ["n16-precise, 32 slots", "n16-precise, 4096 slots"]);
        assert_eq!(of("n16"), ["n16"]);
        let sets: Vec<String> = Subject::all().iter().map(|subject| subject.promise().set).collect();
        assert!(
            ["ship13-bits", "n15", "n16-sparse, 16384 slots"]
                .iter()
                .all(|set| sets.contains(&(*set).to_owned()))
        );
    }
}
