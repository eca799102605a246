//! `refloat token`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::address::Address;
use super::failure::Failure;
use super::output::Output;
use super::server_arguments::derived;

const EXAMPLES: &str = "\
Whoever has the token may use and delete the evaluation keys and their jobs on that server.
Examples:
  refloat token --keys keys --server https://refloat.example.org
  refloat bootstrap ... --server https://new.example --token $(refloat token --keys keys --server http://old.example)";

/// Arguments of `refloat token`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The key folder, or a secret key.
    #[arg(long, value_name = "PATH")]
    keys: PathBuf,
    /// Address of the server, as it was when the evaluation keys were uploaded: each address has a token of its own.
    #[arg(long, value_name = "URL")]
    server: String,
}

/// Prints the token that commands show a server for the keys in a folder.
pub fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let origin = Address::parse("--server", &arguments.server)?.origin;
    let token = derived(&arguments.keys, &origin)?;
    output.result(&json!({ "server": origin, "token": token.as_str() }), || token.to_string())
}
