//! The memory for chunks, and each client's quota of it.

use crate::client::{Client, ClientNetworks};
use crate::limits::Limits;
use crate::metrics::Transport;
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Permits for all clients. One permit is the memory of one chunk.
pub struct ChunkMemory {
    all: Arc<Semaphore>,
    session_quota: usize,
    network_quota: usize,
    site_quota: usize,
    limit_loopback: bool,
    /// The quotas of connected networks, and of some disconnected ones.
    networks: Mutex<HashMap<IpNet, Weak<Semaphore>>>,
    /// The number of entries at which disconnected networks are removed.
    max_networks: usize,
}

/// The permit for one chunk in memory. It is released on drop.
pub struct ChunkPermit {
    _quotas: Vec<OwnedSemaphorePermit>,
    _total: OwnedSemaphorePermit,
}

impl ChunkMemory {
    /// Creates the permits and quotas of `limits`.
    pub fn new(limits: &Limits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.chunks_in_memory)),
            session_quota: limits.chunks_per_session(),
            network_quota: limits.chunks_per_network(),
            site_quota: limits.chunks_per_site(),
            limit_loopback: limits.limit_loopback,
            networks: Mutex::default(),
            max_networks: limits.sessions + limits.http_connections,
        }
    }

    /// The client of an HTTP connection. An HTTP/2 connection has many requests at a time, like a session.
    pub fn http_client(&self, ip: IpAddr) -> Client {
        self.client(Transport::Http, ip)
    }

    /// The client of a WebTransport session.
    pub fn session_client(&self, ip: IpAddr) -> Client {
        self.client(Transport::WebTransport, ip)
    }

    fn client(&self, transport: Transport, ip: IpAddr) -> Client {
        let own = Arc::new(Semaphore::new(self.session_quota));
        Client {
            transport,
            ip,
            quotas: [own].into_iter().chain(self.networks(ip)).collect(),
        }
    }

    /// Waits for a permit of each of the client's quotas, and then for one of the total. All clients acquire in this
    /// order, so no deadlock is possible.
    pub async fn acquire(&self, client: &Client) -> ChunkPermit {
        let mut quotas = Vec::with_capacity(client.quotas.len());
        for quota in &client.quotas {
            quotas.push(acquire_permit(quota).await);
        }
        ChunkPermit {
            _quotas: quotas,
            _total: acquire_permit(&self.all).await,
        }
    }

    /// The quotas of the client's networks. None for exempt clients.
    fn networks(&self, ip: IpAddr) -> Vec<Arc<Semaphore>> {
        if !self.limit_loopback && ip.to_canonical().is_loopback() {
            return Vec::new();
        }
        let ClientNetworks { own, site } = ClientNetworks::of(ip);
        let own = self.quota(own, self.network_quota);
        let site = site.map(|site| self.quota(site, self.site_quota));
        [own].into_iter().chain(site).collect()
    }

    fn quota(&self, network: IpNet, permits: usize) -> Arc<Semaphore> {
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(quota) = networks.get(&network).and_then(Weak::upgrade) {
            return quota;
        }
        if networks.len() >= self.max_networks {
            networks.retain(|_, quota| quota.strong_count() > 0);
        }
        let quota = Arc::new(Semaphore::new(permits));
        networks.insert(network, Arc::downgrade(&quota));
        quota
    }
}

async fn acquire_permit(permits: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let permit = Arc::clone(permits).acquire_owned().await;
    permit.expect("the semaphore is never closed")
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

    fn try_acquire(memory: &ChunkMemory, client: &Client) -> Option<ChunkPermit> {
        memory.acquire(client).now_or_never()
    }

    #[test]
    fn one_address_gets_at_most_half_of_the_memory() {
        let memory = memory();
        for (address, neighbour, other) in [
            ("203.0.113.1", "::ffff:203.0.113.1", "203.0.113.2"),
            ("2001:db8::1", "2001:db8::2", "2001:db8:1::1"),
        ] {
            let connection = || try_acquire(&memory, &memory.http_client(ip(address)));
            let mut held: Vec<_> = (0..8).map_while(|_| connection()).collect();
            assert_eq!(held.len(), 4);
            for client in [
                memory.http_client(ip(neighbour)),
                memory.session_client(ip(neighbour)),
            ] {
                assert!(try_acquire(&memory, &client).is_none());
            }
            let other = || try_acquire(&memory, &memory.http_client(ip(other)));
            let others: Vec<_> = (0..8).map_while(|_| other()).collect();
            assert_eq!(others.len(), 4);
            held.pop();
            assert!(connection().is_some());
        }
    }

    #[test]
    fn a_site_with_many_networks_leaves_memory_for_others() {
        let memory = memory();
        let acquire = |address: &str| try_acquire(&memory, &memory.http_client(ip(address)));
        let site = ["2001:db8::1", "2001:db8:0:1::1", "2001:db8:0:2::1"];
        let held: Vec<_> = (0..9).map_while(|n| acquire(site[n / 3])).collect();
        assert_eq!(held.len(), 6);
        assert!(acquire("2001:db8:1::1").is_some());
    }

    #[test]
    fn a_session_leaves_memory_for_others_of_its_address() {
        let memory = memory();
        for address in ["203.0.113.1", "127.0.0.1"] {
            let greedy = memory.session_client(ip(address));
            let held: Vec<_> = (0..8)
                .map_while(|_| try_acquire(&memory, &greedy))
                .collect();
            assert_eq!(held.len(), 2);
            assert!(try_acquire(&memory, &memory.session_client(ip(address))).is_some());
        }
    }

    #[test]
    fn a_proxy_on_loopback_may_use_all_memory() {
        let memory = memory();
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let connection = || try_acquire(&memory, &memory.http_client(ip(address)));
            let held: Vec<_> = (0..9).map_while(|_| connection()).collect();
            assert_eq!(held.len(), 8);
        }
    }

    #[test]
    fn removes_the_quotas_of_disconnected_clients() {
        let memory = memory();
        let stays = memory.http_client(ip("203.0.113.1"));
        for last in 2..255 {
            memory.http_client(ip(&format!("203.0.113.{last}")));
        }
        let networks = memory.networks.lock().unwrap();
        assert!(networks.len() <= 4, "{}", networks.len());
        assert!(networks.contains_key(&ClientNetworks::of(stays.ip).own));
    }
}
