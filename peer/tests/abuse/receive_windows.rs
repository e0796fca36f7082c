//! Clients that send more than a peer needs to read.

use crate::session::Session;
use crate::test_peer::TestPeer;
use futures_util::FutureExt;

/// The bytes that the peer lets a client send on new streams before the peer has read any.
async fn granted(peer: &TestPeer) -> usize {
    let session = Session::open(&peer.peer).await;
    let mut streams = Vec::new();
    for _ in 0..8 {
        streams.push(session.stream().await);
    }
    // An incomplete PUT, whose token is as long as allowed and whose chunk follows.
    let mut flood = vec![0; 16 * 1024 * 1024];
    flood[0] = 3;
    let mut sent = 0;
    for (send, _) in &mut streams {
        // Not awaited: the peer can grant more only after it has read.
        if let Some(Ok(length)) = send.quic_stream_mut().write(&flood).now_or_never() {
            sent += length;
        }
    }
    sent
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_peer_lets_a_session_send_kilobytes_ahead() {
    let read_only = TestPeer::start(&[]).await;
    let sent = granted(&read_only).await;
    assert!((2048..=256 * 1024).contains(&sent), "{sent} bytes");
    read_only.stop().await;
    let writable = TestPeer::start(&["--allow-open-writes"]).await;
    let sent = granted(&writable).await;
    assert!(sent > 1024 * 1024, "{sent} bytes");
    writable.stop().await;
}
