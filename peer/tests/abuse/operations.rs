//! The endpoints for operators: metrics, liveness and readiness.

use crate::client_network::{begin_upload, connect_from};
use crate::http::get;
use crate::test_peer::{TEST_TIMEOUT, TestPeer};
use std::fs;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_for_metrics_hides_them_from_the_public() {
    let peer = TestPeer::start(&["--metrics-http=127.0.0.1:0"]).await;
    let chunk = peer.store_chunk(1, 100).await;
    let chunk = format!("/chunk/{}", chunk.address());
    let metrics = peer.peer.metrics_http()[0].clone();
    for (path, public, operator) in [
        ("/metrics", 404, 200),
        ("/-/health", 200, 200),
        ("/-/ready", 200, 200),
        ("/-/info", 200, 404),
        (&chunk, 200, 404),
    ] {
        assert_eq!(peer.get(path).await.status, public, "{path}");
        assert_eq!(get(&metrics, path).await.status, operator, "{path}");
    }
    let text = String::from_utf8(get(&metrics, "/metrics").await.body).unwrap();
    assert!(text.contains("antway_peer_store_chunks 1"), "{text}");
    let network = r#"antway_peer_network_requests{network="127.0.0.0/24"}"#;
    assert!(text.contains(network), "{text}");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn public_metrics_name_no_client_networks() {
    let peer = TestPeer::start(&[]).await;
    assert!(peer.peer.metrics_http().is_empty());
    let response = peer.get("/metrics").await;
    let text = String::from_utf8(response.body).unwrap();
    assert_eq!(response.status, 200);
    assert!(
        text.ends_with("# EOF\n") && !text.contains("127.0.0"),
        "{text}"
    );
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_listener_for_metrics_answers_while_clients_exceed_all_limits() {
    let flags = [
        "--metrics-http=127.0.0.1:0",
        "--limit-loopback",
        "--max-requests-per-second=1",
        "--max-connections-per-second=1",
    ];
    let peer = TestPeer::start(&flags).await;
    let mut refused = 0;
    while peer.get("/-/info").await.status == 200 {
        refused += 1;
        assert!(refused < 200, "no request was refused");
    }
    let metrics = peer.peer.metrics_http()[0].clone();
    for _ in 0..50 {
        assert_eq!(get(&metrics, "/metrics").await.status, 200);
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn is_not_ready_while_the_store_is_not_writable() {
    let folder = TempDir::new().unwrap();
    let temporary = folder.path().join("store").join("temporary");
    let peer = TestPeer::start_in(folder, &[]).await;
    fs::remove_dir(&temporary).unwrap();
    let response = peer.get("/-/ready").await;
    let text = String::from_utf8(response.body).unwrap();
    assert_eq!(response.status, 503, "{text}");
    assert_eq!(text, r#"{"status":"store_not_writable"}"#);
    assert_eq!(peer.get("/-/health").await.status, 200, "the peer is alive");
    fs::create_dir(&temporary).unwrap();
    let recovered = async {
        while peer.get("/-/ready").await.status != 200 {
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(TEST_TIMEOUT, recovered).await.expect("ready again");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn is_not_ready_while_it_stops() {
    let flags = [
        "--metrics-http=127.0.0.1:0",
        "--allow-open-writes",
        "--shutdown-grace=60s",
    ];
    let peer = TestPeer::start(&flags).await;
    let metrics = peer.peer.metrics_http()[0].clone();
    assert_eq!(get(&metrics, "/-/ready").await.status, 200);
    let mut upload = connect_from("127.0.0.1", &peer).await;
    begin_upload(&mut upload).await;
    let connections = async {
        let open = "antway_peer_http_connections 1";
        while !String::from_utf8(get(&metrics, "/metrics").await.body)
            .unwrap()
            .lines()
            .any(|line| line == open)
        {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TEST_TIMEOUT, connections).await.expect("an upload");
    let stopping = tokio::spawn(peer.stop());
    let seen = async {
        loop {
            let response = get(&metrics, "/-/ready").await;
            if response.status == 503 {
                return String::from_utf8(response.body).unwrap();
            }
        }
    };
    let text = timeout(TEST_TIMEOUT, seen).await.expect("not ready soon");
    assert_eq!(text, r#"{"status":"stopping"}"#);
    assert_eq!(get(&metrics, "/-/health").await.status, 200);
    assert_eq!(get(&metrics, "/metrics").await.status, 200);
    drop(upload);
    timeout(TEST_TIMEOUT, stopping)
        .await
        .expect("an end soon")
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metrics_tell_when_the_certificate_expires() {
    let peer = TestPeer::start(&["--certificate-lifetime=1h"]).await;
    let name = "antway_peer_certificate_expiry_timestamp_seconds";
    let expires = peer.metric(name).await;
    let info = peer.info().await;
    let expected = info["webTransport"]["certificateExpires"].as_str().unwrap();
    let expected = time::OffsetDateTime::from_unix_timestamp(expires as i64)
        .unwrap()
        .format(&time::format_description::well_known::Rfc3339)
        .is_ok_and(|text| text == expected);
    assert!(expected, "{expires}");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metrics_tell_how_often_the_store_spares_a_request_to_an_upstream() {
    let upstream = TestPeer::start(&[]).await;
    let chunk = upstream.store_chunk(1, 1000).await;
    let path = format!("/chunk/{}", chunk.address());
    let flag = format!("--upstream={}", upstream.peer.http());
    let peer = TestPeer::start(&[&flag]).await;
    let lookups = |result: &str| format!("antway_peer_cache_lookups_total{{result=\"{result}\"}}");
    assert_eq!(peer.get(&path).await.status, 200);
    peer.wait_for_metric("antway_peer_store_chunks", |n| n == 1)
        .await;
    assert_eq!(peer.metric(&lookups("miss")).await, 1);
    assert_eq!(peer.metric(&lookups("hit")).await, 0);
    for _ in 0..3 {
        assert_eq!(peer.get(&path).await.status, 200);
    }
    assert_eq!(peer.metric(&lookups("miss")).await, 1);
    assert_eq!(peer.metric(&lookups("hit")).await, 3);
    peer.stop().await;
    upstream.stop().await;
}
