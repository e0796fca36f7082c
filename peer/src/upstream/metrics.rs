//! The metrics of each upstream.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

type Labels = Vec<(&'static str, String)>;

/// Counters by upstream. Clones share them.
#[derive(Clone)]
pub struct UpstreamMetrics {
    requests: Family<Labels, Counter>,
    writes: Family<Labels, Counter>,
    bytes: Family<Labels, Counter>,
    seconds: Family<Labels, Histogram>,
    negative_cache_hits: Counter,
    skipped_writes: Counter,
    cache_lookups: Family<Labels, Counter>,
    /// The reads that are still to come of chunks that were looked up.
    reads_after_lookups: Arc<AtomicU64>,
}

fn latency_histogram() -> Histogram {
    Histogram::new([
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
    ])
}

impl Default for UpstreamMetrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            writes: Family::default(),
            bytes: Family::default(),
            seconds: Family::new_with_constructor(latency_histogram),
            negative_cache_hits: Counter::default(),
            skipped_writes: Counter::default(),
            cache_lookups: Family::default(),
            reads_after_lookups: Arc::default(),
        }
    }
}

impl UpstreamMetrics {
    /// Adds these metrics to `/metrics`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "upstream_requests",
            "Requests for chunks to an upstream, by upstream and outcome",
            self.requests.clone(),
        );
        registry.register(
            "upstream_writes",
            "Chunks written to an upstream, by upstream and outcome",
            self.writes.clone(),
        );
        registry.register(
            "upstream_received_bytes",
            "Bytes of chunks from an upstream",
            self.bytes.clone(),
        );
        registry.register(
            "upstream_seconds",
            "Time for an upstream to answer",
            self.seconds.clone(),
        );
        registry.register(
            "upstream_remembered",
            "Requests answered from the negative cache, without asking an upstream",
            self.negative_cache_hits.clone(),
        );
        registry.register(
            "upstream_not_cached",
            "Chunks of upstreams that were not cached, because the disk was too slow",
            self.skipped_writes.clone(),
        );
        registry.register(
            "cache_lookups",
            "Reads of chunks that the peer had (hit), and lookups at upstreams (miss)",
            self.cache_lookups.clone(),
        );
    }

    /// Counts a request that was looked up at upstreams. If the chunk was found, its client reads it next.
    pub fn record_lookup(&self, is_found: bool) {
        self.count_cache_lookup("miss");
        if is_found {
            self.reads_after_lookups.fetch_add(1, Relaxed);
        }
    }

    /// Counts the read of a chunk. It is a hit unless it follows a lookup. The total is right, whichever read follows
    /// which lookup. If a client leaves between the two, one hit is not counted.
    pub fn record_read(&self) {
        let take = |reads: u64| reads.checked_sub(1);
        let after_lookup = self
            .reads_after_lookups
            .fetch_update(Relaxed, Relaxed, take);
        if after_lookup.is_err() {
            self.count_cache_lookup("hit");
        }
    }

    fn count_cache_lookup(&self, result: &'static str) {
        let labels = vec![("result", result.to_owned())];
        self.cache_lookups.get_or_create(&labels).inc();
    }

    /// Counts a request for one chunk.
    pub fn record_request(
        &self,
        upstream: &str,
        outcome: &'static str,
        bytes: usize,
        took: Duration,
    ) {
        let name = || ("upstream", upstream.to_owned());
        self.requests
            .get_or_create(&vec![name(), ("outcome", outcome.to_owned())])
            .inc();
        self.bytes.get_or_create(&vec![name()]).inc_by(bytes as u64);
        self.seconds
            .get_or_create(&vec![name()])
            .observe(took.as_secs_f64());
    }

    /// Counts a chunk request that was not sent because the circuit breaker is open.
    pub fn record_skipped_request(&self, upstream: &str) {
        let labels = vec![
            ("upstream", upstream.to_owned()),
            ("outcome", "left_out".to_owned()),
        ];
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts a write of one chunk.
    pub fn record_write(&self, upstream: &str, outcome: &'static str) {
        let labels = vec![
            ("upstream", upstream.to_owned()),
            ("outcome", outcome.to_owned()),
        ];
        self.writes.get_or_create(&labels).inc();
    }

    /// Counts a chunk that is not cached.
    pub fn record_skipped_write(&self) {
        self.skipped_writes.inc();
    }

    /// Counts a hit of the negative cache.
    pub fn record_negative_cache_hit(&self) {
        self.negative_cache_hits.inc();
    }
}
