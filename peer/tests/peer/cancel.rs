//! The peer stops sending when the client cancels.

use crate::session::{Session, cancel, get_request, send_all};
use crate::test_peer::TestPeer;
use antway_peer::limits::MAX_CHUNK_BYTES;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

const OVER_WEB_TRANSPORT: &str = r#"antway_peer_sent_bytes_total{transport="webtransport"}"#;
const OVER_HTTP: &str = r#"antway_peer_sent_bytes_total{transport="http"}"#;
const MIB: u64 = 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn stop_sending_stops_a_large_response() {
    let peer = TestPeer::start(&[]).await;
    let chunk = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let session = Session::open(&peer.peer).await;
    let (mut send, mut recv) = session.stream().await;
    send_all(&mut send, &get_request(&[chunk.address(); 64])).await;
    send.quic_stream_mut().finish().unwrap();
    let mut some = vec![0; 100_000];
    recv.read_exact(&mut some).await.unwrap();
    cancel(recv);
    peer.wait_for_metric("antway_peer_streams", |n| n == 0)
        .await;
    let sent = peer.metric(OVER_WEB_TRANSPORT).await;
    assert!(
        sent < 64 * MIB,
        "of 256 MiB, {sent} bytes were handed to the transport"
    );
    sleep(Duration::from_millis(500)).await;
    assert_eq!(peer.metric(OVER_WEB_TRANSPORT).await, sent);
    let cancelled =
        r#"antway_peer_requests_total{transport="webtransport",op="get",outcome="cancelled"}"#;
    assert_eq!(peer.metric(cancelled).await, 1);
    assert_eq!(
        session.get(&[chunk.address()]).await[0].0,
        0,
        "the session continues"
    );
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resets_the_stream_of_a_client_that_does_not_read() {
    let peer = TestPeer::start(&["--idle-timeout=2s"]).await;
    let chunk = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let session = Session::open(&peer.peer).await;
    let (mut send, recv) = session.stream().await;
    send_all(&mut send, &get_request(&[chunk.address(); 64])).await;
    send.quic_stream_mut().finish().unwrap();
    peer.wait_for_metric(OVER_WEB_TRANSPORT, |sent| sent > 0)
        .await;
    let given_up =
        r#"antway_peer_requests_total{transport="webtransport",op="get",outcome="timeout"}"#;
    peer.wait_for_metric(given_up, |n| n == 1).await;
    let sent = peer.metric(OVER_WEB_TRANSPORT).await;
    assert!(
        sent < 16 * MIB,
        "{sent} bytes were queued for a client that reads none"
    );
    drop(recv);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_stops_all_its_responses() {
    let peer = TestPeer::start(&[]).await;
    let chunk = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let session = Session::open(&peer.peer).await;
    let mut streams = Vec::new();
    for _ in 0..8 {
        let (mut send, recv) = session.stream().await;
        send_all(&mut send, &get_request(&[chunk.address(); 64])).await;
        send.quic_stream_mut().finish().unwrap();
        streams.push((send, recv));
    }
    peer.wait_for_metric("antway_peer_streams", |n| n == 8)
        .await;
    // A client says only once that it closes the session. While the peer fills the client's windows, a busy machine
    // drops packets, and then the peer would learn of the end by the idle timeout.
    wait_until_steady(&peer, OVER_WEB_TRANSPORT).await;
    assert_eq!(peer.metric("antway_peer_streams").await, 8);
    session.connection.close(0_u32.into(), b"");
    peer.wait_for_metric("antway_peer_sessions", |n| n == 0)
        .await;
    peer.wait_for_metric("antway_peer_streams", |n| n == 0)
        .await;
    let given_up =
        r#"antway_peer_requests_total{transport="webtransport",op="get",outcome="timeout"}"#;
    assert_eq!(peer.metric(given_up).await, 0);
    peer.stop().await;
}

/// Waits until a counter has grown, and grows no more.
async fn wait_until_steady(peer: &TestPeer, name: &str) {
    let mut before = peer.wait_for_metric(name, |n| n > 0).await;
    loop {
        sleep(Duration::from_millis(300)).await;
        let now = peer.metric(name).await;
        if now == before {
            return;
        }
        before = now;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_an_http_connection_stops_the_response() {
    let peer = TestPeer::start(&["--idle-timeout=60s"]).await;
    let chunk = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let authority = peer.peer.http().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(authority).await.unwrap();
    // Send many requests at once. Their responses together exceed the system's buffers.
    let one = format!(
        "GET /chunk/{} HTTP/1.1\r\nHost: {authority}\r\n\r\n",
        chunk.address()
    );
    stream.write_all(one.repeat(64).as_bytes()).await.unwrap();
    let mut some = vec![0; 100_000];
    stream.read_exact(&mut some).await.unwrap();
    drop(stream);
    // Only the connection of the metrics request remains.
    peer.wait_for_metric("antway_peer_http_connections", |n| n == 1)
        .await;
    let sent = peer.metric(OVER_HTTP).await;
    assert!(
        sent < 64 * MIB,
        "of 256 MiB, {sent} bytes were handed to the transport"
    );
    peer.stop().await;
}
