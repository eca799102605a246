//! Problem documents as HTTP responses.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// A response that is a problem document.
#[derive(Debug)]
pub struct Refusal(Problem);

/// The code of a problem, left in a response's extensions so that it can be counted.
#[derive(Debug, Clone)]
pub struct Code(pub String);

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let problem = self.0;
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let text = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response =
            (status, [(header::CONTENT_TYPE, "application/problem+json")], text).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let asked = if problem.code == "API_KEY_MISSING" { "ApiKey" } else { "Bearer" };
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(asked));
        }
        if let Some(seconds) = problem.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(Code(problem.code.clone()));
        response
    }
}
