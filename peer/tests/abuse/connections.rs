//! Clients that open many HTTP connections.

use crate::client_network::{
    BEHIND_PROXY, authority, begin_upload, connect_as, connect_from, get_as, get_from, refusal,
};
use crate::http::exchange;
use crate::test_peer::{TEST_TIMEOUT, TestPeer};
use antway_peer::limits::MAX_CHUNK_BYTES;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Whether the peer leaves this connection without requests open for a while.
async fn stays_open(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    let reading = stream.read(&mut byte);
    timeout(Duration::from_millis(100), reading).await.is_err()
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_of_one_client_do_not_stop_another() {
    let peer = TestPeer::start(&BEHIND_PROXY).await;
    let chunk = peer.store_chunk(1, 1000).await;
    let path = format!("/chunk/{}", chunk.address());
    let mut hostile = Vec::new();
    for _ in 0..1024 {
        let mut stream = connect_as("203.0.113.1", &peer).await;
        // Keep only the connections that the peer keeps. Others would use up the files of this process.
        if timeout(Duration::from_millis(1), stream.read(&mut [0]))
            .await
            .is_err()
        {
            hostile.push(stream);
        }
    }
    let refused = r#"antway_peer_refused_connections_total{transport="http",reason="#;
    let refused_by_cap = peer.metric(&format!("{refused}\"network\"}}")).await;
    let refused_by_rate = peer.metric(&format!("{refused}\"rate\"}}")).await;
    assert!(
        refused_by_cap + refused_by_rate > 512,
        "{refused_by_cap} by the cap, {refused_by_rate} by the rate"
    );
    for path in [&*path, "/-/health"] {
        assert_eq!(get_as("198.51.100.1", &peer, path).await.status, 200);
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_connections_take_the_place_of_idle_ones() {
    let flags = [
        &BEHIND_PROXY[..],
        &[
            "--max-http-connections=64",
            "--max-http-connections-per-network=64",
            "--max-connections-per-second=0",
        ],
    ];
    let peer = TestPeer::start(&flags.concat()).await;
    let mut modest = connect_as("198.51.100.1", &peer).await;
    let get = "GET /-/info HTTP/1.1\r\nHost: localhost\r\n\r\n";
    modest.write_all(get.as_bytes()).await.unwrap();
    modest.read_exact(&mut [0; 12]).await.unwrap();
    let mut hostile = Vec::new();
    for _ in 0..100 {
        hostile.push(connect_as("203.0.113.1", &peer).await);
    }
    for _ in 0..20 {
        assert_eq!(get_as("192.0.2.1", &peer, "/-/info").await.status, 200);
    }
    modest.write_all(get.as_bytes()).await.unwrap();
    modest
        .read_exact(&mut [0; 12])
        .await
        .expect("the network with few connections keeps them");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_connections_over_the_cap_of_their_address() {
    let flags = ["--limit-loopback", "--max-http-connections-per-network=2"];
    let peer = TestPeer::start(&flags).await;
    let mut held = [
        connect_from("127.0.0.3", &peer).await,
        connect_from("127.0.0.3", &peer).await,
    ];
    for stream in &mut held {
        assert!(stays_open(stream).await);
    }
    let mut third = connect_from("127.0.0.3", &peer).await;
    assert_eq!(refusal(&mut third).await, (429, "RATE".to_owned()));
    assert_eq!(get_from("127.0.0.4", &peer, "/-/info").await.status, 200);
    let name = r#"antway_peer_refused_connections_total{transport="http",reason="network"}"#;
    assert_eq!(peer.metric(name).await, 1);

    drop(held);
    let again = async {
        loop {
            let mut stream = connect_from("127.0.0.3", &peer).await;
            if stays_open(&mut stream).await {
                break;
            }
        }
    };
    timeout(TEST_TIMEOUT, again)
        .await
        .expect("a free slot soon");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn loopback_is_exempt_by_default() {
    let flags = [
        "--max-http-connections-per-network=1",
        "--max-connections-per-second=1",
    ];
    let peer = TestPeer::start(&flags).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(connect_from("127.0.0.3", &peer).await);
    }
    assert_eq!(get_from("127.0.0.3", &peer, "/-/info").await.status, 200);
    for stream in &mut held {
        assert!(stays_open(stream).await);
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_48_gets_twice_the_connections_of_a_64() {
    let flags = [&BEHIND_PROXY[..], &["--max-http-connections-per-network=2"]];
    let peer = TestPeer::start(&flags.concat()).await;
    let mut held = Vec::new();
    for (client, is_served) in [
        ("2001:db8:1:1::1", true),
        ("2001:db8:1:1::2", true),
        ("2001:db8:1:1::3", false),
        ("2001:db8:1:2::1", true),
        ("2001:db8:1:3::1", true),
        ("2001:db8:1:4::1", false),
        ("2001:db8:2:1::1", true),
    ] {
        let mut stream = connect_as(client, &peer).await;
        if is_served {
            assert!(stays_open(&mut stream).await, "{client}");
            held.push(stream);
        } else {
            let refusal = refusal(&mut stream).await;
            assert_eq!(refusal, (429, "RATE".to_owned()), "{client}");
        }
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_a_client_that_connects_too_often() {
    let flags = ["--limit-loopback", "--max-connections-per-second=1"];
    let peer = TestPeer::start(&flags).await;
    let mut connected = 0;
    loop {
        let mut stream = connect_from("127.0.0.3", &peer).await;
        if !stays_open(&mut stream).await {
            break;
        }
        connected += 1;
        assert!(connected < 100, "no connection was refused");
    }
    assert!(
        connected >= 5,
        "{connected} connections in the first seconds"
    );
    assert_eq!(get_from("127.0.0.4", &peer, "/-/info").await.status, 200);
    let name = r#"antway_peer_refused_connections_total{transport="http",reason="rate"}"#;
    assert_eq!(peer.metric(name).await, 1);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_connections_of_all_clients_per_second() {
    let flags = [&BEHIND_PROXY[..], &["--max-total-connections-per-second=2"]];
    let peer = TestPeer::start(&flags.concat()).await;
    let mut served = 0;
    let refused = loop {
        let client = format!("203.0.113.{}", served + 1);
        let response = get_as(&client, &peer, "/-/info").await;
        if response.status != 200 {
            break response;
        }
        served += 1;
        assert!(served < 200, "no connection was refused");
    };
    assert_eq!((refused.status, refused.code()), (503, "BUSY".to_owned()));
    assert!(served >= 10, "{served} connections in the first seconds");
    let health = get_from("127.0.0.1", &peer, "/-/health").await;
    assert_eq!(health.status, 200, "the operator's checks do not count");
    let name = r#"antway_peer_refused_connections_total{transport="http",reason="total_rate"}"#;
    assert_eq!(peer.metric(name).await, 1);
    let again = async {
        while get_as("198.51.100.1", &peer, "/-/info").await.status != 200 {
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(TEST_TIMEOUT, again).await.expect("new ones soon");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_do_not_read_give_up_their_places() {
    let flags = [
        &BEHIND_PROXY[..],
        &[
            "--max-http-connections=8",
            "--max-http-connections-per-network=2",
            "--idle-timeout=600s",
        ],
    ];
    let peer = TestPeer::start(&flags.concat()).await;
    let stored = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let get = format!(
        "GET /chunk/{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        stored.address()
    );
    // Four /48 hold all places, and none of them many more than others.
    let mut hostile = Vec::new();
    for site in 1..=4 {
        for _ in 0..2 {
            let mut stream = connect_as(&format!("2001:db8:{site}:1::1"), &peer).await;
            // More than the buffers of the system.
            stream.write_all(get.repeat(8).as_bytes()).await.unwrap();
            stream.read_exact(&mut [0; 100]).await.unwrap();
            hostile.push(stream);
        }
    }
    assert_eq!(get_as("198.51.100.1", &peer, "/-/info").await.status, 503);
    let honest = async {
        while get_as("198.51.100.1", &peer, "/-/info").await.status != 200 {
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(TEST_TIMEOUT, honest).await.expect("a place soon");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_health_checks_while_all_connections_are_busy() {
    let flags = ["--max-http-connections=4", "--allow-open-writes"];
    let peer = TestPeer::start(&flags).await;
    let mut busy = Vec::new();
    let overloaded = async {
        while get_from("127.0.0.1", &peer, "/-/info").await.status != 503 {
            // A request may take the place of an upload whose head has not arrived yet.
            let mut stream = connect_from("127.0.0.1", &peer).await;
            begin_upload(&mut stream).await;
            busy.push(stream);
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TEST_TIMEOUT, overloaded).await.expect("busy soon");
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(connect_from("127.0.0.1", &peer).await);
    }
    let health = get_from("127.0.0.1", &peer, "/-/health").await;
    assert_eq!(health.status, 200);
    let info = get_from("127.0.0.1", &peer, "/-/info").await;
    assert_eq!((info.status, info.code()), (503, "BUSY".to_owned()));
    assert_eq!(info.header("retry-after"), Some("1"));

    drop(busy);
    let recovered = async {
        while get_from("127.0.0.1", &peer, "/-/info").await.status != 200 {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TEST_TIMEOUT, recovered).await.expect("free soon");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_sends_its_head_slowly_counts_as_idle() {
    let peer = TestPeer::start(&["--max-http-connections=2"]).await;
    let mut slow = Vec::new();
    for _ in 0..2 {
        let mut stream = connect_from("127.0.0.1", &peer).await;
        stream.write_all(b"GET /-/info HT").await.unwrap();
        slow.push(stream);
    }
    let mut honest = connect_from("127.0.0.1", &peer).await;
    let response = exchange(&mut honest, authority(&peer), "GET", "/-/info", &[], b"").await;
    assert_eq!(response.status, 200);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_body_that_is_not_read_ends_the_connection() {
    let peer = TestPeer::start(&[]).await;
    for start in ["HEAD /-/health", "GET /-/info", "POST /-/ready"] {
        let mut stream = TcpStream::connect(authority(&peer)).await.unwrap();
        let request = format!("{start} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx");
        stream
            .write_all(request.repeat(100).as_bytes())
            .await
            .unwrap();
        let mut answers = Vec::new();
        // The system may tell that the rest was not read.
        let _ = timeout(TEST_TIMEOUT, stream.read_to_end(&mut answers))
            .await
            .unwrap();
        let answers = String::from_utf8_lossy(&answers);
        assert_eq!(answers.matches("HTTP/1.1 ").count(), 1, "{answers}");
        assert!(answers.starts_with("HTTP/1.1 400 "), "{answers}");
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_others_may_understand_in_another_way_ends_the_connection() {
    let peer = TestPeer::start(&[]).await;
    let path = format!("/chunk/{}", "0".repeat(64));
    for (fields, status) in [
        ("Transfer-Encoding: chunked\r\n", 403),
        ("Transfer-Encoding: Chunked\r\n", 403),
        // The peer reads by `Transfer-Encoding`, and answers no further request.
        ("Content-Length: 9\r\nTransfer-Encoding: chunked\r\n", 403),
        ("Transfer-Encoding: chunked\r\nContent-Length: 9\r\n", 403),
        ("Transfer-Encoding: chunked, chunked\r\n", 400),
        ("Transfer-Encoding: gzip, chunked\r\n", 400),
        (
            "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
            400,
        ),
        ("Transfer-Encoding: xchunked\r\n", 400),
        ("Transfer-Encoding: chunked\r\nHost: localhost\r\n", 400),
    ] {
        let mut stream = TcpStream::connect(authority(&peer)).await.unwrap();
        let next = "GET /-/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let request =
            format!("PUT {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n0\r\n\r\n{next}");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answers = Vec::new();
        // The system may tell that the rest was not read.
        let _ = timeout(TEST_TIMEOUT, stream.read_to_end(&mut answers))
            .await
            .unwrap();
        let answers = String::from_utf8_lossy(&answers);
        let goes_on = fields.lines().count() == 1 && status == 403;
        assert!(
            answers.starts_with(&format!("HTTP/1.1 {status} ")),
            "{fields}: {answers}"
        );
        assert_eq!(
            answers.matches("HTTP/1.1 ").count(),
            1 + usize::from(goes_on),
            "{fields}: {answers}"
        );
    }
    peer.stop().await;
}
