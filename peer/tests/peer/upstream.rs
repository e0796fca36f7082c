//! Chunks that the peer fetches from upstreams.

use crate::fault::{Fault, FaultConfig, HostileSource};
use crate::http::request;
use crate::session::Session;
use crate::stub_http_server::{StubHttpServer, StubResponse};
use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
use antway_peer::address::Address;
use antway_peer::limits::MAX_CHUNK_BYTES;
use antway_peer::source::Chunk;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

/// The flag for this upstream.
pub fn upstream(url: &str) -> String {
    format!("--upstream={url}")
}

/// The path of a chunk.
pub fn path(chunk: &Chunk) -> String {
    format!("/chunk/{}", chunk.address())
}

/// The metric of requests with this upstream and outcome.
pub fn request_metric(url: &str, outcome: &str) -> String {
    format!(r#"antway_peer_upstream_requests_total{{upstream="{url}",outcome="{outcome}"}}"#)
}

/// A port that is free now, for a peer whose address other peers need before it starts. It is below the ports that the
/// system chooses by itself, so that no other test takes it meanwhile.
pub fn free_address() -> String {
    let listener = (0..100).find_map(|_| {
        let port = 20_000 + RandomState::new().build_hasher().finish() % 10_000;
        TcpListener::bind(("127.0.0.1", port as u16)).ok()
    });
    let address = listener.unwrap().local_addr().unwrap();
    address.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_request_asks_no_upstream() {
    let origin = TestPeer::start(&[]).await;
    let url = origin.peer.http().to_owned();
    let peer = TestPeer::start(&[&upstream(&url)]).await;
    let chunk = origin.store_chunk(1, 1000).await;
    let head = async || request(peer.peer.http(), "HEAD", &path(&chunk), &[], b"").await;
    assert_eq!(head().await.status, 404);
    assert_eq!(peer.metric(&request_metric(&url, "found")).await, 0);
    assert_eq!(peer.get(&path(&chunk)).await.status, 200);
    peer.wait_for_metric("antway_peer_store_chunks", |n| n == 1)
        .await;
    assert_eq!(head().await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_and_caches_a_chunk_of_another_peer() {
    let origin = TestPeer::start(&[]).await;
    let url = origin.peer.http().to_owned();
    let peer = TestPeer::start(&[&upstream(&url)]).await;
    let chunk = origin.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let session = Session::open(&peer.peer).await;
    let expected = [(0, chunk.bytes().to_vec())];
    assert!(session.get(&[chunk.address()]).await == expected);
    peer.wait_for_metric("antway_peer_store_chunks", |n| n == 1)
        .await;
    assert_eq!(peer.metric(&request_metric(&url, "found")).await, 1);
    origin.stop().await;
    assert!(
        session.get(&[chunk.address()]).await == expected,
        "the chunk is cached now"
    );
    assert!(peer.get(&path(&chunk)).await.body == chunk.bytes()[..]);
    assert_eq!(peer.metric(&request_metric(&url, "found")).await, 1);
    let received = format!(r#"antway_peer_upstream_received_bytes_total{{upstream="{url}"}}"#);
    assert_eq!(peer.metric(&received).await, u64::from(MAX_CHUNK_BYTES));
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn asks_the_next_upstream_after_wrong_bytes_and_never_forwards_them() {
    let chunk = chunk(1, 5000);
    let mut hostile = Vec::new();
    for fault in [Fault::Flip, Fault::Short, Fault::Junk] {
        let config = FaultConfig {
            fault,
            bytes_per_second: 1000,
            honest_first: 0,
        };
        let peer = TestPeer::start_with(TempDir::new().unwrap(), &[], |store, path| {
            Arc::new(HostileSource::new(store, path, config))
        });
        let peer = peer.await;
        peer.store_chunk(1, 5000).await;
        hostile.push(peer);
    }
    let urls: Vec<_> = hostile
        .iter()
        .map(|peer| upstream(peer.peer.http()))
        .collect();
    let mut flags: Vec<&str> = urls.iter().map(String::as_str).collect();
    let alone = TestPeer::start(&flags).await;
    let response = alone.get(&path(&chunk)).await;
    assert_eq!(
        (response.status, response.code()),
        (500, "FAILED".to_owned())
    );
    assert_eq!(alone.store_chunks().await, 0);

    let honest = TestPeer::start(&[]).await;
    honest.store_chunk(1, 5000).await;
    let last = upstream(honest.peer.http());
    flags.push(&last);
    let peer = TestPeer::start(&flags).await;
    assert!(peer.get(&path(&chunk)).await.body == chunk.bytes()[..]);
    assert_eq!(
        peer.metric(&request_metric(hostile[0].peer.http(), "wrong"))
            .await,
        1
    );
    assert_eq!(
        peer.metric(&request_metric(hostile[2].peer.http(), "failed"))
            .await,
        1,
        "the response is too long"
    );
    for peer in hostile.into_iter().chain([alone, honest, peer]) {
        peer.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_for_a_chunk_cause_one_upstream_request() {
    let wanted = chunk(1, 100_000);
    let bytes = wanted.bytes().to_vec();
    let slow = StubHttpServer::start(move |_| {
        StubResponse::new(200, bytes.clone()).delayed_by(Duration::from_millis(500))
    })
    .await;
    let peer = TestPeer::start(&[&upstream(&slow.url)]).await;
    let session = Session::open(&peer.peer).await;
    let address = wanted.address();
    let asking = (0..20).map(|_| async { session.get(&[address]).await });
    for answer in futures_util::future::join_all(asking).await {
        assert!(answer == [(0, wanted.bytes().to_vec())]);
    }
    assert_eq!(slow.request_heads().len(), 1);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_disconnects_does_not_affect_others() {
    let wanted = chunk(1, 1000);
    let bytes = wanted.bytes().to_vec();
    let slow = StubHttpServer::start(move |_| {
        StubResponse::new(200, bytes.clone()).delayed_by(Duration::from_millis(700))
    })
    .await;
    let peer = TestPeer::start(&[&upstream(&slow.url)]).await;
    let first = Session::open(&peer.peer).await;
    let second = Session::open(&peer.peer).await;
    let address = wanted.address();
    let leaving = tokio::spawn({
        let connection = first.connection.clone();
        async move {
            sleep(Duration::from_millis(300)).await;
            connection.close(0_u32.into(), b"");
        }
    });
    let (_send, _recv) = {
        let (mut send, recv) = first.stream().await;
        crate::session::send_all(&mut send, &crate::session::get_request(&[address])).await;
        send.quic_stream_mut().finish().unwrap();
        (send, recv)
    };
    peer.wait_for_metric("antway_peer_streams", |n| n == 1)
        .await;
    assert!(second.get(&[address]).await == [(0, wanted.bytes().to_vec())]);
    leaving.await.unwrap();
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunk_that_comes_after_the_client_has_gone_is_there_when_it_asks_again() {
    let wanted = chunk(1, 1000);
    let bytes = wanted.bytes().to_vec();
    let gate = Arc::new(Semaphore::new(0));
    let slow = StubHttpServer::start({
        let gate = Arc::clone(&gate);
        move |_| StubResponse::new(200, bytes.clone()).gated_by(&gate)
    })
    .await;
    let peer = TestPeer::start(&[&upstream(&slow.url), "--upstream-timeout=60s"]).await;
    let authority = peer.peer.http().strip_prefix("http://").unwrap();
    let mut client = TcpStream::connect(authority).await.unwrap();
    let get = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", path(&wanted));
    client.write_all(get.as_bytes()).await.unwrap();
    slow.wait_for_requests(1).await;
    drop(client);
    // Only the connection of the metrics request remains.
    peer.wait_for_metric("antway_peer_http_connections", |n| n == 1)
        .await;
    gate.add_permits(1);
    peer.wait_for_metric("antway_peer_store_chunks", |n| n == 1)
        .await;
    assert!(peer.get(&path(&wanted)).await.body == wanted.bytes()[..]);
    assert_eq!(slow.request_heads().len(), 1);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn caches_for_a_short_time_that_no_upstream_has_a_chunk() {
    let origin = TestPeer::start(&[]).await;
    let url = origin.peer.http().to_owned();
    let peer = TestPeer::start(&[&upstream(&url), "--not-found-lifetime=2s"]).await;
    let wanted = chunk(1, 1000);
    for _ in 0..5 {
        assert_eq!(peer.get(&path(&wanted)).await.status, 404);
    }
    assert_eq!(peer.metric(&request_metric(&url, "not_found")).await, 1);
    assert_eq!(
        peer.metric("antway_peer_upstream_remembered_total").await,
        4
    );
    origin.store_chunk(1, 1000).await;
    let started = Instant::now();
    while peer.get(&path(&wanted)).await.status == 404 {
        assert!(started.elapsed() < TEST_TIMEOUT);
        sleep(Duration::from_millis(100)).await;
    }
    origin.stop().await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mutual_upstreams_find_each_others_chunks_without_request_loops() {
    let (a, b) = (free_address(), free_address());
    let urls = [format!("http://{a}"), format!("http://{b}")];
    let of_a = TestPeer::start(&[&format!("--http={a}"), &upstream(&urls[1])]).await;
    let of_b = TestPeer::start(&[&format!("--http={b}"), &upstream(&urls[0])]).await;
    let chunk = of_b.store_chunk(1, 1000).await;
    assert!(of_a.get(&path(&chunk)).await.body == chunk.bytes()[..]);
    let started = Instant::now();
    let absent = format!("/chunk/{}", Address::of(b"absent"));
    // Send both requests at once: each peer waits for the other.
    let (from_a, from_b) = tokio::join!(of_a.get(&absent), of_b.get(&absent));
    assert_eq!((from_a.status, from_b.status), (404, 404));
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
    of_a.stop().await;
    of_b.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_with_a_slow_upstream_answers_busy_before_other_peers_time_out() {
    let wanted = chunk(1, 1000);
    let bytes = wanted.bytes().to_vec();
    let gate = Arc::new(Semaphore::new(0));
    let slow = StubHttpServer::start({
        let gate = Arc::clone(&gate);
        move |_| StubResponse::new(200, bytes.clone()).gated_by(&gate)
    })
    .await;
    let source = upstream(&format!("anttp+{}", slow.url));
    let neighbour = TestPeer::start(&[&source, "--upstream-timeout=10s"]).await;
    let url = neighbour.peer.http();
    let peer = TestPeer::start(&[&upstream(url), "--upstream-timeout=10s"]).await;
    let response = peer.get(&path(&wanted)).await;
    assert_eq!((response.status, response.code()), (503, "BUSY".to_owned()));
    assert_eq!(
        peer.metric(&request_metric(url, "busy")).await,
        1,
        "not a timeout"
    );
    // The request continues meanwhile, and caches the chunk.
    gate.add_permits(1);
    neighbour
        .wait_for_metric("antway_peer_store_chunks", |n| n == 1)
        .await;
    assert!(peer.get(&path(&wanted)).await.body == wanted.bytes()[..]);
    assert_eq!(slow.request_heads().len(), 1);
    neighbour.stop().await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_a_request_that_too_many_peers_forwarded() {
    let peer = TestPeer::start(&[]).await;
    let chunk = peer.store_chunk(1, 1000).await;
    let id = "0123456789abcdef";
    for (via, status) in [
        ([id; 4].join(", "), 200),
        ([id; 5].join(", "), 508),
        ("nonsense".to_owned(), 508),
    ] {
        let headers = [("Antway-Via", via.as_str())];
        let response = request(peer.peer.http(), "GET", &path(&chunk), &headers, b"").await;
        assert_eq!(response.status, status, "{via}");
        if status == 508 {
            assert_eq!(response.code(), "LOOP");
        }
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sends_the_via_header_only_to_peers() {
    let server = StubHttpServer::start(|_| StubResponse::new(404, "")).await;
    let also = format!("anttp+{}", server.url);
    let peer = TestPeer::start(&[&upstream(&server.url), &upstream(&also)]).await;
    assert_eq!(peer.get(&path(&chunk(1, 1))).await.status, 404);
    let heads = server.request_heads();
    let tells = |head: &String| head.to_lowercase().contains("\r\nantway-via: ");
    assert_eq!(heads.iter().map(tells).collect::<Vec<_>>(), [true, false]);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn does_not_follow_redirects_or_cache_errors_as_not_found() {
    let target = TestPeer::start(&[]).await;
    let wanted = target.store_chunk(1, 1000).await;
    let location = format!("Location: {}{}\r\n", target.peer.http(), path(&wanted));
    let location: &'static str = location.leak();
    let server = StubHttpServer::start(move |_| StubResponse {
        headers: location,
        ..StubResponse::new(302, "")
    })
    .await;
    let unreachable = format!("http://{}", free_address());
    let peer = TestPeer::start(&[&upstream(&server.url), &upstream(&unreachable)]).await;
    for _ in 0..2 {
        let response = peer.get(&path(&wanted)).await;
        assert_eq!(
            (response.status, response.code()),
            (500, "FAILED".to_owned())
        );
    }
    assert_eq!(server.request_heads().len(), 2, "errors are not cached");
    target.stop().await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fetches_chunks_from_anttp_and_from_the_antd_daemon() {
    let chunk = chunk(1, 3);
    let address = chunk.address();
    let raw = chunk.bytes().to_vec();
    let anttp = StubHttpServer::start(move |path| {
        match path == format!("/anttp-0/binary/chunk/{address}") {
            true => StubResponse::new(200, raw.clone()),
            false => StubResponse::new(404, ""),
        }
    })
    .await;
    // The chunk's three bytes, as the daemon sends them.
    let json = format!(r#"{{"data":"{}"}}"#, base64(chunk.bytes()));
    let antd = StubHttpServer::start(move |path| match path == format!("/v1/chunks/{address}") {
        true => StubResponse::new(200, json.clone()),
        false => StubResponse::new(404, r#"{"error":"not found"}"#),
    })
    .await;
    for url in [format!("anttp+{}", anttp.url), format!("antd+{}", antd.url)] {
        let peer = TestPeer::start(&[&upstream(&url)]).await;
        assert!(
            peer.get(&path(&chunk)).await.body == chunk.bytes()[..],
            "{url}"
        );
        let absent = format!("/chunk/{}", Address::of(b"absent"));
        assert_eq!(peer.get(&absent).await.status, 404, "{url}");
        peer.stop().await;
    }
}

/// Encodes three bytes.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let number = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
    let digits = [18, 12, 6, 0].map(|shift| DIGITS[(number >> shift) as usize % 64]);
    String::from_utf8(digits.to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_upstream_chunks_with_a_full_store() {
    let origin = TestPeer::start(&[]).await;
    let chunk = origin.store_chunk(1, 5000).await;
    let peer = TestPeer::start(&[&upstream(origin.peer.http()), "--max-store-bytes=4999"]).await;
    for _ in 0..2 {
        assert!(peer.get(&path(&chunk)).await.body == chunk.bytes()[..]);
    }
    assert_eq!(peer.store_chunks().await, 0);
    origin.stop().await;
    peer.stop().await;
}
