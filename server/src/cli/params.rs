//! `refloat params`.

use clap::Args;

use super::failure::Failure;
use super::output::{Output, bytes, table};
use crate::engine::{Engine, ParameterSet};
use crate::ship::ShipEngine;

/// Arguments of `refloat params`.
#[derive(Args)]
pub struct Arguments {
    /// A set to describe in full.
    name: Option<String>,
}

/// Describes the parameter sets.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let engine = ShipEngine::new()?;
    let Some(name) = &arguments.name else {
        output.result(&engine.sets(), || list(engine.sets()));
        return Ok(());
    };
    refloat::params::preset(name)?;
    if let Some(set) = engine.set(name) {
        output.result(set, || detail(set));
    }
    Ok(())
}

fn list(sets: &[ParameterSet]) -> String {
    let mut rows = vec![
        ["set", "security", "slots", "bits of precision", "log2 QP", "keys", "what"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(sets.iter().map(|set| {
        vec![
            set.name.clone(),
            security(set),
            set.slots.to_string(),
            format!("{:.2} or more", set.promised_bits),
            format!("{:.1}", set.log_qp),
            bytes(set.key_bytes),
            set.title.clone(),
        ]
    }));
    table(&rows)
}

fn security(set: &ParameterSet) -> String {
    if set.secure { format!("{:.0} bits", set.security_bits) } else { "INSECURE".to_owned() }
}

fn detail(set: &ParameterSet) -> String {
    let mut text = format!("{}: {}\n{}\n\n", set.name, set.title, set.security_statement);
    let largest = set.ciphertext_bytes.get(set.output_level).copied().unwrap_or(0);
    let rows = [
        ("ring degree", format!("2^{}", set.log_n)),
        ("slots", format!("{} ({})", set.slots, set.mode.name())),
        ("precision, worst slot", format!("{:.2} bits or more", set.promised_bits)),
        ("log2 QP", format!("{:.2}", set.log_qp)),
        ("log2 q0 p'", format!("{:.2}", set.log_q0p)),
        ("levels", format!("{} in, {} out, {} at most", set.input_level, set.output_level, set.max_level)),
        ("tracks, tree levels", format!("{}, {}", set.tracks, set.tree_levels)),
        (
            "evaluation keys",
            format!(
                "{} in {} pieces; {} in memory",
                bytes(set.key_bytes),
                set.parts,
                bytes(set.expanded_key_bytes)
            ),
        ),
        ("fresh ciphertext", bytes(largest as u64)),
        ("fingerprint", set.fingerprint.clone()),
    ];
    text += &table(&rows.map(|(name, value)| vec![name.to_owned(), value]));
    text += "\n";
    let mut stages = vec![["stage", "levels", "what"].map(str::to_owned).to_vec()];
    stages.extend(set.stages.iter().map(|stage| {
        vec![stage.id.clone(), stage.levels.to_string(), format!("{}: {}", stage.title, stage.symbol)]
    }));
    text + &table(&stages)
}
