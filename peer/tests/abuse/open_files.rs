//! Clients that use up the files that the process may open.

use crate::http::get;
use crate::test_peer::{TEST_TIMEOUT, chunk};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// A peer in its own process, with one stored chunk. It is killed on drop.
struct LimitedPeer {
    process: Child,
    http: String,
    chunk_path: String,
    _folder: TempDir,
}

impl LimitedPeer {
    /// `ulimit` is a command of the shell.
    fn start(ulimit: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let chunk = chunk(1, 1000);
        let name = chunk.address().to_string();
        let shard = folder
            .path()
            .join("chunks")
            .join(&name[..2])
            .join(&name[2..4]);
        fs::create_dir_all(&shard).unwrap();
        fs::write(shard.join(&name), chunk.bytes()).unwrap();
        let mut process = Command::new("sh")
            .args(["-c", &format!("{ulimit} && exec \"$@\""), "sh"])
            .args([env!("CARGO_BIN_EXE_antway-peer"), "serve"])
            .args(["--http=127.0.0.1:0", "--webtransport=none", "--store"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = process.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let listening: Value = serde_json::from_str(&line).unwrap();
        Self {
            process,
            http: listening["http"].as_str().unwrap().to_owned(),
            chunk_path: format!("/chunk/{name}"),
            _folder: folder,
        }
    }

    /// Limits the files of the running process.
    fn limit_files(&self, number: usize) {
        let mut prlimit = Command::new("prlimit");
        prlimit.args(["--pid", &self.process.id().to_string()]);
        prlimit.arg(format!("--nofile={number}:200"));
        assert!(prlimit.status().unwrap().success());
    }

    fn open_files(&self) -> usize {
        let folder = format!("/proc/{}/fd", self.process.id());
        fs::read_dir(folder).unwrap().count()
    }

    /// The number of open connections.
    async fn connections(&self) -> usize {
        let metrics = String::from_utf8(get(&self.http, "/metrics").await.body).unwrap();
        let mut lines = metrics.lines();
        let open = lines.find_map(|line| line.strip_prefix("antway_peer_http_connections "));
        open.map_or(0, |open| open.parse().unwrap())
    }

    async fn wait_for_connections(&self, number: usize) {
        let all_open = async {
            while self.connections().await < number {
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(TEST_TIMEOUT, all_open)
            .await
            .expect("all connections soon");
    }

    async fn open_idle_connections(&self, count: usize) -> Vec<TcpStream> {
        let authority = self.http.strip_prefix("http://").unwrap();
        let mut idle = Vec::new();
        for _ in 0..count {
            idle.push(TcpStream::connect(authority).await.unwrap());
        }
        idle
    }
}

impl Drop for LimitedPeer {
    fn drop(&mut self) {
        // Fails if the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_although_idle_connections_use_up_all_files() {
    let peer = LimitedPeer::start("ulimit -n 64");
    let _idle = peer.open_idle_connections(150).await;
    for path in ["/-/health", &peer.chunk_path, "/-/ready"] {
        for _ in 0..5 {
            let answer = timeout(TEST_TIMEOUT, get(&peer.http, path));
            assert_eq!(answer.await.expect("an answer soon").status, 200, "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn raises_the_soft_limit_of_open_files() {
    let peer = LimitedPeer::start("ulimit -S -n 64");
    let _idle = peer.open_idle_connections(100).await;
    peer.wait_for_connections(100).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn allows_all_connections_again_after_files_ran_out() {
    let peer = LimitedPeer::start("ulimit -n 200");
    let mut idle = peer.open_idle_connections(60).await;
    peer.wait_for_connections(60).await;
    peer.limit_files(peer.open_files());
    idle.extend(peer.open_idle_connections(10).await);
    // The peer has closed connections, so there are files for this one.
    let answer = timeout(TEST_TIMEOUT, get(&peer.http, "/-/health"));
    assert_eq!(answer.await.expect("an answer soon").status, 200);
    drop(idle);
    peer.limit_files(200);
    let recovered = async {
        loop {
            let idle = peer.open_idle_connections(60).await;
            if peer.connections().await >= 60 {
                break;
            }
            drop(idle);
            sleep(Duration::from_millis(500)).await;
        }
    };
    timeout(3 * TEST_TIMEOUT, recovered)
        .await
        .expect("60 connections again");
}
