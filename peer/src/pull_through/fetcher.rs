//! Fetches missing chunks from the upstreams.

use super::PullThroughConfig;
use super::fetch_key::{FetchKey, UpstreamScope};
use super::guarded_upstream::{GuardedUpstream, UpstreamError, UpstreamResponse};
use super::negative_cache::{Absence, NegativeCache};
use super::pointer_lookups::PointerLookups;
use super::recent_chunks::RecentChunks;
use super::single_flight::SingleFlight;
use super::upstream_set::{UpstreamSet, combine_errors};
use crate::address::Address;
use crate::client::LookupAccount;
use crate::limits::{
    LOOKUP_RETRY_AFTER, MAX_CACHE_WRITES, MAX_CHUNK_BYTES, MAX_QUEUED_CACHE_WRITES,
};
use crate::network::NetworkStatus;
use crate::paid_uploads::RelayedNetwork;
use crate::source::{
    Chunk, ChunkBody, ChunkSource, Lookup, LookupOutcome, PutOutcome, SourceError,
};
use crate::upstream::{FoundChunk, Sink, UpstreamMetrics, Upstreams};
use crate::via::Via;
use bytes::Bytes;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use tokio::time::{timeout, timeout_at};

/// Fetches missing chunks and pointers from the upstreams.
pub struct Fetcher {
    local: Arc<dyn ChunkSource>,
    upstreams: Arc<UpstreamSet>,
    sinks: Vec<Arc<dyn Sink>>,
    config: PullThroughConfig,
    /// The result of a flight is whether the chunk was found. Its bytes are in `recent_chunks`.
    flights: SingleFlight<bool>,
    /// The lookups of pointers.
    pub pointers: PointerLookups,
    negative_cache: NegativeCache,
    recent_chunks: RecentChunks,
    /// Limits the chunks whose bytes are on their way.
    arriving_permits: Semaphore,
    /// Limits the fetched chunks that wait for the local source.
    queue_permits: Arc<Semaphore>,
    /// Limits the fetched chunks that the local source writes.
    write_permits: Semaphore,
    metrics: UpstreamMetrics,
}

impl Fetcher {
    /// Does not connect to the upstreams yet.
    pub fn new(
        local: Arc<dyn ChunkSource>,
        upstreams: Upstreams,
        config: PullThroughConfig,
    ) -> Self {
        let set = Arc::new(UpstreamSet::new(upstreams.all, config));
        Self {
            local,
            pointers: PointerLookups::new(Arc::clone(&set), config),
            upstreams: set,
            sinks: upstreams.sinks,
            config,
            flights: SingleFlight::new(config.abandoned_lookups),
            negative_cache: NegativeCache::new(config.not_found_lifetime),
            recent_chunks: RecentChunks::new(config.arriving_chunks * MAX_CHUNK_BYTES as usize),
            arriving_permits: Semaphore::new(config.arriving_chunks),
            queue_permits: Arc::new(Semaphore::new(MAX_QUEUED_CACHE_WRITES)),
            write_permits: Semaphore::new(MAX_CACHE_WRITES),
            metrics: UpstreamMetrics::default(),
        }
    }

    /// The local source.
    pub fn local(&self) -> &dyn ChunkSource {
        &*self.local
    }

    /// Whether a lookup at one of the upstreams may take many seconds.
    pub fn has_slow_lookups(&self) -> bool {
        self.upstreams.has_slow_lookups()
    }

    /// The state of the connection to the Autonomi network, if it is an upstream.
    pub fn network(&self) -> Option<NetworkStatus> {
        self.upstreams.network()
    }

    /// The Autonomi network for requests that are only about it, if it is an upstream.
    pub fn relayed_network(&self) -> Option<Arc<dyn RelayedNetwork>> {
        self.upstreams.relayed_network()
    }

    /// Adds the metrics of the local source and of the upstreams.
    pub fn register(&self, registry: &mut Registry) {
        self.local.register(registry);
        self.metrics.register(registry);
    }

    /// Aborts all upstream requests.
    pub fn abort_all(&self) {
        self.flights.abort_all();
        self.pointers.abort_all();
    }

    /// The chunk, if it arrived recently or the local source has it.
    pub async fn get(self: &Arc<Self>, address: Address) -> Result<Option<ChunkBody>, SourceError> {
        if let Some(chunk) = self.recent_chunks.get(address) {
            if self.recent_chunks.take_rejection(address) {
                self.cache_in_background(address);
            }
            self.metrics.record_read();
            return Ok(Some(ChunkBody::from_bytes(chunk.bytes().clone())));
        }
        match self.local.get(address).await {
            Ok(found) => {
                if found.is_some() {
                    self.metrics.record_read();
                }
                Ok(found)
            }
            // The peer still serves from upstreams if the disk cannot be read.
            Err(error) => {
                tracing::error!(%address, %error, "store not readable");
                Ok(None)
            }
        }
    }

    /// Joins the lookup of this chunk, or starts one. It continues after its clients stopped waiting.
    pub async fn look_up(self: &Arc<Self>, lookup: Lookup) -> Result<LookupOutcome, SourceError> {
        let outcome = self.join_or_start(lookup).await;
        let is_found = matches!(outcome, Ok(LookupOutcome::Found { .. }));
        self.metrics.record_lookup(is_found);
        outcome
    }

    async fn join_or_start(self: &Arc<Self>, lookup: Lookup) -> Result<LookupOutcome, SourceError> {
        // A request loop: this peer sent the request itself.
        if self.upstreams.is_loop(&lookup.via) {
            return Ok(LookupOutcome::NotFound);
        }
        let key = FetchKey {
            address: lookup.address,
            scope: UpstreamScope::of(&lookup.via),
        };
        if let Some(known) = self.recent_result(key) {
            return known;
        }
        let deadline = self.upstreams.client_deadline(key.scope);
        let (flight, is_charged) = match self.flights.join(key) {
            Some(flight) => (flight, false),
            None => {
                let account = lookup.account;
                let permit = self.upstreams.acquire_lookup(key.scope, &account, deadline);
                let permit = permit.await?;
                // Another lookup may have ended meanwhile.
                if let Some(known) = self.recent_result(key) {
                    return known;
                }
                let start = || {
                    let fetcher = Arc::clone(self);
                    async move {
                        let outcome = fetcher.fetch(key, &account).await;
                        drop(permit);
                        outcome
                    }
                };
                (self.flights.join_or_start(key, start), true)
            }
        };
        match timeout_at(deadline, flight.outcome()).await {
            Ok(Ok(true)) => Ok(LookupOutcome::Found { is_charged }),
            Ok(Ok(false)) => Ok(LookupOutcome::NotFound),
            Ok(Err(error)) => Err(error),
            Err(_elapsed) => Err(SourceError::Later(LOOKUP_RETRY_AFTER)),
        }
    }

    /// The result of a lookup that ended a short time ago.
    fn recent_result(&self, key: FetchKey) -> Option<Result<LookupOutcome, SourceError>> {
        if self.recent_chunks.contains(key.address) {
            return Some(Ok(LookupOutcome::Found { is_charged: false }));
        }
        let all_upstreams = FetchKey {
            scope: UpstreamScope::All,
            ..key
        };
        let keys = [key, all_upstreams];
        let absence = keys
            .into_iter()
            .find_map(|key| self.negative_cache.get(key));
        let (absence, remaining) = absence?;
        self.metrics.record_negative_cache_hit();
        Some(match absence {
            Absence::NotFound => Ok(LookupOutcome::NotFound),
            Absence::TimedOut => Err(SourceError::Later(remaining)),
        })
    }

    /// Asks one upstream after the other. Returns whether one of them has the chunk.
    async fn fetch(
        self: Arc<Self>,
        key: FetchKey,
        account: &LookupAccount,
    ) -> Result<bool, SourceError> {
        let via = self.upstreams.via();
        let mut reported_error = None;
        for upstream in self.upstreams.in_scope(key.scope) {
            let requested = self.request_chunk(upstream, key.address, &via).await;
            if let Ok(Some(chunk)) = &requested {
                // The upstream's bytes cost the client even if it left meanwhile.
                account.charge_bytes(chunk.bytes().len() as u32);
            }
            // The operator may have denied the address meanwhile.
            if self.local.is_denied(key.address) {
                return Err(SourceError::Denied);
            }
            match requested {
                Ok(Some(chunk)) => {
                    self.recent_chunks.insert(chunk);
                    self.cache_in_background(key.address);
                    return Ok(true);
                }
                Ok(None) => {}
                Err(error) => reported_error = Some(combine_errors(reported_error, error)),
            }
        }
        match reported_error {
            Some(error) => {
                if let SourceError::Later(_) = error {
                    self.negative_cache.insert(key, Absence::TimedOut);
                }
                Err(error)
            }
            None => {
                self.negative_cache.insert(key, Absence::NotFound);
                Ok(false)
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
        let request = self.receive_chunk(upstream, address, via);
        let (chunk, outcome) = match upstream.request(request).await {
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
            Err(UpstreamError::Timeout) if upstream.inner.has_slow_lookups() => {
                let error = SourceError::Later(self.config.not_found_lifetime);
                (Err(error), "timeout")
            }
            Err(UpstreamError::Timeout) => (Err(SourceError::Busy), "timeout"),
            Err(UpstreamError::CircuitOpen) => {
                self.metrics.record_skipped_request(name);
                let reason = "its circuit breaker is open".to_owned();
                return Err(SourceError::Unreachable(reason));
            }
        };
        let bytes = match &chunk {
            Ok(Some(chunk)) => chunk.bytes().len(),
            _ => 0,
        };
        if let Err(error) = &chunk {
            // Clients cause these. The circuit breaker warns about an upstream that fails.
            tracing::debug!(%address, upstream = name, outcome, %error, "upstream request failed");
        }
        self.metrics
            .record_request(name, outcome, bytes, started.elapsed());
        chunk
    }

    /// Requests a chunk, and receives its bytes when there is memory for them.
    async fn receive_chunk(
        &self,
        upstream: &GuardedUpstream,
        address: Address,
        via: &Via,
    ) -> Result<UpstreamResponse<Chunk>, UpstreamError> {
        let limit = self.upstreams.timeout_of(upstream);
        let elapsed = |_| UpstreamError::Timeout;
        let requesting = timeout(limit, upstream.inner.get(address, via));
        let bytes = match requesting.await.map_err(elapsed)?? {
            None => return Ok(UpstreamResponse::NotFound),
            Some(FoundChunk::Complete(bytes)) => bytes,
            Some(FoundChunk::Arriving(receiving)) => {
                // This wait is not the upstream's fault.
                let acquiring = timeout(limit, self.arriving_permits.acquire()).await;
                let _permit = acquiring.map_err(|_| SourceError::Busy)?;
                timeout(limit, receiving).await.map_err(elapsed)??
            }
        };
        Ok(match verify(address, bytes).await {
            Some(chunk) => UpstreamResponse::Valid(chunk),
            None => UpstreamResponse::Invalid,
        })
    }

    /// Caches a chunk that arrived in the local source, in the background. While the chunk waits for the disk, it takes no
    /// memory of its own, so a stalled disk delays no client.
    fn cache_in_background(self: &Arc<Self>, address: Address) {
        let Ok(queued) = Arc::clone(&self.queue_permits).try_acquire_owned() else {
            self.metrics.record_skipped_write();
            return self.recent_chunks.reject(address);
        };
        let fetcher = Arc::clone(self);
        tokio::spawn(async move {
            let permit = fetcher.write_permits.acquire().await;
            let _permit = permit.expect("the semaphore is never closed");
            drop(queued);
            let Some(chunk) = fetcher.recent_chunks.get(address) else {
                fetcher.metrics.record_skipped_write();
                return;
            };
            match fetcher.local.cache(chunk).await {
                Ok(PutOutcome::Stored | PutOutcome::AlreadyStored) => return,
                Ok(PutOutcome::Full) => tracing::debug!(%address, "no room to cache a chunk"),
                Err(SourceError::Denied) => return fetcher.recent_chunks.remove(address),
                Err(error) => tracing::error!(%address, %error, "chunk not cached"),
            }
            fetcher.recent_chunks.reject(address);
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
}

async fn verify(address: Address, bytes: Bytes) -> Option<Chunk> {
    let hashing = tokio::task::spawn_blocking(|| Chunk::new(bytes));
    let chunk = hashing.await.expect("hashing does not panic");
    (chunk.address() == address).then_some(chunk)
}
