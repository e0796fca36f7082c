//! The key under which upstream requests are merged and cached.

use crate::address::Address;
use crate::via::Via;

/// Identifies an upstream request. Concurrent requests with the same key share a flight. A request from a peer never
/// waits for other peers; otherwise two peers that are each other's upstreams would wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FetchKey {
    /// The address of the chunk.
    pub address: Address,
    /// The upstreams that may be asked.
    pub scope: UpstreamScope,
}

/// The upstreams that a request may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UpstreamScope {
    /// All upstreams. For requests of clients.
    All,
    /// Only upstreams that are not peers. For requests of peers, which ask other peers themselves. If every peer
    /// forwarded its requests to all others, the number of requests would grow with the factorial of the number of
    /// peers.
    ExcludePeers,
}

impl UpstreamScope {
    /// The scope of a request with this `Via`.
    pub fn of(via: &Via) -> Self {
        match via.is_empty() {
            true => Self::All,
            false => Self::ExcludePeers,
        }
    }
}
