//! The memory for chunks, and each client's quota of it.

use crate::asker::{Asker, network_of};
use crate::limits::Limits;
use crate::metrics::Face;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Permits for all clients. One permit is the memory of one chunk.
pub struct ChunkMemory {
    all: Arc<Semaphore>,
    of_session: usize,
    of_network: usize,
    /// The quotas of connected networks, and of some disconnected ones.
    networks: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
    /// The number of entries at which disconnected networks are removed.
    most_networks: usize,
}

/// The permit for one chunk in memory. It is released on drop.
pub struct ChunkRoom {
    _shares: Vec<OwnedSemaphorePermit>,
    _room: OwnedSemaphorePermit,
}

impl ChunkMemory {
    /// Creates the permits and quotas of `limits`.
    pub fn new(limits: &Limits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.chunks_in_memory)),
            of_session: limits.chunks_per_session(),
            of_network: limits.chunks_per_network(),
            networks: Mutex::default(),
            most_networks: limits.sessions + limits.http_connections,
        }
    }

    /// The client of an HTTP connection. It has no quota of its own, because it sends one request at a time.
    pub fn connection(&self, ip: IpAddr) -> Asker {
        Asker {
            face: Face::Http,
            ip,
            shares: self.network(ip).into_iter().collect(),
        }
    }

    /// The client of a WebTransport session.
    pub fn session(&self, ip: IpAddr) -> Asker {
        let own = Arc::new(Semaphore::new(self.of_session));
        Asker {
            face: Face::WebTransport,
            ip,
            shares: [own].into_iter().chain(self.network(ip)).collect(),
        }
    }

    /// Waits for a permit of each of the client's quotas, and then for one of the total. All clients acquire in this
    /// order, so no deadlock is possible.
    pub async fn room(&self, asker: &Asker) -> ChunkRoom {
        let mut shares = Vec::with_capacity(asker.shares.len());
        for share in &asker.shares {
            shares.push(take(share).await);
        }
        ChunkRoom {
            _shares: shares,
            _room: take(&self.all).await,
        }
    }

    /// The quota of an IP network. `None` for loopback: those clients are the operator, or a proxy with many users.
    fn network(&self, ip: IpAddr) -> Option<Arc<Semaphore>> {
        if ip.to_canonical().is_loopback() {
            return None;
        }
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        let network = network_of(ip);
        if let Some(share) = networks.get(&network).and_then(Weak::upgrade) {
            return Some(share);
        }
        if networks.len() >= self.most_networks {
            networks.retain(|_, share| share.strong_count() > 0);
        }
        let share = Arc::new(Semaphore::new(self.of_network));
        networks.insert(network, Arc::downgrade(&share));
        Some(share)
    }
}

async fn take(places: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let place = Arc::clone(places).acquire_owned().await;
    place.expect("the semaphore is never closed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn memory() -> ChunkMemory {
        ChunkMemory::new(&Limits {
            chunks_in_memory: 8,
            sessions: 2,
            http_connections: 2,
            ..Limits::default()
        })
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn room_now(memory: &ChunkMemory, asker: &Asker) -> Option<ChunkRoom> {
        memory.room(asker).now_or_never()
    }

    #[test]
    fn one_address_gets_at_most_half_of_the_memory() {
        let memory = memory();
        for (address, neighbour, other) in [
            ("203.0.113.1", "::ffff:203.0.113.1", "203.0.113.2"),
            ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"),
        ] {
            let connection = || room_now(&memory, &memory.connection(ip(address)));
            let mut held: Vec<_> = (0..8).map_while(|_| connection()).collect();
            assert_eq!(held.len(), 4);
            for asker in [
                memory.connection(ip(neighbour)),
                memory.session(ip(neighbour)),
            ] {
                assert!(room_now(&memory, &asker).is_none());
            }
            let other = || room_now(&memory, &memory.connection(ip(other)));
            let others: Vec<_> = (0..8).map_while(|_| other()).collect();
            assert_eq!(others.len(), 4);
            held.pop();
            assert!(connection().is_some());
        }
    }

    #[test]
    fn a_session_leaves_memory_for_others_of_its_address() {
        let memory = memory();
        for address in ["203.0.113.1", "127.0.0.1"] {
            let greedy = memory.session(ip(address));
            let held: Vec<_> = (0..8).map_while(|_| room_now(&memory, &greedy)).collect();
            assert_eq!(held.len(), 2);
            assert!(room_now(&memory, &memory.session(ip(address))).is_some());
        }
    }

    #[test]
    fn a_proxy_on_loopback_may_use_all_memory() {
        let memory = memory();
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let connection = || room_now(&memory, &memory.connection(ip(address)));
            let held: Vec<_> = (0..9).map_while(|_| connection()).collect();
            assert_eq!(held.len(), 8);
        }
    }

    #[test]
    fn removes_the_quotas_of_disconnected_clients() {
        let memory = memory();
        let stays = memory.connection(ip("203.0.113.1"));
        for last in 2..255 {
            memory.connection(ip(&format!("203.0.113.{last}")));
        }
        let networks = memory.networks.lock().unwrap();
        assert!(networks.len() <= 4, "{}", networks.len());
        assert!(networks.contains_key(&stays.ip));
    }
}
