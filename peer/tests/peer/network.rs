//! The Autonomi network as a source. `pnpm test:network` has the tests with real nodes.

use crate::test_peer::TestPeer;

#[tokio::test]
async fn a_peer_without_a_network_does_not_report_one() {
    for flags in [&[][..], &["--network=none"]] {
        let peer = TestPeer::start(flags).await;
        assert!(peer.info().await.get("network").is_none());
    }
}

#[cfg(not(feature = "autonomi"))]
#[test]
fn a_build_without_the_client_explains_how_to_get_it() {
    use crate::process::command;

    let folder = tempfile::TempDir::new().unwrap();
    let store = format!("--store={}", folder.path().display());
    let output = command(&[&store, "--network=mainnet"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("--network: "), "{message}");
    assert!(message.contains("--features autonomi"), "{message}");
    assert!(message.contains("npm start -- --network"), "{message}");
}

#[cfg(feature = "autonomi")]
mod with_client {
    use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
    use serde_json::Value;
    use std::net::UdpSocket;
    use std::time::Duration;
    use tempfile::TempDir;
    use tokio::time::{Instant, sleep};

    /// Waits until the peer reports this state.
    async fn wait_for_state(peer: &TestPeer, state: &str) -> Value {
        let started = Instant::now();
        loop {
            let network = peer.info().await["network"].clone();
            if network["state"] == state {
                return network;
            }
            assert!(started.elapsed() < 3 * TEST_TIMEOUT, "{network}");
            sleep(Duration::from_millis(50)).await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_peer_serves_its_store_while_no_node_answers() {
        let folder = TempDir::new().unwrap();
        let nodes = folder.path().join("lonely.txt");
        // Nothing answers here: the socket only reserves the port.
        let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
        std::fs::write(&nodes, silent.local_addr().unwrap().to_string()).unwrap();
        let network = format!("--network={}", nodes.display());
        let peer = TestPeer::start(&[&network]).await;
        let status = peer.info().await["network"].clone();
        assert_eq!(status["name"], "lonely");
        assert_eq!(status["peers"], 0);

        let stored = peer.store_chunk(1, 1000).await;
        let found = peer.get(&format!("/chunk/{}", stored.address())).await;
        assert_eq!(found.status, 200);

        let status = wait_for_state(&peer, "disconnected").await;
        assert_eq!(status["problem"], "none of the 1 bootstrap nodes answered");
        let missing = chunk(2, 1000).address();
        let response = peer.get(&format!("/chunk/{missing}")).await;
        assert!(response.status >= 500, "{}", response.status);
    }
}
