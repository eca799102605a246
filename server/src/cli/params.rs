//! `refloat params`.

use clap::Args;
use refloat::bootstrapping::method::Promise;
use serde::Serialize;

use super::chain::{Chain, ChainRow};
use super::failure::Failure;
use super::output::{Output, bytes, table};
use super::sets;
use crate::engine::{JobSet, Scheme, SetInfo};
use crate::engines::Engines;
use crate::registry::{Registry, SetFilter};

/// Arguments of `refloat params`.
#[derive(Args)]
pub struct Arguments {
    /// A set to describe in full.
    name: Option<String>,
    /// Also what is promised after this many bootstraps in a row, with nothing computed between them: at worst errors add up, which costs
    /// log2 of the number of bootstraps.
    #[arg(long, requires = "name", value_parser = clap::value_parser!(u32).range(1..))]
    bootstraps: Option<u32>,
}

/// A set, and the chains that were asked for.
#[derive(Serialize)]
struct Described<'a> {
    #[serde(flatten)]
    set: &'a SetInfo,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<Vec<ChainRow>>,
}

/// Describes the parameter sets.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let engines = Engines::with(registry, SetFilter::all())?;
    let Some(name) = &arguments.name else {
        let today: Vec<SetInfo> =
            engines.infos().filter(|set| set.successor.is_none()).map(in_brief).collect();
        return output.result(&today, || list(&today, registry));
    };
    let Ok(set) = engines.named(name).map(JobSet::info) else {
        return Err(sets::unknown_set(registry, name));
    };
    let chain = arguments.bootstraps.map(|bootstraps| Chain::of(set, bootstraps)).transpose()?;
    let text = detail(set) + &chain.as_ref().map_or_else(String::new, Chain::text);
    output.result(&Described { set, chain: chain.map(|chain| chain.rows) }, || text)
}

/// A set without the list of its key parts, which is long.
fn in_brief(set: &SetInfo) -> SetInfo {
    SetInfo { key_parts: Vec::new(), ..set.clone() }
}

/// A table of the sets of each method, under its title.
fn list(sets: &[SetInfo], registry: &Registry) -> String {
    let mut tables = Vec::new();
    for of_one in sets.chunk_by(|a, b| a.method == b.method) {
        let id = of_one[0].method.as_str();
        let title = registry.methods().find(|method| method.id == id).map_or(id, |method| method.title);
        tables.push(format!("{title}\n\n{}", table_of(of_one)));
    }
    tables.join("\n")
}

fn table_of(sets: &[SetInfo]) -> String {
    let heading = ["set", "security", "slots", "promise", "levels left", "log2 QP", "keys", "what"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(sets.iter().map(|set| {
        vec![
            set.name.clone(),
            if set.secure { format!("{:.0} bits", set.security_bits) } else { "INSECURE".to_owned() },
            set.slots.to_string(),
            promise(set.promise()),
            (set.output_level - set.input_level).to_string(),
            format!("{:.1}", set.log_qp),
            bytes(set.key_bytes),
            set.title.clone(),
        ]
    }));
    table(&rows)
}

/// A promise in a few words.
pub(super) fn promise(promise: Promise) -> String {
    match promise {
        Promise::Precision { worst, mean: Some(mean), .. } => format!("{mean:.1} bits, worst {worst:.1}"),
        Promise::Precision { worst, mean: None, .. } => format!("worst {worst:.2} bits"),
        Promise::Exact { log_failure } | Promise::Gate { log_failure } => {
            format!("wrong with 2^{log_failure:.0}")
        }
    }
}

/// One set in full.
fn detail(set: &SetInfo) -> String {
    let old = set.successor.as_ref().map_or_else(String::new, |successor| {
        format!("A set of an earlier version: its keys are read, and no new ones made; take {successor}\n")
    });
    let domain = set.promised_for.as_ref().map_or_else(String::new, |messages| format!(", for {messages}"));
    let fresh = set.ciphertext_bytes.get(set.output_level).copied().unwrap_or(0);
    let keys = format!(
        "{} in {} pieces; {} in memory with what is precomputed for them",
        bytes(set.key_bytes),
        set.parts,
        bytes(set.expanded_key_bytes)
    );
    let mut rows = vec![
        ("ring degree", format!("2^{}", set.log_n)),
        ("slots", format!("{} ({})", set.slots, set.mode.name())),
        ("promise of one bootstrap", promise(set.promise()) + &domain),
        ("log2 of the modulus, main and sparse key", format!("{:.2}, {:.2}", set.log_qp, set.log_q0p)),
        ("evaluation keys", keys),
        ("fresh ciphertext", bytes(fresh as u64)),
    ];
    if let Some(modulus) = set.modulus {
        rows.push(("integers modulo", modulus.to_string()));
    }
    if let Some(degree) = set.slot_degree.filter(|&degree| degree > 1) {
        let of = format!("{degree}: coordinates of an element of a Galois ring in a normal basis");
        rows.push(("integers in a slot", of));
    }
    if set.max_level > 0 {
        let levels = format!("{} in, {} out, {} at most", set.input_level, set.output_level, set.max_level);
        rows.push(("levels", levels));
    }
    if let Some(bits) = set.gain_bits {
        rows.push(("a further round gains", format!("{bits} bits")));
    }
    if let (Scheme::Ckks, Some(log_failure)) = (set.scheme, set.log_failure) {
        rows.push(("a bootstrap is wrong with", format!("2^{log_failure:.1}")));
    }
    if set.tree_levels > 0 {
        rows.push(("tracks, tree levels", format!("{}, {}", set.tracks, set.tree_levels)));
    }
    if let Some(gates) = &set.gates {
        rows.push(("rotation", gates.rotation.clone()));
        rows.push(("dimension of the short key", gates.lwe_dimension.to_string()));
    }
    rows.push(("fingerprint", set.fingerprint.clone()));
    let facts = set.facts.iter().map(|fact| (fact.label.as_str(), fact.value.clone()));
    let rows: Vec<Vec<String>> =
        rows.into_iter().chain(facts).map(|(label, value)| vec![label.to_owned(), value]).collect();
    let mut stages = vec![["stage", "levels", "what"].map(str::to_owned).to_vec()];
    stages.extend(set.stages.iter().map(|stage| {
        vec![stage.id.clone(), stage.levels.to_string(), format!("{}: {}", stage.title, stage.symbol)]
    }));
    format!(
        "{}: {}\n{}\n{old}\n{}\n{}",
        set.name,
        set.title,
        set.security_statement,
        table(&rows),
        table(&stages)
    )
}
