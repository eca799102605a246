//! `refloat keygen`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use refloat::params;
use serde_json::json;

use super::failure::Failure;
use super::keyfiles::{self, EvaluationFolder, KeySet};
use super::outfile::OutFile;
use super::output::{Output, bytes};
use super::sets;
use crate::clients::{KeyClient, KeySecret};
use crate::engines::Engines;
use crate::registry::{Registry, SetFilter};
use crate::store::folder::data_folder_above;

const EXAMPLES: &str = "\
Examples:
  refloat keygen --preset ship13 --out keys
  refloat keygen --preset n15 --out keys15                    for conventional bootstrapping
  refloat keygen --preset bool-128 --out gatekeys             for circuits of gates
  refloat keygen --preset toy10 --allow-insecure --out toykeys
  refloat keygen --preset ship13 --out small --secret-only    evaluation keys are made when needed
  refloat keygen --resume --out keys                          evaluation keys that are missing or damaged";

/// Arguments of `refloat keygen`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct Arguments {
    #[arg(long, value_name = "NAME", help = format!("Parameter set [default: {}]", params::DEFAULT_PRESET))]
    preset: Option<String>,
    /// Folder for the keys.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Accepts a set that protects nothing, to play with.
    #[arg(long)]
    allow_insecure: bool,
    /// Makes the secret key alone; everything else follows from it.
    #[arg(long)]
    secret_only: bool,
    /// Destroys a secret key that is in the folder, and all that it protects.
    #[arg(long)]
    force: bool,
    /// Completes the evaluation keys of the secret key in the folder, as keygen does by itself where pieces are missing;
    /// all that are there are checked, and made again if they are damaged.
    #[arg(long, conflicts_with_all = ["force", "secret_only"])]
    resume: bool,
}

/// Makes keys, or completes them.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let places = [arguments.out.clone(), keyfiles::evaluation_path(&arguments.out)];
    if let Some(data) = places.iter().find_map(|place| data_folder_above(place)) {
        return Err(Failure::usage(format!(
            "{} is the data folder of a server, where keys of your own do not belong; choose another folder with --out",
            data.display()
        )));
    }
    let path = keyfiles::new_secret_path(&arguments.out);
    let there = keyfiles::has_secret(&path)?;
    if there && !arguments.force {
        return complete(arguments, &path, registry, output);
    }
    if arguments.resume {
        return Err(Failure::usage(format!(
            "there is no {} whose evaluation keys could be completed; make keys without --resume",
            path.display()
        )));
    }
    let folder = keyfiles::evaluation_path(&arguments.out);
    if !arguments.force
        && let Some(found) = EvaluationFolder::at(&folder)?
    {
        return Err(Failure::usage(format!(
            "{} holds evaluation keys of key {}, and there is no secret key beside them; choose another folder, or --force to replace them",
            folder.display(),
            found.manifest.key_id
        )));
    }
    let made = new(arguments, registry)?;
    std::fs::create_dir_all(&arguments.out)
        .map_err(|error| Failure::file("create", &arguments.out, &error))?;
    // Nothing but an empty file is replaced without --force.
    let file = OutFile::secret(&path, there || path.is_file())?;
    EvaluationFolder::forget(&folder)?;
    file.write(&made.secret.to_bytes())?;
    let pieces =
        if arguments.secret_only { None } else { Some(evaluation(arguments, &made, &|_, _| false, output)?) };
    report(arguments, &made, (&path, true), pieces, output)
}

/// Makes the evaluation keys that a secret key lacks.
fn complete(arguments: &Arguments, path: &Path, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let (set, secret) = sets::read_secret(registry, path)?;
    let made = Made::of(set, secret);
    let KeySet { manifest, .. } = &made.set;
    let destroy = "choose another folder, or --force to destroy that key and all it protects";
    if let Some(asked) = arguments.preset.as_ref().filter(|asked| **asked != manifest.params) {
        return Err(Failure::usage(format!(
            "{} holds a secret key of {}, and --preset asks for {asked}; {destroy}",
            path.display(),
            manifest.params
        )));
    }
    let folder = keyfiles::evaluation_path(&arguments.out);
    if arguments.resume {
        EvaluationFolder::set_damaged_aside(&folder)?;
    }
    let whole = EvaluationFolder::is_complete(&folder, &made.set)?;
    if arguments.secret_only || (whole && !arguments.resume) {
        let check = if whole {
            "--resume to check its evaluation keys"
        } else {
            "--resume to make its evaluation keys"
        };
        return Err(Failure::usage(format!(
            "{} holds a secret key of {} already; add {check}, {destroy}",
            path.display(),
            manifest.params
        )));
    }
    let engines = Engines::with(registry, SetFilter { only: Some(&manifest.params), ..SetFilter::all() })?;
    let set = engines.named(&manifest.params)?;
    let keep = |index: usize, bytes: &[u8]| set.verify_part(manifest.key_id, index, bytes).is_ok();
    let pieces = evaluation(arguments, &made, &keep, output)?;
    report(arguments, &made, (path, false), Some(pieces), output)
}

/// A new key of the set asked for.
fn new(arguments: &Arguments, registry: &Registry) -> Result<Made, Failure> {
    let name = arguments.preset.as_deref().unwrap_or(params::DEFAULT_PRESET);
    let set = sets::named(registry, name)?;
    if !(set.info().secure || arguments.allow_insecure) {
        return Err(refloat::Error::Insecure(format!(
            "{name} protects nothing; take a secure set such as {} or {}, or add --allow-insecure to play with it",
            params::DEFAULT_PRESET,
            params::DEFAULT_CGGI_PRESET
        ))
        .into());
    }
    let secret = set.secret(&keyfiles::fresh_seed()?);
    Ok(Made::of(set, secret))
}

/// Writes evaluation keys, and returns how many pieces were made; a failure says that the work done is not lost.
fn evaluation(
    arguments: &Arguments,
    made: &Made,
    keep: &dyn Fn(usize, &[u8]) -> bool,
    output: &Output,
) -> Result<usize, Failure> {
    let folder = keyfiles::evaluation_path(&arguments.out);
    let make = |index| Ok(made.secret.key_part(index)?);
    EvaluationFolder::create(&folder, &made.set, &make, keep, output).map_err(|failure| Failure {
        detail: format!(
            "{}; the secret key and the pieces made are kept, go on with {}",
            failure.detail,
            keyfiles::repair(&arguments.out)
        ),
        ..failure
    })
}

fn report(
    arguments: &Arguments,
    made: &Made,
    (secret, new): (&Path, bool),
    pieces: Option<usize>,
    output: &Output,
) -> Result<(), Failure> {
    let (id, set) = (made.set.manifest.key_id, &made.set.manifest.params);
    let folder = pieces.map(|_| keyfiles::evaluation_path(&arguments.out));
    let value = json!({
        "params": set,
        "secure": made.client.info().secure,
        "keyId": id,
        "secretKey": secret,
        "evaluationKeys": folder,
        "bytes": pieces.map(|_| made.set.bytes()),
        "piecesMade": pieces,
        "piecesKept": pieces.map(|count| made.set.sizes.len() - count),
    });
    output.result(&value, || {
        let note = if new { "keep it to yourself" } else { "as it was" };
        let mut text = format!("key {id} of {set}\nsecret key       {} ({note})", secret.display());
        if let (Some(folder), Some(count)) = (&folder, pieces) {
            let size = bytes(made.set.bytes());
            let _ = write!(text, "\nevaluation keys  {} ({size}), for whoever computes", folder.display());
            if !new {
                let kept = made.set.sizes.len() - count;
                let _ = write!(text, "\npieces           {count} made, {kept} checked and kept");
            }
        }
        if !made.client.info().secure {
            let _ = write!(text, "\n{}", made.client.info().security_statement);
        }
        text
    })
}

/// A key and what follows from it.
struct Made {
    client: Box<dyn KeyClient>,
    secret: Box<dyn KeySecret>,
    /// The evaluation keys of the secret key.
    set: KeySet,
}

impl Made {
    fn of(client: Box<dyn KeyClient>, secret: Box<dyn KeySecret>) -> Self {
        Self { set: KeySet::of(client.info(), secret.key_id()), client, secret }
    }
}
