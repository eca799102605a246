//! A nats-server with the configuration that operators are given.

use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::until;

/// The password of all users.
pub const PASSWORD: &str = "p4ssw0rd";

/// A nats-server on a free port, until it is dropped.
pub struct NatsServer {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl NatsServer {
    pub fn start() -> Self {
        let program =
            std::env::var_os("REFLOAT_NATS_SERVER").expect("REFLOAT_NATS_SERVER is a nats-server program");
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let config = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/nats.conf");
        let child = Command::new(program)
            .args(["--config", config, "--addr", "127.0.0.1", "--port", &port.to_string()])
            .env("NATS_STORE", folder.path())
            .envs(["FRONT", "WORKER", "OPERATOR"].map(|user| (format!("{user}_PASSWORD"), PASSWORD)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, port, _folder: folder };
        until("nats-server answers", || server.answers());
        server
    }

    /// The address for one of the users of the configuration.
    pub fn url(&self, user: &str) -> String {
        format!("nats://{user}:{PASSWORD}@127.0.0.1:{}", self.port)
    }

    /// Sends the server a signal.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    fn answers(&self) -> bool {
        let Ok(mut socket) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        let mut word = [0; 4];
        socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        socket.read_exact(&mut word).is_ok() && &word == b"INFO"
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
