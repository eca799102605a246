//! Text for people or JSON for programs, never both on standard output.

use std::io::{IsTerminal, Write};

use serde::Serialize;
use serde_json::json;

use super::failure::Failure;

/// Where results go.
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
    pub fn result(&self, value: &impl Serialize, text: impl FnOnce() -> String) {
        let text = if self.json {
            serde_json::to_string_pretty(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
        } else {
            text()
        };
        // A closed pipe is the reader's choice.
        let _ = writeln!(std::io::stdout(), "{}", text.trim_end());
    }

    /// Says why a command failed.
    pub fn failure(&self, failure: &Failure) {
        let text = if self.json {
            json!({ "error": { "code": failure.code, "detail": failure.detail } }).to_string()
        } else {
            format!("error ({}): {}", failure.code, failure.detail)
        };
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

/// Bytes in the unit people read.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.*} {}", usize::from(value < 9.995) + usize::from(value < 99.95), UNITS[unit])
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
    fn tables_line_up() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["long".to_owned(), "x".to_owned()]];
        assert_eq!(table(&rows), "a     b\nlong  x\n");
    }
}
