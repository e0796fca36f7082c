//! `--congestion-control`: how fast a peer sends over a path that loses packets without congestion.

use crate::session::Session;
use crate::test_peer::TestPeer;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// The time of a packet to the client.
const DELAY: Duration = Duration::from_millis(20);

/// One of so many packets to the client is lost: 2 %.
const LOST: usize = 50;

/// A relay that delays and loses the packets of the peer.
struct LossyRelay {
    address: SocketAddr,
    tasks: [JoinHandle<()>; 2],
}

impl LossyRelay {
    async fn start(peer: SocketAddr) -> Self {
        let to_client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let to_peer = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        to_peer.connect(peer).await.unwrap();
        let address = to_client.local_addr().unwrap();
        let to_client = std::sync::Arc::new(to_client);
        let from_client = std::sync::Arc::clone(&to_client);
        let (delayed, mut arriving) = mpsc::unbounded_channel::<(Instant, SocketAddr, Vec<u8>)>();
        let relaying = tokio::spawn(async move {
            let (mut upward, mut downward) = (vec![0; 65_536], vec![0; 65_536]);
            let mut client = None;
            for packet in 1.. {
                tokio::select! {
                    received = from_client.recv_from(&mut upward) => {
                        let (length, from) = received.unwrap();
                        client = Some(from);
                        to_peer.send(&upward[..length]).await.unwrap();
                    }
                    received = to_peer.recv(&mut downward) => {
                        let length = received.unwrap();
                        let client = client.expect("the client sends first");
                        if packet % LOST != 0 {
                            let packet = downward[..length].to_vec();
                            let _ = delayed.send((Instant::now() + DELAY, client, packet));
                        }
                    }
                }
            }
        });
        let delaying = tokio::spawn(async move {
            while let Some((at, client, packet)) = arriving.recv().await {
                sleep_until(at).await;
                to_client.send_to(&packet, client).await.unwrap();
            }
        });
        Self {
            address,
            tasks: [relaying, delaying],
        }
    }
}

impl Drop for LossyRelay {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// The time of a download of 4 MiB.
async fn download(flags: &[&str]) -> Duration {
    let peer = TestPeer::start(flags).await;
    let chunk = peer.store_chunk(1, 4 << 20).await;
    let url = peer.peer.web_transport().unwrap();
    let authority = url.strip_prefix("https://").unwrap().strip_suffix("/v1");
    let relay = LossyRelay::start(authority.unwrap().parse().unwrap()).await;
    let relayed = format!("https://{}/v1", relay.address);
    let hashes = peer.peer.certificate_hashes();
    let session = Session::connect(&relayed, &hashes, None).await.unwrap();
    let started = Instant::now();
    assert!(session.get(&[chunk.address()]).await == [(0, chunk.bytes().to_vec())]);
    let time = started.elapsed();
    peer.stop().await;
    time
}

#[tokio::test(flavor = "multi_thread")]
async fn the_flag_selects_how_a_session_reacts_to_losses() {
    let tolerant = download(&[]).await;
    let named = download(&["--congestion-control=tolerant"]).await;
    let cubic = download(&["--congestion-control=cubic"]).await;
    let times = format!("tolerant {tolerant:?} and {named:?}, cubic {cubic:?}");
    assert!(2 * tolerant.max(named) < cubic, "{times}");
    // BBR tolerates losses, too, but its time varies.
    download(&["--congestion-control=bbr"]).await;
}
