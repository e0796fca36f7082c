//! The operations of both transports: chunks in and out of the source, within the limits.

use crate::access::Access;
use crate::address::Address;
use crate::advertised_endpoint::AdvertisedEndpoint;
use crate::certificates::Certificates;
use crate::client::Client;
use crate::info::{Info, WebTransportInfo};
use crate::limits::{
    LARGE_DATA_MAPS, Limits, MAX_DATA_MAP_BYTES, PREFETCHED_ANSWERS, PREFETCHED_SMALL_ANSWERS,
    SMALL_ANSWER_BYTES, SMALL_DATA_MAP_BYTES,
};
use crate::memory::{ChunkMemory, ChunkPermit};
use crate::metrics::{Metrics, Transport};
use crate::network_usage::NetworkUsage;
use crate::origins::AllowedOrigins;
use crate::protocol::Status;
use crate::rate_limiter::RateLimiter;
use crate::readiness::Readiness;
use crate::source::{Chunk, ChunkBody, ChunkSource, PutOutcome, SourceError, SourceStats};
use crate::via::Via;
use crate::write_policy::{WritePolicy, WriteRefusal};
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A peer's chunks and rules. All transports share them.
pub struct Service {
    /// The limits.
    pub limits: Limits,
    /// The metrics.
    pub metrics: Metrics,
    /// The pages that may read.
    pub origins: AllowedOrigins,
    /// The memory permits for chunks.
    pub memory: ChunkMemory,
    /// The limits on connections.
    pub access: Access,
    write_policy: WritePolicy,
    source: Arc<dyn ChunkSource>,
    certificates: Arc<Certificates>,
    web_transport: Option<AdvertisedEndpoint>,
    large_data_maps: Arc<Semaphore>,
    rate_limiter: RateLimiter,
    network_usage: NetworkUsage,
    readiness: Arc<Readiness>,
    announced_peers: Vec<String>,
}

/// The permit for one data map in memory. It is released on drop. A small data map needs no semaphore permit.
pub struct DataMapPermit(
    #[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>,
);

/// The result of a request for one chunk.
pub enum GetOutcome {
    /// The bytes, with their memory permit.
    Found(ChunkBody, ChunkPermit),
    /// There are no bytes, for this reason.
    Unavailable(Status),
}

impl GetOutcome {
    /// The number of bytes. 0 if there are none.
    fn length(&self) -> u32 {
        match self {
            Self::Found(body, _) => body.length(),
            Self::Unavailable(_) => 0,
        }
    }
}

impl Service {
    /// `web_transport` is the endpoint for `/-/info`.
    pub fn new(
        source: Arc<dyn ChunkSource>,
        certificates: Arc<Certificates>,
        limits: Limits,
        origins: AllowedOrigins,
        write_policy: WritePolicy,
        web_transport: Option<AdvertisedEndpoint>,
        announced_peers: Vec<String>,
    ) -> Self {
        let mut metrics = Metrics::default();
        source.register(metrics.registry());
        Self {
            memory: ChunkMemory::new(&limits),
            access: Access::new(&limits),
            large_data_maps: Arc::new(Semaphore::new(LARGE_DATA_MAPS)),
            rate_limiter: RateLimiter::new(limits.rate_limits),
            network_usage: NetworkUsage::default(),
            readiness: Readiness::new(Arc::clone(&source)),
            announced_peers,
            metrics,
            limits,
            origins,
            write_policy,
            source,
            certificates,
            web_transport,
        }
    }

    /// Whether the operator denies the address.
    pub fn is_denied(&self, address: Address) -> bool {
        self.source.is_denied(address)
    }

    /// Whether the client's rate limits allow one more request. If so, the request is counted.
    pub fn admits(&self, client: &Client) -> bool {
        self.network_usage.record_request(client.ip);
        self.limits.exempts(client.ip) || self.rate_limiter.admit(client.ip)
    }

    /// Counts the bytes of a chunk for its client.
    fn record_bytes(&self, client: &Client, bytes: u32) {
        self.network_usage.record_bytes(client.ip, bytes);
        if !self.limits.exempts(client.ip) {
            self.rate_limiter.record_bytes(client.ip, bytes);
        }
    }

    /// Whether the store accepts writes now.
    pub async fn store_is_writable(&self) -> bool {
        self.readiness.is_writable().await
    }

    /// Requests one chunk from the source.
    pub async fn get(&self, client: &Client, address: Address) -> GetOutcome {
        self.get_via(client, address, Via::default()).await
    }

    /// Like `get`, for a request that other peers forwarded.
    pub async fn get_via(&self, client: &Client, address: Address, via: Via) -> GetOutcome {
        let permit = self.acquire_chunk(client).await;
        self.get_with_permit(permit, client, address, via).await
    }

    /// The results of several GETs, in order. Fetches a few chunks ahead of the one being taken, and more while the
    /// chunks are small.
    pub fn get_all(
        self: &Arc<Self>,
        client: &Client,
        addresses: Vec<Address>,
    ) -> impl Stream<Item = GetOutcome> + Send + use<> {
        let shared = Arc::new((Arc::clone(self), client.clone()));
        let mut prefetch_limit = PREFETCHED_ANSWERS;
        let prefetch_permits = Arc::new(Semaphore::new(1 + prefetch_limit));
        stream::iter(addresses)
            // Permits are acquired in order. Otherwise the later chunks of some requests could take all permits that
            // the first chunks of others wait for.
            .then(move |address| {
                let shared = Arc::clone(&shared);
                let prefetch_permits = Arc::clone(&prefetch_permits);
                async move {
                    let prefetch_permit = prefetch_permits.acquire_owned().await;
                    let prefetch_permit = prefetch_permit.expect("the semaphore is never closed");
                    let (service, client) = &*shared;
                    let permit = match service.admits(client) {
                        true => service.acquire_chunk(client).await,
                        false => None,
                    };
                    (shared, address, prefetch_permit, permit)
                }
            })
            .map(|(shared, address, prefetch_permit, permit)| async move {
                let (service, client) = &*shared;
                let via = Via::default();
                (
                    service.get_with_permit(permit, client, address, via).await,
                    prefetch_permit,
                )
            })
            .buffered(1 + PREFETCHED_SMALL_ANSWERS)
            .map(move |(outcome, prefetch_permit)| {
                let is_small = outcome.length() <= SMALL_ANSWER_BYTES;
                if is_small && prefetch_limit < PREFETCHED_SMALL_ANSWERS {
                    prefetch_limit += 1;
                    prefetch_permit.semaphore().add_permits(1);
                } else if !is_small && prefetch_limit > PREFETCHED_ANSWERS {
                    prefetch_limit -= 1;
                    prefetch_permit.forget();
                }
                outcome
            })
    }

    async fn get_with_permit(
        &self,
        permit: Option<ChunkPermit>,
        client: &Client,
        address: Address,
        via: Via,
    ) -> GetOutcome {
        let outcome = match permit {
            Some(permit) => self.fetch(permit, address, via).await,
            None => GetOutcome::Unavailable(Status::Busy),
        };
        let status = match &outcome {
            GetOutcome::Found(body, _) => {
                self.record_bytes(client, body.length());
                Status::Ok
            }
            GetOutcome::Unavailable(status) => *status,
        };
        self.metrics.count_answer(client.transport, status.name());
        outcome
    }

    async fn fetch(&self, permit: ChunkPermit, address: Address, via: Via) -> GetOutcome {
        let fetching = self.source.get_via(address, via);
        match timeout(self.limits.request_timeout, fetching).await {
            Ok(Ok(Some(body))) => GetOutcome::Found(body, permit),
            Ok(Ok(None)) => GetOutcome::Unavailable(Status::NotFound),
            Ok(Err(error)) => GetOutcome::Unavailable(status_of_error(address, &error)),
            Err(_elapsed) => GetOutcome::Unavailable(Status::Busy),
        }
    }

    /// The newest pointer record at this address. The error is the status to send.
    pub async fn pointer(&self, address: Address, via: Via) -> Result<Bytes, Status> {
        let fetching = self.source.pointer(address, via);
        match timeout(self.limits.request_timeout, fetching).await {
            Ok(Ok(Some(record))) => Ok(record),
            Ok(Ok(None)) => Err(Status::NotFound),
            Ok(Err(error)) => Err(status_of_error(address, &error)),
            Err(_elapsed) => Err(Status::Busy),
        }
    }

    /// The statuses of several chunks, in order.
    pub async fn has_all(&self, client: &Client, addresses: Vec<Address>) -> Vec<Status> {
        let statuses = stream::iter(addresses)
            .map(|address| async move {
                match self.admits(client) {
                    true => self.has(address).await,
                    false => Status::Busy,
                }
            })
            .buffered(1 + PREFETCHED_ANSWERS)
            .collect::<Vec<_>>()
            .await;
        for status in &statuses {
            self.metrics.count_answer(client.transport, status.name());
        }
        statuses
    }

    async fn has(&self, address: Address) -> Status {
        match timeout(self.limits.request_timeout, self.source.has(address)).await {
            Ok(Ok(true)) => Status::Ok,
            Ok(Ok(false)) => Status::NotFound,
            Ok(Err(error)) => status_of_error(address, &error),
            Err(_elapsed) => Status::Busy,
        }
    }

    /// Checks a write with `token` from a page of `origin`. `host` is the `Host` of the request. Counts a refusal.
    pub fn may_write(
        &self,
        transport: Transport,
        origin: Option<&str>,
        host: &str,
        token: Option<&[u8]>,
    ) -> Result<(), WriteRefusal> {
        let checked = self.write_policy.check(&self.origins, origin, host, token);
        if let Err(refusal) = checked {
            self.metrics.count_refused_write(transport, refusal.name());
        }
        checked
    }

    /// Whether a page of `origin` may write with a valid token, if one is needed.
    pub fn origin_may_write(&self, origin: Option<&str>, host: &str) -> bool {
        let checked = self.write_policy.check_origin(&self.origins, origin, host);
        checked.is_ok()
    }

    /// Waits for a memory permit for one chunk. `None` after the request timeout.
    pub async fn acquire_chunk(&self, client: &Client) -> Option<ChunkPermit> {
        let acquiring = self.memory.acquire(client);
        timeout(self.limits.request_timeout, acquiring).await.ok()
    }

    /// A permit for a data map of `length` bytes. `None` if it is too long, or if no permit is free now. Waiting for
    /// it while others wait for chunks could end in a deadlock.
    pub fn try_acquire_data_map(&self, length: u64) -> Option<DataMapPermit> {
        if length <= SMALL_DATA_MAP_BYTES.into() {
            return Some(DataMapPermit(None));
        }
        if length > MAX_DATA_MAP_BYTES.into() {
            return None;
        }
        let permit = Arc::clone(&self.large_data_maps).try_acquire_owned();
        Some(DataMapPermit(Some(permit.ok()?)))
    }

    /// Computes the address of received bytes, outside of the async threads.
    pub async fn hash(&self, bytes: Bytes) -> Chunk {
        tokio::task::spawn_blocking(|| Chunk::new(bytes))
            .await
            .expect("hashing does not panic")
    }

    /// Stores a chunk. The error is the status to send.
    pub async fn put(&self, transport: Transport, chunk: Chunk) -> Result<PutOutcome, Status> {
        let address = chunk.address();
        // No timeout: the store completes a write whether or not the client still waits.
        let status = match self.source.put(chunk).await {
            Ok(PutOutcome::Full) => Status::Full,
            Ok(outcome) => return Ok(outcome),
            Err(error) => status_of_error(address, &error),
        };
        self.metrics.count_refused_write(transport, status.name());
        Err(status)
    }

    /// The JSON of `/-/info`, as of now.
    pub fn info(&self) -> Vec<u8> {
        let web_transport = self
            .web_transport
            .as_ref()
            .map(|endpoint| WebTransportInfo::new(endpoint, &self.certificates.info()));
        Info::new(
            web_transport,
            &self.limits,
            &self.announced_peers,
            self.write_policy.name(),
            self.stats(),
        )
        .to_json()
    }

    /// The totals of the source.
    pub fn stats(&self) -> SourceStats {
        self.source.stats()
    }

    /// The text of `/metrics`, as of now.
    pub fn metrics_text(&self) -> String {
        let certificate_expires = self.certificates.info().expires;
        self.metrics
            .set_certificate_expiry(certificate_expires.unix_timestamp());
        self.metrics
            .set_busiest_networks(self.network_usage.busiest());
        self.metrics.text(self.stats())
    }
}

fn status_of_error(address: Address, error: &SourceError) -> Status {
    match error {
        SourceError::Busy => Status::Busy,
        SourceError::Denied => Status::Denied,
        SourceError::Failed(_) | SourceError::Unreachable(_) => {
            tracing::error!(%address, %error, "source failed");
            Status::Failed
        }
    }
}
