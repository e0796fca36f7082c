//! HTTP/2, with the limits of HTTP/1 connections and of sessions.

use crate::certificate_authority::{CertificateAuthority, flags};
use crate::client_network::authority;
use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
use antway_peer::limits::{HTTP2_STREAMS, MAX_CHUNK_BYTES, MAX_HTTP_HEAD_BYTES};
use antway_peer::source::Chunk;
use bytes::Bytes;
use futures_util::future::{join_all, poll_fn};
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use hyper::{Method, Request, StatusCode};
use rustls::pki_types::ServerName;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// A connection to a peer with a certificate of an authority.
struct Client {
    requests: SendRequest<Bytes>,
    /// Ends with the connection.
    connection: JoinHandle<Result<(), h2::Error>>,
    authority: String,
}

async fn start(more: &[&str]) -> (TestPeer, CertificateAuthority, TempDir) {
    let files = TempDir::new().unwrap();
    let ca = CertificateAuthority::new();
    ca.issue(files.path());
    let [cert, key] = flags(&files);
    let peer = TestPeer::start(&[&[&*cert, &*key][..], more].concat()).await;
    (peer, ca, files)
}

impl Client {
    async fn connect(peer: &TestPeer, ca: &CertificateAuthority) -> Self {
        let authority = authority(peer).to_owned();
        let stream = TcpStream::connect(&authority).await.unwrap();
        let tls = TlsConnector::from(Arc::new(ca.client_tls(b"h2")));
        let name = ServerName::try_from("localhost").unwrap();
        let stream = tls.connect(name, stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let mut builder = h2::client::Builder::new();
        builder.max_header_list_size(1 << 20);
        let (requests, connection) = builder.handshake(stream).await.unwrap();
        Self {
            requests,
            connection: tokio::spawn(connection),
            authority,
        }
    }

    fn uri(&self, path: &str) -> String {
        format!("https://{}{path}", self.authority)
    }

    async fn begin(&mut self, request: Request<()>, body: &[u8]) -> ResponseFuture {
        poll_fn(|cx| self.requests.poll_ready(cx)).await.unwrap();
        let (response, mut send) = self
            .requests
            .send_request(request, body.is_empty())
            .unwrap();
        if !body.is_empty() {
            send.send_data(Bytes::copy_from_slice(body), true).unwrap();
        }
        response
    }

    async fn begin_get(&mut self, path: &str) -> ResponseFuture {
        let request = Request::get(self.uri(path)).body(()).unwrap();
        self.begin(request, b"").await
    }

    async fn get(&mut self, path: &str) -> (StatusCode, Vec<u8>) {
        let response = self.begin_get(path).await;
        read(response).await
    }

    /// Waits until the peer ends the connection.
    async fn ended(self) -> Result<(), h2::Error> {
        drop(self.requests);
        timeout(TEST_TIMEOUT, self.connection)
            .await
            .expect("an end soon")
            .unwrap()
    }
}

async fn read(response: ResponseFuture) -> (StatusCode, Vec<u8>) {
    let response = timeout(TEST_TIMEOUT, response)
        .await
        .expect("an answer soon")
        .unwrap();
    let status = response.status();
    (status, read_body(response.into_body()).await)
}

async fn read_body(mut body: RecvStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Some(data) = timeout(TEST_TIMEOUT, body.data()).await.expect("data soon") {
        let data = data.unwrap();
        bytes.extend_from_slice(&data);
        body.flow_control().release_capacity(data.len()).unwrap();
    }
    bytes
}

fn path_of(chunk: &Chunk) -> String {
    format!("/chunk/{}", chunk.address())
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_many_chunks_on_one_connection() {
    let (peer, ca, _files) = start(&["--write-token=secret"]).await;
    let mut chunks = Vec::new();
    for seed in 0..40 {
        chunks.push(peer.store_chunk(seed, 300_000).await);
    }
    let mut client = Client::connect(&peer, &ca).await;
    let mut responses = Vec::new();
    for chunk in &chunks {
        responses.push(client.begin_get(&path_of(chunk)).await);
    }
    let answers = join_all(responses.into_iter().map(read)).await;
    for ((status, body), chunk) in answers.into_iter().zip(&chunks) {
        assert_eq!(status, 200);
        assert!(body == chunk.bytes()[..]);
    }
    let written = chunk(99, 1_000_000);
    let put = Request::builder()
        .method(Method::PUT)
        .uri(client.uri(&path_of(&written)))
        .header("authorization", "Bearer secret")
        // The page's origin is the peer's own, which the peer knows from the authority.
        .header("origin", client.uri(""))
        .body(())
        .unwrap();
    let response = client.begin(put, written.bytes()).await;
    assert_eq!(read(response).await.0, 201);
    let (_, metrics) = client.get("/metrics").await;
    let metrics = String::from_utf8(metrics).unwrap();
    let connections = "antway_peer_http_connections 1";
    assert!(metrics.lines().any(|line| line == connections), "{metrics}");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_requests_of_a_connection_at_a_time() {
    let (peer, ca, _files) = start(&[]).await;
    let mut client = Client::connect(&peer, &ca).await;
    assert_eq!(client.get("/-/health").await.0, 200);
    let streams = client.requests.current_max_send_streams();
    assert_eq!(streams, HTTP2_STREAMS as usize);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_head_of_a_request() {
    let (peer, ca, _files) = start(&[]).await;
    let mut client = Client::connect(&peer, &ca).await;
    for (cookie, status) in [(900_000, 200), (MAX_HTTP_HEAD_BYTES, 431)] {
        let request = Request::get(client.uri("/-/health"))
            .header("cookie", "x".repeat(cookie))
            .body(())
            .unwrap();
        let response = client.begin(request, b"").await;
        assert_eq!(read(response).await.0, status, "{cookie} bytes");
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closes_an_idle_connection() {
    let (peer, ca, _files) = start(&["--idle-timeout=1s"]).await;
    let mut client = Client::connect(&peer, &ca).await;
    assert_eq!(client.get("/-/health").await.0, 200);
    let requests = client.requests.clone();
    client.ended().await.expect("a normal end");
    drop(requests);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_the_connection_of_a_client_that_does_not_read_a_response() {
    let (peer, ca, _files) = start(&["--idle-timeout=1s"]).await;
    let stored = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let mut client = Client::connect(&peer, &ca).await;
    // The client reads nothing of this response, and all of the others.
    let unread = client.begin_get(&path_of(&stored)).await.await.unwrap();
    let ended = async {
        loop {
            let request = Request::get(client.uri("/-/health")).body(()).unwrap();
            let ready = poll_fn(|cx| client.requests.poll_ready(cx)).await;
            let sent = ready.and_then(|()| client.requests.send_request(request, true));
            let Ok((response, _)) = sent else {
                return;
            };
            if response.await.is_err() {
                return;
            }
        }
    };
    timeout(TEST_TIMEOUT, ended).await.expect("an end soon");
    drop(unread);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_the_connection_of_a_client_that_resets_its_requests() {
    let (peer, ca, _files) = start(&[]).await;
    let stored = peer.store_chunk(1, 1000).await;
    let mut client = Client::connect(&peer, &ca).await;
    let mut resets = 0;
    let error = loop {
        let request = Request::get(client.uri(&path_of(&stored)))
            .body(())
            .unwrap();
        let ready = poll_fn(|cx| client.requests.poll_ready(cx)).await;
        match ready.and_then(|()| client.requests.send_request(request, true)) {
            Ok((_response, mut send)) => send.send_reset(Reason::CANCEL),
            Err(error) => break error,
        }
        resets += 1;
        assert!(resets < 1_000_000, "the peer accepts all resets");
    };
    // A write to the closed connection may fail before the client reads why.
    let is_calming = error.reason() == Some(Reason::ENHANCE_YOUR_CALM);
    assert!(is_calming || error.is_io(), "{error}");
    let mut honest = Client::connect(&peer, &ca).await;
    assert_eq!(honest.get(&path_of(&stored)).await.0, 200);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn completes_running_responses_before_it_stops() {
    let (peer, ca, _files) = start(&["--shutdown-grace=60s"]).await;
    let stored = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let mut client = Client::connect(&peer, &ca).await;
    let response = client.begin_get(&path_of(&stored)).await.await.unwrap();
    let stopping = tokio::spawn(peer.stop());
    let body = read_body(response.into_body()).await;
    assert!(body == stored.bytes()[..]);
    timeout(TEST_TIMEOUT, stopping)
        .await
        .expect("an end soon")
        .unwrap();
}
