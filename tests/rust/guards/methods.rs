//! Who may name a bootstrapping method: its folder, the lists there are of methods, and measurements.

use std::collections::BTreeSet;
use std::fs;

use refloat_tests::source::{
    SourceFile, Token, files, root, tokens, without_tests, words_of, words_of_typescript,
};

/// Methods by the word that stands for each in code, and where each is at home: folders, and single files. A new method takes a
/// new line here, and no other file names it but those below.
const METHODS: [(&str, &[&str]); 6] = [
    (
        "ship",
        &[
            "core/src/bootstrapping/ckks_ship/",
            "core/src/wire/objects/ship.rs",
            "server/src/ship.rs",
            "wasm/cabi/src/ship.rs",
            "wasm/src/ship/",
        ],
    ),
    (
        "conventional",
        &[
            "core/src/bootstrapping/ckks_conventional/",
            // Sets of another library, which bootstraps in this way.
            "core/src/params/seal.rs",
            "server/src/cli/bench_conventional.rs",
            "server/src/cli/conventional.rs",
            "server/src/cli/peer/",
            "server/src/conventional.rs",
            "server/src/streamed.rs",
            "wasm/cabi/src/conventional.rs",
            "wasm/src/conventional/",
        ],
    ),
    (
        "msb",
        &[
            "core/src/bootstrapping/ckks_msb/",
            "server/src/msb.rs",
            "ts/src/digits/",
            "wasm/cabi/src/msb.rs",
            "wasm/src/digits/",
        ],
    ),
    (
        "bgv",
        &[
            "core/src/bootstrapping/bgv/",
            "core/src/schemes/bgv/",
            // Maps of its slots.
            "core/src/circuits/linear_transform/hypercube.rs",
            "core/src/circuits/linear_transform/integer_transform.rs",
            // Programs on them.
            "core/src/circuits/program/integer_program/",
            "core/src/wire/objects/bgv.rs",
            "server/src/bgv.rs",
            "wasm/src/integers/",
            "ts/src/integers/",
            "wasm/cabi/src/bgv.rs",
        ],
    ),
    (
        "cggi",
        &[
            "core/src/bootstrapping/cggi/",
            "core/src/params/cggi_peers.rs",
            "core/src/schemes/cggi/",
            "core/src/wire/objects/cggi.rs",
            "server/src/cli/bits.rs",
            "server/src/cli/circuit.rs",
            "server/src/cli/gate_times.rs",
            "server/src/cli/look_up.rs",
            "server/src/gates.rs",
            "server/src/look_ups.rs",
            "ts/src/gates/",
            "wasm/cabi/src/gates.rs",
            "wasm/src/gates/",
        ],
    ),
    // Its types begin with a word that key switching has too: files are found by the path of the module.
    (
        "scheme_switching",
        &[
            "core/src/bootstrapping/scheme_switching/",
            "core/src/wire/objects/scheme_switching.rs",
            "server/src/scheme_switching.rs",
            "ts/src/link/",
            "wasm/cabi/src/digit_link.rs",
            "wasm/cabi/src/link.rs",
            "wasm/src/link/",
        ],
    ),
];

/// What is made of several methods, and of which ones.
const MADE_OF: [(&str, &[&str]); 4] = [
    ("core/src/bootstrapping/scheme_switching/", &["cggi", "conventional", "msb"]),
    ("core/src/wire/objects/scheme_switching.rs", &["cggi"]),
    ("wasm/cabi/src/digit_link.rs", &["msb"]),
    ("wasm/src/link/", &["conventional"]),
];

/// Modules that methods share, in the core's folder of methods.
const SHARED: [&str; 2] = ["method", "raising"];

/// Lists of modules, of methods and of what they put on the wire.
const LISTS: [&str; 19] = [
    "core/src/bootstrapping/mod.rs",
    "core/src/circuits/linear_transform/mod.rs",
    "core/src/params/mod.rs",
    "core/src/schemes/mod.rs",
    "core/src/wire/header.rs",
    "core/src/wire/mod.rs",
    "core/src/wire/objects/mod.rs",
    // Which parameters and secret keys have the traits of the encodings.
    "core/src/wire/objects/key_part.rs",
    "core/src/wire/objects/sets.rs",
    "server/src/cli/mod.rs",
    "server/src/lib.rs",
    "server/src/registry.rs",
    "ts/src/direct-modules.ts",
    "ts/src/engine/glue.ts",
    "ts/src/engine/modules.ts",
    "ts/src/worker-modules.ts",
    "wasm/cabi/src/lib.rs",
    "wasm/src/lib.rs",
    // Kinds of objects that files hold.
    "server/src/cli/outfile.rs",
];

/// Measurements, each of which has rows of methods.
const MEASUREMENTS: [&str; 22] = [
    "server/src/cli/bench.rs",
    "server/src/cli/measure.rs",
    // Where published sets are measured, for a message.
    "server/src/cli/published_sets.rs",
    "server/src/cli/reproduce.rs",
    "server/src/cli/reproduce_bgv/estimates.rs",
    "server/src/cli/reproduce_bgv/measured.rs",
    "server/src/cli/reproduce_bgv/mod.rs",
    "server/src/cli/reproduce_bgv/polynomials.rs",
    "server/src/cli/reproduce_bgv/published.rs",
    "server/src/cli/reproduce_cggi.rs",
    "server/src/cli/reproduce_crossing.rs",
    "server/src/cli/reproduce_demystifying.rs",
    "server/src/cli/reproduce_modular/baseline.rs",
    "server/src/cli/reproduce_modular/bits.rs",
    "server/src/cli/reproduce_modular/mod.rs",
    "server/src/cli/reproduce_modular/rings.rs",
    "server/src/cli/reproduce_openfhe.rs",
    "server/src/cli/reproduce_seal.rs",
    "server/src/cli/reproduce_ship.rs",
    "server/src/cli/reproduce_switching.rs",
    "server/src/cli/verify.rs",
    "server/src/cli/verify_exact.rs",
];

/// Others, and the methods that each names: no more of them, and no fewer. A file comes here only with a reason.
const OTHERS: [(&str, &[&str]); 9] = [
    // The complementary error function, from the noise of gates.
    ("core/src/bootstrapping/ckks_ship/failure.rs", &["cggi"]),
    // The scheme, as a field of descriptions.
    ("core/src/bootstrapping/method/set.rs", &["bgv", "cggi"]),
    // What evaluates gates.
    ("core/src/circuits/netlist/mod.rs", &["cggi"]),
    // Keys of bits and integers.
    ("server/src/cli/decrypt.rs", &["cggi"]),
    // Encodings of integers.
    ("server/src/cli/encrypt.rs", &["cggi"]),
    // The default set of gates, for a message.
    ("server/src/cli/keygen.rs", &["cggi"]),
    // Memory of every set, and of those whose keys can be streamed.
    ("server/src/memory_plan.rs", &["conventional"]),
    // The default set, and the one module that computes the polynomial of a reduction and clamps.
    ("ts/src/api/instance.ts", &["conventional", "ship"]),
    // The sets that the client artefact does not compute with, for a message.
    ("ts/src/engine/engine.ts", &["ship"]),
];

/// First words of the files that are written from the descriptions of sets.
const GENERATED: &str = "// Written by `refloat about --types`";

/// A file as the test sees it.
struct Seen {
    path: String,
    words: BTreeSet<String>,
    /// Modules that paths go through.
    through: BTreeSet<String>,
}

/// The code of core, server, wasm and TypeScript, without tests and without what is generated.
fn code() -> Vec<Seen> {
    let mut seen = Vec::new();
    let folders = [
        ("core/src", "rs"),
        ("server/src", "rs"),
        ("wasm/cabi/src", "rs"),
        ("wasm/src", "rs"),
        ("ts/src", "ts"),
    ];
    for (folder, extension) in folders {
        for SourceFile { path, text } in files(folder, &[extension]) {
            if path.ends_with("/tests.rs") || path.contains("/tests/") || text.starts_with(GENERATED) {
                continue;
            }
            if extension == "ts" {
                seen.push(Seen { path, words: words_of_typescript(&text), through: BTreeSet::new() });
                continue;
            }
            let tokens = without_tests(tokens(&text));
            seen.push(Seen { path, words: words_of(&tokens), through: modules(&tokens) });
        }
    }
    seen
}

/// The names that `::` follows.
fn modules(tokens: &[(usize, Token)]) -> BTreeSet<String> {
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    pairs
        .filter_map(|((_, name), (_, next))| match (name, next) {
            (Token::Word(name), Token::Path) => Some(name.clone()),
            _ => None,
        })
        .collect()
}

/// Whether a file names a method: by its word, or by the path of one of its modules in the same package.
fn names(file: &Seen, method: &str, homes: &[&str]) -> bool {
    let package = |path: &str| path.split('/').next().map(str::to_owned);
    let module = |home: &str| {
        let name = home.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        name.trim_end_matches(".rs").to_owned()
    };
    let mut own = homes.iter().filter(|home| package(home) == package(&file.path));
    file.words.contains(method) || own.any(|home| file.through.contains(&module(home)))
}

#[test]
fn shared_files_name_no_method() {
    let listed: BTreeSet<&str> =
        LISTS.into_iter().chain(MEASUREMENTS).chain(OTHERS.map(|(path, _)| path)).collect();
    let files = code();
    assert!(files.len() > 300, "only {} files found: the test reads the wrong ones", files.len());
    let (mut strangers, mut naming) = (Vec::new(), BTreeSet::<(&str, &str)>::new());
    for file in &files {
        for (method, homes) in METHODS {
            if !names(file, method, homes) || homes.iter().any(|home| file.path.starts_with(home)) {
                continue;
            }
            if MADE_OF.iter().any(|(home, methods)| file.path.starts_with(home) && methods.contains(&method))
            {
                continue;
            }
            naming.insert((file.path.as_str(), method));
            let only = OTHERS.iter().find(|(path, _)| *path == file.path);
            let allowed = listed.contains(file.path.as_str())
                && only.is_none_or(|(_, methods)| methods.contains(&method));
            if !allowed {
                strangers.push(format!("{} names {method}", file.path));
            }
        }
    }
    assert!(strangers.is_empty(), "shared code names a bootstrapping method:\n{}\n", strangers.join("\n"));
    let names_one = |path: &str| naming.iter().any(|(file, _)| *file == path);
    let gone: Vec<_> = listed.iter().filter(|path| !names_one(path)).collect();
    assert!(gone.is_empty(), "these name no method any more, and the lists can do without them: {gone:?}");
    let others = OTHERS.iter().flat_map(|(path, methods)| methods.iter().map(|method| (*path, *method)));
    let unused: Vec<_> = others.filter(|pair| !naming.contains(pair)).collect();
    assert!(
        unused.is_empty(),
        "these files name these methods no more, and OTHERS can do without: {unused:?}"
    );
}

#[test]
fn methods_are_at_home_where_the_table_says() {
    let files = code();
    for (method, homes) in METHODS {
        for home in homes {
            let mut own = files.iter().filter(|file| file.path.starts_with(home));
            assert!(own.next().is_some(), "{method} has no file at {home}");
        }
    }
    let folder = "core/src/bootstrapping/";
    for file in &files {
        let Some((name, _)) = file.path.strip_prefix(folder).and_then(|rest| rest.split_once('/')) else {
            continue;
        };
        let home = format!("{folder}{name}/");
        let known = SHARED.contains(&name) || METHODS.iter().any(|(_, homes)| homes.contains(&home.as_str()));
        assert!(known, "{home} is the folder of no method in the table of this test: add it");
    }
}

/// What CONTRIBUTING quotes in its chapters on adding methods and schemes.
fn quoted_chapters() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let (begin, end) = ("**A bootstrapping method.**", "**An arithmetic backend.**");
    let (_, chapters) = text.split_once(begin).expect("the chapter about methods");
    let (chapters, _) = chapters.split_once(end).expect("the chapter after that about schemes");
    chapters.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn contributing_names_every_list_and_nothing_that_is_not_there() {
    let quoted = quoted_chapters();
    let missing: Vec<_> = LISTS
        .into_iter()
        .filter(|list| !quoted.iter().any(|name| *list == name || list.ends_with(&format!("/{name}"))))
        .collect();
    assert!(missing.is_empty(), "CONTRIBUTING does not say that these list methods: {missing:?}");

    let folders = [
        "",
        "core/src",
        "core/src/bootstrapping",
        "wasm/cabi",
        "wasm/cabi/include",
        "wasm/cabi/include/refloat",
    ];
    let is_there = |name: &str| folders.iter().any(|folder| root().join(folder).join(name).exists());
    let is_path = |name: &str| {
        !name.contains(' ')
            && (name.contains('/') || [".rs", ".h", ".hpp"].iter().any(|end| name.ends_with(end)))
    };
    // Each method has these in its folder.
    let of_a_method = ["presets.rs", "describe.rs"];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let code: BTreeSet<String> = ["core/src", "server/src", "wasm/src", "wasm/cabi"]
        .into_iter()
        .flat_map(|folder| files(folder, &["rs", "h", "hpp"]))
        .flat_map(|file| file.text.split(|c| !is_word(c)).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    for name in &quoted {
        if is_path(name) {
            assert!(
                of_a_method.contains(&name.as_str()) || is_there(name),
                "CONTRIBUTING: there is no {name}"
            );
        } else if !name.contains(' ') {
            let mut words = name.split(|c| !is_word(c)).filter(|word| !word.is_empty());
            assert!(words.all(|word| code.contains(word)), "CONTRIBUTING: nothing is called {name}");
        }
    }
    assert!(quoted.len() > 40, "only {} names found: the test reads the wrong text", quoted.len());
}

#[test]
fn the_test_sees_names() {
    for named in
        ["ckks('ship')", "const shipKeys = 1", "type ShipStageId = 1", "`a ${x.ship} b`", "f('ship13')"]
    {
        assert!(words_of_typescript(named).contains("ship"), "{named}");
    }
    for silent in ["// ship", "/* a 'ship' */ f()", "shipped()", "split(/'|\\//); // ship's"] {
        assert!(!words_of_typescript(silent).contains("ship"), "{silent}");
    }
    let seen = |path: &str, text: &str| {
        let tokens = without_tests(tokens(text));
        Seen { path: path.into(), words: words_of(&tokens), through: modules(&tokens) }
    };
    let (method, homes) = ("cggi", &["server/src/bits.rs"][..]);
    assert!(names(&seen("server/src/a.rs", "use refloat::CGGIKeys;"), method, homes));
    assert!(names(&seen("server/src/a.rs", "if super::bits::is_key() {}"), method, homes));
    assert!(!names(&seen("core/src/a.rs", "let x = bits::count();"), method, homes));
    assert!(!names(
        &seen("server/src/a.rs", "// cggi\n\"cggi\"; #[cfg(test)] mod tests { use cggi; }"),
        method,
        homes
    ));
}
