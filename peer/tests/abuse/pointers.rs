//! Requests for pointers, of which each could become a request to every upstream.

use crate::stub_http_server::{StubHttpServer, StubResponse};
use crate::test_peer::TestPeer;
use antway_peer::address::Address;
use futures_util::future::join_all;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::sleep;

fn record(counter: u8) -> Vec<u8> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/self-encryption");
    fs::read(fixtures.join(format!("pointer-s1-c{counter}.bin"))).unwrap()
}

fn path() -> String {
    let owner = blake3::derive_key("autonomi.pointer.address.v1", &record(0)[1..1953]);
    format!("/pointer/{}", Address::from(owner))
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_for_a_pointer_become_one_request_to_each_upstream() {
    let gate = Arc::new(Semaphore::new(0));
    let mut upstreams = Vec::new();
    for counter in [0, 7] {
        let gate = Arc::clone(&gate);
        let answer = move |_: &str| StubResponse::new(200, record(counter)).gated_by(&gate);
        upstreams.push(StubHttpServer::start(answer).await);
    }
    let flags: Vec<_> = upstreams
        .iter()
        .map(|server| format!("--upstream={}", server.url))
        .collect();
    let peer = TestPeer::start(&[&flags[0], &flags[1], "--pointer-lifetime=60s"]).await;
    let asking = join_all((0..50).map(|_| async { peer.get(&path()).await }));
    let opening = async {
        for upstream in &upstreams {
            upstream.wait_for_requests(1).await;
        }
        gate.add_permits(1000);
    };
    let (responses, ()) = tokio::join!(asking, opening);
    for response in responses {
        assert!(response.status == 200 && response.body == record(7));
    }
    assert!(peer.get(&path()).await.body == record(7));
    for upstream in &upstreams {
        assert_eq!(upstream.request_heads().len(), 1);
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_requests_for_a_pointer_that_does_not_exist_become_one() {
    let upstream = StubHttpServer::start(|_| StubResponse::new(404, "")).await;
    let flag = format!("--upstream={}", upstream.url);
    let peer = TestPeer::start(&[&flag, "--pointer-lifetime=60s"]).await;
    for _ in 0..20 {
        assert_eq!(peer.get(&path()).await.status, 404);
    }
    assert_eq!(upstream.request_heads().len(), 1);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pointer_that_its_owner_did_not_sign_is_not_passed_on() {
    let mut forged = record(7);
    forged[1960] = 8;
    let liar = StubHttpServer::start(move |_| StubResponse::new(200, forged.clone())).await;
    let honest = StubHttpServer::start(|_| StubResponse::new(200, record(0))).await;
    let flags = [&liar, &honest].map(|server| format!("--upstream={}", server.url));
    let peer = TestPeer::start(&[&flags[0], &flags[1]]).await;
    assert!(peer.get(&path()).await.body == record(0));
    let alone = TestPeer::start(&[&flags[0]]).await;
    assert_eq!(alone.get(&path()).await.status, 404);
    peer.stop().await;
    alone.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_cannot_bring_an_older_pointer_back() {
    let newest = Arc::new(Semaphore::new(1));
    let upstream = StubHttpServer::start({
        let newest = Arc::clone(&newest);
        // The first answer is the newest record.
        move |_| match newest.try_acquire() {
            Ok(permit) => {
                permit.forget();
                StubResponse::new(200, record(7))
            }
            Err(_) => StubResponse::new(200, record(0)),
        }
    })
    .await;
    let flag = format!("--upstream={}", upstream.url);
    let peer = TestPeer::start(&[&flag, "--pointer-lifetime=1ms"]).await;
    assert!(peer.get(&path()).await.body == record(7));
    while upstream.request_heads().len() < 2 {
        sleep(Duration::from_millis(5)).await;
        assert!(peer.get(&path()).await.body == record(7));
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_lookup_of_a_pointer_continues_after_the_client_got_busy() {
    let gate = Arc::new(Semaphore::new(0));
    let upstream = StubHttpServer::start({
        let gate = Arc::clone(&gate);
        move |_| StubResponse::new(200, record(7)).gated_by(&gate)
    })
    .await;
    let flag = format!("--upstream={}", upstream.url);
    let flags = [&flag, "--client-wait=200ms", "--pointer-lifetime=60s"];
    let peer = TestPeer::start(&flags).await;
    let response = peer.get(&path()).await;
    assert_eq!((response.status, response.code()), (503, "BUSY".to_owned()));
    assert_eq!(response.header("retry-after"), Some("2"));
    gate.add_permits(1);
    while peer.get(&path()).await.status != 200 {
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(upstream.request_heads().len(), 1);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_for_absent_pointers_do_not_bring_an_older_one_back() {
    let newest = Arc::new(Semaphore::new(1));
    let upstream = StubHttpServer::start({
        let newest = Arc::clone(&newest);
        move |asked| match (asked == path(), newest.try_acquire()) {
            (false, _) => StubResponse::new(404, ""),
            (true, Ok(permit)) => {
                permit.forget();
                StubResponse::new(200, record(7))
            }
            (true, Err(_)) => StubResponse::new(200, record(0)),
        }
    })
    .await;
    let flag = format!("--upstream={}", upstream.url);
    let peer = TestPeer::start(&[&flag, "--pointer-lifetime=1ms"]).await;
    assert!(peer.get(&path()).await.body == record(7));
    for n in 0..1100 {
        let absent = format!(
            "/pointer/{}",
            Address::from(*blake3::hash(&[n as u8, (n >> 8) as u8]).as_bytes())
        );
        assert_eq!(peer.get(&absent).await.status, 404);
    }
    assert!(peer.get(&path()).await.body == record(7));
    peer.stop().await;
}
