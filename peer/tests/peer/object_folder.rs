//! A folder as an object store upstream.

use crate::http::request;
use crate::test_peer::{TestPeer, chunk};
use crate::upstream::{path, upstream};
use antway_peer::source::Chunk;
use std::fs;
use tempfile::TempDir;

async fn put(peer: &TestPeer, chunk: &Chunk) -> u16 {
    let response = request(peer.peer.http(), "PUT", &path(chunk), &[], chunk.bytes()).await;
    response.status
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_a_folder_and_writes_to_it_if_enabled() {
    let folder = TempDir::new().unwrap();
    let url = format!("file://{}/of/chunks", folder.path().display());
    let files = folder.path().join("of/chunks");
    fs::create_dir_all(&files).unwrap();
    let there = chunk(1, 1000);
    fs::write(files.join(there.address().to_string()), there.bytes()).unwrap();
    let reader = TestPeer::start(&[&upstream(&url), "--allow-open-writes"]).await;
    assert!(reader.get(&path(&there)).await.body == there.bytes()[..]);
    let written = chunk(2, 1000);
    let file = files.join(written.address().to_string());
    assert_eq!(reader.get(&path(&written)).await.status, 404);
    assert_eq!(put(&reader, &written).await, 201);
    assert!(!file.exists());
    reader.stop().await;

    let flags = [&upstream(&url), "--allow-open-writes", "--upstream-write"];
    let writer = TestPeer::start(&flags).await;
    assert_eq!(put(&writer, &written).await, 201);
    assert!(fs::read(&file).unwrap() == written.bytes()[..]);
    let wrote = format!(r#"antway_peer_upstream_writes_total{{upstream="{url}",outcome="ok"}}"#);
    assert_eq!(writer.metric(&wrote).await, 1);
    // A chunk that cannot be written to the upstream is not confirmed.
    fs::remove_dir_all(folder.path().join("of")).unwrap();
    fs::write(folder.path().join("of"), "not a folder").unwrap();
    assert_eq!(put(&writer, &chunk(3, 1000)).await, 500);
    writer.stop().await;
}
