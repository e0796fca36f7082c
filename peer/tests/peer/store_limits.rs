//! The limits of the store, and the memory cache.

use crate::running_peer::program;
use crate::test_peer::{TestPeer, chunk};
use crate::upstream::{path, upstream};
use antway_peer::source::{ChunkSource, PutOutcome};
use std::fs;
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn the_default_limit_is_half_of_the_free_space() {
    let limit = "antway_peer_store_limit_bytes";
    let peer = TestPeer::start(&[]).await;
    let half = peer.metric(limit).await;
    assert!(half > 0);
    peer.stop().await;
    let unlimited = TestPeer::start(&["--max-store-bytes=none"]).await;
    assert_eq!(unlimited.metric(limit).await, i64::MAX as u64);
    assert!(half < i64::MAX as u64 / 2);
    unlimited.stop().await;
    let limited = TestPeer::start(&["--max-store-bytes=7kB"]).await;
    assert_eq!(limited.metric(limit).await, 7000);
    limited.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_of_upstreams_make_room_by_default_and_stay_with_evict_none() {
    let origin = TestPeer::start(&[]).await;
    let [first, second] = [1, 2].map(|seed| chunk(seed, 1000));
    for chunk in [&first, &second] {
        origin.store.put(chunk.clone()).await.unwrap();
    }
    let (limit, upstream) = ("--max-store-bytes=1500", upstream(origin.peer.http()));
    for (flags, evicted) in [(&[][..], 1), (&["--evict=none"], 0)] {
        let flags = [&[&*upstream, limit], flags].concat();
        let peer = TestPeer::start(&flags).await;
        assert_eq!(peer.get(&path(&first)).await.status, 200);
        peer.wait_for_metric("antway_peer_store_chunks", |n| n == 1)
            .await;
        assert_eq!(peer.get(&path(&second)).await.status, 200);
        let metric = "antway_peer_evicted_chunks_total";
        peer.wait_for_metric(metric, |n| n == evicted).await;
        peer.wait_for_metric("antway_peer_store_chunks", |n| n == 1)
            .await;
        peer.stop().await;
    }
    origin.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn evict_all_also_evicts_chunks_that_clients_wrote() {
    for (flag, may_write) in [("--evict=pulled", false), ("--evict=all", true)] {
        let peer = TestPeer::start(&["--max-store-bytes=1500", flag]).await;
        peer.store_chunk(1, 1000).await;
        let outcome = peer.store.put(chunk(2, 1000)).await.unwrap();
        let is_stored = outcome == PutOutcome::Stored;
        assert_eq!(is_stored, may_write, "{flag}");
        peer.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_memory_cache_answers_without_the_disk() {
    let peer = TestPeer::start(&[]).await;
    let chunk = peer.store_chunk(1, 100_000).await;
    assert_eq!(peer.get(&path(&chunk)).await.status, 200);
    fs::remove_file(peer.path_of(chunk.address())).unwrap();
    for _ in 0..3 {
        assert!(peer.get(&path(&chunk)).await.body == chunk.bytes()[..]);
    }
    assert_eq!(peer.metric("antway_peer_memory_cache_hits_total").await, 3);
    assert_eq!(
        peer.metric("antway_peer_memory_cache_misses_total").await,
        1
    );
    let bytes = peer.metric("antway_peer_memory_cache_bytes").await;
    assert!((100_000..101_000).contains(&bytes), "{bytes}");
    peer.stop().await;

    let off = TestPeer::start(&["--memory-cache=0"]).await;
    let chunk = off.store_chunk(1, 100_000).await;
    assert_eq!(off.get(&path(&chunk)).await.status, 200);
    fs::remove_file(off.path_of(chunk.address())).unwrap();
    assert_eq!(off.get(&path(&chunk)).await.status, 404);
    off.stop().await;
}

#[test]
fn rejects_unknown_limits() {
    for (flag, named) in [
        ("--max-store-bytes=most", "half"),
        ("--evict=some", "pulled"),
        ("--memory-cache=lots", "--memory-cache"),
        ("--pin-file=/nonexistent", "--pin-file"),
        ("--deny-file=/nonexistent", "--deny-file"),
    ] {
        let folder = TempDir::new().unwrap();
        let store = format!("--store={}", folder.path().display());
        let output = program(&["serve", &store, flag]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flag}: {message}");
        assert!(message.contains(named), "{flag}: {message}");
    }
}
