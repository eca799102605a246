//! The command line: everything that the server and the browser do, on files.

mod about;
mod address;
mod bench;
mod bench_conventional;
mod bits;
mod bootstrap;
mod chain;
mod circuit;
#[cfg(feature = "cluster")]
mod cluster;
mod connection;
mod conventional;
mod decrypt;
mod digits;
#[cfg(test)]
mod documented;
mod encrypt;
mod event_stream;
mod failure;
mod fetch;
mod gate_times;
mod integers;
mod interruption;
mod key_sets;
mod keyfiles;
mod keygen;
mod look_up;
mod machine;
mod measure;
mod message_files;
mod order;
mod outfile;
mod output;
mod params;
mod peer;
mod place;
mod plan;
mod program;
mod progress;
mod public_key;
mod published_sets;
mod remote;
mod reproduce;
mod reproduce_bgv;
mod reproduce_cggi;
mod reproduce_crossing;
mod reproduce_demystifying;
mod reproduce_modular;
mod reproduce_openfhe;
mod reproduce_seal;
mod reproduce_ship;
mod reproduce_switching;
mod reproduced_row;
mod seal_rows;
mod serve;
mod server_arguments;
mod sets;
mod token;
mod types;
mod verify;
mod verify_exact;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use refloat::circuits::program::Asked;

use crate::engine::SlotMode;
use crate::registry::Registry;
use failure::Failure;
use output::Output;

const EXAMPLES: &str = "\
Examples:
  refloat params                                      the parameter sets and what they promise
  refloat plan --preset n16                           what a set takes before keys are made of it
  refloat keygen --preset ship13 --out keys           make keys (secret.key stays with you)
  refloat encrypt --key keys --in photo.png --out photo.ct
  refloat bootstrap --keys keys --in photo.ct --out fresh.ct
  refloat bootstrap --keys keys --in photo.ct --out fresh.ct --server http://127.0.0.1:7878
  refloat decrypt --key keys --in fresh.ct --out fresh.png
  refloat circuit adder8 --keys gatekeys --in a.ct --in b.ct --out sum.ct
  refloat program mean.txt --keys keys15 --in x.ct --out mean.ct
  refloat mod 1 --keys keys16 --in x.ct --out y.ct
  refloat argmax --count 16 --keys keyslink --in scores.ct --out winner.ct
  refloat serve                                       answer on http://127.0.0.1:7878
  refloat reproduce ship                              the published figures beside those of this machine
  refloat verify --preset n15                         whether every promise of precision holds here";

/// Bootstrapping for homomorphic encryption: brings exhausted ciphertexts back afloat.
#[derive(Parser)]
#[command(name = "refloat", version, about, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    /// Writes one JSON document to standard output instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the server.
    Serve(serve::Arguments),
    /// Looks at a front and its workers, drains a worker, or plans a cluster.
    #[cfg(feature = "cluster")]
    Cluster(cluster::Arguments),
    /// Lists all key sets on a server, or removes one: for its operator.
    KeySets(key_sets::Arguments),
    /// Lists the parameter sets, or one of them in full.
    Params(params::Arguments),
    /// Says what a set takes before keys are made: rotations, bytes, memory, levels; with --measure seconds.
    Plan(plan::Arguments),
    /// Makes a secret key and the evaluation keys that belong to it.
    Keygen(keygen::Arguments),
    /// Writes the key with which others encrypt for the owner of a secret key.
    PublicKey(public_key::Arguments),
    /// Encrypts numbers, a picture, or bits.
    Encrypt(encrypt::Arguments),
    /// Refreshes a ciphertext, here or on a server.
    Bootstrap(bootstrap::Arguments),
    /// Evaluates one gate on encrypted bits, here or on a server.
    Gate(circuit::GateArguments),
    /// Evaluates a circuit of gates on encrypted bits, here or on a server.
    Circuit(circuit::Arguments),
    /// Looks encrypted integers up in a table, here or on a server.
    LookUp(look_up::Arguments),
    /// Runs a program on encrypted numbers (CKKS) or exact integers (BGV), here or on a server.
    Program(program::Arguments),
    /// Reduces numbers modulo a number, here or on a server.
    Mod(digits::ModArguments),
    /// Takes the bits of numbers apart, here or on a server.
    Bits(digits::BitsArguments),
    /// Looks numbers up in a table, here or on a server.
    Table(digits::TableArguments),
    /// Marks the largest of some numbers, here or on a server.
    Argmax(order::Arguments),
    /// Marks the smallest of some numbers, here or on a server.
    Argmin(order::Arguments),
    /// Counts for each of some numbers how many of the others are smaller, here or on a server.
    Rank(order::Arguments),
    /// Marks some of the largest of numbers, here or on a server.
    Top(order::TopArguments),
    /// Waits for a job on a server that a command left there, and writes its result.
    Fetch(fetch::Arguments),
    /// Decrypts to numbers or a picture.
    Decrypt(decrypt::Arguments),
    /// Prints the token of evaluation keys at a server.
    Token(token::Arguments),
    /// Tells version, arithmetic backend and machine.
    About(about::Arguments),
    /// Times the stages of a parameter set on this machine.
    Bench(bench::Arguments),
    /// Measures published results on this machine and prints both.
    Reproduce(reproduce::Arguments),
    /// Bootstraps messages of every kind under fresh keys, and says whether the promised precision holds.
    Verify(verify::Arguments),
}

/// What slots hold, as an option.
#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// Real numbers in [-1, 1].
    Real,
    /// Complex numbers, as real and imaginary part in turn.
    Complex,
    /// Zeros and ones.
    Bits,
    /// Integers modulo the set's modulus.
    Integers,
}

impl From<Mode> for SlotMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Real => Self::Real,
            Mode::Complex => Self::Complex,
            Mode::Bits => Self::Bits,
            Mode::Integers => Self::Integers,
        }
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    main_with(std::env::args_os(), &Registry::default())
}

/// Runs a command with the methods of a registry; the first of `arguments` is the name of the program.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>, registry: &Registry) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // Help that was asked for goes to standard output; if it cannot be written there, the command fails.
        Err(error) => {
            return match error.print() {
                Err(failed) if !error.use_stderr() && !output::is_closed_pipe(&failed) => ExitCode::FAILURE,
                _ => ExitCode::from(error.exit_code() as u8),
            };
        }
    };
    let output = Output::new(cli.json);
    match run(cli.command, registry, &output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command, registry: &Registry, output: &Output) -> Result<(), Failure> {
    match command {
        Command::Serve(arguments) => serve::run(&arguments, registry, output),
        #[cfg(feature = "cluster")]
        Command::Cluster(arguments) => cluster::run(&arguments, registry, output),
        Command::KeySets(arguments) => key_sets::run(&arguments, output),
        Command::Params(arguments) => params::run(&arguments, registry, output),
        Command::Plan(arguments) => plan::run(&arguments, registry, output),
        Command::Keygen(arguments) => keygen::run(&arguments, registry, output),
        Command::PublicKey(arguments) => public_key::run(&arguments, registry, output),
        Command::Encrypt(arguments) => encrypt::run(&arguments, registry, output),
        Command::Bootstrap(arguments) => bootstrap::run(&arguments, registry, output),
        Command::Gate(arguments) => circuit::run_gate(&arguments, registry, output),
        Command::Circuit(arguments) => circuit::run(&arguments, registry, output),
        Command::LookUp(arguments) => look_up::run(&arguments, registry, output),
        Command::Program(arguments) => program::run(&arguments, registry, output),
        Command::Mod(arguments) => digits::run_mod(&arguments, registry, output),
        Command::Bits(arguments) => digits::run_bits(&arguments, registry, output),
        Command::Table(arguments) => digits::run_table(&arguments, registry, output),
        Command::Argmax(arguments) => order::run(Asked::Argmax, &arguments, registry, output),
        Command::Argmin(arguments) => order::run(Asked::Argmin, &arguments, registry, output),
        Command::Rank(arguments) => order::run(Asked::Rank, &arguments, registry, output),
        Command::Top(arguments) => order::run_top(&arguments, registry, output),
        Command::Fetch(arguments) => fetch::run(&arguments, registry, output),
        Command::Decrypt(arguments) => decrypt::run(&arguments, registry, output),
        Command::Token(arguments) => token::run(&arguments, output),
        Command::About(arguments) => about::run(&arguments, registry, output),
        Command::Bench(arguments) => bench::run(&arguments, registry, output),
        Command::Reproduce(arguments) => reproduce::run(&arguments, output),
        Command::Verify(arguments) => verify::run(&arguments, registry, output),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn arguments_are_consistent() {
        use clap::CommandFactory;
        super::Cli::command().debug_assert();
    }

    #[test]
    fn every_option_stands_in_the_documents() {
        use clap::CommandFactory;
        let documents = concat!(
            include_str!("../../README.md"),
            include_str!("../../../README.md"),
            include_str!("../../../core/BENCHMARKS.md"),
            include_str!("../../../core/SETS.md")
        );
        let cli = super::Cli::command();
        let options = cli.get_subcommands().flat_map(|command| {
            let options = command.get_arguments().filter_map(|argument| argument.get_long());
            options.map(|option| (command.get_name(), format!("--{option}")))
        });
        // As a whole word: `--keys` does not count as `--key`.
        let words: BTreeSet<&str> =
            documents.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).collect();
        let missing: Vec<_> = options.filter(|(_, option)| !words.contains(option.as_str())).collect();
        assert!(missing.is_empty(), "no document has {missing:?}");
    }
}
