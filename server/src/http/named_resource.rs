//! Extractors for routes of one key set or job.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

use super::respond::Refusal;
use super::{Http, blocking, parse_id};
use crate::id::Id;
use crate::problem::Problem;
use crate::service::Service;
use crate::service::access::Caller;

/// Who asks for what; the identifier is taken from the address.
pub struct Asked {
    pub(super) http: Arc<Http>,
    pub(super) caller: Arc<Caller>,
    pub(super) id: Id,
}

impl FromRequestParts<Arc<Http>> for Asked {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, http: &Arc<Http>) -> Result<Self, Response> {
        let Extension(caller) =
            Extension::from_request_parts(parts, http).await.map_err(IntoResponse::into_response)?;
        let Path(id) =
            Path::<String>::from_request_parts(parts, http).await.map_err(IntoResponse::into_response)?;
        let id = parse_id(&id).map_err(IntoResponse::into_response)?;
        Ok(Self { http: Arc::clone(http), caller, id })
    }
}

impl Asked {
    /// Runs `work` on the service, and returns its answer.
    pub(super) async fn of<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service, Id, &Caller) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Refusal> {
        let (id, caller) = (self.id, Arc::clone(&self.caller));
        blocking(&self.http, move |service| work(service, id, &caller)).await
    }
}
