//! Counters of requests and connections.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::metrics::New;

/// A kind of request: everything here has few values, whatever clients send.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabel {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

/// What is counted of requests and connections.
pub struct Traffic {
    requests: Family<RequestLabel, Counter>,
    seconds: Family<RouteLabel, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    sent: Counter,
    connections: Gauge,
    closed: Family<ReasonLabel, Counter>,
}

/// Counts something as open until it is dropped.
pub struct Open(Gauge);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Traffic {
    /// New counters, under their names in `registry`.
    pub fn new(registry: &mut Registry) -> Self {
        let histogram: fn() -> Histogram = || Histogram::new([0.001, 0.01, 0.1, 1.0, 10.0, 100.0]);
        let mut new = New(registry);
        Self {
            requests: new.number("http_requests", "Requests answered"),
            seconds: new.measure(
                "http_request",
                Unit::Seconds,
                "Time from a request's header to the header of its answer",
                Family::new_with_constructor(histogram),
            ),
            in_flight: new.number("http_requests_in_flight", "Requests being answered"),
            sent: new.bytes("http_sent", "Bodies of answers"),
            connections: new.number("http_connections", "Connections open"),
            closed: new.number("http_connections_closed", "Connections that the server closed, by reason"),
        }
    }

    /// Counts a request as being answered.
    pub fn request(&self) -> Open {
        self.in_flight.inc();
        Open(self.in_flight.clone())
    }

    /// Counts an answer's header.
    pub fn answered(&self, method: &'static str, route: &str, status: u16, time: Duration) {
        let route = route.to_owned();
        self.seconds.get_or_create(&RouteLabel { route: route.clone() }).observe(time.as_secs_f64());
        self.requests.get_or_create(&RequestLabel { method, route, status }).inc();
    }

    /// Counts the body of an answer.
    pub fn sent(&self, bytes: u64) {
        self.sent.inc_by(bytes);
    }

    /// Counts a connection as open.
    pub fn connection(&self) -> Open {
        self.connections.inc();
        Open(self.connections.clone())
    }

    /// Counts a connection that the server closed.
    pub fn closed(&self, reason: &'static str) {
        self.closed.get_or_create(&ReasonLabel { reason }).inc();
    }
}
