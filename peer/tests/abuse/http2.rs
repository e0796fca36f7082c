//! HTTP/2, with the limits of HTTP/1 connections and of sessions.

use crate::certificate_authority::{CertificateAuthority, flags};
use crate::client_network::{authority, connect_to};
use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
use antway_peer::limits::{
    HTTP2_STREAMS, MAX_CHUNK_BYTES, MAX_HTTP_HEAD_BYTES, MAX_HTTP2_FIELDS, MAX_LONG_HTTP_HEADS,
};
use antway_peer::source::Chunk;
use bytes::Bytes;
use futures_util::future::{join_all, poll_fn};
use h2::client::{ResponseFuture, SendRequest};
use h2::{Ping, PingPong, Reason, RecvStream, SendStream};
use hyper::{Method, Request, StatusCode};
use rustls::pki_types::ServerName;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A connection to a peer with a certificate of an authority.
pub struct Client {
    requests: SendRequest<Bytes>,
    pings: PingPong,
    /// Ends with the connection.
    connection: JoinHandle<Result<(), h2::Error>>,
    authority: String,
}

async fn start(more: &[&str]) -> (TestPeer, CertificateAuthority, TempDir) {
    let (ca, files, certificate) = certificate();
    let certificate = certificate.each_ref().map(String::as_str);
    let peer = TestPeer::start(&[&certificate[..], more].concat()).await;
    (peer, ca, files)
}

/// An authority, and the flags of a peer with its certificate in the folder.
pub fn certificate() -> (CertificateAuthority, TempDir, [String; 2]) {
    let files = TempDir::new().unwrap();
    let ca = CertificateAuthority::new();
    ca.issue(files.path());
    let flags = flags(&files);
    (ca, files, flags)
}

async fn connect_tls(peer: &TestPeer, ca: &CertificateAuthority) -> TlsStream<TcpStream> {
    connect_tls_from("127.0.0.1", authority(peer), ca).await
}

/// Connects from this loopback address to the peer at this host and port.
pub async fn connect_tls_from(
    source: &str,
    authority: &str,
    ca: &CertificateAuthority,
) -> TlsStream<TcpStream> {
    let stream = connect_to(source, authority).await;
    let tls = TlsConnector::from(Arc::new(ca.client_tls(b"h2")));
    let name = ServerName::try_from("localhost").unwrap();
    let stream = tls.connect(name, stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    stream
}

impl Client {
    async fn connect(peer: &TestPeer, ca: &CertificateAuthority) -> Self {
        Self::connect_from("127.0.0.1", authority(peer), ca, 65_535).await
    }

    /// Connects from this loopback address to the peer at this host and port, with this window for each response.
    pub async fn connect_from(
        source: &str,
        authority: &str,
        ca: &CertificateAuthority,
        window: u32,
    ) -> Self {
        let stream = connect_tls_from(source, authority, ca).await;
        let mut builder = h2::client::Builder::new();
        builder.max_header_list_size(1 << 20);
        builder.initial_window_size(window);
        // One unread response must not take the window of all.
        builder.initial_connection_window_size(1 << 30);
        let (requests, mut connection) = builder.handshake(stream).await.unwrap();
        Self {
            requests,
            pings: connection.ping_pong().unwrap(),
            connection: tokio::spawn(connection),
            authority: authority.to_owned(),
        }
    }

    pub fn uri(&self, path: &str) -> String {
        format!("https://{}{path}", self.authority)
    }

    pub async fn begin(&mut self, request: Request<()>, body: &[u8]) -> ResponseFuture {
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

    /// Begins an upload whose bytes never come, so that the peer waits for them.
    pub async fn begin_upload(
        &mut self,
        request: Request<()>,
    ) -> (ResponseFuture, SendStream<Bytes>) {
        poll_fn(|cx| self.requests.poll_ready(cx)).await.unwrap();
        self.requests.send_request(request, false).unwrap()
    }

    pub async fn begin_get(&mut self, path: &str) -> ResponseFuture {
        let request = Request::get(self.uri(path)).body(()).unwrap();
        self.begin(request, b"").await
    }

    pub async fn get(&mut self, path: &str) -> (StatusCode, Vec<u8>) {
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

pub async fn read(response: ResponseFuture) -> (StatusCode, Vec<u8>) {
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

pub fn path_of(chunk: &Chunk) -> String {
    format!("/chunk/{}", chunk.address())
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_many_chunks_on_one_connection() {
    let (peer, ca, _files) = start(&["--write-token=top-secret"]).await;
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
        .header("authorization", "Bearer top-secret")
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

/// Sends a head of fields of one byte each, and returns whether the peer ends the connection without an answer.
async fn is_refused_with_fields(peer: &TestPeer, ca: &CertificateAuthority, fields: usize) -> bool {
    let mut stream = connect_tls(peer, ca).await;
    // `:method GET`, `:scheme https`, `:path /`, a cookie for the table, and the cookie again.
    let mut head = b"\x82\x87\x84\x60\x01a".to_vec();
    head.resize(head.len() + fields - 4, 0xbe);
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    let parts = head.chunks(16_384);
    let last = parts.len() - 1;
    for (i, part) in parts.enumerate() {
        let [_, a, b, c] = u32::try_from(part.len()).unwrap().to_be_bytes();
        let kind = if i == 0 { 1 } else { 9 };
        let flags = u8::from(i == 0) | if i == last { 4 } else { 0 };
        bytes.extend([a, b, c, kind, flags, 0, 0, 0, 1]);
        bytes.extend(part);
    }
    let sent = stream.write_all(&bytes).await;
    loop {
        let mut header = [0; 9];
        let read = timeout(TEST_TIMEOUT, stream.read_exact(&mut header)).await;
        if read.expect("an answer or an end soon").is_err() {
            return true;
        }
        let [a, b, c, kind, ..] = header;
        if kind == 1 {
            sent.expect("a peer that answers has read the head");
            return false;
        }
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_fields_of_a_request() {
    let (peer, ca, _files) = start(&[]).await;
    for (fields, is_refused) in [
        (MAX_HTTP2_FIELDS, false),
        (MAX_HTTP2_FIELDS + 1, true),
        (29_000, true),
    ] {
        assert_eq!(
            is_refused_with_fields(&peer, &ca, fields).await,
            is_refused,
            "{fields} fields"
        );
    }
    // A browser with many cookies.
    let mut client = Client::connect(&peer, &ca).await;
    let mut request = Request::get(client.uri("/-/health"));
    for i in 0..180 {
        request = request.header("cookie", format!("name{i}={}", "x".repeat(4_000)));
    }
    let response = client.begin(request.body(()).unwrap(), b"").await;
    assert_eq!(read(response).await.0, 200);
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
async fn pings_do_not_keep_an_idle_connection_open() {
    let (peer, ca, _files) = start(&["--idle-timeout=1s"]).await;
    let mut client = Client::connect(&peer, &ca).await;
    assert_eq!(client.get("/-/health").await.0, 200);
    let pinging = async {
        let mut pings = 0;
        while client.pings.ping(Ping::opaque()).await.is_ok() {
            pings += 1;
            sleep(Duration::from_millis(50)).await;
        }
        pings
    };
    let pings = timeout(TEST_TIMEOUT, pinging).await.expect("an end soon");
    assert!(pings > 5, "{pings} pings were answered");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_with_pings_only_gives_up_its_place() {
    let flags = ["--max-http-connections=2", "--idle-timeout=600s"];
    let (peer, ca, _files) = start(&flags).await;
    let mut honest = Client::connect(&peer, &ca).await;
    let mut pinging = Client::connect(&peer, &ca).await;
    assert_eq!(pinging.get("/-/health").await.0, 200);
    sleep(Duration::from_millis(50)).await;
    assert_eq!(honest.get("/-/health").await.0, 200);
    pinging.pings.ping(Ping::opaque()).await.unwrap();
    let mut new = Client::connect(&peer, &ca).await;
    assert_eq!(new.get("/-/info").await.0, 200);
    assert_eq!(honest.get("/-/info").await.0, 200, "it was used later");
    assert!(pinging.pings.ping(Ping::opaque()).await.is_err());
    peer.stop().await;
}

/// Begins a request whose head never ends. Returns when the peer has ended the connection.
async fn send_endless_head(peer: &TestPeer, ca: &CertificateAuthority, head_bytes: usize) {
    let mut stream = connect_tls(peer, ca).await;
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    // HEADERS without the flag END_HEADERS, with a part of a long value. CONTINUATION follows.
    for (kind, start) in [(1, 0), (9, 1)] {
        for _ in start..head_bytes.div_ceil(16_384) {
            bytes.extend([0, 0x40, 0, kind, 0, 0, 0, 0, 1]);
            let mut part = vec![b'x'; 16_384];
            if kind == 1 {
                // A literal field with a new name of 1 byte, and a value of 2 MiB.
                part[..7].copy_from_slice(&[0, 1, b'a', 0x7f, 0x81, 0xff, 0x7f]);
            }
            bytes.extend(part);
            if kind == 1 {
                break;
            }
        }
    }
    // The peer may close the connection meanwhile.
    let _ = stream.write_all(&bytes).await;
    let mut rest = Vec::new();
    let _ = timeout(TEST_TIMEOUT, stream.read_to_end(&mut rest))
        .await
        .expect("an end soon");
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_the_connection_of_a_client_that_does_not_complete_a_head() {
    let flags = ["--request-timeout=1s", "--idle-timeout=600s"];
    let (peer, ca, _files) = start(&flags).await;
    let endless = (0..2 * MAX_LONG_HTTP_HEADS).map(|_| send_endless_head(&peer, &ca, 64 * 1024));
    let (_, ()) = tokio::join!(join_all(endless), async {
        for _ in 0..10 {
            let mut honest = Client::connect(&peer, &ca).await;
            assert_eq!(honest.get("/-/info").await.0, 200);
        }
    });
    // The permits are free again.
    let mut honest = Client::connect(&peer, &ca).await;
    let long = Request::get(honest.uri("/-/health")).header("cookie", "x".repeat(100_000));
    let response = honest.begin(long.body(()).unwrap(), b"").await;
    assert_eq!(read(response).await.0, 200);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resets_only_the_stream_of_a_response_that_the_client_does_not_read() {
    // A proxy may read the other responses for other clients.
    let (peer, ca, _files) = start(&["--idle-timeout=1s"]).await;
    let stored = peer.store_chunk(1, MAX_CHUNK_BYTES as usize).await;
    let mut client = Client::connect(&peer, &ca).await;
    let unread = client.begin_get(&path_of(&stored)).await.await.unwrap();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(3) {
        assert_eq!(client.get("/-/health").await.0, 200);
        sleep(Duration::from_millis(20)).await;
    }
    let mut unread = unread.into_body();
    let mut received = 0;
    let error = loop {
        match timeout(TEST_TIMEOUT, unread.data())
            .await
            .expect("an end soon")
        {
            Some(Ok(part)) => received += part.len(),
            Some(Err(error)) => break error,
            None => panic!("the whole response"),
        }
    };
    assert_eq!(error.reason(), Some(Reason::CANCEL), "{error}");
    assert!(received < stored.bytes().len());
    // The stream's part of the memory is free again.
    for _ in 0..3 {
        let (status, bytes) = client.get(&path_of(&stored)).await;
        assert!(status == 200 && bytes == stored.bytes()[..]);
    }
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

/// Sends frames that move almost no bytes until the peer takes no more. Returns their number.
async fn flood(peer: &TestPeer, ca: &CertificateAuthority, frame: &[u8]) -> usize {
    const AT_ONCE: usize = 1000;
    let mut stream = connect_tls(peer, ca).await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    stream.write_all(preface).await.unwrap();
    let (mut answers, mut requests) = tokio::io::split(stream);
    let reading = tokio::spawn(async move {
        while answers.read(&mut [0; 65_536]).await? > 0 {}
        std::io::Result::Ok(())
    });
    let mut sent = 0;
    let frames = frame.repeat(AT_ONCE);
    // The peer takes what fits into the buffers of the system.
    while let Ok(Ok(())) = timeout(Duration::from_secs(1), requests.write_all(&frames)).await {
        sent += AT_ONCE;
        assert!(sent < 2_000_000, "the peer takes all frames");
    }
    reading.abort();
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_floods_of_small_frames_slowly() {
    let (peer, ca, _files) = start(&["--idle-timeout=600s"]).await;
    // PING, SETTINGS, PRIORITY, WINDOW_UPDATE by one byte, and a frame of an unknown type.
    for frame in [
        &b"\0\0\x08\x06\0\0\0\0\0ABCDEFGH"[..],
        b"\0\0\0\x04\0\0\0\0\0",
        b"\0\0\x05\x02\0\0\0\0\x01\0\0\0\0\x10",
        b"\0\0\x04\x08\0\0\0\0\0\0\0\0\x01",
        b"\0\0\0\x63\0\0\0\0\0",
    ] {
        flood(&peer, &ca, frame).await;
        let mut honest = Client::connect(&peer, &ca).await;
        assert_eq!(honest.get("/-/info").await.0, 200);
    }
    peer.stop().await;
}
