//! Disks that fail.

use crate::http::get;
use crate::running_peer::{RunningPeer, program};
use crate::session::Session;
use crate::test_peer::TEST_TIMEOUT;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

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
