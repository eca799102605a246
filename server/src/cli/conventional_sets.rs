//! Sets for conventional CKKS bootstrapping as `refloat params` tells them.

use refloat::bootstrapping::ckks_conventional::{ConventionalParams, METHOD};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::params::{ConventionalPreset, readable_conventional_presets, successor};
use serde::Serialize;

use super::failure::Failure;
use super::output::{bytes, table};
use crate::engine::Stage;
use crate::id::hex;

/// A set for conventional bootstrapping.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConventionalSet {
    /// What it is for.
    method: &'static str,
    /// Name, such as `n16`.
    pub name: &'static str,
    title: &'static str,
    /// The set to take instead of one of an earlier version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successor: Option<&'static str>,
    secure: bool,
    security_bits: f64,
    security_statement: String,
    policy: &'static str,
    fingerprint: String,
    log_n: u32,
    slots: usize,
    /// The fewest and the most slots that precision is promised for.
    slot_range: [usize; 2],
    #[serde(rename = "logQP")]
    log_qp: f64,
    max_level: usize,
    input_level: usize,
    output_level: usize,
    /// Products between two bootstraps.
    levels_left: usize,
    /// Bits of the mean and of the largest error.
    promised_bits: [f64; 2],
    /// For which messages.
    promised_for: &'static str,
    /// Bits that a further round of META-BTS gains.
    gain_bits: u32,
    /// log2 of the probability that a bootstrap is wrong.
    log_failure: Option<f64>,
    /// log2 of the probability that it is less precise than promised.
    log_imprecise: Option<f64>,
    order: &'static str,
    stages: Vec<Stage>,
    /// Pieces in which evaluation keys are written and sent.
    parts: usize,
    /// Bytes of evaluation keys in files and on the way.
    key_bytes: u64,
    /// Bytes of evaluation keys in memory.
    expanded_key_bytes: u64,
    /// Bytes of diagonals kept evaluated, and as coefficients.
    diagonal_bytes: [u64; 2],
    automorphisms: usize,
    #[serde(skip)]
    pub preset: &'static ConventionalPreset,
}

/// Every set, those of earlier versions last.
pub fn all() -> Result<Vec<ConventionalSet>, Failure> {
    readable_conventional_presets().map(|preset| describe(preset, &preset.params()?)).collect()
}

fn describe(
    preset: &'static ConventionalPreset,
    params: &ConventionalParams,
) -> Result<ConventionalSet, Failure> {
    let (security, levels) = (params.security(), params.levels());
    Ok(ConventionalSet {
        method: METHOD.id,
        name: preset.name,
        title: preset.title,
        successor: successor(preset.name),
        secure: preset.secure(),
        security_bits: security.bits,
        security_statement: security.statement.clone(),
        policy: security.policy.name(),
        fingerprint: hex(&params.fingerprint()),
        log_n: params.n().ilog2(),
        slots: params.slots(),
        slot_range: preset.log_slots.map(|log| 1 << log),
        log_qp: params.log_qp(),
        max_level: levels.coeffs_to_slots,
        input_level: levels.input,
        output_level: levels.output,
        levels_left: levels.left(),
        promised_bits: preset.promised_bits,
        promised_for: preset.promised_for(),
        gain_bits: preset.gain_bits()?,
        log_failure: params.log2_failure(),
        log_imprecise: params.log2_imprecise(),
        order: params.spec().order.name(),
        stages: params.stages().iter().map(Stage::from).collect(),
        parts: params.key_parts().len(),
        key_bytes: params.key_bytes(),
        expanded_key_bytes: params.expanded_key_bytes(),
        diagonal_bytes: [
            params.diagonal_bytes(PlaintextStorage::Evaluated),
            params.diagonal_bytes(PlaintextStorage::Coefficients),
        ],
        automorphisms: params.galois_elements().count(),
        preset,
    })
}

/// The sets as a table.
pub fn list(sets: &[ConventionalSet]) -> String {
    let heading = ["set", "security", "slots", "mean, worst", "levels left", "log2 QP", "keys", "what"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(sets.iter().filter(|set| set.successor.is_none()).map(|set| {
        vec![
            set.name.to_owned(),
            if set.secure { format!("{:.0} bits", set.security_bits) } else { "INSECURE".to_owned() },
            set.slots.to_string(),
            promise(set),
            set.levels_left.to_string(),
            format!("{:.1}", set.log_qp),
            bytes(set.key_bytes),
            set.title.to_owned(),
        ]
    }));
    table(&rows)
}

fn promise(set: &ConventionalSet) -> String {
    let [mean, worst] = set.promised_bits;
    format!("{mean:.1}, {worst:.1} bits")
}

/// One set in full.
pub fn detail(set: &ConventionalSet) -> String {
    let [evaluated, coefficients] = set.diagonal_bytes.map(bytes);
    let [fewest, most] = set.slot_range;
    let range = if fewest == most { String::new() } else { format!("; promised for {fewest} to {most}") };
    let slots = format!("{} (complex{range})", set.slots);
    let power = |log: Option<f64>| log.map_or("unknown".to_owned(), |log| format!("2^{log:.1}"));
    let rows = [
        ("ring degree", format!("2^{}", set.log_n)),
        ("slots", slots),
        (
            "precision, mean and worst slot",
            format!("{} or more after one bootstrap, for {}", promise(set), set.promised_for),
        ),
        ("log2 QP", format!("{:.2}", set.log_qp)),
        (
            "levels",
            format!(
                "{} in, {} out, {} at most: {} products between bootstraps",
                set.input_level, set.output_level, set.max_level, set.levels_left
            ),
        ),
        ("a further round gains", format!("{} bits", set.gain_bits)),
        (
            "a bootstrap is wrong with",
            if set.log_imprecise > set.log_failure {
                format!("{}, less precise with {}", power(set.log_failure), power(set.log_imprecise))
            } else {
                power(set.log_failure)
            },
        ),
        ("order of stages", set.order.to_owned()),
        ("automorphisms", set.automorphisms.to_string()),
        (
            "evaluation keys",
            format!(
                "{} in {} pieces; {} in memory",
                bytes(set.key_bytes),
                set.parts,
                bytes(set.expanded_key_bytes)
            ),
        ),
        ("diagonals", format!("{evaluated} evaluated, {coefficients} as coefficients")),
        ("fingerprint", set.fingerprint.clone()),
    ];
    let rows = rows.map(|(name, value)| vec![name.to_owned(), value]);
    let mut stages = vec![["stage", "levels", "what"].map(str::to_owned).to_vec()];
    stages.extend(set.stages.iter().map(|stage| {
        vec![stage.id.clone(), stage.levels.to_string(), format!("{}: {}", stage.title, stage.symbol)]
    }));
    format!(
        "{}: {}\n{}\n{}\n{}\n{}",
        set.name,
        set.title,
        set.security_statement,
        earlier(set.successor),
        table(&rows),
        table(&stages)
    )
}

/// A line that says of a set of an earlier version which to take instead.
pub fn earlier(successor: Option<&str>) -> String {
    successor.map_or_else(String::new, |now| {
        format!("A set of an earlier version: its keys are read, and no new ones made; take {now}\n")
    })
}
