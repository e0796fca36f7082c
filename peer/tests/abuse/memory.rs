//! Clients that make the peer hold chunks in memory.

use crate::session::{Reset, Session, get_request, read_all, send_all};
use crate::test_peer::TEST_TIMEOUT;
use crate::tracked_source::{LiveBytes, TrackedSource};
use crate::udp_relay::UdpRelay;
use antway_peer::limits::MAX_CHUNK_BYTES;
use futures_util::future::join_all;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

const MIB: usize = 1024 * 1024;

/// Waits until the peer has held the same number of bytes for a while.
async fn wait_until_steady(live: &LiveBytes) {
    let mut steady = 0;
    let mut last = live.now();
    while steady < 20 || last == 0 {
        sleep(Duration::from_millis(25)).await;
        let now = live.now();
        steady = if now == last { steady + 1 } else { 0 };
        last = now;
    }
}

async fn wait_until_released(live: &LiveBytes) {
    let started = Instant::now();
    while live.now() > 0 {
        assert!(started.elapsed() < TEST_TIMEOUT, "{} bytes", live.now());
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_acknowledges_nothing_pins_no_more_than_its_quota() {
    // One session's quota is a quarter: the memory of one large chunk. The QUIC library accepts 4 MiB in advance.
    let (peer, live) = TrackedSource::start(&["--max-chunks-in-memory=4"]).await;
    let chunk = peer.store_chunk(1, 3 * MIB).await;
    let url = peer.peer.web_transport().unwrap();
    let authority = url
        .strip_prefix("https://")
        .unwrap()
        .strip_suffix("/v1")
        .unwrap();
    let relay = UdpRelay::start(authority.parse().unwrap(), Ipv4Addr::LOCALHOST).await;
    let relayed = format!("https://{}/v1", relay.address);
    let hashes = peer.peer.certificate_hashes();
    let session = Session::connect(&relayed, &hashes, None).await.unwrap();
    let mut streams = Vec::new();
    for _ in 0..8 {
        let (mut send, recv) = session.stream().await;
        send_all(&mut send, &get_request(&[chunk.address()])).await;
        send.quic_stream_mut().finish().unwrap();
        streams.push(recv);
    }
    while live.now() == 0 {
        sleep(Duration::from_millis(1)).await;
    }
    relay.withhold();
    wait_until_steady(&live).await;
    assert!(
        live.most() <= MAX_CHUNK_BYTES as usize,
        "{} bytes",
        live.most()
    );
    relay.pass();
    for answer in join_all(streams.iter_mut().map(read_all)).await {
        assert!(answer.unwrap()[5..] == chunk.bytes()[..]);
    }
    wait_until_released(&live).await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_reset_at_once_pin_no_more_than_the_quota() {
    let (peer, live) = TrackedSource::start(&["--max-chunks-in-memory=4"]).await;
    let chunk = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let session = Session::open(&peer.peer).await;
    for _ in 0..200 {
        let (mut send, recv) = session.stream().await;
        send_all(&mut send, &get_request(&[chunk.address(); 64])).await;
        send.quic_stream_mut().finish().unwrap();
        crate::session::cancel(recv);
    }
    let answer = session.get(&[chunk.address()]).await;
    assert!(answer == [(0, chunk.bytes().to_vec())]);
    assert!(
        live.most() <= MAX_CHUNK_BYTES as usize,
        "{} bytes",
        live.most()
    );
    wait_until_released(&live).await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http_clients_that_read_nothing_pin_no_more_than_the_bound() {
    let (peer, live) = TrackedSource::start(&["--max-chunks-in-memory=4"]).await;
    let chunk = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let authority = peer.peer.http().strip_prefix("http://").unwrap();
    let get = format!(
        "GET /chunk/{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        chunk.address()
    );
    let mut clients = Vec::new();
    for _ in 0..16 {
        let mut client = TcpStream::connect(authority).await.unwrap();
        client.write_all(get.repeat(4).as_bytes()).await.unwrap();
        clients.push(client);
    }
    wait_until_steady(&live).await;
    let bound = 4 * MAX_CHUNK_BYTES as usize;
    assert!(live.most() <= bound, "{} bytes", live.most());
    drop(clients);
    let path = format!("/chunk/{}", chunk.address());
    assert!(peer.get(&path).await.body == chunk.bytes()[..]);
    wait_until_released(&live).await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_slowest_readers_lose_their_responses_when_others_wait_for_memory() {
    // Only slow readers are a reason to give up a response. No other time-out ends during the test.
    let flags = [
        "--max-chunks-in-memory=2",
        "--idle-timeout=1h",
        "--request-timeout=1h",
    ];
    let (peer, live) = TrackedSource::start(&flags).await;
    let chunk = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let get = get_request(&[chunk.address(); 64]);
    let session = Session::open(&peer.peer).await;
    let (mut send, mut recv) = session.stream().await;
    send_all(&mut send, &get).await;
    send.quic_stream_mut().finish().unwrap();
    let authority = peer.peer.http().strip_prefix("http://").unwrap();
    let mut http = TcpStream::connect(authority).await.unwrap();
    let path = format!("/chunk/{}", chunk.address());
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    http.write_all(request.repeat(64).as_bytes()).await.unwrap();
    while live.now() < 2 * MAX_CHUNK_BYTES as usize {
        sleep(Duration::from_millis(10)).await;
    }
    let honest = Session::open(&peer.peer).await;
    let expected = [(0, chunk.bytes().to_vec())];
    assert!(honest.get(&[chunk.address()]).await == expected);
    assert!(peer.get(&path).await.body == chunk.bytes()[..]);
    // TIMEOUT. The slow session stays open.
    assert_eq!(read_all(&mut recv).await, Err(Reset(3)));
    assert!(session.get(&[chunk.address()]).await == expected);
    drop(http);
    wait_until_released(&live).await;
    peer.stop().await;
}
