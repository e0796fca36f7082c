//! Requests for chunks that the peer does not have must not stop requests for chunks that it has.

use crate::client_network::{connect_from, get_from};
use crate::gate::{StalledSource, Stalls};
use crate::session::{Session, cancel, get_request, parse_get, read_all, send_all};
use crate::stub_http_server::{StubHttpServer, StubResponse};
use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
use crate::tracked_source::TrackedSource;
use antway_peer::address::Address;
use antway_peer::limits::MAX_CACHE_WRITES;
use antway_peer::source::Chunk;
use futures_util::future::join_all;
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use wtransport::RecvStream;

/// The address of a chunk that does not exist.
fn absent(seed: u32) -> Address {
    Address::of(&seed.to_be_bytes())
}

/// Asks for chunks that do not exist, each in a stream of its own. Returns the streams of the answers.
async fn ask_for_absent(session: &Session, seeds: Range<u32>) -> Vec<RecvStream> {
    let mut waiting = Vec::new();
    for seed in seeds {
        let (mut send, recv) = session.stream().await;
        send_all(&mut send, &get_request(&[absent(seed)])).await;
        send.quic_stream_mut().finish().unwrap();
        waiting.push(recv);
    }
    waiting
}

fn path(chunk: &Chunk) -> String {
    format!("/chunk/{}", chunk.address())
}

/// An upstream that accepts requests and answers none until the gate has permits.
async fn silent_upstream(gate: &Arc<Semaphore>) -> StubHttpServer {
    let gate = Arc::clone(gate);
    StubHttpServer::start(move |_| StubResponse::new(404, "").gated_by(&gate)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_chunks_are_answered_while_more_misses_than_permits_wait() {
    let gate = Arc::new(Semaphore::new(0));
    let silent = silent_upstream(&gate).await;
    let upstream = format!("--upstream={}", silent.url);
    let flags = [
        &upstream,
        "--max-chunks-in-memory=4",
        "--upstream-timeout=60s",
        "--client-wait=60s",
        "--request-timeout=60s",
        "--max-http-connections=1000",
    ];
    let peer = TestPeer::start(&flags).await;
    let stored = peer.store_chunk(1, 100_000).await;
    let session = Session::open(&peer.peer).await;
    let mut waiting = ask_for_absent(&session, 0..128).await;
    let authority = peer.peer.http().strip_prefix("http://").unwrap();
    let mut connections = Vec::new();
    for seed in 128..160 {
        let mut stream = TcpStream::connect(authority).await.unwrap();
        let get = format!(
            "GET /chunk/{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
            absent(seed)
        );
        stream.write_all(get.as_bytes()).await.unwrap();
        connections.push(stream);
    }
    silent.wait_for_requests(160).await;
    let expected = [(0, stored.bytes().to_vec())];
    assert!(session.get(&[stored.address()]).await == expected);
    assert!(peer.get(&path(&stored)).await.body == stored.bytes()[..]);
    // The misses waited until now.
    peer.wait_for_metric("antway_peer_streams", |n| n == 128)
        .await;
    gate.add_permits(1000);
    for answer in join_all(waiting.iter_mut().map(read_all)).await {
        assert_eq!(answer.unwrap(), [1, 0, 0, 0, 0]);
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_several_chunks_holds_no_memory_behind_a_miss() {
    let gate = Arc::new(Semaphore::new(0));
    let silent = silent_upstream(&gate).await;
    let upstream = format!("--upstream={}", silent.url);
    let flags = [&upstream, "--max-chunks-in-memory=4", "--client-wait=60s"];
    let peer = TestPeer::start(&[&flags[..], &["--upstream-timeout=60s"]].concat()).await;
    let stored = peer.store_chunk(1, 100_000).await;
    let session = Session::open(&peer.peer).await;
    let mut waiting = Vec::new();
    for seed in 0..32 {
        let (mut send, recv) = session.stream().await;
        let addresses = [absent(seed), stored.address(), stored.address()];
        send_all(&mut send, &get_request(&addresses)).await;
        send.quic_stream_mut().finish().unwrap();
        waiting.push(recv);
    }
    silent.wait_for_requests(32).await;
    let expected = [(0, stored.bytes().to_vec())];
    assert!(session.get(&[stored.address()]).await == expected);
    gate.add_permits(1000);
    for answer in join_all(waiting.iter_mut().map(read_all)).await {
        let answers = parse_get(&answer.unwrap());
        assert_eq!(answers[0], (1, Vec::new()));
        assert!(answers[1..] == [expected.clone(), expected.clone()].concat());
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lookups_over_the_limit_wait_and_stored_chunks_do_not() {
    let gate = Arc::new(Semaphore::new(0));
    let silent = silent_upstream(&gate).await;
    let upstream = format!("--upstream={}", silent.url);
    let flags = [&upstream, "--max-lookups=2", "--client-wait=60s"];
    let peer = TestPeer::start(&[&flags[..], &["--upstream-timeout=60s"]].concat()).await;
    let stored = peer.store_chunk(1, 1000).await;
    let session = Session::open(&peer.peer).await;
    let mut waiting = ask_for_absent(&session, 0..8).await;
    silent.wait_for_requests(2).await;
    let expected = [(0, stored.bytes().to_vec())];
    assert!(session.get(&[stored.address()]).await == expected);
    assert!(peer.get(&path(&stored)).await.body == stored.bytes()[..]);
    assert_eq!(silent.request_heads().len(), 2);
    gate.add_permits(1000);
    for answer in join_all(waiting.iter_mut().map(read_all)).await {
        assert_eq!(answer.unwrap(), [1, 0, 0, 0, 0]);
    }
    assert_eq!(silent.request_heads().len(), 8);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn networks_with_many_lookups_leave_some_to_others() {
    let wanted: Vec<_> = (0..3).map(|seed| chunk(seed, 1000)).collect();
    let bodies: HashMap<_, _> = wanted
        .iter()
        .map(|chunk| (path(chunk), chunk.bytes().to_vec()))
        .collect();
    let silence = Arc::new(Semaphore::new(0));
    let upstream = StubHttpServer::start({
        let silence = Arc::clone(&silence);
        move |path| match bodies.get(path) {
            Some(bytes) => StubResponse::new(200, bytes.clone()),
            None => StubResponse::new(404, "").gated_by(&silence),
        }
    })
    .await;
    let url = format!("--upstream={}", upstream.url);
    let flags = [
        &*url,
        "--max-lookups=64",
        "--limit-loopback",
        "--upstream-timeout=60s",
        "--client-wait=5s",
    ];
    let peer = TestPeer::start(&flags).await;
    let mut waiting = Vec::new();
    for network in 1..=3 {
        for seed in 0..32 {
            let mut stream = connect_from(&format!("127.0.1.{network}"), &peer).await;
            let address = absent(100 * network + seed);
            let get = format!("GET /chunk/{address} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            stream.write_all(get.as_bytes()).await.unwrap();
            waiting.push(stream);
        }
    }
    upstream.wait_for_requests(56).await;
    // Without a reserve, the others would follow now.
    sleep(Duration::from_millis(300)).await;
    for chunk in &wanted {
        let response = get_from("127.0.9.1", &peer, &path(chunk)).await;
        assert!(response.status == 200 && response.body == chunk.bytes()[..]);
    }
    silence.add_permits(1000);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_lookups_that_take_too_long_get_busy() {
    let gate = Arc::new(Semaphore::new(0));
    let silent = silent_upstream(&gate).await;
    let upstream = format!("--upstream={}", silent.url);
    let flags = [&upstream, "--max-lookups=2", "--client-wait=500ms"];
    let peer = TestPeer::start(&[&flags[..], &["--upstream-timeout=60s"]].concat()).await;
    let session = Session::open(&peer.peer).await;
    let asking = (0..8).map(|seed| async move { get_request(&[absent(seed)]) });
    let asking = asking.map(async |get| session.request(&get.await).await.unwrap());
    for answer in join_all(asking).await {
        assert_eq!(answer[0], 2);
    }
    gate.add_permits(1000);
    while session.get(&[absent(7)]).await[0].0 != 1 {
        sleep(Duration::from_millis(20)).await;
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_disk_does_not_stall_chunks_of_upstreams() {
    let chunks: Vec<_> = (0..2 * MAX_CACHE_WRITES)
        .map(|seed| chunk(seed as u8, 1 << 20))
        .collect();
    let bodies: HashMap<_, _> = chunks
        .iter()
        .map(|chunk| (path(chunk), chunk.bytes().to_vec()))
        .collect();
    let origin =
        StubHttpServer::start(move |path| StubResponse::new(200, bodies[path].clone())).await;
    let upstream = format!("--upstream={}", origin.url);
    // The last four chunks have room in memory.
    let flags = [&upstream, "--max-chunks-in-memory=8"];
    let (peer, source) = StalledSource::start(Stalls::CacheWrites, &flags).await;
    for chunk in &chunks {
        assert!(peer.get(&path(chunk)).await.body == chunk.bytes()[..]);
    }
    assert_eq!(source.running(), MAX_CACHE_WRITES);
    source.gate.add_permits(1000);
    let skipped = MAX_CACHE_WRITES as u64 - 4;
    peer.wait_for_metric("antway_peer_upstream_not_cached_total", |n| n == skipped)
        .await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_pays_for_chunks_of_upstreams_that_it_cancels() {
    let chunks: Vec<_> = (0..32).map(|seed| chunk(seed, 1 << 20)).collect();
    let bodies: HashMap<_, _> = chunks
        .iter()
        .map(|chunk| (path(chunk), chunk.bytes().to_vec()))
        .collect();
    let gate = Arc::new(Semaphore::new(0));
    let origin = StubHttpServer::start({
        let gate = Arc::clone(&gate);
        move |path| StubResponse::new(200, bodies[path].clone()).gated_by(&gate)
    })
    .await;
    let upstream = format!("--upstream={}", origin.url);
    let flags = [
        &upstream,
        "--max-bytes-per-second=100000",
        "--limit-loopback",
    ];
    let peer = TestPeer::start(&flags).await;
    let session = Session::open(&peer.peer).await;
    let mut fetched = 0;
    for chunk in &chunks {
        let (mut send, mut recv) = session.stream().await;
        send_all(&mut send, &get_request(&[chunk.address()])).await;
        send.quic_stream_mut().finish().unwrap();
        let mut status = [0];
        tokio::select! {
            () = origin.wait_for_requests(fetched + 1) => {}
            answered = recv.read_exact(&mut status) => {
                answered.unwrap();
                assert_eq!(status, [2], "busy");
                break;
            }
        }
        cancel(recv);
        // The metrics would count for the client's rate, too.
        sleep(Duration::from_millis(50)).await;
        gate.add_permits(1);
        fetched += 1;
        let written = peer.path_of(chunk.address()).display().to_string();
        let pulled = PathBuf::from(written.replace("/store/chunks/", "/store/pulled/"));
        let stored = async {
            while !pulled.exists() {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(TEST_TIMEOUT, stored).await.unwrap();
    }
    assert!((1..16).contains(&fetched), "{fetched} of 32");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_pays_for_stored_chunks_that_it_cancels() {
    let flags = ["--max-bytes-per-second=100000", "--limit-loopback"];
    let (peer, live) = TrackedSource::start(&flags).await;
    let chunk = peer.store_chunk(1, 1 << 20).await;
    let session = Session::open(&peer.peer).await;
    let mut is_refused = false;
    for _ in 0..32 {
        let (mut send, mut recv) = session.stream().await;
        send_all(&mut send, &get_request(&[chunk.address()])).await;
        send.quic_stream_mut().finish().unwrap();
        let mut status = [0];
        let is_reading = async {
            while live.now() == 0 {
                sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            () = is_reading => {}
            answered = recv.read_exact(&mut status) => {
                answered.unwrap();
                assert_eq!(status, [2], "busy");
                is_refused = true;
                break;
            }
        }
        cancel(recv);
        while live.now() > 0 {
            sleep(Duration::from_millis(1)).await;
        }
    }
    assert!(is_refused, "32 cancelled reads cost nothing");
    peer.stop().await;
}
