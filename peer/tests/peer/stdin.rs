//! `--exit-with-stdin`: the program ends with the process that holds its stdin.

use crate::http::get;
use crate::process::{RunningPeer, command};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::sleep;

fn flags(folder: &TempDir) -> [String; 3] {
    [
        "--http=127.0.0.1:0".to_owned(),
        "--webtransport=none".to_owned(),
        format!("--store={}", folder.path().display()),
    ]
}

#[tokio::test]
async fn stops_in_order_when_stdin_ends() {
    let folder = TempDir::new().unwrap();
    let flags = flags(&folder);
    let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    flags.push("--exit-with-stdin");
    let (mut peer, line) = RunningPeer::start(command(&flags).stdin(Stdio::piped()));
    peer.write_to_stdin(b"some bytes\n");
    sleep(Duration::from_millis(200)).await;
    let health = get(line["http"].as_str().unwrap(), "/-/health").await;
    assert_eq!(health.status, 200, "only the end counts");
    peer.close_stdin();
    let (code, log) = peer.end();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("shutting down"), "{log}");
}

#[tokio::test]
async fn goes_on_without_stdin_by_default() {
    let folder = TempDir::new().unwrap();
    let flags = flags(&folder);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let (peer, line) = RunningPeer::start(&mut command(&flags));
    sleep(Duration::from_millis(300)).await;
    let health = get(line["http"].as_str().unwrap(), "/-/health").await;
    assert_eq!(health.status, 200);
    peer.signal("TERM");
    assert_eq!(peer.end().0, Some(0));
}
