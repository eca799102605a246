//! What is checked of every request before its handler sees it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::cors::{AllowOrigin, CorsLayer};
use tracing::Instrument;

use super::listen::Connection;
use super::progress::{Patience, Progress};
use super::record::{self, Record};
use super::respond::Code;
use super::{Http, body, caller, files};
use crate::config::ServerSection;
use crate::problem::Problem;

/// Address of requests that came over no connection, as in tests of the router.
const UNKNOWN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// What the demo may load: its own files and WebAssembly, and answers from any server that it is pointed to.
const PAGE_SOURCES: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data: blob:; worker-src 'self' blob:; connect-src 'self' http: https:; object-src 'none'; base-uri 'none'";

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

/// Refuses requests that no address takes, and records the outcome.
pub async fn guard(State(http): State<Arc<Http>>, mut request: Request, next: Next) -> Response {
    let config = &http.service.config;
    let connection = request.extensions().get::<Connection>().cloned().unwrap_or_else(|| Connection {
        address: UNKNOWN,
        progress: Progress::new(Patience::new(&config.limits)),
        reserved: false,
    });
    let exchange = connection.progress.begin();
    let peer = connection.address.ip();
    let client = record::client(peer, &config.server.trusted_proxies, request.headers());
    let trusted = config.server.trusted_proxies.contains(&peer.to_canonical());
    let record = Record::new(&http.service, &request, client, trusted);
    let path = request.uri().path();
    let api = !files::is_file(path);
    let checked = caller::once(request.headers())
        .and_then(|()| check(&config.server, &request))
        .and_then(|()| if connection.reserved { only_health(path) } else { Ok(()) });
    let answering = async {
        match checked {
            Ok(()) => {
                let caller = caller::read(&config.access, request.headers(), client);
                request.extensions_mut().insert(Arc::new(caller));
                next.run(request).await
            }
            Err(problem) => {
                let (parts, unread) = request.into_parts();
                body::refuse(&parts.headers, unread, problem).await.into_response()
            }
        }
    };
    let response = answering.instrument(record.span()).await;
    if let Some(Code(code)) = response.extensions().get() {
        http.service.metrics.refused(code);
    }
    record.answer(with_headers(&config.server, api, response), exchange)
}

/// Refuses everything except health checks.
fn only_health(path: &str) -> Result<(), Problem> {
    if ["/healthz", "/readyz"].contains(&path) {
        return Ok(());
    }
    let detail = "as many connections are open as this server takes; come back in a moment";
    Err(Problem::new(503, "BUSY", "Too many connections", detail).retry_after(2))
}

fn check(server: &ServerSection, request: &Request) -> Result<(), Problem> {
    let (method, headers) = (request.method(), request.headers());
    if [Method::CONNECT, Method::TRACE].contains(method) {
        let detail = format!("this server takes no {method}");
        return Err(Problem::new(405, "METHOD_NOT_ALLOWED", "Method not allowed", detail));
    }
    if headers.get(header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(Problem::new(
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            "No compressed bodies",
            "the body has a Content-Encoding; ciphertexts and keys do not compress, send them as they are",
        ));
    }
    let [host, authority] = hosts(request);
    if let (Some(host), Some(authority)) = (host, authority)
        && host != authority
    {
        return Err(Problem::bad_request("the Host header and the address of the request name two hosts"));
    }
    let host = authority.or(host).unwrap_or("");
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

fn with_headers(server: &ServerSection, api: bool, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(name("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    headers.insert(name("cross-origin-embedder-policy"), HeaderValue::from_static("require-corp"));
    let sources = if api { "default-src 'none'" } else { PAGE_SOURCES };
    let ancestors = if server.frame_ancestors.is_empty() {
        "'none'".to_owned()
    } else {
        server.frame_ancestors.join(" ")
    };
    if let Ok(policy) = HeaderValue::try_from(format!("{sources}; frame-ancestors {ancestors}")) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    if api || !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

fn is_listed(allowed: &[String], origin: &HeaderValue) -> bool {
    allowed.iter().any(|allowed| allowed == "*" || allowed.as_bytes() == origin.as_bytes())
}

/// The hosts that a request names: in its Host header; and in its address, as in HTTP/2 and in a request for a proxy.
fn hosts(request: &Request) -> [Option<&str>; 2] {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    [host, request.uri().authority().map(axum::http::uri::Authority::as_str)]
}

/// Whether a request names a host, and only names of loopback.
pub fn names_this_machine(request: &Request) -> bool {
    let mut named = hosts(request).into_iter().flatten().peekable();
    named.peek().is_some() && named.all(is_local)
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

/// The refusal of a request from a place that may not send it.
pub fn forbidden(detail: String) -> Problem {
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
        let mut request = Request::builder().method(method.clone()).uri("/v1/keys");
        for (name, value) in entries {
            request = request.header(name, *value);
        }
        let request = request.body(axum::body::Body::empty()).unwrap();
        check(server, &request).err().map(|problem| problem.code.clone())
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
