//! The seam between the server and homomorphic encryption.
//!
//! Stores, queue, HTTP and worker know evaluation keys and ciphertexts only as bytes that an
//! [`Engine`] checks, loads and runs. The real engines are [`crate::ship::ShipEngine`],
//! [`crate::conventional::ConventionalEngine`] and [`crate::gates::GateEngine`], and all together
//! [`crate::engines::Engines`].

use std::any::Any;

use refloat::Error;
use refloat::trace::{Observer, StageInfo};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::Id;

/// One stage of a bootstrapping method, known before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stage {
    /// Stable identifier.
    pub id: String,
    /// Human-readable title.
    pub title: String,
    /// Formula in plain text.
    pub symbol: String,
    /// Levels consumed.
    pub levels: usize,
}

impl From<&StageInfo> for Stage {
    fn from(stage: &StageInfo) -> Self {
        Self {
            id: stage.id.to_owned(),
            title: stage.title.to_owned(),
            symbol: stage.symbol.to_owned(),
            levels: stage.levels,
        }
    }
}

/// One separately uploaded piece of an evaluation key set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Part {
    /// Position in the set, from 0.
    pub index: usize,
    /// What it is.
    pub label: String,
    /// Exact length in bytes.
    pub bytes: usize,
}

/// What a parameter set is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// CKKS ciphertexts of many slots, refreshed by SHIP or by conventional bootstrapping.
    Ckks,
    /// DM/CGGI: lists of encrypted bits, and circuits of gates on them. A set has one slot and no levels;
    /// its `logQP` is that of the ring modulus, its `logQ0P` that of the short key's.
    Cggi,
}

/// A parameter set as `GET /v1/params` describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParameterSet {
    /// What it is for.
    pub scheme: Scheme,
    /// How ciphertexts are refreshed: `ckks-ship`, `ckks-conventional` or `cggi`.
    pub method: String,
    /// Name, such as `ship13`.
    pub name: String,
    /// Human-readable title.
    pub title: String,
    /// For a set of an earlier version, whose keys are still accepted: the set to make new keys of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<String>,
    /// What the slots hold, unless a job says otherwise.
    pub mode: SlotMode,
    /// Whether the set meets its security policy; test sets do not.
    pub secure: bool,
    /// Estimated security in bits.
    pub security_bits: f64,
    /// What is claimed, in words.
    pub security_statement: String,
    /// Name of the security policy.
    pub policy: String,
    /// First 16 bytes of the digest of the canonical parameters, in hexadecimal.
    pub fingerprint: String,
    /// log2 of the ring degree.
    pub log_n: u32,
    /// Slots of a ciphertext.
    pub slots: usize,
    /// log2 of the largest modulus under the dense key.
    #[serde(rename = "logQP")]
    pub log_qp: f64,
    /// log2 of the modulus under the sparse key.
    #[serde(rename = "logQ0P")]
    pub log_q0p: f64,
    /// Highest level of the chain.
    pub max_level: usize,
    /// Level a ciphertext is bootstrapped from.
    pub input_level: usize,
    /// Level it comes back at.
    pub output_level: usize,
    /// Bits of precision in the worst slot that the set promises.
    pub promised_bits: f64,
    /// Bits of precision in the mean over the slots, where the set promises them as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised_mean_bits: Option<f64>,
    /// For which messages, in words: `every message with parts in [-1, 1]`, `messages that are random with mean zero`, or
    /// `every message of bits`. For sets of CKKS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised_for: Option<String>,
    /// Bits that a further round of META-BTS gains, for sets of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain_bits: Option<u32>,
    /// log2 of the probability, promised, that a gate's result is wrong; for conventional bootstrapping, that a bootstrap of
    /// random coefficients fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_failure: Option<f64>,
    /// Stages of the bootstrapping, in order.
    pub stages: Vec<Stage>,
    /// Independent blind rotations; 1 where there are none.
    pub tracks: usize,
    /// Levels of the product tree.
    pub tree_levels: usize,
    /// Pieces of the evaluation key set; left out of the list unless asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key_parts: Vec<Part>,
    /// Number of those pieces.
    pub parts: usize,
    /// Bytes of the whole evaluation key set as uploaded.
    pub key_bytes: u64,
    /// Bytes of a ciphertext at each level from 0.
    pub ciphertext_bytes: Vec<usize>,
    /// Bytes of the evaluation key set when loaded for use, with what the server precomputes for it.
    pub expanded_key_bytes: u64,
    /// Seconds of one bootstrapping as measured by this server, once it has run one.
    pub expected_seconds: Option<f64>,
}

impl ParameterSet {
    /// The largest ciphertext of the set, in bytes.
    pub fn largest_ciphertext(&self) -> usize {
        self.ciphertext_bytes.iter().copied().max().unwrap_or(0)
    }
}

/// One step of what is done with a ciphertext.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Multiply by itself, relinearise and rescale: one level.
    Square,
    /// Refresh.
    Bootstrap,
    /// Evaluate a circuit of gates, which comes with its inputs.
    Circuit,
    /// Look encrypted integers up in a table, which comes with them.
    LookUp,
    /// Evaluate a program of CKKS operations, which comes with its inputs.
    Program,
}

impl Operation {
    /// Reads a comma-separated list.
    ///
    /// # Errors
    /// The list is empty, longer than 16, or names something else.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, Error> {
        let operations: Vec<Self> = text
            .split(',')
            .take(17)
            .map(|name| match name.trim() {
                "square" => Ok(Self::Square),
                "bootstrap" => Ok(Self::Bootstrap),
                "circuit" => Ok(Self::Circuit),
                "lookup" => Ok(Self::LookUp),
                "program" => Ok(Self::Program),
                other => Err(Error::InvalidArgument(format!(
                    "operation {:?} is none of \"square\", \"bootstrap\", \"program\", \"circuit\" and \"lookup\"",
                    other.chars().take(32).collect::<String>()
                ))),
            })
            .collect::<Result<_, _>>()?;
        if operations.len() > 16 {
            return Err(Error::Limit(
                "a job takes at most 16 operations; submit the rest as a second job".into(),
            ));
        }
        Ok(operations)
    }

    /// The name used in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Square => "square",
            Self::Bootstrap => "bootstrap",
            Self::Circuit => "circuit",
            Self::LookUp => "lookup",
            Self::Program => "program",
        }
    }
}

/// What the slots of a ciphertext hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SlotMode {
    /// Real numbers.
    Real,
    /// Complex numbers.
    Complex,
    /// Bits.
    Bits,
}

impl SlotMode {
    /// The name used in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Complex => "complex",
            Self::Bits => "bits",
        }
    }
}

/// What to do with a ciphertext, and what its slots hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// What the slots hold.
    pub mode: SlotMode,
    /// The operations, in order.
    pub operations: Vec<Operation>,
    /// Bootstraps of META-BTS that each operation `bootstrap` is done in.
    #[serde(default = "one_round")]
    pub rounds: u32,
}

impl Task {
    /// Bootstraps that it takes, every round counted.
    pub fn bootstraps(&self) -> usize {
        let operations = self.operations.iter().filter(|operation| **operation == Operation::Bootstrap);
        operations.count() * self.rounds as usize
    }
}

/// What is meant where rounds are not spoken of.
pub(crate) fn one_round() -> u32 {
    1
}

/// Writes operations as [`Operation::parse_list`] reads them.
pub fn operation_list(operations: &[Operation]) -> String {
    operations.iter().map(|operation| operation.name()).collect::<Vec<_>>().join(",")
}

/// An evaluation key set in memory, ready for use.
pub struct LoadedKeys {
    /// Bytes of memory it takes.
    pub bytes: u64,
    /// What the engine made of it.
    pub inner: Box<dyn Any + Send + Sync>,
}

/// Reads piece `index` of a stored key set.
pub type ReadPart<'a> = &'a mut dyn FnMut(usize) -> std::io::Result<Vec<u8>>;

/// Reads piece `index` of a stored key set, at any time.
pub type PartReader = std::sync::Arc<dyn Fn(usize) -> std::io::Result<Vec<u8>> + Send + Sync>;

/// Why keys could not be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// A stored piece cannot be read.
    Io(std::io::Error),
    /// The engine refuses it, or was asked to stop.
    Engine(Error),
}

/// Homomorphic encryption as the server sees it. Implementations check everything they are given.
pub trait Engine: Send + Sync + 'static {
    /// The parameter sets, in the order to show them.
    fn sets(&self) -> &[ParameterSet];

    /// Name of the arithmetic back-end in use.
    fn backend(&self) -> String;

    /// Largest body of a job of the set, in bytes.
    fn largest_input(&self, set: &ParameterSet) -> usize {
        set.largest_ciphertext()
    }

    /// Checks one piece of an evaluation key set without keeping it.
    ///
    /// # Errors
    /// The bytes are not piece `index` of a key set `key` for `set`.
    fn verify_part(&self, set: &str, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error>;

    /// Checks what a job is to work on: a ciphertext, or a circuit with its inputs; and that `task` can
    /// be applied to it. Returns how many bytes the result takes at most.
    ///
    /// # Errors
    /// The bytes are no such input of `set` under `key`, or its level does not fit.
    fn check_ciphertext(&self, set: &str, key: Id, task: &Task, bytes: &[u8]) -> Result<u64, Error>;

    /// Loads a key set piece by piece. `read` may report that loading is to stop.
    ///
    /// # Errors
    /// A piece cannot be read or does not conform.
    fn load_keys(&self, set: &str, key: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError>;

    /// Opens a key set whose keys are read as they are used, on as many threads as the rayon pool it is called in; `None` if
    /// [`Self::load_keys`] loads those of this parameter set.
    ///
    /// [`Self::run`] fails with [`Error::MissingKey`] where `read` does.
    fn open_keys(&self, set: &str, key: Id, read: &PartReader) -> Option<Result<LoadedKeys, Error>> {
        let _ = (set, key, read);
        None
    }

    /// Applies `task` to a ciphertext, on the rayon pool it is called in.
    ///
    /// # Errors
    /// The input does not conform, or the observer stopped the run.
    fn run(
        &self,
        set: &str,
        keys: &LoadedKeys,
        task: &Task,
        ciphertext: &[u8],
        observer: &mut dyn Observer,
    ) -> Result<Vec<u8>, Error>;

    /// The parameter set of that name.
    fn set(&self, name: &str) -> Option<&ParameterSet> {
        self.sets().iter().find(|set| set.name == name)
    }

    /// The parameter set with that fingerprint, whatever its name was when keys were made of it.
    fn set_by_fingerprint(&self, fingerprint: &str) -> Option<&ParameterSet> {
        self.sets().iter().find(|set| set.fingerprint == fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_read_strictly() {
        assert_eq!(
            Operation::parse_list("square,bootstrap").unwrap(),
            [Operation::Square, Operation::Bootstrap]
        );
        for bad in ["", "Square", "bootstrap,", "decrypt"] {
            assert_eq!(Operation::parse_list(bad).unwrap_err().code(), "INVALID_ARGUMENT", "{bad}");
        }
        assert_eq!(Operation::parse_list(&["square"; 17].join(",")).unwrap_err().code(), "LIMIT");
    }
}
