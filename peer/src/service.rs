//! The operations of both transports: chunks in and out of the source, within the limits.

mod chunks;
mod get_all;
mod paid_uploads;

use crate::access::Access;
use crate::address::Address;
use crate::advertised_endpoint::AdvertisedEndpoint;
use crate::certificates::Certificates;
use crate::client::Client;
use crate::complete_on_drop::CompleteOnDrop;
use crate::info::{Info, WebTransportInfo};
use crate::limits::{
    LARGE_DATA_MAPS, Limits, MAX_DATA_MAP_BYTES, MAX_STORE_CHECKS, SMALL_DATA_MAP_BYTES,
};
use crate::memory::{ChunkMemory, MemoryPermit};
use crate::metrics::{Metrics, Transport};
use crate::network_usage::NetworkUsage;
use crate::origins::AllowedOrigins;
use crate::paid_uploads::PaymentChain;
use crate::pointer;
use crate::protocol::Status;
use crate::rate_limiter::RateLimiter;
use crate::readiness::Readiness;
use crate::source::{
    Chunk, ChunkBody, ChunkSource, PutOutcome, PutPointerOutcome, SourceError, SourceStats,
};
use crate::write_policy::{WritePolicy, WriteRefusal};
use bytes::Bytes;
use paid_uploads::PaidUploads;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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
    store_checks: Arc<Semaphore>,
    rate_limiter: Arc<RateLimiter>,
    network_usage: Arc<NetworkUsage>,
    readiness: Arc<Readiness>,
    announced_peers: Vec<String>,
    paid_uploads: Option<PaidUploads>,
}

/// The permit for one data map in memory. It is released on drop. A small data map needs no semaphore permit.
pub struct DataMapPermit(
    #[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>,
);

/// The result of a request for one chunk.
pub enum GetOutcome {
    /// The bytes. Their memory permit is released with the last piece.
    Found(ChunkBody),
    /// There are no bytes, for this reason.
    Unavailable(Unavailable),
}

/// Why a request cannot be answered now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// The status to send.
    pub status: Status,
    /// When another request may succeed, if this is known.
    pub retry_after: Option<Duration>,
}

impl From<Status> for Unavailable {
    fn from(status: Status) -> Self {
        Self {
            status,
            retry_after: None,
        }
    }
}

impl GetOutcome {
    /// The number of bytes. 0 if there are none.
    fn length(&self) -> u32 {
        match self {
            Self::Found(body) => body.length(),
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
            store_checks: Arc::new(Semaphore::new(MAX_STORE_CHECKS)),
            rate_limiter: Arc::new(RateLimiter::new(limits.rate_limits)),
            network_usage: Arc::default(),
            readiness: Readiness::new(Arc::clone(&source)),
            announced_peers,
            paid_uploads: None,
            metrics,
            limits,
            origins,
            write_policy,
            source,
            certificates,
            web_transport,
        }
    }

    /// Lets clients upload records that they have paid for on this chain, if the source has a network.
    pub fn with_paid_uploads(mut self, chain: PaymentChain) -> Self {
        let network = self.source.relayed_network();
        self.paid_uploads = network.map(|network| PaidUploads::new(chain, network, &self.limits));
        self
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

    /// Counts the bytes of a chunk, or of quotes, for the client.
    pub fn record_bytes(&self, client: &Client, bytes: u32) {
        self.network_usage.record_bytes(client.ip, bytes);
        if !self.limits.exempts(client.ip) {
            self.rate_limiter.record_bytes(client.ip, bytes);
        }
    }

    /// Whether the store accepts writes now.
    pub async fn store_is_writable(&self) -> bool {
        self.readiness.is_writable().await
    }

    /// Whether clients can connect: the first certificate may still be on its way.
    pub fn has_certificate(&self) -> bool {
        self.certificates.exist()
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

    /// Stores a chunk. The error is the status to send. The permit is the chunk's.
    pub async fn put(
        &self,
        transport: Transport,
        chunk: Chunk,
        permit: MemoryPermit,
    ) -> Result<PutOutcome, Unavailable> {
        let address = chunk.address();
        let source = Arc::clone(&self.source);
        // No timeout: the store completes a write whether or not the client still waits.
        let storing = CompleteOnDrop::new(async move {
            let stored = source.put(chunk).await;
            drop(permit);
            stored
        });
        let unavailable = match storing.await {
            Ok(PutOutcome::Full) => Status::Full.into(),
            Ok(outcome) => return Ok(outcome),
            Err(error) => status_of_error(address, &error),
        };
        let reason = unavailable.status.name();
        self.metrics.count_refused_write(transport, reason);
        Err(unavailable)
    }

    /// Whether the owner of this address signed the pointer record, and its target is of a known kind. Works outside of
    /// the async threads.
    pub async fn is_valid_pointer(&self, address: Address, record: Bytes) -> bool {
        let verifying = tokio::task::spawn_blocking(move || {
            pointer::is_valid(&record, address) && pointer::has_known_kind(&record)
        });
        verifying.await.expect("verifying does not panic")
    }

    /// Stores a valid pointer record. The error is the status to send. The permit is the record's.
    pub async fn put_pointer(
        &self,
        transport: Transport,
        address: Address,
        record: Bytes,
        permit: MemoryPermit,
    ) -> Result<PutPointerOutcome, Unavailable> {
        let source = Arc::clone(&self.source);
        // As in `put`.
        let storing = CompleteOnDrop::new(async move {
            let stored = source.put_pointer(address, record).await;
            drop(permit);
            stored
        });
        let unavailable = match storing.await {
            Ok(PutPointerOutcome::Full) => Status::Full.into(),
            Ok(outcome) => return Ok(outcome),
            Err(error) => status_of_error(address, &error),
        };
        let reason = unavailable.status.name();
        self.metrics.count_refused_write(transport, reason);
        Err(unavailable)
    }

    /// The JSON of `/-/info`, as of now.
    pub fn info(&self) -> Vec<u8> {
        let web_transport = self
            .web_transport
            .as_ref()
            .and_then(|endpoint| WebTransportInfo::new(endpoint, &self.certificates.info()));
        Info::new(
            web_transport,
            &self.limits,
            &self.announced_peers,
            self.write_policy.name(),
            self.stats(),
            self.source.network(),
        )
        .to_json()
    }

    /// The totals of the source.
    pub fn stats(&self) -> SourceStats {
        self.source.stats()
    }

    /// The text of `/metrics`, as of now. `for_operator` includes the busiest client networks.
    pub fn metrics_text(&self, for_operator: bool) -> String {
        let certificate_expires = self.certificates.info().expires;
        self.metrics
            .set_certificate_expiry(certificate_expires.map_or(0, |time| time.unix_timestamp()));
        self.metrics
            .set_busiest_networks(self.network_usage.busiest());
        self.metrics.text(self.stats(), for_operator)
    }
}

fn status_of_error(address: Address, error: &SourceError) -> Unavailable {
    match error {
        SourceError::Busy => Status::Busy.into(),
        SourceError::Later(after) => Unavailable {
            status: Status::Busy,
            retry_after: Some(*after),
        },
        SourceError::Denied => Status::Denied.into(),
        SourceError::Failed(_) => {
            tracing::error!(%address, %error, "source failed");
            Status::Failed.into()
        }
        SourceError::Unreachable(_) => {
            tracing::debug!(%address, %error, "no upstream answered");
            Status::Failed.into()
        }
    }
}
