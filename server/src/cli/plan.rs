//! `refloat plan`: what a set takes, before keys are made of it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clap::Args;
use refloat::bootstrapping::method::Promise;
use refloat::params;
use serde::Serialize;

use super::failure::Failure;
use super::keyfiles::fresh_seed;
use super::machine::{self, Machine};
use super::output::{Output, bytes, table};
use super::params::promise;
use super::progress;
use super::sets;
use crate::clients::{KeyClient, KeySecret, Outline, Rotation, SetQuery};
use crate::engine::{JobSet, LoadError, SetInfo};
use crate::engines::Engines;
use crate::memory;
use crate::registry::{Registry, SetFilter};

const EXAMPLES: &str = "\
Examples:
  refloat plan --preset n16
  refloat plan --preset n15 --measure
  refloat --json plan --preset n15+fbs16-50";

/// Most rotations listed in text; beyond that, they are only counted.
const LISTED: usize = 96;

/// Arguments of `refloat plan`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Parameter set; insecure ones are fine, nothing is protected here.
    #[arg(long, value_name = "NAME", default_value = params::DEFAULT_PRESET)]
    preset: String,
    /// Makes a secret key and all its evaluation keys, loads them as a server does, drops them, and tells the seconds of both.
    #[arg(long)]
    measure: bool,
}

/// What a set takes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Plan<'a> {
    params: &'a str,
    secure: bool,
    security: &'a str,
    slots: usize,
    /// How many integers a slot holds, for sets whose slots hold several.
    #[serde(skip_serializing_if = "Option::is_none")]
    slot_degree: Option<usize>,
    levels: Levels,
    /// Rotations, levels of operations, and moduli, for sets with slots.
    #[serde(flatten)]
    outline: Option<&'a Outline>,
    /// Exact lengths of ciphertexts on the wire, by level.
    ciphertext_bytes: &'a [usize],
    secret_key_bytes: usize,
    evaluation_keys: Keys,
    memory: Memory,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Levels {
    /// A bootstrap takes ciphertexts from this level on.
    input: usize,
    /// The level at which a bootstrap leaves ciphertexts.
    output: usize,
    /// Products between two bootstraps.
    products: usize,
    /// Bits that one bootstrap promises in the worst slot, where results have errors.
    bits: Option<f64>,
    /// What one bootstrap promises, in words.
    promise: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Keys {
    pieces: usize,
    /// Bytes on the wire, and on disk.
    bytes: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Memory {
    /// Evaluation keys, with what is precomputed for them.
    keys: u64,
    /// The most that a run takes besides the keys.
    run: u64,
    /// About what making keys takes, with one piece in memory at a time: measured here, where the system tells.
    keygen: Option<u64>,
    /// What is available here, where the system tells.
    available: Option<u64>,
}

/// What was measured: keys of a fresh secret, made and loaded once.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    make_seconds: f64,
    load_seconds: f64,
    machine: String,
}

/// Says what a set takes.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let name = &arguments.preset;
    let found = registry.client(SetQuery::Name(name))?.ok_or_else(|| sets::unknown_set(registry, name))?;
    let secret = found.client().secret(&fresh_seed()?);
    // Measured first, while only the making of keys is in memory.
    let keygen = keygen_memory(found.client().info(), secret.as_ref())?;
    let outline = found.outline()?;
    let client = found.keys();
    let engines = Engines::with(registry, SetFilter { only: Some(name), ..SetFilter::all() })?;
    let set = engines.named(name)?;
    let info = client.info();
    let memory = Memory {
        keys: set.info().expanded_key_bytes,
        run: set.working_bytes(),
        keygen,
        available: machine::available_memory(),
    };
    let measured =
        if arguments.measure { Some(measure(set, client.as_ref(), &memory, output)?) } else { None };
    let plan = Plan {
        params: name,
        secure: info.secure,
        security: &info.security_statement,
        slots: info.slots,
        slot_degree: info.slot_degree.filter(|&degree| degree > 1),
        levels: Levels {
            input: info.input_level,
            output: info.output_level,
            products: info.output_level.saturating_sub(info.input_level),
            bits: match info.promise() {
                Promise::Precision { worst, .. } => Some(worst),
                _ => None,
            },
            promise: promise(info.promise()),
        },
        outline: outline.as_ref(),
        ciphertext_bytes: &info.ciphertext_bytes,
        secret_key_bytes: secret.to_bytes().len(),
        evaluation_keys: Keys { pieces: info.key_parts.len(), bytes: info.key_bytes },
        memory,
        measured,
    };
    output.result(&plan, || text(&plan, info))
}

/// The peak memory of this process in bytes after making a piece of every size. `refloat keygen`, which writes each piece before
/// it makes the next, takes about as much; for `n16` it takes a tenth more.
fn keygen_memory(set: &SetInfo, secret: &dyn KeySecret) -> Result<Option<u64>, Failure> {
    if machine::peak_memory().is_none() {
        return Ok(None);
    }
    let by_size: BTreeMap<usize, usize> = set.key_parts.iter().map(|part| (part.bytes, part.index)).collect();
    for &index in by_size.values() {
        drop(secret.key_part(index)?);
    }
    Ok(machine::peak_memory())
}

/// Makes and loads keys once. Pieces are made as they are loaded, so that no set of them is held twice.
fn measure(
    set: &dyn JobSet,
    client: &dyn KeyClient,
    memory: &Memory,
    output: &Output,
) -> Result<Measured, Failure> {
    let needed = memory.keys.saturating_add(memory::BESIDE);
    if let Some(available) = memory.available.filter(|available| *available < needed) {
        return Err(memory::too_little(&set.info().name, needed, available).into());
    }
    let start = Instant::now();
    let secret: Box<dyn KeySecret> = client.secret(&fresh_seed()?);
    let mut making = start.elapsed();
    let bar = progress::bar(output, set.info().key_parts.len() as u64, "making and loading keys");
    let mut failed = None;
    let loading = Instant::now();
    let mut made = Duration::ZERO;
    let loaded = set.load(secret.key_id(), &mut |index| {
        let start = Instant::now();
        let part = secret.key_part(index).map_err(|error| {
            let told = std::io::Error::other(error.to_string());
            failed = Some(error);
            told
        });
        made += start.elapsed();
        bar.inc(1);
        part
    });
    let load = loading.elapsed().saturating_sub(made);
    bar.finish_and_clear();
    making += made;
    match (loaded, failed) {
        (Ok(_), _) => Ok(Measured {
            make_seconds: making.as_secs_f64(),
            load_seconds: load.as_secs_f64(),
            machine: Machine::here().line(),
        }),
        (Err(_), Some(error)) | (Err(LoadError::Refused(error)), None) => Err(error.into()),
        (Err(LoadError::Io(error)), None) => Err(Failure::system(&error)),
    }
}

fn text(plan: &Plan<'_>, info: &SetInfo) -> String {
    let Plan { levels, memory, .. } = plan;
    let mut rows = Vec::new();
    let mut row = |label: &str, value: String| rows.push(vec![label.to_owned(), value]);
    if let Some(degree) = plan.slot_degree {
        row("slots", format!("{} of {degree} integers", plan.slots));
    }
    if info.max_level > 0 {
        let (input, output, products) = (levels.input, levels.output, levels.products);
        row("a bootstrap", format!("from level {input} to {output}; {}", levels.promise));
        row("products between bootstraps", products.to_string());
    }
    if let Some(outline) = plan.outline {
        let none = || "no key".to_owned();
        let upto = |level: Option<usize>| level.map_or_else(none, |level| format!("up to level {level}"));
        row("products", upto(outline.products));
        row("rotations with keys of their own", listed(&outline.rotations));
        let inversion = if info.modulus.is_some() { "swap of rows" } else { "conjugation" };
        row(inversion, upto(outline.inversion));
    }
    let Keys { pieces, bytes: wire } = plan.evaluation_keys;
    row("evaluation keys, sent and stored", format!("{} in {pieces} pieces", bytes(wire)));
    row("secret key", bytes(plan.secret_key_bytes as u64));
    row("memory of keys", format!("{}, with what is precomputed for them", bytes(memory.keys)));
    if let Some(keygen) = memory.keygen {
        row(
            "memory of making keys",
            format!("about {}, measured here on a piece of every size", bytes(keygen)),
        );
    }
    let available =
        memory.available.map_or_else(String::new, |there| format!("; {} is available here", bytes(there)));
    row("memory of a run beside them", format!("{}{available}", bytes(memory.run)));
    match &plan.measured {
        Some(Measured { make_seconds, load_seconds, machine }) => {
            row("keys made in", format!("{make_seconds:.2} s on {machine}"));
            row("keys loaded in", format!("{load_seconds:.2} s"));
        }
        None => {
            row("time", "not known before it is measured: --measure makes and loads keys once".to_owned());
        }
    }
    let sizes = by_level(plan);
    format!("{}: {}\n{}\n\n{}\n{sizes}", info.name, info.title, info.security_statement, table(&rows))
}

/// Rotations in text: `1 2 4 -1`, and how many there are.
fn listed(rotations: &[Rotation]) -> String {
    if rotations.is_empty() {
        return "none".to_owned();
    }
    let steps: Vec<String> =
        rotations.iter().take(LISTED).map(|rotation| rotation.steps.to_string()).collect();
    let more = rotations.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more (--json lists them)") } else { String::new() };
    format!("{}{more}; {} in all, others are composed of them", steps.join(" "), rotations.len())
}

/// A row for every level of messages: its modulus, and the bytes of a ciphertext on the wire.
fn by_level(plan: &Plan<'_>) -> String {
    let Some(outline) = plan.outline else {
        return plan
            .ciphertext_bytes
            .first()
            .map_or_else(String::new, |one| format!("a ciphertext takes {}\n", bytes(*one as u64)));
    };
    let mut rows = vec![["level", "log2 Q", "ciphertext"].map(str::to_owned).to_vec()];
    rows.extend(outline.log_q.iter().zip(plan.ciphertext_bytes).enumerate().map(
        |(level, (log_q, length))| vec![level.to_string(), format!("{log_q:.1}"), bytes(*length as u64)],
    ));
    table(&rows)
}
