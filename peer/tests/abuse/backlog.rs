//! Connections that the peer has not accepted yet.

use crate::running_peer::{RunningPeer, program};
use antway_peer::limits::HTTP_BACKLOG;
use futures_util::future::try_join_all;
use std::fs;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn many_connections_wait_for_a_busy_peer() {
    let folder = TempDir::new().unwrap();
    let store = format!("--store={}", folder.path().display());
    let flags = ["serve", "--http=127.0.0.1:0", "--webtransport=none", &store];
    let (peer, line) = RunningPeer::start(&mut program(&flags));
    let (_, authority) = line["http"].as_str().unwrap().split_once("://").unwrap();
    let somaxconn = fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
    let places = HTTP_BACKLOG.min(somaxconn.trim().parse().unwrap());
    peer.signal("STOP");
    // The kernel drops the first packet of a connection without a place. The client repeats it after a second.
    let connecting = (0..places).map(|_| TcpStream::connect(authority));
    let connected = timeout(Duration::from_millis(900), try_join_all(connecting)).await;
    peer.signal("CONT");
    let connected = connected.expect("places for all").unwrap();
    assert_eq!(connected.len(), places as usize);
}
