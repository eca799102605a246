//! The layers of the core: every `crate::` path leads downward. Also: where `unsafe` may stand, and what the repository's top
//! level holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use refloat_tests::source::{Token, files, root, tokens};

/// The core's top-level modules by layer; a file may import from lower layers, and from its own
/// module. `error` is below everything.
const LAYERS: [(&str, u32); 16] = [
    ("error", 0),
    ("par", 1),
    ("random", 1),
    ("scrub", 1),
    ("security", 1),
    ("trace", 1),
    ("arith", 2),
    ("ring", 3),
    ("rlwe", 4),
    ("schemes", 5),
    ("circuits", 6),
    ("bootstrapping", 7),
    ("params", 8),
    ("wire", 8),
    ("about", 8),
    ("lib", 9),
];

/// Modules whose sub-modules are strangers to each other, and the sub-modules all of them may use.
const SEPARATE: [(&str, &[&str]); 3] = [
    (
        "schemes",
        &[
            "components",
            "evaluator",
            "identity",
            "leveled_chain",
            "leveled_keys",
            "private",
            "public_key_parts",
            "secret_key_identity",
            "set_names",
        ],
    ),
    ("circuits", &[]),
    ("bootstrapping", &["method", "overflow", "program", "raising", "switching_keys", "wire_sizes"]),
];

/// Programs are made of all other circuits, single operations of what programs are planned for, and switching from one scheme to
/// another of the methods of both.
const MADE_OF_THE_OTHERS: [(&str, &str); 3] =
    [("circuits", "program"), ("circuits", "arithmetic"), ("bootstrapping", "scheme_switching")];

fn layer(module: &str) -> Option<u32> {
    LAYERS.iter().find(|(name, _)| *name == module).map(|(_, layer)| *layer)
}

/// The module path of a file of the core: `core/src/ring/poly.rs` is `[ring, poly]`.
pub(crate) fn module_of(path: &str) -> Vec<String> {
    let inside = path.strip_prefix("core/src/").expect("a file of the core").trim_end_matches(".rs");
    let mut parts: Vec<String> = inside.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// A use of another module.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) line: usize,
    /// From the crate's root.
    pub(crate) path: Vec<String>,
    /// Whether it stands in test code.
    pub(crate) test: bool,
}

/// Every path of `text` that begins with `start` (`crate`, or a crate's name) or, for a module of
/// that crate at `module`, climbs to the root by `super`.
pub(crate) fn imports(text: &str, start: &str, module: &[String]) -> Vec<Import> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    // Inline modules: their name, and the brace depth at which they end.
    let (mut depth, mut inline): (usize, Vec<(String, usize)>) = (0, Vec::new());
    let word = |at: usize| match tokens.get(at) {
        Some((_, Token::Word(word))) => Some(word.as_str()),
        _ => None,
    };
    let is = |at: usize, token: &Token| tokens.get(at).is_some_and(|(_, t)| t == token);
    let test_file = module.iter().any(|part| part == "tests");
    let mut at = 0;
    while at < tokens.len() {
        let seen = found.len();
        if is(at, &Token::Mark('{')) {
            depth += 1;
        } else if is(at, &Token::Mark('}')) {
            depth = depth.saturating_sub(1);
            if inline.last().is_some_and(|(_, end)| *end == depth) {
                inline.pop();
            }
        } else if word(at) == Some("mod") && is(at + 2, &Token::Mark('{')) {
            inline.push((word(at + 1).unwrap_or_default().to_owned(), depth));
        } else if word(at) == Some(start) && is(at + 1, &Token::Path) && !(at > 0 && is(at - 1, &Token::Path))
        {
            collect(&tokens, at + 2, &[], &mut found);
        } else if word(at) == Some("super")
            && is(at + 1, &Token::Path)
            && word(at.wrapping_sub(2)) != Some("super")
        {
            let mut here: Vec<String> =
                module.iter().cloned().chain(inline.iter().map(|(n, _)| n.clone())).collect();
            let mut next = at;
            while word(next) == Some("super") && is(next + 1, &Token::Path) {
                here.pop();
                next += 2;
            }
            collect(&tokens, next, &here, &mut found);
        }
        let test = test_file || inline.iter().any(|(name, _)| name == "tests");
        found[seen..].iter_mut().for_each(|import: &mut Import| import.test = test);
        at += 1;
    }
    found
}

/// Collects the paths that continue at token `at` after `prefix`: a name, or names in braces.
pub(crate) fn collect(
    tokens: &[(usize, Token)],
    at: usize,
    prefix: &[String],
    found: &mut Vec<Import>,
) -> usize {
    match tokens.get(at) {
        Some((line, Token::Word(name))) => {
            let mut path = prefix.to_vec();
            path.push(name.clone());
            if matches!(tokens.get(at + 1), Some((_, Token::Path))) {
                return collect(tokens, at + 2, &path, found);
            }
            found.push(Import { line: *line, path, test: false });
            at + 1
        }
        Some((_, Token::Mark('{'))) => {
            let mut next = at + 1;
            while !matches!(tokens.get(next), None | Some((_, Token::Mark('}')))) {
                next = match tokens.get(next) {
                    Some((_, Token::Mark(','))) => next + 1,
                    _ => collect(tokens, next, prefix, found).max(next + 1),
                };
            }
            next + 1
        }
        Some((line, _)) => {
            // A glob, or the generics of an expression: the prefix is what is used.
            found.push(Import { line: *line, path: prefix.to_vec(), test: false });
            at + 1
        }
        None => at,
    }
}

/// Names that the crate's root exports, and the module each comes from.
fn re_exports(lib: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for statement in lib.split("pub use ").skip(1) {
        let statement = statement.split(';').next().unwrap_or_default();
        let Some((module, names)) = statement.split_once("::") else { continue };
        for name in names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|n| !n.is_empty()) {
            exports.insert(name.to_owned(), module.to_owned());
        }
    }
    exports
}

/// Why an import is not allowed, if it is not.
fn violation(module: &[String], import: &Import, exports: &BTreeMap<String, String>) -> Option<String> {
    let (own, path) = (&module[0], &import.path);
    let target = path.first()?;
    if layer(target).is_none()
        && let Some(home) = exports.get(target)
    {
        return Some(format!("imports {target} through the root; write {home}::{target}"));
    }
    let Some(theirs) = layer(target) else {
        return Some(format!("names {target}, which is in no layer: add it to the table of this test"));
    };
    let Some(ours) = layer(own) else {
        return Some(format!("is in module {own}, which is in no layer: add it to the table of this test"));
    };
    if import.test && target == "params" {
        // Unit tests of any layer may take their numbers from a named set.
        return None;
    }
    if own != target {
        return (theirs >= ours)
            .then(|| format!("is in layer {ours} ({own}) and imports layer {theirs} ({target})"));
    }
    let (_, shared) = SEPARATE.iter().find(|(name, _)| name == own)?;
    let (ours, theirs) = (module.get(1)?, path.get(1)?);
    // Names of sub-modules are in lower case; anything else is a name of the module itself.
    let is_module = theirs.chars().all(|c| c.is_lowercase() || c.is_numeric() || c == '_');
    let allowed = ours == theirs
        || !is_module
        || shared.contains(&theirs.as_str())
        || MADE_OF_THE_OTHERS.contains(&(own.as_str(), ours.as_str()));
    (!allowed).then(|| format!("is in {own}/{ours} and imports {own}/{theirs}, which it must not know"))
}

#[test]
fn every_import_leads_downward() {
    let lib = fs::read_to_string(root().join("core/src/lib.rs")).expect("the core's root");
    let exports = re_exports(&lib);
    let mut violations = Vec::new();
    let mut seen = 0;
    for file in files("core/src", &["rs"]) {
        let module = module_of(&file.path);
        for import in imports(&file.text, "crate", &module) {
            seen += 1;
            if let Some(why) = violation(&module, &import, &exports) {
                violations.push(format!("{}:{} {why}", file.path, import.line));
            }
        }
    }
    assert!(seen > 50, "only {seen} imports found: the test reads the wrong files");
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

/// Public sub-modules from which a module re-exports names: strangers to each other would meet in those names.
fn re_exported_strangers(module: &str, shared: &[&str], text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let words = |at: usize, wanted: &[&str]| {
        wanted.iter().zip(&tokens[at..]).all(|(word, (_, t))| matches!(t, Token::Word(w) if w == word))
    };
    let after = |start: &[&str]| -> Vec<String> {
        let starts = (0..tokens.len().saturating_sub(start.len())).filter(|&at| words(at, start));
        starts
            .filter_map(|at| match &tokens[at + start.len()].1 {
                Token::Word(name) => Some(name.clone()),
                _ => None,
            })
            .collect()
    };
    let strangers: BTreeSet<String> =
        after(&["pub", "mod"]).into_iter().filter(|name| !shared.contains(&name.as_str())).collect();
    let used = after(&["use"]);
    used.into_iter().filter(|name| strangers.contains(name)).map(|name| format!("{module}::{name}")).collect()
}

#[test]
fn strangers_do_not_meet_in_the_module_above_them() {
    for (module, shared) in SEPARATE {
        let text = fs::read_to_string(root().join(format!("core/src/{module}/mod.rs"))).expect("a module");
        let found = re_exported_strangers(module, shared, &text);
        assert!(found.is_empty(), "core/src/{module}/mod.rs imports from {}", found.join(", "));
    }
    let found = |text| re_exported_strangers("m", &["method"], text);
    assert_eq!(found("pub mod a; mod b; pub mod method; pub use b::X; pub use method::Y;"), [""; 0]);
    assert_eq!(found("pub mod a; mod b; pub use a::X; use b::Y;"), ["m::a"]);
}

#[test]
fn the_test_sees_what_it_forbids() {
    let exports =
        BTreeMap::from([("Error".to_owned(), "error".to_owned()), ("Ct".to_owned(), "schemes".to_owned())]);
    let verdicts = |path: &str, text: &str| -> Vec<bool> {
        let module = module_of(path);
        imports(text, "crate", &module).iter().map(|i| violation(&module, i, &exports).is_some()).collect()
    };
    let ring = |text| verdicts("core/src/ring/poly.rs", text);
    assert_eq!(
        ring("use crate::arith::{Modulus, ntt::{self, NttTable}}; use crate::error::Error;"),
        [false; 4]
    );
    assert_eq!(ring("use crate::{rlwe, error::Error};"), [true, false]);
    assert_eq!(ring("fn f() -> crate::schemes::ckks::Ciphertext {}"), [true]);
    assert_eq!(ring("use crate::Error; use super::super::{Ct, error::Error};"), [true, true, false]);
    assert_eq!(ring("use super::basis::Basis;"), [false]);
    assert_eq!(ring("use super::super::rlwe::x;"), [true]);
    assert_eq!(ring("mod tests { use super::super::basis::x; } use super::super::rlwe::x;"), [false, true]);
    assert_eq!(ring("mod tests { use super::super::super::rlwe::x; }"), [true]);
    assert_eq!(ring("// use crate::rlwe\nlet x = \"crate::rlwe::x\";"), Vec::<bool>::new());
    assert_eq!(ring("use crate::unheard_of::x;"), [true]);
    assert_eq!(ring("use crate::trace::*;"), [false]);
    assert_eq!(
        ring("mod tests { use crate::params::ship_preset; use crate::rlwe::x; } use crate::params::x;"),
        [false, true, true]
    );
    let ship = |text| verdicts("core/src/bootstrapping/ckks_ship/keys.rs", text);
    assert_eq!(
        ship("use crate::bootstrapping::{method::Method, ckks_ship::x, ckks_msb::y};"),
        [false, false, true]
    );
    assert_eq!(ship("use crate::wire::frame; use crate::params::x;"), [true, true]);
    assert_eq!(
        ship(
            "use crate::bootstrapping::{overflow, switching_keys::x, ckks_conventional::y}; use super::super::cggi::z;"
        ),
        [false, false, true, true]
    );
    // What methods share knows none of them.
    let shared = |text| verdicts("core/src/bootstrapping/switching_keys.rs", text);
    assert_eq!(
        shared("use super::{wire_sizes::x, ckks_conventional::y}; use crate::rlwe::z;"),
        [false, true, false]
    );
    assert_eq!(verdicts("core/src/params/mod.rs", "use crate::wire::x;"), [true]);
    assert_eq!(
        verdicts("core/src/random/mod.rs", "use crate::security::x; use crate::error::x;"),
        [true, false]
    );
}

/// The storeys of `arith`, from the ground: numbers and instructions, texts of kernels, and what joins them.
fn storey(module: &[String]) -> u32 {
    match module.get(1).map(String::as_str) {
        Some("backends" | "self_check") => 2,
        Some("kernels") => 1,
        _ => 0,
    }
}

/// The vectors that the texts of kernels may name: any, and plain words.
const ANY_VECTOR: [&str; 4] = ["lanes", "prefetch", "scalar", "vector"];

/// Imports that a file of `arith` must not have: from a storey above its own, of all of `arith` at once or, in the text of a kernel,
/// of an instruction set.
fn climbs(module: &[String], text: &str, exports: &BTreeMap<String, String>) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let named = imports(text, "crate", module).into_iter().filter(|import| !import.test);
    named
        .filter(|import| import.path.first().is_some_and(|top| top == "arith"))
        .filter(|Import { line, path, .. }| {
            let Some(name) = path.get(1).filter(|name| *name != "self") else {
                // A path that ends here is a glob, or says who may see something.
                let all = path.len() > 1 || lines.get(line - 1).is_some_and(|line| line.contains('*'));
                return all && storey(module) < 2;
            };
            let home = exports.get(name).unwrap_or(name).clone();
            let set = home == "simd" && !path.get(2).is_some_and(|part| ANY_VECTOR.contains(&part.as_str()));
            storey(&["arith".to_owned(), home]) > storey(module) || (set && storey(module) == 1)
        })
        .map(|import| format!("core/src/{} imports {}", module.join("/"), import.path.join("::")))
        .collect()
}

#[test]
fn the_storeys_of_arithmetic_lead_downward() {
    let above = fs::read_to_string(root().join("core/src/arith/mod.rs")).expect("the module of arithmetic");
    let exports = re_exports(&above);
    let found: Vec<String> = files("core/src/arith", &["rs"])
        .iter()
        .map(|file| (module_of(&file.path), &file.text))
        .filter(|(module, _)| module.len() > 1)
        .flat_map(|(module, text)| climbs(&module, text, &exports))
        .collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
    let kernel = "core/src/arith/kernels/ntt.rs";
    let text = fs::read_to_string(root().join(kernel)).expect("the text of a kernel");
    assert!(imports(&text, "crate", &module_of(kernel)).len() > 4, "the test reads no imports");

    let found = |path: &str, text: &str| climbs(&module_of(path), text, &exports).len();
    assert_eq!(found("core/src/arith/simd/a.rs", "use crate::arith::{Shoup, kernels::ntt, Kernels};"), 2);
    assert_eq!(
        found("core/src/arith/kernels/a.rs", "use crate::arith::{Word, MachineWord, simd::vector::Vector};"),
        1
    );
    assert_eq!(
        found(
            "core/src/arith/kernels/a.rs",
            "use crate::arith::simd::{scalar::Scalar, avx512::Lanes, ifma};"
        ),
        2
    );
    assert_eq!(found("core/src/arith/kernels/a.rs", "use crate::arith::*; use crate::arith::{self};"), 2);
    assert_eq!(
        found("core/src/arith/ntt.rs", "use super::backends::gates::X; use super::primes::is_prime;"),
        1
    );
    assert_eq!(
        found(
            "core/src/arith/backends/a.rs",
            "use crate::arith::{kernels::ntt, simd::lanes}; use super::b::C;"
        ),
        0
    );
}

#[test]
fn wasm_and_server_use_the_public_surface() {
    let mut violations = Vec::new();
    let mut seen = 0;
    for folder in ["wasm", "server"] {
        for file in files(folder, &["rs"]) {
            for Import { line, path, .. } in imports(&file.text, "refloat", &[]) {
                seen += 1;
                if path.first().is_some_and(|module| module == "arith" || module == "ring") {
                    violations.push(format!("{}:{line} names refloat::{}", file.path, path.join("::")));
                }
            }
        }
    }
    assert!(seen > 5, "only {seen} imports found: the test reads the wrong files");
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

#[test]
fn unsafe_code_stays_in_its_places() {
    let mut violations = Vec::new();
    for file in files("", &["rs"]) {
        // The allocator is set up, and asked to give memory back, in `memory.rs`; what C passes is checked in `ffi`.
        let allowed = [
            "core/src/arith/simd/",
            "core/src/arith/backends/",
            "server/src/memory.rs",
            "wasm/cabi/src/ffi/",
        ];
        if allowed.iter().any(|place| file.path.starts_with(place)) {
            continue;
        }
        for (line, token) in tokens(&file.text) {
            if token == Token::Word("unsafe".into()) {
                violations.push(format!("{}:{line}", file.path));
            }
        }
    }
    assert!(
        violations.is_empty(),
        "unsafe outside core/src/arith/{{simd,backends}}, server/src/memory.rs and wasm/cabi/src/ffi:\n{}\n",
        violations.join("\n")
    );
}

#[test]
fn the_top_level_is_the_agreed_one() {
    let agreed = [
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "core",
        "demo",
        "package-lock.json",
        "package.json",
        "rust-toolchain.toml",
        "server",
        "tests",
        "ts",
        "wasm",
    ];
    let generated = ["target", "node_modules"];
    let found: BTreeSet<String> = fs::read_dir(root())
        .expect("the repository")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.') && !generated.contains(&name.as_str()))
        .collect();
    let agreed: BTreeSet<String> = agreed.map(str::to_owned).into();
    let (extra, missing): (Vec<_>, Vec<_>) =
        (found.difference(&agreed).collect(), agreed.difference(&found).collect());
    assert!(extra.is_empty() && missing.is_empty(), "not agreed: {extra:?}; missing: {missing:?}");
}
