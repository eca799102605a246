//! What each setting means: its unit, its default and the words of its documentation in
//! [`crate::config`], for people who read `--print-config` or the README.

use serde_json::Value as Json;
use toml::{Table, Value};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{PartialSchema, ToSchema};

use crate::config::{Config, ConfigError};

/// A section of the configuration.
#[derive(Debug, Clone)]
pub struct Section {
    /// Its name: `limits`.
    pub name: String,
    /// What its settings are about.
    pub meaning: String,
    /// Its settings, by name.
    pub settings: Vec<Setting>,
}

/// A setting.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Its name: `max_queued`.
    pub key: String,
    /// What its value counts, or what it may be.
    pub unit: String,
    /// The value it has unless it is set, as TOML, or words for one that depends on the machine.
    pub default: String,
    /// What it does.
    pub meaning: String,
}

/// Every section and every setting.
///
/// # Errors
/// The defaults cannot be written as TOML.
pub fn sections() -> Result<Vec<Section>, ConfigError> {
    let mut schemas: Vec<(String, RefOr<Schema>)> = Vec::new();
    Config::schemas(&mut schemas);
    let schemas: Vec<(String, Json)> =
        schemas.into_iter().map(|(name, schema)| (name, json(&schema))).collect();
    let defaults = table(&Config::default())?;
    let properties = |schema: &Json| schema["properties"].as_object().cloned().unwrap_or_default();
    Ok(properties(&json(&Config::schema()))
        .into_iter()
        .map(|(name, stated)| {
            let section = resolve(&schemas, &stated);
            let values = defaults.get(&name).and_then(Value::as_table);
            let settings = properties(&section)
                .into_iter()
                .flat_map(|(key, stated)| {
                    let of_entries = entries(&schemas, &key, &stated);
                    std::iter::once(setting(&schemas, key, &stated, values)).chain(of_entries)
                })
                .collect();
            Section { name, meaning: words(&stated), settings }
        })
        .collect())
}

/// A configuration as a TOML file that explains itself, and means the same when it is read.
///
/// # Errors
/// A value cannot be written as TOML.
pub fn explained(config: &Config) -> Result<String, ConfigError> {
    let values = table(config)?;
    let mut lines = Vec::new();
    for Section { name, meaning, settings } in sections()? {
        lines.push(format!("# {meaning}\n[{name}]"));
        let value = |key: &str| values.get(&name).and_then(|section| section.get(key));
        // Lists of tables come last, as what follows the head of an entry belongs to it.
        let lists: Vec<&str> =
            settings.iter().filter_map(|setting| Some(setting.key.split_once('.')?.0)).collect();
        let is_empty_list = |key: &str| value(key).and_then(Value::as_array).is_some_and(Vec::is_empty);
        let (last, first): (Vec<_>, Vec<_>) = settings
            .iter()
            .partition(|setting| lists.iter().any(|list| setting.key.split('.').next() == Some(list)));
        for Setting { key, unit, default, meaning } in first.into_iter().chain(last) {
            let entry = match value(key) {
                Some(_) if lists.contains(&key.as_str()) && is_empty_list(key) => {
                    format!("# [[{name}.{key}]]")
                }
                Some(value) => format!("{key} = {value}"),
                None => format!("# {} = {default}", key.split('.').next_back().unwrap_or(key)),
            };
            lines.push(format!("{}\n# {unit}; default: {default}\n{entry}", comment(meaning)));
        }
    }
    Ok(lines.join("\n\n") + "\n")
}

/// All settings as a table in Markdown.
///
/// # Errors
/// The defaults cannot be written as TOML.
pub fn markdown() -> Result<String, ConfigError> {
    let mut lines =
        vec!["| Setting | Unit | Default | Meaning |".to_owned(), "| --- | --- | --- | --- |".to_owned()];
    for section in sections()? {
        lines.push(format!("| **`[{}]`** | | | **{}** |", section.name, section.meaning));
        lines.extend(section.settings.iter().map(|Setting { key, unit, default, meaning }| {
            format!("| `{key}` | {unit} | `{default}` | {meaning} |")
        }));
    }
    Ok(lines.join("\n") + "\n")
}

/// The settings of each entry of a list of tables, as `list.setting`.
fn entries(schemas: &[(String, Json)], list: &str, stated: &Json) -> Vec<Setting> {
    let entry = resolve(schemas, &stated["items"]);
    let properties = entry["properties"].as_object().cloned().unwrap_or_default();
    let default = |stated: &Json| serde_json::from_value::<Value>(stated.get("default")?.clone()).ok();
    let values: Table =
        properties.iter().filter_map(|(key, stated)| Some((key.clone(), default(stated)?))).collect();
    properties
        .into_iter()
        .map(|(key, stated)| {
            let name = format!("{list}.{key}");
            Setting { key: name, ..setting(schemas, key, &stated, Some(&values)) }
        })
        .collect()
}

fn setting(schemas: &[(String, Json)], key: String, stated: &Json, values: Option<&Table>) -> Setting {
    let value = values.and_then(|values| values.get(&key));
    let choices = resolve(schemas, stated)["enum"].as_array().cloned().unwrap_or_default();
    let choices: Vec<&str> = choices.iter().filter_map(Json::as_str).collect();
    let written = value.map_or_else(|| "none".to_owned(), ToString::to_string);
    // The schema repeats the default, except one that depends on the machine, which it has in words.
    let stated_default =
        stated["default"].as_str().filter(|text| value.and_then(Value::as_str) != Some(*text));
    let default = stated_default.map_or(written, str::to_owned);
    let unit = if choices.is_empty() { unit(&key, value) } else { choices.join(", ") };
    Setting { unit, default, meaning: words(stated), key }
}

/// The unit that a name ends with, or else what kind of value it is.
fn unit(key: &str, value: Option<&Value>) -> String {
    const UNITS: [(&str, &str); 6] = [
        ("bytes_per_second", "bytes per second"),
        ("bytes", "bytes"),
        ("seconds", "seconds"),
        ("minutes", "minutes"),
        ("hours", "hours"),
        ("days", "days"),
    ];
    let named = UNITS.iter().find(|(ending, _)| key.ends_with(ending)).map(|(_, unit)| *unit);
    let kind = match value {
        Some(Value::Boolean(_)) => "true or false",
        Some(Value::Integer(_)) => "number",
        Some(Value::Float(_)) => "real number",
        Some(Value::Array(_)) => "list",
        _ => "text",
    };
    named.unwrap_or(kind).to_owned()
}

/// The schema itself, or the one that it refers to.
fn resolve(schemas: &[(String, Json)], stated: &Json) -> Json {
    let reference = stated["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let found = schemas.iter().find(|(name, _)| Some(name.as_str()) == reference);
    found.map_or_else(|| stated.clone(), |(_, schema)| schema.clone())
}

/// A documentation comment on one line.
fn words(stated: &Json) -> String {
    stated["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text as a TOML comment of lines of moderate length.
fn comment(text: &str) -> String {
    let mut lines = vec!["#".to_owned()];
    for word in text.split(' ') {
        if lines.last().is_some_and(|line| line.len() + word.len() > 99) {
            lines.push("#".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n")
}

fn table(config: &Config) -> Result<Table, ConfigError> {
    Table::try_from(config).map_err(|error| ConfigError(error.to_string()))
}

fn json(schema: &RefOr<Schema>) -> Json {
    serde_json::to_value(schema).unwrap_or_default()
}
