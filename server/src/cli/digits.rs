//! `refloat mod`, `refloat bits`, `refloat table`: digits of numbers. Each command is a program of one operation.

use std::path::{Path, PathBuf};

use clap::Args;
use refloat::circuits::program::{Bootstraps, Builder, Program, Reading, Value};
use refloat::schemes::ckks::Complex;

use super::failure::Failure;
use super::message_files::read_file;
use super::output::Output;
use super::place::Place;
use super::program::{Files, evaluate, out_files};
use crate::registry::Registry;

const MOD_EXAMPLES: &str = "\
Of real numbers, what is read is rounded to MODULUS / 2^BITS; one near 0 may come back near the modulus.
Examples:
  refloat keygen --preset msb16 --out keys
  refloat encrypt --key keys --in angles.csv --out x.ct
  refloat mod 1 --keys keys --in x.ct --out turn.ct
  refloat mod 0.25 --bits 10 --centred --keys keys --in x.ct --out y.ct
  refloat mod 24 --integers --keys keys --in hours.ct --out hour.ct --server http://127.0.0.1:7878";

const BITS_EXAMPLES: &str = "\
Examples:
  refloat bits 5 --keys keys --in x.ct --out b       writes b0.ct to b4.ct, the lowest bit first
  refloat bits 10 --only 9 --keys keys --in x.ct --out sign";

const TABLE_EXAMPLES: &str = "\
Examples:
  refloat table relu.csv --keys keys --in x.ct --out y.ct
  refloat table squares.csv --exact --keys keys --in digits.ct --out y.ct";

/// Keys, a ciphertext, and where to compute.
#[derive(Args)]
pub struct On {
    /// Folder of keys, or of evaluation keys alone, of a set for modular reduction, such as msb16.
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// Ciphertext of the numbers.
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// Arguments of `refloat mod`.
#[derive(Args)]
#[command(after_help = MOD_EXAMPLES)]
pub struct ModArguments {
    /// What numbers are divided by.
    #[arg(value_name = "MODULUS")]
    modulus: f64,
    /// Bits of the result.
    #[arg(long, value_name = "N", default_value_t = 15, conflicts_with = "integers")]
    bits: u32,
    /// The result lies around 0, from minus half of the modulus to half of it.
    #[arg(long, conflicts_with = "integers")]
    centred: bool,
    /// The numbers are integers, and so is the modulus.
    #[arg(long)]
    integers: bool,
    /// Ciphertext to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    on: On,
}

/// Arguments of `refloat bits`.
#[derive(Args)]
#[command(after_help = BITS_EXAMPLES)]
pub struct BitsArguments {
    /// How many bits to read of each number, modulo 1.
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..=52))]
    bits: u32,
    /// Write only these bits, 0 for the lowest; may be repeated.
    #[arg(long, value_name = "BIT")]
    only: Vec<u32>,
    /// Beginning of the names of the ciphertexts to write.
    #[arg(long, value_name = "PREFIX")]
    out: PathBuf,
    #[command(flatten)]
    on: On,
}

/// Arguments of `refloat table`.
#[derive(Args)]
#[command(after_help = TABLE_EXAMPLES)]
pub struct TableArguments {
    /// File with t numbers, one a line or by commas: the values for numbers modulo 1 from 0 to 1/t, from 1/t to 2/t, and so on.
    #[arg(value_name = "FILE")]
    table: PathBuf,
    /// The numbers are exact multiples of 1/t, which is faster.
    #[arg(long)]
    exact: bool,
    /// Ciphertext to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    on: On,
}

/// Reduces numbers.
pub fn run_mod(arguments: &ModArguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let &ModArguments { modulus, bits, centred, integers, .. } = arguments;
    let reading = if integers {
        if modulus.fract() != 0.0 || !(2.0..=9e15).contains(&modulus) {
            return Err(Failure::usage(format!(
                "integers modulo {modulus}; give an integer from 2 on, or leave --integers out"
            )));
        }
        Reading::Integer { modulus: modulus as u64 }
    } else {
        Reading::Modulo { modulus, bits, centred }
    };
    let out = vec![("result".to_owned(), arguments.out.clone(), reading)];
    run(&arguments.on, &[], out, registry, output)
}

/// Takes bits apart.
pub fn run_bits(arguments: &BitsArguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let BitsArguments { bits, only, out, .. } = arguments;
    let all: Vec<u32> = if only.is_empty() { (0..*bits).collect() } else { only.clone() };
    let file = |index: u32| {
        let mut name = out.clone().into_os_string();
        name.push(format!("{index}.ct"));
        PathBuf::from(name)
    };
    let readings = all
        .into_iter()
        .map(|index| (format!("bit {index}"), file(index), Reading::Bit { bits: *bits, index }));
    run(&arguments.on, &[], readings.collect(), registry, output)
}

/// Looks numbers up.
pub fn run_table(arguments: &TableArguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let table = table(&arguments.table)?;
    let reading = if arguments.exact { Reading::LookUpExact(table) } else { Reading::LookUp(table) };
    let out = vec![("result".to_owned(), arguments.out.clone(), reading)];
    run(&arguments.on, &[&arguments.table], out, registry, output)
}

/// The numbers of a file.
fn table(path: &Path) -> Result<Vec<Complex>, Failure> {
    let bytes = read_file(path)?;
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Failure::usage(format!("{} is not text; write numbers into it", path.display())))?;
    let words = text.split([',', '\n', '\r']).map(str::trim).filter(|word| !word.is_empty());
    words
        .map(|word| match word.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Complex::new(number, 0.0)),
            _ => Err(Failure::usage(format!(
                "{}: {:?} is not a number; write one a line, or by commas",
                path.display(),
                word.chars().take(32).collect::<String>()
            ))),
        })
        .collect()
}

/// Outputs: the name, the file to write, and the digits to read for it.
type Outputs = Vec<(String, PathBuf, Reading)>;

fn run(
    on: &On,
    also_read: &[&Path],
    outputs: Outputs,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let mut builder = Builder::new();
    let x: Value = builder.input("x");
    let mut written = Vec::new();
    for (name, file, reading) in outputs {
        let value = builder.digits(x, reading);
        builder.output(&name, value);
        written.push(Some(file));
    }
    let program: Program = builder.finish()?;
    let inputs = [on.input.clone()];
    let out = out_files(also_read, &inputs, &written)?;
    let files = Files { inputs: &inputs, written: &written, out };
    evaluate(&program, Bootstraps::AsWritten, &on.keys, files, &on.place, registry, output)
}
