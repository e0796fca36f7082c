//! An S3-compatible object store as upstream: a real S3 server that verifies signatures.

use crate::http::{get, request};
use crate::process::{RunningPeer, command};
use crate::test_peer::chunk;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const KEY: &str = "the-key";
const SECRET: &str = "the-secret";

/// Serves the folders in `root` as buckets.
async fn serve(root: &Path) -> (String, JoinHandle<()>) {
    let mut service = S3ServiceBuilder::new(FileSystem::new(root).unwrap());
    service.set_auth(SimpleAuth::from_single(KEY, SECRET));
    let service = service.build();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service.clone());
            tokio::spawn(connection);
        }
    });
    (url, serving)
}

fn peer(store: &Path, endpoint: &str, secret: &str) -> (RunningPeer, Value) {
    let flags = [
        "--http=127.0.0.1:0",
        "--webtransport=none",
        "--allow-open-writes",
        "--upstream=s3://chunks/v1",
        "--upstream-write",
        "--store",
        store.to_str().unwrap(),
    ];
    let mut command = command(&flags);
    command
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", secret)
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ENDPOINT", endpoint)
        .env("AWS_ALLOW_HTTP", "true");
    RunningPeer::start(&mut command)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_writes_chunks_to_a_bucket_and_another_peer_reads_them() {
    let folder = TempDir::new().unwrap();
    let bucket = folder.path().join("s3/chunks");
    fs::create_dir_all(&bucket).unwrap();
    let (endpoint, serving) = serve(&folder.path().join("s3")).await;

    let (_writer, listening) = peer(&folder.path().join("writer"), &endpoint, SECRET);
    let base = listening["http"].as_str().unwrap();
    let chunk = chunk(1, 4 << 20);
    let path = format!("/chunk/{}", chunk.address());
    assert_eq!(get(base, &path).await.status, 404);
    let response = request(base, "PUT", &path, &[], chunk.bytes()).await;
    assert_eq!(response.status, 201);
    let object = bucket.join("v1").join(chunk.address().to_string());
    assert!(fs::read(&object).unwrap() == chunk.bytes()[..]);

    let (_reader, listening) = peer(&folder.path().join("reader"), &endpoint, SECRET);
    let base = listening["http"].as_str().unwrap();
    assert!(get(base, &path).await.body == chunk.bytes()[..]);

    let (_stranger, listening) = peer(&folder.path().join("stranger"), &endpoint, "wrong");
    let base = listening["http"].as_str().unwrap();
    let response = get(base, &path).await;
    assert_eq!(
        (response.status, response.code()),
        (500, "FAILED".to_owned())
    );
    serving.abort();
}
