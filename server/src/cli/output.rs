//! Text for people or JSON for programs, never both on standard output.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal, Write};

use serde::Serialize;
use serde_json::json;

use super::failure::Failure;
pub use crate::memory::bytes;

/// Where results go.
#[derive(Clone)]
pub struct Output {
    json: bool,
}

impl Output {
    /// Results as JSON, or as text.
    pub fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether results are JSON.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Whether a person is watching: progress bars make sense.
    pub fn is_watched(&self) -> bool {
        !self.json && std::io::stderr().is_terminal()
    }

    /// Writes the result of a command.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        let text = if self.json {
            serde_json::to_string_pretty(value).map_err(|error| Failure::system(&error))?
        } else {
            text()
        };
        to_stdout(format!("{}\n", printable(text.trim_end())).as_bytes())
    }

    /// Tells people something beside the result.
    pub fn note(&self, text: &str) {
        if !self.json {
            // If standard error is closed, nobody reads notes.
            let _ = writeln!(io::stderr(), "note: {}", printable(text));
        }
    }

    /// Says why a command failed.
    pub fn failure(&self, failure: &Failure) {
        let text = if self.json {
            json!({ "error": { "code": failure.code, "detail": failure.detail } }).to_string()
        } else {
            format!("error ({}): {}", failure.code, failure.detail)
        };
        // If standard error is closed, the exit code still tells.
        let _ = writeln!(io::stderr(), "{}", printable(&text));
    }
}

/// Writes to standard output. A pipe that its reader has closed (`| head`) is not a failure.
///
/// # Errors
/// Standard output cannot be written.
pub fn to_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if !is_closed_pipe(&error) => Err(Failure {
            code: "FILE".to_owned(),
            detail: format!("cannot write to standard output: {error}"),
        }),
        _ => Ok(()),
    }
}

/// Whether a write failed because the reader has closed the pipe.
pub fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == ErrorKind::BrokenPipe
}

/// Text in which characters that would command a terminal, or change the order in which it is shown, are written as JSON's `\u`
/// escapes. Names of files and texts from servers may hold such characters.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_plain(character) {
            shown.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        }
    }
    shown
}

/// Whether a character shows as itself. Control characters other than the end of a line do not, nor do marks of direction,
/// characters of no width, and other line ends.
fn is_plain(character: char) -> bool {
    match character {
        '\n' => true,
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => false,
        _ => !character.is_control(),
    }
}

/// Rows of cells as aligned text; the first row is the heading.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_readable() {
        assert_eq!(
            [0, 999, 1000, 12_345, 999_999, 1_400_000_000].map(bytes),
            ["0 B", "999 B", "1.00 KB", "12.3 KB", "1.00 MB", "1.40 GB"]
        );
    }

    #[test]
    fn terminals_are_not_commanded() {
        let text = "\u{1b}[2J\u{9b}31mred\r\u{7}\u{202e}txt.exe\u{2066}\u{200b}\u{e0001}\nline";
        let shown = "\\u001b[2J\\u009b31mred\\u000d\\u0007\\u202etxt.exe\\u2066\\u200b\\udb40\\udc01\nline";
        assert_eq!(printable(text), shown);
        let plain = "Größe, naïve, 日本語, 🦀";
        assert_eq!(printable(plain), plain);
        // Within JSON, the escapes stand for the same text.
        let json = serde_json::to_string(&text.replace('\n', "")).unwrap();
        assert_eq!(serde_json::from_str::<String>(&printable(&json)).unwrap(), text.replace('\n', ""));
    }

    #[test]
    fn tables_line_up() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["long".to_owned(), "x".to_owned()]];
        assert_eq!(table(&rows), "a     b\nlong  x\n");
    }
}
