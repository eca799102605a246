//! Memory that readers which never read cost the server: only buffers, not whole results.
#![cfg(target_os = "linux")]

mod support;

use std::io::Write;
use std::net::TcpStream;

use support::process::{Process, ok, refloat};
use support::{DEADLINE, TOKEN};

/// Readers that never read.
const READERS: usize = 128;

/// Bits that the job hands back, each a ciphertext of 0.9 KB.
const BITS: usize = 4096;

/// Bytes of memory of a process.
fn resident(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn readers_that_never_read_hold_no_results_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    // The limits per peer and for all are raised out of the way: this is about the cost of each reader.
    let server = Process::start_by(
        &at("data"),
        "REFLOAT__LIMITS__MAX_DOWNLOADS=1000 REFLOAT__LIMITS__MAX_DOWNLOADS_PER_PEER=1000 \
         REFLOAT__LIMITS__WRITE_IDLE_SECONDS=600 REFLOAT__LIMITS__IDLE_SECONDS=600 exec \"$@\"",
    );
    let client = &server.client;
    let url = client.url("");
    ok(&run("--json keygen --preset toy-bool --allow-insecure --out @keys"));
    ok(&run(&format!("--json encrypt --key @keys --bits {} --out @x.ct", "01".repeat(BITS / 2))));
    let wires = |name: &str| format!("{name}[0..{BITS}]");
    let negations =
        (0..BITS).fold(String::new(), |text, index| text + &format!("y[{index}] = NOT x[{index}]\n"));
    std::fs::write(at("not.txt"), format!("input {}\noutput {}\n{negations}", wires("x"), wires("y")))
        .unwrap();
    let line =
        format!("--json circuit @not.txt --keys @keys --in @x.ct --out @y.ct --server {url} --token {TOKEN}");
    ok(&run(&line));
    let result = std::fs::metadata(at("y.ct")).unwrap().len();

    let job = only(&at("data/jobs"));
    let request = format!(
        "GET /v1/jobs/{job}/result HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
    );
    let before = resident(&server);
    let readers: Vec<TcpStream> = (0..READERS)
        .map(|_| {
            let mut socket = TcpStream::connect(client.address).unwrap();
            socket.set_read_timeout(Some(DEADLINE)).unwrap();
            socket.write_all(request.as_bytes()).unwrap();
            socket
        })
        .collect();
    // Each reader has the beginning of its answer waiting, and takes none of it.
    for socket in &readers {
        let mut first = [0; 15];
        while socket.peek(&mut first).unwrap() < first.len() {}
        assert_eq!(&first, b"HTTP/1.1 200 OK");
    }
    let during = resident(&server);
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    println!(
        "{READERS} readers that never read a result of {:.1} MB: {:.0} MB of memory before, {:.0} MB with them",
        megabytes(result),
        megabytes(before),
        megabytes(during)
    );
    // All results in memory would take half a gigabyte.
    assert!(result > 3 << 20 && during < before + (READERS as u64) * (1 << 20), "{before}, {during}");
    client.get("/healthz").expect(200);
    drop(readers);
    assert!(server.terminate());
}

/// The name of the only entry of a folder.
fn only(folder: &std::path::Path) -> String {
    let names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    names[0].to_str().unwrap().to_owned()
}
