//! A peer in this process, on free ports, with its own folder.

use antway_peer::address::Address;
use antway_peer::config::ServeArgs;
use antway_peer::peer::Peer;
use antway_peer::source::{Chunk, ChunkSource, PutOutcome};
use antway_peer::store::FolderStore;
use bytes::Bytes;
use clap::Parser;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use crate::http::{Response, get};

/// A timeout that is long enough even on a busy machine.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(20);

pub struct TestPeer {
    pub peer: Peer,
    pub store: FolderStore,
    folder: TempDir,
}

/// The flags of a test replace the default flags.
#[derive(Parser)]
#[command(args_override_self = true)]
struct TestArgs {
    #[command(flatten)]
    args: ServeArgs,
}

/// Parses the flags of `serve` like the command line does.
pub fn parse(flags: &[&str]) -> ServeArgs {
    TestArgs::parse_from(["serve"].iter().chain(flags)).args
}

impl TestPeer {
    pub async fn start(flags: &[&str]) -> Self {
        Self::start_in(TempDir::new().unwrap(), flags).await
    }

    pub async fn start_in(folder: TempDir, flags: &[&str]) -> Self {
        Self::start_with(folder, flags, |store, _| Arc::new(store)).await
    }

    pub async fn start_with(
        folder: TempDir,
        flags: &[&str],
        source_of: impl FnOnce(FolderStore, PathBuf) -> Arc<dyn ChunkSource>,
    ) -> Self {
        let path = folder.path().join("store");
        let mut fixed = vec!["--store", path.to_str().unwrap()];
        // The values of repeated flags add up.
        for address in ["--http=127.0.0.1:0", "--webtransport=127.0.0.1:0"] {
            let name = address.split_once('=').unwrap().0;
            if !flags
                .iter()
                .any(|flag| flag.split('=').next() == Some(name))
            {
                fixed.push(address);
            }
        }
        let args = parse(&[&fixed[..], flags].concat());
        let config = args.peer_config().unwrap();
        let store = args.open_store().unwrap();
        let certificates = args.certificates().unwrap();
        let source = args.source(source_of(store.clone(), path), &config.deny_list);
        let source = source.unwrap();
        let peer = Peer::start(config, certificates, source).await.unwrap();
        Self {
            peer,
            store,
            folder,
        }
    }

    /// Stores a chunk of `length` bytes, different for every `seed`.
    pub async fn store_chunk(&self, seed: u8, length: usize) -> Chunk {
        let chunk = chunk(seed, length);
        let outcome = self.store.put(chunk.clone()).await.unwrap();
        assert_eq!(outcome, PutOutcome::Stored);
        chunk
    }

    pub async fn get(&self, path: &str) -> Response {
        get(self.peer.http(), path).await
    }

    pub async fn info(&self) -> serde_json::Value {
        serde_json::from_slice(&self.get("/-/info").await.body).unwrap()
    }

    /// The value of a line of `/metrics`. 0 if there is no such line yet.
    pub async fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").await.body;
        let text = String::from_utf8(text).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0, |value| value.trim().parse().unwrap())
    }

    /// Waits until a metric has a value that satisfies `wanted`.
    pub async fn wait_for_metric(&self, name: &str, wanted: impl Fn(u64) -> bool) -> u64 {
        let started = Instant::now();
        loop {
            let value = self.metric(name).await;
            if wanted(value) {
                return value;
            }
            assert!(started.elapsed() < TEST_TIMEOUT, "{name} stays {value}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn store_chunks(&self) -> u64 {
        self.metric("antway_peer_store_chunks").await
    }

    /// The path of a chunk in the store.
    pub fn path_of(&self, address: Address) -> PathBuf {
        let name = address.to_string();
        let shard = format!("chunks/{}/{}", &name[..2], &name[2..4]);
        self.folder.path().join("store").join(shard).join(name)
    }

    /// Stops the peer. Returns its folder, for another peer.
    pub async fn stop(self) -> TempDir {
        self.peer.stop().await;
        self.folder
    }
}

/// A chunk whose bytes depend on `seed`.
pub fn chunk(seed: u8, length: usize) -> Chunk {
    let bytes: Bytes = (0..length)
        .map(|i| (i / 251) as u8 ^ (i as u8) ^ seed)
        .collect();
    Chunk::new(bytes)
}
