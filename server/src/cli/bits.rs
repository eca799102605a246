//! Files of DM/CGGI keys and encrypted bits.

use std::path::Path;

use refloat::Error;
use refloat::params::CggiPreset;
use refloat::schemes::cggi::{CggiCiphertext, CggiParams, CggiSecretKey, Encoding};
use refloat::wire::{self, MAX_CIPHERTEXTS, WireWord};
use serde_json::json;
use zeroize::Zeroizing;

use super::failure::Failure;
use super::keyfiles::{self, in_file, in_key};
use super::message_files::{self, Format, Shape, read_file};
use super::outfile::OutFile;
use super::output::{Output, bytes};
use super::sets::must_be_encrypted;
use crate::clients::SetQuery;
use crate::engine::SlotMode;
use crate::id::Id;
use crate::registry::Registry;

/// Whether a secret key belongs to a DM/CGGI set.
pub fn is_key(path: &Path) -> Result<bool, Failure> {
    let path = keyfiles::secret_path(path);
    let header = wire::frame::peek(&read_file(&path)?).map_err(|error| in_key(&path, &error))?;
    Ok(CggiPreset::by_fingerprint(&header.fingerprint).is_ok())
}

/// Whether a file, of ciphertexts or a secret key, is of a set over 64-bit words.
pub fn is_wide(path: &Path) -> Result<bool, Failure> {
    Ok(preset_of(path, &read_file(path)?)?.wide())
}

/// Reads a secret key of any DM/CGGI set.
pub fn read_secret<W: WireWord>(path: &Path) -> Result<CggiSecretKey<W>, Failure> {
    let path = keyfiles::secret_path(path);
    let bytes = read_file(&path)?;
    let params = set_of(&path, &bytes)?;
    wire::cggi_secret_key_from_bytes(&params, &bytes).map_err(|error| in_key(&path, &error))
}

/// A set, and lists of its ciphertexts.
pub type Lists<W> = (CggiParams<W>, Vec<Vec<CggiCiphertext<W>>>);

/// Reads lists of ciphertexts, one after the other, all of one set and key.
pub fn read_lists<W: WireWord>(paths: &[impl AsRef<Path>]) -> Result<Lists<W>, Failure> {
    let mut found: Option<(CggiParams<W>, [u8; 16])> = None;
    let mut lists = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let bytes = read_file(path)?;
        must_be_encrypted(path, &bytes)?;
        let params = match &found {
            Some((params, _)) => params.clone(),
            None => set_of(path, &bytes)?,
        };
        let list =
            wire::cggi_ciphertexts_from_bytes(&params, &bytes).map_err(|error| in_file(path, error))?;
        let key = list.first().map_or([0; 16], |first: &CggiCiphertext<W>| first.key_id());
        let (_, first) = found.get_or_insert((params, key));
        if *first != key {
            return Err(Failure::usage(format!(
                "{} is under key {}, the files before it under {}; encrypt all under one key",
                path.display(),
                Id(key),
                Id(*first)
            )));
        }
        lists.push(list);
    }
    match found {
        Some((params, _)) => Ok((params, lists)),
        None => Err(Failure::usage("there is no ciphertext; name one with --in")),
    }
}

/// Writes a list of ciphertexts.
pub fn write_list<W: WireWord>(
    out: OutFile,
    params: &CggiParams<W>,
    list: &[CggiCiphertext<W>],
) -> Result<usize, Failure> {
    let bytes = wire::cggi_ciphertexts_to_bytes(params, list)?;
    out.write(&bytes)?;
    Ok(bytes.len())
}

/// Reads `0110`, the least significant bit first.
pub fn of_text(text: &str) -> Result<Zeroizing<Vec<bool>>, Failure> {
    let bits: Option<Vec<bool>> = text
        .chars()
        .map(|character| match character {
            '0' => Some(false),
            '1' => Some(true),
            _ => None,
        })
        .collect();
    let bits = bits.filter(|bits| !bits.is_empty());
    bits.map(Zeroizing::new).ok_or_else(|| Failure::usage("bits are written as zeros and ones, such as 0110"))
}

/// The bits of an integer, the least significant first.
pub fn of_integer(integer: u64, width: u32) -> Result<Zeroizing<Vec<bool>>, Failure> {
    if integer.checked_shr(width).unwrap_or(0) != 0 {
        return Err(Failure::usage(format!("{integer} does not fit {width} bits; give it a larger --width")));
    }
    Ok(Zeroizing::new((0..width).map(|i| integer >> i & 1 == 1).collect()))
}

/// The bits of a file: numbers, each 0 or 1, or the pixels of a picture.
pub fn of_file(path: &Path, format: Option<Format>) -> Result<Zeroizing<Vec<bool>>, Failure> {
    let shape = Shape::new(MAX_CIPHERTEXTS, SlotMode::Bits);
    let numbers = message_files::read(path, Format::of(format, path)?, shape, None)?;
    let bit = |number: &f64| match number {
        0.0 => Ok(false),
        1.0 => Ok(true),
        other => Err(Failure::usage(format!("{} holds {other:?}, which is not a bit", path.display()))),
    };
    Ok(Zeroizing::new(numbers.iter().map(bit).collect::<Result<Vec<bool>, Failure>>()?))
}

/// Encrypts messages of an encoding into a file.
pub fn encrypt(
    key: &Path,
    (encoding, message): (Encoding, &[u32]),
    (out, file): (&Path, OutFile),
    output: &Output,
) -> Result<(), Failure> {
    if is_wide(&keyfiles::secret_path(key))? {
        encrypt_over::<u64>(key, (encoding, message), (out, file), output)
    } else {
        encrypt_over::<u32>(key, (encoding, message), (out, file), output)
    }
}

fn encrypt_over<W: WireWord>(
    key: &Path,
    (encoding, message): (Encoding, &[u32]),
    (out, file): (&Path, OutFile),
    output: &Output,
) -> Result<(), Failure> {
    let secret = read_secret::<W>(key)?;
    let list = secret.encrypt(encoding, message, &keyfiles::fresh_seed()?)?;
    let written = write_list(file, secret.params(), &list)?;
    let (set, count) = (secret.params().name(), message.len());
    let kind = if encoding == Encoding::Bit { "bits" } else { "integers" };
    let value = json!({ "params": set, kind: count, "bytes": written, "out": out });
    output.result(&value, || {
        format!("{count} {kind} into {} of {set}, {}", out.display(), bytes(written as u64))
    })
}

/// Decrypts a list of ciphertexts into a file of numbers, or to standard output.
pub fn decrypt(
    key: &Path,
    input: &Path,
    (out, file, format): (&Path, OutFile, Format),
    output: &Output,
) -> Result<(), Failure> {
    if is_wide(&keyfiles::secret_path(key))? {
        decrypt_over::<u64>(key, input, (out, file, format), output)
    } else {
        decrypt_over::<u32>(key, input, (out, file, format), output)
    }
}

fn decrypt_over<W: WireWord>(
    key: &Path,
    input: &Path,
    (out, file, format): (&Path, OutFile, Format),
    output: &Output,
) -> Result<(), Failure> {
    let secret = read_secret::<W>(key)?;
    let (_, lists) = read_lists(&[input])?;
    let list = lists.concat();
    let messages = list.iter().map(|ciphertext| secret.decrypt(ciphertext));
    let messages = Zeroizing::new(messages.collect::<Result<Vec<u32>, refloat::Error>>()?);
    let numbers: Zeroizing<Vec<f64>> = Zeroizing::new(messages.iter().map(|&m| f64::from(m)).collect());
    let shape = Shape::new(numbers.len(), SlotMode::Bits);
    file.write(&message_files::encode(format, &numbers, shape, None)?)?;
    if out == Path::new("-") {
        return Ok(());
    }
    let bits = list.iter().all(|ciphertext| ciphertext.encoding() == Encoding::Bit);
    let integer = (bits && messages.len() <= 64)
        .then(|| messages.iter().rev().fold(0u64, |value, &bit| value << 1 | u64::from(bit)));
    let value = json!({
        "params": secret.params().name(), "messages": messages.len(), "integer": integer, "out": out,
    });
    output.result(&value, || match integer {
        Some(integer) => {
            format!("{} bits into {}; as an integer {integer}", messages.len(), out.display())
        }
        None => format!("{} messages into {}", messages.len(), out.display()),
    })
}

/// The set that `bytes` claim to belong to; it must be over words of type `W`.
fn set_of<W: WireWord>(path: &Path, bytes: &[u8]) -> Result<CggiParams<W>, Failure> {
    let preset = preset_of(path, bytes)?;
    if preset.wide() == (W::BITS == 64) {
        return Ok(preset.params_over()?);
    }
    Err(Failure::usage(format!(
        "{} is of {}, the files before it of other sets",
        path.display(),
        preset.name
    )))
}

fn preset_of(path: &Path, bytes: &[u8]) -> Result<&'static CggiPreset, Failure> {
    let header = wire::frame::peek(bytes).map_err(|error| in_file(path, error))?;
    CggiPreset::by_fingerprint(&header.fingerprint).map_err(|error| {
        match Registry::default().client(SetQuery::Fingerprint(header.fingerprint)) {
            Ok(Some(other)) => {
                let info = other.client().info();
                let what = format!(
                    "it is of {}, a set of {}, and this command takes keys and ciphertexts of a DM/CGGI set; refloat params lists them",
                    info.name, info.method
                );
                in_file(path, Error::ParamsMismatch(what))
            }
            _ => in_file(path, error),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_strictly_and_least_significant_first() {
        assert_eq!(*of_text("011").unwrap(), [false, true, true]);
        assert_eq!(*of_integer(6, 4).unwrap(), [false, true, true, false]);
        assert_eq!(of_integer(u64::MAX, 64).unwrap().len(), 64);
        for bad in ["", "012", "0 1"] {
            assert!(of_text(bad).is_err(), "{bad:?}");
        }
        assert!(of_integer(16, 4).is_err());
    }
}
