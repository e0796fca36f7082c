//! Shutdown: running responses complete, and new requests are refused.

use crate::fault::{Fault, FaultConfig, HostileSource};
use crate::session::{Reset, Session, get_request, parse_get, read_all, send_all};
use crate::test_peer::{TEST_TIMEOUT, TestPeer};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

const SHUTTING_DOWN: u64 = 5;

async fn slow_peer(grace: &str) -> TestPeer {
    let slow = FaultConfig {
        fault: Fault::Slow,
        bytes_per_second: 20_000,
        honest_first: 0,
    };
    let folder = TempDir::new().unwrap();
    TestPeer::start_with(folder, &[grace], |store, path| {
        Arc::new(HostileSource::new(store, path, slow))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn completes_running_responses_and_refuses_new_requests() {
    let peer = slow_peer("--shutdown-grace=60s").await;
    let chunk = peer.store_chunk(1, 30_000).await;
    let (url, hashes) = (
        peer.peer.web_transport().unwrap().to_owned(),
        peer.peer.certificate_hashes(),
    );
    let authority = peer.peer.http().strip_prefix("http://").unwrap().to_owned();
    let session = Session::open(&peer.peer).await;
    let (mut send, mut recv) = session.stream().await;
    send_all(&mut send, &get_request(&[chunk.address()])).await;
    send.quic_stream_mut().finish().unwrap();
    let mut http = TcpStream::connect(&authority).await.unwrap();
    let get = format!(
        "GET /chunk/{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        chunk.address()
    );
    http.write_all(get.as_bytes()).await.unwrap();
    let sent = r#"antway_peer_sent_bytes_total{transport="webtransport"}"#;
    peer.wait_for_metric(sent, |sent| sent > 5).await;

    let stopping = tokio::spawn(peer.stop());
    let closed = async { while TcpStream::connect(&authority).await.is_ok() {} };
    timeout(TEST_TIMEOUT, closed)
        .await
        .expect("no new connections soon");
    assert_eq!(session.request(&[4]).await, Err(Reset(SHUTTING_DOWN)));
    assert!(Session::connect(&url, &hashes, None).await.is_err());

    let answer = read_all(&mut recv).await.unwrap();
    assert!(parse_get(&answer) == [(0, chunk.bytes().to_vec())]);
    let response = crate::http::read_response(&mut http, false).await;
    assert!(response.body == chunk.bytes()[..]);
    timeout(TEST_TIMEOUT, stopping)
        .await
        .expect("an end soon")
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn aborts_responses_after_the_grace_period() {
    let peer = slow_peer("--shutdown-grace=300ms").await;
    let chunk = peer.store_chunk(1, 4 << 20).await;
    let session = Session::open(&peer.peer).await;
    let (mut send, _recv) = session.stream().await;
    send_all(&mut send, &get_request(&[chunk.address()])).await;
    send.quic_stream_mut().finish().unwrap();
    peer.wait_for_metric("antway_peer_streams", |n| n == 1)
        .await;
    timeout(TEST_TIMEOUT, peer.stop())
        .await
        .expect("an end soon");
    timeout(Duration::from_secs(5), session.connection.closed())
        .await
        .expect("a goodbye");
}
