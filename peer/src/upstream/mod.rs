//! The sources from which a peer fetches the chunks that it does not have.

#[cfg(feature = "autonomi")]
mod autonomi;
mod http;
mod metrics;
#[cfg(feature = "object-store")]
mod object_store;
mod url;

pub use http::HttpClient;
pub use metrics::UpstreamMetrics;
pub use url::UpstreamUrl;

use crate::address::Address;
use crate::network::{NetworkSetting, NetworkStatus};
use crate::paid_uploads::RelayedNetwork;
use crate::source::{Chunk, SourceError, SourceFuture};
use crate::via::Via;
#[cfg(feature = "autonomi")]
use autonomi::AutonomiUpstream;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::HttpUpstream;
#[cfg(feature = "object-store")]
use object_store::ObjectStoreUpstream;
use std::sync::Arc;

/// A server that chunks are fetched from. The caller must verify the bytes.
pub trait Upstream: Send + Sync + 'static {
    /// The name for logs and metrics. Contains no secrets.
    fn name(&self) -> &str;

    /// Whether the upstream is a peer or a cache of one. A peer asks its own upstreams, unless another peer sent the
    /// request.
    fn is_peer(&self) -> bool {
        false
    }

    /// The state of the connection, if the upstream is the Autonomi network. Its lookups may take many seconds.
    fn network(&self) -> Option<NetworkStatus> {
        None
    }

    /// The upstream for requests that are only about the Autonomi network, if it is this network.
    fn relayed_network(self: Arc<Self>) -> Option<Arc<dyn RelayedNetwork>> {
        None
    }

    /// Whether a lookup may take many seconds although the upstream works, as in a distributed hash table. Such an
    /// upstream is not left out when lookups time out. If it is disconnected, it fails with `Unreachable`.
    fn has_slow_lookups(&self) -> bool {
        false
    }

    /// The chunk that the upstream has for this address, or `None` if it has none.
    fn get<'a>(&'a self, address: Address, via: &'a Via) -> SourceFuture<'a, Option<FoundChunk>>;

    /// The newest pointer record that the upstream has at this address.
    fn pointer<'a>(&'a self, _address: Address, _via: &'a Via) -> SourceFuture<'a, Option<Bytes>> {
        Box::pin(async { Ok(None) })
    }
}

/// A chunk that an upstream has.
pub enum FoundChunk {
    /// All bytes have arrived.
    Complete(Bytes),
    /// The bytes take no memory until this future runs.
    Arriving(BoxFuture<'static, Result<Bytes, SourceError>>),
}

/// A server that chunks are also written to.
pub trait Sink: Send + Sync + 'static {
    /// The name for logs and metrics. Contains no secrets.
    fn name(&self) -> &str;

    /// Stores the chunk permanently.
    fn put(&self, chunk: Chunk) -> SourceFuture<'_, ()>;
}

/// All upstreams of a peer.
#[derive(Default)]
pub struct Upstreams {
    /// In the order in which they are asked.
    pub all: Vec<Arc<dyn Upstream>>,
    /// The upstreams that chunks are written to.
    pub sinks: Vec<Arc<dyn Sink>>,
}

impl Upstreams {
    /// Creates the upstreams at `urls` without connecting to them. The error text is for the operator.
    pub fn open(urls: &[UpstreamUrl]) -> Result<Self, String> {
        let mut upstreams = Self::default();
        let mut client = None;
        for url in urls {
            match url {
                UpstreamUrl::Http(api, base) => {
                    let client = match &client {
                        Some(client) => client,
                        None => client.insert(HttpClient::new().map_err(|e| e.to_string())?),
                    };
                    let upstream = HttpUpstream::new(*api, base, client.clone());
                    upstreams.all.push(Arc::new(upstream));
                }
                #[cfg(feature = "object-store")]
                UpstreamUrl::ObjectStore(url) => {
                    let upstream = Arc::new(ObjectStoreUpstream::open(url)?);
                    upstreams.all.push(Arc::clone(&upstream) as _);
                    upstreams.sinks.push(upstream);
                }
            }
        }
        Ok(upstreams)
    }

    /// Adds the Autonomi network as the last upstream, and starts to connect to it. Call it in a Tokio runtime. The
    /// error text is for the operator.
    #[cfg(feature = "autonomi")]
    pub fn add_network(&mut self, setting: &NetworkSetting) -> Result<(), String> {
        self.all.push(Arc::new(AutonomiUpstream::open(setting)?));
        Ok(())
    }

    /// Explains how to build a peer that can use the Autonomi network.
    #[cfg(not(feature = "autonomi"))]
    pub fn add_network(&mut self, _setting: &NetworkSetting) -> Result<(), String> {
        Err(format!(
            "this peer was built without the network's client; build it with `{}`, or run `{}` in the project",
            "cargo build --release --locked --features autonomi", "npm start -- --network"
        ))
    }
}
