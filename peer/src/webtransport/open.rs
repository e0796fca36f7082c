//! OPEN: sends the record of a data map, and the chunks that its reader needs next.
//!
//! OPEN is an optimisation. If the peer cannot parse a map or has no memory for it, the response ends early. The
//! client then requests the remaining chunks with GET.

use super::request::{RequestError, RequestStream};
use crate::address::Address;
use crate::data_map::{ByteRange, DataMap, InvalidDataMap, MAX_NESTING};
use crate::limits::MAX_OPENED_CHUNKS;
use crate::protocol::Status;
use crate::service::{DataMapPermit, GetOutcome};
use bytes::Bytes;
use futures_util::StreamExt;
use std::pin::pin;
use std::sync::Arc;

/// A data map, with its memory permit.
struct LoadedDataMap {
    map: DataMap,
    _permit: DataMapPermit,
}

impl RequestStream {
    /// Answers an OPEN.
    pub(super) async fn open(
        &mut self,
        address: Address,
        range: ByteRange,
    ) -> Result<(), RequestError> {
        let Some(mut loaded) = self.send_record(address).await? else {
            return Ok(());
        };
        for _ in 0..MAX_NESTING {
            if !loaded.map.is_nested() {
                break;
            }
            let Some(inner) = self.send_nested(loaded).await? else {
                return Ok(());
            };
            loaded = inner;
        }
        if loaded.map.is_nested() {
            return Ok(());
        }
        let mut addresses = loaded.map.addresses_in_range(range);
        // Release the permit and the map before the chunks are sent. A slow client must not block the maps of others.
        drop(loaded);
        addresses.truncate(MAX_OPENED_CHUNKS);
        addresses.shrink_to_fit();
        let _lookups = self.service.look_ahead(&self.context.client, &addresses);
        let mut answers = pin!(
            self.service
                .get_all(&self.context.client, addresses.clone())
        );
        for address in addresses {
            self.send_address(address).await?;
            let Some(outcome) = answers.next().await else {
                break;
            };
            self.send_answer(outcome, |_| {}).await?;
        }
        Ok(())
    }

    /// Sends the response for a record. Returns the map if the record is one.
    async fn send_record(
        &mut self,
        address: Address,
    ) -> Result<Option<LoadedDataMap>, RequestError> {
        let outcome = match self.service.admits(&self.context.client) {
            true => self.service.get(&self.context.client, address).await,
            false => GetOutcome::Unavailable(Status::Busy.into()),
        };
        let permit = match &outcome {
            GetOutcome::Found(body) => self.service.try_acquire_data_map(body.length().into()),
            GetOutcome::Unavailable(_) => None,
        };
        let Some(permit) = permit else {
            self.send_answer(outcome, |_| {}).await?;
            return Ok(None);
        };
        let mut record = Vec::new();
        let on_bytes = |piece: &[u8]| record.extend_from_slice(piece);
        self.send_answer(outcome, on_bytes).await?;
        let map = run_blocking(move || DataMap::from_record(&record)).await;
        Ok(map.ok().map(|map| LoadedDataMap {
            map,
            _permit: permit,
        }))
    }

    /// Sends the chunks of a nested map. Returns the map that they contain.
    async fn send_nested(
        &mut self,
        outer: LoadedDataMap,
    ) -> Result<Option<LoadedDataMap>, RequestError> {
        let Some(permit) = self.service.try_acquire_data_map(outer.map.size()) else {
            return Ok(None);
        };
        let outer = Arc::new(outer);
        // `None` after the first chunk that could not be decrypted.
        let mut decrypted = Some(Vec::new());
        let addresses = outer.map.addresses();
        let _lookups = self.service.look_ahead(&self.context.client, &addresses);
        let mut answers = pin!(
            self.service
                .get_all(&self.context.client, addresses.clone())
        );
        for (index, address) in addresses.into_iter().enumerate() {
            self.send_address(address).await?;
            let Some(outcome) = answers.next().await else {
                return Ok(None);
            };
            let mut encrypted = Vec::new();
            let on_bytes = |piece: &[u8]| encrypted.extend_from_slice(piece);
            self.send_answer(outcome, on_bytes).await?;
            let Some(mut plaintext) = decrypted.take() else {
                continue;
            };
            let outer = Arc::clone(&outer);
            let decrypting = run_blocking(move || {
                plaintext.extend(outer.map.decrypt(index, &encrypted)?);
                Ok(plaintext)
            });
            decrypted = decrypting.await.ok();
        }
        let Some(decrypted) = decrypted else {
            return Ok(None);
        };
        let map = run_blocking(move || DataMap::from_bincode(&decrypted)).await;
        Ok(map.ok().map(|map| LoadedDataMap {
            map,
            _permit: permit,
        }))
    }

    async fn send_address(&mut self, address: Address) -> Result<(), RequestError> {
        let bytes = Bytes::copy_from_slice(address.as_bytes());
        self.send.write(bytes).await
    }
}

/// Runs work on whole chunks outside of the async threads.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, InvalidDataMap> + Send + 'static,
) -> Result<T, InvalidDataMap> {
    let result = tokio::task::spawn_blocking(work).await;
    result.unwrap_or(Err(InvalidDataMap))
}
