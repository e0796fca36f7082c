//! The Autonomi network as an upstream.

use super::{FoundChunk, Upstream};
use crate::address::Address;
use crate::network::{
    NetworkConnection, NetworkNode, NetworkSetting, NetworkStatus, RetryTimes, Verdict,
};
use crate::paid_uploads::{
    Disconnected, NetworkPointer, Offer, PaidUpload, Quote, ReadError, RecordName, RelayedNetwork,
    StoreError,
};
use crate::source::{SourceError, SourceFuture};
use crate::via::Via;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use saorsa_core::MultiAddr;
use std::sync::Arc;

/// How often the network is asked for a record before the answer is *busy*. Each attempt finds other nodes.
const ATTEMPTS: usize = 2;

/// A connection to the network. It opens when it is created.
pub struct AutonomiUpstream {
    name: String,
    connection: NetworkConnection<NetworkNode>,
}

impl AutonomiUpstream {
    /// Starts to connect. Fails if the bootstrap addresses cannot be read.
    pub fn open(setting: &NetworkSetting) -> Result<Self, String> {
        let bootstrap = setting.bootstrap_addresses()?;
        let bootstrap: Vec<MultiAddr> = bootstrap
            .iter()
            .map(|address| {
                let parsed = address.parse();
                parsed.map_err(|error| format!("“{address}”: {error}"))
            })
            .collect::<Result<_, String>>()?;
        let network = setting.name();
        Ok(Self {
            name: format!("autonomi:{network}"),
            connection: NetworkConnection::open(network, RetryTimes::default(), move || {
                NetworkNode::join(bootstrap.clone())
            }),
        })
    }

    /// A record is absent only if enough nodes answered that they do not have it. Slow or failing nodes make the
    /// upstream *busy*. It is *unreachable* only without a connection.
    async fn read<T, F>(
        &self,
        read: impl Fn(Arc<NetworkNode>) -> F,
    ) -> Result<Option<T>, SourceError>
    where
        F: Future<Output = Verdict<T>>,
    {
        for _ in 0..ATTEMPTS {
            let client = self.connection.client().await?;
            match read(client).await {
                Verdict::Found(record) => return Ok(Some(record)),
                Verdict::Absent => return Ok(None),
                Verdict::Unclear => {}
            }
        }
        // Fails with the reason if the connection was lost meanwhile.
        self.connection.client().await?;
        Err(SourceError::Busy)
    }
}

impl Upstream for AutonomiUpstream {
    fn name(&self) -> &str {
        &self.name
    }

    fn network(&self) -> Option<NetworkStatus> {
        Some(self.connection.status())
    }

    fn relayed_network(self: Arc<Self>) -> Option<Arc<dyn RelayedNetwork>> {
        Some(self)
    }

    fn has_slow_lookups(&self) -> bool {
        true
    }

    fn get<'a>(&'a self, address: Address, _via: &'a Via) -> SourceFuture<'a, Option<FoundChunk>> {
        let reading = self.read(move |client| async move { client.read_chunk(address).await });
        Box::pin(async move { Ok(reading.await?.map(FoundChunk::Complete)) })
    }

    fn pointer<'a>(&'a self, address: Address, _via: &'a Via) -> SourceFuture<'a, Option<Bytes>> {
        Box::pin(self.read(move |client| async move { client.read_pointer(address).await }))
    }
}

impl RelayedNetwork for AutonomiUpstream {
    fn quote(&self, record: RecordName, size: u32) -> BoxFuture<'_, Result<Offer, Disconnected>> {
        Box::pin(async move {
            let client = self.connection.client().await;
            let client = client.map_err(|_| Disconnected)?;
            Ok(client.quote(record, size).await)
        })
    }

    fn pool(
        &self,
        address: Address,
        timestamp: u64,
    ) -> BoxFuture<'_, Result<Option<Vec<Quote>>, Disconnected>> {
        Box::pin(async move {
            let client = self.connection.client().await;
            let client = client.map_err(|_| Disconnected)?;
            Ok(client.pool(address, timestamp).await)
        })
    }

    fn store(&self, upload: PaidUpload) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let client = self.connection.client().await;
            let client = client.map_err(|_| StoreError::Disconnected)?;
            client.store(upload).await
        })
    }

    fn read_pointer(
        &self,
        address: Address,
    ) -> BoxFuture<'_, Result<Option<NetworkPointer>, ReadError>> {
        Box::pin(async move {
            let reading =
                self.read(move |client| async move { client.survey_pointer(address).await });
            reading.await.map_err(|error| match error {
                SourceError::Unreachable(_) => ReadError::Disconnected,
                _ => ReadError::Shortfall,
            })
        })
    }
}
