//! `refloat keygen`.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use refloat::bootstrapping::ckks_ship::ShipSecretKey;
use refloat::params;
use refloat::wire;
use serde_json::json;
use zeroize::Zeroizing;

use super::failure::Failure;
use super::keyfiles::{self, EvaluationFolder};
use super::output::{Output, bytes};
use crate::id::Id;

const EXAMPLES: &str = "\
Examples:
  refloat keygen --preset ship13 --out keys
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
    let preset = params::preset(&arguments.preset)?;
    if !preset.secure() && !arguments.allow_insecure {
        return Err(refloat::Error::Insecure(format!(
            "{} protects nothing; take a secure set such as {}, or add --allow-insecure to play with it",
            preset.name,
            params::DEFAULT_PRESET
        ))
        .into());
    }
    let params = preset.params()?;
    std::fs::create_dir_all(&arguments.out)
        .map_err(|error| Failure::file("create", &arguments.out, &error))?;
    let path = keyfiles::new_secret_path(&arguments.out);
    let secret = ShipSecretKey::generate(&params, &keyfiles::fresh_seed()?);
    keyfiles::write_secret(&path, &Zeroizing::new(wire::secret_key_to_bytes(&secret)), arguments.force)?;
    let evaluation = if arguments.secret_only {
        None
    } else {
        let folder = keyfiles::evaluation_path(&arguments.out);
        Some((EvaluationFolder::create(&folder, &secret, output)?, folder))
    };
    let id = Id(secret.key_id());
    let value = json!({
        "params": preset.name,
        "secure": preset.secure(),
        "keyId": id,
        "secretKey": path,
        "evaluationKeys": evaluation.as_ref().map(|(_, folder)| folder),
        "bytes": evaluation.as_ref().map(|((_, bytes), _)| bytes),
    });
    output.result(&value, || {
        let mut text =
            format!("key {id} of {}\nsecret key       {} (keep it to yourself)", preset.name, path.display());
        if let Some(((_, count), folder)) = &evaluation {
            let _ = write!(
                text,
                "\nevaluation keys  {} ({}), for whoever computes",
                folder.display(),
                bytes(*count)
            );
        }
        if !preset.secure() {
            let _ = write!(text, "\n{}", params.security().statement);
        }
        text
    });
    Ok(())
}
