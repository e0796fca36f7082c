//! Clients that request large files of the web app, and do not read them.

use crate::http::get;
use crate::running_peer::{RunningPeer, program};
use std::fs::{self, File};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const FILE_BYTES: u64 = 64 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn slow_readers_of_a_large_file_do_not_hold_it_in_memory() {
    let folder = TempDir::new().unwrap();
    let web = folder.path().join("web");
    fs::create_dir(&web).unwrap();
    fs::write(web.join("index.html"), "").unwrap();
    let film = File::create(web.join("film.mp4")).unwrap();
    film.set_len(FILE_BYTES).unwrap();
    let flags = [
        "serve",
        "--http=127.0.0.1:0",
        "--webtransport=none",
        &format!("--store={}", folder.path().join("store").display()),
        &format!("--web={}", web.display()),
    ];
    let (peer, line) = RunningPeer::start(&mut program(&flags));
    let http = line["http"].as_str().unwrap();
    let authority = http.strip_prefix("http://").unwrap();
    let before = memory_of(peer.id());
    let mut readers = Vec::new();
    for _ in 0..40 {
        let mut reader = TcpStream::connect(authority).await.unwrap();
        let request = format!("GET /film.mp4 HTTP/1.1\r\nHost: {authority}\r\n\r\n");
        reader.write_all(request.as_bytes()).await.unwrap();
        let mut start = [0; 1000];
        reader.read_exact(&mut start).await.unwrap();
        assert!(start.starts_with(b"HTTP/1.1 200 "));
        readers.push(reader);
    }
    let used = memory_of(peer.id()).saturating_sub(before);
    assert!(used < FILE_BYTES, "40 readers use {used} bytes");
    assert_eq!(get(http, "/-/health").await.status, 200);
}

/// The memory of a process, in bytes.
fn memory_of(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.unwrap().trim().strip_suffix(" kB").unwrap();
    kilobytes.parse::<u64>().unwrap() * 1024
}
