//! The repository's own files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold no source: builds, packages, version control.
const SKIPPED: [&str; 5] = ["target", "node_modules", "dist", ".git", ".refloat"];

/// The root of the repository.
///
/// # Panics
/// Never: this crate is a folder of it.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is inside the repository").to_path_buf()
}

/// A text file of the repository.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path below the root, with `/` between folders.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// Every file below `folder` (relative to the root, "" for all) with one of the extensions, sorted.
///
/// # Panics
/// If a file cannot be read: a test about files that are not there must not pass.
pub fn files(folder: &str, extensions: &[&str]) -> Vec<SourceFile> {
    let root = root();
    let mut found = Vec::new();
    let mut pending = vec![root.join(folder)];
    while let Some(folder) = pending.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for entry in entries {
            let entry = entry.unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                if !SKIPPED.contains(&name.as_str()) {
                    pending.push(path);
                }
            } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
                let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let path = path.strip_prefix(&root).expect("below the root");
                let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
                found.push(SourceFile { path: parts.join("/"), text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// A token of Rust that the tests care about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// An identifier or keyword.
    Word(String),
    /// `::`
    Path,
    /// Any other single character.
    Mark(char),
}

/// The tokens of Rust source, each with its line: comments, strings, characters, numbers and
/// lifetimes are left out.
pub fn tokens(text: &str) -> Vec<(usize, Token)> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let (mut i, mut line) = (0, 1);
    let starts = |i: usize, with: &str| with.chars().enumerate().all(|(k, c)| chars.get(i + k) == Some(&c));
    while let Some(&c) = chars.get(i) {
        let begin = i;
        if starts(i, "//") {
            i = find(&chars, i, |_, c| c == '\n');
        } else if starts(i, "/*") {
            i = end_of_comment(&chars, i);
        } else if c == '"' {
            i = end_of_string(&chars, i + 1);
        } else if let Some(hashes) = raw_string(&chars, i) {
            let close: String = core::iter::once('"').chain(core::iter::repeat_n('#', hashes)).collect();
            let open = find(&chars, i, |_, c| c == '"') + 1;
            i = find(&chars, open, |at, _| starts(at, &close)) + close.len();
        } else if c == '\'' {
            i = end_of_character(&chars, i);
        } else if c.is_alphabetic() || c == '_' {
            i = find(&chars, i, |_, c| !c.is_alphanumeric() && c != '_');
            tokens.push((line, Token::Word(chars[begin..i].iter().collect())));
        } else if c.is_ascii_digit() {
            i = find(&chars, i, |_, c| !c.is_alphanumeric() && c != '_');
        } else if starts(i, "::") {
            tokens.push((line, Token::Path));
            i += 2;
        } else {
            if !c.is_whitespace() {
                tokens.push((line, Token::Mark(c)));
            }
            i += 1;
        }
        i = i.min(chars.len());
        line += chars[begin..i].iter().filter(|&&c| c == '\n').count();
    }
    tokens
}

/// The first index from `from` on where `stop` holds, or the end.
fn find(chars: &[char], from: usize, stop: impl Fn(usize, char) -> bool) -> usize {
    (from..chars.len()).find(|&at| stop(at, chars[at])).unwrap_or(chars.len())
}

fn end_of_comment(chars: &[char], from: usize) -> usize {
    let (mut depth, mut i) = (0, from);
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            break;
        }
    }
    i
}

fn end_of_string(chars: &[char], from: usize) -> usize {
    let mut i = from;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// The number of `#` of a raw string that begins here, byte strings included.
fn raw_string(chars: &[char], at: usize) -> Option<usize> {
    let r = if chars[at] == 'b' { at + 1 } else { at };
    if chars.get(r) != Some(&'r') {
        return None;
    }
    let quote = find(chars, r + 1, |_, c| c != '#');
    (chars.get(quote) == Some(&'"')).then_some(quote - r - 1)
}

/// The end of a character, or of the quote of a lifetime, whose name is then a word.
fn end_of_character(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => find(chars, at + 3, |_, c| c == '\'') + 1,
        (Some(_), Some('\'')) => at + 3,
        _ => at + 1,
    }
}

/// What is left of the tokens of Rust source without items that are compiled for tests alone.
pub fn without_tests(tokens: Vec<(usize, Token)>) -> Vec<(usize, Token)> {
    let attribute: Vec<Token> = self::tokens("#[cfg(test)]").into_iter().map(|(_, token)| token).collect();
    let mut kept = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        kept.push(token);
        let begins = kept.len().saturating_sub(attribute.len());
        if !kept[begins..].iter().map(|(_, token)| token).eq(&attribute) {
            continue;
        }
        kept.truncate(begins);
        let mut depth = 0;
        for (_, token) in rest.by_ref() {
            match token {
                Token::Mark('{' | '(' | '[') => depth += 1,
                Token::Mark('}' | ')' | ']') => depth -= 1,
                _ => {}
            }
            // An item ends with its braces or with a semicolon; another attribute of it ends with neither.
            if depth == 0 && matches!(token, Token::Mark('}' | ';')) {
                break;
            }
        }
    }
    kept
}

/// The words that identifiers are put together from, in lower case: those of `ShipKeys` are `ship` and `keys`.
pub fn words_of(tokens: &[(usize, Token)]) -> BTreeSet<String> {
    let identifiers = tokens.iter().filter_map(|(_, token)| match token {
        Token::Word(word) => Some(word),
        _ => None,
    });
    identifiers.flat_map(|identifier| words(identifier)).collect()
}

/// The words that identifiers and strings of TypeScript source are put together from, in lower case; comments and regular
/// expressions are left out.
pub fn words_of_typescript(text: &str) -> BTreeSet<String> {
    let mut kept = String::new();
    let mut rest = text.chars().peekable();
    let mut before = '(';
    while let Some(letter) = rest.next() {
        match (letter, rest.peek()) {
            ('/', Some('/')) => while rest.next_if(|&c| c != '\n').is_some() {},
            ('/', Some('*')) => {
                rest.next();
                let mut last = ' ';
                for c in rest.by_ref() {
                    if (last, c) == ('*', '/') {
                        break;
                    }
                    last = c;
                }
            }
            // Where no operand has ended there is nothing to divide.
            ('/', _) if "(,=:[!&|?{};>".contains(before) => skip_to(&mut rest, '/', &mut String::new()),
            ('\'' | '"' | '`', _) => {
                kept.push(' ');
                skip_to(&mut rest, letter, &mut kept);
                kept.push(' ');
                before = letter;
            }
            _ => {
                kept.push(letter);
                if !letter.is_whitespace() {
                    before = letter;
                }
            }
        }
    }
    kept.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(words).collect()
}

/// Takes characters up to the next `end` that is not escaped.
fn skip_to(rest: &mut impl Iterator<Item = char>, end: char, taken: &mut String) {
    while let Some(c) = rest.next().filter(|&c| c != end) {
        taken.push(if c == '\\' { rest.next().unwrap_or(' ') } else { c });
    }
}

/// The words of an identifier. A run of capitals ends before the capital that begins a word, and digits are not a part of one: the
/// words of `CKKSShip13` are `ckks` and `ship`.
fn words(identifier: &str) -> Vec<String> {
    let letters: Vec<char> = identifier.chars().collect();
    let mut words = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        let after_capital = at > 0 && letters[at - 1].is_ascii_uppercase();
        let before_small = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        if !letter.is_ascii_alphabetic() || (letter.is_ascii_uppercase() && (!after_capital || before_small))
        {
            words.push(String::new());
        }
        if letter.is_ascii_alphabetic() {
            words.last_mut().expect("a word").push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text)
            .into_iter()
            .filter_map(|(_, t)| if let Token::Word(w) = t { Some(w) } else { None })
            .collect()
    }

    #[test]
    fn only_code_is_tokenized() {
        let text = r##"
            // comment a
            /* comment /* nested */ b */
            let c = "text \" d"; let e = r#"raw " f"#; let g = b"h"; let i = 'j'; let k = '\''; let l: &'m str;
            use crate::n::{self, o};
        "##;
        let found = words(text);
        for absent in ["comment", "nested", "text", "d", "raw", "f", "h", "j"] {
            assert!(!found.contains(&absent.to_string()), "{absent} in {found:?}");
        }
        assert_eq!(found[found.len() - 5..], ["use", "crate", "n", "self", "o"]);
    }

    #[test]
    fn identifiers_are_taken_apart() {
        for (identifier, parts) in [
            ("ShipKeys", &["ship", "keys"][..]),
            ("ship13_bits", &["ship", "bits"]),
            ("SHIP13", &["ship"]),
            ("CKKSShip", &["ckks", "ship"]),
            ("MSBParams", &["msb", "params"]),
            ("shipped", &["shipped"]),
        ] {
            assert_eq!(super::words(identifier), parts, "{identifier}");
        }
    }

    #[test]
    fn what_is_for_tests_alone_is_left_out() {
        let text = "a #[cfg(test)] #[path(x)] mod tests { use b; { c } } d #[cfg(test)] use e::{f}; g #[cfg(not(test))] h";
        let left = words_of(&without_tests(tokens(text)));
        let wanted = ["a", "cfg", "d", "g", "h", "not", "test"].map(str::to_owned);
        assert_eq!(left, wanted.into());
    }

    #[test]
    fn lines_are_counted_through_strings_and_comments() {
        let text = "a\n/*\n\n*/ b\n\"\n\n\" c";
        let lines: Vec<usize> = tokens(text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [1, 4, 7]);
    }

    #[test]
    fn this_file_is_found() {
        let files = files("tests/src", &["rs"]);
        assert!(
            files.iter().any(|f| f.path == "tests/src/source.rs" && f.text.contains("this_file_is_found"))
        );
    }
}
