//! `refloat decrypt`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::encrypt::check_integers;
use super::failure::Failure;
use super::measure::Precision;
use super::message_files::{self, Format, Shape};
use super::outfile::OutFile;
use super::output::Output;
use super::{Mode, bits, integers, keyfiles, sets};
use crate::engine::SlotMode;
use crate::registry::Registry;

const EXAMPLES: &str = "\
The decryption of an approximate scheme is for the owner of the key alone: given to others, it can
betray the key. Of integers --compare counts those that differ.
Examples:
  refloat decrypt --key keys --in numbers.ct --out numbers.csv --count 10
  refloat decrypt --key keys --in fresh.ct --out fresh.png --compare photo.png
  refloat decrypt --key gatekeys --in sum.ct --out -                        bits, least significant first";

/// Arguments of `refloat decrypt`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Secret key: its file, or the folder of keys.
    #[arg(long, value_name = "PATH")]
    key: PathBuf,
    /// Ciphertext.
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// Message to write: .csv, .json or .png, or - for numbers on standard output.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How to write the message, where its name does not say.
    #[arg(long)]
    format: Option<Format>,
    /// What the slots hold; the parameter set has a default.
    #[arg(long)]
    mode: Option<Mode>,
    /// Size of the picture, such as 64x64.
    #[arg(long, value_parser = message_files::parse_size, value_name = "SIZE")]
    size: Option<(u32, u32)>,
    /// Numbers to write, from the first.
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    /// The message as it was, to tell the precision.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
}

/// Decrypts.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let to_pipe = arguments.out == Path::new("-");
    if to_pipe && output.is_json() {
        return Err(Failure::usage("--json and --out - both write to standard output; name a file"));
    }
    let format = Format::of(arguments.format, &arguments.out)?;
    let secret = keyfiles::secret_path(&arguments.key);
    let read: Vec<&Path> =
        [&secret, &arguments.input].into_iter().chain(&arguments.compare).map(PathBuf::as_path).collect();
    let file = OutFile::open_or_stdout(&arguments.out, &read)?;
    if bits::is_key(&arguments.key)? {
        let Arguments { mode, size, count, compare, .. } = arguments;
        if mode.is_some() || size.is_some() || count.is_some() || compare.is_some() {
            return Err(Failure::usage(
                "--mode, --size, --count and --compare are for keys of numbers and integers, and this key is for bits",
            ));
        }
        return bits::decrypt(&arguments.key, &arguments.input, (&arguments.out, file, format), output);
    }
    if let Some((set, secret)) = sets::read_integer_secret(registry, &arguments.key)? {
        check_integers(arguments.mode)?;
        let (_, ciphertext) = sets::read_refreshable(registry, &arguments.input)?;
        let out = integers::File { path: &arguments.out, format: arguments.format, size: arguments.size };
        let wanted = integers::Wanted { out, count: arguments.count, compare: arguments.compare.as_deref() };
        return integers::decrypt((set.as_ref(), secret.as_ref()), &ciphertext, &wanted, file, output);
    }
    let (_, secret) = sets::read_ckks_secret(registry, &arguments.key)?;
    let (set, ciphertext) = sets::read_ciphertext(registry, &arguments.input)?;
    let mode = arguments.mode.map_or(set.info().mode, SlotMode::from);
    let shape = Shape::new(set.info().slots, mode);
    let values = secret.decrypt(&ciphertext.bytes, mode)?;
    let count = arguments.count.unwrap_or(values.len()).min(values.len());
    let precision = match &arguments.compare {
        Some(path) => {
            let format = Format::of(None, path)?;
            let size = arguments.size.filter(|_| format == Format::Png);
            Some(Precision::of(&values, &message_files::read(path, format, shape, size)?))
        }
        None => None,
    };
    file.write(&message_files::encode(format, &values[..count], shape, arguments.size)?)?;
    let value = json!({
        "params": set.info().name, "mode": mode, "numbers": count, "level": ciphertext.level, "out": arguments.out,
        "precision": precision,
    });
    if to_pipe {
        return Ok(());
    }
    output.result(&value, || {
        let mut text =
            format!("{count} numbers into {}, from level {}", arguments.out.display(), ciphertext.level);
        if let Some(precision) = precision {
            let _ = write!(
                text,
                "\nprecision {:.2} bits in the worst slot, {:.2} bits rms",
                precision.worst, precision.rms
            );
        }
        text
    })
}
