//! Clients, and the address that their limits apply to.

use crate::metrics::Transport;
use ipnet::IpNet;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The client of a WebTransport session or HTTP connection.
#[derive(Clone)]
pub struct Client {
    /// The transport that the client uses.
    pub transport: Transport,
    /// The client's IP address.
    pub ip: IpAddr,
    /// The client's memory quotas for chunks, in the order in which permits are acquired.
    pub quotas: Vec<Arc<Semaphore>>,
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
