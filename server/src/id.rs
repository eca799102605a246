//! 16-byte identifiers, written as 32 lowercase hexadecimal digits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Identifier of an evaluation key set (chosen by the client) or of a job (chosen by the server).
///
/// Its only text form is 32 lowercase hexadecimal digits, so an identifier can be part of a file
/// name or of a URL without further checks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub [u8; 16]);

impl Id {
    /// A fresh identifier from the operating system's entropy.
    ///
    /// # Errors
    /// The operating system has no entropy to give.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not 32 lowercase hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadId;

impl fmt::Display for BadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an identifier is 32 lowercase hexadecimal digits")
    }
}

impl std::error::Error for BadId {}

impl FromStr for Id {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let mut bytes = [0; 16];
        unhex(text, &mut bytes).ok_or(BadId)?;
        Ok(Self(bytes))
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Lowercase hexadecimal text of `bytes`. The core has its own, for its messages only.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Reads exactly `2 * out.len()` lowercase hexadecimal digits.
pub fn unhex(text: &str, out: &mut [u8]) -> Option<()> {
    let text = text.as_bytes();
    if text.len() != 2 * out.len() {
        return None;
    }
    for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(())
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips() {
        let id = Id([0x0f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xf0]);
        assert_eq!(id.to_string(), "0f0102030405060708090a0b0c0d0ef0");
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "..",
            "../../../../etc/passwd",
            "0F0102030405060708090a0b0c0d0ef0",
            "é0102030405060708090a0b0c0d0ef",
        ] {
            assert_eq!(text.parse::<Id>(), Err(BadId), "{text}");
        }
    }
}
