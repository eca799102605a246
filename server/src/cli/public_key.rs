//! `refloat public-key`.

use std::path::PathBuf;

use clap::Args;
use refloat::wire;
use serde_json::json;

use super::failure::Failure;
use super::keyfiles;
use super::outfile::OutFile;
use super::output::{Output, bytes};
use super::sets;
use crate::id::Id;
use crate::registry::Registry;

const EXAMPLES: &str = "\
Whoever has it encrypts for the owner of the secret key, and decrypts nothing. Keys of numbers and of integers have one; bits are
encrypted by their owner alone.
Examples:
  refloat public-key --key keys --out alice.key
  refloat encrypt --key alice.key --in numbers.csv --out numbers.ct";

/// Arguments of `refloat public-key`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Secret key: its file, or the folder of keys.
    #[arg(long, value_name = "PATH")]
    key: PathBuf,
    /// Public key to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Writes the public key of a secret key.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let path = keyfiles::secret_path(&arguments.key);
    let file = OutFile::open(&arguments.out, &[&path])?;
    let (set, key) = sets::public_key(registry, &path)?;
    let id = Id(wire::frame::peek(&key)?.key_id);
    file.write(&key)?;
    let (name, length) = (&set.name, key.len());
    let value =
        json!({ "params": name, "secure": set.secure, "keyId": id, "bytes": length, "out": arguments.out });
    output.result(&value, || {
        let size = bytes(length as u64);
        let mut text = format!(
            "public key {id} of {name} into {} ({size}), for whoever encrypts",
            arguments.out.display()
        );
        if !set.secure {
            text.push('\n');
            text.push_str(&set.security_statement);
        }
        text
    })
}
