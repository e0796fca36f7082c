//! The Prometheus metrics of the peer.

use crate::network_usage::Usage;
use crate::source::SourceStats;
use ipnet::IpNet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The transport of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// HTTP.
    Http,
    /// WebTransport.
    WebTransport,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::WebTransport => "webtransport",
        }
    }
}

type Labels = Vec<(&'static str, &'static str)>;

type NetworkLabels = Vec<(&'static str, String)>;

/// All metrics of one peer.
pub struct Metrics {
    registry: Registry,
    /// The metrics that name client networks.
    network_registry: Registry,
    requests: Family<Labels, Counter>,
    answers: Family<Labels, Counter>,
    sent: Family<Labels, Counter>,
    received: Family<Labels, Counter>,
    refused_writes: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram>,
    sessions: Gauge,
    streams: Gauge,
    http_connections: Gauge,
    refused_connections: Family<Labels, Counter>,
    certificate_expiry: Gauge,
    network_requests: Family<NetworkLabels, Gauge>,
    network_bytes: Family<NetworkLabels, Gauge>,
    chunks: Gauge,
    bytes: Gauge,
    quarantined: Counter,
    evicted: Counter,
}

/// Increments a gauge, and decrements it on drop.
pub struct GaugeGuard(Gauge);

impl GaugeGuard {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn latency_histogram() -> Histogram {
    Histogram::new([
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
    ])
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("antway_peer"),
            network_registry: Registry::with_prefix("antway_peer"),
            requests: Family::default(),
            answers: Family::default(),
            sent: Family::default(),
            received: Family::default(),
            refused_writes: Family::default(),
            seconds: Family::new_with_constructor(latency_histogram),
            sessions: Gauge::default(),
            streams: Gauge::default(),
            http_connections: Gauge::default(),
            refused_connections: Family::default(),
            certificate_expiry: Gauge::default(),
            network_requests: Family::default(),
            network_bytes: Family::default(),
            chunks: Gauge::default(),
            bytes: Gauge::default(),
            quarantined: Counter::default(),
            evicted: Counter::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    /// The registry, for modules that add their own metrics.
    pub fn registry(&mut self) -> &mut Registry {
        &mut self.registry
    }

    fn register(&mut self) {
        let r = &mut self.registry;
        r.register(
            "requests",
            "Requests, by transport, op and outcome",
            self.requests.clone(),
        );
        r.register(
            "answers",
            "Requested chunks, by transport and status",
            self.answers.clone(),
        );
        r.register(
            "sent_bytes",
            "Bytes of responses that the transport accepted, by transport",
            self.sent.clone(),
        );
        r.register(
            "received_bytes",
            "Bytes of requests, by transport",
            self.received.clone(),
        );
        r.register(
            "refused_writes",
            "Writes refused, by transport and reason",
            self.refused_writes.clone(),
        );
        r.register(
            "request_seconds",
            "Time from the arrival of a request to the end of its response, by transport and op",
            self.seconds.clone(),
        );
        r.register(
            "sessions",
            "Open WebTransport sessions",
            self.sessions.clone(),
        );
        r.register(
            "streams",
            "Running WebTransport requests",
            self.streams.clone(),
        );
        r.register(
            "http_connections",
            "Open HTTP connections",
            self.http_connections.clone(),
        );
        r.register(
            "refused_connections",
            "Sessions and HTTP connections refused, by transport and reason",
            self.refused_connections.clone(),
        );
        r.register(
            "certificate_expiry_timestamp_seconds",
            "When the current certificate expires, in seconds since 1970",
            self.certificate_expiry.clone(),
        );
        r.register("store_chunks", "Stored chunks", self.chunks.clone());
        r.register(
            "store_bytes",
            "Bytes of the stored chunks",
            self.bytes.clone(),
        );
        r.register(
            "quarantined_chunks",
            "Damaged chunks quarantined since the start",
            self.quarantined.clone(),
        );
        r.register(
            "evicted_chunks",
            "Chunks evicted since the start",
            self.evicted.clone(),
        );
        let r = &mut self.network_registry;
        r.register(
            "network_requests",
            "Requests of the busiest client networks (IPv4 /24, IPv6 /32) in the last full minute",
            self.network_requests.clone(),
        );
        r.register(
            "network_sent_bytes",
            "Bytes of chunks for the busiest client networks in the last full minute",
            self.network_bytes.clone(),
        );
    }

    /// Records a completed request.
    pub fn record_request(
        &self,
        transport: Transport,
        op: &'static str,
        outcome: &'static str,
        took: Duration,
    ) {
        let transport = transport.name();
        self.requests
            .get_or_create(&vec![
                ("transport", transport),
                ("op", op),
                ("outcome", outcome),
            ])
            .inc();
        self.seconds
            .get_or_create(&vec![("transport", transport), ("op", op)])
            .observe(took.as_secs_f64());
    }

    /// Counts the status of one chunk in a response.
    pub fn count_answer(&self, transport: Transport, status: &'static str) {
        self.answers
            .get_or_create(&vec![("transport", transport.name()), ("status", status)])
            .inc();
    }

    /// The counter of bytes that the transport accepted.
    pub fn sent(&self, transport: Transport) -> Counter {
        self.sent
            .get_or_create_owned(&vec![("transport", transport.name())])
    }

    /// The counter of received bytes.
    pub fn received(&self, transport: Transport) -> Counter {
        self.received
            .get_or_create_owned(&vec![("transport", transport.name())])
    }

    /// Counts a refused write.
    pub fn count_refused_write(&self, transport: Transport, reason: &'static str) {
        self.refused_writes
            .get_or_create(&vec![("transport", transport.name()), ("reason", reason)])
            .inc();
    }

    /// Counts a refused session or HTTP connection.
    pub fn count_refused_connection(&self, transport: Transport, reason: &'static str) {
        self.refused_connections
            .get_or_create(&vec![("transport", transport.name()), ("reason", reason)])
            .inc();
    }

    /// Sets when the current certificate expires, in seconds since 1970.
    pub fn set_certificate_expiry(&self, seconds: i64) {
        self.certificate_expiry.set(seconds);
    }

    /// Replaces the busiest client networks.
    pub fn set_busiest_networks(&self, busiest: Vec<(IpNet, Usage)>) {
        self.network_requests.clear();
        self.network_bytes.clear();
        let gauge = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        for (network, usage) in busiest {
            let labels = vec![("network", network.to_string())];
            self.network_requests
                .get_or_create(&labels)
                .set(gauge(usage.requests));
            self.network_bytes
                .get_or_create(&labels)
                .set(gauge(usage.bytes));
        }
    }

    /// Counts a session until the guard is dropped.
    pub fn session(&self) -> GaugeGuard {
        GaugeGuard::new(&self.sessions)
    }

    /// Counts a stream until the guard is dropped.
    pub fn stream(&self) -> GaugeGuard {
        GaugeGuard::new(&self.streams)
    }

    /// Counts an HTTP connection until the guard is dropped.
    pub fn http_connection(&self) -> GaugeGuard {
        GaugeGuard::new(&self.http_connections)
    }

    /// All metrics, in the OpenMetrics text format. `for_operator` includes those that name client networks.
    pub fn text(&self, stats: SourceStats, for_operator: bool) -> String {
        let gauge = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        self.chunks.set(gauge(stats.chunks));
        self.bytes.set(gauge(stats.bytes));
        self.quarantined.inner().store(stats.quarantined, Relaxed);
        self.evicted.inner().store(stats.evicted, Relaxed);
        let mut text = String::new();
        let mut encode = || {
            encode_registry(&mut text, &self.registry)?;
            if for_operator {
                encode_registry(&mut text, &self.network_registry)?;
            }
            encode_eof(&mut text)
        };
        encode().expect("writing to a string does not fail");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_contains_the_recorded_metrics() {
        let metrics = Metrics::default();
        metrics.record_request(Transport::Http, "get", "found", Duration::from_millis(3));
        metrics.sent(Transport::WebTransport).inc_by(7);
        metrics.count_refused_write(Transport::Http, "token");
        metrics.count_refused_connection(Transport::Http, "network");
        metrics.set_certificate_expiry(1234);
        let usage = Usage {
            requests: 5,
            bytes: 6,
        };
        for network in ["10.0.0.0/24", "203.0.113.0/24"] {
            metrics.set_busiest_networks(vec![(network.parse().unwrap(), usage)]);
        }
        let _open = metrics.session();
        drop(metrics.session());
        let stats = SourceStats {
            chunks: 1,
            bytes: 2,
            quarantined: 3,
            evicted: 4,
        };
        let text = metrics.text(stats, true);
        for line in [
            r#"antway_peer_requests_total{transport="http",op="get",outcome="found"} 1"#,
            r#"antway_peer_sent_bytes_total{transport="webtransport"} 7"#,
            r#"antway_peer_refused_writes_total{transport="http",reason="token"} 1"#,
            r#"antway_peer_request_seconds_count{transport="http",op="get"} 1"#,
            r#"antway_peer_refused_connections_total{transport="http",reason="network"} 1"#,
            "antway_peer_certificate_expiry_timestamp_seconds 1234",
            r#"antway_peer_network_requests{network="203.0.113.0/24"} 5"#,
            r#"antway_peer_network_sent_bytes{network="203.0.113.0/24"} 6"#,
            "antway_peer_sessions 1",
            "antway_peer_store_bytes 2",
            "antway_peer_quarantined_chunks_total 3",
            "antway_peer_evicted_chunks_total 4",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} not in\n{text}");
        }
        assert!(!text.contains("10.0.0.0/24"), "no longer among the busiest");
        assert!(!metrics.text(stats, false).contains("203.0.113"));
    }
}
