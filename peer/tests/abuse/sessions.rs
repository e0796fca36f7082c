//! Clients that open many WebTransport sessions.

use crate::session::{Session, get_request, send_all};
use crate::test_peer::{TEST_TIMEOUT, TestPeer};
use antway_peer::limits::MAX_CHUNK_BYTES;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use wtransport::ClientConfig;
use wtransport::error::ConnectingError;
use wtransport::tls::{Sha256Digest, Sha256DigestFmt};

/// Opens a session from this loopback address.
async fn connect_from(source: &str, peer: &TestPeer) -> Result<Session, ConnectingError> {
    let source: Ipv4Addr = source.parse().unwrap();
    let hashes = peer.peer.certificate_hashes();
    let digests = hashes.iter().map(|hash| {
        let bytes: Vec<&str> = (0..32).map(|i| &hash[2 * i..2 * i + 2]).collect();
        Sha256Digest::from_str_fmt(bytes.join(":"), Sha256DigestFmt::DottedHex).unwrap()
    });
    let config = ClientConfig::builder()
        .with_bind_address(SocketAddr::from((source, 0)))
        .with_server_certificate_hashes(digests)
        .keep_alive_interval(Some(Duration::from_secs(1)))
        .build();
    Session::connect_with(config, peer.peer.web_transport().unwrap(), None).await
}

async fn wait_for_session(source: &str, peer: &TestPeer) -> Session {
    let connecting = async {
        loop {
            if let Ok(session) = connect_from(source, peer).await {
                return session;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TEST_TIMEOUT, connecting).await.expect("a session")
}

/// The number of sessions that the peer refused for this reason.
async fn refused(peer: &TestPeer, reason: &str) -> u64 {
    let name = "antway_peer_refused_connections_total";
    let labels = format!(r#"{{transport="webtransport",reason="{reason}"}}"#);
    peer.metric(&format!("{name}{labels}")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_sessions_over_the_cap_of_their_address() {
    let flags = ["--limit-loopback", "--max-sessions-per-network=2"];
    let peer = TestPeer::start(&flags).await;
    let first = connect_from("127.0.0.3", &peer).await.unwrap();
    let second = connect_from("127.0.0.3", &peer).await.unwrap();
    assert!(connect_from("127.0.0.3", &peer).await.is_err());
    assert_eq!(refused(&peer, "network").await, 1);
    let other = connect_from("127.0.0.4", &peer).await.unwrap();
    for session in [&second, &other] {
        assert!(session.request(&[4]).await.is_ok());
    }
    first.connection.close(0_u32.into(), b"");
    wait_for_session("127.0.0.3", &peer).await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn loopback_sessions_are_exempt_by_default() {
    let flags = [
        "--max-sessions-per-network=1",
        "--max-connections-per-second=1",
    ];
    let peer = TestPeer::start(&flags).await;
    let mut sessions = Vec::new();
    for _ in 0..10 {
        sessions.push(connect_from("127.0.0.3", &peer).await.unwrap());
    }
    for session in &sessions {
        assert!(session.request(&[4]).await.is_ok());
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_a_client_that_opens_sessions_too_often() {
    let flags = ["--limit-loopback", "--max-connections-per-second=1"];
    let peer = TestPeer::start(&flags).await;
    let mut opened = 0;
    while let Ok(session) = connect_from("127.0.0.3", &peer).await {
        session.connection.close(0_u32.into(), b"");
        opened += 1;
        assert!(opened < 100, "no session was refused");
    }
    assert!(opened >= 5, "{opened} sessions in the first seconds");
    assert_eq!(refused(&peer, "rate").await, 1);
    assert!(connect_from("127.0.0.4", &peer).await.is_ok());
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_takes_the_place_of_an_idle_one_of_the_greediest_client() {
    let flags = [
        "--limit-loopback",
        "--max-sessions=4",
        "--max-sessions-per-network=3",
    ];
    let peer = TestPeer::start(&flags).await;
    let modest = connect_from("127.0.0.3", &peer).await.unwrap();
    let mut greedy = Vec::new();
    for _ in 0..3 {
        greedy.push(connect_from("127.0.0.4", &peer).await.unwrap());
    }
    let honest = connect_from("127.0.0.5", &peer).await.unwrap();
    for session in [&modest, &honest] {
        assert!(session.request(&[4]).await.is_ok());
    }
    timeout(TEST_TIMEOUT, greedy[0].connection.closed())
        .await
        .expect("the session that idles longest is closed");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_session_keeps_its_place() {
    let peer = TestPeer::start(&["--max-sessions=1"]).await;
    let large = peer.store_chunk(1, 4 << 20).await;
    let busy = connect_from("127.0.0.3", &peer).await.unwrap();
    // The client does not read the response, so the request stays under way.
    let (mut send, _recv) = busy.stream().await;
    send_all(&mut send, &get_request(&[large.address()])).await;
    send.quic_stream_mut().finish().unwrap();
    let sent = r#"antway_peer_sent_bytes_total{transport="webtransport"}"#;
    peer.wait_for_metric(sent, |n| n > 0).await;
    assert!(connect_from("127.0.0.4", &peer).await.is_err());
    assert_eq!(refused(&peer, "full").await, 1);
    assert!(busy.request(&[4]).await.is_ok());
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unfinished_request_keeps_no_place() {
    let peer = TestPeer::start(&["--max-sessions=1"]).await;
    let hostile = connect_from("127.0.0.3", &peer).await.unwrap();
    let (mut send, _recv) = hostile.stream().await;
    send_all(&mut send, &[1]).await;
    peer.wait_for_metric("antway_peer_streams", |n| n == 1)
        .await;
    let honest = connect_from("127.0.0.4", &peer).await.unwrap();
    assert!(honest.request(&[4]).await.is_ok());
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_do_not_read_give_up_their_places() {
    let flags = [
        "--limit-loopback",
        "--max-sessions=2",
        "--max-sessions-per-network=1",
        "--max-connections-per-second=0",
        "--idle-timeout=600s",
    ];
    let peer = TestPeer::start(&flags).await;
    let stored = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let mut hostile = Vec::new();
    for source in ["127.0.0.3", "127.0.0.4"] {
        let session = connect_from(source, &peer).await.unwrap();
        let (mut send, mut recv) = session.stream().await;
        send_all(&mut send, &get_request(&[stored.address(); 64])).await;
        send.quic_stream_mut().finish().unwrap();
        recv.read_exact(&mut [0; 100]).await.unwrap();
        hostile.push((session, recv));
    }
    assert!(connect_from("127.0.0.5", &peer).await.is_err());
    let honest = wait_for_session("127.0.0.5", &peer).await;
    assert!(honest.request(&[4]).await.is_ok());
    peer.stop().await;
}
