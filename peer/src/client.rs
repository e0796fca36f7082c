//! Clients, and the address that their limits apply to.

use crate::metrics::Transport;
use crate::network_quotas::NetworkQuotas;
use crate::network_usage::NetworkUsage;
use crate::pool::{Pool, PoolPermit, Quota};
use crate::rate_limiter::RateLimiter;
use crate::readers::Reader;
use ipnet::IpNet;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The client of a WebTransport session or HTTP connection.
#[derive(Clone)]
pub struct Client {
    /// The transport that the client uses.
    pub transport: Transport,
    /// The client's IP address.
    pub ip: IpAddr,
    /// The memory quota of the session or connection.
    pub session_memory: Arc<Semaphore>,
    /// The memory that the client holds, and how fast it reads.
    pub reader: Arc<Reader>,
    /// The quotas of the client's network. `None` for loopback.
    pub network: Option<Arc<NetworkQuotas>>,
}

impl Client {
    /// The quotas of the client's networks that `quota` names.
    pub fn quotas(&self, quota: impl Fn(&NetworkQuotas) -> &Quota) -> Vec<&Quota> {
        quotas_of(self.network.as_deref(), quota)
    }
}

fn quotas_of(
    network: Option<&NetworkQuotas>,
    quota: impl Fn(&NetworkQuotas) -> &Quota,
) -> Vec<&Quota> {
    let networks = network.into_iter().flat_map(NetworkQuotas::with_site);
    networks.map(quota).collect()
}

/// The permit for one lookup at the upstreams, or for other work outside of this peer. It is released on drop.
pub struct LookupPermit {
    _parts: Vec<OwnedSemaphorePermit>,
    _total: PoolPermit,
    /// Otherwise a client that disconnects and connects again would get new quotas.
    _network: Option<Arc<NetworkQuotas>>,
}

/// The client that pays for a lookup at the upstreams. The lookup may outlast the client.
#[derive(Clone)]
pub struct LookupAccount {
    ip: IpAddr,
    network: Option<Arc<NetworkQuotas>>,
    usage: Arc<NetworkUsage>,
    /// `None` if the client is exempt from rates.
    rate_limiter: Option<Arc<RateLimiter>>,
}

impl LookupAccount {
    /// The account of `client`. `usage` and `rate_limiter` count its bytes.
    pub fn new(
        client: &Client,
        usage: &Arc<NetworkUsage>,
        rate_limiter: Option<&Arc<RateLimiter>>,
    ) -> Self {
        Self {
            ip: client.ip,
            network: client.network.clone(),
            usage: Arc::clone(usage),
            rate_limiter: rate_limiter.map(Arc::clone),
        }
    }

    /// Waits for a permit of the quota of each of the client's networks, and then for one of `all`. A network over its quota
    /// does not delay other networks, and a network with many recent lookups leaves some to others.
    pub async fn acquire_lookup(&self, all: &Arc<Pool>) -> LookupPermit {
        self.acquire(|network| &network.lookups, all).await
    }

    /// As [`Self::acquire_lookup`], but the quota of a network is the one that `quota` names.
    pub async fn acquire(
        &self,
        quota: impl Fn(&NetworkQuotas) -> &Quota,
        all: &Arc<Pool>,
    ) -> LookupPermit {
        let quotas = quotas_of(self.network.as_deref(), quota);
        let mut parts = Vec::with_capacity(quotas.len());
        for quota in &quotas {
            parts.push(quota.acquire(1).await);
        }
        LookupPermit {
            _parts: parts,
            _total: all.acquire_in_turn(1, &quotas).await,
            _network: self.network.clone(),
        }
    }

    /// Counts bytes that arrived for the client.
    pub fn charge_bytes(&self, bytes: u32) {
        self.usage.record_bytes(self.ip, bytes);
        if let Some(rate_limiter) = &self.rate_limiter {
            rate_limiter.record_bytes(self.ip, bytes);
        }
    }
}

/// The networks that the limits on connections and rates apply to: an IPv4 address; or the /64 of an IPv6 address,
/// and the /48 around it. A provider often gives a whole /48 to one customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientNetworks {
    /// The IPv4 address, or the /64.
    pub own: IpNet,
    /// The /48 around a /64.
    pub site: Option<IpNet>,
}

impl ClientNetworks {
    /// The networks of this address.
    pub fn of(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(_) => Self {
                own: prefix_of(ip, 32),
                site: None,
            },
            IpAddr::V6(_) => Self {
                own: prefix_of(ip, 64),
                site: Some(prefix_of(ip, 48)),
            },
        }
    }
}

impl ClientNetworks {
    /// Both networks.
    pub fn all(self) -> impl Iterator<Item = IpNet> {
        [self.own].into_iter().chain(self.site)
    }
}

/// The network for statistics: the /24 of an IPv4 address, or the /32 of an IPv6 address. It names no single user.
pub fn coarse_network_of(ip: IpAddr) -> IpNet {
    let is_ipv4 = ip.to_canonical().is_ipv4();
    prefix_of(ip, if is_ipv4 { 24 } else { 32 })
}

fn prefix_of(ip: IpAddr, length: u8) -> IpNet {
    let network = IpNet::new(ip.to_canonical(), length);
    network.expect("the length fits the family").trunc()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_ipv6_address_belongs_to_a_64_and_a_48() {
        let networks = ClientNetworks::of(ip("2001:db8:1:2::3"));
        assert_eq!(networks.own, "2001:db8:1:2::/64".parse().unwrap());
        assert_eq!(networks.site, Some("2001:db8:1::/48".parse().unwrap()));
        let networks = ClientNetworks::of(ip("::ffff:10.0.0.1"));
        assert_eq!(networks.own, "10.0.0.1/32".parse().unwrap());
        assert_eq!(networks.site, None);
    }

    #[test]
    fn statistics_name_only_coarse_networks() {
        assert_eq!(
            coarse_network_of(ip("203.0.113.7")).to_string(),
            "203.0.113.0/24"
        );
        assert_eq!(
            coarse_network_of(ip("2001:db8:1:2::3")).to_string(),
            "2001:db8::/32"
        );
    }
}
