//! Answers one request for several chunks, in order.

use super::{GetOutcome, Service, Unavailable};
use crate::address::Address;
use crate::client::Client;
use crate::limits::{PREFETCHED_ANSWERS, PREFETCHED_SMALL_ANSWERS, SMALL_ANSWER_BYTES};
use crate::memory::MemoryPermit;
use crate::protocol::Status;
use crate::via::Via;
use futures_util::stream::{self, Stream, StreamExt};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

impl Service {
    /// The results of several GETs, in order. Fetches a few chunks ahead of the one being taken, and more while the
    /// chunks are small.
    pub fn get_all(
        self: &Arc<Self>,
        client: &Client,
        addresses: Vec<Address>,
    ) -> impl Stream<Item = GetOutcome> + Send + use<> {
        let is_single = addresses.len() == 1;
        let shared = Arc::new((Arc::clone(self), client.clone()));
        let mut prefetch_limit = PREFETCHED_ANSWERS;
        let prefetch_permits = Arc::new(Semaphore::new(1 + prefetch_limit));
        stream::iter(addresses)
            .then(move |address| {
                Requested::new(Arc::clone(&shared), address, Arc::clone(&prefetch_permits))
            })
            // A chunk takes no memory while it is looked up.
            .map(move |requested| requested.locate(is_single))
            .buffered(1 + PREFETCHED_SMALL_ANSWERS)
            // Memory is acquired in order. Otherwise the later chunks of some requests could take all the memory that
            // the first chunks of others wait for.
            .then(Located::acquire)
            .map(Acquired::take)
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
}

/// One of several requested chunks.
struct Requested {
    shared: Arc<(Arc<Service>, Client)>,
    address: Address,
    prefetch_permit: OwnedSemaphorePermit,
}

impl Requested {
    async fn new(
        shared: Arc<(Arc<Service>, Client)>,
        address: Address,
        prefetch_permits: Arc<Semaphore>,
    ) -> Self {
        let prefetch_permit = prefetch_permits.acquire_owned().await;
        Self {
            shared,
            address,
            prefetch_permit: prefetch_permit.expect("the semaphore is never closed"),
        }
    }

    /// Makes the chunk available. A single chunk is usually stored, and is looked up only if it is not.
    async fn locate(self, is_single: bool) -> Located {
        let (service, client) = &*self.shared;
        let is_charged = match service.admits(client) {
            false => Err(Status::Busy.into()),
            true if is_single => Ok(false),
            true => service.locate(client, self.address).await,
        };
        Located {
            requested: self,
            is_charged,
        }
    }
}

/// A chunk that `read` can take now, or the reason why not.
struct Located {
    requested: Requested,
    is_charged: Result<bool, Unavailable>,
}

impl Located {
    async fn acquire(self) -> Acquired {
        let (service, client) = &*self.requested.shared;
        let ready = match self.is_charged {
            Ok(is_charged) => match service.acquire_chunk(client).await {
                Some(permit) => Ok((permit, is_charged)),
                None => Err(Status::Busy.into()),
            },
            Err(unavailable) => Err(unavailable),
        };
        Acquired {
            requested: self.requested,
            ready,
        }
    }
}

/// A chunk with the memory to read it.
struct Acquired {
    requested: Requested,
    ready: Result<(MemoryPermit, bool), Unavailable>,
}

impl Acquired {
    async fn take(self) -> (GetOutcome, OwnedSemaphorePermit) {
        let (service, client) = &*self.requested.shared;
        let found = match self.ready {
            Ok((permit, is_charged)) => {
                let address = self.requested.address;
                let via = Via::default();
                service.find(client, address, via, permit, is_charged).await
            }
            Err(unavailable) => Err(unavailable),
        };
        let outcome = service.record_answer(client, found);
        (outcome, self.requested.prefetch_permit)
    }
}
