//! `refloat bootstrap`.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};
use refloat::Error;
use refloat::circuits::program::Bootstraps;
use serde_json::json;

use super::failure::Failure;
use super::outfile::OutFile;
use super::output::Output;
use super::place::Place;
use super::program::{ciphertexts, without_bootstrap};
use super::progress::stage_table;
use super::remote::Done;
use super::{Cli, Mode};
use crate::clients::{CiphertextBytes, KeyOwnerSet};
use crate::engine::{BOOTSTRAP, Operation, SetInfo, SlotMode, Task, operation_list};
use crate::id::Id;
use crate::programs::{self, MULTIPLY, SQUARE};
use crate::registry::Registry;

const EXAMPLES: &str = "\
Examples:
  refloat bootstrap --keys keys --in photo.ct --out fresh.ct
  refloat bootstrap --keys keys --in photo.ct --out squared.ct --op square,bootstrap
  refloat bootstrap --keys keys --in photo.ct --out fresh.ct --rounds 2
  refloat bootstrap --keys integerkeys --in x.ct --with y.ct --out xy.ct --op multiply,bootstrap
  refloat bootstrap --keys keys --in photo.ct --out fresh.ct --server http://127.0.0.1:7878";

/// Arguments of `refloat bootstrap`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folder of keys, or of evaluation keys alone.
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// Ciphertext.
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// For integers: the ciphertexts that `multiply` takes, in order.
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    /// Ciphertext to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Operations in order, from: square, bootstrap, and for integers multiply.
    #[arg(long, default_value = "bootstrap", value_parser = Operation::parse_list)]
    op: std::vec::Vec<Operation>,
    /// Rounds of META-BTS of each bootstrap: every further round takes a bootstrap and adds the bits that one promises, up to
    /// the noise of the ciphertext; together they take a level.
    #[arg(long, value_name = "N", default_value_t = 1)]
    rounds: u32,
    /// What the slots hold; the parameter set has a default.
    #[arg(long)]
    mode: Option<Mode>,
    #[command(flatten)]
    place: Place,
}

/// Refreshes a ciphertext.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let read: Vec<&Path> =
        std::iter::once(&arguments.input).chain(&arguments.with).map(PathBuf::as_path).collect();
    read.iter().try_for_each(|path| must_be_a_name_of_a_file(path))?;
    let file = OutFile::open(&arguments.out, &read)?;
    let (set, files) = ciphertexts(registry, read.iter().copied())?;
    let owner = set.client();
    if !arguments.with.is_empty() && !matches!(set, KeyOwnerSet::Integers(_)) {
        return Err(Failure::usage(format!(
            "--with is for `multiply` of integers, and {} is a set for {}; leave it out",
            owner.info().name,
            owner.info().mode.kind()
        )));
    }
    let known = operations(&set)?;
    check_operations(owner.info(), &known, &arguments.op)?;
    let input = &files[0];
    let bytes: Vec<&[u8]> = files.iter().map(|file| &file.bytes[..]).collect();
    let body = bytes.concat();
    let mode = arguments.mode.map_or(owner.info().mode, SlotMode::from);
    let task = Task { mode, operations: arguments.op.clone(), rounds: arguments.rounds };
    if is_final(&set, &known, &task, (input.key, &body)) {
        output.note(&without_bootstrap("the result", owner.info()));
    }
    let work = (&task, &body[..], owner.info().largest_ciphertext());
    let Done { bytes, seconds, stages } =
        arguments.place.who().run(registry, &arguments.keys, (owner, input.key), work, output)?;
    let ciphertext = set.ciphertext(bytes)?;
    if ciphertext.key != input.key {
        return Err(Failure::network("the server answered with a ciphertext under another key"));
    }
    file.write(&ciphertext.bytes)?;
    let facts = |file: &CiphertextBytes| {
        let mut facts = json!({ "level": file.level, "logQ": file.log_q });
        let of_scheme = [("logScale", file.log_scale), ("capacity", file.capacity)];
        for (name, value) in of_scheme.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            facts[name] = json!(value);
        }
        facts
    };
    let value = json!({
        "params": owner.info().name, "op": operation_list(&task.operations), "mode": task.mode, "rounds": task.rounds,
        "seconds": seconds, "server": arguments.place.server.url, "stages": stages, "out": arguments.out, "bytes": ciphertext.bytes.len(),
        "before": facts(input), "after": facts(&ciphertext),
    });
    output.result(&value, || {
        format!(
            "{}level {} -> {}, log2 Q {:.1} -> {:.1}, {seconds:.3} s, into {}",
            stage_table(&stages),
            input.level,
            ciphertext.level,
            input.log_q,
            ciphertext.log_q,
            arguments.out.display()
        )
    })
}

/// Refuses `NAME=FILE`, the form of inputs of `refloat program`, unless there is a file of that name.
fn must_be_a_name_of_a_file(path: &Path) -> Result<(), Failure> {
    let text = path.to_string_lossy();
    match text.split_once('=') {
        Some((name, file)) if !name.contains(['/', '\\']) && !path.exists() => Err(Failure::usage(format!(
            "there is no file {text}, and only refloat program has inputs with names; give the ciphertext alone: {file}"
        ))),
        _ => Ok(()),
    }
}

/// Operations that `--op` has on ciphertexts of a set.
fn operations(set: &KeyOwnerSet) -> Result<Vec<&'static str>, Error> {
    let multiplies = set.outline()?.is_some_and(|outline| outline.products.is_some());
    let is_exact = matches!(set, KeyOwnerSet::Integers(_));
    let all = [(SQUARE, multiplies), (MULTIPLY, multiplies && is_exact), (BOOTSTRAP, true)];
    Ok(all.into_iter().filter_map(|(name, has)| has.then_some(name)).collect())
}

/// Refuses operations that are not `known`: names the known ones, or the command that does the operation.
fn check_operations(set: &SetInfo, known: &[&str], asked: &[Operation]) -> Result<(), Failure> {
    let Some(other) = asked.iter().map(Operation::name).find(|name| !known.contains(name)) else {
        return Ok(());
    };
    // `--op` spells it without a hyphen.
    let command = if other == "lookup" { "look-up" } else { other };
    if Cli::command().find_subcommand(command).is_some() {
        return Err(Failure::usage(format!(
            "{other} is not an operation of refloat bootstrap; it is a command of its own: refloat {command}"
        )));
    }
    let (name, known) = (&set.name, known.join(", "));
    Err(Failure::usage(if other == MULTIPLY {
        format!("{other} is for integers, and {name} is a set for {}; take one of: {known}", set.mode.kind())
    } else {
        format!("{other} is not an operation on ciphertexts of {name}; take one of: {known}")
    }))
}

/// Whether operations on integers leave a result that no bootstrap takes. What cannot be planned counts as no; the job refuses it.
fn is_final(set: &KeyOwnerSet, known: &[&str], task: &Task, (key, ciphertexts): (Id, &[u8])) -> bool {
    let KeyOwnerSet::Integers(set) = set else { return false };
    let Ok(program) = programs::of_operations(&task.operations, known) else {
        return false;
    };
    let body = programs::body(&program, Bootstraps::AsWritten, ciphertexts);
    set.plan(key, &body).is_ok_and(|plan| !plan.final_outputs.is_empty())
}
