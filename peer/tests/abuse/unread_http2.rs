//! HTTP/2 clients that do not let the peer send its answers. Their TCP connections are never blocked.

use crate::certificate_authority::CertificateAuthority;
use crate::client_network::authority;
use crate::http2::{Client, certificate, connect_tls_from, path_of};
use crate::test_peer::{TEST_TIMEOUT, TestPeer};
use crate::tracked_source::{LiveBytes, TrackedSource};
use antway_peer::limits::MAX_CHUNK_BYTES;
use antway_peer::source::Chunk;
use bytes::Bytes;
use h2::Reason;
use hyper::{Method, Request};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{sleep, timeout};

const CHUNKS_IN_MEMORY: usize = 8;

/// Only the wait of others is a reason to end a response. No time-out ends one during the test.
pub const FLAGS: [&str; 4] = [
    "--limit-loopback",
    "--max-chunks-in-memory=8",
    "--idle-timeout=1h",
    "--request-timeout=1h",
];

/// A peer with one chunk of the largest size.
struct Setting {
    peer: TestPeer,
    live: Arc<LiveBytes>,
    ca: CertificateAuthority,
    chunk: Chunk,
    _files: TempDir,
}

impl Setting {
    async fn new(more: &[&str]) -> Self {
        let (ca, files, certificate) = certificate();
        let certificate = certificate.each_ref().map(String::as_str);
        let flags = [&certificate[..], &FLAGS, more].concat();
        let (peer, live) = TrackedSource::start(&flags).await;
        let chunk = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
        Self {
            peer,
            live,
            ca,
            chunk,
            _files: files,
        }
    }

    async fn connect(&self, source: &str, window: u32) -> Client {
        Client::connect_from(source, authority(&self.peer), &self.ca, window).await
    }

    async fn wait_for_full_memory(&self) {
        let full = CHUNKS_IN_MEMORY * MAX_CHUNK_BYTES as usize;
        let waiting = async {
            while self.live.now() < full {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(TEST_TIMEOUT, waiting).await.expect("full memory");
    }

    /// A client of another network reads the chunk several times.
    async fn read_honestly(&self) {
        let mut honest = self.connect("127.0.9.1", 1 << 20).await;
        for _ in 0..3 {
            let (status, bytes) = honest.get(&path_of(&self.chunk)).await;
            assert!(status == 200 && bytes == self.chunk.bytes()[..]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn small_windows_do_not_hold_the_memory_that_others_wait_for() {
    let setting = Setting::new(&[]).await;
    let mut hostile = Vec::new();
    let mut unread = Vec::new();
    for network in 1..=24 {
        let mut client = setting.connect(&format!("127.0.1.{network}"), 1).await;
        for _ in 0..8 {
            unread.push(client.begin_get(&path_of(&setting.chunk)).await);
        }
        hostile.push(client);
    }
    setting.wait_for_full_memory().await;
    setting.read_honestly().await;
    // Streams end, and connections stay.
    for client in &mut hostile {
        assert_eq!(client.get("/-/health").await.0, 200);
    }
    drop(unread);
    setting.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_unread_end_of_a_response_does_not_hold_the_memory_that_others_wait_for() {
    let setting = Setting::new(&[]).await;
    // The library takes the last part of a response before the client does.
    let window = MAX_CHUNK_BYTES - 1000;
    let mut hostile = Vec::new();
    for network in 1..=CHUNKS_IN_MEMORY {
        let mut client = setting.connect(&format!("127.0.1.{network}"), window).await;
        let response = client.begin_get(&path_of(&setting.chunk)).await;
        let mut body = response.await.unwrap().into_body();
        let mut received = 0;
        while received < window as usize {
            received += body.data().await.unwrap().unwrap().len();
        }
        hostile.push((client, body));
    }
    setting.wait_for_full_memory().await;
    setting.read_honestly().await;
    let mut ends = Vec::new();
    for (_client, body) in &mut hostile {
        if let Ok(Some(Err(end))) = timeout(Duration::from_millis(10), body.data()).await {
            ends.push(end.reason());
        }
    }
    assert!(ends.contains(&Some(Reason::CANCEL)), "{ends:?}");
    setting.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_reads_nothing_does_not_hold_the_memory_that_others_wait_for() {
    let setting = Setting::new(&[]).await;
    let mut hostile = Vec::new();
    for network in 1..=16 {
        let source = format!("127.0.1.{network}");
        let stream = connect_tls_from(&source, authority(&setting.peer), &setting.ca).await;
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(1 << 30);
        builder.initial_connection_window_size(1 << 30);
        let (requests, connection) = builder.handshake::<_, Bytes>(stream).await.unwrap();
        let mut connection = Box::pin(connection);
        let uri = format!(
            "https://{}{}",
            authority(&setting.peer),
            path_of(&setting.chunk)
        );
        // The first answer has begun. From then on, nothing reads the connection.
        let asking = async {
            let mut requests = requests.ready().await.unwrap();
            let mut asked = Vec::new();
            for _ in 0..8 {
                let request = Request::get(&uri).body(()).unwrap();
                asked.push(requests.send_request(request, true).unwrap().0);
                requests = requests.ready().await.unwrap();
            }
            (requests, asked)
        };
        let asked = tokio::select! {
            asked = asking => asked,
            _ = connection.as_mut() => panic!("the connection ended"),
        };
        let reading = timeout(Duration::from_millis(5), connection.as_mut());
        assert!(reading.await.is_err(), "the connection goes on");
        hostile.push((connection, asked));
    }
    setting.wait_for_full_memory().await;
    setting.read_honestly().await;
    setting.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_that_stall_do_not_hold_the_memory_that_others_wait_for() {
    let setting = Setting::new(&["--write-token=a token of the test"]).await;
    let mut hostile = Vec::new();
    for network in 1..=16 {
        let source = format!("127.0.1.{network}");
        let mut client = setting.connect(&source, 1 << 20).await;
        let mut uploads = Vec::new();
        for _ in 0..2 {
            let put = Request::builder()
                .method(Method::PUT)
                .uri(client.uri(&path_of(&setting.chunk)))
                .header("authorization", "Bearer a token of the test");
            uploads.push(client.begin_upload(put.body(()).unwrap()).await);
        }
        // The peer waits for the uploads now.
        assert_eq!(client.get("/-/health").await.0, 200);
        hostile.push((client, uploads));
    }
    setting.read_honestly().await;
    setting.peer.stop().await;
}
