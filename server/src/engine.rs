//! The interface between the server and homomorphic encryption: what the server asks of a set. The sets it serves are in
//! [`crate::engines`].
//!
//! Stores, queue, HTTP and worker know evaluation keys and ciphertexts only as bytes that a [`JobSet`] checks, loads and runs.
//! A [`crate::registry::Registry`] lists the sets.

use refloat::Error;
use refloat::bootstrapping::method::{ParamSet, Preset};
pub use refloat::bootstrapping::method::{Part, Scheme, SetInfo, SlotMode, Stage};
use refloat::trace::Observer;
use serde::{Deserialize, Serialize};

use crate::id::Id;

/// A step of a job, by name. Each set says which operations it has: [`JobSet::operations`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Operation(String);

/// Operation: refresh the ciphertext. Jobs that name no operation consist of this one.
pub const BOOTSTRAP: &str = "bootstrap";

/// Longest name of an operation, in bytes.
const LONGEST_NAME: usize = 32;

impl Operation {
    /// The operation of a name.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// Reads a comma-separated list.
    ///
    /// # Errors
    /// The list is empty, longer than 16, or has an entry that is not a name.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, Error> {
        let is_name = |name: &str| {
            let letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
            (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(letter)
        };
        let operations: Vec<Self> = text
            .split(',')
            .take(17)
            .map(|name| match name.trim() {
                name if is_name(name) => Ok(Self::new(name)),
                other => Err(Error::InvalidArgument(format!(
                    "{:?} is not an operation; they have names of lower-case letters, such as \"bootstrap\"",
                    other.chars().take(LONGEST_NAME).collect::<String>()
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
    pub fn name(&self) -> &str {
        &self.0
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
    /// Bootstraps that the task takes, every round counted.
    pub fn bootstraps(&self) -> usize {
        let operations = self.operations.iter().filter(|operation| operation.name() == BOOTSTRAP);
        operations.count() * self.rounds as usize
    }

    /// The name of the operation, if there is just one.
    pub fn only(&self) -> Option<&str> {
        match &self.operations[..] {
            [operation] => Some(operation.name()),
            _ => None,
        }
    }
}

/// The rounds of a task that names none.
pub(crate) fn one_round() -> u32 {
    1
}

/// Writes operations as [`Operation::parse_list`] reads them.
pub fn operation_list(operations: &[Operation]) -> String {
    operations.iter().map(Operation::name).collect::<Vec<_>>().join(",")
}

/// An evaluation key set in memory, ready for use.
pub struct LoadedKeys {
    /// Bytes of memory that the keys take.
    pub bytes: u64,
    /// Runs jobs with the keys.
    pub runner: Box<dyn Runner>,
}

impl LoadedKeys {
    /// Keys that take `bytes` bytes of memory.
    pub fn new(bytes: u64, runner: impl Runner) -> Self {
        Self { bytes, runner: Box::new(runner) }
    }
}

/// Evaluation keys, with everything that their jobs share.
pub trait Runner: Send + Sync + 'static {
    /// Does a job, on the rayon pool it is called in.
    ///
    /// # Errors
    /// The input does not conform, or the observer stopped the run; [`Error::MissingKey`] where keys are read as they are
    /// used, and reading fails.
    fn run(&self, task: &Task, input: &[u8], observer: &mut dyn Observer) -> Result<Vec<u8>, Error>;
}

/// Checked parameters of a set, and its description.
pub struct Described<P> {
    /// The description of the set.
    pub info: SetInfo,
    /// The parameters.
    pub params: P,
}

impl<P: ParamSet> Described<P> {
    /// The set of a preset.
    ///
    /// # Errors
    /// None for a set of a released version, over the word that its primes take.
    pub fn of(preset: &Preset<P::Spec>) -> Result<Self, Error> {
        let params: P = preset.checked()?;
        Ok(Self { info: preset.describe(&params), params })
    }
}

/// Reads the piece of a stored key set with a given index.
pub type ReadPart<'a> = &'a mut dyn FnMut(usize) -> std::io::Result<Vec<u8>>;

/// Reads the piece of a stored key set with a given index, at any time.
pub type PartReader = std::sync::Arc<dyn Fn(usize) -> std::io::Result<Vec<u8>> + Send + Sync>;

/// Hands the `count` pieces of a key set to `add`, in order.
///
/// # Errors
/// A piece cannot be read, or `add` refuses it.
pub fn read_parts(
    count: usize,
    read: ReadPart<'_>,
    mut add: impl FnMut(usize, &[u8]) -> Result<(), Error>,
) -> Result<(), LoadError> {
    (0..count).try_for_each(|index| Ok(add(index, &read(index)?)?))
}

/// Why keys could not be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// A stored piece cannot be read.
    Io(std::io::Error),
    /// The set refuses the keys.
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

/// A parameter set of any method: keys are loaded for it, and jobs run on it. Implementations check everything they are given.
pub trait JobSet: Send + Sync + 'static {
    /// The description of the set.
    fn info(&self) -> &SetInfo;

    /// Names of the operations that jobs of the set may have.
    fn operations(&self) -> &[&'static str];

    /// Bytes of memory to set aside for a run, beside loaded keys.
    fn working_bytes(&self) -> u64;

    /// Largest body of a job, in bytes.
    fn largest_input(&self) -> usize {
        self.info().largest_ciphertext()
    }

    /// Checks one piece of an evaluation key set without keeping it.
    ///
    /// # Errors
    /// The bytes are not piece `index` of a key set `key`.
    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error>;

    /// Checks the body of a job, and that `task` can be applied to it. Returns the most bytes that the result can take.
    /// [`crate::engines::Engines::check`] has checked before that the set has the operations.
    ///
    /// # Errors
    /// The bytes are not an input for the task under `key`, or its level does not fit.
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
            [Operation::new("square"), Operation::new("bootstrap")]
        );
        for bad in ["", "Square", "bootstrap,", "square;bootstrap", &"a".repeat(33)] {
            assert_eq!(Operation::parse_list(bad).unwrap_err().code(), "INVALID_ARGUMENT", "{bad}");
        }
        assert_eq!(Operation::parse_list(&["square"; 17].join(",")).unwrap_err().code(), "LIMIT");
    }
}
