//! `refloat verify`: whether every promise of precision holds here, for messages of every kind and fresh keys.

use std::fmt::Write;

use clap::Args;
use refloat::bootstrapping::ckks_ship::ShipMode;
use refloat::bootstrapping::{NamedMessage, complex_messages, real_messages};
use refloat::params::{self, ConventionalPreset, Preset};
use serde::Serialize;

use super::conventional::ConventionalBench;
use super::failure::Failure;
use super::measure::Bench;
use super::output::{Output, table};

const EXAMPLES: &str = "\
Examples:
  refloat verify                                every secure set of numbers; minutes, and the memory of n16
  refloat verify --preset n15 --preset ship13
  refloat verify --preset toy-conventional11 --keys 10

Gates and look-ups promise a probability of wrong results instead: refloat params.";

/// Slots of `n16-sparse` that are verified beside its own: the fewest it is meant for.
const FEWEST: (&str, u32) = ("n16-sparse", 5);

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

/// A message of a set, over all keys.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    set: String,
    message: &'static str,
    /// Bits of the mean error that the set promises, if it promises any, and the fewest found.
    mean: [Option<f64>; 2],
    /// The same of the worst slot.
    worst: [f64; 2],
    /// Whether the promise is for this message, and holds.
    promised: bool,
    holds: bool,
}

/// What a set promises.
struct Promise {
    set: String,
    mean: Option<f64>,
    worst: f64,
    /// Whether it is for messages that are not random, too.
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

/// Verifies sets; a promise that does not hold is a failure.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let budget = arguments.memory.map(|gib| u64::from(gib) << 30);
    let keys = usize::from(arguments.keys);
    let mut rows = Vec::new();
    let named = |name: &String| -> Result<Set, Failure> {
        match params::conventional_preset(name) {
            Ok(preset) => Ok(Set::Conventional(preset)),
            Err(_) => Ok(Set::Ship(params::preset(name)?)),
        }
    };
    let sets: Vec<Set> = if arguments.preset.is_empty() {
        let ship = params::presets().iter().filter(|preset| preset.secure()).map(Set::Ship);
        let conventional = params::conventional_presets().iter().filter(|preset| preset.secure());
        ship.chain(conventional.map(Set::Conventional)).collect()
    } else {
        arguments.preset.iter().map(named).collect::<Result<_, _>>()?
    };
    for set in sets {
        match set {
            Set::Ship(preset) => rows.extend(ship(preset, keys, output)?),
            Set::Conventional(preset) => {
                rows.extend(conventional(preset, None, keys, budget, output)?);
                if preset.name == FEWEST.0 {
                    rows.extend(conventional(preset, Some(FEWEST.1), keys, budget, output)?);
                }
            }
        }
    }
    let broken = rows.iter().filter(|row| !row.holds).count();
    output.result(&rows, || text(&rows, keys))?;
    if broken == 0 {
        return Ok(());
    }
    Err(Failure {
        code: "PRECISION".to_owned(),
        detail: format!(
            "{broken} of {} messages came back with fewer bits than their set promises; the table names them, and a report \
             of it is welcome",
            rows.len()
        ),
    })
}

enum Set {
    Ship(&'static Preset),
    Conventional(&'static ConventionalPreset),
}

fn conventional(
    preset: &ConventionalPreset,
    log_slots: Option<u32>,
    keys: usize,
    budget: Option<u64>,
    output: &Output,
) -> Result<Vec<Row>, Failure> {
    let [mean, worst] = preset.promised_bits;
    let slots = log_slots.map_or(String::new(), |log| format!(", {} slots", 1u32 << log));
    let every = preset.promised_for_every_message();
    let promise = Promise { set: format!("{}{slots}", preset.name), mean: Some(mean), worst, every };
    over_keys(&promise, keys, |key| {
        let params = match log_slots {
            Some(log_slots) => preset.params_with_slots(log_slots)?,
            None => preset.params()?,
        };
        let messages = complex_messages(params.slots(), key as u64);
        let bench = ConventionalBench::new(params, 1.0, budget, output)?;
        messages
            .into_iter()
            .map(|NamedMessage { name, slots }| {
                let found = bench.precision_of(&slots)?;
                Ok((name, [found.mean, found.worst]))
            })
            .collect()
    })
}

fn ship(preset: &Preset, keys: usize, output: &Output) -> Result<Vec<Row>, Failure> {
    let promise =
        Promise { set: preset.name.to_owned(), mean: None, worst: preset.promised_bits, every: true };
    over_keys(&promise, keys, |key| {
        let bench = Bench::new(preset.params()?, output)?;
        let bits = preset.mode == ShipMode::Bits;
        let values = |slots: &[refloat::schemes::ckks::Complex]| -> Vec<f64> {
            slots.iter().map(|z| if bits { f64::from(u8::from(z.re > 0.0)) } else { z.re }).collect()
        };
        real_messages(bench.params.slots(), key as u64)
            .into_iter()
            .map(|NamedMessage { name, slots }| {
                let found = bench.precision_of(preset.mode, &values(&slots))?;
                Ok((name, [found.mean, found.worst]))
            })
            .collect()
    })
}

/// Rows of a set, from bits of the mean and of the worst slot for the same messages under each key.
fn over_keys(
    promise: &Promise,
    keys: usize,
    mut measure: impl FnMut(usize) -> Result<Vec<(&'static str, [f64; 2])>, Failure>,
) -> Result<Vec<Row>, Failure> {
    let found = (0..keys).map(&mut measure).collect::<Result<Vec<_>, _>>()?;
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

fn text(rows: &[Row], keys: usize) -> String {
    let heading = ["set", "message", "mean: promised", "found", "worst slot: promised", "found", ""];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    let bits = |bits: Option<f64>| bits.map_or_else(|| "-".to_owned(), |bits| format!("{bits:.2}"));
    lines.extend(rows.iter().map(|row| {
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
    let mut text = String::new();
    let _ = writeln!(text, "fewest bits over {keys} fresh key{}\n", if keys == 1 { "" } else { "s" });
    text + &table(&lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_holds_if_the_fewest_bits_of_all_keys_do() {
        let promise = |every| Promise { set: "a".to_owned(), mean: Some(10.0), worst: 8.0, every };
        let found = [[11.0, 9.0], [10.5, 8.5]];
        assert!(promise(true).row(false, "m", &found).holds);
        let below = promise(true).row(false, "m", &[found[0], [10.5, 7.9]]);
        assert!(!below.holds && below.promised && text(&[below], 2).contains("BELOW THE PROMISE"));
        let random = |first| promise(false).row(first, "m", &[[1.0, 1.0]]);
        assert!(!random(true).holds && random(false).holds && !random(false).promised);
        assert!(text(&[random(false)], 1).contains("not promised"));
    }
}
