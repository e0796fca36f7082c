//! The disk is full.

use crate::http::{get, request};
use crate::running_peer::RunningPeer;
use crate::session::Session;
use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
use antway_peer::source::Chunk;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// A way to make a disk full.
#[derive(Clone, Copy, Debug)]
enum Disk {
    /// A separate file system, which a file then fills. Requires the right to mount.
    SmallFileSystem,
    /// A process limit on the length of files: one block. Every user can set it.
    FileSizeLimit,
}

/// All kinds of full disks that this machine supports.
fn disks() -> Vec<Disk> {
    let mut mount = Command::new("unshare");
    mount.args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]);
    let mount = mount.stderr(Stdio::null()).status();
    let may_mount = mount.is_ok_and(|status| status.success());
    let disks = match may_mount {
        true => vec![Disk::FileSizeLimit, Disk::SmallFileSystem],
        false => vec![Disk::FileSizeLimit],
    };
    println!("full disks: {disks:?}");
    disks
}

/// A peer whose disk can be made full.
struct DiskTestPeer {
    running: RunningPeer,
    line: Value,
    disk: Disk,
    store: PathBuf,
    _folder: TempDir,
}

impl DiskTestPeer {
    fn start(disk: Disk, upstream: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let program = env!("CARGO_BIN_EXE_antway-peer");
        let script = match disk {
            Disk::SmallFileSystem => {
                r#"mount -t tmpfs -o size=1m tmpfs "$1" && shift && exec "$0" serve "$@""#
            }
            // Ignore the signal XFSZ, so that a write over the limit fails instead of killing the process.
            Disk::FileSizeLimit => r#"trap '' XFSZ && shift && exec "$0" serve "$@""#,
        };
        let mut command = match disk {
            Disk::SmallFileSystem => Command::new("unshare"),
            Disk::FileSizeLimit => Command::new("sh"),
        };
        if let Disk::SmallFileSystem = disk {
            command.args(["-m", "sh"]);
        }
        command.args(["-c", script, program]).arg(folder.path());
        command.arg("--store").arg(folder.path().join("store"));
        command.args(["--http=127.0.0.1:0", "--webtransport=127.0.0.1:0"]);
        command.args(["--allow-open-writes", "--upstream", upstream]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let (running, line) = RunningPeer::start(&mut command);
        let mut store = folder.path().join("store");
        if let Disk::SmallFileSystem = disk {
            // The mount is visible only through the peer's process.
            let inside = Path::new("/proc").join(running.id().to_string());
            store = inside.join("root").join(store.strip_prefix("/").unwrap());
        }
        Self {
            running,
            line,
            disk,
            store,
            _folder: folder,
        }
    }

    fn http(&self) -> &str {
        self.line["http"].as_str().unwrap()
    }

    async fn session(&self) -> Session {
        let hashes = self.line["certificateHashes"].as_array().unwrap();
        let hashes = hashes.iter().map(|hash| hash.as_str().unwrap().to_owned());
        let hashes: Vec<_> = hashes.collect();
        let url = self.line["webTransport"].as_str().unwrap();
        Session::connect(url, &hashes, None).await.unwrap()
    }

    fn filler_path(&self) -> PathBuf {
        self.store.join("filler")
    }

    fn fill(&self) {
        match self.disk {
            Disk::FileSizeLimit => self.running.limit_file_size("4096"),
            Disk::SmallFileSystem => {
                let mut file = File::create(self.filler_path()).unwrap();
                let error = loop {
                    if let Err(error) = file.write_all(&[0; 512]) {
                        break error;
                    }
                };
                assert_eq!(error.kind(), ErrorKind::StorageFull);
            }
        }
    }

    fn free_space(&self) {
        match self.disk {
            Disk::FileSizeLimit => self.running.limit_file_size("unlimited"),
            Disk::SmallFileSystem => fs::remove_file(self.filler_path()).unwrap(),
        }
    }

    /// All files in the store's folders for chunks.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let names = ["chunks", "pulled", "temporary"];
        let mut folders = names.map(|name| self.store.join(name)).to_vec();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => files.push(path),
                }
            }
        }
        files
    }

    async fn put(&self, chunk: &Chunk) -> (u16, String) {
        let path = format!("/chunk/{}", chunk.address());
        let response = request(self.http(), "PUT", &path, &[], chunk.bytes()).await;
        let code = match response.status < 300 {
            true => String::new(),
            false => response.code(),
        };
        (response.status, code)
    }

    async fn assert_serves(&self, chunk: &Chunk) {
        let response = get(self.http(), &format!("/chunk/{}", chunk.address())).await;
        assert_eq!(response.status, 200, "{:?}", self.disk);
        assert!(response.body == chunk.bytes()[..]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_with_a_full_disk_and_stores_again_once_there_is_room() {
    let origin = TestPeer::start(&[]).await;
    let upstream_chunk = origin.store_chunk(1, 50_000).await;
    for disk in disks() {
        let peer = DiskTestPeer::start(disk, origin.peer.http());
        let (stored, refused) = (chunk(2, 50_000), chunk(3, 50_000));
        assert_eq!(peer.put(&stored).await.0, 201);
        peer.fill();

        let full = (507, "FULL".to_owned());
        assert_eq!(peer.put(&refused).await, full, "{disk:?}");
        let session = peer.session().await;
        let answer = session.put(b"", refused.bytes()).await;
        let expected = [&[6][..], refused.address().as_bytes()].concat();
        assert_eq!(answer, expected, "{disk:?}: full, over WebTransport too");
        // Read a chunk of the store and a chunk of the upstream, several times.
        for _ in 0..3 {
            peer.assert_serves(&stored).await;
            peer.assert_serves(&upstream_chunk).await;
        }
        let over_web_transport = session
            .get(&[stored.address(), upstream_chunk.address()])
            .await;
        let bodies = [&stored, &upstream_chunk].map(|chunk| (0, chunk.bytes().to_vec()));
        assert!(over_web_transport == bodies);
        assert_eq!(get(peer.http(), "/-/health").await.status, 200);
        // A background write may still have to be cleaned up.
        wait_until(|| peer.files().len() == 1, disk).await;

        peer.free_space();
        assert_eq!(peer.put(&refused).await.0, 201, "{disk:?}");
        peer.assert_serves(&refused).await;
        peer.assert_serves(&upstream_chunk).await;
        wait_until(|| peer.files().len() == 3, disk).await;
    }
    origin.stop().await;
}

async fn wait_until(condition: impl Fn() -> bool, disk: Disk) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < TEST_TIMEOUT, "{disk:?}");
        sleep(Duration::from_millis(20)).await;
    }
}
