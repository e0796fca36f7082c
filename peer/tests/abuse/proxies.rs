//! Reverse proxies: the limits apply to the real clients, and only trusted proxies can name them.

use crate::client_network::{
    BEHIND_PROXY, authority, connect_from, get_as, get_from, proxy_header,
};
use crate::http::{Response, exchange, get, read_response};
use crate::stub_http_server::{StubHttpServer, StubResponse};
use crate::test_peer::{TEST_TIMEOUT, TestPeer};
use antway_peer::address::Address;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// A peer with metrics for its operator, which name the networks of clients.
async fn start(flags: &[&str]) -> TestPeer {
    TestPeer::start(&[flags, &["--metrics-http=127.0.0.1:0"]].concat()).await
}

/// Sends a request with this header from a loopback address.
async fn get_with(source: &str, peer: &TestPeer, header: (&str, &str)) -> Response {
    let mut stream = connect_from(source, peer).await;
    exchange(
        &mut stream,
        authority(peer),
        "GET",
        "/-/info",
        &[header],
        b"",
    )
    .await
}

/// Sends requests until the peer refuses one.
async fn exceed_rate(source: &str, peer: &TestPeer, header: (&str, &str)) {
    for _ in 0..200 {
        if get_with(source, peer, header).await.status == 429 {
            return;
        }
    }
    panic!("{header:?} is not limited");
}

/// Requests of the network in the last minute.
async fn requests_of(peer: &TestPeer, network: &str) -> u64 {
    let name = format!(r#"antway_peer_network_requests{{network="{network}"}}"#);
    let metrics = get(&peer.peer.metrics_http()[0], "/metrics").await.body;
    let metrics = String::from_utf8(metrics).unwrap();
    let value = metrics.lines().find_map(|line| line.strip_prefix(&name));
    value.map_or(0, |value| value.trim().parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_proxy_names_its_clients() {
    let flags = ["--trusted-proxy=127.0.0.2", "--max-requests-per-second=1"];
    let peer = start(&flags).await;
    let header = "X-Forwarded-For";
    exceed_rate("127.0.0.2", &peer, (header, "203.0.113.7")).await;
    // The client itself may send a part of the header. It comes first and does not help.
    for forged in ["198.51.100.1, 203.0.113.7", "127.0.0.1, 203.0.113.7"] {
        let response = get_with("127.0.0.2", &peer, (header, forged)).await;
        assert_eq!(response.status, 429, "{forged}");
    }
    let other = get_with("127.0.0.2", &peer, (header, "198.51.100.1")).await;
    assert_eq!(other.status, 200);
    assert!(requests_of(&peer, "203.0.113.0/24").await > 5);
    assert_eq!(requests_of(&peer, "198.51.100.0/24").await, 1);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_one_connection_may_have_several_clients() {
    let peer = start(&["--trusted-proxy=127.0.0.2"]).await;
    let mut stream = connect_from("127.0.0.2", &peer).await;
    for client in ["203.0.113.7", "198.51.100.1", "2001:db8::1"] {
        let get = format!(
            "HEAD /-/info HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {client}\r\n\r\n"
        );
        stream.write_all(get.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
    }
    for network in ["203.0.113.0/24", "198.51.100.0/24", "2001:db8::/32"] {
        assert_eq!(requests_of(&peer, network).await, 1, "{network}");
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_a_proxy_gets_only_its_share_of_the_requests_at_a_time() {
    let gate = Arc::new(Semaphore::new(0));
    let silent = StubHttpServer::start({
        let gate = Arc::clone(&gate);
        move |_| StubResponse::new(404, "").gated_by(&gate)
    })
    .await;
    let upstream = format!("--upstream={}", silent.url);
    let flags = [
        &upstream,
        "--trusted-proxy=127.0.0.2",
        "--max-http-connections-per-network=2",
        "--client-wait=60s",
        "--upstream-timeout=60s",
        "--request-timeout=60s",
    ];
    let peer = start(&flags).await;
    let client = |ip| ("X-Forwarded-For", ip);
    let mut waiting = Vec::new();
    for seed in 0..2_u8 {
        let address = Address::of(&[seed]);
        let mut stream = connect_from("127.0.0.2", &peer).await;
        let get = format!(
            "GET /chunk/{address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n"
        );
        stream.write_all(get.as_bytes()).await.unwrap();
        waiting.push(stream);
    }
    silent.wait_for_requests(2).await;
    let third = get_with("127.0.0.2", &peer, client("203.0.113.7")).await;
    assert_eq!((third.status, third.code()), (429, "RATE".to_owned()));
    assert_eq!(third.header("retry-after"), Some("1"));
    // The place is taken also for a client that appends to the header of the proxy's proxy.
    let forged = get_with("127.0.0.2", &peer, client("198.51.100.1, 203.0.113.7")).await;
    assert_eq!(forged.status, 429);
    let other = get_with("127.0.0.2", &peer, client("198.51.100.1")).await;
    assert_eq!(other.status, 200);
    let mut stream = connect_from("127.0.0.2", &peer).await;
    let headers = [client("203.0.113.7")];
    let authority = authority(&peer);
    let health = exchange(&mut stream, authority, "GET", "/-/health", &headers, b"").await;
    assert_eq!(health.status, 200);
    gate.add_permits(1000);
    for stream in &mut waiting {
        assert_eq!(read_response(stream, false).await.status, 404);
    }
    let again = async {
        while get_with("127.0.0.2", &peer, client("203.0.113.7"))
            .await
            .status
            != 200
        {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TEST_TIMEOUT, again).await.expect("free soon");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_cannot_name_another_address() {
    let flags = [
        "--trusted-proxy=127.0.0.2",
        "--limit-loopback",
        "--max-requests-per-second=1",
    ];
    let peer = start(&flags).await;
    exceed_rate("127.0.0.3", &peer, ("X-Forwarded-For", "203.0.113.7")).await;
    let again = get_with("127.0.0.3", &peer, ("X-Forwarded-For", "198.51.100.1")).await;
    assert_eq!(again.status, 429);
    for network in ["203.0.113.0/24", "198.51.100.0/24"] {
        assert_eq!(requests_of(&peer, network).await, 0, "{network}");
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_only_the_chosen_header() {
    let (standard, common) = ("Forwarded", "X-Forwarded-For");
    for (flag, read, ignored) in [
        ("--client-address-header=forwarded", standard, common),
        ("--client-address-header=x-forwarded-for", common, standard),
    ] {
        let peer = start(&["--trusted-proxy=127.0.0.2", flag]).await;
        for name in [read, ignored] {
            let value = match (name, name == read) {
                ("Forwarded", true) => "for=\"203.0.113.7:80\";proto=https",
                ("Forwarded", false) => "for=198.51.100.1",
                (_, true) => "203.0.113.7",
                (_, false) => "198.51.100.1",
            };
            assert_eq!(
                get_with("127.0.0.2", &peer, (name, value)).await.status,
                200
            );
        }
        assert_eq!(requests_of(&peer, "203.0.113.0/24").await, 1, "{flag}");
        assert_eq!(requests_of(&peer, "198.51.100.0/24").await, 0, "{flag}");
        peer.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_protocol_names_the_client_of_a_connection() {
    let flags = [&BEHIND_PROXY[..], &["--max-requests-per-second=1"]].concat();
    let peer = start(&flags).await;
    for client in ["203.0.113.7", "2001:db8:1:2::3"] {
        let mut accepted = 0;
        while get_as(client, &peer, "/-/info").await.status == 200 {
            accepted += 1;
            assert!(accepted < 200, "{client} is not limited");
        }
    }
    assert_eq!(get_as("198.51.100.1", &peer, "/-/info").await.status, 200);
    assert!(requests_of(&peer, "203.0.113.0/24").await > 5);
    assert!(requests_of(&peer, "2001:db8::/32").await > 5);
    assert_eq!(requests_of(&peer, "198.51.100.0/24").await, 1);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_proxy_must_send_the_header_of_the_proxy_protocol() {
    let peer = start(&BEHIND_PROXY).await;
    for bytes in [
        b"GET /-/info HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        b"PROXY TCP4 203.0.113.7 127.0.0.1 1 2\r\nGET / HTTP/1.1\r\n\r\n".to_vec(),
        [&proxy_header("203.0.113.7")[..12], &[0x31; 20]].concat(),
    ] {
        let mut stream = connect_from("127.0.0.2", &peer).await;
        stream.write_all(&bytes).await.unwrap();
        let mut answer = Vec::new();
        // The peer may reset the connection.
        let _ = timeout(TEST_TIMEOUT, stream.read_to_end(&mut answer))
            .await
            .expect("an end soon");
        assert!(answer.is_empty(), "{bytes:?}");
    }
    assert_eq!(get_as("203.0.113.7", &peer, "/-/info").await.status, 200);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ignores_the_proxy_protocol_of_other_clients() {
    let peer = start(&BEHIND_PROXY).await;
    let mut stream = connect_from("127.0.0.3", &peer).await;
    let get = b"GET /-/info HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let bytes = [&proxy_header("203.0.113.7")[..], get].concat();
    stream.write_all(&bytes).await.unwrap();
    assert_eq!(read_response(&mut stream, false).await.status, 400);
    assert_eq!(get_from("127.0.0.3", &peer, "/-/info").await.status, 200);
    assert_eq!(requests_of(&peer, "203.0.113.0/24").await, 0);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_checks_the_peers_health_as_itself() {
    let peer = start(&BEHIND_PROXY).await;
    let mut stream = connect_from("127.0.0.2", &peer).await;
    // The command LOCAL has no addresses.
    let local = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";
    stream.write_all(local).await.unwrap();
    let response = exchange(&mut stream, authority(&peer), "GET", "/-/health", &[], b"").await;
    assert_eq!(response.status, 200);
    peer.stop().await;
}
