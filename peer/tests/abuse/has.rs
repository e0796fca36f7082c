//! Clients that ask for more checks than a stalled disk answers.

use crate::gate::{StalledSource, Stalls};
use crate::session::{Session, cancel, has_request, send_all};
use antway_peer::address::Address;
use antway_peer::limits::MAX_STORE_CHECKS;
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test(flavor = "multi_thread")]
async fn has_requests_that_are_reset_leave_a_bounded_number_of_checks() {
    let (peer, source) = StalledSource::start(Stalls::Checks, &[]).await;
    let stored = peer.store_chunk(1, 1000).await;
    let session = Session::open(&peer.peer).await;
    let absent = Address::of(b"absent");
    for _ in 0..4 * MAX_STORE_CHECKS {
        let (mut send, recv) = session.stream().await;
        send_all(&mut send, &has_request(&[absent; 64])).await;
        send.quic_stream_mut().finish().unwrap();
        cancel(recv);
    }
    while source.running() < MAX_STORE_CHECKS {
        let (mut send, _recv) = session.stream().await;
        send_all(&mut send, &has_request(&[absent; 64])).await;
        send.quic_stream_mut().finish().unwrap();
        sleep(Duration::from_millis(5)).await;
    }
    let got = session.get(&[stored.address()]).await;
    assert!(got == [(0, stored.bytes().to_vec())], "reads continue");
    assert_eq!(source.most_running(), MAX_STORE_CHECKS);
    source.gate.add_permits(1_000_000);
    let has = has_request(&[stored.address(), absent]);
    assert_eq!(session.request(&has).await.unwrap(), [0, 1]);
    peer.stop().await;
}
