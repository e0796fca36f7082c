//! GET of many addresses: the order and the concurrency of fetching and sending.

use crate::session::{Session, get_request, parse_get, read_all, send_all};
use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
use antway_peer::address::Address;
use antway_peer::limits::{PREFETCHED_ANSWERS, PREFETCHED_SMALL_ANSWERS};
use antway_peer::source::{Chunk, ChunkBody, ChunkSource, PutOutcome, SourceFuture, SourceStats};
use antway_peer::store::FolderStore;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// A store that delays its responses until the test allows them.
struct GatedSource {
    store: FolderStore,
    requests: watch::Sender<usize>,
    /// One permit per allowed response.
    gate: Semaphore,
}

impl GatedSource {
    async fn start() -> (TestPeer, Arc<Self>) {
        let mut gated = None;
        let folder = TempDir::new().unwrap();
        let peer = TestPeer::start_with(folder, &[], |store, _| {
            let source = Arc::new(Self {
                store,
                requests: watch::Sender::new(0),
                gate: Semaphore::new(0),
            });
            gated = Some(Arc::clone(&source));
            source
        });
        (peer.await, gated.unwrap())
    }

    /// Waits until the source has received `wanted` requests since the start.
    async fn wait_for_requests(&self, wanted: usize) {
        let mut requests = self.requests.subscribe();
        let reached = timeout(TEST_TIMEOUT, requests.wait_for(|&n| n >= wanted)).await;
        assert!(
            reached.is_ok(),
            "{} requests, not {wanted}",
            *self.requests.borrow()
        );
    }
}

impl ChunkSource for GatedSource {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        self.requests.send_modify(|n| *n += 1);
        Box::pin(async move {
            self.gate.acquire().await.unwrap().forget();
            self.store.get(address).await
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

#[tokio::test(flavor = "multi_thread")]
async fn prefetches_more_chunks_while_they_are_small() {
    let (peer, source) = GatedSource::start().await;
    let mut addresses = Vec::new();
    let mut expected = Vec::new();
    for seed in 0..64 {
        let chunk = peer.store_chunk(seed, 100 + usize::from(seed)).await;
        addresses.push(chunk.address());
        expected.push((0, chunk.bytes().to_vec()));
    }
    let session = Session::open(&peer.peer).await;
    let getting = async { assert!(session.get(&addresses).await == expected) };
    let opening = async {
        source.wait_for_requests(1 + PREFETCHED_ANSWERS).await;
        // The peer sends no further requests, however long the test waits.
        sleep(Duration::from_millis(100)).await;
        assert_eq!(*source.requests.borrow(), 1 + PREFETCHED_ANSWERS);
        let answered = PREFETCHED_SMALL_ANSWERS - PREFETCHED_ANSWERS;
        source.gate.add_permits(answered);
        source
            .wait_for_requests(answered + 1 + PREFETCHED_SMALL_ANSWERS)
            .await;
        sleep(Duration::from_millis(100)).await;
        let most = answered + 1 + PREFETCHED_SMALL_ANSWERS;
        assert_eq!(*source.requests.borrow(), most);
        source.gate.add_permits(addresses.len());
    };
    tokio::join!(getting, opening);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn prefetches_only_a_few_large_chunks() {
    let (peer, source) = GatedSource::start().await;
    let large = peer.store_chunk(1, 1 << 20).await;
    let session = Session::open(&peer.peer).await;
    let getting = async {
        let expected = vec![(0, large.bytes().to_vec()); 20];
        assert!(session.get(&[large.address(); 20]).await == expected);
    };
    let opening = async {
        for answered in 0..10 {
            source
                .wait_for_requests(answered + 1 + PREFETCHED_ANSWERS)
                .await;
            sleep(Duration::from_millis(20)).await;
            let most = answered + 1 + PREFETCHED_ANSWERS;
            assert_eq!(*source.requests.borrow(), most);
            source.gate.add_permits(1);
        }
        source.gate.add_permits(20);
    };
    tokio::join!(getting, opening);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sends_a_chunk_while_the_next_one_is_fetched() {
    let (peer, source) = GatedSource::start().await;
    let first = peer.store_chunk(1, 1000).await;
    let second = peer.store_chunk(2, 1000).await;
    let absent = chunk(3, 10).address();
    let session = Session::open(&peer.peer).await;
    let (mut send, mut recv) = session.stream().await;
    let addresses = [first.address(), absent, second.address()];
    send_all(&mut send, &get_request(&addresses)).await;
    send.quic_stream_mut().finish().unwrap();
    source.gate.add_permits(2);
    // The first chunk, and the status of the second one.
    let mut answer = vec![0; 5 + 1000 + 5];
    let reading = timeout(TEST_TIMEOUT, recv.read_exact(&mut answer)).await;
    reading.expect("two answers soon").unwrap();
    let expected = [(0, first.bytes().to_vec()), (1, Vec::new())];
    assert!(parse_get(&answer) == expected);
    source.gate.add_permits(1);
    let rest = read_all(&mut recv).await.unwrap();
    assert!(parse_get(&rest) == [(0, second.bytes().to_vec())]);
    peer.stop().await;
}
