//! The quotas that all clients of one network share.

use crate::client::ClientNetworks;
use crate::limits::{Limits, MAX_NETWORK_READS, MAX_PAID_RECORDS, network_share, site_share};
use crate::memory::units_of;
use crate::pool::Quota;
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The quotas that all clients of one network share.
pub struct NetworkQuotas {
    /// The memory for chunks, in units.
    pub memory: Quota,
    /// The lookups at upstreams.
    pub lookups: Quota,
    /// The requests for quotes and for paid uploads.
    pub paid_requests: Quota,
    /// The records of these requests that are asked for, or on their way, at the same time.
    pub paid_records: Quota,
    /// The reads of the network for requests that are only about it.
    pub network_reads: Quota,
    /// The quotas of the /48 around an IPv6 /64.
    pub site: Option<Arc<Self>>,
}

impl NetworkQuotas {
    /// These quotas, and those of the site.
    pub fn with_site(&self) -> impl Iterator<Item = &Self> {
        [self].into_iter().chain(self.site.as_deref())
    }
}

/// The quotas of all networks.
pub struct QuotaRegistry {
    network_shares: Shares,
    site_shares: Shares,
    limit_loopback: bool,
    /// The quotas of connected networks, and of some disconnected ones.
    networks: Mutex<HashMap<IpNet, Weak<NetworkQuotas>>>,
    /// The number of entries at which disconnected networks are removed.
    max_networks: usize,
}

/// The sizes of the quotas of one network.
struct Shares {
    chunks: usize,
    lookups: usize,
    paid_requests: usize,
    paid_records: usize,
    network_reads: usize,
}

impl QuotaRegistry {
    /// The shares of `limits`. No network is connected yet.
    pub fn new(limits: &Limits) -> Self {
        Self {
            network_shares: Shares {
                chunks: limits.chunks_per_network(),
                lookups: limits.lookups_per_network(),
                paid_requests: network_share(limits.paid_requests()),
                paid_records: network_share(MAX_PAID_RECORDS),
                network_reads: network_share(MAX_NETWORK_READS),
            },
            site_shares: Shares {
                chunks: limits.chunks_per_site(),
                lookups: limits.lookups_per_site(),
                paid_requests: site_share(limits.paid_requests()),
                paid_records: site_share(MAX_PAID_RECORDS),
                network_reads: site_share(MAX_NETWORK_READS),
            },
            limit_loopback: limits.limit_loopback,
            networks: Mutex::default(),
            max_networks: limits.sessions + limits.http_connections,
        }
    }

    /// The quotas of a client's networks. `None` for exempt clients.
    pub fn of(&self, ip: IpAddr) -> Option<Arc<NetworkQuotas>> {
        if !self.limit_loopback && ip.to_canonical().is_loopback() {
            return None;
        }
        let ClientNetworks { own, site } = ClientNetworks::of(ip);
        let site = site.map(|site| self.quotas(site, &self.site_shares, None));
        Some(self.quotas(own, &self.network_shares, site))
    }

    fn quotas(
        &self,
        network: IpNet,
        shares: &Shares,
        site: Option<Arc<NetworkQuotas>>,
    ) -> Arc<NetworkQuotas> {
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(quotas) = networks.get(&network).and_then(Weak::upgrade) {
            return quotas;
        }
        if networks.len() >= self.max_networks {
            networks.retain(|_, quotas| quotas.strong_count() > 0);
        }
        let quotas = Arc::new(NetworkQuotas {
            memory: Quota::new(units_of(shares.chunks)),
            lookups: Quota::new(shares.lookups),
            paid_requests: Quota::new(shares.paid_requests),
            paid_records: Quota::new(shares.paid_records),
            network_reads: Quota::new(shares.network_reads),
            site,
        });
        networks.insert(network, Arc::downgrade(&quotas));
        quotas
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_the_quotas_of_disconnected_clients() {
        let registry = QuotaRegistry::new(&Limits {
            sessions: 2,
            http_connections: 2,
            ..Limits::default()
        });
        let address = |last: u8| IpAddr::from([203, 0, 113, last]);
        let stays = registry.of(address(1));
        for last in 2..255 {
            registry.of(address(last));
        }
        let networks = registry.networks.lock().unwrap();
        assert!(networks.len() <= 4, "{}", networks.len());
        assert!(networks.contains_key(&ClientNetworks::of(address(1)).own));
        drop(stays);
    }
}
