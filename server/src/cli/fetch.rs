//! `refloat fetch`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use refloat::circuits::program::MAX_OUTPUTS;
use refloat::wire::{MAX_CIPHERTEXTS, frame};
use serde_json::{Value, json};

use super::address::Address;
use super::connection::words;
use super::failure::Failure;
use super::outfile::is_ciphertext;
use super::output::{Output, bytes};
use super::program::out_files;
use super::progress::stage_table;
use super::remote::{Done, Remote};
use super::server_arguments::Reach;
use crate::clients::{KeyOwnerSet, SetQuery};
use crate::engines::Engines;
use crate::id::{Id, unhex};
use crate::programs::{PROGRAM, split_list};
use crate::registry::{Registry, SetFilter};
use crate::service::views::JobDocument;

const EXAMPLES: &str = "\
A command that is interrupted while it waits for a server, or loses it, says which job it leaves there. A server keeps results for
some days.
Examples:
  refloat fetch 00112233445566778899aabbccddeeff --server http://127.0.0.1:7878 --keys keys --out fresh.ct
  refloat fetch 00112233445566778899aabbccddeeff --server http://127.0.0.1:7878 --keys keys --out sum.ct --out product.ct";

/// Arguments of `refloat fetch`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The job, 32 hexadecimal digits.
    #[arg(value_name = "JOB")]
    job: Id,
    /// The server that has it, http:// or https://.
    #[arg(long, value_name = "URL")]
    server: String,
    /// Folder of the keys that the job was submitted with, from which its token follows.
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// Ciphertext to write; of a program, each of its outputs, in their order.
    #[arg(long, value_name = "FILE", required = true)]
    out: Vec<PathBuf>,
    #[command(flatten)]
    reach: Reach,
}

/// Waits for a job and writes its result.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let written: Vec<Option<PathBuf>> = arguments.out.iter().cloned().map(Some).collect();
    let files = out_files(&[], &[], &written)?;
    let address = Address::parse("--server", &arguments.server)?;
    let keys = arguments.keys.as_deref();
    let connection = arguments.reach.connect(&address, keys, output)?;
    let remote = Remote::new(connection, false, arguments.reach.fetch(&address, keys));
    let job = remote.job(&arguments.job)?;
    let set = set_of(&job, registry)?;
    let Done { bytes, seconds, stages } = remote.collect(&arguments.job, largest(&job, &set), output)?;
    let results = results(&job, &set, bytes)?;
    if results.len() != arguments.out.len() {
        return Err(Failure::usage(format!(
            "job {} has {} results and --out names {} files; give --out {} times, in the order of the outputs",
            arguments.job,
            results.len(),
            arguments.out.len(),
            results.len()
        )));
    }
    for (file, result) in files.into_iter().flatten().zip(&results) {
        file.write(&result.bytes)?;
    }
    let facts: Vec<Value> = results
        .iter()
        .zip(&arguments.out)
        .map(|(result, out)| json!({ "level": result.level, "bytes": result.bytes.len(), "out": out }))
        .collect();
    let (op, params) = (words(&job.op), &set.client().info().name);
    let value = json!({
        "job": arguments.job, "params": params, "op": op, "seconds": seconds, "server": arguments.server, "stages": stages,
        "outputs": facts,
    });
    output.result(&value, || {
        text(&results, &arguments.out, &format!("{}{op} with {params}, {seconds:.3} s", stage_table(&stages)))
    })
}

fn text(results: &[Fetched], out: &[PathBuf], job: &str) -> String {
    let mut text = job.to_owned();
    for (result, out) in results.iter().zip(out) {
        let level = result.level.map_or(String::new(), |level| format!("level {level}, "));
        // Writing to a string does not fail.
        let _ = write!(text, "\n{level}{}, into {}", bytes(result.bytes.len() as u64), out.display());
    }
    text
}

/// A fetched ciphertext, or the list of ciphertexts that a circuit makes.
struct Fetched {
    bytes: Vec<u8>,
    level: Option<usize>,
}

/// The set that a job names, which may be one of an earlier version.
fn set_of(job: &JobDocument, registry: &Registry) -> Result<KeyOwnerSet, Failure> {
    let unknown = || {
        Failure::usage(format!(
            "job {} is of {}, a set that this version does not have; use the version that submitted it",
            job.id,
            words(&job.params)
        ))
    };
    let engines = Engines::with(registry, SetFilter { only: Some(&job.params), ..SetFilter::all() })?;
    let set = engines.named(&job.params).map_err(|_| unknown())?;
    let mut fingerprint = [0; 16];
    unhex(&set.info().fingerprint, &mut fingerprint).ok_or_else(unknown)?;
    registry.client(SetQuery::Fingerprint(fingerprint))?.ok_or_else(unknown)
}

/// Most bytes that the result may have.
fn largest(job: &JobDocument, set: &KeyOwnerSet) -> usize {
    let most = match set {
        KeyOwnerSet::Other(_) => MAX_CIPHERTEXTS,
        _ if job.op == PROGRAM => MAX_OUTPUTS,
        _ => 1,
    };
    most.saturating_mul(set.client().info().largest_ciphertext())
}

/// The ciphertexts that came, checked to belong to the set and the key of the job.
fn results(job: &JobDocument, set: &KeyOwnerSet, bytes: Vec<u8>) -> Result<Vec<Fetched>, Failure> {
    let under = |key: Id| {
        if key.to_string() == job.key {
            return Ok(());
        }
        Err(Failure::network(format!(
            "the server answered with a ciphertext under key {key}, and the job is under key {}",
            words(&job.key)
        )))
    };
    if let KeyOwnerSet::Other(set) = set {
        // Jobs of such a set make one list, which the commands of its scheme read.
        let header = frame::peek(&bytes)?;
        if !is_ciphertext(header.kind) || crate::id::hex(&header.fingerprint) != set.info().fingerprint {
            return Err(Failure::network(format!(
                "the server answered with a {} of another set than {}",
                header.kind.name(),
                set.info().name
            )));
        }
        under(Id(header.key_id))?;
        return Ok(vec![Fetched { bytes, level: None }]);
    }
    let list = split_list(&bytes)?.into_iter().map(|one| {
        let result = set.ciphertext(one.to_vec())?;
        under(result.key)?;
        Ok(Fetched { bytes: result.bytes, level: Some(result.level) })
    });
    list.collect()
}
