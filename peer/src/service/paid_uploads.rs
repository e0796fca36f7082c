//! Quotes and uploads of paid records, and reads of the network, within the limits of the clients.

use super::Service;
use crate::address::Address;
use crate::client::{Client, LookupPermit};
use crate::limits::{
    Limits, MAX_PAID_RECORDS, NETWORK_READ_TIMEOUT, PAID_STORE_TIMEOUT, POINTER_BYTES,
    QUOTE_TIMEOUT,
};
use crate::memory::ChunkPermit;
use crate::paid_uploads::{
    Disconnected, Offer, PaidUpload, PaymentChain, Quote, ReadError, RecordName, RelayedNetwork,
    StoreError,
};
use crate::pointer;
use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The network that takes paid records.
pub struct PaidUploads {
    chain: PaymentChain,
    network: Arc<dyn RelayedNetwork>,
    requests: Arc<Semaphore>,
    records: Arc<Semaphore>,
}

/// The permit for a request that may wait for the network: one of its client's network, and one of all.
pub type PaidPermit = LookupPermit;

impl PaidUploads {
    /// No record is on its way yet.
    pub fn new(chain: PaymentChain, network: Arc<dyn RelayedNetwork>, limits: &Limits) -> Self {
        Self {
            chain,
            network,
            requests: Arc::new(Semaphore::new(limits.paid_requests())),
            records: Arc::new(Semaphore::new(MAX_PAID_RECORDS)),
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
    pub async fn acquire_paid(&self, client: &Client) -> Option<(PaidPermit, ChunkPermit)> {
        let place = self.acquire_place(client).await?;
        Some((place, self.acquire_chunk(client).await?))
    }

    /// As [`Self::acquire_paid`], for a request without a large body.
    pub async fn acquire_place(&self, client: &Client) -> Option<PaidPermit> {
        let account = self.account(client);
        let requests = &self.paid().requests;
        let acquiring = account.acquire(|network| &network.paid_requests, requests);
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

    /// Reads the newest state of a pointer from the network. The store of this peer does not count. Waits while the client's
    /// network has many such requests.
    pub async fn network_pointer(
        &self,
        client: &Client,
        address: Address,
    ) -> Result<Option<Bytes>, ReadError> {
        let paid = self.paid();
        let reading = async {
            let account = self.account(client);
            let _permit = account
                .acquire(|network| &network.paid_records, &paid.records)
                .await;
            paid.network.read_pointer(address).await
        };
        let read = timeout(NETWORK_READ_TIMEOUT, reading).await;
        let Some(record) = read.unwrap_or(Err(ReadError::Shortfall))? else {
            return Ok(None);
        };
        let checked = record.clone();
        let verifying =
            tokio::task::spawn_blocking(move || pointer::is_valid(&checked, address)).await;
        if !verifying.expect("verifying does not panic") {
            return Err(ReadError::Shortfall);
        }
        self.record_bytes(client, POINTER_BYTES as u32);
        Ok(Some(record))
    }

    fn paid(&self) -> &PaidUploads {
        let paid = self.paid_uploads.as_ref();
        paid.expect("the routes exist only with paid uploads")
    }
}
