//! Upstreams that are slow, dead, or fail for some chunks.

use crate::stub_http_server::{StubHttpServer, StubResponse};
use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
use crate::upstream::{free_address, path, request_metric, upstream};
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test(flavor = "multi_thread")]
async fn asks_the_next_upstream_after_a_timeout() {
    let silent =
        StubHttpServer::start(|_| StubResponse::new(200, "").delayed_by(TEST_TIMEOUT)).await;
    let flags = [upstream(&silent.url), "--upstream-timeout=500ms".to_owned()];
    let alone = TestPeer::start(&[&flags[0], &flags[1]]).await;
    let response = alone.get(&path(&chunk(1, 1000))).await;
    assert_eq!((response.status, response.code()), (503, "BUSY".to_owned()));
    let origin = TestPeer::start(&[]).await;
    let chunk = origin.store_chunk(1, 1000).await;
    let peer = TestPeer::start(&[&flags[0], &flags[1], &upstream(origin.peer.http())]).await;
    assert!(peer.get(&path(&chunk)).await.body == chunk.bytes()[..]);
    assert_eq!(
        peer.metric(&request_metric(&silent.url, "timeout")).await,
        1
    );
    for peer in [alone, origin, peer] {
        peer.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_upstream_is_left_out_until_it_is_back() {
    let address = free_address();
    let url = format!("http://{address}");
    let origin = TestPeer::start(&[]).await;
    let peer = TestPeer::start(&[&upstream(&url), &upstream(origin.peer.http())]).await;
    // The upstream is asked once for each chunk, because the peer caches it.
    let mut seeds = 1..200;
    while peer.metric(&request_metric(&url, "left_out")).await == 0 {
        let chunk = origin.store_chunk(seeds.next().unwrap(), 1000).await;
        assert!(peer.get(&path(&chunk)).await.body == chunk.bytes()[..]);
    }
    assert!(peer.metric(&request_metric(&url, "failed")).await >= 3);

    let revived = TestPeer::start(&[&format!("--http={address}")]).await;
    while peer.metric(&request_metric(&url, "found")).await == 0 {
        let seed = seeds.next().expect("the upstream is asked again");
        let chunk = revived.store_chunk(seed, 1000).await;
        peer.get(&path(&chunk)).await;
        sleep(Duration::from_millis(200)).await;
    }
    for peer in [origin, peer, revived] {
        peer.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_has_trouble_with_some_chunks_is_asked_for_the_others() {
    let there = chunk(9, 1000);
    let (wanted, bytes) = (path(&there), there.bytes().to_vec());
    let server = StubHttpServer::start(move |head| match head.contains(&wanted) {
        true => StubResponse::new(200, bytes.clone()),
        false => StubResponse::new(500, ""),
    })
    .await;
    let peer = TestPeer::start(&[&upstream(&server.url)]).await;
    for seed in 1..=8 {
        assert_eq!(peer.get(&path(&chunk(seed, 1000))).await.status, 500);
    }
    assert!(peer.get(&path(&there)).await.body == there.bytes()[..]);
    peer.stop().await;
}
