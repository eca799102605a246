//! What a single server opens to the network: only the listener for requests.

use super::support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use support::process::{Process, encrypt, key_id, message, secret, upload};

/// A socket of a process, from a table of the kernel.
#[derive(Debug, PartialEq, Eq)]
enum Socket {
    /// TCP, with the process's own port, and whether the socket listens.
    Tcp { port: u16, listens: bool },
    /// Another internet protocol: the name of its table.
    Other(&'static str),
    /// Within this machine, and the address by which others find it.
    Unix { name: Option<String>, listens: bool },
}

/// The sockets of a process, by number, except for those it was started with: its standard streams.
fn sockets(process: u32) -> BTreeMap<String, Socket> {
    let folder = Path::new("/proc").join(process.to_string());
    let mut open = BTreeSet::new();
    for entry in std::fs::read_dir(folder.join("fd")).unwrap() {
        let path = entry.unwrap().path();
        let is_standard = ["0", "1", "2"].iter().any(|number| path.ends_with(number));
        // A file that has been closed meanwhile does not count.
        let Ok(target) = std::fs::read_link(&path) else { continue };
        let number = target.to_str().and_then(|name| name.strip_prefix("socket:[")?.strip_suffix(']'));
        if let Some(number) = number.filter(|_| !is_standard) {
            open.insert(number.to_owned());
        }
    }
    let mut found = BTreeMap::new();
    for table in ["tcp", "tcp6", "udp", "udp6", "raw", "raw6", "netlink", "packet", "unix"] {
        // Not every kernel has all of these tables.
        let text = std::fs::read_to_string(folder.join("net").join(table)).unwrap_or_default();
        for line in text.lines().skip(1) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (number, socket) = match table {
                "tcp" | "tcp6" => {
                    let port = u16::from_str_radix(words[1].rsplit_once(':').unwrap().1, 16).unwrap();
                    (words[9], Socket::Tcp { port, listens: words[3] == "0A" })
                }
                "unix" => {
                    let listens = u32::from_str_radix(words[3], 16).unwrap() & 0x10000 != 0;
                    (words[6], Socket::Unix { name: words.get(7).map(ToString::to_string), listens })
                }
                "packet" => (words[8], Socket::Other(table)),
                _ => (words[9], Socket::Other(table)),
            };
            if open.remove(number) {
                found.insert(number.to_owned(), socket);
            }
        }
    }
    assert!(open.is_empty(), "sockets {open:?} are in no table of the kernel that is known here");
    found
}

#[test]
fn a_server_alone_has_one_listener_and_speaks_to_nobody_of_itself() {
    let folder = tempfile::tempdir().unwrap();
    let server = Process::start(folder.path());
    let own = server.client.address.port();
    // Signals reach their thread through a nameless pair of sockets (tokio), which nobody else can use.
    let is_for_signals = |socket: &Socket| *socket == Socket::Unix { name: None, listens: false };
    let look = || {
        let sockets = sockets(server.pid());
        let (of_signals, of_network): (Vec<_>, Vec<_>) =
            sockets.into_values().partition(|socket| is_for_signals(socket));
        assert_eq!(of_signals.len(), 2, "{of_signals:?}");
        of_network
    };
    let listener = Socket::Tcp { port: own, listens: true };
    assert_eq!(look(), [listener]);
    // With something to do, the server has only connections to its listener besides.
    let secret = secret("toy10", 3);
    upload(&server.client, &secret);
    let input = encrypt(&secret, &message(&secret), 2, 7);
    let job = server.client.submit(&key_id(&secret), &input).expect(202).json();
    server.client.wait_state(job["id"].as_str().unwrap(), "done");
    let found = look();
    let listeners = found.iter().filter(|socket| matches!(socket, Socket::Tcp { listens: true, .. }));
    assert_eq!(listeners.count(), 1, "{found:?}");
    assert!(
        found.iter().all(|socket| matches!(socket, Socket::Tcp { port, .. } if *port == own)),
        "{found:?}"
    );
    assert!(server.terminate());
}
