//! Every operation counts for the rates of its client.

use crate::client_network::{authority, connect_from, get_from};
use crate::http::exchange;
use crate::session::{Reset, Session, get_request, has_request, open_request, put_request};
use crate::test_peer::{TestPeer, chunk};

const LIMIT: u64 = 4;

/// A peer with a low rate, which clients can exceed.
const LOW_RATE: [&str; 2] = ["--limit-loopback", "--max-requests-per-second=1"];

/// The method, path and headers of a request.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

#[tokio::test(flavor = "multi_thread")]
async fn every_http_request_counts() {
    let peer = TestPeer::start(&LOW_RATE).await;
    let address = "0".repeat(64);
    let preflight = ("Access-Control-Request-Method", "GET");
    let cases: [Case<'_>; 9] = [
        ("GET", &format!("/chunk/{address}"), &[]),
        ("PUT", &format!("/chunk/{address}"), &[]),
        ("GET", "/chunk/wrong", &[]),
        ("GET", &format!("/pointer/{address}"), &[]),
        ("GET", "/-/info", &[]),
        ("GET", "/metrics", &[]),
        ("GET", "/nothing/here", &[]),
        ("DELETE", "/-/info", &[]),
        (
            "OPTIONS",
            "/-/info",
            &[("Origin", "https://a.example"), preflight],
        ),
    ];
    for (number, (method, path, headers)) in cases.into_iter().enumerate() {
        // Each case is a client of its own.
        let source = format!("127.0.1.{}", number + 1);
        let mut accepted = 0;
        loop {
            let mut stream = connect_from(&source, &peer).await;
            let authority = authority(&peer);
            let response = exchange(&mut stream, authority, method, path, headers, b"").await;
            if response.status == 429 {
                assert_eq!(response.code(), "RATE");
                assert_eq!(response.header("retry-after"), Some("1"));
                break;
            }
            accepted += 1;
            assert!(accepted < 200, "{method} {path} is not limited");
        }
        assert!(accepted >= 5, "{accepted} of {method} {path}");
        for path in ["/-/health", "/-/ready"] {
            assert_eq!(get_from(&source, &peer, path).await.status, 200);
        }
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_for_web_files_count() {
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::write(folder.path().join("index.html"), "<title>x</title>").unwrap();
    let web = format!("--web={}", folder.path().display());
    let peer = TestPeer::start(&[&LOW_RATE[..], &[&web]].concat()).await;
    let mut accepted = 0;
    while get_from("127.0.0.3", &peer, "/").await.status == 200 {
        accepted += 1;
        assert!(accepted < 200, "web files are not limited");
    }
    assert!(accepted >= 5, "{accepted}");
    assert_eq!(get_from("127.0.0.4", &peer, "/").await.status, 200);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_web_transport_operation_counts() {
    let absent = chunk(9, 10);
    let put = put_request(b"wrong", 10, absent.bytes());
    let requests = [
        get_request(&[absent.address()]),
        has_request(&[absent.address()]),
        put,
        open_request(absent.address(), 0, 0),
        // Nothing, and an unknown operation.
        vec![],
        vec![9],
    ];
    for request in requests {
        let peer = TestPeer::start(&LOW_RATE).await;
        let session = Session::open(&peer.peer).await;
        let mut sent = 0;
        // INFO needs a request, too, so it shows whether any are left.
        loop {
            for _ in 0..4 {
                // The answer may be an error.
                let _ = session.request(&request).await;
            }
            sent += 4;
            if session.request(&[4]).await == Err(Reset(LIMIT)) {
                break;
            }
            assert!(sent < 200, "{request:?} does not count");
        }
        peer.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn web_transport_info_counts() {
    let peer = TestPeer::start(&LOW_RATE).await;
    let session = Session::open(&peer.peer).await;
    let mut accepted = 0;
    while session.request(&[4]).await != Err(Reset(LIMIT)) {
        accepted += 1;
        assert!(accepted < 200, "INFO is not limited");
    }
    assert!(accepted >= 5, "{accepted}");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rates_do_not_apply_to_loopback_by_default() {
    let flags = ["--max-requests-per-second=1", "--max-bytes-per-second=1"];
    let peer = TestPeer::start(&flags).await;
    let stored = peer.store_chunk(1, 1000).await;
    let session = Session::open(&peer.peer).await;
    for _ in 0..10 {
        assert_eq!(peer.get("/-/info").await.status, 200);
        assert_eq!(session.get(&[stored.address()]).await[0].0, 0);
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_of_0_is_no_limit() {
    let flags = [
        "--limit-loopback",
        "--max-requests-per-second=0",
        "--max-bytes-per-second=0",
        "--max-connections-per-second=0",
    ];
    let peer = TestPeer::start(&flags).await;
    for _ in 0..400 {
        assert_eq!(peer.get("/-/info").await.status, 200);
    }
    peer.stop().await;
}
