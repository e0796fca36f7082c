//! The limits that an operator can set, and the shares of them that one client gets.

use super::{CONNECTION_SHARE_DIVISOR, MIN_BYTES_PER_SECOND};
use crate::rate_limiter::RateLimits;
use std::net::IpAddr;
use std::time::Duration;

/// One session gets at most the chunk memory divided by this.
const SESSION_SHARE_DIVISOR: usize = 4;

/// All sessions and connections of one client address get at most the chunk memory divided by this. Many users may
/// share a router's address.
const NETWORK_SHARE_DIVISOR: usize = 2;

/// One IPv6 /48 leaves the chunk memory, and the lookups, divided by this to others.
const SITE_REST_DIVISOR: usize = 4;

/// The requests for quotes, for paid uploads and for reads of the network are at most the chunks in memory divided by this.
/// They wait for the nodes of the network, for minutes, and most of them hold a chunk's memory meanwhile.
const PAID_SHARE_DIVISOR: usize = 4;

/// The chunks that arrive from upstreams get extra memory, in addition to the chunk memory: this divisor for those on
/// their way, and once more for those that arrived last.
const ARRIVING_SHARE_DIVISOR: usize = 8;

/// One network gets at most the lookups divided by this. Abandoned lookups get the same share.
const LOOKUP_SHARE_DIVISOR: usize = 2;

/// The limits that an operator can set.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The maximum number of WebTransport sessions. Further sessions are refused.
    pub sessions: usize,
    /// The maximum number of concurrent requests in one session. Further requests wait.
    pub streams_per_session: u32,
    /// The maximum number of sessions of one client network.
    pub sessions_per_network: usize,
    /// The maximum number of HTTP connections. Further connections take the place of idle ones.
    pub http_connections: usize,
    /// The maximum number of HTTP connections of one client network, and of its requests over HTTP/2, or if a proxy names it.
    pub http_connections_per_network: usize,
    /// How many sessions and HTTP connections one client network may open per second.
    pub connections_per_second: Option<u32>,
    /// How many sessions and HTTP connections all clients together may open per second.
    pub total_connections_per_second: Option<u32>,
    /// Whether the limits of client networks apply to loopback addresses, too. By default they do not: those clients
    /// are the operator, or a proxy with many users.
    pub limit_loopback: bool,
    /// The memory for chunks and for answers with hosted files, in chunks. A request that waits too long for memory gets
    /// `busy`.
    pub chunks_in_memory: usize,
    /// The maximum number of concurrent lookups at upstreams. Further ones wait.
    pub lookups: usize,
    /// The rate limits of one client address.
    pub rate_limits: RateLimits,
    /// How long an idle connection stays open, and how long a client may stop reading a response.
    pub idle_timeout: Duration,
    /// How long a request may take to arrive, and how long a source may take to answer it.
    pub request_timeout: Duration,
    /// How long running responses may continue after a signal to stop.
    pub shutdown_grace: Duration,
}

impl Limits {
    /// The maximum number of chunks in memory for one session.
    pub fn chunks_per_session(&self) -> usize {
        (self.chunks_in_memory / SESSION_SHARE_DIVISOR).max(1)
    }

    /// The maximum number of chunks in memory for one client address.
    pub fn chunks_per_network(&self) -> usize {
        (self.chunks_in_memory / NETWORK_SHARE_DIVISOR).max(1)
    }

    /// The maximum number of chunks that arrive from upstreams at a time, and of chunks that have just arrived.
    pub fn arriving_chunks(&self) -> usize {
        (self.chunks_in_memory / ARRIVING_SHARE_DIVISOR).max(1)
    }

    /// The maximum number of lookups of one client address.
    pub fn lookups_per_network(&self) -> usize {
        network_share(self.lookups)
    }

    /// The maximum number of requests at a time for quotes and for paid uploads.
    pub fn paid_requests(&self) -> usize {
        (self.chunks_in_memory / PAID_SHARE_DIVISOR).max(1)
    }

    /// The maximum number of lookups without a waiting client.
    pub fn abandoned_lookups(&self) -> usize {
        self.lookups / LOOKUP_SHARE_DIVISOR
    }

    /// Whether a client is exempt from the limits of client networks.
    pub fn exempts(&self, ip: IpAddr) -> bool {
        !self.limit_loopback && ip.to_canonical().is_loopback()
    }

    /// The maximum number of chunks in memory for one IPv6 /48.
    pub fn chunks_per_site(&self) -> usize {
        site_share(self.chunks_in_memory)
    }

    /// The maximum number of lookups at upstreams for one IPv6 /48.
    pub fn lookups_per_site(&self) -> usize {
        site_share(self.lookups)
    }

    /// How long the transfer of a chunk of `length` bytes may take, in either direction.
    pub fn transfer_timeout(&self, length: u32) -> Duration {
        self.request_timeout + Duration::from_secs(u64::from(length / MIN_BYTES_PER_SECOND))
    }
}

/// The part of the lookups, or of other work outside of this peer, that one network gets.
pub fn network_share(all: usize) -> usize {
    (all / LOOKUP_SHARE_DIVISOR).max(1)
}

/// The part of this work that one IPv6 /48 gets.
pub fn site_share(all: usize) -> usize {
    (all - all / SITE_REST_DIVISOR).max(1)
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 256,
            sessions_per_network: 256 / CONNECTION_SHARE_DIVISOR,
            streams_per_session: 256,
            http_connections: 1024,
            http_connections_per_network: 1024 / CONNECTION_SHARE_DIVISOR,
            connections_per_second: None,
            total_connections_per_second: None,
            limit_loopback: false,
            chunks_in_memory: 128,
            lookups: 256,
            rate_limits: RateLimits::default(),
            idle_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(20),
            shutdown_grace: Duration::from_secs(5),
        }
    }
}
