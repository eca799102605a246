//! The owner of a key set and its jobs.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// Who may use a key set, and on whose account it is kept. A job carries a copy, so that its result can be fetched after
/// the key set is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Holder {
    /// Hash of the token in hexadecimal; none with key sets of versions that had no tokens.
    pub token: Option<String>,
    /// Whether anybody may submit jobs, watch them and fetch their results.
    pub public: bool,
    /// Name of the API key it was made with.
    pub api_key: Option<String>,
}

/// Who opened a key set, by which open sets are counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Opener {
    /// The bearer of the API key of this name.
    ApiKey(String),
    /// Somebody at this network address.
    Address(IpAddr),
}

impl std::fmt::Display for Opener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ApiKey(name) => write!(f, "API key {name:?}"),
            Self::Address(address) => address.fmt(f),
        }
    }
}
