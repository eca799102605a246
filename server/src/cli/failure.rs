//! The failure of a command: a stable code and a sentence.

use std::path::Path;

use crate::memory;
use crate::problem::{Problem, beside_its_code};

/// A failed command.
#[derive(Debug)]
pub struct Failure {
    /// Stable code, as in problem documents.
    pub code: String,
    /// What went wrong and what to do about it.
    pub detail: String,
}

impl Failure {
    /// A request that cannot be met as it stands.
    pub fn usage(detail: impl Into<String>) -> Self {
        Self { code: "INVALID_ARGUMENT".to_owned(), detail: detail.into() }
    }

    /// A file that cannot be read or written.
    pub fn file(action: &str, path: &Path, error: &dyn std::fmt::Display) -> Self {
        Self { code: "FILE".to_owned(), detail: format!("cannot {action} {}: {error}", path.display()) }
    }

    /// A server that cannot be reached, or does not answer as a refloat server does.
    pub fn network(detail: impl Into<String>) -> Self {
        Self { code: "NETWORK".to_owned(), detail: detail.into() }
    }

    /// A set whose keys do not fit the machine's memory.
    pub fn memory(set: &str, needed: u64, available: u64) -> Self {
        memory::too_little(set, needed, available).into()
    }

    /// Something that prevents a server or worker from starting.
    pub fn start(error: &dyn std::fmt::Display) -> Self {
        Self { code: "START".to_owned(), detail: error.to_string() }
    }

    /// Any other refusal by the system.
    pub fn system(error: &dyn std::fmt::Display) -> Self {
        Self { code: "SYSTEM".to_owned(), detail: error.to_string() }
    }
}

impl From<refloat::Error> for Failure {
    fn from(error: refloat::Error) -> Self {
        Self { code: error.code().to_owned(), detail: beside_its_code(&error) }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self { code: problem.code.clone(), detail: problem.detail.clone() }
    }
}
