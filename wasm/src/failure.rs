//! Errors on their way to JavaScript.

use refloat::Error;
use wasm_bindgen::{JsCast, JsValue};

use crate::object::set;

/// An error that becomes a JavaScript `Error` with a property `code`.
pub struct Failure {
    code: &'static str,
    message: String,
}

/// What every fallible export returns.
pub type Result<T> = core::result::Result<T, Failure>;

impl Failure {
    /// The failure for an argument that never reaches the core.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self { code: "INVALID_ARGUMENT", message: message.into() }
    }
}

/// A key id from its bytes.
#[cfg(feature = "evaluation")]
pub fn key_id(bytes: &js_sys::Uint8Array) -> Result<[u8; 16]> {
    let bytes = bytes.to_vec();
    let wrong = |_| Failure::invalid(format!("a key id has 16 bytes, and this one {}", bytes.len()));
    bytes.as_slice().try_into().map_err(wrong)
}

/// The failure of using a run that is over.
#[cfg(feature = "runs")]
pub fn over() -> Failure {
    Failure::invalid("the run has given its result: begin another one")
}

/// The failure of a program that bootstraps with keys for arithmetic.
#[cfg(feature = "evaluation")]
pub fn bootstraps_nothing() -> Failure {
    Error::MissingKey("keys for arithmetic bootstrap nothing; run the program with bootstrapping keys".into())
        .into()
}

/// Refuses a toy unless it is `allowed`; `secure_one` is a set to take instead.
pub fn refuse_insecure(name: &str, allowed: bool, secure_one: &str) -> Result<()> {
    if allowed {
        return Ok(());
    }
    Err(Error::Insecure(format!(
        "{name} is a toy that protects nothing; take a secure set such as {secure_one}, or pass {{ allowInsecure: true }} to play with it"
    ))
    .into())
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { code: error.code(), message: error.to_string() }
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        let error = js_sys::Error::new(&failure.message);
        set(error.unchecked_ref(), "code", failure.code);
        error.into()
    }
}
