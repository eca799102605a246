//! What is checked of every request before its handler sees it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::respond::{Code, Refusal};
use super::{Http, body, caller};
use crate::config::ServerSection;
use crate::problem::Problem;

/// Where requests come from that no connection brought, as in tests of the router.
const UNKNOWN: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Answers to pages of other origins, as far as configured.
pub fn cors(server: &ServerSection) -> CorsLayer {
    let allowed = server.allowed_origins.clone();
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin: &HeaderValue, _| is_listed(&allowed, origin)))
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::IF_NONE_MATCH,
            name(caller::API_KEY),
            name("idempotency-key"),
            name("last-event-id"),
            name(body::DIGEST),
            name("traceparent"),
        ])
        .expose_headers([
            header::ETAG,
            header::LOCATION,
            header::RETRY_AFTER,
            header::WWW_AUTHENTICATE,
            name(body::DIGEST),
            name("x-refloat-present"),
            name("x-request-id"),
        ])
        .max_age(std::time::Duration::from_mins(10))
}

/// Refuses what no address takes, and logs and counts the outcome.
pub async fn guard(State(http): State<Arc<Http>>, mut request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let checked = caller::once(request.headers())
        .and_then(|()| check(&http.service.config.server, request.method(), request.headers()));
    let response = match checked {
        Ok(()) => {
            let address = request.extensions().get::<SocketAddr>().map_or(UNKNOWN, SocketAddr::ip);
            let caller = caller::read(&http.service.config.access, request.headers(), address);
            request.extensions_mut().insert(Arc::new(caller));
            next.run(request).await
        }
        Err(problem) => {
            let (parts, unread) = request.into_parts();
            refuse(&parts.headers, unread, problem).await.into_response()
        }
    };
    tracing::debug!(%method, path, status = response.status().as_u16(), "request");
    if let Some(Code(code)) = response.extensions().get() {
        http.service.metrics.refused(code);
    }
    with_headers(response)
}

async fn refuse(headers: &HeaderMap, unread: Body, problem: Problem) -> Refusal {
    body::refuse(headers, unread, problem).await
}

fn check(server: &ServerSection, method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if headers.get(header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(Problem::new(
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            "No compressed bodies",
            "the body has a Content-Encoding; ciphertexts and keys do not compress, send them as they are",
        ));
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
    if server.listen.ip().is_loopback()
        && !is_local(host)
        && !server.allowed_hosts.iter().any(|allowed| allowed == name_of(host))
    {
        return Err(forbidden(format!(
            "this server listens on loopback and was addressed as {:?}; add the name to server.allowed_hosts if that is meant",
            host.chars().take(100).collect::<String>()
        )));
    }
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    if let Some(origin) = headers.get(header::ORIGIN).filter(|_| !reads) {
        let own = origin
            .to_str()
            .is_ok_and(|origin| origin.split_once("://").is_some_and(|(_, authority)| authority == host));
        if !own && !is_listed(&server.allowed_origins, origin) {
            return Err(forbidden(format!(
                "pages of {origin:?} may not use this server; start it with --allow-origin to let them"
            )));
        }
    }
    Ok(())
}

fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(name("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    headers.insert(name("cross-origin-embedder-policy"), HeaderValue::from_static("require-corp"));
    response
}

fn is_listed(allowed: &[String], origin: &HeaderValue) -> bool {
    allowed.iter().any(|allowed| allowed == "*" || allowed.as_bytes() == origin.as_bytes())
}

/// The host without its port.
fn name_of(host: &str) -> &str {
    match host.rfind(':') {
        Some(colon) if !host[colon..].contains(']') => &host[..colon],
        _ => host,
    }
}

fn is_local(host: &str) -> bool {
    let name = name_of(host).to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
        || name == "[::1]"
}

fn forbidden(detail: String) -> Problem {
    Problem::new(403, "FORBIDDEN", "Not from there", detail)
}

fn name(text: &'static str) -> HeaderName {
    HeaderName::from_static(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(
        server: &ServerSection,
        method: &Method,
        entries: &[(HeaderName, &'static str)],
    ) -> Option<String> {
        let headers: HeaderMap =
            entries.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect();
        check(server, method, &headers).err().map(|problem| problem.code.clone())
    }

    #[test]
    fn foreign_names_and_pages_are_refused_on_loopback() {
        let server =
            ServerSection { allowed_origins: vec!["https://a.example".into()], ..ServerSection::default() };
        let host = (header::HOST, "127.0.0.1:7878");
        for local in
            ["localhost", "localhost:7878", "127.0.0.1:1", "[::1]:7878", "[::1]", "demo.localhost:80"]
        {
            assert_eq!(outcome(&server, &Method::GET, &[(header::HOST, local)]), None, "{local}");
        }
        for foreign in ["rebound.example", "rebound.example:7878", "", "10.0.0.1", "127.0.0.1.example"] {
            assert_eq!(
                outcome(&server, &Method::GET, &[(header::HOST, foreign)]).as_deref(),
                Some("FORBIDDEN"),
                "{foreign}"
            );
        }
        let post = |origin| outcome(&server, &Method::POST, &[host.clone(), (header::ORIGIN, origin)]);
        assert_eq!(post("http://127.0.0.1:7878"), None);
        assert_eq!(post("https://a.example"), None);
        for foreign in ["https://b.example", "null", "http://127.0.0.1:7879"] {
            assert_eq!(post(foreign).as_deref(), Some("FORBIDDEN"), "{foreign}");
        }
        let encoded = outcome(&server, &Method::POST, &[host, (header::CONTENT_ENCODING, "gzip")]);
        assert_eq!(encoded.as_deref(), Some("UNSUPPORTED_MEDIA_TYPE"));
    }
}
