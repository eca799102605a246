//! Operations count nothing for their callers: no public function of schemes, circuits, named sets and encodings takes `&mut Counters`.
//! Runs count what their stages do, and tell their observers.

use refloat_tests::source::files;

/// What schemes implement and circuits call, which count for a run.
const CALLED_BY_CIRCUITS: [&str; 1] = ["core/src/schemes/evaluator.rs: reduce"];

/// Public functions that take counters, unless their documentation is hidden.
fn counting(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    // The line that began the block at the left margin.
    let mut block = "";
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with(|c: char| c.is_alphabetic()) {
            block = line;
        }
        let code = line.trim_start();
        let declared = code.strip_prefix("pub ").or_else(|| code.strip_prefix("fn ").map(|_| code));
        let Some((before, rest)) = declared.and_then(|declared| declared.split_once("fn ")) else { continue };
        let public = code.starts_with("pub ") && !is_private(text, block) || block.starts_with("pub trait");
        let modifiers = ["", "const ", "unsafe ", "const unsafe "];
        if !public || !modifiers.contains(&before) {
            continue;
        }
        let end = lines[at..].iter().position(|line| line.ends_with(['{', ';', '}'])).unwrap_or_default();
        let signature = lines[at..=at + end].concat();
        let attributes = lines[..at].iter().rev().take_while(|line| {
            let line = line.trim_start();
            line.starts_with("///") || line.starts_with("#[")
        });
        let hidden = attributes.into_iter().any(|line| line.contains("doc(hidden)"));
        if signature.contains("&mut Counters") && !hidden {
            found.push(rest.split(['(', '<']).next().unwrap_or_default().to_owned());
        }
    }
    found
}

/// Whether a block implements a type that its file does not make public.
fn is_private(text: &str, block: &str) -> bool {
    let Some(rest) = block.strip_prefix("impl") else { return false };
    let name =
        |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let own = rest.split_whitespace().map(name).filter(|name| !name.is_empty());
    let declared = |name: &String| {
        let kinds = ["struct", "enum"].map(|kind| format!("{kind} {name}"));
        let lines = text.lines().filter(|line| kinds.iter().any(|kind| line.contains(kind.as_str())));
        lines.into_iter().any(|line| !line.starts_with("pub struct") && !line.starts_with("pub enum"))
    };
    own.into_iter().any(|name| declared(&name))
}

#[test]
fn operations_take_no_counters() {
    let mut found = Vec::new();
    let mut seen = 0;
    for folder in ["schemes", "circuits", "params", "wire"] {
        for file in files(&format!("core/src/{folder}"), &["rs"]) {
            seen += file.text.matches("&mut Counters").count();
            found.extend(counting(&file.text).into_iter().map(|name| format!("{}: {name}", file.path)));
        }
    }
    assert!(seen > 10, "only {seen} counters seen: the test reads the wrong files");
    found.retain(|name| !CALLED_BY_CIRCUITS.contains(&name.as_str()));
    assert!(found.is_empty(), "observers get the counts, callers do not:\n{}", found.join("\n"));
}

#[test]
fn the_test_sees_what_it_forbids() {
    assert_eq!(counting("impl A {\n    pub fn f(&self, counters: &mut Counters) {\n"), ["f"]);
    assert_eq!(counting("impl A {\n    pub fn f<W>(\n        counters: &mut Counters,\n    ) {\n"), ["f"]);
    assert_eq!(counting("pub trait A {\n    fn f(&self, counters: &mut Counters);\n"), ["f"]);
    assert_eq!(counting("pub const fn f(counters: &mut Counters) {\n"), ["f"]);
    assert_eq!(counting("impl A {\n    #[doc(hidden)]\n    pub fn f(c: &mut Counters) {\n"), [""; 0]);
    assert_eq!(counting("impl A {\n    pub(crate) fn f(c: &mut Counters) {\n"), [""; 0]);
    assert_eq!(counting("impl A {\n    fn f(c: &mut Counters) {\n    pub fn g() {\n"), [""; 0]);
    assert_eq!(counting("impl A {\n    pub fn g() {\n        f(&mut Counters::default());\n"), [""; 0]);
    let private =
        "pub(super) struct Powers<E> {\n}\n\nimpl<E> Powers<E> {\n    pub fn f(c: &mut Counters) {\n";
    assert_eq!(counting(private), [""; 0]);
}
