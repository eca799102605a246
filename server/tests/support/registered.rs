//! Methods of a registry value, served and on the command line.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, ExitCode};

use refloat_server::engines::Engines;
use refloat_server::registry::{Memory, Registry, SetFilter};
use refloat_server::{Config, Server};

use super::Client;

/// A server with the methods of a registry.
pub struct Registered {
    runtime: tokio::runtime::Runtime,
    server: Server,
    pub client: Client,
}

impl Registered {
    /// Starts a server on a free port with its data in `folder`.
    pub fn start(folder: &Path, registry: &Registry) -> Self {
        let mut config = Config::default();
        config.server.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        config.server.allow_insecure = true;
        folder.clone_into(&mut config.storage.data);
        let engines =
            Engines::with(registry, SetFilter { only: None, memory: Memory::Keys(1 << 30) }).unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let server = runtime.block_on(Server::start(config, engines)).unwrap();
        let client = Client::new(server.address());
        Self { runtime, server, client }
    }

    /// Stops the server in order.
    pub fn stop(self) {
        self.runtime.block_on(self.server.stop());
    }
}

/// Variable with the arguments, one a line, for a process that acts as the command line.
const ARGUMENTS: &str = "REFLOAT_TEST_ARGUMENTS";

/// If [`refloat`] started this process, runs the command line and returns true. Tests that call [`refloat`] begin with this.
pub fn is_command(registry: &Registry) -> bool {
    let Some(arguments) = std::env::var_os(ARGUMENTS) else { return false };
    let arguments = arguments.into_string().unwrap();
    let code = refloat_server::cli::main_with(arguments.lines().map(Into::into), registry);
    assert!(code == ExitCode::SUCCESS, "{arguments}");
    true
}

/// Runs the command line in a process of its own, which runs the test `test` (`module::name`) of this program again, and returns what
/// it writes.
pub fn refloat(test: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env(ARGUMENTS, [&["refloat"], arguments].concat().join("\n"));
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{arguments:?}\n{out}\n{err}");
    out
}
