//! The default source: a folder with one file per chunk.
//!
//! ```text
//! <store>/chunks/<aa>/<bb>/<address>   aa, bb: the address's first two bytes
//! <store>/pulled/<aa>/<bb>/<address>   the same for chunks that came from an upstream
//! <store>/pointers/<address>           pointer records that an operator put there
//! <store>/quarantine/                  files whose bytes did not match their address
//! <store>/temporary/                   files being written; emptied at start
//! <store>/lock                         held by the running peer
//! ```

mod chunk_file;
mod chunk_folders;
mod eviction;
mod scan;

pub use eviction::EvictionPolicy;

use crate::address::Address;
use crate::source::{
    Chunk, ChunkBody, ChunkSource, PutOutcome, SourceError, SourceFuture, SourceStats,
};
use crate::via::Via;
use bytes::Bytes;
use chunk_folders::ChunkFolders;
use eviction::ChunkClass;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A store in its own folder. Clones share it.
#[derive(Clone)]
pub struct FolderStore {
    folders: Arc<ChunkFolders>,
}

impl FolderStore {
    /// Opens the store in `folder`, and counts its chunks. Creates the folder if it does not exist.
    ///
    /// The store holds at most `max_bytes` of chunks. To make room, it evicts the chunks that `eviction` allows.
    /// Fails with `ResourceBusy` if another process has the store open.
    pub fn open(folder: &Path, max_bytes: u64, eviction: EvictionPolicy) -> io::Result<Self> {
        let folders = ChunkFolders::open(folder, max_bytes, eviction)?;
        Ok(Self {
            folders: Arc::new(folders),
        })
    }
}

impl ChunkSource for FolderStore {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        let folders = Arc::clone(&self.folders);
        run_blocking(move || {
            let bytes = folders.read(address)?;
            Ok(bytes.map(ChunkBody::from_bytes))
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

    fn pointer(&self, address: Address, _via: Via) -> SourceFuture<'_, Option<Bytes>> {
        let folders = Arc::clone(&self.folders);
        run_blocking(move || folders.read_pointer(address))
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
