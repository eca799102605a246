//! Files of encrypted integers.

use std::path::Path;

use serde_json::json;
use zeroize::Zeroizing;

use super::failure::Failure;
use super::keyfiles::fresh_seed;
use super::message_files::{self, Format, Shape};
use super::outfile::OutFile;
use super::output::{Output, bytes};
use crate::clients::{CiphertextBytes, IntegerClient, IntegerSecret};
use crate::encryptors::IntegerEncryptor;
use crate::engine::{SetInfo, SlotMode};

/// A file of integers to read or write: its path, its format, and its size if it is a picture.
pub struct File<'a> {
    /// The path.
    pub path: &'a Path,
    /// The format, where the file's name does not say.
    pub format: Option<Format>,
    /// Width and height.
    pub size: Option<(u32, u32)>,
}

/// The integers of a file, as many per slot as a slot holds; for a picture, its grey levels from 0 to 255.
fn read(file: &File<'_>, set: &SetInfo) -> Result<Zeroizing<Vec<u64>>, Failure> {
    let shape = Shape::new(set.numbers(), SlotMode::Integers);
    let numbers = message_files::read(file.path, Format::of(file.format, file.path)?, shape, file.size)?;
    // Above 2^53, not every integer is a floating-point number.
    let below = set.modulus.unwrap_or(0).min(1 << 53);
    let integer = |(index, &number): (usize, &f64)| {
        if number >= 0.0 && number < below as f64 && number.fract() == 0.0 {
            return Ok(number as u64);
        }
        // Shows whole numbers without a decimal point, and 1e300 without its zeros.
        let shown = if number.abs() < 1e16 { number.to_string() } else { format!("{number:?}") };
        Err(Failure::usage(format!(
            "{}: entry {} is {shown}; integers of {} are whole numbers from 0 to {}",
            file.path.display(),
            index + 1,
            set.name,
            below.saturating_sub(1)
        )))
    };
    // Allocated at its full size, since a growing vector leaves copies behind.
    let mut integers = Zeroizing::new(Vec::with_capacity(numbers.len()));
    for entry in numbers.iter().enumerate() {
        integers.push(integer(entry)?);
    }
    Ok(integers)
}

/// Encrypts the integers of a file at a level.
pub fn encrypt(
    (set, key): (&dyn IntegerClient, &dyn IntegerEncryptor),
    input: &File<'_>,
    level: usize,
    (out, file): (&Path, OutFile),
    output: &Output,
) -> Result<(), Failure> {
    let info = set.info();
    let integers = read(input, info)?;
    let ciphertext = key.encrypt(&integers, level, &fresh_seed()?)?;
    file.write(&ciphertext.bytes)?;
    let CiphertextBytes { log_q, capacity, .. } = ciphertext;
    let (count, written) = (integers.len(), ciphertext.bytes.len());
    let value = json!({
        "params": info.name, "mode": info.mode, "numbers": count, "level": level, "logQ": log_q, "capacity": capacity,
        "bytes": written, "out": out,
    });
    output.result(&value, || {
        format!(
            "{count} integers into {} of {}, level {level}, log2 Q {log_q:.1}, {}",
            out.display(),
            info.name,
            bytes(written as u64)
        )
    })
}

/// What is to be done with a decryption.
pub struct Wanted<'a> {
    /// The file to write.
    pub out: File<'a>,
    /// Integers to write, from the first; all if none is given.
    pub count: Option<usize>,
    /// The original message, to compare with.
    pub compare: Option<&'a Path>,
}

/// How many entries were compared with the original message, and how many of them differ.
struct Compared {
    wrong: usize,
    compared: usize,
}

/// Decrypts a ciphertext into a file, or to standard output.
pub fn decrypt(
    (set, secret): (&dyn IntegerClient, &dyn IntegerSecret),
    ciphertext: &CiphertextBytes,
    wanted: &Wanted<'_>,
    file: OutFile,
    output: &Output,
) -> Result<(), Failure> {
    let (info, out) = (set.info(), &wanted.out);
    let integers = secret.decrypt(&ciphertext.bytes)?;
    let count = wanted.count.unwrap_or(integers.len()).min(integers.len());
    let compared = match wanted.compare {
        Some(path) => {
            let size = out.size.filter(|_| Format::of(None, path).is_ok_and(|format| format == Format::Png));
            let expected = read(&File { path, format: None, size }, info)?;
            let pairs = integers.iter().zip(expected.iter());
            Some(Compared {
                wrong: pairs.filter(|(found, expected)| found != expected).count(),
                compared: expected.len(),
            })
        }
        None => None,
    };
    let bytes = match Format::of(out.format, out.path)? {
        // Integers, without the decimal point that other numbers have.
        Format::Json => {
            // Room for 20 digits and a comma each: growing would leave copies behind.
            let mut text = Zeroizing::new(Vec::with_capacity(21 * count + 2));
            serde_json::to_writer(&mut *text, &integers[..count]).map_err(|error| Failure::system(&error))?;
            text
        }
        format => {
            let numbers: Zeroizing<Vec<f64>> =
                Zeroizing::new(integers[..count].iter().map(|&m| m as f64).collect());
            message_files::encode(format, &numbers, Shape::new(info.numbers(), SlotMode::Integers), out.size)?
        }
    };
    file.write(&bytes)?;
    if out.path == Path::new("-") {
        return Ok(());
    }
    let level = ciphertext.level;
    let value = json!({
        "params": info.name, "mode": info.mode, "numbers": count, "level": level, "out": out.path,
        "wrong": compared.as_ref().map(|compared| compared.wrong),
        "compared": compared.as_ref().map(|compared| compared.compared),
    });
    output.result(&value, || {
        let difference = match &compared {
            Some(Compared { wrong: 0, compared }) => format!("\nnone of {compared} differs from the message"),
            Some(Compared { wrong, compared }) => format!("\n{wrong} of {compared} differ from the message"),
            None => String::new(),
        };
        format!("{count} integers into {}, from level {level}{difference}", out.path.display())
    })
}
