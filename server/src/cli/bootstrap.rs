//! `refloat bootstrap`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use rayon::ThreadPoolBuilder;
use refloat::bootstrapping::ckks_ship::{ShipEvaluator, ShipParams};
use refloat::schemes::ckks::Ciphertext;
use refloat::wire;
use serde_json::json;

use super::Mode;
use super::failure::Failure;
use super::keyfiles::{self, EvaluationFolder, KeySet};
use super::output::Output;
use super::progress::{self, StageClock, StageTime, stage_table};
use super::remote::Remote;
use crate::engine::{Operation, SlotMode, Task, operation_list};
use crate::id::Id;
use crate::ship::{apply, slot_mode};

const EXAMPLES: &str = "\
Examples:
  refloat bootstrap --keys keys --in photo.ct --out fresh.ct
  refloat bootstrap --keys keys --in photo.ct --out squared.ct --op square,bootstrap
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
    /// Ciphertext to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Operations in order, from: square, bootstrap.
    #[arg(long, default_value = "bootstrap", value_parser = Operation::parse_list)]
    op: std::vec::Vec<Operation>,
    /// What the slots hold; the parameter set has a default.
    #[arg(long)]
    mode: Option<Mode>,
    /// Has a server do the work; evaluation keys it lacks are sent first.
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Threads to work on [default: all].
    #[arg(long, conflicts_with = "server", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// What came of a run.
struct Outcome {
    ciphertext: Ciphertext,
    seconds: f64,
    stages: Vec<StageTime>,
}

/// Refreshes a ciphertext.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let (_, params, input) = keyfiles::read_ciphertext(&arguments.input)?;
    let task = Task {
        mode: arguments.mode.map_or(slot_mode(params.mode()), SlotMode::from),
        operations: arguments.op.clone(),
    };
    let outcome = match &arguments.server {
        Some(url) => on_server(url, arguments, &params, &input, &task, output)?,
        None => here(arguments, &input, &task, output)?,
    };
    let Outcome { ciphertext, seconds, stages } = outcome;
    let written = keyfiles::write_ciphertext(&arguments.out, &params, &ciphertext)?;
    let value = json!({
        "params": params.name(), "op": operation_list(&task.operations), "mode": task.mode, "seconds": seconds,
        "server": arguments.server, "stages": stages, "out": arguments.out, "bytes": written,
        "before": { "level": input.level(), "logQ": input.log_q(), "logScale": input.log_scale() },
        "after": { "level": ciphertext.level(), "logQ": ciphertext.log_q(), "logScale": ciphertext.log_scale() },
    });
    output.result(&value, || {
        format!(
            "{}level {} -> {}, log2 Q {:.1} -> {:.1}, {seconds:.3} s, into {}",
            stage_table(&stages),
            input.level(),
            ciphertext.level(),
            input.log_q(),
            ciphertext.log_q(),
            arguments.out.display()
        )
    });
    Ok(())
}

fn here(arguments: &Arguments, input: &Ciphertext, task: &Task, output: &Output) -> Result<Outcome, Failure> {
    let folder = EvaluationFolder::find(&arguments.keys)?.ok_or_else(|| no_keys(&arguments.keys))?;
    let threads = arguments.threads.map_or(0, usize::from);
    let pool =
        ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| Failure::system(&error))?;
    pool.install(|| {
        let keys = folder.load(output)?;
        let spinner = progress::spinner(output, "preparing");
        let evaluator = ShipEvaluator::new(keys.params())?;
        spinner.finish_and_clear();
        let mut clock = StageClock::new(output);
        let began = Instant::now();
        let ciphertext = apply(&evaluator, &keys, task, input, &mut clock)?;
        Ok(Outcome {
            ciphertext,
            seconds: began.elapsed().as_secs_f64(),
            stages: std::mem::take(&mut clock.stages),
        })
    })
}

fn on_server(
    url: &str,
    arguments: &Arguments,
    params: &ShipParams,
    input: &Ciphertext,
    task: &Task,
    output: &Output,
) -> Result<Outcome, Failure> {
    let remote = Remote::new(url)?;
    let key = Id(input.key_id());
    send_keys(&remote, &arguments.keys, &KeySet::ship(params, key), output, |path| {
        let secret = keyfiles::read_secret(path)?;
        let id = Id(secret.key_id());
        Ok((id, Box::new(move |index| Ok(secret.key_part(index)?))))
    })?;
    let bytes = wire::ciphertext_to_bytes(params.ckks(), input)?;
    let job = remote.submit(key, task, &bytes)?;
    let (seconds, stages) = remote.follow(&job, output)?;
    let result = remote.result(&job)?;
    let ciphertext = wire::ciphertext_from_bytes(params.ckks(), &result)?;
    if ciphertext.key_id() != input.key_id() {
        return Err(Failure::network("the server answered with a ciphertext under another key"));
    }
    Ok(Outcome { ciphertext, seconds, stages })
}

/// A secret key's identifier, and what makes the pieces of its evaluation keys.
type FromSecret = (Id, Box<dyn Fn(usize) -> Result<Vec<u8>, Failure>>);

/// Sends a server the evaluation keys it lacks: those in the folder, or, if it has a secret key only,
/// those that follow from it. The secret key stays here.
pub fn send_keys(
    remote: &Remote,
    keys: &Path,
    set: &KeySet,
    output: &Output,
    from_secret: impl FnOnce(&Path) -> Result<FromSecret, Failure>,
) -> Result<(), Failure> {
    let key = set.manifest.key_id;
    let check = |other: Id, what: &Path| {
        if other == key {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "the ciphertext is under key {key}, {} holds key {other}; use the ciphertext's key",
            what.display()
        )))
    };
    if let Some(folder) = EvaluationFolder::find(keys)? {
        check(folder.manifest.key_id, keys)?;
        return remote.upload(set, &|index| folder.part(index), output);
    }
    let path = keyfiles::secret_path(keys);
    if !path.is_file() {
        return Err(no_keys(keys));
    }
    let (id, make) = from_secret(&path)?;
    check(id, &path)?;
    remote.upload(set, &make, output)
}

/// The failure of a folder without evaluation keys.
pub fn no_keys(folder: &Path) -> Failure {
    Failure::usage(format!(
        "there are no evaluation keys in {}; make them with refloat keygen",
        folder.display()
    ))
}
