//! OPEN: sends the record of a data map, and the chunks that its reader needs next.
//!
//! OPEN is an optimisation. If the peer cannot parse a map or has no memory for it, the response ends early. The
//! client then requests the remaining chunks with GET.

use super::request::{End, Exchange};
use crate::address::Address;
use crate::data_map::{DataMap, MAX_LEVELS, Range, Unreadable};
use crate::limits::MAX_OPENED_CHUNKS;
use crate::protocol::Status;
use crate::service::{DataMapPermit, GetOutcome};
use bytes::Bytes;
use futures_util::StreamExt;
use std::pin::pin;
use std::sync::Arc;

/// A data map, with its memory permit.
struct Read {
    map: DataMap,
    _room: DataMapPermit,
}

impl Exchange {
    /// Answers an OPEN.
    pub(super) async fn open(&mut self, address: Address, range: Range) -> Result<(), End> {
        let Some(mut read) = self.send_record(address).await? else {
            return Ok(());
        };
        for _ in 0..MAX_LEVELS {
            if !read.map.is_nested() {
                break;
            }
            let Some(inner) = self.send_nested(read).await? else {
                return Ok(());
            };
            read = inner;
        }
        if read.map.is_nested() {
            return Ok(());
        }
        let mut addresses = read.map.addresses_in(range);
        // Release the permit and the map before the chunks are sent. A slow client must not block the maps of others.
        drop(read);
        addresses.truncate(MAX_OPENED_CHUNKS);
        addresses.shrink_to_fit();
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
    async fn send_record(&mut self, address: Address) -> Result<Option<Read>, End> {
        let outcome = match self.service.admits(&self.context.client) {
            true => self.service.get(&self.context.client, address).await,
            false => GetOutcome::Unavailable(Status::Busy),
        };
        let room = match &outcome {
            GetOutcome::Found(body, _) => self.service.try_acquire_data_map(body.length().into()),
            GetOutcome::Unavailable(_) => None,
        };
        let Some(room) = room else {
            self.send_answer(outcome, |_| {}).await?;
            return Ok(None);
        };
        let mut record = Vec::new();
        let keep = |piece: &[u8]| record.extend_from_slice(piece);
        self.send_answer(outcome, keep).await?;
        let map = in_background(move || DataMap::from_record(&record)).await;
        Ok(map.ok().map(|map| Read { map, _room: room }))
    }

    /// Sends the chunks of a nested map. Returns the map that they contain.
    async fn send_nested(&mut self, outer: Read) -> Result<Option<Read>, End> {
        let Some(room) = self.service.try_acquire_data_map(outer.map.size()) else {
            return Ok(None);
        };
        let outer = Arc::new(outer);
        // `None` after the first chunk that could not be decrypted.
        let mut opened = Some(Vec::new());
        let addresses = outer.map.addresses();
        let mut answers = pin!(
            self.service
                .get_all(&self.context.client, addresses.clone())
        );
        for (index, address) in addresses.into_iter().enumerate() {
            self.send_address(address).await?;
            let Some(outcome) = answers.next().await else {
                return Ok(None);
            };
            let mut sealed = Vec::new();
            let keep = |piece: &[u8]| sealed.extend_from_slice(piece);
            self.send_answer(outcome, keep).await?;
            let Some(mut before) = opened.take() else {
                continue;
            };
            let outer = Arc::clone(&outer);
            let opening = in_background(move || {
                before.extend(outer.map.open(index, &sealed)?);
                Ok(before)
            });
            opened = opening.await.ok();
        }
        let Some(opened) = opened else {
            return Ok(None);
        };
        let map = in_background(move || DataMap::from_sealed(&opened)).await;
        Ok(map.ok().map(|map| Read { map, _room: room }))
    }

    async fn send_address(&mut self, address: Address) -> Result<(), End> {
        let bytes = Bytes::copy_from_slice(address.as_bytes());
        self.send.write(bytes).await
    }
}

/// Runs work on whole chunks outside of the async threads.
async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Unreadable> + Send + 'static,
) -> Result<T, Unreadable> {
    let result = tokio::task::spawn_blocking(work).await;
    result.unwrap_or(Err(Unreadable))
}
