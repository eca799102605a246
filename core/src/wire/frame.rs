//! Frames: header, payload, BLAKE3 digest of both.

use alloc::{format, vec, vec::Vec};

use super::header::{HEADER_LEN, Header, MINOR, ObjectKind, bad};
use crate::{
    error::{Error, hex},
    schemes::set_names::set_name,
};

/// Length of the digest that ends a frame, in bytes.
pub const DIGEST_LEN: usize = 32;

/// What a reader is prepared to accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expect {
    /// The kind of object.
    pub kind: ObjectKind,
    /// Fingerprint of the reader's parameters.
    pub fingerprint: [u8; 16],
    /// Id of the key it must belong to; `None` accepts any.
    pub key_id: Option<[u8; 16]>,
    /// Payload length in bytes, computed from the parameters.
    pub payload_len: usize,
}

/// An accepted frame. The payload's meaning is yet to be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The header.
    pub header: Header,
    /// The payload, exactly as long as was expected.
    pub payload: &'a [u8],
}

/// Length in bytes of a frame with a payload of `payload_len` bytes.
pub const fn len(payload_len: usize) -> usize {
    HEADER_LEN + payload_len + DIGEST_LEN
}

/// Builds the frame of a payload.
pub fn write(kind: ObjectKind, fingerprint: [u8; 16], key_id: [u8; 16], payload: &[u8]) -> Vec<u8> {
    write_with(kind, fingerprint, key_id, payload.len(), |place| place.copy_from_slice(payload))
}

/// Builds a frame whose payload `fill` writes in place: it is handed `payload_len` zeros.
pub fn write_with(
    kind: ObjectKind,
    fingerprint: [u8; 16],
    key_id: [u8; 16],
    payload_len: usize,
    fill: impl FnOnce(&mut [u8]),
) -> Vec<u8> {
    let header = Header { kind, minor: MINOR, fingerprint, key_id, payload_len: payload_len as u64 };
    let mut bytes = vec![0; len(payload_len)];
    let (signed, digest) = bytes.split_at_mut(HEADER_LEN + payload_len);
    signed[..HEADER_LEN].copy_from_slice(&header.to_bytes());
    fill(&mut signed[HEADER_LEN..]);
    digest.copy_from_slice(blake3::hash(signed).as_bytes());
    bytes
}

/// Reads the header alone, to learn what a frame claims to be.
///
/// # Errors
/// As [`Header::from_bytes`].
pub fn peek(bytes: &[u8]) -> Result<Header, Error> {
    Header::from_bytes(bytes)
}

/// Accepts a frame if it is what is expected, checking in this order: header (magic, version,
/// checksum), kind, fingerprint, key id, stated length, actual length, digest. Allocates nothing
/// but the message of an error.
///
/// # Errors
/// [`Error::ParamsMismatch`] for another fingerprint or key id, [`Error::BadBytes`] for everything
/// else, naming what was expected and what was found.
pub fn read<'a>(bytes: &'a [u8], expect: &Expect) -> Result<Frame<'a>, Error> {
    let header = Header::from_bytes(bytes)?;
    let what = expect.kind.name();
    if header.kind != expect.kind {
        return Err(bad(format!("a {what} was expected, and this is a {}", header.kind.name())));
    }
    if header.fingerprint != expect.fingerprint {
        return Err(Error::ParamsMismatch(format!(
            "the {what} belongs to set {}, and set {} was expected; use objects of one set",
            set_name(&header.fingerprint),
            set_name(&expect.fingerprint)
        )));
    }
    if let Some(key_id) = expect.key_id.filter(|&id| id != header.key_id) {
        return Err(Error::ParamsMismatch(format!(
            "the {what} belongs to key {}, and key {} was expected; use objects of one key",
            hex(&header.key_id),
            hex(&key_id)
        )));
    }
    if header.payload_len != expect.payload_len as u64 {
        return Err(bad(format!(
            "the {what} states {} bytes of payload, and its parameters give {}; send what was asked for, unaltered",
            header.payload_len, expect.payload_len
        )));
    }
    if bytes.len() != len(expect.payload_len) {
        return Err(bad(format!(
            "the {what} has {} bytes in all, and must have {}; send it whole, and nothing after it",
            bytes.len(),
            len(expect.payload_len)
        )));
    }
    let (signed, digest) = bytes.split_at(HEADER_LEN + expect.payload_len);
    let computed = blake3::hash(signed);
    if computed.as_bytes() != digest {
        // Shows the eight bytes where both begin to differ: damage to the digest itself leaves its beginning as it was.
        let same = digest.iter().zip(computed.as_bytes()).take_while(|(carried, given)| carried == given);
        let at = same.count() / 8 * 8;
        let part = |digest: &[u8]| {
            let [before, after] = [at > 0, at < 24].map(|more| if more { "…" } else { "" });
            format!("{before}{}{after}", hex(&digest[at..at + 8]))
        };
        return Err(bad(format!(
            "the {what} carries digest {}, and its bytes give {}; it was damaged on the way, send it again",
            part(digest),
            part(computed.as_bytes())
        )));
    }
    Ok(Frame { header, payload: &signed[HEADER_LEN..] })
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;

    const PAYLOAD: &[u8] = b"thirty-eight bytes of innocent payload";

    fn expect() -> Expect {
        Expect {
            kind: ObjectKind::Ciphertext,
            fingerprint: [0x11; 16],
            key_id: Some([0x22; 16]),
            payload_len: PAYLOAD.len(),
        }
    }

    fn frame() -> Vec<u8> {
        write(ObjectKind::Ciphertext, [0x11; 16], [0x22; 16], PAYLOAD)
    }

    fn refusal(expect: &Expect) -> (String, &'static str) {
        let error = read(&frame(), expect).unwrap_err();
        (error.to_string(), error.code())
    }

    #[test]
    fn a_frame_comes_back() {
        let bytes = frame();
        assert_eq!(bytes.len(), len(PAYLOAD.len()));
        let frame = read(&bytes, &expect()).unwrap();
        assert_eq!(frame.payload, PAYLOAD);
        assert_eq!(frame.header.key_id, [0x22; 16]);
        assert_eq!(peek(&bytes).unwrap(), frame.header);
        assert!(read(&bytes, &Expect { key_id: None, ..expect() }).is_ok());
        let empty = write(ObjectKind::Params, [0; 16], [0; 16], &[]);
        let expect = Expect { kind: ObjectKind::Params, fingerprint: [0; 16], key_id: None, payload_len: 0 };
        assert_eq!(read(&empty, &expect).unwrap().payload, b"");
    }

    #[test]
    fn every_truncation_is_detected() {
        let bytes = frame();
        for len in 0..bytes.len() {
            let message = read(&bytes[..len], &expect()).unwrap_err().to_string();
            assert!(message.contains(&format!("{len} bytes")), "{message}");
        }
    }

    #[test]
    fn every_flipped_bit_is_detected() {
        let bytes = frame();
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&damaged, &expect()).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn the_digests_shown_differ_wherever_they_do() {
        let bytes = frame();
        for at in bytes.len() - DIGEST_LEN..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            let message = read(&damaged, &expect()).unwrap_err().to_string();
            let (carried, given) = message.split_once(", and its bytes give ").unwrap();
            assert!(!given.starts_with(carried.split_once("digest ").unwrap().1), "{message}");
        }
    }

    #[test]
    fn bytes_after_the_end_are_refused() {
        let mut bytes = frame();
        let whole = bytes.len();
        bytes.push(0);
        let message = read(&bytes, &expect()).unwrap_err().to_string();
        assert!(message.contains(&format!("{} bytes", whole + 1)) && message.contains(&format!("{whole};")));
    }

    #[test]
    fn a_huge_stated_length_is_only_compared() {
        let header = Header {
            kind: ObjectKind::Ciphertext,
            minor: 0,
            fingerprint: [0x11; 16],
            key_id: [0x22; 16],
            payload_len: u64::MAX,
        };
        let message = read(&header.to_bytes(), &expect()).unwrap_err().to_string();
        assert!(message.contains("18446744073709551615") && message.contains("38"), "{message}");
    }

    #[test]
    fn mismatches_name_both_sides() {
        let (message, code) = refusal(&Expect { kind: ObjectKind::RelinKey, ..expect() });
        assert!(message.contains("relinearization key") && message.contains("ciphertext"), "{message}");
        assert_eq!(code, "BAD_BYTES");
        let (message, code) = refusal(&Expect { fingerprint: [0x33; 16], ..expect() });
        assert!(message.contains(&"11".repeat(16)) && message.contains(&"33".repeat(16)), "{message}");
        assert_eq!(code, "PARAMS_MISMATCH");
        let (message, code) = refusal(&Expect { key_id: Some([0x44; 16]), ..expect() });
        assert!(message.contains(&"22".repeat(16)) && message.contains(&"44".repeat(16)), "{message}");
        assert_eq!(code, "PARAMS_MISMATCH");
        let (message, code) = refusal(&Expect { payload_len: 99, ..expect() });
        assert!(message.contains("38 bytes") && message.contains("99"), "{message}");
        assert_eq!(code, "BAD_BYTES");
    }
}
