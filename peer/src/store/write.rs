//! Writing chunks into a store.

use super::CLASSES;
use super::chunk_file::read_file;
use super::chunk_folders::ChunkFolders;
use super::eviction::{ChunkClass, Incoming};
use crate::durable_file::{self, FileAccess, is_full};
use crate::source::{Chunk, PutOutcome};
use std::io;
use std::sync::atomic::Ordering::Relaxed;

impl ChunkFolders {
    /// Stores the chunk. Replaces a damaged file.
    pub fn write(&self, chunk: &Chunk, class: ChunkClass) -> io::Result<PutOutcome> {
        // `write_new` checks again. Reserving room takes the locks of other chunks, so it must run without this
        // chunk's lock.
        if let Some(outcome) = self.resolve_existing(chunk, class)? {
            return Ok(outcome);
        }
        let incoming = match class {
            ChunkClass::Written => Incoming::Required,
            ChunkClass::Pulled => Incoming::Optional(chunk.address()),
        };
        let length = chunk.bytes().len() as u64;
        if !self.reserve(length, incoming) {
            return Ok(PutOutcome::Full);
        }
        let outcome = match self.write_new(chunk, class) {
            Err(error) if is_full(&error) && self.evicts(incoming, length) => {
                self.write_new(chunk, class)
            }
            outcome => outcome,
        };
        if !matches!(outcome, Ok(PutOutcome::Stored)) {
            self.release(length);
        }
        match outcome {
            Err(error) if is_full(&error) => {
                tracing::warn!(address = %chunk.address(), %error, "no room to store a chunk");
                Ok(PutOutcome::Full)
            }
            outcome => outcome,
        }
    }

    /// Evicts chunks. An error must not end the write before it releases its reservation.
    fn evicts(&self, incoming: Incoming, length: u64) -> bool {
        self.evict(incoming, length).unwrap_or_else(|error| {
            tracing::warn!(%error, "chunks could not be evicted");
            false
        })
    }

    fn write_new(&self, chunk: &Chunk, class: ChunkClass) -> io::Result<PutOutcome> {
        let address = chunk.address();
        let _lock = self.lock_writes(address);
        for stored_class in CLASSES {
            if self.layout.chunk(address, stored_class).try_exists()? {
                return Ok(PutOutcome::AlreadyStored);
            }
        }
        let path = self.layout.chunk(address, class);
        let temporary = self.layout.temporary().join(address.to_string());
        durable_file::write_durably(&temporary, &path, chunk.bytes(), FileAccess::Default)?;
        self.chunks.fetch_add(1, Relaxed);
        self.eviction_queue.add(address, class, chunk.length());
        Ok(PutOutcome::Stored)
    }

    /// Handles a chunk that is stored already. A chunk that a client writes moves to `chunks/`, so that it counts as
    /// written.
    fn resolve_existing(&self, chunk: &Chunk, class: ChunkClass) -> io::Result<Option<PutOutcome>> {
        let address = chunk.address();
        let _lock = self.lock_writes(address);
        for stored_class in CLASSES {
            let path = self.layout.chunk(address, stored_class);
            match read_file(&path)? {
                None => continue,
                Some(bytes) if bytes == *chunk.bytes() => {}
                Some(_) => {
                    self.quarantine(address, stored_class)?;
                    continue;
                }
            }
            if (stored_class, class) == (ChunkClass::Pulled, ChunkClass::Written) {
                durable_file::move_durably(&path, &self.layout.chunk(address, class))?;
                self.removals.record(address);
                self.memory_cache.remove(address);
                self.eviction_queue.remove(address, stored_class);
                self.eviction_queue.add(address, class, chunk.length());
            }
            return Ok(Some(PutOutcome::AlreadyStored));
        }
        Ok(None)
    }
}
