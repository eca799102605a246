//! The command line of refloat.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Keeps the large blocks of an evaluation instead of giving them back to the system after every operation, and asks for
/// them in large pages, see [`refloat_server::memory`].
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    refloat_server::memory::ask_for_large_pages();
    refloat_server::cli::main()
}
