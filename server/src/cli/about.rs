//! `refloat about`.

use clap::Args;
use serde_json::json;

use super::failure::Failure;
use super::machine::Machine;
use super::output::{Output, to_stdout};
use super::types;
use crate::engines::Engines;
use crate::registry::{Registry, SetFilter};

/// Arguments of `refloat about`.
#[derive(Args)]
pub struct Arguments {
    /// Prints the TypeScript types of parameter sets instead: the file ts/src/sets.ts of the npm package.
    #[arg(long)]
    types: bool,
}

/// Tells what runs here.
pub fn run(arguments: &Arguments, registry: &Registry, output: &Output) -> Result<(), Failure> {
    if arguments.types {
        return to_stdout(types::typescript(&Engines::with(registry, SetFilter::all())?).as_bytes());
    }
    let about = refloat::about();
    let machine = Machine::here();
    let value = json!({
        "name": "refloat",
        "version": about.version,
        "backend32": about.backend_u32,
        "backend64": about.backend_u64,
        "backendComplaint": about.backend_complaint,
        "target": about.target,
        "machine": machine,
    });
    output.result(&value, || {
        let complaint = about.backend_complaint.as_ref().map_or(String::new(), |text| format!("\nnote      {text}"));
        format!(
            "refloat {}\nbackend   {} (32-bit words), {} (64-bit words)\nmachine   {}, {} threads, {}{complaint}",
            about.version, about.backend_u32, about.backend_u64, machine.cpu, machine.threads, machine.system
        )
    })
}
