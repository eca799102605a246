//! `refloat argmax`, `refloat argmin`, `refloat rank`, `refloat top`: the order of numbers in slots, each a program of one operation.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use refloat::circuits::program::{Asked, Bootstraps, Bounds, Builder, Order, Way};

use super::failure::Failure;
use super::output::Output;
use super::place::Place;
use super::program::{Files, evaluate, out_files};
use crate::registry::Registry;

const EXAMPLES: &str = "\
Numbers in [-1, 1] and in [0, 1] are ordered rightly if they are far enough apart: the command says how far, and how often the order
is wrong then. Those on a grid are compared exactly, and of equal ones the first is the larger.
Examples:
  refloat keygen --preset n15+fbs16-50 --out keys
  refloat encrypt --key keys --in scores.csv --out scores.ct
  refloat argmax --count 16 --keys keys --in scores.ct --out winner.ct
  refloat rank --count 16 --range unit --keys keys --in scores.ct --out ranks.ct
  refloat top --most 3 --count 16 --range grid --grid-bits 8 --keys keys --in points.ct --out best.ct --server http://127.0.0.1:7878";

/// Where numbers lie, as an option.
#[derive(Clone, Copy, ValueEnum)]
enum Lie {
    /// In [-1, 1].
    Signed,
    /// In [0, 1], or any whose differences are at most 1.
    Unit,
    /// Multiples of 2^-BITS in [0, 1), compared exactly.
    Grid,
}

/// A way to compare, as an option.
#[derive(Clone, Copy, ValueEnum)]
enum By {
    /// A rotation a pair.
    Gates,
    /// All pairs at once, on sets for modular reduction that are linked to gates, such as msb16+fbs16-50.
    Digits,
}

/// Numbers, keys, and where to compute.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// How many numbers: those in the first slots.
    #[arg(long, value_name = "N")]
    count: u32,
    /// Where they lie.
    #[arg(long, value_enum, default_value = "signed")]
    range: Lie,
    /// Bits of a grid.
    #[arg(long, value_name = "BITS", required_if_eq("range", "grid"))]
    grid_bits: Option<u32>,
    /// How to compare, on sets that have both ways; the cheaper one unless it is said.
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Folder of keys, or of evaluation keys alone, of a set that links numbers to gates, such as n15+fbs16-50.
    #[arg(long, value_name = "DIR")]
    keys: PathBuf,
    /// Ciphertext of the numbers.
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// Ciphertext to write: the answer to each number in its slot, and 0 in the others.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    place: Place,
}

/// Arguments of `refloat top`.
#[derive(Args)]
pub struct TopArguments {
    /// How many of the largest are marked.
    #[arg(long, value_name = "N")]
    most: u32,
    #[command(flatten)]
    on: Arguments,
}

/// Marks the largest numbers.
pub fn run_top(arguments: &TopArguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    run(Asked::Top(arguments.most), &arguments.on, registry, output)
}

/// Answers a question about the order of numbers.
pub fn run(asked: Asked, arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let bounds = match (arguments.range, arguments.grid_bits) {
        (Lie::Grid, Some(bits)) => Bounds::Grid(bits),
        (Lie::Signed, None) => Bounds::Signed,
        (Lie::Unit, None) => Bounds::Unit,
        _ => {
            return Err(Failure::usage("--grid-bits and --range grid belong together; give both or neither"));
        }
    };
    let mut builder = Builder::new();
    let x = builder.input("x");
    let by = arguments.by.map(|by| match by {
        By::Gates => Way::Gates,
        By::Digits => Way::Digits,
    });
    let answer = builder.order(x, Order { by, ..Order::new(asked, arguments.count, bounds) });
    builder.output("result", answer);
    let program = builder.finish()?;
    let (inputs, written) = ([arguments.input.clone()], [Some(arguments.out.clone())]);
    let out = out_files(&[], &inputs, &written)?;
    let files = Files { inputs: &inputs, written: &written, out };
    evaluate(&program, Bootstraps::AsWritten, &arguments.keys, files, &arguments.place, registry, output)
}
