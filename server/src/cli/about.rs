//! `refloat about`.

use serde_json::json;

use super::failure::Failure;
use super::machine::Machine;
use super::output::Output;

/// Tells what runs here.
pub fn run(output: &Output) -> Result<(), Failure> {
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
            "refloat {}\nback-end  {} (32-bit words), {} (64-bit words)\nmachine   {}, {} threads, {}{complaint}",
            about.version, about.backend_u32, about.backend_u64, machine.cpu, machine.threads, machine.system
        )
    })
}
