//! Errors as clients see them: RFC 9457 problem documents with stable codes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A problem: what a request failed with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Problem(Box<Document>);

/// The members of a problem. `code` is stable; `detail` names both sides of a mismatch and the
/// repair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Problem)]
pub struct Document {
    /// URI of the kind of problem, derived from `code`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the kind of problem is called.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// This occurrence, in words.
    pub detail: String,
    /// Stable identifier of the kind of problem.
    pub code: String,
    /// Further members, depending on the code.
    #[serde(flatten)]
    #[schema(additional_properties, value_type = Object)]
    pub extra: Map<String, Value>,
    /// Seconds after which the same request may succeed, sent as `Retry-After`.
    #[serde(skip)]
    pub retry_after: Option<u64>,
}

impl std::ops::Deref for Problem {
    type Target = Document;

    fn deref(&self) -> &Document {
        &self.0
    }
}

impl Problem {
    /// A problem of a given kind.
    pub fn new(status: u16, code: &str, title: &str, detail: impl Into<String>) -> Self {
        Self(Box::new(Document {
            kind: format!("urn:refloat:problem:{}", code.to_ascii_lowercase().replace('_', "-")),
            title: title.to_owned(),
            status,
            detail: detail.into(),
            code: code.to_owned(),
            extra: Map::new(),
            retry_after: None,
        }))
    }

    /// Adds a member to the document.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.extra.insert(name.to_owned(), value.into());
        self
    }

    /// Tells the client when to come back.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// There is nothing at this address.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(404, "NOT_FOUND", "Not found", detail)
    }

    /// The request is not understood.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(400, "INVALID_ARGUMENT", "Invalid request", detail)
    }

    /// The request contradicts the state it meets.
    pub fn conflict(code: &str, detail: impl Into<String>) -> Self {
        Self::new(409, code, "Conflict with the present state", detail)
    }

    /// The body is larger than what the address takes.
    pub fn too_large(detail: impl Into<String>) -> Self {
        Self::new(413, "LIMIT", "Body too large", detail)
    }

    /// The body is not what it should be.
    pub fn bad_bytes(detail: impl Into<String>) -> Self {
        Self::new(422, "BAD_BYTES", "Body does not conform", detail)
    }

    /// Something that is not the client's fault; the reason goes to the log, not to the client.
    pub fn internal(reason: &dyn std::fmt::Display) -> Self {
        tracing::error!(%reason, "internal error");
        Self::internal_logged()
    }

    /// Something that is not the client's fault, and whose reason is in the log already.
    pub fn internal_logged() -> Self {
        Self::new(500, "INTERNAL", "Internal error", "the server could not do this; its log has the reason")
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}): {}", self.title, self.code, self.detail)
    }
}

impl std::error::Error for Problem {}

impl From<refloat::Error> for Problem {
    fn from(error: refloat::Error) -> Self {
        use refloat::Error as E;
        let (status, title) = match &error {
            E::InvalidArgument(_) => (400, "Invalid request"),
            E::ParamsMismatch(_) => (409, "Parameters do not match"),
            E::LevelMismatch(_) => (422, "Level does not fit"),
            E::ScaleMismatch(_) => (422, "Scale does not fit"),
            E::PlaintextMismatch(_) => (422, "Plaintexts do not fit"),
            E::Insecure(_) => (403, "Insecure parameters"),
            E::BadBytes(_) => (422, "Body does not conform"),
            E::MissingKey(_) => (409, "Key missing"),
            E::Limit(_) => (413, "Limit exceeded"),
            E::Cancelled(_) => (409, "Cancelled"),
            _ => (500, "Internal error"),
        };
        Self::new(status, error.code(), title, beside_its_code(&error))
    }
}

/// The message of an error for use beside its code: without the words for the code in front.
pub fn beside_its_code(error: &refloat::Error) -> String {
    use refloat::Error as E;
    match (error, error.repair()) {
        // The messages of these are only a stage or a reason.
        (E::Cancelled(_) | E::Entropy(_), _) => error.to_string(),
        (_, Some(repair)) => format!("{}; {repair}", error.problem()),
        (_, None) => error.problem().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_not_said_twice() {
        let error =
            refloat::Error::InvalidArgument("9 is not a level; take 0 to 3; or make a new set".into());
        let problem = Problem::from(error);
        assert_eq!((problem.code.as_str(), problem.title.as_str()), ("INVALID_ARGUMENT", "Invalid request"));
        assert_eq!(problem.detail, "9 is not a level; take 0 to 3; or make a new set");
        let plain = refloat::Error::BadBytes("the end is missing".into());
        assert_eq!(beside_its_code(&plain), "the end is missing");
        // A stage alone would not say what happened.
        let stopped = refloat::Error::Cancelled("mod_raise".into());
        assert_eq!(beside_its_code(&stopped), "cancelled: mod_raise");
    }
}
