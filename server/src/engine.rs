//! The seam between the server and homomorphic encryption.
//!
//! Stores, queue, HTTP and worker know evaluation keys and ciphertexts only as bytes that a [`JobSet`] checks, loads and runs.
//! Which sets there are is said by a [`crate::registry::Registry`].

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
    /// What does jobs with it.
    pub runner: Box<dyn Runner>,
}

impl LoadedKeys {
    /// Keys that take so many bytes.
    pub fn new(bytes: u64, runner: impl Runner) -> Self {
        Self { bytes, runner: Box::new(runner) }
    }
}

/// Evaluation keys, with all that the jobs share which are done with them.
pub trait Runner: Send + Sync + 'static {
    /// Does a job, on the rayon pool it is called in.
    ///
    /// # Errors
    /// The input does not conform, or the observer stopped the run; [`Error::MissingKey`] where keys are read as they are
    /// used, and reading fails.
    fn run(&self, task: &Task, input: &[u8], observer: &mut dyn Observer) -> Result<Vec<u8>, Error>;
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
    /// The set refuses it.
    Refused(Error),
}

impl From<std::io::Error> for LoadError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for LoadError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// A parameter set of whichever method: keys are loaded for it, and jobs run on it. Implementations check everything they are
/// given.
pub trait JobSet: Send + Sync + 'static {
    /// What there is to know of it.
    fn info(&self) -> &SetInfo;

    /// Largest body of a job, in bytes.
    fn largest_input(&self) -> usize {
        self.info().largest_ciphertext()
    }

    /// Checks one piece of an evaluation key set without keeping it.
    ///
    /// # Errors
    /// The bytes are not piece `index` of a key set `key`.
    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error>;

    /// Checks the body of a job, and that `task` can be applied to it. Returns how many bytes the result takes at most.
    ///
    /// # Errors
    /// The bytes are no such input under `key`, or its level does not fit.
    fn check(&self, key: Id, task: &Task, input: &[u8]) -> Result<u64, Error>;

    /// Loads a key set piece by piece. `read` may report that loading is to stop.
    ///
    /// # Errors
    /// A piece cannot be read or does not conform.
    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError>;

    /// Opens a key set whose keys are read as they are used, on as many threads as the rayon pool it is called in; `None` where
    /// [`Self::load`] is to load them.
    fn open(&self, key: Id, read: &PartReader) -> Option<Result<LoadedKeys, Error>> {
        let _ = (key, read);
        None
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
