//! Pointer records of upstreams.

use crate::http::get;
use crate::stub_http_server::{StubHttpServer, StubResponse};
use crate::test_peer::TestPeer;
use crate::upstream::upstream;
use antway_peer::address::Address;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

#[tokio::test(flavor = "multi_thread")]
async fn returns_the_newest_pointer_of_all_upstreams() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/self-encryption");
    let record = |name: &str| fs::read(fixtures.join(name)).unwrap();
    let address = Address::from(blake3::derive_key(
        "autonomi.pointer.address.v1",
        &record("pointer-s1-c0.bin")[1..1953],
    ));
    let mut servers = Vec::new();
    for name in [
        "pointer-s1-c0.bin",
        "pointer-s1-c7.bin",
        "pointer-s2-c3.bin",
    ] {
        let record = record(name);
        servers.push(StubHttpServer::start(move |_| StubResponse::new(200, record.clone())).await);
    }
    let flags: Vec<_> = servers.iter().map(|server| upstream(&server.url)).collect();
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let peer = TestPeer::start(&flags).await;
    let response = peer.get(&format!("/pointer/{address}")).await;
    assert!(response.body == record("pointer-s1-c7.bin"));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let heads = servers[0].request_heads();
    assert!(heads[0].starts_with(&format!("GET /pointer/{address} ")));
    let other = get(peer.peer.http(), &format!("/pointer/{}", Address::of(b"x"))).await;
    assert_eq!(other.status, 404);
    let alone = TestPeer::start(&[]).await;
    assert_eq!(alone.get(&format!("/pointer/{address}")).await.status, 404);
    peer.stop().await;
    alone.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compares_the_stored_pointer_with_those_of_upstreams() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/self-encryption");
    let record =
        |counter: u8| fs::read(fixtures.join(format!("pointer-s1-c{counter}.bin"))).unwrap();
    let owner = &record(0)[1..1953];
    let address = Address::from(blake3::derive_key("autonomi.pointer.address.v1", owner));
    for (own, others, newest) in [(0, 7, 7), (7, 0, 7), (7, 7, 7)] {
        let answer = record(others);
        let server = StubHttpServer::start(move |_| StubResponse::new(200, answer.clone())).await;
        let folder = TempDir::new().unwrap();
        let pointers = folder.path().join("store/pointers");
        fs::create_dir_all(&pointers).unwrap();
        fs::write(pointers.join(address.to_string()), record(own)).unwrap();
        let flags = [&upstream(&server.url), "--pointer-lifetime=1ms"];
        let peer = TestPeer::start_in(folder, &flags).await;
        let path = format!("/pointer/{address}");
        assert!(
            peer.get(&path).await.body == record(newest),
            "{own}, {others}"
        );
        // The peer remembers the newest pointer while it runs, and does not store it.
        drop(server);
        assert!(peer.get(&path).await.body == record(newest), "{own} alone");
        let folder = peer.stop().await;
        let restarted = TestPeer::start_in(folder, &[]).await;
        assert!(restarted.get(&path).await.body == record(own));
        restarted.stop().await;
    }
}
