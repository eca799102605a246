//! The headers agree with the library: names, order, types and names of arguments, codes.

use std::collections::BTreeMap;

use refloat_tests::source::{Token, files, tokens};

/// A function: its result type, and its arguments with their types.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    result: String,
    arguments: Vec<(String, String)>,
}

/// The functions in the `export!` of a file of the crate, by name.
fn exported(text: &str) -> BTreeMap<String, Function> {
    let tokens: Vec<Token> = tokens(text).into_iter().map(|(_, token)| token).collect();
    let word = |at: usize| match tokens.get(at) {
        Some(Token::Word(word)) => Some(word.as_str()),
        _ => None,
    };
    let mut found = BTreeMap::new();
    for at in 0..tokens.len() {
        let (Some("fn"), Some(name)) = (word(at), word(at + 1)) else { continue };
        if !name.starts_with("rf_") {
            continue;
        }
        let (mut arguments, mut next) = (Vec::new(), at + 3);
        while let Some(argument) = word(next) {
            let (rust, end) = type_at(&tokens, next + 2);
            arguments.push((c_type(&rust), argument.to_owned()));
            next = end + usize::from(tokens[end] == Token::Mark(','));
        }
        // After the bracket comes an arrow, which is two marks, or the body.
        let result = match tokens[next + 1] {
            Token::Mark('-') => c_type(&type_at(&tokens, next + 3).0),
            _ => "rf_status".to_owned(),
        };
        let twice = found.insert(name.to_owned(), Function { result, arguments });
        assert!(twice.is_none(), "{name} is there twice");
    }
    found
}

/// The text of a file of the crate, with the functions that `export_secret!("method", …)`, `export_owner!`, which calls it, and
/// `export_evaluator!` make in it.
fn expanded(text: &str, templates: &str) -> String {
    let mut whole = text.to_owned();
    for (name, caller) in [
        ("export_secret", "export_secret"),
        ("export_secret", "export_owner"),
        ("export_owner", "export_owner"),
        ("export_evaluator", "export_evaluator"),
    ] {
        let Some((_, call)) = text.split_once(&format!("{caller}!(\"")) else { continue };
        let method = call.split('"').next().expect("a method");
        let (_, template) = templates.split_once(&format!("macro_rules! {name}")).expect("the macro");
        let (template, _) = template.split_once("macro_rules!").unwrap_or((template, ""));
        let (_, functions) = template.split_once("export! { $method:").expect("functions");
        let object: String = method.split('_').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        whole += &functions.replace("fn ", &format!("fn rf_{method}_"));
        for kind in ["Secret", "PublicKey", "Keys", "Ciphertext"] {
            whole = whole.replace(&format!("{kind}<$params>"), &format!("{object}{kind}"));
        }
    }
    whole
}

/// The type that begins at a token, and where the type ends: at a comma, a bracket or a brace outside `<>`.
fn type_at(tokens: &[Token], from: usize) -> (String, usize) {
    let (mut text, mut depth, mut at) = (String::new(), 0, from);
    loop {
        match &tokens[at] {
            Token::Mark(',' | ')' | '{') if depth == 0 => return (text, at),
            Token::Mark(mark) => {
                depth += i32::from(*mark == '<') - i32::from(*mark == '>');
                text.push(*mark);
            }
            Token::Path => text.push_str("::"),
            Token::Word(word) => {
                text.push_str(word);
                if word == "const" {
                    text.push(' ');
                }
            }
        }
        at += 1;
    }
}

/// The C type for a type of the crate.
fn c_type(rust: &str) -> String {
    let inside = |open: &str| rust.strip_prefix(open).and_then(|rest| rest.strip_suffix('>'));
    if let Some(object) = inside("In<") {
        return format!("const {}*", c_object(object));
    }
    if let Some(object) = inside("Out<") {
        return format!("{}**", c_object(object));
    }
    if let Some(object) = inside("Own<") {
        return format!("{}*", c_object(object));
    }
    if let Some(item) = inside("Array<") {
        return format!("const {}*", c_type(item));
    }
    if let Some(item) = inside("Room<").or_else(|| inside("Place<")) {
        return format!("{}*", c_type(item));
    }
    match rust {
        "Text" | "*const c_char" => "const char*",
        "SeedBytes" => "const uint8_t*",
        "Progress" => "rf_progress",
        "PartReader" => "rf_part_reader",
        "User" => "void*",
        "Void" => "void",
        "Status" => "rf_status",
        "usize" => "size_t",
        "u8" => "uint8_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "i32" => "int32_t",
        "f64" => "double",
        "c_char" => "char",
        "Flag" => "bool",
        other => panic!("what is {other} in C? Add a line to this test"),
    }
    .to_owned()
}

/// `ShipSecret` is `rf_ship_secret`.
fn c_object(rust: &str) -> String {
    rust.chars().fold("rf".to_owned(), |text, letter| {
        let word = if letter.is_ascii_uppercase() { "_" } else { "" };
        format!("{text}{word}{}", letter.to_ascii_lowercase())
    })
}

/// A header without comments and preprocessor lines.
fn declarations(text: &str) -> String {
    let mut rest = text;
    let mut code = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").expect("a comment ends").1;
    }
    code.push_str(rest);
    code.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ")
}

/// The functions that a header declares, by name.
fn declared(text: &str) -> BTreeMap<String, Function> {
    let spaced = |text: &str| text.replace('*', " * ").split_whitespace().collect::<Vec<_>>().join(" ");
    // Splits off the name, which is the last word, from the type.
    let split = |text: &str| {
        let text = spaced(text);
        let (of, name) = text.rsplit_once(' ').expect("a type and a name");
        (of.replace(" *", "*"), name.to_owned())
    };
    let mut found = BTreeMap::new();
    for statement in declarations(text).split(';') {
        let statement = statement.rsplit('{').next().unwrap_or_default();
        let Some((head, arguments)) = statement.split_once('(') else { continue };
        if statement.contains("typedef") {
            continue;
        }
        let (result, name) = split(head);
        let arguments = arguments.trim().trim_end_matches(')');
        let arguments =
            if arguments == "void" { Vec::new() } else { arguments.split(',').map(split).collect() };
        let twice = found.insert(name, Function { result, arguments });
        assert!(twice.is_none(), "a function is declared twice");
    }
    found
}

/// The header of each file that exports functions.
const HEADERS: [(&str, &str); 8] = [
    ("about.rs", "base.h"),
    ("bgv.rs", "bgv.h"),
    ("conventional.rs", "conventional.h"),
    ("digit_link.rs", "digit_link.h"),
    ("gates.rs", "gates.h"),
    ("link.rs", "link.h"),
    ("msb.rs", "msb.h"),
    ("ship.rs", "ship.h"),
];

fn read(folder: &str, extension: &str) -> BTreeMap<String, String> {
    let below = |path: &str| path.strip_prefix(&format!("{folder}/")).unwrap_or(path).to_owned();
    files(folder, &[extension]).into_iter().map(|file| (below(&file.path), file.text)).collect()
}

#[test]
fn every_function_is_declared_as_it_is() {
    let (sources, headers) = (read("wasm/cabi/src", "rs"), read("wasm/cabi/include/refloat", "h"));
    let mut seen = 0;
    for (source, text) in &sources {
        let functions = exported(&expanded(text, &sources["exports.rs"]));
        let Some((_, header)) = HEADERS.iter().find(|(file, _)| file == source) else {
            assert!(functions.is_empty(), "{source} exports functions: name its header in this test");
            continue;
        };
        let declarations = declared(&headers[*header]);
        for (ours, theirs) in functions.iter().zip(&declarations) {
            assert_eq!(ours, theirs, "{source} and {header}");
        }
        assert_eq!(functions.len(), declarations.len(), "{source} and {header}");
        seen += functions.len();
    }
    assert!(seen > 150, "only {seen} functions: the test reads the wrong files");
    let include =
        files("wasm/cabi/include", &["h"]).into_iter().find(|file| file.path.ends_with("include/refloat.h"));
    let include = include.expect("the header").text;
    for header in headers.keys() {
        assert!(
            include.contains(&format!("#include \"refloat/{header}\"")),
            "refloat.h does not include {header}"
        );
    }
}

/// The type in `ffi/callbacks.rs` for the C type of an argument or result of a function that callers pass.
fn rust_type(c: &str) -> &'static str {
    match c {
        "void*" => "User",
        "const char*" => "*const c_char",
        "const uint8_t**" => "*mut *const u8",
        "size_t*" => "*mut usize",
        "size_t" => "usize",
        "uint64_t" => "u64",
        "bool" => "Flag",
        other => panic!("what is {other} in Rust? Add a line to this test"),
    }
}

#[test]
fn functions_of_the_caller_are_called_as_they_are_declared() {
    let header = declarations(&read("wasm/cabi/include/refloat", "h")["base.h"]);
    let rust = &read("wasm/cabi/src", "rs")["ffi/callbacks.rs"];
    for (name, wrapper) in [("rf_progress", "Progress"), ("rf_part_reader", "PartReader")] {
        let (before, after) = header.split_once(&format!("(*{name})(")).expect("a typedef");
        let (arguments, _) = after.split_once(')').expect("arguments");
        let of = |argument: &str| {
            let spaced = argument.replace('*', " * ");
            let words: Vec<&str> = spaced.split_whitespace().collect();
            let (_, kind) = words.split_last().expect("a name behind a type");
            rust_type(&kind.join(" ").replace(" *", "*"))
        };
        let arguments: Vec<&str> = arguments.split(',').map(of).collect();
        let result = rust_type(before.split_whitespace().next_back().expect("a result"));
        let wanted =
            format!("struct {wrapper}(Option<extern \"C\" fn({}) -> {result}>);", arguments.join(", "));
        assert!(rust.contains(&wanted), "callbacks.rs has no {wanted}");
    }
}

#[test]
fn every_code_is_in_the_header() {
    let header = &read("wasm/cabi/include/refloat", "h")["base.h"];
    let core = files("core/src", &["rs"]).into_iter().find(|file| file.path == "core/src/error.rs");
    let core = core.expect("the core's errors").text;
    let (_, codes) = core.split_once("pub fn code(").expect("codes");
    let codes: Vec<&str> = codes.split("=> \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(codes.len() >= 9, "{codes:?}");
    let sources = read("wasm/cabi/src", "rs");
    for code in codes {
        let after = header.split(&format!("#define RF_{code} ")).nth(1);
        let number = after.and_then(|rest| rest.split(' ').next());
        let number = number.unwrap_or_else(|| panic!("RF_{code} is not in the header"));
        // Defined by its number, or by a constant with that number.
        let status = &sources["status.rs"];
        let is_named = status.contains(&format!("({code}, c\"{code}\")"))
            && status.contains(&format!("const {code}: i32 = {number};"));
        let ours = format!("({number}, c\"{code}\")");
        assert!(is_named || status.contains(&ours), "{code} is not {number} in status.rs");
    }
}

#[test]
fn the_test_reads_both_languages() {
    let rust = "export! { fn rf_a(x: In<ShipSecret>, n: usize, out: Out<ShipKeys>) { x } fn rf_b() -> *const c_char { y }
        fn other(x: u8) {} fn rf_c(x: Own<ShipKeys>) -> Void {} fn rf_d(out: Room<f64>, at: Place<usize>,) {} }";
    let c =
        "/* rf_status rf_z(int x); */\n#define X(y) z\ntypedef bool (*rf_f)(void *user);\nextern \"C\" {\n
        rf_status rf_a(const rf_ship_secret *x, size_t n,\n rf_ship_keys **out); const char *rf_b(void);
        void rf_c(rf_ship_keys *x); rf_status rf_d(double *out, size_t *at);\n#ifdef x\n}";
    assert_eq!(exported(rust), declared(c));
    assert_eq!(exported(rust).len(), 4);
    assert_ne!(exported(rust), declared(&c.replace("size_t n", "size_t m")));
    assert_ne!(exported(rust), declared(&c.replace("const rf_ship_secret", "rf_ship_secret")));
}
