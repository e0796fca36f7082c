//! A source that fetches missing chunks from upstreams and caches them.
//!
//! The peer verifies all upstream bytes against their address. It never forwards wrong bytes, because its clients
//! would penalise it for them.

mod circuit_breaker;
mod fetch_key;
mod fetcher;
mod guarded_upstream;
mod negative_cache;
mod pointer_lookups;
mod recent_chunks;
mod single_flight;
mod upstream_set;

use crate::address::Address;
use crate::network::NetworkStatus;
use crate::paid_uploads::RelayedNetwork;
use crate::source::{
    Chunk, ChunkBody, ChunkSource, Lookup, LookupOutcome, PutOutcome, PutPointerOutcome,
    SourceFuture, SourceStats,
};
use crate::upstream::Upstreams;
use bytes::Bytes;
use fetcher::Fetcher;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::time::Duration;

/// The local source, and the upstreams behind it.
pub struct PullThrough {
    fetcher: Arc<Fetcher>,
}

/// The timeouts and limits of upstream requests.
#[derive(Clone, Copy, Debug)]
pub struct PullThroughConfig {
    /// How long one upstream may take to answer, and then to send the bytes.
    pub upstream_timeout: Duration,
    /// The same for an upstream with slow lookups.
    pub lookup_timeout: Duration,
    /// How long a client waits for a lookup. The lookup continues.
    pub client_wait: Duration,
    /// How many lookups run at a time.
    pub lookups: usize,
    /// How many lookups may continue without a waiting client.
    pub abandoned_lookups: usize,
    /// How many chunks may be on their way from upstreams at a time. As much memory holds the chunks that arrived last.
    pub arriving_chunks: usize,
    /// How long a "not found" result is cached.
    pub not_found_lifetime: Duration,
    /// How long the result of a pointer lookup is used.
    pub pointer_lifetime: Duration,
}

impl PullThrough {
    /// `local` is asked first, and caches fetched chunks.
    pub fn new(
        local: Arc<dyn ChunkSource>,
        upstreams: Upstreams,
        config: PullThroughConfig,
    ) -> Self {
        Self {
            fetcher: Arc::new(Fetcher::new(local, upstreams, config)),
        }
    }
}

impl Drop for PullThrough {
    fn drop(&mut self) {
        self.fetcher.abort_all();
    }
}

impl ChunkSource for PullThrough {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        Box::pin(self.fetcher.get(address))
    }

    fn look_up(&self, lookup: Lookup) -> SourceFuture<'_, LookupOutcome> {
        Box::pin(self.fetcher.look_up(lookup))
    }

    fn has_slow_lookups(&self) -> bool {
        self.fetcher.has_slow_lookups()
    }

    fn has(&self, address: Address) -> SourceFuture<'_, bool> {
        self.fetcher.local().has(address)
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        Box::pin(self.fetcher.put(chunk))
    }

    fn pointer(&self, address: Address) -> SourceFuture<'_, Option<Bytes>> {
        self.fetcher.local().pointer(address)
    }

    fn put_pointer(&self, address: Address, record: Bytes) -> SourceFuture<'_, PutPointerOutcome> {
        self.fetcher.local().put_pointer(address, record)
    }

    fn newest_pointer(
        &self,
        stored: Option<Bytes>,
        lookup: Lookup,
    ) -> SourceFuture<'_, Option<Bytes>> {
        Box::pin(self.fetcher.pointers.newest(stored, lookup))
    }

    fn check_writable(&self) -> SourceFuture<'_, ()> {
        self.fetcher.local().check_writable()
    }

    fn stats(&self) -> SourceStats {
        self.fetcher.local().stats()
    }

    fn network(&self) -> Option<NetworkStatus> {
        self.fetcher.network()
    }

    fn relayed_network(&self) -> Option<Arc<dyn RelayedNetwork>> {
        self.fetcher.relayed_network()
    }

    fn register(&self, registry: &mut Registry) {
        self.fetcher.register(registry);
    }
}
