//! Where settings come from: a file, environment variables and flags, one over the other; and the error for an invalid value.

use std::net::IpAddr;

use serde::Deserialize;
use toml::{Table, Value};

use super::{Config, ConfigError, ZEROS, serves_nobody};

/// Merges `source` into `table` and checks after each setting that the result is still a configuration.
pub(super) fn overlay(table: &mut Table, source: Table, name: &str) -> Result<(), ConfigError> {
    let check = |table: &Table| Config::deserialize(table.clone()).map(drop);
    for (section, values) in source {
        let (Some(Value::Table(_)), Value::Table(values)) = (table.get(&section), &values) else {
            table.insert(section.clone(), values);
            let failed = |error: toml::de::Error| format!("{section} in {name}: {}", error.message());
            check(table).map_err(|error| ConfigError(failed(error)))?;
            continue;
        };
        for (key, value) in values {
            let Some(Value::Table(known)) = table.get_mut(&section) else { continue };
            let before = known.insert(key.clone(), value.clone());
            check(table).map_err(|error| {
                // Lists and tables may hold secrets.
                let shown = match value {
                    Value::Array(_) | Value::Table(_) => String::new(),
                    value => format!(" = {value}"),
                };
                let wanted = wanted(&section, key, before.as_ref(), value, error.message());
                ConfigError(format!("{section}.{key}{shown} in {name}: {wanted}"))
            })?;
        }
    }
    Ok(())
}

/// What a setting takes in place of an invalid value, judged by the value it had before, if there is such a setting.
fn wanted(section: &str, key: &str, before: Option<&Value>, value: &Value, reason: &str) -> String {
    match (before, value) {
        (Some(Value::String(_)), Value::String(_)) if key == "listen" => {
            format!("an address and a port such as 127.0.0.1:7878 are wanted ({reason})")
        }
        (Some(Value::Array(_)), Value::Array(entries)) if key == "trusted_proxies" => {
            let is_address =
                |entry: &&Value| entry.as_str().is_some_and(|text| text.parse::<IpAddr>().is_ok());
            let other =
                entries.iter().find(|entry| !is_address(entry)).map_or_else(String::new, Value::to_string);
            format!(
                "{other} is not an IP address; give that of each proxy, such as 10.0.0.2: host names and networks are not supported"
            )
        }
        (Some(Value::Integer(_)), Value::Integer(0..))
        | (Some(Value::String(_)), Value::String(_))
        | (Some(Value::Array(_)), Value::Array(_)) => reason.to_owned(),
        (Some(Value::Integer(_)), _) => {
            let kept = section == "storage" && ZEROS.iter().any(|(name, _)| *name == key);
            let positive = kept || serves_nobody(section, key);
            format!("a whole number from {} is wanted", u8::from(positive))
        }
        (Some(Value::Boolean(_)), _) => "true or false is wanted".to_owned(),
        (Some(Value::String(_)), _) => "a text in quotes is wanted".to_owned(),
        (Some(Value::Array(_)), _) => "a list in brackets is wanted".to_owned(),
        _ => reason.to_owned(),
    }
}

/// Variables that look like settings and are not: `REFLOAT_`, the name of a section and something more. Nothing reads them, because
/// settings have two underscores there.
pub(crate) fn strays<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    names.into_iter().filter(|name| meant(name).is_some()).collect()
}

/// Refuses a variable that names a setting with too few underscores.
pub(super) fn check_underscores(name: &str) -> Result<(), ConfigError> {
    match meant(name) {
        Some((section, key))
            if sections().get(&section).is_some_and(|settings| settings.get(&key).is_some()) =>
        {
            let right = format!("REFLOAT__{section}__{key}").to_ascii_uppercase();
            Err(ConfigError(format!(
                "environment variable {name} sets nothing; {section}.{key} is set by {right}, with two underscores before section and key"
            )))
        }
        _ => Ok(()),
    }
}

/// The section and the key that a variable seems to mean if it has only one underscore before the section.
fn meant(name: &str) -> Option<(String, String)> {
    let path = name.strip_prefix("REFLOAT_").filter(|path| !path.starts_with('_'))?.to_ascii_lowercase();
    sections().into_iter().find_map(|(section, _)| {
        let key = path.strip_prefix(&section)?.strip_prefix('_')?;
        Some((section, key.trim_start_matches('_').to_owned()))
    })
}

/// All sections with their settings.
fn sections() -> Table {
    Table::try_from(Config::default()).unwrap_or_default()
}

/// `REFLOAT__SECTION__KEY` as a table of one entry. The value is read as TOML where that works
/// (`8`, `true`, `["a"]`) and as a plain string otherwise, or if the setting is a text.
pub(super) fn from_variable(name: &str, text: &str) -> Result<Option<Table>, ConfigError> {
    let Some(path) = name.strip_prefix("REFLOAT__") else { return Ok(None) };
    let Some((section, key)) = path.split_once("__") else {
        return Err(ConfigError(format!("environment variable {name}: the form is REFLOAT__SECTION__KEY")));
    };
    let value = format!("value = {text}")
        .parse::<Table>()
        .ok()
        .filter(|parsed| parsed.len() == 1)
        .and_then(|mut parsed| parsed.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()));
    let (section, key) = (section.to_ascii_lowercase(), key.to_ascii_lowercase());
    let is_text = sections().get(&section).and_then(|known| known.get(&key)).is_some_and(Value::is_str);
    let value = if is_text && !value.is_str() { Value::String(text.to_owned()) } else { value };
    Ok(Some(Table::from_iter([(section, Value::Table(Table::from_iter([(key, value)])))])))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::tests::variable;
    use super::*;

    #[test]
    fn later_sources_win() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("refloat.toml");
        std::fs::write(&file, "[limits]\nmax_queued = 1\nmax_uploads = 2\nidle_seconds = 3\n").unwrap();
        let flags = "[limits]\nidle_seconds = 5".parse().unwrap();
        let mut environment = variable("REFLOAT__LIMITS__MAX_UPLOADS", "4");
        environment.extend(variable("REFLOAT__LIMITS__IDLE_SECONDS", "4"));
        environment.extend(variable("REFLOAT__STORAGE__DATA", "some/folder"));
        environment.extend(variable("REFLOAT__CLUSTER__FRONT", "1"));
        environment.extend(variable("REFLOAT__SERVER__ALLOWED_ORIGINS", "[\"https://a.example\"]"));
        let config = Config::load(Some(&file), environment, flags).unwrap();
        assert_eq!(
            (config.limits.max_queued, config.limits.max_uploads, config.limits.idle_seconds),
            (1, 4, 5)
        );
        assert_eq!(config.storage.data, PathBuf::from("some/folder"));
        assert_eq!(config.cluster.front, "1", "a text, though it looks like a number");
        assert_eq!(config.server.allowed_origins, ["https://a.example"]);
        assert_eq!(config.server.listen.port(), 7878);
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_named_with_what_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bad.toml");
        let place = format!("in {}", file.display());
        for (section, line, wanted) in [
            ("limits", "max_queued = -1", "a whole number from 1 is wanted"),
            ("storage", "key_bytes = \"64G\"", "a whole number from 1 is wanted"),
            ("compute", "threads = 1.5", "a whole number from 0 is wanted"),
            ("server", "listen = \"localhost\"", "an address and a port such as 127.0.0.1:7878 are wanted"),
            ("server", "insecure_listen = 1", "true or false is wanted"),
            ("server", "metrics_listen = \"on\"", "off, public or an address"),
            ("log", "level = \"loud\"", "info"),
            ("cluster", "name = 1", "a text in quotes is wanted"),
        ] {
            std::fs::write(&file, format!("[{section}]\n{line}\n")).unwrap();
            let error = Config::load(Some(&file), Vec::new(), Table::new()).unwrap_err().0;
            assert!(error.starts_with(&format!("{section}.{line} {place}: ")), "{error}");
            assert!(error.contains(wanted), "{error}");
        }
        let set = variable("REFLOAT__SERVER__TRUSTED_PROXIES", "[\"10.0.0.1\", \"10.0.0.0/8\"]");
        let error = Config::load(None, set, Table::new()).unwrap_err().0;
        assert!(error.contains("\"10.0.0.0/8\" is not an IP address"), "{error}");
        let set = variable("REFLOAT__STORAGE__DATA", "");
        let error = Config::load(None, set, Table::new()).unwrap_err().0;
        assert!(error.contains("storage.data is empty"), "{error}");
        let set = variable("REFLOAT__STORAGE__KEY_BYTES", "64G");
        let error = Config::load(None, set, Table::new()).unwrap_err().0;
        let named = "storage.key_bytes = \"64G\" in environment variable REFLOAT__STORAGE__KEY_BYTES: ";
        assert!(error.starts_with(named), "{error}");
    }

    #[test]
    fn variables_with_too_few_underscores_are_found() {
        for name in ["REFLOAT_LIMITS_MAX_QUEUED", "REFLOAT_LIMITS__MAX_QUEUED"] {
            let error = Config::load(None, variable(name, "4"), Table::new()).unwrap_err().0;
            assert!(error.contains(name) && error.contains("REFLOAT__LIMITS__MAX_QUEUED"), "{error}");
        }
        // Variables that a cluster manager sets for a service of this name, and others that are not for the server.
        let names = ["REFLOAT_SERVER_PORT", "REFLOAT_BACKEND", "REFLOAT_CONFIG", "REFLOAT_TOKEN", "PATH"];
        for name in names {
            Config::load(None, variable(name, "4"), Table::new()).unwrap();
        }
        assert_eq!(strays(names), ["REFLOAT_SERVER_PORT"]);
    }

    #[test]
    fn unknown_keys_are_errors_that_name_the_source() {
        let error =
            Config::load(None, variable("REFLOAT__LIMITS__MAX_QUEUE", "4"), Table::new()).unwrap_err().0;
        assert!(error.contains("REFLOAT__LIMITS__MAX_QUEUE") && error.contains("max_queued"), "{error}");
        let error =
            Config::load(None, variable("REFLOAT__LIMIT__MAX_QUEUED", "4"), Table::new()).unwrap_err().0;
        assert!(error.contains("limit"), "{error}");
        let error =
            Config::load(None, variable("REFLOAT__LIMITS__MAX_QUEUED", "many"), Table::new()).unwrap_err().0;
        assert!(error.contains("MAX_QUEUED"), "{error}");
        let error = Config::load(None, variable("REFLOAT__LIMITS", "4"), Table::new()).unwrap_err().0;
        assert!(error.contains("SECTION__KEY"), "{error}");
    }
}
