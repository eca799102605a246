//! HTTP/2 frame by frame, for peers that obey the protocol but are otherwise uncooperative.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::DEADLINE;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Kinds of frames.
pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
pub const PING: u8 = 6;

/// END_STREAM with END_HEADERS.
const WHOLE: u8 = 0x05;

/// A connection.
pub struct Http2 {
    socket: TcpStream,
    streams: u32,
}

/// A frame that came.
pub struct Frame {
    pub kind: u8,
    pub stream: u32,
    pub last: bool,
    pub payload: Vec<u8>,
}

impl Http2 {
    /// Connects with an initial window of `window` bytes for each answer.
    pub fn connect(address: SocketAddr, window: u32) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut connection = Self { socket, streams: 0 };
        // SETTINGS_INITIAL_WINDOW_SIZE.
        let setting = [&[0, 4][..], &window.to_be_bytes()].concat();
        connection.socket.write_all(PREFACE).unwrap();
        connection.send(SETTINGS, 0, 0, &setting).unwrap();
        connection
    }

    /// Sends a request on a new stream, and returns the number of the stream. The server may have closed the connection.
    pub fn ask(&mut self, method: &str, path: &str, authority: &str) -> u32 {
        let stream = 2 * self.streams + 1;
        self.streams += 1;
        // `:scheme` is http in the static table; the others are literals with names from there.
        let mut block = vec![0x86];
        for (name, value) in [(0x02, method), (0x04, path), (0x01, authority)] {
            block.extend([name, value.len() as u8]);
            block.extend_from_slice(value.as_bytes());
        }
        let _ = self.send(HEADERS, WHOLE, stream, &block);
        stream
    }

    /// Sends a ping.
    pub fn ping(&mut self) -> io::Result<()> {
        self.send(PING, 0, 0, &[7; 8])
    }

    /// The next frame.
    pub fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.socket.read_exact(&mut head).ok()?;
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        self.socket.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some(Frame { kind: head[3], stream, last: head[4] & 1 == 1, payload })
    }

    /// The same connection, for reading elsewhere.
    pub fn reader(&self) -> Self {
        Self { socket: self.socket.try_clone().unwrap(), streams: 0 }
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> io::Result<()> {
        let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
        bytes.extend([kind, flags]);
        bytes.extend(stream.to_be_bytes());
        bytes.extend_from_slice(payload);
        self.socket.write_all(&bytes)
    }
}
