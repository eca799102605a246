//! `refloat bootstrap`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use rayon::ThreadPoolBuilder;
use serde_json::json;

use super::Mode;
use super::ckks::{CiphertextFile, CkksSecret, CkksSet};
use super::failure::Failure;
use super::keyfiles::{self, EvaluationFolder, KeySet};
use super::output::Output;
use super::progress::{StageClock, StageTime, stage_table};
use super::remote::Remote;
use crate::engine::{Operation, SlotMode, Task, operation_list};
use crate::id::Id;

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
    /// For sets of conventional bootstrapping, memory that everything may take in GiB: with less, the diagonals of
    /// linear maps are kept as coefficients, at a cost in time [default: what is available].
    #[arg(long, value_name = "GIB", conflicts_with = "server", value_parser = clap::value_parser!(u16).range(1..=1024))]
    memory: Option<u16>,
}

/// What came of a run.
struct Outcome {
    bytes: Vec<u8>,
    seconds: f64,
    stages: Vec<StageTime>,
}

/// Refreshes a ciphertext.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let (set, input) = CiphertextFile::read(&arguments.input)?;
    let task =
        Task { mode: arguments.mode.map_or(set.mode(), SlotMode::from), operations: arguments.op.clone() };
    let outcome = match &arguments.server {
        Some(url) => on_server(url, arguments, &set, &input, &task, output)?,
        None => here(arguments, &set, &input, &task, output)?,
    };
    let Outcome { bytes, seconds, stages } = outcome;
    let ciphertext = set.ciphertext(bytes)?;
    if ciphertext.key != input.key {
        return Err(Failure::network("the server answered with a ciphertext under another key"));
    }
    ciphertext.write(&arguments.out)?;
    let facts = |file: &CiphertextFile| json!({ "level": file.level, "logQ": file.log_q, "logScale": file.log_scale });
    let value = json!({
        "params": set.name(), "op": operation_list(&task.operations), "mode": task.mode, "seconds": seconds,
        "server": arguments.server, "stages": stages, "out": arguments.out, "bytes": ciphertext.bytes.len(),
        "before": facts(&input), "after": facts(&ciphertext),
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
    });
    Ok(())
}

fn here(
    arguments: &Arguments,
    set: &CkksSet,
    input: &CiphertextFile,
    task: &Task,
    output: &Output,
) -> Result<Outcome, Failure> {
    let folder = EvaluationFolder::find(&arguments.keys)?.ok_or_else(|| no_keys(&arguments.keys))?;
    let threads = arguments.threads.map_or(0, usize::from);
    let pool =
        ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| Failure::system(&error))?;
    let engine = set.engine(arguments.memory.map(|gib| u64::from(gib) << 30))?;
    engine.check_ciphertext(set.name(), folder.manifest.key_id, task, &input.bytes)?;
    pool.install(|| {
        let keys = folder.load(engine.as_ref(), output)?;
        let mut clock = StageClock::new(output);
        let began = Instant::now();
        let bytes = engine.run(set.name(), &keys, task, &input.bytes, &mut clock)?;
        let seconds = began.elapsed().as_secs_f64();
        Ok(Outcome { bytes, seconds, stages: std::mem::take(&mut clock.stages) })
    })
}

fn on_server(
    url: &str,
    arguments: &Arguments,
    set: &CkksSet,
    input: &CiphertextFile,
    task: &Task,
    output: &Output,
) -> Result<Outcome, Failure> {
    let remote = Remote::new(url)?;
    send_keys(&remote, &arguments.keys, &set.key_set(input.key), output, |path| {
        let (_, secret) = CkksSecret::read(path)?;
        Ok((secret.key_id(), Box::new(move |index| Ok(secret.key_part(index)?))))
    })?;
    let job = remote.submit(input.key, task, &input.bytes)?;
    let (seconds, stages) = remote.follow(&job, output)?;
    Ok(Outcome { bytes: remote.result(&job)?, seconds, stages })
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
