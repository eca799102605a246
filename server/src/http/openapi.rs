//! The `OpenAPI` description, made from the handlers.

use serde::Serialize;
use utoipa::{OpenApi, ToSchema};

/// The shape of a problem document.
#[derive(Serialize, ToSchema)]
pub struct Problem {
    /// URI of the kind of problem.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the kind of problem is called.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// This occurrence, in words: both sides of a mismatch and the repair.
    pub detail: String,
    /// Stable identifier of the kind of problem.
    pub code: String,
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "refloat",
        description = "Bootstrapping as a service: evaluation keys and ciphertexts go in, refreshed ciphertexts come out. No secret key is ever taken."
    ),
    paths(
        super::meta::params,
        super::keys::open,
        super::keys::get,
        super::keys::head,
        super::keys::put_chunk,
        super::keys::commit,
        super::keys::delete,
        super::jobs::submit,
        super::jobs::get,
        super::jobs::cancel,
        super::jobs::result,
        super::stream::events,
        super::meta::healthz,
        super::meta::readyz,
        super::meta::metrics,
        super::meta::version,
        super::meta::openapi,
    ),
    components(schemas(crate::service::views::StageDocument, crate::service::views::End))
)]
struct Api;

/// The description of this version.
pub fn document() -> utoipa::openapi::OpenApi {
    Api::openapi()
}
