//! `refloat gate` and `refloat circuit`.

use std::path::{Path, PathBuf};

use clap::Args;
use refloat::bootstrapping::cggi::CggiPreset;
use refloat::circuits::netlist::{
    Bit, Builder, Gate, Kind, Netlist, aes,
    arithmetic::{self, Form},
};
use refloat::schemes::cggi::{CggiCiphertext, CggiParams};
use refloat::wire::{self, WireWord};
use serde_json::json;

use super::bits;
use super::failure::Failure;
use super::message_files::read_file;
use super::outfile::OutFile;
use super::output::Output;
use super::place::Who;
use super::server_arguments::ServerArguments;
use super::sets::must_be_encrypted;
use crate::engine::{Described, Operation, SlotMode, Task};
use crate::gates::{CIRCUIT, CircuitJob};
use crate::id::Id;
use crate::registry::Registry;

const EXAMPLES: &str = "\
CIRCUIT is a file with a netlist, or one that is built in: adderN, comparatorN (N bits; adderN-prefix and
comparatorN-prefix have fewer levels and more gates), aes-sbox, aes-round, aes.
Examples:
  refloat circuit adder8                                   what it consists of
  refloat circuit adder8 --print > adder.txt               its text, a pattern for your own
  refloat circuit adder8 --keys keys --in a.ct --in b.ct --out sum.ct
  refloat circuit my.txt --keys keys --in x.ct --out y.ct --server http://127.0.0.1:7878";

const GATE_EXAMPLES: &str = "\
Files with several bits are combined bit by bit.
Examples:
  refloat gate nand --keys keys --in x.ct --in y.ct --out z.ct
  refloat gate mux --keys keys --in choice.ct --in x.ct --in y.ct --out z.ct";

/// Arguments of `refloat circuit`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// File with a netlist, or a built-in circuit.
    #[arg(value_name = "CIRCUIT")]
    circuit: String,
    /// Prints the netlist as text, and ends.
    #[arg(long, conflicts_with = "input")]
    print: bool,
    // Not among the run arguments: those are given or left out as a whole, and these have defaults.
    #[command(flatten)]
    server: ServerArguments,
    #[command(flatten)]
    run: Option<RunArguments>,
}

/// Arguments of `refloat gate`.
#[derive(Args)]
#[command(after_help = GATE_EXAMPLES)]
pub struct GateArguments {
    /// The gate.
    #[arg(value_name = "GATE", value_parser = str::parse::<Gate>)]
    gate: Gate,
    #[command(flatten)]
    server: ServerArguments,
    #[command(flatten)]
    run: RunArguments,
}

/// What is computed on, and where.
#[derive(Args)]
pub(super) struct RunArguments {
    /// Folder of keys, or of evaluation keys alone.
    #[arg(long, value_name = "DIR", required = false, requires_all = ["input", "out"])]
    pub(super) keys: PathBuf,
    /// Ciphertexts, the inputs in order; may be repeated.
    #[arg(long = "in", value_name = "FILE", required = false, requires = "keys")]
    pub(super) input: Vec<PathBuf>,
    /// Ciphertexts to write, the outputs in order.
    #[arg(long, value_name = "FILE", required = false, requires = "keys")]
    pub(super) out: PathBuf,
    /// Threads to work on [default: all].
    #[arg(long, conflicts_with = "server", requires = "keys", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// Describes a circuit, prints it, or evaluates it.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    let netlist = circuit(&arguments.circuit)?;
    if arguments.print {
        let text = netlist.to_string();
        return output.result(&json!({ "netlist": text }), || text.clone());
    }
    let Some(run) = &arguments.run else { return describe(&netlist, output) };
    if run.is_wide()? {
        circuit_over::<u64>(&netlist, run, (&arguments.server, registry), output)
    } else {
        circuit_over::<u32>(&netlist, run, (&arguments.server, registry), output)
    }
}

fn circuit_over<W: WireWord>(
    netlist: &Netlist,
    run: &RunArguments,
    place: (&ServerArguments, &Registry),
    output: &Output,
) -> Result<(), Failure> {
    let out = run.out_file()?;
    let (params, lists) = bits::read_lists::<W>(&run.input)?;
    evaluate(netlist, (run, out), place, (&params, &lists.concat()), output)
}

impl RunArguments {
    /// Whether the ciphertexts, judging by the first file, are of a set over 64-bit words.
    pub(super) fn is_wide(&self) -> Result<bool, Failure> {
        let Some(first) = self.input.first() else { return Ok(false) };
        must_be_encrypted(first, &read_file(first)?)?;
        bits::is_wide(first)
    }

    /// The file for the outputs, which must not be one of the inputs.
    pub(super) fn out_file(&self) -> Result<OutFile, Failure> {
        OutFile::open(&self.out, &self.input.iter().map(PathBuf::as_path).collect::<Vec<_>>())
    }
}

/// Evaluates one gate bit by bit.
pub fn run_gate(arguments: &GateArguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    if arguments.run.is_wide()? {
        gate_over::<u64>(arguments, registry, output)
    } else {
        gate_over::<u32>(arguments, registry, output)
    }
}

fn gate_over<W: WireWord>(
    arguments: &GateArguments,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let (gate, run) = (arguments.gate, &arguments.run);
    let out = run.out_file()?;
    let (params, lists) = bits::read_lists::<W>(&run.input)?;
    let count = lists.first().map_or(0, Vec::len);
    if lists.len() != gate.arity() || lists.iter().any(|list| list.len() != count) {
        let lengths: Vec<String> = lists.iter().map(|list| list.len().to_string()).collect();
        return Err(Failure::usage(format!(
            "gate {gate} takes {} files with the same number of bits each, and was given {} with {}",
            gate.arity(),
            lists.len(),
            lengths.join(", ")
        )));
    }
    let mut builder = Builder::new();
    let inputs: Vec<Vec<Bit>> = (0..lists.len()).map(|i| builder.inputs(&format!("x{i}"), count)).collect();
    let values: Vec<Bit> = (0..count)
        .map(|i| {
            let operands: Vec<Bit> = inputs.iter().map(|input| input[i]).collect();
            builder.gate(gate, &operands)
        })
        .collect();
    builder.outputs("y", &values);
    let place = (&arguments.server, registry);
    evaluate(&builder.finish()?, (run, out), place, (&params, &lists.concat()), output)
}

/// The circuit of a file or a name.
fn circuit(name: &str) -> Result<Netlist, Failure> {
    if Path::new(name).is_file() {
        let bytes = read_file(Path::new(name))?;
        let text = std::str::from_utf8(&bytes).map_err(|_| Failure::usage(format!("{name} is not text")))?;
        return Netlist::parse(text).map_err(|error| super::keyfiles::in_file(Path::new(name), error));
    }
    let (stem, form) = match name.strip_suffix("-prefix") {
        Some(stem) => (stem, Form::Prefix),
        None => (name, Form::Ripple),
    };
    let width = |text: &str| text.parse::<usize>().ok();
    let made = match (stem, form) {
        ("aes-sbox", Form::Ripple) => aes::sbox_netlist(),
        ("aes-round", Form::Ripple) => aes::round_netlist(),
        ("aes", Form::Ripple) => aes::cipher_netlist(),
        _ => {
            if let Some(width) = stem.strip_prefix("adder").and_then(width) {
                arithmetic::adder(width, form)
            } else if let Some(width) = stem.strip_prefix("comparator").and_then(width) {
                arithmetic::comparator(width, form)
            } else {
                return Err(Failure::usage(format!(
                    "{name} is neither a file nor a built-in circuit; those are adderN, comparatorN, adderN-prefix, comparatorN-prefix, aes-sbox, aes-round, aes"
                )));
            }
        }
    };
    Ok(made?)
}

fn describe(netlist: &Netlist, output: &Output) -> Result<(), Failure> {
    let plan = netlist.plan();
    let kinds: Vec<String> = Kind::ALL
        .into_iter()
        .filter(|kind| plan.count(*kind) > 0)
        .map(|kind| format!("{} {}", plan.count(kind), kind.gate()))
        .collect();
    let names = |names: Vec<&str>| {
        let shown = names.iter().take(16).copied().collect::<Vec<_>>().join(" ");
        if names.len() > 16 { format!("{shown} ... ({})", names.len()) } else { shown }
    };
    let inputs: Vec<&str> = netlist.input_names().iter().map(String::as_str).collect();
    let outputs: Vec<&str> = netlist.output_names().collect();
    let value = json!({
        "inputs": inputs, "outputs": outputs, "gates": netlist.nodes().len(), "evaluated": plan.ops().len(),
        "bootstraps": plan.bootstraps(), "levels": plan.depth(), "widest": plan.width(),
    });
    output.result(&value, || {
        format!(
            "inputs   {}\noutputs  {}\n{} bootstraps ({}) in {} levels of at most {} gates",
            names(inputs.clone()),
            names(outputs.clone()),
            plan.bootstraps(),
            kinds.join(", "),
            plan.depth(),
            plan.width()
        )
    })
}

fn evaluate<W: WireWord>(
    netlist: &Netlist,
    (run, out): (&RunArguments, OutFile),
    place: (&ServerArguments, &Registry),
    (params, inputs): (&CggiParams<W>, &[CggiCiphertext<W>]),
    output: &Output,
) -> Result<(), Failure> {
    let plan = netlist.plan();
    let body = CircuitJob::to_bytes(params, netlist, inputs)?;
    let work = (CIRCUIT, &body[..], netlist.outputs().len());
    let (outputs, seconds) = run.job(place, (params, inputs), work, output)?;
    let written = bits::write_list(out, params, &outputs)?;
    let value = json!({
        "params": params.name(), "bootstraps": plan.bootstraps(), "levels": plan.depth(), "seconds": seconds,
        "server": place.0.url, "bits": outputs.len(), "bytes": written, "out": run.out,
    });
    output.result(&value, || {
        format!(
            "{} bits into {}: {} gates in {} levels, {seconds:.3} s, {:.2} ms each",
            outputs.len(),
            run.out.display(),
            plan.bootstraps(),
            plan.depth(),
            1e3 * seconds / plan.bootstraps().max(1) as f64
        )
    })
}

impl RunArguments {
    /// Does a job on `inputs`, given by its operation, its body and the number of its results. Returns the results and the seconds taken.
    pub(super) fn job<W: WireWord>(
        &self,
        (server, registry): (&ServerArguments, &Registry),
        (params, inputs): (&CggiParams<W>, &[CggiCiphertext<W>]),
        (operation, body, results): (&str, &[u8], usize),
        output: &Output,
    ) -> Result<(Vec<CggiCiphertext<W>>, f64), Failure> {
        let key = Id(inputs.first().map_or([0; 16], CggiCiphertext::key_id));
        let task = Task { mode: SlotMode::Bits, operations: vec![Operation::new(operation)], rounds: 1 };
        let largest = wire::cggi_ciphertexts_len(params, results);
        let set = Described::<CggiParams<W>>::of(CggiPreset::by_fingerprint(&params.fingerprint())?)?;
        let who = Who { server, threads: self.threads, memory: None };
        let done = who.run(registry, &self.keys, (&set, key), (&task, body, largest), output)?;
        let outputs = wire::cggi_ciphertexts_from_bytes(params, &done.bytes)?;
        if outputs.len() != results || outputs.iter().any(|bit| bit.key_id() != key.0) {
            return Err(Failure::network(
                "the server answered with other ciphertexts than the outputs asked for",
            ));
        }
        Ok((outputs, done.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circuits_have_names() {
        for (name, bootstraps) in [
            ("adder8", 16),
            ("adder8-prefix", 32),
            ("comparator8", 17),
            ("aes-sbox", 94),
            ("aes-round", 1936),
        ] {
            assert_eq!(circuit(name).unwrap().plan().bootstraps(), bootstraps, "{name}");
        }
        for bad in ["adder", "adder0", "aes-prefix", "adder8-sparse", "comparator99999999999999999999"] {
            assert!(circuit(bad).is_err(), "{bad}");
        }
    }
}
