//! Fetches chunks and pointers: from the local source, or else from the upstreams.

use super::PullThroughConfig;
use super::fetch_key::{FetchKey, UpstreamScope};
use super::guarded_upstream::{GuardedUpstream, UpstreamError, UpstreamResponse};
use super::negative_cache::NegativeCache;
use super::single_flight::SingleFlight;
use crate::address::Address;
use crate::limits::MAX_PENDING_CACHE_WRITES;
use crate::pointer;
use crate::source::{Chunk, ChunkBody, ChunkSource, PutOutcome, SourceError};
use crate::upstream::{Sink, UpstreamMetrics, Upstreams};
use crate::via::{PeerId, Via};
use bytes::Bytes;
use futures_util::future::join_all;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Fetches missing chunks and pointers from the upstreams.
pub struct Fetcher {
    local: Arc<dyn ChunkSource>,
    upstreams: Vec<GuardedUpstream>,
    sinks: Vec<Arc<dyn Sink>>,
    config: PullThroughConfig,
    id: PeerId,
    flights: SingleFlight,
    negative_cache: NegativeCache,
    /// Limits the fetched chunks that wait for the local source.
    write_permits: Arc<Semaphore>,
    metrics: UpstreamMetrics,
}

impl Fetcher {
    /// Does not connect to the upstreams yet.
    pub fn new(
        local: Arc<dyn ChunkSource>,
        upstreams: Upstreams,
        config: PullThroughConfig,
    ) -> Self {
        Self {
            local,
            upstreams: upstreams
                .all
                .into_iter()
                .map(GuardedUpstream::new)
                .collect(),
            sinks: upstreams.sinks,
            config,
            id: PeerId::random(),
            flights: SingleFlight::new(config.max_orphaned_requests),
            negative_cache: NegativeCache::new(config.not_found_lifetime),
            write_permits: Arc::new(Semaphore::new(MAX_PENDING_CACHE_WRITES)),
            metrics: UpstreamMetrics::default(),
        }
    }

    /// The local source.
    pub fn local(&self) -> &dyn ChunkSource {
        &*self.local
    }

    /// Adds the metrics of the local source and of the upstreams.
    pub fn register(&self, registry: &mut Registry) {
        self.local.register(registry);
        self.metrics.register(registry);
    }

    /// Aborts all upstream requests.
    pub fn abort_all(&self) {
        self.flights.abort_all();
    }

    /// The chunk from the local source or an upstream. `None` if none of them has it.
    pub async fn get(
        self: &Arc<Self>,
        address: Address,
        via: Via,
    ) -> Result<Option<ChunkBody>, SourceError> {
        match self.local.get(address).await {
            Ok(Some(body)) => {
                self.metrics.record_cache_lookup("hit");
                return Ok(Some(body));
            }
            Ok(None) => self.metrics.record_cache_lookup("miss"),
            // The peer still serves from upstreams if the disk cannot be read.
            Err(error) => tracing::error!(%address, %error, "store not readable"),
        }
        // A request loop: this peer sent the request itself.
        if via.contains(self.id) {
            return Ok(None);
        }
        let scope = UpstreamScope::of(&via);
        let key = FetchKey { address, scope };
        let all_upstreams = FetchKey {
            address,
            scope: UpstreamScope::All,
        };
        if self.negative_cache.contains(key) || self.negative_cache.contains(all_upstreams) {
            self.metrics.record_negative_cache_hit();
            return Ok(None);
        }
        let flight = self.flights.join(key, || {
            let fetcher = Arc::clone(self);
            async move { fetcher.fetch(key).await }
        });
        let found = self.with_peer_timeout(scope, flight).await;
        Ok(found
            .unwrap_or(Err(SourceError::Busy))?
            .map(ChunkBody::from_bytes))
    }

    /// Waits for `request`. For a peer's request, returns `None` after half of the upstream timeout. The asking peer
    /// probably has the same timeout, and its circuit breaker would count a late answer as a failure.
    async fn with_peer_timeout<T>(
        &self,
        scope: UpstreamScope,
        request: impl Future<Output = T>,
    ) -> Option<T> {
        match scope {
            UpstreamScope::All => Some(request.await),
            UpstreamScope::ExcludePeers => timeout(self.config.upstream_timeout / 2, request)
                .await
                .ok(),
        }
    }

    /// The upstreams in this scope, in order.
    fn upstreams(&self, scope: UpstreamScope) -> impl Iterator<Item = &GuardedUpstream> {
        self.upstreams
            .iter()
            .filter(move |upstream| scope == UpstreamScope::All || !upstream.inner.is_peer())
    }

    /// Asks one upstream after the other.
    async fn fetch(self: Arc<Self>, key: FetchKey) -> Result<Option<Bytes>, SourceError> {
        let via = Via::default().with(self.id);
        let mut reported_error = None;
        for upstream in self.upstreams(key.scope) {
            match self.request_chunk(upstream, key.address, &via).await {
                Ok(Some(chunk)) => {
                    let bytes = chunk.bytes().clone();
                    self.cache_in_background(chunk).await;
                    return Ok(Some(bytes));
                }
                Ok(None) => {}
                Err(error) => reported_error = Some(combine_errors(reported_error, error)),
            }
        }
        match reported_error {
            Some(error) => Err(error),
            None => {
                self.negative_cache.insert(key);
                Ok(None)
            }
        }
    }

    async fn request_chunk(
        &self,
        upstream: &GuardedUpstream,
        address: Address,
        via: &Via,
    ) -> Result<Option<Chunk>, SourceError> {
        let name = upstream.inner.name();
        let started = Instant::now();
        let request = async {
            match upstream.inner.get(address, via).await? {
                None => Ok(UpstreamResponse::NotFound),
                Some(bytes) => Ok(match verify(address, bytes).await {
                    Some(chunk) => UpstreamResponse::Valid(chunk),
                    None => UpstreamResponse::Invalid,
                }),
            }
        };
        let (chunk, outcome) = match upstream
            .request(self.config.upstream_timeout, request)
            .await
        {
            Ok(UpstreamResponse::Valid(chunk)) => (Ok(Some(chunk)), "found"),
            Ok(UpstreamResponse::NotFound) => (Ok(None), "not_found"),
            Ok(UpstreamResponse::Invalid) => (
                Err(SourceError::Failed(
                    "the bytes do not match the address".to_owned(),
                )),
                "wrong",
            ),
            Err(UpstreamError::Source(SourceError::Busy)) => (Err(SourceError::Busy), "busy"),
            Err(UpstreamError::Source(error)) => (Err(error), "failed"),
            Err(UpstreamError::Timeout) => (Err(SourceError::Busy), "timeout"),
            Err(UpstreamError::CircuitOpen) => {
                self.metrics.record_skipped_request(name);
                return Err(UpstreamError::CircuitOpen.into());
            }
        };
        let bytes = match &chunk {
            Ok(Some(chunk)) => chunk.bytes().len(),
            _ => 0,
        };
        if let Err(error) = &chunk {
            tracing::warn!(%address, upstream = name, outcome, %error, "upstream request failed");
        }
        self.metrics
            .record_request(name, outcome, bytes, started.elapsed());
        chunk
    }

    /// Caches the chunk in the local source in the background. The client does not wait for the disk.
    async fn cache_in_background(self: &Arc<Self>, chunk: Chunk) {
        let permit = Arc::clone(&self.write_permits).acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let fetcher = Arc::clone(self);
        tokio::spawn(async move {
            let address = chunk.address();
            match fetcher.local.cache(chunk).await {
                Ok(PutOutcome::Full) => tracing::debug!(%address, "no room to cache a chunk"),
                Ok(_) => {}
                Err(error) => tracing::error!(%address, %error, "chunk not cached"),
            }
            drop(permit);
        });
    }

    /// Stores a client's chunk in all sinks and in the local source.
    pub async fn put(&self, chunk: Chunk) -> Result<PutOutcome, SourceError> {
        let address = chunk.address();
        let mut is_in_sink = false;
        for sink in &self.sinks {
            let writing = timeout(self.config.upstream_timeout, sink.put(chunk.clone()));
            let (written, outcome) = match writing.await {
                Ok(Ok(())) => (Ok(()), "ok"),
                Ok(Err(error)) => (Err(error), "failed"),
                Err(_elapsed) => (Err(SourceError::Busy), "timeout"),
            };
            self.metrics.record_write(sink.name(), outcome);
            if let Err(error) = written {
                tracing::error!(%address, upstream = sink.name(), %error, "chunk not written");
                return Err(error);
            }
            is_in_sink = true;
        }
        for scope in [UpstreamScope::All, UpstreamScope::ExcludePeers] {
            self.negative_cache.remove(FetchKey { address, scope });
        }
        match self.local.put(chunk).await {
            Ok(PutOutcome::Full) if is_in_sink => Ok(PutOutcome::Stored),
            outcome => outcome,
        }
    }

    /// Asks all upstreams in scope. Returns the newest of their records and the local record.
    pub async fn pointer(&self, address: Address, via: Via) -> Result<Option<Bytes>, SourceError> {
        let stored = self.local.pointer(address, via.clone()).await?;
        if via.contains(self.id) {
            return Ok(stored);
        }
        let scope = UpstreamScope::of(&via);
        let via = Via::default().with(self.id);
        let requests = self.upstreams(scope).map(|upstream| {
            let request = async {
                let record = upstream.inner.pointer(address, &via).await?;
                Ok(match record {
                    None => UpstreamResponse::NotFound,
                    Some(record) if pointer::belongs_to(&record, address) => {
                        UpstreamResponse::Valid(record)
                    }
                    Some(_) => UpstreamResponse::Invalid,
                })
            };
            let request = upstream.request(self.config.upstream_timeout, request);
            async move {
                let response = self.with_peer_timeout(scope, request).await;
                response.unwrap_or(Err(UpstreamError::Timeout))
            }
        });
        let mut records = Vec::new();
        let mut reported_error = None;
        for response in join_all(requests).await {
            match response {
                Ok(UpstreamResponse::Valid(record)) => records.push(record),
                Ok(UpstreamResponse::Invalid) => {
                    tracing::warn!(%address, "upstream sent a pointer of another owner");
                }
                Ok(UpstreamResponse::NotFound) => {}
                Err(error) => reported_error = Some(combine_errors(reported_error, error.into())),
            }
        }
        match (pointer::newest(stored, records), reported_error) {
            (None, Some(error)) => Err(error),
            (newest, _) => Ok(newest),
        }
    }
}

/// Selects the error to report if several upstreams failed. `Busy` wins, because the client may retry.
fn combine_errors(before: Option<SourceError>, error: SourceError) -> SourceError {
    match before {
        Some(SourceError::Busy) => SourceError::Busy,
        _ => error,
    }
}

async fn verify(address: Address, bytes: Bytes) -> Option<Chunk> {
    let hashing = tokio::task::spawn_blocking(|| Chunk::new(bytes));
    let chunk = hashing.await.expect("hashing does not panic");
    (chunk.address() == address).then_some(chunk)
}
