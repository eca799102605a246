//! The command line of refloat.

use std::process::ExitCode;

fn main() -> ExitCode {
    refloat_server::cli::main()
}
