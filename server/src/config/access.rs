//! Section `[access]`: API keys, and the hashes of their secrets.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use zeroize::Zeroizing;

use super::ConfigError;
use crate::id::{hex, unhex};

/// Fewest and most characters of an API key's secret.
const SECRET_LENGTHS: std::ops::RangeInclusive<usize> = 16..=1024;

/// Section `[access]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccessSection {
    /// Lets anyone use and delete key sets that were stored by versions without tokens.
    pub allow_untokened: bool,
    /// API keys of those who may make key sets and jobs, with their quotas; empty: anyone may.
    pub api_keys: Vec<ApiKey>,
}

/// An entry of `[[access.api_keys]]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApiKey {
    /// Its name in the log and in messages.
    pub name: String,
    /// BLAKE3 of its secret in hexadecimal: `refloat serve --hash-api-key` prints it.
    pub hash: String,
    /// A file that holds the secret, in place of `hash`.
    #[serde(skip_serializing_if = "is_empty")]
    #[schema(value_type = String)]
    pub file: PathBuf,
    /// Bytes that evaluation keys uploaded with it may take on disk; 0: up to the limit of the server.
    pub max_key_bytes: u64,
    /// How many of its jobs may wait; 0: up to the limit of the server.
    pub max_queued_jobs: usize,
}

fn is_empty(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

impl AccessSection {
    /// Reads the files of secrets and checks that every API key can be told from the others.
    pub(super) fn resolve(&mut self) -> Result<(), ConfigError> {
        let (mut names, mut hashes) = (BTreeSet::new(), BTreeSet::new());
        for key in &mut self.api_keys {
            let fail = |what: &str| Err(ConfigError(format!("access.api_keys, {:?}: {what}", key.name)));
            if key.name.is_empty() || !names.insert(key.name.clone()) {
                return fail("every API key has a name of its own");
            }
            if key.hash.is_empty() == is_empty(&key.file) {
                return fail("an API key has either a hash or a file");
            }
            if key.hash.is_empty() {
                let secret = std::fs::read_to_string(&key.file).map(Zeroizing::new).map_err(|error| {
                    ConfigError(format!(
                        "access.api_keys, {:?}: cannot read {}: {error}",
                        key.name,
                        key.file.display()
                    ))
                })?;
                match api_key_hash_of(&secret) {
                    Ok(hash) => key.hash = hash,
                    Err(what) => return fail(&format!("in {}, {what}", key.file.display())),
                }
                key.file = PathBuf::new();
            }
            if unhex(&key.hash, &mut [0; 32]).is_none() {
                return fail(
                    "its hash is not 64 lowercase hexadecimal digits; refloat serve --hash-api-key prints it",
                );
            }
            if !hashes.insert(key.hash.clone()) {
                return fail("another API key has the same secret; draw a random one for each");
            }
        }
        Ok(())
    }
}

/// The hash of the API key secret on a line.
///
/// # Errors
/// The secret is too short, too long, or cannot be the value of a header, by which it is sent.
pub fn api_key_hash_of(line: &str) -> Result<String, String> {
    let secret = line.trim();
    let length = secret.chars().count();
    if !SECRET_LENGTHS.contains(&length) {
        let (least, most) = (SECRET_LENGTHS.start(), SECRET_LENGTHS.end());
        return Err(format!(
            "the secret has {length} characters, and it takes {least} to {most}; draw a random one, such as with openssl rand -hex 32"
        ));
    }
    if !secret.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Err(
            "the secret has characters that no header can carry; use letters, digits and signs of ASCII on one line".to_owned()
        );
    }
    Ok(api_key_hash(secret.as_bytes()))
}

/// What the configuration keeps of the secret of an API key: BLAKE3 in hexadecimal.
pub fn api_key_hash(secret: &[u8]) -> String {
    hex(blake3::hash(secret).as_bytes())
}

#[cfg(test)]
mod tests {
    use toml::Table;

    use crate::config::Config;

    #[test]
    fn secrets_of_api_keys_are_read_from_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let load = |entries: &[String]| {
            let text = entries.iter().fold(String::new(), |text, entry| {
                text + "[[access.api_keys]]
" + entry + "
"
            });
            std::fs::write(at("refloat.toml"), text).unwrap();
            Config::load(Some(&at("refloat.toml")), Vec::new(), Table::new())
        };
        let by_file = |name: &str| format!("name = \"{name}\"\nfile = \"{}\"", at(name).display());
        let by_hash = |name: &str, hash: &str| format!("name = \"{name}\"\nhash = \"{hash}\"");
        std::fs::write(at("one"), "correct horse battery staple\r\n").unwrap();
        std::fs::write(at("two"), "0123456789abcdef").unwrap();
        let hash = blake3::hash(b"correct horse battery staple").to_hex().to_string();
        let keys = load(&[by_file("one"), by_file("two")]).unwrap().access.api_keys;
        assert_eq!((keys[0].hash.as_str(), keys[0].file.as_os_str().is_empty()), (hash.as_str(), true));
        assert_eq!(load(&[by_hash("one", &hash)]).unwrap().access.api_keys, keys[..1]);

        std::fs::write(at("short"), "0123456789abcde\n").unwrap();
        std::fs::write(at("lines"), "0123456789abcdef\n0123456789abcdef\n").unwrap();
        std::fs::write(at("accent"), "0123456789abcd\u{e9}f").unwrap();
        for (entries, part) in [
            (vec![by_file("short")], "has 15 characters"),
            (vec![by_file("lines")], "on one line"),
            (vec![by_file("accent")], "no header"),
            (vec![by_file("nowhere")], "cannot read"),
            (vec![by_file("one"), by_hash("again", &hash)], "\"again\": another API key has the same secret"),
            (vec![by_hash("one", &hash.to_uppercase())], "--hash-api-key"),
            (vec![by_hash("one", "")], "either a hash or a file"),
            (vec![by_file("one") + &format!("\nhash = \"{hash}\"")], "either a hash or a file"),
            (vec![by_hash("", &hash)], "a name of its own"),
            (vec![by_file("one"), by_hash("one", &"0".repeat(64))], "a name of its own"),
        ] {
            let message = load(&entries).unwrap_err().0;
            assert!(message.contains(part) && message.contains("access.api_keys"), "{message}");
            assert!(!message.contains("0123456789"), "the secret itself: {message}");
        }
    }
}
