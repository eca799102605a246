//! `refloat params`.

use clap::Args;
use refloat::bootstrapping::ckks_conventional::METHOD;
use serde::Serialize;

use super::chain::{Chain, ChainRow};
use super::conventional_sets::{self, ConventionalSet, earlier};
use super::failure::Failure;
use super::output::{Output, bytes, table};
use crate::engine::{Engine, ParameterSet, Scheme};
use crate::engines::Engines;

/// Arguments of `refloat params`.
#[derive(Args)]
pub struct Arguments {
    /// A set to describe in full.
    name: Option<String>,
    /// Also what so many bootstraps keep of a message of which nothing is computed between them: errors add up at worst, so it
    /// is log2 of their number less.
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

impl Set<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Served(set) => &set.name,
            Self::Conventional(set) => set.name,
        }
    }

    fn is_of_today(&self) -> bool {
        match self {
            Self::Served(set) => set.successor.is_none(),
            Self::Conventional(set) => set.successor.is_none(),
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Served(set) => detail(set),
            Self::Conventional(set) => conventional_sets::detail(set),
        }
    }

    fn chain(&self, bootstraps: u32) -> Result<Chain, Failure> {
        match self {
            Self::Served(set) => Chain::of_served(set, bootstraps),
            Self::Conventional(set) => Ok(Chain::of_conventional(set.preset, bootstraps)),
        }
    }
}

/// A set, and what was asked of chains.
#[derive(Serialize)]
struct Described<'a> {
    #[serde(flatten)]
    set: &'a Set<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<Vec<ChainRow>>,
}

/// Describes the parameter sets.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let engine = Engines::new(u64::MAX)?;
    let conventional = conventional_sets::all()?;
    let other: Vec<ParameterSet> =
        engine.sets().iter().filter(|set| set.method != METHOD.id).cloned().collect();
    let all: Vec<Set> =
        other.iter().map(Set::Served).chain(conventional.iter().map(Set::Conventional)).collect();
    let Some(name) = &arguments.name else {
        let all: Vec<Set> = all.into_iter().filter(Set::is_of_today).collect();
        return output.result(&all, || {
            format!(
                "{}\nFor conventional CKKS bootstrapping:\n\n{}",
                list(&other),
                conventional_sets::list(&conventional)
            )
        });
    };
    let Some(set) = all.iter().find(|set| set.name() == name) else {
        let names: Vec<&str> = all.iter().map(Set::name).collect();
        return Err(Failure::usage(format!(
            "no parameter set is called {name:?}; there are {}",
            names.join(", ")
        )));
    };
    let chain = arguments.bootstraps.map(|bootstraps| set.chain(bootstraps)).transpose()?;
    let text = chain.as_ref().map_or_else(String::new, Chain::text);
    let described = Described { set, chain: chain.map(|chain| chain.rows) };
    output.result(&described, || set.detail() + &text)
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
    let old = earlier(set.successor.as_deref());
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
        (
            "precision, worst slot",
            format!(
                "{:.2} bits or more after one bootstrap, for {}",
                set.promised_bits,
                set.promised_for.as_deref().unwrap_or("every message")
            ),
        ),
        ("a further round gains", set.gain_bits.map_or("-".to_owned(), |bits| format!("{bits} bits"))),
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
