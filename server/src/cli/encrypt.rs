//! `refloat encrypt`.

use std::path::{Path, PathBuf};

use clap::Args;
use refloat::schemes::cggi::Encoding;
use serde_json::json;
use zeroize::Zeroizing;

use super::failure::Failure;
use super::message_files::{self, Format, Shape};
use super::outfile::OutFile;
use super::output::{Output, bytes};
use super::{Mode, bits, integers, keyfiles, sets};
use crate::encryptors::Message;
use crate::engine::SlotMode;
use crate::registry::Registry;

const EXAMPLES: &str = "\
Numbers lie in [-1, 1], for sets of modular reduction in [-2^20, 2^20], integers from 0 to the modulus of the set less 1. A
picture is cropped and scaled to fill the ciphertext; of integers, its pixels are grey levels from 0 to 255.
Examples:
  refloat encrypt --key keys --in numbers.csv --out numbers.ct
  refloat encrypt --key keys --in photo.png --out photo.ct --exhausted
  refloat encrypt --key alice.key --in numbers.csv --out numbers.ct           a public key, of somebody who decrypts
  refloat encrypt --key gatekeys --integer 200 --width 8 --out a.ct
  refloat encrypt --key gatekeys --integers 3,5,7 --messages 8 --out x.ct     one ciphertext each, for look-ups";

/// Arguments of `refloat encrypt`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Key: the folder of keys, or the file of a secret or a public key.
    #[arg(long, value_name = "PATH")]
    key: PathBuf,
    /// Message: .csv, .json or .png.
    #[arg(long = "in", value_name = "FILE", required_unless_present_any = ["bits", "integer", "integers"])]
    input: Option<PathBuf>,
    /// Message of a DM/CGGI key: zeros and ones, the least significant first.
    #[arg(long, value_name = "BITS", conflicts_with_all = ["input", "integer"])]
    bits: Option<String>,
    /// Message of a DM/CGGI key: an unsigned integer, encrypted bit by bit.
    #[arg(long, value_name = "N", conflicts_with = "input", requires = "width")]
    integer: Option<u64>,
    /// Bits of the integer, 1 to 64.
    #[arg(long, value_name = "N", requires = "integer", value_parser = clap::value_parser!(u32).range(1..=64))]
    width: Option<u32>,
    /// Message of a DM/CGGI key: integers for look-ups, one ciphertext each, with padding.
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "messages",
        conflicts_with_all = ["input", "bits", "integer"])]
    integers: Option<Vec<u32>>,
    /// Those integers are below this, 2 to 64.
    #[arg(long, value_name = "N", requires = "integers")]
    messages: Option<u32>,
    /// Ciphertext to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// What the message is, where its name does not say.
    #[arg(long, requires = "input")]
    format: Option<Format>,
    /// What the slots hold; the parameter set has a default.
    #[arg(long)]
    mode: Option<Mode>,
    /// Size of the picture in the ciphertext, such as 64x64.
    #[arg(long, value_parser = message_files::parse_size, value_name = "SIZE")]
    size: Option<(u32, u32)>,
    /// Encrypts without the level that a multiplication would need: only bootstrapping helps.
    #[arg(long)]
    exhausted: bool,
}

/// Encrypts.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let key = keyfiles::secret_path(&arguments.key);
    let read: Vec<&Path> = std::iter::once(&key).chain(&arguments.input).map(PathBuf::as_path).collect();
    let file = OutFile::open(&arguments.out, &read)?;
    if bits::is_key(&arguments.key)? {
        if arguments.exhausted || arguments.mode.is_some() || arguments.size.is_some() {
            return Err(Failure::usage(
                "--exhausted, --mode and --size are for CKKS keys, and this key is for bits",
            ));
        }
        if let (Some(integers), Some(messages)) = (&arguments.integers, arguments.messages) {
            let encoding = Encoding::Padded { messages };
            return bits::encrypt(&arguments.key, (encoding, integers), (&arguments.out, file), output);
        }
        let message = match (&arguments.bits, arguments.integer, arguments.width, &arguments.input) {
            (Some(text), ..) => bits::of_text(text)?,
            (_, Some(integer), Some(width), _) => bits::of_integer(integer, width)?,
            (.., Some(path)) => bits::of_file(path, arguments.format)?,
            _ => return Err(no_message()),
        };
        let message = Zeroizing::new(message.iter().map(|&bit| u32::from(bit)).collect::<Vec<_>>());
        return bits::encrypt(&arguments.key, (Encoding::Bit, &message), (&arguments.out, file), output);
    }
    let Some(input) = &arguments.input else { return Err(no_message()) };
    if let Some((set, key)) = sets::read_integer_encryptor(registry, &arguments.key)? {
        check_integers(arguments.mode)?;
        let info = set.info();
        let level = if arguments.exhausted { info.input_level } else { info.output_level };
        let input = integers::File { path: input, format: arguments.format, size: arguments.size };
        let out = (arguments.out.as_path(), file);
        return integers::encrypt((set.as_ref(), key.as_ref()), &input, level, out, output);
    }
    let (set, key) = sets::read_ckks_encryptor(registry, &arguments.key)?;
    let mode = arguments.mode.map_or(set.info().mode, SlotMode::from);
    let shape = Shape::new(set.info().slots, mode);
    let format = Format::of(arguments.format, input)?;
    let mut values = message_files::read(input, format, shape, arguments.size)?;
    let given = values.len();
    let largest = set.largest_message();
    if let Some(index) = values.iter().position(|value| value.abs() > largest) {
        return Err(Failure::usage(format!(
            "{}: entry {} is {:?}, outside [-{largest}, {largest}], where numbers have to lie; scale all of them down",
            input.display(),
            index + 1,
            values[index]
        )));
    }
    if mode == SlotMode::Complex && given % 2 == 1 {
        values.push(0.0);
    }
    let level = if arguments.exhausted { set.info().input_level } else { set.info().output_level };
    let message = Message { numbers: &values, mode, level };
    let ciphertext = key.encrypt(&message, &keyfiles::fresh_seed()?)?;
    file.write(&ciphertext.bytes)?;
    let (log_q, written) = (ciphertext.log_q, ciphertext.bytes.len());
    let value = json!({
        "params": set.info().name, "mode": mode, "numbers": given, "level": level,
        "logQ": log_q, "logScale": ciphertext.log_scale, "bytes": written, "out": arguments.out,
    });
    output.result(&value, || {
        format!(
            "{given} numbers into {} of {}, level {level}, log2 Q {log_q:.1}, {}",
            arguments.out.display(),
            set.info().name,
            bytes(written as u64)
        )
    })
}

/// Refuses any mode but that of integers, for a key of an integer set.
pub fn check_integers(mode: Option<Mode>) -> Result<(), Failure> {
    match mode.map(SlotMode::from) {
        None | Some(SlotMode::Integers) => Ok(()),
        Some(mode) => Err(Failure::usage(format!(
            "--mode {} is for other keys, and this key is for integers; leave it out",
            mode.name()
        ))),
    }
}

fn no_message() -> Failure {
    Failure::usage(
        "a key for numbers or integers encrypts those of --in, or its picture; --bits and --integer take a DM/CGGI key",
    )
}
