//! Reading pointers from the network, and not from the peer's own store. The network is a stub; `test:network` has the real
//! one.

use crate::http::{Response, request};
use crate::paid_uploads::{CHAIN, StubNetwork, address, count, quotes, refusal, start};
use crate::pointer_writes::Owner;
use crate::test_peer::TestPeer;
use antway_peer::limits::MAX_NETWORK_READS;
use antway_peer::paid_uploads::ReadError;
use antway_peer::source::{ChunkSource, PutPointerOutcome};
use futures_util::FutureExt;
use futures_util::future::join_all;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::sleep;

fn path_of(owner: &Owner) -> String {
    format!("/network/pointer/{}", owner.address())
}

fn network_with(record: Vec<u8>) -> StubNetwork {
    StubNetwork {
        pointer: Some(record).into(),
        ..StubNetwork::default()
    }
}

fn silent_network() -> StubNetwork {
    StubNetwork {
        is_silent: true,
        ..StubNetwork::default()
    }
}

async fn head(peer: &TestPeer, path: &str) -> Response {
    request(peer.peer.http(), "HEAD", path, &[], b"").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_of_the_peer_is_not_the_network() {
    let owner = Owner::new(1);
    let (stored, newer) = (owner.sign(3, 0, 3), owner.sign(4, 0, 4));
    let (peer, network) = start(StubNetwork::default(), &[CHAIN, "--allow-origin=*"]).await;
    let storing = peer
        .store
        .put_pointer(owner.address(), stored.clone().into());
    assert_eq!(storing.await.unwrap(), PutPointerOutcome::Stored);
    let own = peer.get(&format!("/pointer/{}", owner.address())).await;
    assert!(own.body == stored);
    let path = path_of(&owner);
    let absent = (404, "NOT_FOUND".to_owned());
    assert_eq!(refusal(&peer.get(&path).await), absent);
    assert_eq!(head(&peer, &path).await.status, 404);

    *network.pointer.lock().unwrap() = Some(newer.clone());
    let response = peer.get(&path).await;
    assert_eq!(response.status, 200);
    assert!(response.body == newer);
    for (name, value) in [
        ("cache-control", "no-store"),
        ("content-type", "application/octet-stream"),
        ("x-content-type-options", "nosniff"),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(response.header(name), Some(value), "{name}");
        assert_eq!(own.header(name), Some(value), "{name}");
    }
    let response = head(&peer, &path).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-length"), Some("5303"));
    // A read of the network changes nothing in the store.
    let own = peer.get(&format!("/pointer/{}", owner.address())).await;
    assert!(own.body == stored);
}

#[tokio::test(flavor = "multi_thread")]
async fn asks_no_node_for_a_wrong_or_a_denied_address() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("deny.txt");
    fs::write(&file, address(66)).unwrap();
    let deny = format!("--deny-file={}", file.display());
    let (peer, network) = start(StubNetwork::default(), &[CHAIN, &deny]).await;
    let long = "a".repeat(1000);
    for bad in [
        "zz",
        &address(171).to_uppercase(),
        &address(5)[1..],
        &format!("{}5", address(5)),
        &format!("{}/", address(5)),
        &format!("../{}", address(5)),
        "%00",
        &long,
    ] {
        let response = peer.get(&format!("/network/pointer/{bad}")).await;
        assert_eq!(refusal(&response), (400, "BAD_ADDRESS".to_owned()), "{bad}");
    }
    let denied = peer.get(&format!("/network/pointer/{}", address(66))).await;
    assert_eq!(refusal(&denied), (451, "DENIED".to_owned()));
    let path = format!("/network/pointer/{}", address(5));
    for method in ["POST", "DELETE"] {
        let headers = [("Content-Length", "0")];
        let response = request(peer.peer.http(), method, &path, &headers, b"").await;
        assert_eq!(refusal(&response), (405, "METHOD".to_owned()), "{method}");
    }
    assert_eq!(network.asked.load(Ordering::Relaxed), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn does_not_serve_what_the_owner_did_not_sign() {
    let owner = Owner::new(1);
    let signed = owner.sign(3, 0, 3);
    let mut forged = signed.clone();
    forged[5000] ^= 1;
    let (peer, network) = start(StubNetwork::default(), &[CHAIN]).await;
    for lie in [
        forged,
        Owner::new(2).sign(3, 0, 3),
        vec![],
        signed[..5302].to_vec(),
        [&signed[..], &[0]].concat(),
        vec![1; 5_000_000],
    ] {
        *network.pointer.lock().unwrap() = Some(lie);
        let response = peer.get(&path_of(&owner)).await;
        // Not "absent": nothing is known about the pointer.
        assert_eq!(refusal(&response), (503, "SHORTFALL".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tells_an_absent_pointer_from_a_network_that_does_not_answer() {
    let owner = Owner::new(1);
    let (peer, network) = start(network_with(owner.sign(0, 0, 1)), &[CHAIN]).await;
    for (error, code) in [
        (ReadError::Shortfall, "SHORTFALL"),
        (ReadError::Disconnected, "DISCONNECTED"),
    ] {
        *network.read_error.lock().unwrap() = Some(error);
        let response = peer.get(&path_of(&owner)).await;
        assert_eq!(refusal(&response), (503, code.to_owned()));
        assert_eq!(response.header("retry-after"), Some("1"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn says_how_many_nodes_have_the_state() {
    let owner = Owner::new(1);
    let (peer, _) = start(network_with(owner.sign(3, 0, 3)), &[CHAIN]).await;
    let path = path_of(&owner);
    for response in [peer.get(&path).await, head(&peer, &path).await] {
        assert_eq!(response.header("antway-holding-nodes"), Some("3"));
        assert_eq!(response.header("antway-other-nodes"), Some("2"));
    }
    let of_page = [("Origin", "http://localhost:5173")];
    let response = request(peer.peer.http(), "GET", &path, &of_page, b"").await;
    let exposed = response.header("access-control-expose-headers").unwrap();
    assert!(exposed.contains("Antway-Holding-Nodes, Antway-Other-Nodes"));
    // The peer's own store is no node.
    let own = peer.get(&format!("/pointer/{}", owner.address())).await;
    assert_eq!(own.header("antway-holding-nodes"), None);
}

/// Reads, and runs `meanwhile` once so many reads were refused. The others still wait for the network.
async fn with_readers<T>(
    peer: &TestPeer,
    readers: usize,
    refusals: usize,
    meanwhile: impl Future<Output = T>,
) -> T {
    let path = format!("/network/pointer/{}", address(5));
    let refused = AtomicUsize::new(0);
    let asking = (0..readers).map(|_| {
        peer.get(&path).map(|response| {
            assert_eq!(refusal(&response), (503, "BUSY".to_owned()));
            count(&refused);
        })
    });
    let waiting = async {
        while refused.load(Ordering::Relaxed) < refusals {
            sleep(Duration::from_millis(10)).await;
        }
        meanwhile.await
    };
    tokio::select! {
        _ = join_all(asking) => panic!("the network is silent"),
        done = waiting => done,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_of_a_silent_network_have_few_places_and_delay_no_upload() {
    let network = StubNetwork {
        hides_pointers: true,
        ..StubNetwork::default()
    };
    // One place for uploads.
    let flags = [CHAIN, "--max-chunks-in-memory=4", "--request-timeout=1s"];
    let (peer, network) = start(network, &flags).await;
    let stored = peer.store_chunk(1, 1000).await;
    let meanwhile = async {
        assert_eq!(network.asked.load(Ordering::Relaxed), MAX_NETWORK_READS);
        let path = format!("/chunk/{}", stored.address());
        assert_eq!(peer.get(&path).await.status, 200);
        let body = format!(r#"{{"records":[{{"address":"{}","size":5}}]}}"#, address(5));
        assert_eq!(quotes(&peer, &body).await.status, 200);
    };
    with_readers(&peer, MAX_NETWORK_READS + 3, 3, meanwhile).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_client_network_leaves_reads_to_others() {
    let flags = [CHAIN, "--limit-loopback", "--request-timeout=1s"];
    let (peer, network) = start(silent_network(), &flags).await;
    let half = MAX_NETWORK_READS / 2;
    let meanwhile = async { assert_eq!(network.asked.load(Ordering::Relaxed), half) };
    with_readers(&peer, half + 2, 2, meanwhile).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_read_counts_for_the_rates_of_its_client() {
    let owner = Owner::new(1);
    let path = path_of(&owner);
    // A client may save up the requests and the bytes of five seconds.
    for (limit, answers) in [
        ("--max-requests-per-second=1", 5),
        ("--max-bytes-per-second=1kB", 1),
    ] {
        let flags = [CHAIN, "--limit-loopback", limit];
        let (peer, network) = start(network_with(owner.sign(0, 0, 1)), &flags).await;
        for _ in 0..answers {
            assert_eq!(peer.get(&path).await.status, 200, "{limit}");
        }
        let refused = refusal(&peer.get(&path).await);
        assert_eq!(refused, (429, "RATE".to_owned()), "{limit}");
        assert_eq!(network.asked.load(Ordering::Relaxed), answers);
    }
}

/// A page of another site can show a picture with this URL. The browser names no origin then.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_another_site_without_an_origin_is_refused() {
    let owner = Owner::new(1);
    let (peer, _) = start(network_with(owner.sign(3, 0, 3)), &[CHAIN]).await;
    for (site, status) in [
        ("cross-site", 403),
        ("same-site", 403),
        ("same-origin", 200),
        ("none", 200),
    ] {
        let headers = [("Sec-Fetch-Site", site)];
        let response = request(peer.peer.http(), "GET", &path_of(&owner), &headers, b"").await;
        assert_eq!(response.status, status, "{site}");
    }
    peer.stop().await;
}
