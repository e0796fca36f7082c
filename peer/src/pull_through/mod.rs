//! A source that fetches missing chunks from upstreams and caches them.
//!
//! The peer verifies all upstream bytes against their address. It never forwards wrong bytes, because its clients
//! would penalise it for them.

mod circuit_breaker;
mod fetch_key;
mod fetcher;
mod guarded_upstream;
mod negative_cache;
mod single_flight;

use crate::address::Address;
use crate::source::{Chunk, ChunkBody, ChunkSource, PutOutcome, SourceFuture, SourceStats};
use crate::upstream::Upstreams;
use crate::via::Via;
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
    /// How long a request to one upstream may take.
    pub upstream_timeout: Duration,
    /// How many upstream requests may continue without a waiting client.
    pub max_orphaned_requests: usize,
    /// How long a "not found" result is cached.
    pub not_found_lifetime: Duration,
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
        self.get_via(address, Via::default())
    }

    fn get_via(&self, address: Address, via: Via) -> SourceFuture<'_, Option<ChunkBody>> {
        Box::pin(self.fetcher.get(address, via))
    }

    fn has(&self, address: Address) -> SourceFuture<'_, bool> {
        self.fetcher.local().has(address)
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        Box::pin(self.fetcher.put(chunk))
    }

    fn pointer(&self, address: Address, via: Via) -> SourceFuture<'_, Option<Bytes>> {
        Box::pin(self.fetcher.pointer(address, via))
    }

    fn check_writable(&self) -> SourceFuture<'_, ()> {
        self.fetcher.local().check_writable()
    }

    fn stats(&self) -> SourceStats {
        self.fetcher.local().stats()
    }

    fn register(&self, registry: &mut Registry) {
        self.fetcher.register(registry);
    }
}
