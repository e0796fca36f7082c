//! Upstreams whose lookups take longer than a browser waits, as in a distributed hash table.

use crate::session::{Session, get_request, open_request};
use crate::stub_http_server::{StubHttpServer, StubResponse};
use crate::test_peer::{TestPeer, chunk};
use antway_peer::source::{Chunk, ChunkSource};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::sleep;

fn path(chunk: &Chunk) -> String {
    format!("/chunk/{}", chunk.address())
}

/// An AntTP server, which looks chunks up in the network. It answers a request for each permit of the gate.
async fn anttp(chunks: &[Chunk], gate: &Arc<Semaphore>) -> StubHttpServer {
    let body = |chunk: &Chunk| (chunk.address().to_string(), chunk.bytes().to_vec());
    let bodies: HashMap<_, _> = chunks.iter().map(body).collect();
    let gate = Arc::clone(gate);
    StubHttpServer::start(move |path| {
        let response = match bodies.get(path.rsplit('/').next().unwrap()) {
            Some(bytes) => StubResponse::new(200, bytes.clone()),
            None => StubResponse::new(404, ""),
        };
        response.gated_by(&gate)
    })
    .await
}

fn outcome(server: &StubHttpServer, outcome: &str) -> String {
    let url = &server.url;
    format!(r#"antway_peer_upstream_requests_total{{upstream="{url}",outcome="{outcome}"}}"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_gets_busy_with_a_hint_and_finds_the_chunk_when_it_returns() {
    let wanted = chunk(1, 1000);
    let gate = Arc::new(Semaphore::new(0));
    let network = anttp(std::slice::from_ref(&wanted), &gate).await;
    let upstream = format!("--upstream=anttp+{}", network.url);
    let peer = TestPeer::start(&[&upstream, "--client-wait=200ms"]).await;
    let response = peer.get(&path(&wanted)).await;
    assert_eq!((response.status, response.code()), (503, "BUSY".to_owned()));
    assert_eq!(response.header("retry-after"), Some("2"));
    let session = Session::open(&peer.peer).await;
    let answer = session.request(&get_request(&[wanted.address()])).await;
    // Status 2, and 2000 ms.
    assert_eq!(answer.unwrap(), [2, 0, 0, 0x07, 0xd0]);
    gate.add_permits(1);
    peer.wait_for_metric("antway_peer_store_chunks", |n| n == 1)
        .await;
    assert!(session.get(&[wanted.address()]).await == [(0, wanted.bytes().to_vec())]);
    assert_eq!(network.request_heads().len(), 1, "one lookup for all");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_lookups_do_not_make_an_upstream_fail() {
    let late = chunk(9, 1000);
    let gate = Arc::new(Semaphore::new(0));
    let network = anttp(std::slice::from_ref(&late), &gate).await;
    let upstream = format!("--upstream=anttp+{}", network.url);
    let peer = TestPeer::start(&[&upstream, "--lookup-timeout=100ms"]).await;
    for seed in 0..8 {
        assert_eq!(peer.get(&path(&chunk(seed, 10))).await.status, 503);
    }
    assert_eq!(peer.metric(&outcome(&network, "timeout")).await, 8);
    gate.add_permits(1000);
    assert!(peer.get(&path(&late)).await.body == late.bytes()[..]);
    assert_eq!(peer.metric(&outcome(&network, "left_out")).await, 0);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lookup_that_timed_out_is_not_repeated_at_once() {
    let gate = Arc::new(Semaphore::new(0));
    let network = anttp(&[], &gate).await;
    let upstream = format!("--upstream=anttp+{}", network.url);
    let flags = [
        &upstream,
        "--lookup-timeout=100ms",
        "--not-found-lifetime=2s",
    ];
    let peer = TestPeer::start(&flags).await;
    let wanted = path(&chunk(1, 10));
    for _ in 0..5 {
        let response = peer.get(&wanted).await;
        assert_eq!((response.status, response.code()), (503, "BUSY".to_owned()));
        let retry_after = response.header("retry-after").unwrap();
        assert!(["1", "2"].contains(&retry_after), "{retry_after}");
    }
    assert_eq!(network.request_heads().len(), 1);
    gate.add_permits(1000);
    // Later, the network says that the chunk does not exist.
    while peer.get(&wanted).await.status != 404 {
        sleep(Duration::from_millis(50)).await;
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn opening_a_file_looks_all_of_its_chunks_up_at_once() {
    let chunks: Vec<_> = (0..40).map(|seed| chunk(seed, 1000)).collect();
    let gate = Arc::new(Semaphore::new(0));
    let network = anttp(&chunks, &gate).await;
    let upstream = format!("--upstream=anttp+{}", network.url);
    let peer = TestPeer::start(&[&upstream, "--client-wait=1s"]).await;
    let map = Chunk::new(data_map(&chunks).into());
    peer.store.put(map.clone()).await.unwrap();
    let session = Session::open(&peer.peer).await;
    let request = open_request(map.address(), 0, 0);
    let opening = session.request(&request);
    let waiting = async {
        // The first chunk of a range is not answered before the others are looked up.
        network.wait_for_requests(40).await;
        gate.add_permits(1000);
    };
    let (answer, ()) = tokio::join!(opening, waiting);
    answer.unwrap();
    peer.wait_for_metric("antway_peer_store_chunks", |n| n == 41)
        .await;
    assert_eq!(network.request_heads().len(), 40);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn opening_a_file_does_not_fetch_all_of_it_from_a_fast_upstream() {
    let chunks: Vec<_> = (0..40).map(|seed| chunk(seed, 1000)).collect();
    let gate = Arc::new(Semaphore::new(0));
    let mirror = anttp(&chunks, &gate).await;
    let upstream = format!("--upstream={}", mirror.url);
    let peer = TestPeer::start(&[&upstream, "--client-wait=1s"]).await;
    let map = Chunk::new(data_map(&chunks).into());
    peer.store.put(map.clone()).await.unwrap();
    let session = Session::open(&peer.peer).await;
    // The client gets `busy` for the first chunks after its time.
    session
        .request(&open_request(map.address(), 0, 1000))
        .await
        .unwrap();
    let asked = mirror.request_heads().len();
    assert!(asked < 16, "{asked} of 40");
    gate.add_permits(1000);
    peer.stop().await;
}

/// The record of a map with these chunks, each with 1000 bytes of plaintext.
fn data_map(chunks: &[Chunk]) -> Vec<u8> {
    let hash = |record: &mut Vec<u8>, bytes: &[u8]| {
        record.extend([0xc4, 32]);
        record.extend(bytes);
    };
    let mut record = vec![0x93, 1, 0xdc, 0, chunks.len() as u8];
    for (index, chunk) in chunks.iter().enumerate() {
        record.extend([0x94, index as u8]);
        hash(&mut record, chunk.address().as_bytes());
        hash(&mut record, &[0; 32]);
        record.extend([0xcd, 0x03, 0xe8]);
    }
    record.push(0xc0);
    record
}
