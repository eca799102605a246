//! The seam between the server and homomorphic encryption.
//!
//! Stores, queue, HTTP and worker know evaluation keys and ciphertexts only as bytes that an
//! [`Engine`] checks, loads and runs. The real engines are [`crate::ship::ShipEngine`],
//! [`crate::conventional::ConventionalEngine`] and [`crate::gates::GateEngine`], and all together
//! [`crate::engines::Engines`].

use std::any::Any;

use refloat::Error;
pub use refloat::bootstrapping::method::{Part, Scheme, SetInfo, SlotMode, Stage};
use refloat::trace::Observer;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::Id;

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
    fn sets(&self) -> &[SetInfo];

    /// Name of the arithmetic back-end in use.
    fn backend(&self) -> String;

    /// Largest body of a job of the set, in bytes.
    fn largest_input(&self, set: &SetInfo) -> usize {
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
    fn set(&self, name: &str) -> Option<&SetInfo> {
        self.sets().iter().find(|set| set.name == name)
    }

    /// The parameter set with that fingerprint, whatever its name was when keys were made of it.
    fn set_by_fingerprint(&self, fingerprint: &str) -> Option<&SetInfo> {
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
