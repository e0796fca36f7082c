//! The Autonomi network as an upstream: read only, without a wallet.

use super::Upstream;
use super::connecting::Connecting;
use crate::address::Address;
use crate::source::{SourceError, SourceFuture};
use crate::via::Via;
use ant_core::data::{Client, ClientConfig, Error, MultiAddr};
use bytes::Bytes;
use std::time::Duration;

/// How long it may take to get into the network. A request for a chunk waits less; it goes on for the next one.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// How to get into the network.
#[derive(Clone, Debug, Default)]
pub struct AutonomiSettings {
    /// Nodes to begin with.
    pub bootstrap: Vec<MultiAddr>,
    /// Whether nodes may be on this machine, as in a network for tests.
    pub allow_loopback: bool,
}

/// A client of the network. It connects when it is first asked.
pub struct AutonomiUpstream {
    settings: AutonomiSettings,
    client: Connecting<Client>,
}

impl AutonomiUpstream {
    /// Nothing is connected to yet.
    pub fn new(settings: AutonomiSettings) -> Self {
        Self {
            settings,
            client: Connecting::new(CONNECT_TIMEOUT),
        }
    }

    /// The client, connected.
    async fn client(&self) -> Result<&Client, SourceError> {
        self.client.get(|| connect(self.settings.clone())).await
    }

    async fn chunk(&self, address: Address) -> Result<Option<Bytes>, SourceError> {
        let client = self.client().await?;
        let chunk = client.chunk_get(address.as_bytes()).await.map_err(failed)?;
        // A client that knows no nodes finds nothing either, which says nothing about the chunk.
        if chunk.is_none() && client.network().connected_peers().await.is_empty() {
            let why = "it is not connected to any node".to_owned();
            return Err(SourceError::Unreachable(why));
        }
        Ok(chunk.map(|chunk| chunk.content))
    }

    async fn newest_pointer(&self, address: Address) -> Result<Option<Bytes>, SourceError> {
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

    fn get<'a>(&'a self, address: Address, _via: &'a Via) -> SourceFuture<'a, Option<Bytes>> {
        Box::pin(self.chunk(address))
    }

    fn pointer<'a>(&'a self, address: Address, _via: &'a Via) -> SourceFuture<'a, Option<Bytes>> {
        Box::pin(self.newest_pointer(address))
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
