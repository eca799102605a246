//! Messages of errors keep their form: what is wrong, and after one semicolon what repairs it.

use refloat_tests::source::files;

/// Variants whose messages always name a repair.
const REPAIRED: [&str; 7] = [
    "ParamsMismatch",
    "LevelMismatch",
    "ScaleMismatch",
    "PlaintextMismatch",
    "Insecure",
    "MissingKey",
    "Limit",
];

/// Variants and texts of the errors that are made here from a literal, each with its line.
fn messages(text: &str) -> Vec<(usize, String, String)> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut found = Vec::new();
    for (at, made) in text.match_indices("Error::") {
        let (variant, rest) = match text[at + made.len()..].split_once('(') {
            Some((variant, rest)) if variant.chars().all(char::is_alphanumeric) => {
                (variant, rest.trim_start())
            }
            _ => continue,
        };
        let rest = rest.strip_prefix("alloc::").unwrap_or(rest);
        let rest = rest.strip_prefix("format!(").unwrap_or(rest).trim_start();
        let Some(literal) = rest.strip_prefix('"') else { continue };
        let line = 1 + text[..at].matches('\n').count();
        found.push((line, variant.to_owned(), up_to_quote(literal)));
    }
    found
}

/// A literal from behind its opening quote, in one line.
fn up_to_quote(literal: &str) -> String {
    let mut out = String::new();
    let mut rest = literal.chars().peekable();
    while let Some(c) = rest.next().filter(|&c| c != '"') {
        if c != '\\' {
            out.push(c);
        } else if rest.next() == Some('\n') {
            while rest.next_if(|c| c.is_whitespace()).is_some() {}
        }
    }
    out
}

fn fault(variant: &str, message: &str) -> Option<&'static str> {
    // What went wrong underneath has its own repair.
    let passed_on = message.ends_with("{message}") || message.ends_with("{error}");
    match message.matches("; ").count() {
        0 if REPAIRED.contains(&variant) && !passed_on => Some("names no repair"),
        0 | 1 if message.ends_with(['.', ';', '!']) => Some("ends like a sentence"),
        0 | 1 => None,
        _ => Some("has more than one semicolon"),
    }
}

#[test]
fn messages_say_what_is_wrong_and_what_repairs_it() {
    let mut faults = Vec::new();
    let mut seen = 0;
    for folder in ["core/src", "server/src", "wasm/src", "wasm/cabi/src"] {
        for file in files(folder, &["rs"]) {
            for (line, variant, message) in messages(&file.text) {
                seen += 1;
                if let Some(fault) = fault(&variant, &message) {
                    faults.push(format!("{}:{line}: {variant} {fault}: {message}", file.path));
                }
            }
        }
    }
    assert!(seen > 300, "only {seen} messages found: the test does not see them");
    assert!(
        faults.is_empty(),
        "write \"what is wrong, with both sides; what repairs it\":\n{}",
        faults.join("\n")
    );
}

#[test]
fn the_test_sees_messages() {
    let text = r#"
        Err(Error::LevelMismatch(format!(
            "level {x} of {y}; \
             bootstrap \"earlier\"",
        )))
        Error::Limit("too many".into())
    "#;
    let seen = messages(text);
    assert_eq!(seen[0], (2, "LevelMismatch".into(), "level {x} of {y}; bootstrap earlier".into()));
    assert_eq!(seen[1], (6, "Limit".into(), "too many".into()));
    assert_eq!(fault(&seen[0].1, &seen[0].2), None);
    assert!(fault(&seen[1].1, &seen[1].2).is_some());
    assert!(fault("InvalidArgument", "a; b; c").is_some() && fault("InvalidArgument", "a.").is_some());
    assert_eq!(
        (fault("InvalidArgument", "a"), fault("MissingKey", "rotation by {steps}: {message}")),
        (None, None)
    );
}
