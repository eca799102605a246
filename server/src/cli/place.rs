//! Where a job is done: here, with keys on file, or on a server.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use rayon::ThreadPoolBuilder;
use refloat::wire;

use super::address::Address;
use super::failure::Failure;
use super::keyfiles::{self, EvaluationFolder, KeySet, in_key};
use super::message_files::read_file;
use super::output::Output;
use super::progress::StageClock;
use super::remote::{Done, Remote, Work};
use super::server_arguments::ServerArguments;
use super::sets;
use crate::clients::KeyClient;
use crate::engine::{SetInfo, Task};
use crate::id::Id;
use crate::registry::Registry;

/// Who computes, and with what: arguments of commands on CKKS ciphertexts that have keys as `--keys`.
#[derive(Args)]
pub struct Place {
    #[command(flatten)]
    pub server: ServerArguments,
    /// Threads to work on [default: all].
    #[arg(long, conflicts_with = "server", requires = "keys", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory that everything may take in GiB. Where a set can do with less, the diagonals of linear maps are kept as
    /// coefficients, and then keys are read as they are used, at a cost in time; another that does not fit is refused
    /// [default: what is available].
    #[arg(long, value_name = "GIB", conflicts_with = "server", requires = "keys", value_parser = clap::value_parser!(u16).range(1..=1024))]
    memory: Option<u16>,
}

impl Place {
    /// Who computes, according to the arguments.
    pub fn who(&self) -> Who<'_> {
        Who {
            server: &self.server,
            threads: self.threads,
            memory: self.memory.map(|gib| u64::from(gib) << 30),
        }
    }
}

/// Who computes, and with what.
pub struct Who<'a> {
    /// A server, if there is one.
    pub server: &'a ServerArguments,
    /// Threads to work on here; all if none are given.
    pub threads: Option<u16>,
    /// Bytes that everything may take here; what is available if none are given.
    pub memory: Option<u64>,
}

impl Who<'_> {
    /// Does a job on `input`, which is under `key` of a set; the evaluation keys are in the folder `keys`. The result has at most
    /// `largest` bytes.
    pub fn run(
        &self,
        registry: &Registry,
        keys: &Path,
        (set, key): (&dyn KeyClient, Id),
        (task, input, largest): (&Task, &[u8], usize),
        output: &Output,
    ) -> Result<Done, Failure> {
        match &self.server.url {
            Some(url) => on_server((url, self.server), keys, (set, key), (task, input, largest), output),
            None => self.here(registry, keys, set.info(), (task, input), output),
        }
    }

    fn here(
        &self,
        registry: &Registry,
        keys: &Path,
        set: &SetInfo,
        (task, input): (&Task, &[u8]),
        output: &Output,
    ) -> Result<Done, Failure> {
        let folder = EvaluationFolder::find(keys)?.ok_or_else(|| no_keys(keys, set))?;
        let threads = self.threads.map_or(0, usize::from);
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| Failure::system(&error))?;
        let engines = sets::engines(registry, set, self.memory)?;
        engines.check(&set.name, folder.manifest.key_id, task, input)?;
        pool.install(|| {
            let keys = folder.load(&engines, output)?;
            let mut clock = StageClock::new(output);
            let began = Instant::now();
            let bytes = keys.runner.run(task, input, &mut clock)?;
            let seconds = began.elapsed().as_secs_f64();
            Ok(Done { bytes, seconds, stages: std::mem::take(&mut clock.stages) })
        })
    }
}

/// Has a server do a job. Evaluation keys that the server lacks are sent: those in the folder or, if it has only a secret key,
/// keys derived from it. The secret key stays here.
fn on_server(
    (url, server): (&str, &ServerArguments),
    keys: &Path,
    (set, key): (&dyn KeyClient, Id),
    (task, input, largest): (&Task, &[u8], usize),
    output: &Output,
) -> Result<Done, Failure> {
    let check = |other: Id, what: &Path| {
        if other == key {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "the ciphertext is under key {key}, {} holds key {other}; use the ciphertext's key",
            what.display()
        )))
    };
    let part: Box<dyn Fn(usize) -> Result<Vec<u8>, Failure>> =
        if let Some(folder) = EvaluationFolder::find(keys)? {
            check(folder.manifest.key_id, keys)?;
            Box::new(move |index| folder.part(index))
        } else {
            let path = keyfiles::secret_of(keys).ok_or_else(|| no_keys(keys, set.info()))?;
            let bytes = read_file(&path)?;
            let stated = wire::frame::peek(&bytes).map_err(|error| in_key(&path, &error))?;
            check(Id(stated.key_id), &path)?;
            let secret = set.read_secret(&bytes).map_err(|error| in_key(&path, &error))?;
            Box::new(move |index| Ok(secret.key_part(index)?))
        };
    let address = Address::parse("--server", url)?;
    let connection = server.reach.connect(&address, Some(keys), output)?;
    let again = server.reach.fetch(&address, Some(keys));
    let set = &KeySet::of(set.info(), key);
    Remote::new(connection, server.public, again)
        .run(&Work { set, part: &part, task, input, largest }, output)
}

/// The failure for a folder without the evaluation keys of a ciphertext. New keys would not decrypt what was encrypted under the old ones.
fn no_keys(folder: &Path, set: &SetInfo) -> Failure {
    let repair = match keyfiles::secret_of(folder) {
        Some(_) => format!("make them with {}", keyfiles::repair(folder)),
        None => format!("the ciphertext is of {}: name the folder that holds its keys with --keys", set.name),
    };
    Failure::usage(format!(
        "there are no evaluation keys in {}, or not all of them; {repair}",
        folder.display()
    ))
}
