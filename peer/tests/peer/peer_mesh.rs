//! Peers that are each other's upstreams.

use crate::stub_http_server::{StubHttpServer, StubResponse};
use crate::test_peer::{TestPeer, chunk};
use crate::upstream::{free_address, path, request_metric, upstream};
use antway_peer::address::Address;

/// Peers that are each other's upstreams. Each also has its own AntTP server.
struct Mesh {
    peers: Vec<TestPeer>,
    urls: Vec<String>,
    sources: Vec<StubHttpServer>,
}

impl Mesh {
    /// `answer` is the response of a peer's AntTP server, given the peer's number and the path.
    async fn start(
        size: usize,
        answer: impl Fn(usize, &str) -> StubResponse + Clone + Send + Sync + 'static,
    ) -> Self {
        let addresses: Vec<_> = (0..size).map(|_| free_address()).collect();
        let urls: Vec<_> = addresses.iter().map(|at| format!("http://{at}")).collect();
        let (mut peers, mut sources) = (Vec::new(), Vec::new());
        for (n, address) in addresses.iter().enumerate() {
            let answer = answer.clone();
            let source = StubHttpServer::start(move |path| answer(n, path)).await;
            let others = urls.iter().filter(|url| **url != urls[n]);
            let mut flags: Vec<_> = others.map(|url| upstream(url)).collect();
            flags.push(upstream(&format!("anttp+{}", source.url)));
            flags.push(format!("--http={address}"));
            flags.push("--not-found-lifetime=1h".to_owned());
            let flags: Vec<_> = flags.iter().map(String::as_str).collect();
            peers.push(TestPeer::start(&flags).await);
            sources.push(source);
        }
        Self {
            peers,
            urls,
            sources,
        }
    }

    /// The total number of requests between the peers with this outcome.
    async fn requests_between_peers(&self, outcome: &str) -> u64 {
        let mut sum = 0;
        for peer in &self.peers {
            for url in &self.urls {
                sum += peer.metric(&request_metric(url, outcome)).await;
            }
        }
        sum
    }

    async fn stop(self) {
        for peer in self.peers {
            peer.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_peers_that_ask_each_other_ask_each_of_them_once_for_a_missing_chunk() {
    let mesh = Mesh::start(5, |_, _| StubResponse::new(404, "")).await;
    let absent = format!("/chunk/{}", Address::of(b"absent"));
    assert_eq!(mesh.peers[0].get(&absent).await.status, 404);
    assert_eq!(mesh.requests_between_peers("not_found").await, 4);
    for source in &mesh.sources {
        assert_eq!(source.request_heads().len(), 1);
    }
    // The negative caches of the others answer the requests of a second peer.
    assert_eq!(mesh.peers[1].get(&absent).await.status, 404);
    assert_eq!(mesh.requests_between_peers("not_found").await, 8);
    let requests: usize = mesh
        .sources
        .iter()
        .map(|source| source.request_heads().len())
        .sum();
    assert_eq!(
        requests, 6,
        "only the AntTP of the second peer is asked again"
    );
    mesh.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_of_five_peers_serve_a_chunk_that_one_can_fetch() {
    let wanted = chunk(1, 1000);
    let (end, bytes) = (wanted.address().to_string(), wanted.bytes().to_vec());
    let mesh = Mesh::start(5, move |n, path| match n == 4 && path.ends_with(&end) {
        true => StubResponse::new(200, bytes.clone()),
        false => StubResponse::new(404, ""),
    })
    .await;
    for peer in &mesh.peers {
        assert!(peer.get(&path(&wanted)).await.body == wanted.bytes()[..]);
        peer.wait_for_metric("antway_peer_store_chunks", |n| n == 1)
            .await;
    }
    assert_eq!(mesh.sources[4].request_heads().len(), 1);
    mesh.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_a_pointer_once_from_each_peer() {
    let mesh = Mesh::start(4, |_, _| StubResponse::new(404, "")).await;
    let pointer = format!("/pointer/{}", Address::of(b"absent"));
    assert_eq!(mesh.peers[0].get(&pointer).await.status, 404);
    let requests =
        r#"antway_peer_requests_total{transport="http",op="pointer",outcome="not_found"}"#;
    for peer in &mesh.peers {
        assert_eq!(peer.metric(requests).await, 1);
    }
    mesh.stop().await;
}
