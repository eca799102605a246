//! Errors: one non-exhaustive enum with a stable code per variant, shared with the server's
//! problem documents and the TypeScript package.

use alloc::{format, string::String};
use core::fmt::Write;

/// What can go wrong when the library is given something it cannot use.
///
/// Every message says what is wrong, with both sides of a mismatch, and after a semicolon the call or change that repairs it:
/// [`Self::problem`] and [`Self::repair`] return these two parts.
///
/// Programs decide by [`Self::code`], which is all the structure that an error has. Both sides of a mismatch and the repair are words of one
/// sentence for people, not fields: so its text is the same in Rust, over HTTP and in TypeScript, and a place can be put before it
/// ([`Self::within`]).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is outside its documented range.
    #[error("invalid argument: {0}")]
    InvalidArgument(String),
    /// Two objects belong to different parameter sets or different keys.
    #[error("parameters do not match: {0}")]
    ParamsMismatch(String),
    /// Two ciphertexts, or a ciphertext and an operation, are at different levels.
    #[error("level mismatch: {0}")]
    LevelMismatch(String),
    /// Two operands carry different scales, or a scale does not fit an operation.
    #[error("scale mismatch: {0}")]
    ScaleMismatch(String),
    /// Two operands hold plaintexts of different moduli, or multiplied by different factors.
    #[error("plaintext mismatch: {0}")]
    PlaintextMismatch(String),
    /// A parameter set is below the security policy it was asked for.
    #[error("insecure parameters: {0}")]
    Insecure(String),
    /// Untrusted bytes are malformed, truncated, corrupted or do not conform to the parameters.
    #[error("bad bytes: {0}")]
    BadBytes(String),
    /// An evaluation key that the operation needs is absent.
    #[error("missing key: {0}")]
    MissingKey(String),
    /// A stated limit (budget, count, size) would be exceeded.
    #[error("limit exceeded: {0}")]
    Limit(String),
    /// The observer asked to stop; the message is the stage, and the code `ABORTED`.
    #[error("cancelled: {0}")]
    Cancelled(String),
    /// The system gives no randomness.
    #[error("no randomness: {0}")]
    Entropy(String),
}

impl Error {
    /// The codes of all variants, in order.
    pub const CODES: [&str; 11] = [
        "INVALID_ARGUMENT",
        "PARAMS_MISMATCH",
        "LEVEL_MISMATCH",
        "SCALE_MISMATCH",
        "PLAINTEXT_MISMATCH",
        "INSECURE",
        "BAD_BYTES",
        "MISSING_KEY",
        "LIMIT",
        "ABORTED",
        "ENTROPY",
    ];

    /// Stable identifier of the variant, the same string in Rust, HTTP and TypeScript: its name in upper case, but `ABORTED` for
    /// [`Self::Cancelled`].
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidArgument(_) => "INVALID_ARGUMENT",
            Self::ParamsMismatch(_) => "PARAMS_MISMATCH",
            Self::LevelMismatch(_) => "LEVEL_MISMATCH",
            Self::ScaleMismatch(_) => "SCALE_MISMATCH",
            Self::PlaintextMismatch(_) => "PLAINTEXT_MISMATCH",
            Self::Insecure(_) => "INSECURE",
            Self::BadBytes(_) => "BAD_BYTES",
            Self::MissingKey(_) => "MISSING_KEY",
            Self::Limit(_) => "LIMIT",
            Self::Cancelled(_) => "ABORTED",
            Self::Entropy(_) => "ENTROPY",
        }
    }

    /// What is wrong, with both sides of a mismatch.
    pub fn problem(&self) -> &str {
        self.parts().0
    }

    /// The call or change that repairs it, where one is known.
    pub fn repair(&self) -> Option<&str> {
        self.parts().1
    }

    fn parts(&self) -> (&str, Option<&str>) {
        let message = self.message();
        message.rsplit_once("; ").map_or((message, None), |(problem, repair)| (problem, Some(repair)))
    }

    fn message(&self) -> &String {
        match self {
            Self::InvalidArgument(message)
            | Self::ParamsMismatch(message)
            | Self::LevelMismatch(message)
            | Self::ScaleMismatch(message)
            | Self::PlaintextMismatch(message)
            | Self::Insecure(message)
            | Self::BadBytes(message)
            | Self::MissingKey(message)
            | Self::Limit(message)
            | Self::Cancelled(message)
            | Self::Entropy(message) => message,
        }
    }

    /// The same error with `place` put before its message; a cancellation stays as it is.
    #[must_use]
    pub fn within(self, place: &str) -> Self {
        let at = |message: String| format!("{place}: {message}");
        match self {
            Self::InvalidArgument(message) => Self::InvalidArgument(at(message)),
            Self::ParamsMismatch(message) => Self::ParamsMismatch(at(message)),
            Self::LevelMismatch(message) => Self::LevelMismatch(at(message)),
            Self::ScaleMismatch(message) => Self::ScaleMismatch(at(message)),
            Self::PlaintextMismatch(message) => Self::PlaintextMismatch(at(message)),
            Self::Insecure(message) => Self::Insecure(at(message)),
            Self::BadBytes(message) => Self::BadBytes(at(message)),
            Self::MissingKey(message) => Self::MissingKey(at(message)),
            Self::Limit(message) => Self::Limit(at(message)),
            Self::Cancelled(message) => Self::Cancelled(message),
            Self::Entropy(message) => Self::Entropy(at(message)),
        }
    }
}

/// Bytes in lower-case hexadecimal, for messages.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_listed() {
        let errors: [fn(String) -> Error; 11] = [
            Error::InvalidArgument,
            Error::ParamsMismatch,
            Error::LevelMismatch,
            Error::ScaleMismatch,
            Error::PlaintextMismatch,
            Error::Insecure,
            Error::BadBytes,
            Error::MissingKey,
            Error::Limit,
            Error::Cancelled,
            Error::Entropy,
        ];
        // A new variant does not compile here until it is listed; it belongs in `errors` too.
        let listed = |error: &Error| match error {
            Error::InvalidArgument(_)
            | Error::ParamsMismatch(_)
            | Error::LevelMismatch(_)
            | Error::ScaleMismatch(_)
            | Error::PlaintextMismatch(_)
            | Error::Insecure(_)
            | Error::BadBytes(_)
            | Error::MissingKey(_)
            | Error::Limit(_)
            | Error::Cancelled(_)
            | Error::Entropy(_) => error.code(),
        };
        assert_eq!(errors.map(|make| listed(&make(String::new()))), Error::CODES);
    }

    #[test]
    fn problem_and_repair_are_told_apart() {
        let error = Error::LevelMismatch("it takes 2 levels, and there is 1; bootstrap it first".into());
        assert_eq!(error.problem(), "it takes 2 levels, and there is 1");
        assert_eq!(error.repair(), Some("bootstrap it first"));
        let placed = error.within("step 3");
        assert_eq!(placed.problem(), "step 3: it takes 2 levels, and there is 1");
        assert_eq!(placed.repair(), Some("bootstrap it first"));
        let stopped = Error::Cancelled("mod_raise".into());
        assert_eq!((stopped.problem(), stopped.repair()), ("mod_raise", None));
    }
}
