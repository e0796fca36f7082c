//! The deny list.

use crate::http::request;
use crate::process::{RunningPeer, command};
use crate::session::{Session, get_request, has_request, open_request};
use crate::stub_http_server::{StubHttpServer, StubResponse};
use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
use crate::upstream::{path, upstream};
use antway_peer::source::{Chunk, ChunkSource};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

/// A deny file in its own folder.
struct DenyFile {
    folder: TempDir,
}

impl DenyFile {
    fn new(denied: &[&Chunk]) -> Self {
        let folder = TempDir::new().unwrap();
        let file = Self { folder };
        file.write(denied);
        file
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("deny.txt")
    }

    fn flag(&self) -> String {
        format!("--deny-file={}", self.path().display())
    }

    fn write(&self, denied: &[&Chunk]) {
        let lines = denied.iter().map(|chunk| format!("{}\n", chunk.address()));
        fs::write(self.path(), lines.collect::<String>()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_requests_for_a_denied_address_get_451() {
    let (denied, allowed) = (chunk(1, 1000), chunk(2, 1000));
    let file = DenyFile::new(&[&denied]);
    let flags = ["--allow-open-writes", "--allow-origin=*", &file.flag()];
    let peer = TestPeer::start(&flags).await;
    peer.store.put(denied.clone()).await.unwrap();
    peer.store.put(allowed.clone()).await.unwrap();
    let http = peer.peer.http();
    let tag = format!("\"{}\"", denied.address());
    let pointer = format!("/pointer/{}", denied.address());
    for (method, path, headers, body) in [
        ("GET", &path(&denied), &[][..], &b""[..]),
        ("GET", &path(&denied), &[("If-None-Match", &*tag)], b""),
        ("PUT", &path(&denied), &[], denied.bytes()),
        ("GET", &pointer, &[], b""),
    ] {
        let response = request(http, method, path, headers, body).await;
        let expected = (451, "DENIED".to_owned());
        assert_eq!(
            (response.status, response.code()),
            expected,
            "{method} {path}"
        );
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    }
    let head = request(http, "HEAD", &path(&denied), &[], b"").await;
    assert_eq!(head.status, 451);
    assert_eq!(peer.get(&path(&allowed)).await.status, 200);
    let metric = r#"antway_peer_refused_writes_total{transport="http",reason="denied"}"#;
    assert_eq!(peer.metric(metric).await, 1);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_read_a_denied_address_as_not_found_with_a_reason() {
    let (denied, allowed) = (chunk(1, 1000), chunk(2, 1000));
    let file = DenyFile::new(&[&denied]);
    let peer = TestPeer::start(&["--allow-open-writes", &file.flag()]).await;
    peer.store.put(denied.clone()).await.unwrap();
    peer.store.put(allowed.clone()).await.unwrap();
    let session = Session::open(&peer.peer).await;
    let addresses = [denied.address(), allowed.address()];
    // Status 1 and the reason 451, without bytes. Then the next answer follows.
    let expected = [
        &[1, 0, 0, 1, 0xc3][..],
        &[0, 0, 0, 3, 0xe8],
        allowed.bytes(),
    ]
    .concat();
    assert!(session.request(&get_request(&addresses)).await.unwrap() == expected);
    let answer = session.request(&has_request(&addresses)).await.unwrap();
    assert_eq!(answer, [1, 0]);
    let open = open_request(denied.address(), 0, 0);
    assert_eq!(session.request(&open).await.unwrap(), expected[..5]);
    let answer = session.put(b"", denied.bytes()).await;
    assert_eq!(answer, [&[4][..], denied.address().as_bytes()].concat());
    let metric = r#"antway_peer_answers_total{transport="webtransport",status="denied"}"#;
    assert_eq!(peer.metric(metric).await, 3);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_address_is_not_fetched_from_upstreams() {
    let denied = chunk(1, 1000);
    let bytes = denied.bytes().clone();
    let stub = StubHttpServer::start(move |_| StubResponse::new(200, bytes.clone())).await;
    let file = DenyFile::new(&[&denied]);
    let peer = TestPeer::start(&[&upstream(&stub.url), &file.flag()]).await;
    assert_eq!(peer.get(&path(&denied)).await.status, 451);
    let pointer = format!("/pointer/{}", denied.address());
    assert_eq!(peer.get(&pointer).await.status, 451);
    assert!(stub.request_heads().is_empty());
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunk_that_is_denied_during_its_lookup_is_neither_served_nor_stored() {
    let [denied, allowed] = [chunk(1, 1000), chunk(2, 1000)];
    let gate = Arc::new(Semaphore::new(0));
    let bodies = [&denied, &allowed].map(|chunk| (path(chunk), chunk.bytes().to_vec()));
    let stub = StubHttpServer::start({
        let gate = Arc::clone(&gate);
        move |path| {
            let (_, body) = bodies.iter().find(|(own, _)| own == path).unwrap();
            StubResponse::new(200, body.clone()).gated_by(&gate)
        }
    })
    .await;
    let file = DenyFile::new(&[]);
    let peer = TestPeer::start(&[&upstream(&stub.url), &file.flag()]).await;
    let answering = tokio::spawn({
        let (http, path) = (peer.peer.http().to_owned(), path(&denied));
        async move { request(&http, "GET", &path, &[], b"").await }
    });
    stub.wait_for_requests(1).await;
    file.write(&[&denied]);
    peer.peer.reload();
    gate.add_permits(10);
    assert_eq!(answering.await.unwrap().status, 451);
    // Chunks are stored after the answer, in their order.
    assert_eq!(peer.get(&path(&allowed)).await.status, 200);
    peer.wait_for_metric("antway_peer_store_chunks", |n| n > 0)
        .await;
    assert_eq!(peer.store.stats().chunks, 1);
    assert!(!peer.store.has(denied.address()).await.unwrap());
    file.write(&[]);
    peer.peer.reload();
    assert_eq!(peer.get(&path(&denied)).await.status, 200);
    assert_eq!(
        stub.request_heads().len(),
        3,
        "nothing remembered the chunk"
    );
    peer.stop().await;
}

#[tokio::test]
async fn the_process_reads_the_file_again_after_a_signal() {
    let chunk = chunk(1, 1000);
    let file = DenyFile::new(&[&chunk]);
    let denied = fs::read_to_string(file.path()).unwrap();
    let empty = format!("{}\n", "#".repeat(denied.len() - 1));
    // The peer also looks for changes every 5 s. It finds none if the length and the time stay the same.
    let modified = fs::metadata(file.path()).unwrap().modified().unwrap();
    let write = |content: &str| {
        fs::write(file.path(), content).unwrap();
        let file = fs::File::options().write(true).open(file.path()).unwrap();
        file.set_modified(modified).unwrap();
    };
    write(&empty);
    let folder = TempDir::new().unwrap();
    let store = format!("--store={}", folder.path().join("store").display());
    let flags = [
        "--http=127.0.0.1:0",
        "--webtransport=none",
        "--allow-open-writes",
        &store,
        &file.flag(),
    ];
    let (process, line) = RunningPeer::start(&mut command(&flags));
    let http = line["http"].as_str().unwrap();
    let put = request(http, "PUT", &path(&chunk), &[], chunk.bytes()).await;
    assert_eq!(put.status, 201);
    for (content, status) in [(&denied, 451), (&empty, 200)] {
        write(content);
        process.signal("HUP");
        let signalled = Instant::now();
        while request(http, "GET", &path(&chunk), &[], b"").await.status != status {
            assert!(signalled.elapsed() < TEST_TIMEOUT, "not read again");
            sleep(Duration::from_millis(10)).await;
        }
    }
    process.signal("TERM");
    let (code, log) = process.end();
    assert_eq!(code, Some(0), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_peer_takes_a_denied_address_for_not_found() {
    let denied = chunk(1, 1000);
    let file = DenyFile::new(&[&denied]);
    let denying = TestPeer::start(&[&file.flag()]).await;
    let serving = TestPeer::start(&[]).await;
    serving.store.put(denied.clone()).await.unwrap();
    let absent = TestPeer::start(&[&upstream(denying.peer.http())]).await;
    assert_eq!(absent.get(&path(&denied)).await.status, 404);
    let pointer = format!("/pointer/{}", denied.address());
    assert_eq!(absent.get(&pointer).await.status, 404);
    let [first, second] = [&denying, &serving].map(|peer| upstream(peer.peer.http()));
    let found = TestPeer::start(&[&first, &second]).await;
    assert_eq!(found.get(&path(&denied)).await.status, 200);
    for peer in [denying, serving, absent, found] {
        peer.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_takes_effect_when_the_file_changes() {
    let chunk = chunk(1, 1000);
    let file = DenyFile::new(&[]);
    let peer = TestPeer::start(&[&file.flag()]).await;
    peer.store.put(chunk.clone()).await.unwrap();
    assert_eq!(peer.get(&path(&chunk)).await.status, 200);
    file.write(&[&chunk]);
    peer.peer.reload();
    assert_eq!(peer.get(&path(&chunk)).await.status, 451);
    fs::write(file.path(), "nonsense").unwrap();
    peer.peer.reload();
    assert_eq!(
        peer.get(&path(&chunk)).await.status,
        451,
        "the old list stays in use"
    );
    file.write(&[]);
    let started = Instant::now();
    while peer.get(&path(&chunk)).await.status != 200 {
        assert!(started.elapsed() < TEST_TIMEOUT, "not reloaded");
        sleep(Duration::from_millis(50)).await;
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_denies_everything_stays_in_use() {
    let stub = StubHttpServer::start(|_| StubResponse::new(451, "")).await;
    let peer = TestPeer::start(&[&upstream(&stub.url), "--not-found-lifetime=1ms"]).await;
    for seed in 0..8 {
        assert_eq!(peer.get(&path(&chunk(seed, 100))).await.status, 404);
    }
    assert_eq!(stub.request_heads().len(), 8);
    peer.stop().await;
}
