//! The hostile peer, which tests of clients use, produces the requested faults.

use crate::fault::{Fault, FaultConfig, HostileSource};
use crate::session::{Reset, Session, get_request, send_all};
use crate::test_peer::{TEST_TIMEOUT, TestPeer};
use antway_peer::limits::MAX_CHUNK_BYTES;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

async fn hostile(fault: Fault, honest_first: usize) -> TestPeer {
    let config = FaultConfig {
        fault,
        bytes_per_second: 100_000,
        honest_first,
    };
    let folder = TempDir::new().unwrap();
    TestPeer::start_with(folder, &[], |store, path| {
        Arc::new(HostileSource::new(store, path, config))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_changes_the_response_as_documented() {
    for fault in [
        Fault::Flip,
        Fault::Wrong,
        Fault::Short,
        Fault::Junk,
        Fault::NotFound,
        Fault::Busy,
    ] {
        let peer = hostile(fault, 1).await;
        let requested = peer.store_chunk(1, 10_000).await;
        let other = peer.store_chunk(2, 10_000).await;
        let session = Session::open(&peer.peer).await;
        let first = session.get(&[requested.address()]).await;
        assert!(
            first == [(0, requested.bytes().to_vec())],
            "the first response is correct"
        );
        let (status, bytes) = session.get(&[requested.address()]).await.remove(0);
        let differing = bytes
            .iter()
            .zip(requested.bytes())
            .filter(|(a, b)| a != b)
            .count();
        match fault {
            Fault::Flip => assert_eq!((bytes.len(), differing), (10_000, 1)),
            Fault::Wrong => assert!(bytes == other.bytes()[..]),
            Fault::Short => assert_eq!((bytes.len(), differing), (5_000, 0)),
            Fault::Junk => assert!(bytes.len() > MAX_CHUNK_BYTES as usize),
            Fault::NotFound => assert_eq!((status, bytes.len()), (1, 0)),
            _ => assert_eq!((status, bytes.len()), (2, 0)),
        }
        let response = peer.get(&format!("/chunk/{}", requested.address())).await;
        match fault {
            Fault::NotFound => assert_eq!(response.status, 404),
            Fault::Busy => assert_eq!(response.status, 503),
            _ => assert!(response.status == 200 && response.body == bytes),
        }
        peer.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fault_slow_sends_correct_bytes_slowly() {
    let peer = hostile(Fault::Slow, 0).await;
    let requested = peer.store_chunk(1, 50_000).await;
    let session = Session::open(&peer.peer).await;
    let started = Instant::now();
    assert!(session.get(&[requested.address()]).await == [(0, requested.bytes().to_vec())]);
    assert!(started.elapsed() >= Duration::from_millis(400));
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fault_reset_aborts_in_the_middle_of_the_bytes() {
    let peer = hostile(Fault::Reset, 0).await;
    let requested = peer.store_chunk(1, 1_000_000).await;
    let session = Session::open(&peer.peer).await;
    assert_eq!(
        session.request(&get_request(&[requested.address()])).await,
        Err(Reset(6))
    );

    let authority = peer.peer.http().strip_prefix("http://").unwrap();
    let mut http = TcpStream::connect(authority).await.unwrap();
    let get = format!(
        "GET /chunk/{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        requested.address()
    );
    http.write_all(get.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // The connection may be reset.
    let _ = http.read_to_end(&mut bytes).await;
    let response = crate::http::parse(&bytes);
    assert_eq!(response.header("content-length"), Some("1000000"));
    assert!(response.body.len() < 1_000_000);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fault_silent_sends_nothing() {
    let peer = hostile(Fault::Silent, 0).await;
    let requested = peer.store_chunk(1, 1000).await;
    let session = Session::open(&peer.peer).await;
    let (mut send, mut recv) = session.stream().await;
    send_all(&mut send, &get_request(&[requested.address()])).await;
    send.quic_stream_mut().finish().unwrap();
    let mut byte = [0];
    let answer = timeout(Duration::from_secs(1), recv.read(&mut byte)).await;
    assert!(answer.is_err(), "no answer");
    assert!(
        session.request(&[4]).await.is_ok(),
        "the rest of the peer works"
    );
    crate::session::cancel(recv);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn aborts_a_transfer_that_takes_too_long() {
    let slow = FaultConfig {
        fault: Fault::Slow,
        bytes_per_second: 1000,
        honest_first: 0,
    };
    let folder = TempDir::new().unwrap();
    let peer = TestPeer::start_with(folder, &["--request-timeout=1s"], |store, path| {
        Arc::new(HostileSource::new(store, path, slow))
    })
    .await;
    let requested = peer.store_chunk(1, 40_000).await;
    let session = Session::open(&peer.peer).await;
    let answer = session.request(&get_request(&[requested.address()])).await;
    assert_eq!(answer, Err(Reset(3)));

    let authority = peer.peer.http().strip_prefix("http://").unwrap();
    let mut http = TcpStream::connect(authority).await.unwrap();
    let get = format!(
        "GET /chunk/{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        requested.address()
    );
    http.write_all(get.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // The connection may be reset.
    let _ = timeout(TEST_TIMEOUT, http.read_to_end(&mut bytes))
        .await
        .unwrap();
    assert!(crate::http::parse(&bytes).body.len() < 40_000);
    peer.stop().await;
}
