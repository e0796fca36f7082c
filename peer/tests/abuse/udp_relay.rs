//! A UDP relay between a client and a peer. It can withhold what the client sends.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// Relays the datagrams of one client.
pub struct UdpRelay {
    pub address: SocketAddr,
    is_withholding: Arc<AtomicBool>,
    relaying: JoinHandle<()>,
}

impl UdpRelay {
    /// Sends to the peer from this loopback address.
    pub async fn start(peer: SocketAddr, source: Ipv4Addr) -> Self {
        let to_client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let to_peer = UdpSocket::bind((source, 0)).await.unwrap();
        to_peer.connect(peer).await.unwrap();
        let address = to_client.local_addr().unwrap();
        let is_withholding = Arc::new(AtomicBool::new(false));
        let withheld = Arc::clone(&is_withholding);
        let relaying = tokio::spawn(async move {
            let (mut upward, mut downward) = (vec![0; 65_536], vec![0; 65_536]);
            let mut client = None;
            loop {
                tokio::select! {
                    received = to_client.recv_from(&mut upward) => {
                        let (length, from) = received.unwrap();
                        client = Some(from);
                        if !withheld.load(SeqCst) {
                            to_peer.send(&upward[..length]).await.unwrap();
                        }
                    }
                    received = to_peer.recv(&mut downward) => {
                        let length = received.unwrap();
                        let client = client.expect("the client sends first");
                        to_client.send_to(&downward[..length], client).await.unwrap();
                    }
                }
            }
        });
        Self {
            address,
            is_withholding,
            relaying,
        }
    }

    /// Drops all further datagrams of the client, and with them its acknowledgements.
    pub fn withhold(&self) {
        self.is_withholding.store(true, SeqCst);
    }

    /// Passes on all further datagrams.
    pub fn pass(&self) {
        self.is_withholding.store(false, SeqCst);
    }
}

impl Drop for UdpRelay {
    fn drop(&mut self) {
        self.relaying.abort();
    }
}
