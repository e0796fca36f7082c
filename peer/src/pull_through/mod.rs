//! A source that fetches missing chunks from upstreams and caches them.
//!
//! The peer verifies all upstream bytes against their address. It never forwards wrong bytes, because its clients
//! would penalise it for them.

mod absent;
mod breaker;
mod flights;
mod watched;

use crate::address::Address;
use crate::limits::STORING_CHUNKS;
use crate::pointer;
use crate::source::{
    Chunk, ChunkBody, ChunkSource, PutOutcome, SourceError, SourceFuture, SourceStats,
};
use crate::upstream::{Sink, UpstreamMetrics, Upstreams};
use crate::via::{PeerId, Via};
use absent::Absent;
use bytes::Bytes;
use flights::Flights;
use futures_util::future::join_all;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use watched::{Answer, Trouble, Watched};

/// The local source, and the upstreams behind it.
pub struct PullThrough {
    inner: Arc<Inner>,
}

/// The timeouts and limits of upstream requests.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How long a request to one upstream may take.
    pub upstream_timeout: Duration,
    /// How many upstream requests may continue without a waiting client.
    pub unattended: usize,
    /// How long a "not found" result is cached.
    pub not_found_lifetime: Duration,
}

/// Identifies an upstream request. Concurrent requests with the same key share a flight. A request from a peer never
/// waits for other peers; otherwise two peers that are each other's upstreams would wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Wanted {
    address: Address,
    reach: Reach,
}

/// The upstreams that a request may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Reach {
    /// All upstreams. For requests of clients.
    All,
    /// Only upstreams that are not peers. For requests of peers, which ask other peers themselves. If every peer
    /// forwarded its requests to all others, the number of requests would grow with the factorial of the number of
    /// peers.
    NoPeers,
}

impl Reach {
    fn of(via: &Via) -> Self {
        match via.is_empty() {
            true => Self::All,
            false => Self::NoPeers,
        }
    }
}

struct Inner {
    local: Arc<dyn ChunkSource>,
    upstreams: Vec<Watched>,
    sinks: Vec<Arc<dyn Sink>>,
    patience: Patience,
    id: PeerId,
    flights: Flights,
    absent: Absent,
    /// Limits the fetched chunks that wait for the local source.
    storing: Arc<Semaphore>,
    metrics: UpstreamMetrics,
}

impl PullThrough {
    /// `local` is asked first, and caches fetched chunks.
    pub fn new(local: Arc<dyn ChunkSource>, upstreams: Upstreams, patience: Patience) -> Self {
        let inner = Inner {
            local,
            upstreams: upstreams.all.into_iter().map(Watched::new).collect(),
            sinks: upstreams.sinks,
            patience,
            id: PeerId::random(),
            flights: Flights::new(patience.unattended),
            absent: Absent::new(patience.not_found_lifetime),
            storing: Arc::new(Semaphore::new(STORING_CHUNKS)),
            metrics: UpstreamMetrics::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }
}

impl Drop for PullThrough {
    fn drop(&mut self) {
        self.inner.flights.end();
    }
}

impl ChunkSource for PullThrough {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        self.get_via(address, Via::default())
    }

    fn get_via(&self, address: Address, via: Via) -> SourceFuture<'_, Option<ChunkBody>> {
        Box::pin(self.inner.get(address, via))
    }

    fn has(&self, address: Address) -> SourceFuture<'_, bool> {
        self.inner.local.has(address)
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        Box::pin(self.inner.put(chunk))
    }

    fn pointer(&self, address: Address, via: Via) -> SourceFuture<'_, Option<Bytes>> {
        Box::pin(self.inner.pointer(address, via))
    }

    fn stats(&self) -> SourceStats {
        self.inner.local.stats()
    }

    fn register(&self, registry: &mut Registry) {
        self.inner.local.register(registry);
        self.inner.metrics.register(registry);
    }
}

impl Inner {
    async fn get(
        self: &Arc<Self>,
        address: Address,
        via: Via,
    ) -> Result<Option<ChunkBody>, SourceError> {
        match self.local.get(address).await {
            Ok(Some(body)) => return Ok(Some(body)),
            Ok(None) => {}
            // The peer still serves from upstreams if the disk cannot be read.
            Err(error) => tracing::error!(%address, %error, "store not readable"),
        }
        // A request loop: this peer sent the request itself.
        if via.contains(self.id) {
            return Ok(None);
        }
        let reach = Reach::of(&via);
        let wanted = Wanted { address, reach };
        let nowhere = Wanted {
            address,
            reach: Reach::All,
        };
        if self.absent.contains(wanted) || self.absent.contains(nowhere) {
            self.metrics.record_negative_cache_hit();
            return Ok(None);
        }
        let flight = self.flights.join(wanted, || {
            let inner = Arc::clone(self);
            async move { inner.fetch(wanted).await }
        });
        let found = self.in_time(reach, flight).await;
        Ok(found
            .unwrap_or(Err(SourceError::Busy))?
            .map(ChunkBody::whole))
    }

    /// Waits for `asking`. For a peer's request, returns `None` after half of the upstream timeout. The asking peer
    /// probably has the same timeout, and its circuit breaker would count a late answer as a failure.
    async fn in_time<T>(&self, reach: Reach, asking: impl Future<Output = T>) -> Option<T> {
        match reach {
            Reach::All => Some(asking.await),
            Reach::NoPeers => timeout(self.patience.upstream_timeout / 2, asking)
                .await
                .ok(),
        }
    }

    /// The upstreams in this scope, in order.
    fn upstreams(&self, reach: Reach) -> impl Iterator<Item = &Watched> {
        self.upstreams
            .iter()
            .filter(move |watched| reach == Reach::All || !watched.upstream.is_peer())
    }

    /// Asks one upstream after the other.
    async fn fetch(self: Arc<Self>, wanted: Wanted) -> Result<Option<Bytes>, SourceError> {
        let via = Via::default().and(self.id);
        let mut trouble = None;
        for watched in self.upstreams(wanted.reach) {
            match self.ask(watched, wanted.address, &via).await {
                Ok(Some(chunk)) => {
                    let bytes = chunk.bytes().clone();
                    self.store(chunk).await;
                    return Ok(Some(bytes));
                }
                Ok(None) => {}
                Err(error) => trouble = Some(worse(trouble, error)),
            }
        }
        match trouble {
            Some(error) => Err(error),
            None => {
                self.absent.insert(wanted);
                Ok(None)
            }
        }
    }

    async fn ask(
        &self,
        watched: &Watched,
        address: Address,
        via: &Via,
    ) -> Result<Option<Chunk>, SourceError> {
        let name = watched.upstream.name();
        let started = Instant::now();
        let asking = async {
            match watched.upstream.get(address, via).await? {
                None => Ok(Answer::Nothing),
                Some(bytes) => Ok(match verify(address, bytes).await {
                    Some(chunk) => Answer::Right(chunk),
                    None => Answer::Wrong,
                }),
            }
        };
        let (answer, outcome) = match watched.ask(self.patience.upstream_timeout, asking).await {
            Ok(Answer::Right(chunk)) => (Ok(Some(chunk)), "found"),
            Ok(Answer::Nothing) => (Ok(None), "not_found"),
            Ok(Answer::Wrong) => (
                Err(SourceError::Failed(
                    "the bytes do not match the address".to_owned(),
                )),
                "wrong",
            ),
            Err(Trouble::Source(SourceError::Busy)) => (Err(SourceError::Busy), "busy"),
            Err(Trouble::Source(error)) => (Err(error), "failed"),
            Err(Trouble::Late) => (Err(SourceError::Busy), "timeout"),
            Err(Trouble::LeftOut) => {
                self.metrics.record_skipped_request(name);
                return Err(Trouble::LeftOut.into());
            }
        };
        let bytes = match &answer {
            Ok(Some(chunk)) => chunk.bytes().len(),
            _ => 0,
        };
        if let Err(error) = &answer {
            tracing::warn!(%address, upstream = name, outcome, %error, "upstream request failed");
        }
        self.metrics
            .record_request(name, outcome, bytes, started.elapsed());
        answer
    }

    /// Caches the chunk in the local source in the background. The client does not wait for the disk.
    async fn store(self: &Arc<Self>, chunk: Chunk) {
        let permit = Arc::clone(&self.storing).acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let inner = Arc::clone(self);
        tokio::spawn(async move {
            let address = chunk.address();
            match inner.local.cache(chunk).await {
                Ok(PutOutcome::Full) => tracing::debug!(%address, "no room to cache a chunk"),
                Ok(_) => {}
                Err(error) => tracing::error!(%address, %error, "chunk not cached"),
            }
            drop(permit);
        });
    }

    /// Stores a client's chunk in all sinks and in the local source.
    async fn put(&self, chunk: Chunk) -> Result<PutOutcome, SourceError> {
        let address = chunk.address();
        let mut is_kept = false;
        for sink in &self.sinks {
            let writing = timeout(self.patience.upstream_timeout, sink.put(chunk.clone()));
            let (written, outcome) = match writing.await {
                Ok(Ok(())) => (Ok(()), "ok"),
                Ok(Err(error)) => (Err(error), "failed"),
                Err(_late) => (Err(SourceError::Busy), "timeout"),
            };
            self.metrics.record_write(sink.name(), outcome);
            if let Err(error) = written {
                tracing::error!(%address, upstream = sink.name(), %error, "chunk not written");
                return Err(error);
            }
            is_kept = true;
        }
        for reach in [Reach::All, Reach::NoPeers] {
            self.absent.remove(Wanted { address, reach });
        }
        match self.local.put(chunk).await {
            Ok(PutOutcome::Full) if is_kept => Ok(PutOutcome::Stored),
            outcome => outcome,
        }
    }

    /// Asks all upstreams in scope. Returns the newest of their records and the local record.
    async fn pointer(&self, address: Address, via: Via) -> Result<Option<Bytes>, SourceError> {
        let stored = self.local.pointer(address, via.clone()).await?;
        if via.contains(self.id) {
            return Ok(stored);
        }
        let reach = Reach::of(&via);
        let via = Via::default().and(self.id);
        let asking = self.upstreams(reach).map(|watched| {
            let asking = async {
                let record = watched.upstream.pointer(address, &via).await?;
                Ok(match record {
                    None => Answer::Nothing,
                    Some(record) if pointer::is_at(&record, address) => Answer::Right(record),
                    Some(_) => Answer::Wrong,
                })
            };
            let asking = watched.ask(self.patience.upstream_timeout, asking);
            async move {
                let answer = self.in_time(reach, asking).await;
                answer.unwrap_or(Err(Trouble::Late))
            }
        });
        let mut records = Vec::new();
        let mut trouble = None;
        for answer in join_all(asking).await {
            match answer {
                Ok(Answer::Right(record)) => records.push(record),
                Ok(Answer::Wrong) => {
                    tracing::warn!(%address, "upstream sent a pointer of another owner");
                }
                Ok(Answer::Nothing) => {}
                Err(error) => trouble = Some(worse(trouble, error.into())),
            }
        }
        match (pointer::newest(stored, records), trouble) {
            (None, Some(error)) => Err(error),
            (newest, _) => Ok(newest),
        }
    }
}

/// Selects the error to report if several upstreams failed. `Busy` wins, because the client may retry.
fn worse(before: Option<SourceError>, error: SourceError) -> SourceError {
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
