//! Reads and looks up chunks, with the memory and at the expense of a client.
//!
//! The peer looks into its store first. A chunk that the store does not have takes no memory of the client until it has
//! arrived, so clients that wait for upstreams do not delay others.

use super::{GetOutcome, Service, Unavailable, status_of_error};
use crate::address::Address;
use crate::client::{Client, LookupAccount};
use crate::complete_on_drop::CompleteOnDrop;
use crate::limits::{
    HOSTED_ANSWER_BYTES, MAX_CHUNK_BYTES, MAX_LOOKED_UP_CHUNKS, PREFETCHED_ANSWERS,
};
use crate::memory::MemoryPermit;
use crate::protocol::Status;
use crate::source::{ChunkBody, Lookup, LookupOutcome, SourceError};
use crate::via::Via;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use std::sync::Arc;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

impl Service {
    /// Requests one chunk.
    pub async fn get(&self, client: &Client, address: Address) -> GetOutcome {
        self.get_via(client, address, Via::default()).await
    }

    /// Like `get`, for a request that other peers forwarded.
    pub async fn get_via(&self, client: &Client, address: Address, via: Via) -> GetOutcome {
        let found = match self.acquire_chunk(client).await {
            Some(permit) => self.find(client, address, via, permit, false).await,
            None => Err(Status::Busy.into()),
        };
        self.record_answer(client, found)
    }

    /// Starts the lookups of chunks that the client will request soon, if they may take long. Dropping the handle
    /// starts no more of them.
    pub fn look_ahead(
        self: &Arc<Self>,
        client: &Client,
        addresses: &[Address],
    ) -> Option<AbortOnDropHandle<()>> {
        if !self.source.has_slow_lookups() {
            return None;
        }
        let addresses = addresses[..addresses.len().min(MAX_LOOKED_UP_CHUNKS)].to_vec();
        let shared = Arc::new((Arc::clone(self), client.clone()));
        let lookups = stream::iter(addresses).for_each_concurrent(None, move |address| {
            let shared = Arc::clone(&shared);
            async move {
                let (service, client) = &*shared;
                // Only the effect counts. The client's own request gets the result.
                let _ = service.locate(client, address).await;
            }
        });
        let looking = tokio::spawn(lookups);
        Some(AbortOnDropHandle::new(looking))
    }

    /// The newest pointer record at this address.
    pub async fn pointer(
        &self,
        client: &Client,
        address: Address,
        via: Via,
    ) -> Result<Bytes, Unavailable> {
        let source = Arc::clone(&self.source);
        let reading = self.check_store(address, async move { source.pointer(address).await });
        let stored = reading.await?;
        let lookup = self.lookup(client, address, via);
        let newest = self.source.newest_pointer(stored, lookup);
        match timeout(self.limits.request_timeout, newest).await {
            Ok(Ok(Some(record))) => Ok(record),
            Ok(Ok(None)) => Err(Status::NotFound.into()),
            Ok(Err(error)) => Err(status_of_error(address, &error)),
            Err(_elapsed) => Err(Status::Busy.into()),
        }
    }

    /// The statuses of several chunks, in order.
    pub async fn has_all(&self, client: &Client, addresses: Vec<Address>) -> Vec<Status> {
        let statuses = stream::iter(addresses)
            .map(|address| async move {
                let stored = match self.admits(client) {
                    true => self.is_stored(address).await,
                    false => Err(Status::Busy.into()),
                };
                match stored {
                    Ok(true) => Status::Ok,
                    Ok(false) => Status::NotFound,
                    Err(unavailable) => unavailable.status,
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

    /// Waits for a memory permit for one chunk. `None` after the request timeout.
    pub async fn acquire_chunk(&self, client: &Client) -> Option<MemoryPermit> {
        self.acquire_memory(client, MAX_CHUNK_BYTES).await
    }

    /// As [`Self::acquire_chunk`], for an answer with a hosted file.
    pub async fn acquire_hosted_answer(&self, client: &Client) -> Option<MemoryPermit> {
        self.acquire_memory(client, HOSTED_ANSWER_BYTES).await
    }

    async fn acquire_memory(&self, client: &Client, bytes: u32) -> Option<MemoryPermit> {
        let acquiring = self.memory.acquire(client, bytes);
        timeout(self.limits.request_timeout, acquiring).await.ok()
    }

    /// Makes the chunk available to `read`. Returns whether the client's rate limit counts its bytes already.
    pub(super) async fn locate(
        &self,
        client: &Client,
        address: Address,
    ) -> Result<bool, Unavailable> {
        let unreadable = match self.is_stored(address).await {
            Ok(true) => return Ok(false),
            Ok(false) => None,
            // An upstream may have the chunk all the same.
            Err(unavailable) => Some(unavailable),
        };
        let found = self.look_up(client, address, Via::default()).await;
        found.map_err(|error| match error.status {
            Status::NotFound => unreadable.unwrap_or(error),
            _ => error,
        })
    }

    /// Reads the chunk with the memory of `permit`, and looks it up if it is missing. Waits for the lookup without a
    /// permit.
    pub(super) async fn find(
        &self,
        client: &Client,
        address: Address,
        via: Via,
        permit: MemoryPermit,
        is_charged: bool,
    ) -> Result<ChunkBody, Unavailable> {
        let read = self.read(client, address, permit, is_charged).await?;
        if let Some(body) = read {
            return Ok(body);
        }
        let is_charged = self.look_up(client, address, via).await? || is_charged;
        let permit = self.acquire_chunk(client).await.ok_or(Status::Busy)?;
        let read = self.read(client, address, permit, is_charged).await?;
        // Other chunks may have arrived while the client waited for memory, so that the store did not take this one.
        read.ok_or_else(|| Status::Busy.into())
    }

    /// Reads a chunk that is at hand. Its bytes count for the client's rate, also if the client cancels meanwhile, unless
    /// the lookup has charged them.
    async fn read(
        &self,
        client: &Client,
        address: Address,
        permit: MemoryPermit,
        is_charged: bool,
    ) -> Result<Option<ChunkBody>, Unavailable> {
        let source = Arc::clone(&self.source);
        let account = (!is_charged).then(|| self.account(client));
        let reading = CompleteOnDrop::new(async move {
            let found = source.get(address).await?;
            if let (Some(account), Some(body)) = (account, &found) {
                account.charge_bytes(body.length());
            }
            Ok(found.map(|body| (body, permit)))
        });
        match timeout(self.limits.request_timeout, reading).await {
            Ok(Ok(found)) => Ok(found.map(|(body, permit)| permit.attach_to(body, client))),
            Ok(Err(error)) => Err(status_of_error(address, &error)),
            Err(_elapsed) => Err(Status::Busy.into()),
        }
    }

    /// Looks the chunk up at the upstreams. Returns whether its bytes were charged to the client.
    async fn look_up(
        &self,
        client: &Client,
        address: Address,
        via: Via,
    ) -> Result<bool, Unavailable> {
        let looking = self.source.look_up(self.lookup(client, address, via));
        match timeout(self.limits.request_timeout, looking).await {
            Ok(Ok(LookupOutcome::Found { is_charged })) => Ok(is_charged),
            Ok(Ok(LookupOutcome::NotFound)) => Err(Status::NotFound.into()),
            Ok(Err(error)) => Err(status_of_error(address, &error)),
            Err(_elapsed) => Err(Status::Busy.into()),
        }
    }

    fn lookup(&self, client: &Client, address: Address, via: Via) -> Lookup {
        Lookup {
            address,
            via,
            account: self.account(client),
        }
    }

    /// The account of a client for work outside of this peer.
    pub(super) fn account(&self, client: &Client) -> LookupAccount {
        LookupAccount::new(
            client,
            &self.network_usage,
            (!self.limits.exempts(client.ip)).then_some(&self.rate_limiter),
        )
    }

    /// Whether the source itself stores the chunk. Asks no upstream.
    pub async fn is_stored(&self, address: Address) -> Result<bool, Unavailable> {
        let source = Arc::clone(&self.source);
        self.check_store(address, async move { source.has(address).await })
            .await
    }

    /// Runs a small read of the store. The number of such reads is limited, also of those whose callers have gone.
    async fn check_store<T: Send + 'static>(
        &self,
        address: Address,
        check: impl Future<Output = Result<T, SourceError>> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let permits = Arc::clone(&self.store_checks);
        let checking = async {
            let permit = permits.acquire_owned().await;
            let permit = permit.expect("the semaphore is never closed");
            let checking = CompleteOnDrop::new(async move {
                let checked = check.await;
                drop(permit);
                checked
            });
            checking.await
        };
        match timeout(self.limits.request_timeout, checking).await {
            Ok(checked) => checked.map_err(|error| status_of_error(address, &error)),
            Err(_elapsed) => Err(Status::Busy.into()),
        }
    }

    /// Counts the answer for one chunk.
    pub(super) fn record_answer(
        &self,
        client: &Client,
        found: Result<ChunkBody, Unavailable>,
    ) -> GetOutcome {
        let (outcome, status) = match found {
            Ok(body) => (GetOutcome::Found(body), Status::Ok),
            Err(unavailable) => (GetOutcome::Unavailable(unavailable), unavailable.status),
        };
        self.metrics.count_answer(client.transport, status.name());
        outcome
    }
}
