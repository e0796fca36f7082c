//! The room in a store: reserving it, and making it by eviction.

use super::chunk_folders::ChunkFolders;
use super::eviction::{Incoming, Victims};
use std::fs;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

impl ChunkFolders {
    /// Reserves `length` bytes. Evicts chunks if necessary, but only if that makes enough room. `false` if there is not
    /// enough.
    pub(super) fn reserve(&self, length: u64, incoming: Incoming) -> bool {
        if length > self.max_bytes {
            return false;
        }
        let fits = |bytes: u64| bytes.checked_add(length).filter(|&n| n <= self.max_bytes);
        while let Err(bytes) = self.bytes.fetch_update(Relaxed, Relaxed, fits) {
            let missing = bytes.saturating_add(length) - self.max_bytes;
            match self.evict(incoming, missing) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    tracing::error!(%error, "chunk not evicted");
                    return false;
                }
            }
        }
        true
    }

    pub(super) fn release(&self, length: u64) {
        // The totals are approximate if other programs changed the files. They must not wrap.
        let subtract = |bytes: u64| Some(bytes.saturating_sub(length));
        let _ = self.bytes.fetch_update(Relaxed, Relaxed, subtract);
    }

    /// Evicts chunks of at least `length` bytes for `incoming`. `false` if they may not all be evicted for it; then none
    /// is.
    pub(super) fn evict(&self, incoming: Incoming, length: u64) -> io::Result<bool> {
        let victims = match self.eviction_queue.pop_victims(incoming, length) {
            Victims::Chunks(victims) => victims,
            Victims::TooFew => return Ok(false),
            Victims::MorePopular => {
                self.refused.inc();
                return Ok(false);
            }
        };
        let mut evicted = Ok(true);
        for (address, class, length) in victims {
            match evicted.and_then(|_| self.remove(address, class)) {
                Ok(true) => {
                    self.evicted.fetch_add(1, Relaxed);
                    tracing::debug!(%address, "chunk evicted");
                    evicted = Ok(true);
                }
                // Another thread removed it.
                Ok(false) => evicted = Ok(true),
                Err(error) => {
                    // The chunk is still stored.
                    self.eviction_queue.add(address, class, length);
                    evicted = Err(error);
                }
            }
        }
        evicted
    }

    /// Evicts chunks until at most `max_bytes` are stored, or no chunk may be evicted.
    pub fn evict_down_to(&self, max_bytes: u64) -> io::Result<()> {
        while self.bytes.load(Relaxed) > max_bytes && self.evict(Incoming::Required, 1)? {}
        Ok(())
    }

    /// Removes empty folders of chunks.
    pub fn remove_empty_folders(&self) -> io::Result<u64> {
        let mut removed = 0;
        for class in super::CLASSES {
            for first in fs::read_dir(self.layout.chunks(class))? {
                let first = first?;
                if !first.file_type()?.is_dir() {
                    continue;
                }
                for second in fs::read_dir(first.path())? {
                    removed += remove_if_empty(&second?.path())?;
                }
                removed += remove_if_empty(&first.path())?;
            }
        }
        Ok(removed)
    }
}

/// Removes a folder without entries. Returns the number of removed folders.
fn remove_if_empty(folder: &std::path::Path) -> io::Result<u64> {
    match fs::remove_dir(folder) {
        Ok(()) => Ok(1),
        Err(error) => match error.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory => Ok(0),
            _ => Err(error),
        },
    }
}
