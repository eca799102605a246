//! Codes of errors, and the last message of each thread.

use core::ffi::CStr;
use std::cell::RefCell;

use refloat::Error;

/// A code.
pub type Status = i32;

/// All went well.
pub const OK: i32 = 0;
/// The system gave no randomness.
pub const ENTROPY: i32 = 64;
/// The caller's room is too small.
pub const BUFFER: i32 = 65;
/// A bug of this library.
pub const INTERNAL: i32 = 66;

/// Every code with its name; those of the core are named by [`Error::code`]. Numbers never change their meaning.
pub const NAMES: [(i32, &CStr); 14] = [
    (OK, c"OK"),
    (1, c"INVALID_ARGUMENT"),
    (2, c"PARAMS_MISMATCH"),
    (3, c"LEVEL_MISMATCH"),
    (4, c"SCALE_MISMATCH"),
    (5, c"INSECURE"),
    (6, c"BAD_BYTES"),
    (7, c"MISSING_KEY"),
    (8, c"LIMIT"),
    (9, c"ABORTED"),
    (10, c"PLAINTEXT_MISMATCH"),
    (ENTROPY, c"ENTROPY"),
    (BUFFER, c"BUFFER"),
    (INTERNAL, c"INTERNAL"),
];

/// What went wrong.
pub struct Failure {
    /// Its code.
    pub status: i32,
    message: String,
}

impl Failure {
    /// A failure with a message.
    pub fn new(status: i32, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// The failure for an argument that never reaches the core.
    pub fn invalid(message: impl Into<String>) -> Self {
        Error::InvalidArgument(message.into()).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let named = NAMES.iter().find(|(_, name)| name.to_bytes() == error.code().as_bytes());
        Self::new(named.map_or(INTERNAL, |(status, _)| *status), error.to_string())
    }
}

/// Name of a code.
pub fn name(status: i32) -> &'static CStr {
    NAMES.iter().find(|(known, _)| *known == status).map_or(c"UNKNOWN", |(_, name)| name)
}

thread_local! {
    static MESSAGE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps a failure's message for the thread, and returns its code.
pub fn remember(failure: Failure) -> i32 {
    // A thread that is ending can no longer keep messages.
    let _ = MESSAGE.try_with(|last| last.replace(failure.message));
    failure.status
}

/// The message of the thread's last failure; empty if there was none.
pub fn last_message() -> String {
    MESSAGE.try_with(|last| last.borrow().clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::status_of;

    #[test]
    fn every_error_of_the_core_has_a_code_of_its_own() {
        let text = String::new;
        let errors = [
            Error::InvalidArgument(text()),
            Error::ParamsMismatch(text()),
            Error::LevelMismatch(text()),
            Error::ScaleMismatch(text()),
            Error::Insecure(text()),
            Error::BadBytes(text()),
            Error::MissingKey(text()),
            Error::Limit(text()),
            Error::Cancelled(text()),
            Error::PlaintextMismatch(text()),
        ];
        for (error, status) in errors.into_iter().zip(1..) {
            let code = error.code();
            assert_eq!(Failure::from(error).status, status);
            assert_eq!(name(status).to_bytes(), code.as_bytes());
        }
        assert_eq!((name(11), name(-1)), (c"UNKNOWN", c"UNKNOWN"));
    }

    #[test]
    fn a_panic_becomes_a_code_and_a_message() {
        assert_eq!(status_of(true, || panic!("number {}", 7)), INTERNAL);
        assert!(last_message().ends_with("number 7"), "{}", last_message());
        assert_eq!(status_of(false, || Ok(())), OK);
        assert_eq!(status_of(false, || Err(Failure::invalid("no"))), 1);
        assert_eq!(last_message(), "invalid argument: no");
        std::thread::spawn(|| assert_eq!(last_message(), "")).join().unwrap();
    }
}
