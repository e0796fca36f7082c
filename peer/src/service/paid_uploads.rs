//! Quotes and uploads of paid records, within the limits of the clients.

use super::Service;
use crate::client::Client;
use crate::limits::{MAX_PAID_RECORDS, PAID_STORE_TIMEOUT, QUOTE_TIMEOUT};
use crate::paid_uploads::{
    Disconnected, NetworkWriter, Offer, PaidUpload, PaymentChain, RecordName, StoreError,
};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The network that takes paid records.
pub struct PaidUploads {
    chain: PaymentChain,
    writer: Arc<dyn NetworkWriter>,
    permits: Arc<Semaphore>,
}

impl PaidUploads {
    /// No record is on its way yet.
    pub fn new(chain: PaymentChain, writer: Arc<dyn NetworkWriter>) -> Self {
        Self {
            chain,
            writer,
            permits: Arc::new(Semaphore::new(MAX_PAID_RECORDS)),
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

    /// Asks the network for the price of a record. Waits while the client's network has many such requests.
    pub async fn quote(
        &self,
        client: &Client,
        record: RecordName,
        size: u32,
    ) -> Result<Offer, Disconnected> {
        let paid = self.paid();
        let quoting = async {
            let _permit = self.account(client).acquire_lookup(&paid.permits).await;
            paid.writer.quote(record, size).await
        };
        let quoted = timeout(QUOTE_TIMEOUT, quoting).await;
        quoted.unwrap_or(Ok(Offer::Shortfall))
    }

    /// Brings a paid record to the network. Its bytes count for the client's rate.
    pub async fn store_paid(&self, client: &Client, upload: PaidUpload) -> Result<(), StoreError> {
        let paid = self.paid();
        let account = self.account(client);
        account.charge_bytes(upload.bytes.len().try_into().unwrap_or(u32::MAX));
        let storing = async {
            let _permit = account.acquire_lookup(&paid.permits).await;
            paid.writer.store(upload).await
        };
        let stored = timeout(PAID_STORE_TIMEOUT, storing).await;
        stored.unwrap_or(Err(StoreError::Shortfall))
    }

    fn paid(&self) -> &PaidUploads {
        let paid = self.paid_uploads.as_ref();
        paid.expect("the routes exist only with paid uploads")
    }
}
