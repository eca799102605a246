//! Settings explain themselves, and say the same everywhere.

use refloat_server::{Config, settings};
use toml::Table;

#[test]
fn every_setting_is_explained() {
    let values = Table::try_from(Config::default()).unwrap();
    let sections = settings::sections().unwrap();
    let explained: Vec<&str> = sections.iter().map(|section| section.name.as_str()).collect();
    assert!(values.keys().all(|name| explained.contains(&name.as_str())), "{explained:?}");
    for section in &sections {
        assert!(section.meaning.ends_with('.'), "[{}] has no description", section.name);
        let keys: Vec<&str> = section.settings.iter().map(|setting| setting.key.as_str()).collect();
        for key in values[&section.name].as_table().unwrap().keys() {
            assert!(keys.contains(&key.as_str()), "{}.{key} is not explained", section.name);
        }
        for setting in &section.settings {
            assert!(setting.meaning.ends_with('.'), "{}.{} has no description", section.name, setting.key);
            assert!(!setting.unit.is_empty() && !setting.default.is_empty(), "{setting:?}");
        }
    }
}

#[test]
fn what_an_entry_of_a_list_takes_is_explained_too() {
    let sections = settings::sections().unwrap();
    let access = sections.iter().find(|section| section.name == "access").unwrap();
    let quota = access.settings.iter().find(|setting| setting.key == "api_keys.max_key_bytes").unwrap();
    assert_eq!((quota.unit.as_str(), quota.default.as_str()), ("bytes", "0"));
    for setting in ["name", "hash", "file", "max_queued_jobs"] {
        let key = format!("api_keys.{setting}");
        assert!(access.settings.iter().any(|setting| setting.key == key), "{key}");
    }
}

#[test]
fn the_explained_configuration_reads_back_as_itself() {
    let mut config = Config::default();
    config.limits.max_queued = 7;
    config.server.allowed_origins = vec!["https://a.example".into(), "https://\"b\".example".into()];
    let text = settings::explained(&config).unwrap();
    assert_eq!(toml::from_str::<Config>(&text).unwrap(), config, "{text}");
    assert!(text.contains("max_queued = 7") && text.contains("default: 64"), "{text}");
    assert!(
        text.contains("# Seconds without a byte after which a body is given up.\n# seconds; default: 30\n"),
        "{text}"
    );
}

#[test]
fn an_entry_of_a_list_is_made_of_the_lines_that_explain_it() {
    let text = settings::explained(&Config::default()).unwrap();
    let entry = [("# [[access.api_keys]]", "[[access.api_keys]]"), ("# name = \"\"", "name = \"a\"")];
    let text = entry.iter().fold(text, |text, (comment, line)| {
        assert_eq!(text.matches(comment).count(), 1, "{comment} in {text}");
        text.replace(comment, line)
    });
    assert_eq!(toml::from_str::<Config>(&text).unwrap().access.api_keys[0].name, "a");
}

#[test]
fn the_readme_has_the_same_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let recorded = std::fs::read_to_string(path).unwrap();
    let (before, rest) = recorded.split_once("<!-- settings -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of settings -->\n").unwrap();
    let table = settings::markdown().unwrap();
    let current = format!("{before}<!-- settings -->\n{table}<!-- end of settings -->\n{after}");
    if std::env::var_os("REFLOAT_WRITE_SETTINGS").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    assert!(
        std::fs::read_to_string(path).unwrap() == current,
        "the settings have changed; if that is meant, run this test with REFLOAT_WRITE_SETTINGS=1"
    );
}

/// Loads the blocks marked `toml`, after filling in what they leave open.
#[test]
fn settings_that_documents_show_are_taken() {
    for document in ["README.md", "../ts/RECIPES.md"] {
        let text = std::fs::read_to_string(format!("{}/{document}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let text = text.replace('…', &"0".repeat(64));
        let blocks: Vec<&str> =
            text.split("\n```toml\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
        assert!(!blocks.is_empty(), "{document} shows no settings");
        for block in blocks {
            let config: Config = toml::from_str(block).unwrap_or_else(|error| panic!("{document}: {error}"));
            config.check().unwrap_or_else(|error| panic!("{document}: {error}"));
            assert!(config != Config::default(), "{document}: {block} sets nothing");
        }
    }
}

#[test]
fn proxies_pass_on_what_the_server_takes() {
    let engines = refloat_server::engines::Engines::new(1 << 30).unwrap();
    let largest = engines.infos().flat_map(|set| {
        let body = engines.named(&set.name).unwrap().largest_input();
        set.key_parts.iter().map(|part| part.bytes).chain([body])
    });
    let largest = largest.max();
    for (file, setting, unit, bytes) in
        [("Caddyfile", "max_size ", "MB", 1_000_000), ("nginx.conf", "client_max_body_size ", "m;", 1 << 20)]
    {
        let text = std::fs::read_to_string(format!("{}/deploy/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let value =
            text.lines().find_map(|line| line.trim().strip_prefix(setting)?.strip_suffix(unit)).unwrap();
        assert!(value.parse::<usize>().unwrap() * bytes >= largest.unwrap(), "{file}: {value}, {largest:?}");
    }
}
