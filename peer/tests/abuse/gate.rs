//! A source whose work stalls, like a disk that hangs.

use crate::test_peer::TestPeer;
use antway_peer::address::Address;
use antway_peer::source::{
    Chunk, ChunkBody, ChunkSource, PutOutcome, SourceError, SourceFuture, SourceStats,
};
use antway_peer::store::FolderStore;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tempfile::TempDir;
use tokio::sync::Semaphore;

/// Which work of the source stalls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stalls {
    /// Checks whether a chunk is there.
    Checks,
    /// Writes of chunks that came from upstreams.
    CacheWrites,
}

pub struct StalledSource {
    store: FolderStore,
    stalls: Stalls,
    /// Stalled work continues when the gate has permits, one for each.
    pub gate: Arc<Semaphore>,
    running: Arc<AtomicUsize>,
    most_running: Arc<AtomicUsize>,
}

impl StalledSource {
    /// A peer with such a source.
    pub async fn start(stalls: Stalls, flags: &[&str]) -> (TestPeer, Arc<Self>) {
        let mut stalled = None;
        let folder = TempDir::new().unwrap();
        let peer = TestPeer::start_with(folder, flags, |store, _| {
            let source = Arc::new(Self {
                store,
                stalls,
                gate: Arc::new(Semaphore::new(0)),
                running: Arc::default(),
                most_running: Arc::default(),
            });
            stalled = Some(Arc::clone(&source));
            source
        });
        (peer.await, stalled.unwrap())
    }

    /// The amount of stalled work now.
    pub fn running(&self) -> usize {
        self.running.load(SeqCst)
    }

    /// The most stalled work at any time.
    pub fn most_running(&self) -> usize {
        self.most_running.load(SeqCst)
    }

    /// Stalls in a task of its own, because a disk does not notice that a caller has gone.
    async fn stall(&self, stalls: Stalls) {
        if stalls != self.stalls {
            return;
        }
        let now = self.running.fetch_add(1, SeqCst) + 1;
        self.most_running.fetch_max(now, SeqCst);
        let (gate, running) = (Arc::clone(&self.gate), Arc::clone(&self.running));
        let stalled = tokio::spawn(async move {
            gate.acquire().await.unwrap().forget();
            running.fetch_sub(1, SeqCst);
        });
        stalled.await.unwrap();
    }
}

impl ChunkSource for StalledSource {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        self.store.get(address)
    }

    fn has(&self, address: Address) -> SourceFuture<'_, bool> {
        Box::pin(async move {
            self.stall(Stalls::Checks).await;
            self.store.has(address).await
        })
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        self.store.put(chunk)
    }

    fn cache(&self, _chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        Box::pin(async move {
            self.stall(Stalls::CacheWrites).await;
            Err(SourceError::Failed("a stalled disk".to_owned()))
        })
    }

    fn stats(&self) -> SourceStats {
        self.store.stats()
    }
}
