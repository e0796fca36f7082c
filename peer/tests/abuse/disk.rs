//! Attacks on the disk, and disks that fail.

use crate::http::{get, request};
use crate::running_peer::{RunningPeer, program};
use crate::session::Session;
use crate::test_peer::{TEST_TIMEOUT, TestPeer};
use antway_peer::source::{Chunk, ChunkSource};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// A chunk of 1000 bytes, different for every number.
fn numbered_chunk(number: u32) -> Chunk {
    Chunk::new(number.to_be_bytes().repeat(250).into())
}

async fn read(peer: &TestPeer, chunk: &Chunk) {
    let response = peer.get(&format!("/chunk/{}", chunk.address())).await;
    assert_eq!(response.status, 200);
    assert!(response.body == chunk.bytes()[..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_of_one_time_chunks_evicts_no_chunk_that_is_read_often() {
    let origin = TestPeer::start(&[]).await;
    let popular: Vec<_> = (0..20).map(numbered_chunk).collect();
    let scanned: Vec<_> = (100..400).map(numbered_chunk).collect();
    for chunk in popular.iter().chain(&scanned) {
        origin.store.put(chunk.clone()).await.unwrap();
    }
    let upstream = format!("--upstream={}", origin.peer.http());
    let flags = [&*upstream, "--max-store-bytes=40kB", "--memory-cache=0"];
    let peer = TestPeer::start(&flags).await;
    for _ in 0..5 {
        for chunk in &popular {
            read(&peer, chunk).await;
        }
        peer.wait_for_metric("antway_peer_store_chunks", |n| n == 20)
            .await;
    }
    for chunk in &scanned {
        read(&peer, chunk).await;
    }
    origin.stop().await;
    for chunk in &popular {
        read(&peer, chunk).await;
    }
    assert!(peer.metric("antway_peer_store_bytes").await <= 40_000);
    let evicted = peer.metric("antway_peer_evicted_chunks_total").await;
    assert!(evicted > 0, "the scan replaced its own chunks");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_displaces_no_popular_chunk_from_memory() {
    let peer = TestPeer::start(&["--memory-cache=100kB"]).await;
    let popular: Vec<_> = (0..20).map(numbered_chunk).collect();
    let scanned: Vec<_> = (100..400).map(numbered_chunk).collect();
    for chunk in popular.iter().chain(&scanned) {
        peer.store.put(chunk.clone()).await.unwrap();
    }
    for _ in 0..5 {
        for chunk in &popular {
            read(&peer, chunk).await;
        }
    }
    for chunk in &scanned {
        read(&peer, chunk).await;
        assert!(peer.metric("antway_peer_memory_cache_bytes").await <= 100_000);
    }
    for chunk in &popular {
        fs::remove_file(peer.path_of(chunk.address())).unwrap();
        read(&peer, chunk).await;
    }
    peer.stop().await;
}

/// A peer that survives writes over the limit of the file size.
fn start_with_limited_files(folder: &TempDir, flags: &[&str]) -> (RunningPeer, Value) {
    let script = r#"trap '' XFSZ && exec "$0" serve "$@""#;
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(program(&[]).get_program());
    command.arg("--store").arg(folder.path().join("store"));
    command.args(["--http=127.0.0.1:0", "--webtransport=127.0.0.1:0"]);
    command.args(flags).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    RunningPeer::start(&mut command)
}

async fn certificate_hashes(http: &str) -> Vec<String> {
    let info: Value = serde_json::from_slice(&get(http, "/-/info").await.body).unwrap();
    serde_json::from_value(info["webTransport"]["certificateHashes"].clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_rotate_on_a_full_disk_and_are_written_once_there_is_room() {
    let folder = TempDir::new().unwrap();
    let flags = ["--certificate-lifetime=12s"];
    let (peer, line) = start_with_limited_files(&folder, &flags);
    let http = line["http"].as_str().unwrap();
    let url = line["webTransport"].as_str().unwrap();
    peer.limit_file_size("0");
    let mut known = certificate_hashes(http).await;
    for _ in 0..2 {
        let started = Instant::now();
        while certificate_hashes(http).await[0] != known[1] {
            assert!(started.elapsed() < TEST_TIMEOUT, "no rotation");
            sleep(Duration::from_millis(50)).await;
        }
        let session = Session::connect(url, &known[1..], None).await;
        let session = session.expect("the announced certificate is in use");
        assert!(session.request(&[4]).await.is_ok());
        known = certificate_hashes(http).await;
    }
    peer.limit_file_size("unlimited");
    let next = folder.path().join("store/certificates/next.pem");
    let started = Instant::now();
    while fs::metadata(&next).is_err() {
        assert!(started.elapsed() < 3 * TEST_TIMEOUT, "not written");
        sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(get(http, "/-/health").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_cannot_fill_more_than_the_limit() {
    let peer = TestPeer::start(&["--allow-open-writes", "--max-store-bytes=50kB"]).await;
    let mut statuses = Vec::new();
    for chunk in (0..60).map(numbered_chunk) {
        let path = format!("/chunk/{}", chunk.address());
        let response = request(peer.peer.http(), "PUT", &path, &[], chunk.bytes()).await;
        statuses.push(response.status);
    }
    assert_eq!(statuses[..50], [201; 50]);
    assert_eq!(statuses[50..], [507; 10]);
    peer.stop().await;
}
