//! Quotes and uploads of paid records, and reads of the network, within the limits of the clients.

use super::Service;
use crate::address::Address;
use crate::client::{Client, LookupPermit};
use crate::limits::{
    Limits, MAX_NETWORK_READS, MAX_PAID_RECORDS, NETWORK_READ_TIMEOUT, PAID_STORE_TIMEOUT,
    POINTER_BYTES, QUOTE_TIMEOUT,
};
use crate::memory::MemoryPermit;
use crate::paid_uploads::{
    Disconnected, NetworkPointer, Offer, PaidUpload, PaymentChain, Quote, ReadError, RecordName,
    RelayedNetwork, StoreError,
};
use crate::pointer;
use crate::pool::Pool;
use std::sync::Arc;
use tokio::time::timeout;

/// The network that takes paid records.
pub struct PaidUploads {
    chain: PaymentChain,
    network: Arc<dyn RelayedNetwork>,
    requests: Arc<Pool>,
    records: Arc<Pool>,
    reads: Arc<Pool>,
}

/// The permit for a request that may wait for the network: one of its client's network, and one of all.
pub type PaidPermit = LookupPermit;

/// As [`PaidPermit`], for a request that only reads.
pub type NetworkReadPermit = LookupPermit;

impl PaidUploads {
    /// No record is on its way yet.
    pub fn new(chain: PaymentChain, network: Arc<dyn RelayedNetwork>, limits: &Limits) -> Self {
        Self {
            chain,
            network,
            requests: Pool::new(limits.paid_requests()),
            records: Pool::new(MAX_PAID_RECORDS),
            reads: Pool::new(MAX_NETWORK_READS),
        }
    }
}

impl Service {
    /// Whether clients can upload paid records.
    pub fn allows_paid_uploads(&self) -> bool {
        self.paid_uploads.is_some()
    }

    /// The chain of the payments.
    pub fn payment_chain(&self) -> PaymentChain {
        self.paid().chain
    }

    /// Whether a page of `origin` may cause work: one that may read, or the peer's own.
    pub fn origin_may_pay(&self, origin: Option<&str>, host: &str) -> bool {
        self.origins.may_write_with_token(origin, host)
    }

    /// Waits for a place among the requests that may wait for the network, and for the memory of a chunk. `None` if the
    /// client has to try again. The places leave most of the memory to other requests.
    pub async fn acquire_paid(&self, client: &Client) -> Option<(PaidPermit, MemoryPermit)> {
        let account = self.account(client);
        let requests = &self.paid().requests;
        let acquiring = account.acquire(|network| &network.paid_requests, requests);
        let place = timeout(self.limits.request_timeout, acquiring).await.ok()?;
        Some((place, self.acquire_chunk(client).await?))
    }

    /// Waits for a place among the reads of the network. `None` if the client has to try again.
    pub async fn acquire_network_read(&self, client: &Client) -> Option<NetworkReadPermit> {
        let account = self.account(client);
        let reads = &self.paid().reads;
        let acquiring = account.acquire(|network| &network.network_reads, reads);
        timeout(self.limits.request_timeout, acquiring).await.ok()
    }

    /// Asks the network for the price of a record. Waits while the client's network has many such requests.
    pub async fn quote(
        &self,
        client: &Client,
        record: RecordName,
        size: u32,
    ) -> Result<Offer, Disconnected> {
        let paid = self.paid();
        let quoting = async {
            let account = self.account(client);
            let _permit = account
                .acquire(|network| &network.paid_records, &paid.records)
                .await;
            paid.network.quote(record, size).await
        };
        let quoted = timeout(QUOTE_TIMEOUT, quoting).await;
        quoted.unwrap_or(Ok(Offer::Shortfall))
    }

    /// Asks the network for the nodes of a pool. Waits while the client's network has many such requests.
    pub async fn pool(
        &self,
        client: &Client,
        address: Address,
        timestamp: u64,
    ) -> Result<Option<Vec<Quote>>, Disconnected> {
        let paid = self.paid();
        let asking = async {
            let account = self.account(client);
            let _permit = account
                .acquire(|network| &network.paid_records, &paid.records)
                .await;
            paid.network.pool(address, timestamp).await
        };
        timeout(QUOTE_TIMEOUT, asking).await.unwrap_or(Ok(None))
    }

    /// Brings a paid record to the network. Its bytes count for the client's rate.
    pub async fn store_paid(&self, client: &Client, upload: PaidUpload) -> Result<(), StoreError> {
        let paid = self.paid();
        let account = self.account(client);
        account.charge_bytes(upload.bytes.len().try_into().unwrap_or(u32::MAX));
        let storing = async {
            let _permit = account
                .acquire(|network| &network.paid_records, &paid.records)
                .await;
            paid.network.store(upload).await
        };
        let stored = timeout(PAID_STORE_TIMEOUT, storing).await;
        stored.unwrap_or(Err(StoreError::Shortfall))
    }

    /// Reads the newest state of a pointer from the network. The store of this peer does not count.
    pub async fn network_pointer(
        &self,
        client: &Client,
        address: Address,
        _permit: NetworkReadPermit,
    ) -> Result<Option<NetworkPointer>, ReadError> {
        let reading = self.paid().network.read_pointer(address);
        let read = timeout(NETWORK_READ_TIMEOUT, reading).await;
        let Some(state) = read.unwrap_or(Err(ReadError::Shortfall))? else {
            return Ok(None);
        };
        let checked = state.record.clone();
        let verifying =
            tokio::task::spawn_blocking(move || pointer::is_valid(&checked, address)).await;
        if !verifying.expect("verifying does not panic") {
            return Err(ReadError::Shortfall);
        }
        self.record_bytes(client, POINTER_BYTES as u32);
        Ok(Some(state))
    }

    fn paid(&self) -> &PaidUploads {
        let paid = self.paid_uploads.as_ref();
        paid.expect("the routes exist only with paid uploads")
    }
}
