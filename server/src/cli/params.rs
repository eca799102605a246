//! `refloat params`.

use clap::Args;
use refloat::bootstrapping::ckks_conventional::METHOD;
use serde::Serialize;

use super::conventional_sets::{self, ConventionalSet};
use super::failure::Failure;
use super::output::{Output, bytes, table};
use crate::engine::{Engine, ParameterSet, Scheme};
use crate::engines::Engines;

/// Arguments of `refloat params`.
#[derive(Args)]
pub struct Arguments {
    /// A set to describe in full.
    name: Option<String>,
    /// Also what so many bootstraps in a row keep of a message: errors add up at worst, so it is log2 of their number less.
    #[arg(long, requires = "name", value_parser = clap::value_parser!(u32).range(1..))]
    bootstraps: Option<u32>,
}

/// A set of either kind.
#[derive(Serialize)]
#[serde(untagged)]
enum Set<'a> {
    Served(&'a ParameterSet),
    Conventional(&'a ConventionalSet),
}

/// Describes the parameter sets.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let engine = Engines::new(u64::MAX)?;
    let conventional = conventional_sets::all()?;
    let other: Vec<ParameterSet> =
        engine.sets().iter().filter(|set| set.method != METHOD.id).cloned().collect();
    let (served, local) = (other.iter(), conventional.iter());
    let Some(name) = &arguments.name else {
        let all: Vec<Set> = served
            .filter(|set| set.successor.is_none())
            .map(Set::Served)
            .chain(local.map(Set::Conventional))
            .collect();
        return output.result(&all, || {
            format!(
                "{}\nFor conventional CKKS bootstrapping:\n\n{}",
                list(&other),
                conventional_sets::list(&conventional)
            )
        });
    };
    if let Some(set) = other.iter().find(|set| set.name == *name) {
        return output.result(set, || detail(set) + &chain(&set.name, arguments.bootstraps));
    }
    let Some(set) = conventional.iter().find(|set| set.name == name) else {
        let names: Vec<&str> = served.map(|set| set.name.as_str()).chain(local.map(|set| set.name)).collect();
        return Err(Failure::usage(format!(
            "no parameter set is called {name:?}; there are {}",
            names.join(", ")
        )));
    };
    output.result(set, || conventional_sets::detail(set) + &chain(set.name, arguments.bootstraps))
}

/// What a chain of bootstraps keeps, if it was asked for.
fn chain(name: &str, bootstraps: Option<u32>) -> String {
    let Some(bootstraps) = bootstraps else { return String::new() };
    let ship = || {
        let preset = refloat::params::preset(name).ok()?;
        let mut rows = vec![["bootstraps in a row", "worst slot"].map(str::to_owned).to_vec()];
        rows.extend(
            conventional_sets::doublings(bootstraps)
                .map(|k| vec![k.to_string(), format!("{:.2} bits", preset.promised_bits_after(k))]),
        );
        Some(format!("{}\nwhile values stay in [-1, 1]\n", table(&rows)))
    };
    let rows = conventional_sets::chain(name, bootstraps).or_else(ship);
    rows.map_or_else(String::new, |rows| format!("\n\n{rows}"))
}

fn list(sets: &[ParameterSet]) -> String {
    let mut rows =
        vec![["set", "security", "slots", "promise", "log2 QP", "keys", "what"].map(str::to_owned).to_vec()];
    rows.extend(sets.iter().filter(|set| set.successor.is_none()).map(|set| {
        vec![
            set.name.clone(),
            security(set),
            set.slots.to_string(),
            promise(set),
            format!("{:.1}", set.log_qp),
            bytes(set.key_bytes),
            set.title.clone(),
        ]
    }));
    table(&rows)
}

fn promise(set: &ParameterSet) -> String {
    match set.log_failure {
        Some(failure) => format!("wrong with 2^{failure:.0}"),
        None => format!("{:.2} bits or more", set.promised_bits),
    }
}

fn security(set: &ParameterSet) -> String {
    if set.secure { format!("{:.0} bits", set.security_bits) } else { "INSECURE".to_owned() }
}

fn detail(set: &ParameterSet) -> String {
    let old = set.successor.as_ref().map_or_else(String::new, |successor| {
        format!("A set of an earlier version: its keys are read, and no new ones made; take {successor}\n")
    });
    let mut text = format!("{}: {}\n{}\n{old}\n", set.name, set.title, set.security_statement);
    let largest = set.ciphertext_bytes.get(set.output_level).copied().unwrap_or(0);
    let keys = format!(
        "{} in {} pieces; {} in memory",
        bytes(set.key_bytes),
        set.parts,
        bytes(set.expanded_key_bytes)
    );
    let ckks = [
        ("ring degree", format!("2^{}", set.log_n)),
        ("slots", format!("{} ({})", set.slots, set.mode.name())),
        ("precision, worst slot", format!("{:.2} bits or more", set.promised_bits)),
        ("log2 QP", format!("{:.2}", set.log_qp)),
        ("log2 q0 p'", format!("{:.2}", set.log_q0p)),
        ("levels", format!("{} in, {} out, {} at most", set.input_level, set.output_level, set.max_level)),
        ("tracks, tree levels", format!("{}, {}", set.tracks, set.tree_levels)),
        ("evaluation keys", keys.clone()),
        ("fresh ciphertext", bytes(largest as u64)),
        ("fingerprint", set.fingerprint.clone()),
    ];
    let cggi = [
        ("ring degree", format!("2^{}", set.log_n)),
        ("a gate's result is", promise(set)),
        ("log2 of the ring modulus, of the short key's", format!("{:.2}, {:.0}", set.log_qp, set.log_q0p)),
        ("evaluation keys", keys.clone()),
        ("ciphertext of a bit", bytes(largest as u64)),
        ("fingerprint", set.fingerprint.clone()),
    ];
    let rows: &[(&str, String)] = if set.scheme == Scheme::Cggi { &cggi } else { &ckks };
    let rows: Vec<Vec<String>> =
        rows.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
    text += &table(&rows);
    text += "\n";
    let mut stages = vec![["stage", "levels", "what"].map(str::to_owned).to_vec()];
    stages.extend(set.stages.iter().map(|stage| {
        vec![stage.id.clone(), stage.levels.to_string(), format!("{}: {}", stage.title, stage.symbol)]
    }));
    text + &table(&stages)
}
