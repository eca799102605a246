//! Routes for operators under `/v1/key-sets`: all key sets, no matter whose. They are on the operators' listener alone, and answer only
//! requests from the machine itself.

use std::sync::Arc;

use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get};
use axum::{Json, Router};
use serde::Deserialize;

use super::guard;
use super::listen::Connection;
use super::respond::Refusal;
use super::{Http, blocking, method_not_allowed, openapi, parse_id};
use crate::problem::Problem;
use crate::service::key_sets::{KeySetsDocument, USUAL_PAGE};

/// Addresses of the routes: of all key sets, and of one.
const ROUTES: [&str; 2] = ["/v1/key-sets", "/v1/key-sets/{id}"];

/// The routes, for the operators' listener.
pub fn routes() -> Router<Arc<Http>> {
    Router::new()
        .route(ROUTES[0], get(list))
        .route(ROUTES[1], delete(remove))
        .method_not_allowed_fallback(method_not_allowed)
        .route_layer(from_fn(from_this_machine))
}

/// The refusal that clients get at these addresses: it says where the routes are.
pub fn elsewhere() -> Router<Arc<Http>> {
    async fn refuse() -> Refusal {
        let detail = "key sets are listed and removed by operators, at the address of server.metrics_listen and from the machine itself, \
                      and not at this address";
        Problem::not_found(detail).into()
    }
    ROUTES.into_iter().fold(Router::new(), |router, route| router.route(route, any(refuse)))
}

/// Query of `GET /v1/key-sets`.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct KeySetsQuery {
    /// Only key sets with a greater identifier than this: `next` of the page before.
    after: Option<String>,
    /// Key sets on the page, 1 to 1000. Default: 100.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// Lists all key sets, in pages. For operators.
#[utoipa::path(get, path = "/v1/key-sets", operation_id = "list_key_sets", tag = "operators", params(KeySetsQuery), responses(
    (status = 200, description = "Some key sets, and where the next page begins", body = KeySetsDocument),
    (status = 403, description = "The request comes from another machine, through a proxy, or from a page", content_type = "application/problem+json", body = openapi::Problem),
    (status = 404, description = "This is not the operators' listener: server.metrics_listen says where that is", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn list(
    State(http): State<Arc<Http>>,
    query: Result<Query<KeySetsQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<KeySetsDocument>, Refusal> {
    let Query(KeySetsQuery { after, limit }) =
        query.map_err(|error| Problem::bad_request(error.body_text()))?;
    let after = after.map(|id| id.parse()).transpose();
    let after = after.map_err(|error: crate::id::BadId| Problem::bad_request(format!("after: {error}")))?;
    let limit = limit.unwrap_or(USUAL_PAGE);
    Ok(Json(blocking(&http, move |service| service.key_sets(after, limit)).await?))
}

/// Removes a key set of any owner. For operators.
#[utoipa::path(delete, path = "/v1/key-sets/{id}", operation_id = "remove_key_set", tag = "operators", params(("id" = String, Path, description = "Key set")), responses(
    (status = 204, description = "Gone"),
    (status = 403, description = "The request comes from another machine, through a proxy, or from a page", content_type = "application/problem+json", body = openapi::Problem),
    (status = 404, description = "No such key set, or this is not the operators' listener", content_type = "application/problem+json", body = openapi::Problem),
    (status = 409, description = "Jobs wait for it", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn remove(State(http): State<Arc<Http>>, Path(id): Path<String>) -> Result<StatusCode, Refusal> {
    let id = parse_id(&id)?;
    blocking(&http, move |service| service.remove_key_set(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses requests from other machines. The operators' listener may be open to those for collecting counters, but that does not permit them
/// to see identifiers or to remove keys.
async fn from_this_machine(request: Request, next: Next) -> Response {
    let address = request.extensions().get::<Connection>().map(|connection| connection.address.ip());
    let headers = request.headers();
    let reason = match address {
        // A request without a connection comes from this process.
        Some(address) if !address.to_canonical().is_loopback() => {
            format!("this request comes from {}", address.to_canonical())
        }
        _ if ["x-forwarded-for", "forwarded"].iter().any(|name| headers.contains_key(*name)) => {
            "this request comes through a proxy".to_owned()
        }
        _ if headers.contains_key(header::ORIGIN) => "this request comes from a page".to_owned(),
        _ if !guard::names_this_machine(&request) => {
            "this request is for a host that is not called localhost or 127.0.0.1".to_owned()
        }
        _ => return next.run(request).await,
    };
    let detail = format!(
        "{reason}, and key sets are listed and removed only from the machine that the server runs on; log in there, by ssh for instance, \
         and ask the address of server.metrics_listen directly"
    );
    Refusal::from(guard::forbidden(detail)).into_response()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::body::Body;
    use tower::Service;

    use super::super::progress::{Patience, Progress};
    use super::*;
    use crate::config::LimitsSection;

    async fn status_for(address: &str) -> StatusCode {
        let mut router: Router =
            Router::new().route("/", get(|| async {})).route_layer(from_fn(from_this_machine));
        let progress = Progress::new(Patience::new(&LimitsSection::default()));
        let address: SocketAddr = address.parse().unwrap();
        let request = Request::builder().uri("/").header("host", "localhost:9090");
        let request = request.extension(Connection { address, progress, reserved: false });
        router.call(request.body(Body::empty()).unwrap()).await.unwrap().status()
    }

    #[tokio::test]
    async fn other_machines_are_refused_whatever_they_say() {
        for here in ["127.0.0.1:5", "127.9.9.9:5", "[::1]:5", "[::ffff:127.0.0.1]:5"] {
            assert_eq!(status_for(here).await, StatusCode::OK, "{here}");
        }
        for away in ["192.0.2.1:5", "10.0.0.1:5", "[2001:db8::1]:5", "[::ffff:192.0.2.1]:5"] {
            assert_eq!(status_for(away).await, StatusCode::FORBIDDEN, "{away}");
        }
    }
}
