//! The running requests of each client over HTTP/2, and of each client that a proxy names. The number of connections does
//! not limit them.

use crate::client::ClientNetworks;
use crate::limits::SITE_FACTOR;
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Limits the requests of one client network at a time. A /48 gets [`SITE_FACTOR`] times as many as a /64.
pub struct RequestSlots {
    per_network: usize,
    /// The number of running requests of each network, and of each site.
    running: Mutex<HashMap<IpNet, usize>>,
}

/// The slot of one request. It is free again on drop.
pub struct RequestSlot {
    slots: Arc<RequestSlots>,
    networks: ClientNetworks,
}

impl RequestSlots {
    /// No request is running yet.
    pub fn new(per_network: usize) -> Arc<Self> {
        Arc::new(Self {
            per_network,
            running: Mutex::default(),
        })
    }

    /// A slot for a request of this client. `None` if its network has too many.
    pub fn take(self: &Arc<Self>, ip: IpAddr) -> Option<RequestSlot> {
        let networks = ClientNetworks::of(ip);
        let mut running = self.lock();
        let count = |network| running.get(&network).copied().unwrap_or(0);
        let per_site = self.per_network.saturating_mul(SITE_FACTOR);
        let is_full = count(networks.own) >= self.per_network
            || networks.site.is_some_and(|site| count(site) >= per_site);
        if is_full {
            return None;
        }
        for network in networks.all() {
            *running.entry(network).or_default() += 1;
        }
        Some(RequestSlot {
            slots: Arc::clone(self),
            networks,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpNet, usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RequestSlot {
    fn drop(&mut self) {
        let mut running = self.slots.lock();
        for network in self.networks.all() {
            if let Some(count) = running.get_mut(&network) {
                *count -= 1;
                if *count == 0 {
                    running.remove(&network);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_gets_only_its_slots_and_a_48_twice_as_many() {
        let slots = RequestSlots::new(2);
        let take = |ip: &str| slots.take(ip.parse().unwrap());
        let mut held: Vec<_> = (0..3).filter_map(|_| take("203.0.113.1")).collect();
        assert_eq!(held.len(), 2);
        assert!(take("203.0.113.2").is_some(), "another address");
        held.pop();
        assert!(take("203.0.113.1").is_some(), "a free slot");
        let site = ["2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1"];
        let held_of_site: Vec<_> = site
            .iter()
            .flat_map(|ip| [take(ip), take(ip), take(ip)])
            .flatten()
            .collect();
        assert_eq!(held_of_site.len(), 4);
        assert!(take("2001:db8:1:1::1").is_some(), "another site");
        drop((held, held_of_site));
        assert!(slots.lock().is_empty(), "counts without slots are removed");
    }
}
