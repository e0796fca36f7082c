//! The upstreams of a peer, and the permits for lookups at them.

use super::PullThroughConfig;
use super::fetch_key::UpstreamScope;
use super::guarded_upstream::GuardedUpstream;
use crate::client::{LookupAccount, LookupPermit};
use crate::network::NetworkStatus;
use crate::paid_uploads::RelayedNetwork;
use crate::pool::Pool;
use crate::source::SourceError;
use crate::upstream::Upstream;
use crate::via::{PeerId, Via};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// All upstreams, in the order in which they are asked.
pub struct UpstreamSet {
    all: Vec<GuardedUpstream>,
    id: PeerId,
    config: PullThroughConfig,
    lookup_permits: Arc<Pool>,
    /// Lookups for peers have permits of their own. Otherwise the lookups of two peers, which are each other's
    /// upstreams, could wait for each other.
    peer_lookup_permits: Arc<Pool>,
}

impl UpstreamSet {
    /// Does not connect to the upstreams yet.
    pub fn new(upstreams: Vec<Arc<dyn Upstream>>, config: PullThroughConfig) -> Self {
        Self {
            all: upstreams.into_iter().map(GuardedUpstream::new).collect(),
            id: PeerId::random(),
            config,
            lookup_permits: Pool::new(config.lookups),
            peer_lookup_permits: Pool::new(config.lookups),
        }
    }

    /// Whether this peer forwarded the request before.
    pub fn is_loop(&self, via: &Via) -> bool {
        via.contains(self.id)
    }

    /// The `Via` of this peer's own requests.
    pub fn via(&self) -> Via {
        Via::default().with(self.id)
    }

    /// The upstreams in this scope, in order.
    pub fn in_scope(&self, scope: UpstreamScope) -> impl Iterator<Item = &GuardedUpstream> {
        self.all
            .iter()
            .filter(move |upstream| scope == UpstreamScope::All || !upstream.inner.is_peer())
    }

    /// The state of the connection to the Autonomi network, if it is an upstream.
    pub fn network(&self) -> Option<NetworkStatus> {
        let mut upstreams = self.all.iter();
        upstreams.find_map(|upstream| upstream.inner.network())
    }

    /// The Autonomi network for requests that are only about it, if it is an upstream.
    pub fn relayed_network(&self) -> Option<Arc<dyn RelayedNetwork>> {
        let mut upstreams = self.all.iter();
        upstreams.find_map(|upstream| Arc::clone(&upstream.inner).relayed_network())
    }

    /// Whether a lookup at one of the upstreams may take many seconds.
    pub fn has_slow_lookups(&self) -> bool {
        let mut upstreams = self.all.iter();
        upstreams.any(|upstream| upstream.inner.has_slow_lookups())
    }

    /// How long this upstream may take to answer.
    pub fn timeout_of(&self, upstream: &GuardedUpstream) -> Duration {
        match upstream.inner.has_slow_lookups() {
            true => self.config.lookup_timeout,
            false => self.config.upstream_timeout,
        }
    }

    /// Until when a request in this scope waits. The asking peer probably has the same upstream timeout, and its
    /// circuit breaker would count a late answer as a failure. So it gets an answer after half of the time.
    pub fn client_deadline(&self, scope: UpstreamScope) -> Instant {
        let wait = match scope {
            UpstreamScope::All => self.config.client_wait,
            UpstreamScope::ExcludePeers => {
                let half = self.config.upstream_timeout / 2;
                half.min(self.config.client_wait)
            }
        };
        Instant::now() + wait
    }

    /// Waits for the permit of a lookup. `Busy` after the deadline.
    pub async fn acquire_lookup(
        &self,
        scope: UpstreamScope,
        account: &LookupAccount,
        deadline: Instant,
    ) -> Result<LookupPermit, SourceError> {
        let all = match scope {
            UpstreamScope::All => &self.lookup_permits,
            UpstreamScope::ExcludePeers => &self.peer_lookup_permits,
        };
        let acquired = timeout_at(deadline, account.acquire_lookup(all)).await;
        acquired.map_err(|_elapsed| SourceError::Busy)
    }
}

/// Selects the error to report if several upstreams failed. An error after which the client may retry wins.
pub fn combine_errors(before: Option<SourceError>, error: SourceError) -> SourceError {
    match (before, error) {
        (Some(SourceError::Later(after)), _) | (_, SourceError::Later(after)) => {
            SourceError::Later(after)
        }
        (Some(SourceError::Busy), _) => SourceError::Busy,
        (_, error) => error,
    }
}
