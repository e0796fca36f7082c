//! The rotation of self-signed certificates.

use crate::session::Session;
use crate::test_peer::{TEST_TIMEOUT, TestPeer};
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_the_next_hash_connects_after_the_rotation() {
    let peer = TestPeer::start(&["--certificate-lifetime=12s"]).await;
    let url = peer.peer.web_transport().unwrap();
    let before = peer.peer.certificate_hashes();
    assert_eq!(before.len(), 2);
    let live = Session::connect(url, &before[..1], None).await.unwrap();
    assert!(
        Session::connect(url, &before[1..], None).await.is_err(),
        "the next certificate is not in use yet"
    );

    let started = Instant::now();
    while peer.peer.certificate_hashes()[0] != before[1] {
        assert!(started.elapsed() < TEST_TIMEOUT, "no rotation");
        sleep(Duration::from_millis(50)).await;
    }
    let after = peer.peer.certificate_hashes();
    assert!(
        !before.contains(&after[1]),
        "there is a new next certificate"
    );
    let info: Vec<String> =
        serde_json::from_value(peer.info().await["webTransport"]["certificateHashes"].clone())
            .unwrap();
    assert_eq!(info, after);

    assert!(
        Session::connect(url, &before, None).await.is_ok(),
        "the client pinned both"
    );
    assert!(Session::connect(url, &before[..1], None).await.is_err());
    assert!(
        live.request(&[4]).await.is_ok(),
        "an existing session continues"
    );
    let folder = peer.stop().await;

    let peer = TestPeer::start_in(folder, &[]).await;
    let hashes = peer.peer.certificate_hashes();
    assert!(
        hashes.contains(&after[0]) || hashes.contains(&after[1]),
        "the certificates survive a restart"
    );
    peer.stop().await;
}
