//! The command line of refloat.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Keeps the large blocks of an evaluation instead of giving them back to the system after every operation, and asks for
/// them in large pages: [`refloat_server::memory`] sets it up.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    refloat_server::cli::main()
}
