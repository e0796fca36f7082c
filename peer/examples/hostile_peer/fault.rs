//! The faults of a hostile peer.

use antway_peer::address::Address;
use antway_peer::limits::MAX_CHUNK_BYTES;
use antway_peer::source::{
    Chunk, ChunkBody, ChunkSource, PutOutcome, SourceError, SourceFuture, SourceStats,
};
use antway_peer::store::FolderStore;
use bytes::Bytes;
use clap::ValueEnum;
use futures_util::TryStreamExt;
use futures_util::stream::{self, StreamExt};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::sleep;

/// The fault of a hostile peer when it serves a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fault {
    /// One byte in the middle is different
    Flip,
    /// The bytes belong to another chunk
    Wrong,
    /// The second half is missing, and the length matches the shorter bytes
    Short,
    /// 5 MiB of junk, which is more than a chunk can have
    Junk,
    /// The peer reports that it does not have the chunk
    NotFound,
    /// The peer reports that it is busy
    Busy,
    /// The peer sends a few bytes at a time
    Slow,
    /// The peer never answers
    Silent,
    /// The peer aborts the response after half of the bytes
    Reset,
}

/// The fault, and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct FaultConfig {
    /// The fault.
    pub fault: Fault,
    /// The speed of [`Fault::Slow`].
    pub bytes_per_second: u32,
    /// How many chunks are served correctly before the fault begins.
    pub honest_first: usize,
}

/// A store that is served with a fault. Writes work correctly, so that tests can fill it.
pub struct HostileSource {
    store: FolderStore,
    folder: PathBuf,
    config: FaultConfig,
    served: AtomicUsize,
}

impl HostileSource {
    /// `folder` is the folder of `store`.
    pub fn new(store: FolderStore, folder: PathBuf, config: FaultConfig) -> Self {
        Self {
            store,
            folder,
            config,
            served: AtomicUsize::new(0),
        }
    }

    async fn get_with_fault(&self, address: Address) -> Result<Option<ChunkBody>, SourceError> {
        let Some(body) = self.store.get(address).await? else {
            return Ok(None);
        };
        if self.served.fetch_add(1, Relaxed) < self.config.honest_first {
            return Ok(Some(body));
        }
        let pieces: Vec<Bytes> = body.into_pieces().try_collect().await?;
        let mut bytes = pieces.concat();
        let middle = bytes.len() / 2;
        match self.config.fault {
            Fault::Flip => bytes[middle] ^= 1,
            Fault::Wrong => bytes = other_chunk(&self.folder.join("chunks"), address),
            Fault::Short => bytes.truncate(middle),
            Fault::Junk => bytes = vec![0x5a; MAX_CHUNK_BYTES as usize + (1 << 20)],
            Fault::NotFound => return Ok(None),
            Fault::Busy => return Err(SourceError::Busy),
            Fault::Slow => return Ok(Some(slow_body(bytes, self.config.bytes_per_second))),
            Fault::Silent => return std::future::pending().await,
            Fault::Reset => return Ok(Some(aborted_body(bytes, middle))),
        }
        Ok(Some(ChunkBody::from_bytes(bytes.into())))
    }
}

impl ChunkSource for HostileSource {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        Box::pin(self.get_with_fault(address))
    }

    fn has(&self, address: Address) -> SourceFuture<'_, bool> {
        self.store.has(address)
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        self.store.put(chunk)
    }

    fn stats(&self) -> SourceStats {
        self.store.stats()
    }
}

/// Sends a piece every 100 ms.
fn slow_body(bytes: Vec<u8>, bytes_per_second: u32) -> ChunkBody {
    let step = (bytes_per_second / 10) as usize;
    let length = bytes.len() as u32;
    let pieces = stream::unfold(Bytes::from(bytes), move |mut rest| async move {
        let piece = rest.split_to(rest.len().min(step));
        if piece.is_empty() {
            return None;
        }
        sleep(Duration::from_millis(100)).await;
        Some((Ok(piece), rest))
    });
    ChunkBody::stream(length, pieces.boxed())
}

fn aborted_body(bytes: Vec<u8>, after: usize) -> ChunkBody {
    let length = bytes.len() as u32;
    let first_half = Bytes::from(bytes).slice(..after);
    let error = SourceError::Failed("aborted on purpose".to_owned());
    let pieces = stream::once(async { Ok(first_half) }).chain(stream::once(async {
        // Wait until the first half has been sent.
        sleep(Duration::from_millis(100)).await;
        Err(error)
    }));
    ChunkBody::stream(length, pieces.boxed())
}

/// The bytes of another chunk below `folder`. Empty if there is no other chunk.
fn other_chunk(folder: &Path, excluded: Address) -> Vec<u8> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            let found = other_chunk(&path, excluded);
            if !found.is_empty() {
                return found;
            }
        } else if *entry.file_name() != *excluded.to_string() {
            return fs::read(path).unwrap_or_default();
        }
    }
    Vec::new()
}
