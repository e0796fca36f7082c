//! Clients, and the address that their limits apply to.

use crate::metrics::Transport;
use std::net::{IpAddr, Ipv6Addr};
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

/// The address for quotas: an IPv4 address, or the /64 network of an IPv6 address. One user usually has the whole
/// /64.
pub fn network_of(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn addresses_of_one_network_share_a_rate_limit() {
        assert_eq!(
            network_of(ip("2001:db8::1")),
            network_of(ip("2001:db8::2:3"))
        );
        assert_ne!(
            network_of(ip("2001:db8::1")),
            network_of(ip("2001:db8:0:1::1"))
        );
        assert_eq!(network_of(ip("::ffff:10.0.0.1")), ip("10.0.0.1"));
        assert_ne!(network_of(ip("10.0.0.1")), network_of(ip("10.0.0.2")));
    }
}
