//! The limits on clients.

use crate::fault::{Fault, FaultConfig, HostileSource};
use crate::http::read_response;
use crate::session::{Session, get_request, send_all};
use crate::test_peer::{TEST_TIMEOUT, TestPeer};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

#[tokio::test(flavor = "multi_thread")]
async fn refuses_sessions_over_the_limit_until_one_ends() {
    let peer = TestPeer::start(&["--max-sessions=2"]).await;
    let url = peer.peer.web_transport().unwrap();
    let hashes = peer.peer.certificate_hashes();
    let first = Session::open(&peer.peer).await;
    let second = Session::open(&peer.peer).await;
    // An idle session would lose its place to a new one. These have responses that they do not read.
    let large = peer.store_chunk(1, 4 << 20).await;
    let mut running = Vec::new();
    for session in [&first, &second] {
        let (mut send, recv) = session.stream().await;
        send_all(&mut send, &get_request(&[large.address()])).await;
        send.quic_stream_mut().finish().unwrap();
        running.push((send, recv));
    }
    let answers = r#"antway_peer_answers_total{transport="webtransport",status="ok"}"#;
    peer.wait_for_metric(answers, |n| n == 2).await;
    assert!(Session::connect(url, &hashes, None).await.is_err());
    first.connection.close(0_u32.into(), b"");
    peer.wait_for_metric("antway_peer_sessions", |n| n == 1)
        .await;
    // The permit is free a moment after the gauge changes.
    let again = async {
        while Session::connect(url, &hashes, None).await.is_err() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TEST_TIMEOUT, again).await.unwrap();
    assert!(second.request(&[4]).await.is_ok());
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_over_the_limit_wait() {
    let peer = TestPeer::start(&["--max-streams-per-session=3"]).await;
    let session = Session::open(&peer.peer).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let (mut send, recv) = session.stream().await;
        send_all(&mut send, &[1]).await;
        open.push((send, recv));
    }
    peer.wait_for_metric("antway_peer_streams", |n| n == 3)
        .await;
    let one_more = timeout(Duration::from_millis(300), session.connection.open_bi()).await;
    assert!(one_more.is_err(), "the stream waits");
    open.clear();
    let answer = timeout(TEST_TIMEOUT, session.request(&[4])).await.unwrap();
    assert!(answer.is_ok());
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closes_an_idle_session() {
    let peer = TestPeer::start(&["--idle-timeout=1s"]).await;
    let session = Session::open(&peer.peer).await;
    assert!(session.request(&[4]).await.is_ok());
    timeout(TEST_TIMEOUT, session.connection.closed())
        .await
        .unwrap();
    peer.wait_for_metric("antway_peer_sessions", |n| n == 0)
        .await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_sessions_at_unknown_paths() {
    let peer = TestPeer::start(&[]).await;
    let hashes = peer.peer.certificate_hashes();
    let url = peer.peer.web_transport().unwrap();
    for path in ["", "/", "/v2", "/v1/", "/v1?x"] {
        let url = url.replace("/v1", path);
        assert!(
            Session::connect(&url, &hashes, None).await.is_err(),
            "{path}"
        );
    }
    assert!(Session::connect(url, &hashes, None).await.is_ok());
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closes_idle_and_incomplete_http_requests() {
    let peer = TestPeer::start(&[
        "--idle-timeout=1s",
        "--request-timeout=1s",
        "--allow-open-writes",
    ])
    .await;
    let authority = peer.peer.http().strip_prefix("http://").unwrap();
    for beginning in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: localhost\r\n"] {
        let mut stream = TcpStream::connect(authority).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let closing = timeout(TEST_TIMEOUT, stream.read_to_end(&mut rest));
        closing.await.unwrap().unwrap();
    }
    let mut keep_alive = TcpStream::connect(authority).await.unwrap();
    keep_alive
        .write_all(b"GET /-/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut rest = Vec::new();
    timeout(TEST_TIMEOUT, keep_alive.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
    assert!(
        rest.starts_with(b"HTTP/1.1 200"),
        "the peer answers first, and closes when idle"
    );

    let mut upload = TcpStream::connect(authority).await.unwrap();
    let address = "0".repeat(64);
    let head = format!(
        "PUT /chunk/{address} HTTP/1.1\r\nHost: {authority}\r\nContent-Length: 10\r\n\r\n12345"
    );
    upload.write_all(head.as_bytes()).await.unwrap();
    let response = read_response(&mut upload, false).await;
    assert_eq!(
        (response.status, response.code()),
        (408, "TIMEOUT".to_owned())
    );
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closes_the_http_connection_of_a_client_that_does_not_read() {
    let peer = TestPeer::start(&["--idle-timeout=1s"]).await;
    let chunk = peer.store_chunk(1, 4 << 20).await;
    let authority = peer.peer.http().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(authority).await.unwrap();
    let one = format!(
        "GET /chunk/{} HTTP/1.1\r\nHost: {authority}\r\n\r\n",
        chunk.address()
    );
    stream.write_all(one.repeat(64).as_bytes()).await.unwrap();
    // Only the connection of the metrics request remains.
    peer.wait_for_metric("antway_peer_http_connections", |n| n == 2)
        .await;
    peer.wait_for_metric("antway_peer_http_connections", |n| n == 1)
        .await;
    drop(stream);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_http_connection_over_the_limit_takes_the_place_of_an_idle_one() {
    let peer = TestPeer::start(&["--max-http-connections=1"]).await;
    let authority = peer.peer.http().strip_prefix("http://").unwrap();
    let mut first = TcpStream::connect(authority).await.unwrap();
    assert_eq!(peer.get("/-/health").await.status, 200);
    let mut rest = Vec::new();
    timeout(TEST_TIMEOUT, first.read_to_end(&mut rest))
        .await
        .expect("an end of the idle connection soon")
        .unwrap();
    assert!(rest.is_empty());
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_busy_when_memory_is_full() {
    let slow = FaultConfig {
        fault: Fault::Slow,
        bytes_per_second: 1000,
        honest_first: 0,
    };
    let flags = ["--max-chunks-in-memory=1", "--request-timeout=500ms"];
    let folder = TempDir::new().unwrap();
    let peer = TestPeer::start_with(folder, &flags, |store, path| {
        Arc::new(HostileSource::new(store, path, slow))
    })
    .await;
    let chunk = peer.store_chunk(1, 100_000).await;
    let session = Session::open(&peer.peer).await;
    let (mut send, recv) = session.stream().await;
    send_all(&mut send, &crate::session::get_request(&[chunk.address()])).await;
    send.quic_stream_mut().finish().unwrap();
    peer.wait_for_metric(
        r#"antway_peer_sent_bytes_total{transport="webtransport"}"#,
        |n| n > 0,
    )
    .await;
    assert_eq!(session.get(&[chunk.address()]).await, [(2, vec![])]);
    let response = peer.get(&format!("/chunk/{}", chunk.address())).await;
    assert_eq!((response.status, response.code()), (503, "BUSY".to_owned()));
    assert_eq!(response.header("retry-after"), Some("1"));
    crate::session::cancel(recv);
    peer.wait_for_metric("antway_peer_streams", |n| n == 0)
        .await;
    peer.stop().await;
}
