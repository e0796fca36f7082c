//! A source that counts the bytes of its chunks that are in memory.

use crate::test_peer::TestPeer;
use antway_peer::address::Address;
use antway_peer::source::{Chunk, ChunkBody, ChunkSource, PutOutcome, SourceFuture, SourceStats};
use antway_peer::store::FolderStore;
use bytes::Bytes;
use futures_util::TryStreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tempfile::TempDir;

/// The bytes that are in memory now, and the most that were at any time.
#[derive(Default)]
pub struct LiveBytes {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl LiveBytes {
    pub fn now(&self) -> usize {
        self.now.load(SeqCst)
    }

    pub fn most(&self) -> usize {
        self.most.load(SeqCst)
    }
}

/// The whole allocation of a chunk counts until the last part of it is dropped.
struct Allocation {
    bytes: Vec<u8>,
    live: Arc<LiveBytes>,
}

impl Allocation {
    fn new(bytes: Vec<u8>, live: &Arc<LiveBytes>) -> Self {
        let now = live.now.fetch_add(bytes.len(), SeqCst) + bytes.len();
        live.most.fetch_max(now, SeqCst);
        Self {
            bytes,
            live: Arc::clone(live),
        }
    }
}

impl AsRef<[u8]> for Allocation {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.live.now.fetch_sub(self.bytes.len(), SeqCst);
    }
}

/// A store whose chunks are counted while they are in memory.
pub struct TrackedSource {
    store: FolderStore,
    live: Arc<LiveBytes>,
}

impl TrackedSource {
    /// A peer with such a store.
    pub async fn start(flags: &[&str]) -> (TestPeer, Arc<LiveBytes>) {
        let live = Arc::new(LiveBytes::default());
        let source_live = Arc::clone(&live);
        let folder = TempDir::new().unwrap();
        let peer = TestPeer::start_with(folder, flags, |store, _| {
            let live = source_live;
            Arc::new(Self { store, live })
        });
        (peer.await, live)
    }
}

impl ChunkSource for TrackedSource {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        Box::pin(async move {
            let Some(body) = self.store.get(address).await? else {
                return Ok(None);
            };
            let pieces: Vec<Bytes> = body.into_pieces().try_collect().await?;
            let live = Arc::clone(&self.live);
            // Like a slow disk: the work continues after its caller has gone.
            let reading = tokio::task::spawn_blocking(move || {
                let allocation = Allocation::new(pieces.concat(), &live);
                std::thread::sleep(Duration::from_millis(20));
                allocation
            });
            let bytes = Bytes::from_owner(reading.await.unwrap());
            Ok(Some(ChunkBody::from_bytes(bytes)))
        })
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
