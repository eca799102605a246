//! Checks that every command shown in the documents parses, with its options; none is run.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::Cli;

/// Documents and files of configuration with commands, from the top of the repository.
const DOCUMENTS: [&str; 21] = [
    "README.md",
    "CONTRIBUTING.md",
    "core/README.md",
    "core/BENCHMARKS.md",
    "core/CONCEPTS.md",
    "core/METHODS.md",
    "core/SECURITY.md",
    "core/SETS.md",
    "core/benches/compare-gates/README.md",
    "demo/README.md",
    "server/README.md",
    "server/deploy/Caddyfile",
    "server/deploy/README.md",
    "server/deploy/nats.conf",
    "server/deploy/nginx.conf",
    "server/deploy/refloat-worker.service",
    "server/deploy/refloat.service",
    "server/npm/README.md",
    "ts/README.md",
    "ts/RECIPES.md",
    "wasm/cabi/README.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The words of a command as a shell would split them, up to a comment, a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(end), _) if c == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '|' | '>' | '<' | ';' | '&') => break,
            (None, '#') if word.is_none() && at > 0 => break,
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The arguments of a `refloat` command, the name of the program first; `None` for other commands. It may be run through npm as well.
fn arguments(line: &str) -> Option<Vec<String>> {
    let words = words(line);
    let settings = words.iter().take_while(|word| word.contains('=') && word.starts_with(char::is_uppercase));
    let words = &words[settings.count()..];
    let (begin, rest): (&[&str], _) = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["npx", "-p", "refloat-server", "refloat", ..] => (&["refloat"], &words[4..]),
        ["npx", "refloat-server", ..] => (&["refloat", "serve"], &words[2..]),
        ["refloat", ..] => (&["refloat"], &words[1..]),
        [program, ..] if program.starts_with('/') && program.ends_with("/refloat") => {
            (&["refloat"], &words[1..])
        }
        _ => return None,
    };
    Some(begin.iter().map(|&word| word.to_owned()).chain(rest.iter().cloned()).collect())
}

/// What is wrong with a command, if anything. Text within a sentence may be incomplete.
fn fault(arguments: &[String], whole: bool) -> Option<String> {
    use ErrorKind::{DisplayHelp, DisplayVersion, InvalidSubcommand, UnknownArgument};
    let error = Cli::command().try_get_matches_from(arguments).err()?;
    let allowed = match error.kind() {
        DisplayHelp | DisplayVersion => true,
        // COMMAND stands for any.
        InvalidSubcommand => !whole && arguments[1].chars().all(char::is_uppercase),
        UnknownArgument => false,
        _ => !whole,
    };
    (!allowed).then(|| error.to_string())
}

/// Commands of a document, each with whether it is whole: those in code blocks and configuration are, those in sentences need not be.
fn commands(name: &str, text: &str) -> Vec<(Vec<String>, bool)> {
    let document = Path::new(name).extension().is_some_and(|extension| extension == "md");
    let mut found = Vec::new();
    let (mut block, mut prose) = (!document, String::new());
    for line in text.replace("\\\n", " ").lines() {
        if document && line.trim_start().starts_with("```") {
            block = !block;
        } else if block || line.starts_with("    ") {
            let line = line.trim_start_matches([' ', '#']);
            let line = line.strip_prefix("ExecStart=").unwrap_or(line);
            found.extend(arguments(line).map(|arguments| (arguments, true)));
        } else {
            prose.push_str(line.trim());
            prose.push(' ');
        }
    }
    let quoted = prose.split('`').skip(1).step_by(2);
    found.extend(quoted.filter_map(|code| Some((arguments(code)?, false))));
    found
}

#[test]
fn documented_commands_exist() {
    let (mut faults, mut count) = (Vec::new(), 0);
    for name in DOCUMENTS {
        for (arguments, whole) in commands(name, &read(name)) {
            count += 1;
            let wrong = fault(&arguments, whole);
            faults.extend(wrong.map(|wrong| format!("{name}: {}\n{wrong}", arguments.join(" "))));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 150, "only {count} commands were found");
}

#[test]
fn options_that_override_settings_are_listed() {
    let readme = read("server/README.md");
    let paragraph =
        readme.split("\n\n").find(|text| text.starts_with("The options of `refloat serve`")).unwrap();
    let command = Cli::command();
    let serve = command.find_subcommand("serve").unwrap();
    // Options that all commands have, and those that print something instead of serving.
    let others = ["json", "config", "print-config", "hash-api-key"];
    for option in serve.get_arguments().filter_map(|argument| argument.get_long()) {
        let listed = paragraph.contains(&format!("`--{option}`"));
        assert!(listed != others.contains(&option), "--{option}");
    }
}

#[test]
fn commands_are_read_as_a_shell_reads_them() {
    let line = "A=1 refloat decrypt --key keys --in a.ct --out '-' --count 3   # 6, 7";
    let read = arguments(line).unwrap();
    assert_eq!(read[..2], ["refloat", "decrypt"]);
    assert_eq!(read[6..], ["--out", "-", "--count", "3"]);
    assert_eq!(fault(&read, true), None);
    assert_eq!(arguments("cargo run refloat serve"), None);
    let unknown = arguments("refloat serve --such-an-option").unwrap();
    assert!(fault(&unknown, true).is_some() && fault(&unknown, false).is_some());
    let part = arguments("refloat bootstrap --rounds 2").unwrap();
    assert!(fault(&part, true).is_some() && fault(&part, false).is_none());
}

/// The lists of words that follow `key: ` or `KEY ` on lines of a file.
fn list_after<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = Vec<String>> + 'a {
    let lines = text.lines().filter_map(move |line| line.trim().strip_prefix(key)?.strip_prefix('['));
    lines.map(|rest| serde_json::from_str(&format!("[{rest}")).unwrap())
}

#[test]
fn containers_run_commands_that_exist() {
    let image = read("server/deploy/Containerfile");
    let entry = list_after(&image, "ENTRYPOINT ").next().unwrap();
    assert!(entry[0].ends_with("/refloat"), "{entry:?}");
    let compose = read("server/deploy/cluster.yaml");
    let commands: Vec<Vec<String>> = list_after(&compose, "command: ").collect();
    let roles: Vec<&Vec<String>> = commands.iter().filter(|words| words[0] == "--role").collect();
    assert_eq!((commands.len(), roles.len()), (3, 2), "nats, a front and a worker: {commands:?}");
    for role in roles {
        let arguments: Vec<String> = entry.iter().chain(role).cloned().collect();
        assert_eq!(fault(&arguments, true), None, "{}", arguments.join(" "));
    }
}

#[test]
fn settings_in_the_environment_exist() {
    let known = crate::settings::sections().unwrap();
    let mut count = 0;
    for name in DOCUMENTS.into_iter().chain(["server/deploy/cluster.yaml", "server/deploy/Containerfile"]) {
        let text = read(name);
        for variable in text.split("REFLOAT__").skip(1) {
            let length =
                variable.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(variable.len());
            let variable = variable[..length].to_lowercase();
            let (section, key) = variable.split_once("__").unwrap();
            // A placeholder for the form of all settings.
            if (section, key) == ("section", "key") {
                continue;
            }
            count += 1;
            let exists = known
                .iter()
                .any(|one| one.name == section && one.settings.iter().any(|setting| setting.key == key));
            assert!(exists, "{name}: REFLOAT__{}", variable.to_uppercase());
        }
    }
    assert!(count >= 8, "only {count} settings were found");
}
