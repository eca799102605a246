//! The fixed header of a frame.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0..8 | magic, [`MAGIC`] |
//! | 8..10, 10..12 | format version: major, minor |
//! | 12..14 | [`ObjectKind`] |
//! | 14..16 | flags, 0 |
//! | 16..32 | fingerprint of the parameters |
//! | 32..48 | key id; 0 for objects that belong to no key |
//! | 48..56 | payload length in bytes |
//! | 56..60 | 0 |
//! | 60..64 | CRC-32C of bytes 0..60 |
//!
//! A minor version may add optional sections to payloads; a major one may change anything but the
//! first twelve bytes. Readers of earlier major versions are never removed.

use alloc::{format, string::String};

use crate::error::{Error, hex};

/// Length of the header in bytes.
pub const HEADER_LEN: usize = 64;

/// First eight bytes of every frame; the first is not text in any encoding.
pub const MAGIC: [u8; 8] = *b"\x89refloat";

/// Major version written, and the only one read.
pub const MAJOR: u16 = 1;

/// Minor version written, and the latest one read.
pub const MINOR: u16 = 0;

/// Where the checksum stands, and what it covers: everything before it.
const CHECKSUM: usize = HEADER_LEN - 4;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u16)]
pub enum ObjectKind {
    /// A parameter set.
    Params = 1,
    /// A ciphertext.
    Ciphertext = 2,
    /// A public encryption key.
    PublicKey = 3,
    /// One part of a SHIP bootstrapping key.
    ShipKeyPart = 4,
    /// A secret key. Never leaves its owner.
    SecretKey = 5,
    /// A relinearization key.
    RelinKey = 6,
    /// A Galois key (rotation or conjugation).
    GaloisKey = 7,
    /// One part of the evaluation keys of DM/CGGI.
    CggiKeyPart = 8,
    /// A list of DM/CGGI ciphertexts.
    CggiCiphertexts = 9,
    /// One part of the evaluation keys of a conventional CKKS set.
    ConventionalKeyPart = 10,
    /// One part of the evaluation keys of a set whose method has no kind of its own.
    KeyPart = 11,
    /// A BGV ciphertext.
    BgvCiphertext = 12,
}

impl ObjectKind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::Params,
        Self::Ciphertext,
        Self::PublicKey,
        Self::ShipKeyPart,
        Self::SecretKey,
        Self::RelinKey,
        Self::GaloisKey,
        Self::CggiKeyPart,
        Self::CggiCiphertexts,
        Self::ConventionalKeyPart,
        Self::KeyPart,
        Self::BgvCiphertext,
    ];

    /// Name for messages: "ciphertext", "relinearization key", …
    pub fn name(self) -> &'static str {
        match self {
            Self::Params => "parameter set",
            Self::Ciphertext => "ciphertext",
            Self::PublicKey => "public key",
            Self::ShipKeyPart => "bootstrapping key part",
            Self::SecretKey => "secret key",
            Self::RelinKey => "relinearization key",
            Self::GaloisKey => "Galois key",
            Self::CggiKeyPart => "gate bootstrapping key part",
            Self::CggiCiphertexts => "list of ciphertexts of bits and integers",
            Self::ConventionalKeyPart => "conventional bootstrapping key part",
            Self::KeyPart => "part of the evaluation keys",
            Self::BgvCiphertext => "ciphertext of exact integers",
        }
    }
}

/// The header of a frame, checksum and version already checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// What the frame holds.
    pub kind: ObjectKind,
    /// Minor version of the format it was written in.
    pub minor: u16,
    /// Fingerprint of the parameters it belongs to.
    pub fingerprint: [u8; 16],
    /// Id of the key it belongs to, or zeros.
    pub key_id: [u8; 16],
    /// Payload length it states, in bytes; not to be trusted.
    pub payload_len: u64,
}

impl Header {
    /// The 64 bytes of the header.
    pub fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&MAJOR.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.minor.to_le_bytes());
        bytes[12..14].copy_from_slice(&(self.kind as u16).to_le_bytes());
        bytes[16..32].copy_from_slice(&self.fingerprint);
        bytes[32..48].copy_from_slice(&self.key_id);
        bytes[48..56].copy_from_slice(&self.payload_len.to_le_bytes());
        let checksum = crc32c(&bytes[..CHECKSUM]);
        bytes[CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the header at the beginning of `bytes`, in this order: length, magic, version,
    /// checksum, kind, reserved fields.
    ///
    /// # Errors
    /// [`Error::BadBytes`] naming the first check that fails.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let Some(bytes) = bytes.first_chunk::<HEADER_LEN>() else {
            return Err(bad(format!(
                "{} bytes are less than the {HEADER_LEN} of a header; send the whole object",
                bytes.len()
            )));
        };
        if bytes[..8] != MAGIC {
            return Err(bad(format!(
                "the first bytes are {}, not {}; this is not a refloat object",
                hex(&bytes[..8]),
                hex(&MAGIC)
            )));
        }
        let (major, minor) = (word16(bytes, 8), word16(bytes, 10));
        if major != MAJOR || minor > MINOR {
            return Err(bad(format!(
                "format version {major}.{minor}, and this reader knows {MAJOR}.0 to {MAJOR}.{MINOR}; \
                 use a release of refloat that knows both"
            )));
        }
        let stated = u32::from_le_bytes([bytes[60], bytes[61], bytes[62], bytes[63]]);
        let computed = crc32c(&bytes[..CHECKSUM]);
        if stated != computed {
            return Err(bad(format!(
                "the header's checksum is {stated:08x} and its bytes give {computed:08x}; \
                 it was damaged on the way, send it again"
            )));
        }
        let number = word16(bytes, 12);
        let Some(kind) = ObjectKind::ALL.into_iter().find(|&k| k as u16 == number) else {
            return Err(bad(format!(
                "object kind {number}, and this reader knows 1 to {}; use a newer refloat",
                ObjectKind::ALL.len()
            )));
        };
        if word16(bytes, 14) != 0 || bytes[56..CHECKSUM] != [0; 4] {
            return Err(bad(format!(
                "flags {} and reserved field {}, which format {MAJOR}.{MINOR} leaves 0",
                hex(&bytes[14..16]),
                hex(&bytes[56..CHECKSUM])
            )));
        }
        let mut header = Self { kind, minor, fingerprint: [0; 16], key_id: [0; 16], payload_len: 0 };
        header.fingerprint.copy_from_slice(&bytes[16..32]);
        header.key_id.copy_from_slice(&bytes[32..48]);
        header.payload_len = u64::from_le_bytes([
            bytes[48], bytes[49], bytes[50], bytes[51], bytes[52], bytes[53], bytes[54], bytes[55],
        ]);
        Ok(header)
    }
}

fn word16(bytes: &[u8; HEADER_LEN], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The cyclic redundancy check of Castagnoli, reflected, as in iSCSI (RFC 3720) and ext4.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}

pub(super) fn bad(message: String) -> Error {
    Error::BadBytes(message)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn header() -> Header {
        let mut fingerprint = [0; 16];
        let mut key_id = [0; 16];
        for i in 0..16 {
            fingerprint[i] = i as u8;
            key_id[i] = 0xf0 + i as u8;
        }
        Header {
            kind: ObjectKind::Ciphertext,
            minor: 0,
            fingerprint,
            key_id,
            payload_len: 0x0102_0304_0506_0708,
        }
    }

    #[test]
    fn the_checksum_is_crc_32c() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        // RFC 3720, B.4: 32 bytes of zeros, and of ones.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn the_layout_is_fixed() {
        let bytes = header().to_bytes();
        assert_eq!(hex(&bytes[..16]), "89726566 6c6f6174 0100 0000 0200 0000".replace(' ', ""));
        assert_eq!(hex(&bytes[16..32]), "000102030405060708090a0b0c0d0e0f");
        assert_eq!(hex(&bytes[32..48]), "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
        assert_eq!(hex(&bytes[48..60]), "080706050403020100000000");
        assert_eq!(Header::from_bytes(&bytes).unwrap(), header());
    }

    #[test]
    fn every_kind_survives_the_round_trip() {
        for (number, kind) in (1..).zip(ObjectKind::ALL) {
            assert_eq!(kind as u16, number);
            let header = Header { kind, ..header() };
            assert_eq!(Header::from_bytes(&header.to_bytes()).unwrap(), header);
        }
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_detected() {
        let bytes = header().to_bytes();
        for len in 0..HEADER_LEN {
            let message = Header::from_bytes(&bytes[..len]).unwrap_err().to_string();
            assert!(message.contains(&format!("{len} bytes")), "{message}");
        }
        for bit in 0..8 * HEADER_LEN {
            let mut damaged = bytes;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(Header::from_bytes(&damaged), Err(Error::BadBytes(_))), "bit {bit}");
        }
    }

    /// Sets a field and repairs the checksum: the field itself must be refused.
    fn refusal(at: usize, value: u8) -> String {
        let mut bytes = header().to_bytes();
        bytes[at] = value;
        let checksum = crc32c(&bytes[..CHECKSUM]);
        bytes[CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        Header::from_bytes(&bytes).unwrap_err().to_string()
    }

    #[test]
    fn fields_are_refused_by_name() {
        assert!(refusal(0, b'x').contains("78726566"));
        assert!(refusal(8, 2).contains("version 2.0"));
        assert!(refusal(10, 9).contains("version 1.9"));
        assert!(refusal(12, 0).contains("kind 0"));
        assert!(refusal(12, 13).contains("kind 13"));
        assert!(refusal(14, 1).contains("flags 0100"));
        assert!(refusal(59, 1).contains("reserved field 00000001"));
    }
}
