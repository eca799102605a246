//! Checks answers against the `OpenAPI` description.

use std::sync::LazyLock;

use serde_json::Value;

use super::Answer;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::to_value(refloat_server::http::openapi::document()).unwrap());

/// Asserts that the description allows this status and media type for this request. Addresses that are
/// not in the description are not checked.
#[track_caller]
pub fn check(method: &str, path: &str, answer: &Answer) {
    let Some(item) = item(path.split('?').next().unwrap()) else { return };
    let Some(operation) = item.get(method.to_ascii_lowercase()) else { return };
    let status = answer.status.to_string();
    let stated = operation["responses"].get(&status).unwrap_or_else(|| {
        panic!("{method} {path} answered {status}, which its utoipa::path does not name: {answer:?}")
    });
    let kind = answer.header("content-type").split(';').next().unwrap();
    let kinds: Vec<&str> =
        stated["content"].as_object().into_iter().flatten().map(|(kind, _)| kind.as_str()).collect();
    assert!(
        kinds.contains(&kind) || kinds.is_empty() && answer.body.is_empty(),
        "{method} {path} answered {status} with {kind:?}; its utoipa::path has {kinds:?}"
    );
}

/// The description of an address; templates match segment by segment.
fn item(path: &str) -> Option<&'static Value> {
    let matches = |template: &str| {
        let (mut stated, mut asked) = (template.split('/'), path.split('/'));
        loop {
            match (stated.next(), asked.next()) {
                (None, None) => return true,
                (Some(stated), Some(asked)) if stated == asked || stated.starts_with('{') => {}
                _ => return false,
            }
        }
    };
    DOCUMENT["paths"].as_object()?.iter().find(|(template, _)| matches(template)).map(|(_, item)| item)
}
