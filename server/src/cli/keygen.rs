//! `refloat keygen`.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use refloat::params;
use refloat::random::Seed;
use serde_json::json;
use zeroize::Zeroizing;

use super::bits;
use super::ckks::CkksSet;
use super::failure::Failure;
use super::keyfiles::{self, EvaluationFolder, KeySet};
use super::output::{Output, bytes};

const EXAMPLES: &str = "\
Examples:
  refloat keygen --preset ship13 --out keys
  refloat keygen --preset n15 --out keys15                    for conventional bootstrapping
  refloat keygen --preset bool-128 --out gatekeys             for circuits of gates
  refloat keygen --preset toy10 --allow-insecure --out toykeys
  refloat keygen --preset ship13 --out keys --secret-only     evaluation keys are made when needed";

/// Arguments of `refloat keygen`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Parameter set.
    #[arg(long, default_value = params::DEFAULT_PRESET)]
    preset: String,
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
}

/// Makes keys.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    if let Some(data) = crate::store::folder::data_folder_above(&arguments.out) {
        return Err(Failure::usage(format!(
            "{} is the data folder of a server, where a secret key must not lie; choose another folder with --out",
            data.display()
        )));
    }
    let name = &arguments.preset;
    let seed = keyfiles::fresh_seed()?;
    let made = if let Ok(preset) = params::cggi_preset(name) {
        check(preset.name, preset.secure(), arguments)?;
        bits::made(preset, &seed)?
    } else if let Some(set) = CkksSet::named(name)? {
        check(set.name(), set.secure(), arguments)?;
        ckks(&set, &seed)
    } else {
        let bits = params::cggi_presets().iter().map(|preset| preset.name);
        let all: Vec<&str> = CkksSet::names().into_iter().chain(bits).collect();
        return Err(Failure::usage(format!(
            "no parameter set is called {name:?}; there are {}",
            all.join(", ")
        )));
    };
    std::fs::create_dir_all(&arguments.out)
        .map_err(|error| Failure::file("create", &arguments.out, &error))?;
    let path = keyfiles::new_secret_path(&arguments.out);
    keyfiles::write_secret(&path, &made.secret, arguments.force)?;
    let evaluation = if arguments.secret_only {
        None
    } else {
        let folder = keyfiles::evaluation_path(&arguments.out);
        Some((EvaluationFolder::create(&folder, &made.set, &made.make, output)?, folder))
    };
    let (id, set) = (made.set.manifest.key_id, &made.set.manifest.params);
    let value = json!({
        "params": set,
        "secure": made.secure,
        "keyId": id,
        "secretKey": path,
        "evaluationKeys": evaluation.as_ref().map(|(_, folder)| folder),
        "bytes": evaluation.as_ref().map(|((_, bytes), _)| bytes),
    });
    output.result(&value, || {
        let mut text =
            format!("key {id} of {set}\nsecret key       {} (keep it to yourself)", path.display());
        if let Some(((_, count), folder)) = &evaluation {
            let _ = write!(
                text,
                "\nevaluation keys  {} ({}), for whoever computes",
                folder.display(),
                bytes(*count)
            );
        }
        if !made.secure {
            let _ = write!(text, "\n{}", made.statement);
        }
        text
    });
    Ok(())
}

/// A new key and what follows from it.
pub struct Made {
    /// Whether its set claims security at all.
    pub secure: bool,
    /// What its set claims.
    pub statement: String,
    /// The bytes of the secret key.
    pub secret: Zeroizing<Vec<u8>>,
    /// Its evaluation keys.
    pub set: KeySet,
    /// Makes a piece of them.
    pub make: Box<dyn Fn(usize) -> Result<Vec<u8>, Failure>>,
}

fn ckks(set: &CkksSet, seed: &Seed) -> Made {
    let secret = set.secret(seed);
    Made {
        secure: set.secure(),
        statement: set.statement().to_owned(),
        secret: secret.to_bytes(),
        set: set.key_set(secret.key_id()),
        make: Box::new(move |index| Ok(secret.key_part(index)?)),
    }
}

fn check(name: &str, secure: bool, arguments: &Arguments) -> Result<(), Failure> {
    if secure || arguments.allow_insecure {
        return Ok(());
    }
    Err(refloat::Error::Insecure(format!(
        "{name} protects nothing; take a secure set such as {} or {}, or add --allow-insecure to play with it",
        params::DEFAULT_PRESET,
        params::DEFAULT_CGGI_PRESET
    ))
    .into())
}
