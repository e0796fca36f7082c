//! One client cannot use up the resources of all clients.

use crate::http::request;
use crate::process::{RunningPeer, command};
use crate::session::{Session, get_request, open_request, put_request, send_all};
use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
use antway_peer::limits::MAX_CHUNK_BYTES;
use std::fs;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_does_not_read_leaves_memory_for_others() {
    let flags = ["--max-chunks-in-memory=8", "--request-timeout=3s"];
    let peer = TestPeer::start(&flags).await;
    let chunk = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let greedy = Session::open(&peer.peer).await;
    let mut streams = Vec::new();
    for _ in 0..16 {
        let (mut send, recv) = greedy.stream().await;
        send_all(&mut send, &get_request(&[chunk.address(); 64])).await;
        send.quic_stream_mut().finish().unwrap();
        streams.push((send, recv));
    }
    peer.wait_for_metric("antway_peer_streams", |n| n == 16)
        .await;
    let modest = Session::open(&peer.peer).await;
    let expected = [(0, chunk.bytes().to_vec())];
    assert!(modest.get(&[chunk.address()]).await == expected);
    let over_http = peer.get(&format!("/chunk/{}", chunk.address())).await;
    assert_eq!(over_http.status, 200);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_requests_over_the_rate_limit() {
    let flags = [
        "--max-requests-per-second=2",
        "--limit-loopback",
        "--allow-open-writes",
    ];
    let peer = TestPeer::start(&flags).await;
    let stored = peer.store_chunk(1, 100).await;
    let session = Session::open(&peer.peer).await;
    let statuses: Vec<u8> = session
        .get(&[stored.address(); 64])
        .await
        .into_iter()
        .map(|(status, _)| status)
        .collect();
    let found = statuses.iter().filter(|&&status| status == 0).count();
    assert!((10..40).contains(&found), "{found} of 64 at 2 per second");
    assert_eq!(statuses[63], 2, "busy");
    let path = format!("/chunk/{}", stored.address());
    let response = peer.get(&path).await;
    assert_eq!((response.status, response.code()), (429, "RATE".to_owned()));
    assert_eq!(response.header("retry-after"), Some("1"));
    let written = chunk(2, 100);
    let path = format!("/chunk/{}", written.address());
    let response = request(peer.peer.http(), "PUT", &path, &[], written.bytes()).await;
    assert_eq!(response.status, 429);
    let put = session
        .request(&put_request(b"", 100, written.bytes()))
        .await;
    assert_eq!(put.unwrap()[0], 2);
    let open = session.request(&open_request(stored.address(), 0, 0)).await;
    assert_eq!(open.unwrap(), [2, 0, 0, 0, 0]);
    assert_eq!(peer.get("/-/health").await.status, 200);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(session.get(&[stored.address()]).await[0].0, 0);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_requests_over_the_byte_rate() {
    let peer = TestPeer::start(&["--max-bytes-per-second=1MB", "--limit-loopback"]).await;
    let stored = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let session = Session::open(&peer.peer).await;
    let answers = session.get(&[stored.address(); 8]).await;
    let found = answers.iter().filter(|(status, _)| *status == 0).count();
    assert!((2..8).contains(&found), "{found} of 8");
    assert_eq!(answers[7].0, 2, "busy");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn releases_all_resources_of_disconnected_clients() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("store");
    let flags = [
        "--http=127.0.0.1:0",
        "--webtransport=127.0.0.1:0",
        "--allow-open-writes",
        "--idle-timeout=2s",
        "--store",
        store.to_str().unwrap(),
    ];
    // A separate process, because other tests open files in this one.
    let (peer, listening) = RunningPeer::start(&mut command(&flags));
    let base = listening["http"].as_str().unwrap();
    let url = listening["webTransport"].as_str().unwrap();
    let hashes = listening["certificateHashes"].as_array().unwrap().iter();
    let hashes: Vec<_> = hashes
        .map(|hash| hash.as_str().unwrap().to_owned())
        .collect();
    let chunk = chunk(1, 300_000);
    let first = Session::connect(url, &hashes, None).await.unwrap();
    assert_eq!(first.put(b"", chunk.bytes()).await[0], 0);
    first.connection.close(0_u32.into(), b"");
    let authority = base.strip_prefix("http://").unwrap();
    let get = format!(
        "GET /chunk/{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        chunk.address()
    );
    let files = || {
        let folder = format!("/proc/{}/fd", peer.id());
        fs::read_dir(folder).unwrap().count()
    };
    let mut after_the_first = None;
    for round in 0..4 {
        for i in 0..25 {
            let session = Session::connect(url, &hashes, None).await.unwrap();
            if i % 3 > 0 {
                assert_eq!(session.get(&[chunk.address()]).await[0].0, 0);
            }
            if i % 3 > 1 {
                // Disconnect in the middle of a response.
                let (mut send, mut recv) = session.stream().await;
                send_all(&mut send, &get_request(&[chunk.address(); 64])).await;
                send.quic_stream_mut().finish().unwrap();
                recv.quic_stream_mut()
                    .read_exact(&mut [0; 1000])
                    .await
                    .unwrap();
            }
            session.connection.close(0_u32.into(), b"");
            let mut stream = TcpStream::connect(authority).await.unwrap();
            stream.write_all(get.as_bytes()).await.unwrap();
            if i % 2 == 0 {
                stream.read_exact(&mut [0; 1000]).await.unwrap();
            }
        }
        let started = Instant::now();
        let left = loop {
            let metrics = String::from_utf8(crate::http::get(base, "/metrics").await.body).unwrap();
            let value = |name: &str| -> u32 {
                let line = metrics.lines().find_map(|line| line.strip_prefix(name));
                line.unwrap().trim().parse().unwrap()
            };
            let left = [
                value("antway_peer_sessions"),
                value("antway_peer_streams"),
                value("antway_peer_http_connections"),
            ];
            // The connection of this request counts, too.
            if left == [0, 0, 1] || started.elapsed() > TEST_TIMEOUT {
                break left;
            }
            sleep(Duration::from_millis(50)).await;
        };
        assert_eq!(left, [0, 0, 1], "round {round}");
        let now = files();
        let then = *after_the_first.get_or_insert(now);
        assert!(
            now <= then + 2,
            "round {round}: {now} files open, {then} after the first one"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn announces_the_configured_peers() {
    let peer = TestPeer::start(&[]).await;
    assert!(peer.info().await.get("peers").is_none());
    peer.stop().await;
    let flags = [
        "--announce-peer=https://a.example:4433",
        "--announce-peer=http://127.0.0.1:8080/,https://b.example#sha-256=00ff",
    ];
    let peer = TestPeer::start(&flags).await;
    assert_eq!(
        peer.info().await["peers"],
        serde_json::json!([
            "https://a.example:4433",
            "http://127.0.0.1:8080",
            "https://b.example#sha-256=00ff"
        ])
    );
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn announces_where_clients_reach_web_transport() {
    let peer = TestPeer::start(&[]).await;
    let info = peer.info().await;
    let url = peer.peer.web_transport().unwrap();
    let port = format!(":{}/", info["webTransport"]["port"]);
    assert!(url.contains(&port), "{url}");
    assert!(info["webTransport"].get("host").is_none());
    peer.stop().await;
    for (endpoint, host, port) in [
        (":443", None, 443),
        ("peer-1.example:4433", Some("peer-1.example"), 4433),
    ] {
        let flag = format!("--advertise-webtransport={endpoint}");
        let peer = TestPeer::start(&[&flag]).await;
        let info = peer.info().await;
        let told = info["webTransport"]
            .get("host")
            .and_then(|host| host.as_str());
        assert_eq!(told, host);
        assert_eq!(info["webTransport"]["port"], port);
        assert!(Session::open(&peer.peer).await.request(&[4]).await.is_ok());
        peer.stop().await;
    }
}
