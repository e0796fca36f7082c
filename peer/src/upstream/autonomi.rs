//! The Autonomi network as an upstream. It is read-only and needs no wallet.

use super::lazy_connection::LazyConnection;
use super::{FoundChunk, Upstream};
use crate::address::Address;
use crate::source::{SourceError, SourceFuture};
use crate::via::Via;
use ant_core::data::{Client, ClientConfig, Error, MultiAddr};
use bytes::Bytes;
use std::time::Duration;

/// How long joining the network may take. A chunk request waits less; the connection attempt continues for the next
/// request.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// How to join the network.
#[derive(Clone, Debug, Default)]
pub struct AutonomiSettings {
    /// The nodes to connect to first.
    pub bootstrap: Vec<MultiAddr>,
    /// Whether nodes may run on this machine, as in a test network.
    pub allow_loopback: bool,
}

/// A client of the network. It connects on the first request.
pub struct AutonomiUpstream {
    settings: AutonomiSettings,
    client: LazyConnection<Client>,
}

impl AutonomiUpstream {
    /// Does not connect yet.
    pub fn new(settings: AutonomiSettings) -> Self {
        Self {
            settings,
            client: LazyConnection::new(CONNECT_TIMEOUT),
        }
    }

    /// The client, once it is connected.
    async fn client(&self) -> Result<&Client, SourceError> {
        self.client.get(|| connect(self.settings.clone())).await
    }

    async fn fetch_chunk(&self, address: Address) -> Result<Option<Bytes>, SourceError> {
        let client = self.client().await?;
        let chunk = client.chunk_get(address.as_bytes()).await.map_err(failed)?;
        // A client without nodes finds nothing. This does not mean that the network lacks the chunk.
        if chunk.is_none() && client.network().connected_peers().await.is_empty() {
            let reason = "not connected to any node".to_owned();
            return Err(SourceError::Unreachable(reason));
        }
        Ok(chunk.map(|chunk| chunk.content))
    }

    async fn fetch_pointer(&self, address: Address) -> Result<Option<Bytes>, SourceError> {
        let client = self.client().await?;
        let pointer = client.pointer_get(address.as_bytes()).await;
        let pointer = pointer.map_err(failed)?;
        Ok(pointer.map(|pointer| pointer.to_bytes().into()))
    }
}

impl Upstream for AutonomiUpstream {
    fn name(&self) -> &str {
        "autonomi:"
    }

    fn has_slow_lookups(&self) -> bool {
        true
    }

    fn get<'a>(&'a self, address: Address, _via: &'a Via) -> SourceFuture<'a, Option<FoundChunk>> {
        Box::pin(async move { Ok(self.fetch_chunk(address).await?.map(FoundChunk::Complete)) })
    }

    fn pointer<'a>(&'a self, address: Address, _via: &'a Via) -> SourceFuture<'a, Option<Bytes>> {
        Box::pin(self.fetch_pointer(address))
    }
}

async fn connect(settings: AutonomiSettings) -> Result<Client, SourceError> {
    let config = ClientConfig {
        allow_loopback: settings.allow_loopback,
        ipv6: !settings.allow_loopback,
        ..ClientConfig::default()
    };
    Client::connect_multiaddrs(&settings.bootstrap, config)
        .await
        .map_err(|error| SourceError::Unreachable(error.to_string()))
}

fn failed(error: Error) -> SourceError {
    SourceError::Failed(error.to_string())
}
