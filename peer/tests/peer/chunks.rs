//! Chunks in and out, over both transports.

use crate::http::request;
use crate::session::{Session, has_request, read_all, send_all};
use crate::test_peer::{TestPeer, chunk};
use antway_peer::address::Address;
use antway_peer::limits::MAX_CHUNK_BYTES;
use antway_peer::source::ChunkSource;
use std::fs;

const MISSING: &[u8] = b"not there";

#[tokio::test(flavor = "multi_thread")]
async fn get_answers_64_addresses_in_order_over_web_transport() {
    let peer = TestPeer::start(&[]).await;
    let mut addresses = Vec::new();
    let mut expected = Vec::new();
    for seed in 0..64 {
        if seed % 7 == 3 {
            addresses.push(Address::of(&[seed]));
            expected.push((1, Vec::new()));
        } else {
            let chunk = peer.store_chunk(seed, 1 + 3000 * usize::from(seed)).await;
            addresses.push(chunk.address());
            expected.push((0, chunk.bytes().to_vec()));
        }
    }
    let session = Session::open(&peer.peer).await;
    assert!(session.get(&addresses).await == expected);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_the_largest_and_the_empty_chunk_over_both_transports() {
    let peer = TestPeer::start(&[]).await;
    let session = Session::open(&peer.peer).await;
    for length in [0, MAX_CHUNK_BYTES as usize] {
        let chunk = peer.store_chunk(9, length).await;
        let answers = session.get(&[chunk.address()]).await;
        assert!(answers == [(0, chunk.bytes().to_vec())]);
        let response = peer.get(&format!("/chunk/{}", chunk.address())).await;
        assert_eq!(response.status, 200);
        assert!(response.body == chunk.bytes()[..]);
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn has_reports_stored_chunks_without_sending_them() {
    let peer = TestPeer::start(&[]).await;
    let chunk = peer.store_chunk(1, 1000).await;
    let session = Session::open(&peer.peer).await;
    let absent = Address::of(MISSING);
    let addresses = [absent, chunk.address(), absent, chunk.address()];
    assert_eq!(
        session.request(&has_request(&addresses)).await.unwrap(),
        [1, 0, 1, 0]
    );
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn info_is_the_same_over_both_transports() {
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    peer.store_chunk(1, 1000).await;
    let session = Session::open(&peer.peer).await;
    let answer = session.request(&[4]).await.unwrap();
    assert_eq!(answer[..4], (answer.len() as u32 - 4).to_be_bytes());
    let info: serde_json::Value = serde_json::from_slice(&answer[4..]).unwrap();
    assert_eq!(info, peer.info().await);
    let url = peer.peer.web_transport().unwrap();
    let port: u16 = url
        .strip_suffix("/v1")
        .unwrap()
        .rsplit(':')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(info["name"], "antway-peer");
    assert_eq!(info["protocol"], 1);
    assert_eq!(info["operations"], serde_json::json!([1, 2, 3, 4, 5]));
    assert_eq!(info["webTransport"]["port"], port);
    assert_eq!(info["webTransport"]["path"], "/v1");
    assert_eq!(
        info["webTransport"]["certificateHashes"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(info["limits"]["maxChunkBytes"], MAX_CHUNK_BYTES);
    assert_eq!(info["limits"]["maxAddressesPerRequest"], 64);
    assert_eq!(info["limits"]["maxStreamsPerSession"], 256);
    assert_eq!(info["limits"]["idleTimeoutMs"], 30_000);
    assert_eq!(info["write"], "open");
    assert_eq!(
        info["store"],
        serde_json::json!({"chunks": 1, "bytes": 1000})
    );
    assert_eq!(
        peer.get("/-/info").await.header("cache-control"),
        Some("no-store")
    );
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn info_reports_that_web_transport_is_off() {
    let peer = TestPeer::start(&["--webtransport=none"]).await;
    assert_eq!(peer.peer.web_transport(), None);
    assert_eq!(peer.info().await["webTransport"], serde_json::Value::Null);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http_answers_have_the_headers_that_caches_need() {
    let peer = TestPeer::start(&["--allow-origin=*"]).await;
    let chunk = peer.store_chunk(2, 5000).await;
    let base = peer.peer.http();
    let path = format!("/chunk/{}", chunk.address());
    let etag = format!("\"{}\"", chunk.address());
    let forever = "public, max-age=31536000, immutable";
    for method in ["GET", "HEAD"] {
        let response = request(base, method, &path, &[], b"").await;
        assert_eq!(response.status, 200);
        assert_eq!(response.header("etag"), Some(&*etag));
        assert_eq!(response.header("content-length"), Some("5000"));
        assert_eq!(
            response.header("content-type"),
            Some("application/octet-stream")
        );
        assert_eq!(response.header("cache-control"), Some(forever));
        assert_eq!(response.header("timing-allow-origin"), Some("*"));
        assert_eq!(response.header("access-control-allow-origin"), Some("*"));
        assert_eq!(response.header("vary"), None);
    }
    for known in [&etag, &format!("W/{etag}"), &format!("\"other\", {etag}")] {
        let response = request(base, "GET", &path, &[("If-None-Match", known)], b"").await;
        assert_eq!(response.status, 304);
        assert_eq!(response.header("etag"), Some(&*etag));
        assert!(response.body.is_empty());
    }
    let response = request(base, "GET", &path, &[("If-None-Match", "\"other\"")], b"").await;
    assert_eq!(response.status, 200);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http_errors_are_uncacheable_json() {
    let peer = TestPeer::start(&[]).await;
    let base = peer.peer.http();
    let absent = format!("/chunk/{}", Address::of(MISSING));
    let upper = absent.to_uppercase().replace("/CHUNK", "/chunk");
    for (method, path, status, code) in [
        ("GET", absent.as_str(), 404, "NOT_FOUND"),
        ("GET", "/chunk/xyz", 400, "BAD_ADDRESS"),
        ("GET", "/chunk/", 400, "BAD_ADDRESS"),
        ("GET", &upper, 400, "BAD_ADDRESS"),
        ("GET", &format!("{absent}/x"), 400, "BAD_ADDRESS"),
        ("DELETE", &absent, 405, "METHOD"),
        ("POST", "/-/info", 405, "METHOD"),
        ("GET", "/-/nothing", 404, "NOT_FOUND"),
        ("GET", "/", 404, "NOT_FOUND"),
    ] {
        let response = request(base, method, path, &[], b"").await;
        assert_eq!(response.status, status, "{method} {path}");
        assert_eq!(response.code(), code, "{method} {path}");
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert_eq!(response.header("content-type"), Some("application/json"));
    }
    let head = request(base, "HEAD", &absent, &[], b"").await;
    assert_eq!(head.status, 404);
    let health = request(base, "GET", "/-/health", &[], b"").await;
    assert_eq!(
        (health.status, &health.body[..]),
        (200, &br#"{"status":"ok"}"#[..])
    );
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_a_damaged_chunk_and_never_serves_it() {
    let peer = TestPeer::start(&[]).await;
    let session = Session::open(&peer.peer).await;
    for seed in [1, 2] {
        let chunk = peer.store_chunk(seed, 100_000).await;
        let path = peer.path_of(chunk.address());
        let mut bytes = fs::read(&path).unwrap();
        bytes[50_000] ^= 1;
        fs::write(&path, bytes).unwrap();
        if seed == 1 {
            assert_eq!(session.get(&[chunk.address()]).await, [(1, vec![])]);
        } else {
            let response = peer.get(&format!("/chunk/{}", chunk.address())).await;
            assert_eq!(response.status, 404);
        }
        assert!(!path.exists());
    }
    assert_eq!(peer.metric("antway_peer_quarantined_chunks_total").await, 2);
    assert_eq!(peer.metric("antway_peer_store_chunks").await, 0);
    let folder = peer.stop().await;
    let quarantined = fs::read_dir(folder.path().join("store/quarantine")).unwrap();
    assert_eq!(quarantined.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_and_certificates_survive_a_restart() {
    let peer = TestPeer::start(&[]).await;
    let chunk = peer.store_chunk(5, 12_345).await;
    let hashes = peer.peer.certificate_hashes();
    let folder = peer.stop().await;
    let left = folder.path().join("store/temporary/half-written");
    fs::write(&left, "half").unwrap();

    let peer = TestPeer::start_in(folder, &[]).await;
    assert!(!left.exists());
    assert_eq!(peer.peer.certificate_hashes(), hashes);
    assert_eq!(peer.info().await["store"]["bytes"], 12_345);
    let session = Session::open(&peer.peer).await;
    assert!(session.get(&[chunk.address()]).await == [(0, chunk.bytes().to_vec())]);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_streams_of_many_sessions_receive_their_chunks() {
    let peer = TestPeer::start(&["--max-streams-per-session=32"]).await;
    let mut chunks = Vec::new();
    for seed in 0..8 {
        chunks.push(peer.store_chunk(seed, 50_000 + usize::from(seed)).await);
    }
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let session = std::sync::Arc::new(Session::open(&peer.peer).await);
        // This is more than the stream limit, so the rest waits.
        for n in 0..100 {
            let session = std::sync::Arc::clone(&session);
            let chunk = chunks[n % chunks.len()].clone();
            tasks.push(tokio::spawn(async move {
                let answers = session.get(&[chunk.address()]).await;
                assert!(answers == [(0, chunk.bytes().to_vec())]);
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    peer.wait_for_metric("antway_peer_streams", |n| n == 0)
        .await;
    assert_eq!(
        peer.metric(r#"antway_peer_answers_total{transport="webtransport",status="ok"}"#)
            .await,
        400
    );
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_readers_see_only_complete_chunks() {
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    let session = std::sync::Arc::new(Session::open(&peer.peer).await);
    let mut tasks = Vec::new();
    for n in 0..64_u8 {
        let session = std::sync::Arc::clone(&session);
        let chunk = chunk(n % 16, 30_000);
        tasks.push(tokio::spawn(async move {
            if n % 2 == 0 {
                let (mut send, mut recv) = session.stream().await;
                let request = crate::session::put_request(b"", 30_000, chunk.bytes());
                send_all(&mut send, &request).await;
                send.finish().await.unwrap();
                let answer = read_all(&mut recv).await.unwrap();
                assert_eq!(answer[0], 0);
                assert_eq!(answer[1..], chunk.address().as_bytes()[..]);
            }
            let answers = session.get(&[chunk.address()]).await;
            match answers[0].0 {
                0 => assert!(answers[0].1 == chunk.bytes()[..]),
                status => assert_eq!((status, n % 2), (1, 1), "only before it was written"),
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(peer.store.stats().chunks, 8);
    peer.stop().await;
}
