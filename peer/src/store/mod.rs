//! The default source: a folder with one file per chunk, and a memory cache of the chunks that are read most.
//!
//! ```text
//! <store>/chunks/<aa>/<bb>/<address>   aa, bb: the address's first two bytes
//! <store>/pulled/<aa>/<bb>/<address>   the same for chunks that came from an upstream
//! <store>/pointers/<address>           pointer records of clients, or that an operator put there
//! <store>/quarantine/                  files whose bytes did not match their address
//! <store>/temporary/                   files being written; emptied at start
//! <store>/lock                         held by the running peer
//! ```

mod check;
mod chunk_file;
mod chunk_folders;
mod eviction;
mod layout;
mod limit;
mod lock;
mod memory_cache;
mod pointers;
mod popularity;
mod removals;
mod room;
mod scan;
mod write;

pub use check::CheckReport;
pub use eviction::{ChunkClass, EvictionPolicy};
pub use limit::StoreLimit;

use crate::address::Address;
use crate::source::{
    Chunk, ChunkBody, ChunkSource, PutOutcome, PutPointerOutcome, SourceError, SourceFuture,
    SourceStats,
};
use bytes::Bytes;
use chunk_folders::ChunkFolders;
use layout::Layout;
use prometheus_client::registry::Registry;
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// All classes, in the order in which their folders are searched.
const CLASSES: [ChunkClass; 2] = [ChunkClass::Written, ChunkClass::Pulled];

/// The limits of a store.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// The maximum size of the stored chunks.
    pub limit: StoreLimit,
    /// The chunks that may be evicted to make room for others.
    pub eviction: EvictionPolicy,
    /// The size of the memory cache. 0 turns it off.
    pub memory_cache_bytes: u64,
}

impl Default for StoreConfig {
    /// A store without a limit and without a memory cache.
    fn default() -> Self {
        Self {
            limit: StoreLimit::Bytes(u64::MAX),
            eviction: EvictionPolicy::default(),
            memory_cache_bytes: 0,
        }
    }
}

/// A store in its own folder. Clones share it.
#[derive(Clone)]
pub struct FolderStore {
    folders: Arc<ChunkFolders>,
}

impl FolderStore {
    /// Opens the store in `folder`, and counts its chunks. Creates the folder if it does not exist.
    ///
    /// Fails with `ResourceBusy` if another process has the store open.
    pub fn open(folder: &Path, config: StoreConfig) -> io::Result<Self> {
        let folders = ChunkFolders::open(folder, config)?;
        Ok(Self {
            folders: Arc::new(folders),
        })
    }

    /// The maximum size of the stored chunks in bytes.
    pub fn max_bytes(&self) -> u64 {
        self.folders.max_bytes
    }

    /// The number of damaged chunks that were quarantined since the store was opened.
    pub fn quarantined(&self) -> u64 {
        self.stats().quarantined
    }

    /// Compares all chunks of the store in `folder` with their addresses. Changes nothing. The store may be in use.
    pub fn check_only(folder: &Path) -> io::Result<CheckReport> {
        check::check(&Layout::new(folder))
    }

    /// Compares all chunks with their addresses, and quarantines damaged ones. Blocks.
    pub fn check(&self) -> io::Result<CheckReport> {
        let report = check::check(&self.folders.layout)?;
        for &(address, class) in &report.damaged {
            self.folders.quarantine_if_damaged(address, class)?;
        }
        Ok(report)
    }

    /// Stores a chunk as if a client wrote it. Blocks.
    pub fn import(&self, chunk: &Chunk) -> io::Result<PutOutcome> {
        self.folders.write(chunk, ChunkClass::Written)
    }

    /// Removes the chunks at these addresses, whether or not they may be evicted. Blocks.
    pub fn remove(&self, addresses: &HashSet<Address>) -> io::Result<u64> {
        let mut removed = 0;
        for &address in addresses {
            for class in CLASSES {
                removed += u64::from(self.folders.remove(address, class)?);
            }
        }
        Ok(removed)
    }

    /// Evicts chunks until the store is within its limit, or no chunk may be evicted. Blocks.
    pub fn evict_to_limit(&self) -> io::Result<()> {
        self.folders.evict_down_to(self.folders.max_bytes)
    }

    /// Removes empty folders, and the files in quarantine if `quarantine` is true. Returns the number of both. Blocks.
    pub fn remove_leftovers(&self, quarantine: bool) -> io::Result<Leftovers> {
        Ok(Leftovers {
            empty_folders: self.folders.remove_empty_folders()?,
            quarantined: match quarantine {
                true => scan::empty(&self.folders.layout.quarantine())?,
                false => 0,
            },
        })
    }
}

/// The result of [`FolderStore::remove_leftovers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leftovers {
    /// The number of empty folders.
    pub empty_folders: u64,
    /// The number of files in quarantine.
    pub quarantined: u64,
}

impl ChunkSource for FolderStore {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        let folders = Arc::clone(&self.folders);
        Box::pin(async move {
            let Some(chunk) = folders.request(address) else {
                let bytes = run_blocking(move || folders.read(address)).await?;
                return Ok(bytes.map(ChunkBody::from_bytes));
            };
            if folders.must_record_use(&chunk) {
                let class = chunk.class;
                // The client does not wait for the disk.
                tokio::task::spawn_blocking(move || folders.record_use(address, class));
            }
            Ok(Some(ChunkBody::from_bytes(chunk.bytes.clone())))
        })
    }

    fn has(&self, address: Address) -> SourceFuture<'_, bool> {
        let folders = Arc::clone(&self.folders);
        run_blocking(move || folders.exists(address))
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        let folders = Arc::clone(&self.folders);
        run_blocking(move || folders.write(&chunk, ChunkClass::Written))
    }

    fn cache(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        let folders = Arc::clone(&self.folders);
        run_blocking(move || folders.write(&chunk, ChunkClass::Pulled))
    }

    fn pointer(&self, address: Address) -> SourceFuture<'_, Option<Bytes>> {
        let folders = Arc::clone(&self.folders);
        run_blocking(move || folders.read_pointer(address))
    }

    fn put_pointer(&self, address: Address, record: Bytes) -> SourceFuture<'_, PutPointerOutcome> {
        let folders = Arc::clone(&self.folders);
        run_blocking(move || folders.write_pointer(address, &record))
    }

    fn register(&self, registry: &mut Registry) {
        self.folders.register(registry);
    }

    fn check_writable(&self) -> SourceFuture<'_, ()> {
        let folders = Arc::clone(&self.folders);
        run_blocking(move || folders.check_writable())
    }

    fn stats(&self) -> SourceStats {
        self.folders.stats()
    }
}

/// Runs file work on a thread that may block.
fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> SourceFuture<'static, T> {
    Box::pin(async move {
        let result = tokio::task::spawn_blocking(work).await;
        result
            .unwrap_or_else(|panicked| Err(io::Error::other(panicked)))
            .map_err(|error| SourceError::Failed(error.to_string()))
    })
}

#[cfg(test)]
mod tests;
