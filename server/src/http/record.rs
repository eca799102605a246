//! What is recorded of each request: its identifier, a line in the log, and counters.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::MatchedPath;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use axum::response::Response;

use super::progress::{Exchange, Watched};
use super::turns::Slot;
use crate::id::{hex, unhex};
use crate::service::Service;
use crate::service::traffic::Open;

/// Header with the identifier of a request.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest path in the log.
const SHOWN: usize = 200;

/// A request being answered.
pub struct Record {
    service: Arc<Service>,
    id: String,
    trace: String,
    method: &'static str,
    route: String,
    path: String,
    client: IpAddr,
    began: Instant,
    open: Open,
}

impl Record {
    /// Begins the record of a request from `client`. An identifier is taken over only from a `trusted` proxy.
    pub fn new<B>(service: &Arc<Service>, request: &Request<B>, client: IpAddr, trusted: bool) -> Self {
        let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str);
        Self {
            id: given_id(request.headers()).filter(|_| trusted).unwrap_or_else(drawn_id),
            trace: trace_id(request.headers()).unwrap_or_default(),
            method: method(request.method()),
            // Names of the demo's files do not belong in the counters, and there are many.
            route: if route.contains('*') { "other" } else { route }.to_owned(),
            path: request.uri().path().chars().take(SHOWN).collect(),
            client,
            began: Instant::now(),
            open: service.metrics.traffic.request(),
            service: Arc::clone(service),
        }
    }

    /// The span for everything that is logged because of this request.
    pub fn span(&self) -> tracing::Span {
        tracing::info_span!("request", id = %self.id, trace = %self.trace)
    }

    /// Counts the answer, and sees to it that the record is complete when its body has ended.
    pub fn answer(self, mut response: Response, exchange: Exchange) -> Response {
        let status = response.status().as_u16();
        let Self { service, id, trace, method, route, path, client, began, open } = self;
        service.metrics.traffic.answered(method, &route, status, began.elapsed());
        if let Ok(value) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(REQUEST_ID, value);
        }
        let stated = response.headers().get(header::CONTENT_LENGTH);
        let stated = stated.and_then(|length| length.to_str().ok()?.parse().ok());
        let held = response.extensions_mut().remove::<Arc<Slot>>();
        let at_end = move |bytes: u64, whole: bool| {
            service.metrics.traffic.sent(bytes);
            drop(open);
            if service.config.log.access {
                let ms = began.elapsed().as_millis() as u64;
                tracing::info!(target: "refloat::access", id, trace, %client, method, path, status, bytes, whole, ms, "request");
            }
        };
        response.map(|body| Body::new(Watched::new(body, exchange, stated, held, Box::new(at_end))))
    }
}

/// The address of the client: what trusted proxies say, as far back as they are trusted.
pub fn client(peer: IpAddr, trusted: &[IpAddr], headers: &HeaderMap) -> IpAddr {
    let mut client = peer.to_canonical();
    if !trusted.contains(&client) {
        return client;
    }
    let entries: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .collect();
    for entry in entries.into_iter().rev() {
        let Ok(address) = entry.trim().parse::<IpAddr>() else { break };
        client = address.to_canonical();
        if !trusted.contains(&client) {
            break;
        }
    }
    client
}

/// The method as it is counted: all names that clients make up count as one.
fn method(method: &Method) -> &'static str {
    const KNOWN: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("other")
}

fn given_id(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(REQUEST_ID)?.to_str().ok()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    ((1..=64).contains(&text.len()) && text.chars().all(plain)).then(|| text.to_owned())
}

fn drawn_id() -> String {
    let mut bytes = [0; 8];
    // Without entropy requests are hard to tell apart, and that is all.
    let _ = getrandom::fill(&mut bytes);
    hex(&bytes)
}

/// The trace that a request belongs to, by W3C Trace Context.
fn trace_id(headers: &HeaderMap) -> Option<String> {
    let text = headers.get("traceparent")?.to_str().ok()?;
    let mut parts = text.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    unhex(version, &mut [0; 1]).and(unhex(parent, &mut [0; 8])).and(unhex(flags, &mut [0; 1]))?;
    let mut id = [0; 16];
    unhex(trace, &mut id)?;
    (id != [0; 16] && version != "ff").then(|| trace.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn clients_are_who_trusted_proxies_say() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let trusted = [ip("127.0.0.1"), ip("10.0.0.1")];
        let of = |peer: &str, values: &[&str]| {
            client(ip(peer), &trusted, &headers("x-forwarded-for", values)).to_string()
        };
        assert_eq!(of("192.0.2.1", &["198.51.100.7"]), "192.0.2.1", "anybody can write a header");
        assert_eq!(of("127.0.0.1", &["1.2.3.4, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(of("127.0.0.1", &["1.2.3.4", "198.51.100.7, 10.0.0.1"]), "198.51.100.7");
        assert_eq!(of("::ffff:127.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(of("127.0.0.1", &["198.51.100.7, nobody"]), "127.0.0.1");
        assert_eq!(of("127.0.0.1", &[]), "127.0.0.1");
    }

    #[test]
    fn identifiers_and_traces_are_taken_only_in_their_form() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let of = |text: &str| trace_id(&headers("traceparent", &[text]));
        assert_eq!(of(&format!("00-{trace}-b7ad6b7169203331-01")).as_deref(), Some(trace));
        for bad in [
            "",
            "00",
            &format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)),
            &format!("ff-{trace}-b7ad6b7169203331-01"),
        ] {
            assert_eq!(of(bad), None, "{bad}");
        }
        assert_eq!(given_id(&headers("x-request-id", &["a-1_b.c"])).as_deref(), Some("a-1_b.c"));
        for bad in ["", "a b", &"a".repeat(65)] {
            assert_eq!(given_id(&headers("x-request-id", &[bad])), None, "{bad}");
        }
    }
}
