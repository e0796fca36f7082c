//! Reverse proxies and load balancers in front of the peer, and the client addresses that they report.

mod client_header;
mod proxy_protocol;

pub use client_header::ClientAddressHeader;
pub use proxy_protocol::{InvalidProxyHeader, ProxySource, read_header};

use axum::http::HeaderMap;
use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

/// The address of a client that its proxy does not name.
pub const UNKNOWN: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// A network whose members are trusted proxies: an address, or a CIDR block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyNetwork(IpNet);

/// The text is neither an address nor a CIDR block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidNetwork;

impl fmt::Display for InvalidNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an address, nor a network such as 10.0.0.0/8")
    }
}

impl std::error::Error for InvalidNetwork {}

impl FromStr for ProxyNetwork {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(Self(ip.to_canonical().into()));
        }
        let network: IpNet = text.parse().map_err(|_| InvalidNetwork)?;
        // `10.0.0.1/8` is more likely a mistake than a way to write `10.0.0.0/8`.
        // Addresses are compared in their IPv4 form, so a network of mapped addresses would never match.
        let is_mapped = matches!(network, IpNet::V6(v6) if v6.addr().to_ipv4_mapped().is_some());
        match network == network.trunc() && !is_mapped {
            true => Ok(Self(network)),
            false => Err(InvalidNetwork),
        }
    }
}

/// The trusted proxies, and how they report the addresses of their clients.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies {
    /// The networks of the proxies.
    pub networks: Vec<ProxyNetwork>,
    /// The header with the addresses.
    pub header: ClientAddressHeader,
    /// Whether every connection of a proxy begins with a PROXY protocol header.
    pub proxy_protocol: bool,
}

impl TrustedProxies {
    /// Whether this is the address of a trusted proxy.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.networks.iter().any(|network| network.0.contains(&ip))
    }

    /// The client of a request that came from `hop`. If `hop` is a trusted proxy, it is the last address in the header
    /// that is no trusted proxy. The part of the header before it comes from the client, and may be forged.
    ///
    /// All clients without a readable address share [`UNKNOWN`]. A proxy's own address may be exempt from the limits,
    /// and a client can make its entry unreadable.
    pub fn client_of(&self, hop: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = hop;
        if !self.contains(client) {
            return client;
        }
        for address in self.header.addresses(headers) {
            let Some(address) = address else {
                return UNKNOWN;
            };
            client = address;
            if !self.contains(client) {
                break;
            }
        }
        client
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn proxies(header: ClientAddressHeader) -> TrustedProxies {
        TrustedProxies {
            networks: ["10.0.0.0/8", "127.0.0.1", "2001:db8::/32"]
                .map(|text| text.parse().unwrap())
                .into(),
            header,
            proxy_protocol: false,
        }
    }

    fn client(header: ClientAddressHeader, hop: &str, lines: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(
                header.name(),
                HeaderValue::from_bytes(line.as_bytes()).unwrap(),
            );
        }
        let client = proxies(header).client_of(ip(hop), &headers);
        client.to_string()
    }

    #[test]
    fn takes_the_last_address_that_is_no_trusted_proxy() {
        let header = ClientAddressHeader::XForwardedFor;
        for (hop, lines, expected) in [
            ("127.0.0.1", &["203.0.113.7"][..], "203.0.113.7"),
            ("127.0.0.1", &["198.51.100.1, 203.0.113.7"], "203.0.113.7"),
            ("127.0.0.1", &["198.51.100.1", "203.0.113.7"], "203.0.113.7"),
            (
                "127.0.0.1",
                &["203.0.113.7,10.1.2.3 , 10.9.9.9"],
                "203.0.113.7",
            ),
            ("2001:db8::1", &["[2001:db9::7]:443"], "2001:db9::7"),
            ("127.0.0.1", &["203.0.113.7:5000"], "203.0.113.7"),
            ("::ffff:10.0.0.1", &["::ffff:203.0.113.7"], "203.0.113.7"),
            // Only proxies, or no header at all: the first proxy that is known.
            ("127.0.0.1", &["10.1.2.3"], "10.1.2.3"),
            ("127.0.0.1", &[], "127.0.0.1"),
            // Beyond an entry that names no address, everything may be forged.
            ("127.0.0.1", &["203.0.113.7, unknown, 10.1.2.3"], "0.0.0.0"),
            ("127.0.0.1", &["203.0.113.7, "], "0.0.0.0"),
            // The client's part of the line does not hide what the proxy appended.
            ("127.0.0.1", &["é, 203.0.113.7"], "203.0.113.7"),
            ("127.0.0.1", &["203.0.113.7, é"], "0.0.0.0"),
            // Not a proxy: the header is the client's.
            ("198.51.100.9", &["203.0.113.7"], "198.51.100.9"),
        ] {
            assert_eq!(client(header, hop, lines), expected, "{hop} {lines:?}");
        }
    }

    #[test]
    fn reads_the_standard_header() {
        let header = ClientAddressHeader::Forwarded;
        for (line, expected) in [
            ("for=203.0.113.7", "203.0.113.7"),
            ("For=\"203.0.113.7:80\";proto=https", "203.0.113.7"),
            (
                "proto=http; for=\"[2001:db9::7]:443\" ;by=10.0.0.1",
                "2001:db9::7",
            ),
            ("for=\"[2001:db9::7]\"", "2001:db9::7"),
            (
                "for=198.51.100.1, for=203.0.113.7, for=10.1.2.3",
                "203.0.113.7",
            ),
            ("for=203.0.113.7;by=\"a,b\"", "203.0.113.7"),
            ("for=203.0.113.7, for=\"_hidden\"", "0.0.0.0"),
            ("for=203.0.113.7, proto=https", "0.0.0.0"),
            ("for=203.0.113.7, for=unknown, for=10.1.2.3", "0.0.0.0"),
            ("for=\"203.0.113.7", "0.0.0.0"),
            ("for=203.0.113.7;for=198.51.100.1", "0.0.0.0"),
        ] {
            assert_eq!(client(header, "127.0.0.1", &[line]), expected, "{line}");
        }
    }

    #[test]
    fn a_network_is_an_address_or_a_block() {
        for text in [
            "10.0.0.1",
            "10.0.0.0/8",
            "::1",
            "2001:db8::/32",
            "0.0.0.0/0",
        ] {
            assert!(text.parse::<ProxyNetwork>().is_ok(), "{text}");
        }
        for text in [
            "",
            "10.0.0.1/8",
            "10.0.0.0/33",
            "localhost",
            "10.0.0",
            "::ffff:10.0.0.0/104",
        ] {
            assert_eq!(text.parse::<ProxyNetwork>(), Err(InvalidNetwork), "{text}");
        }
    }
}
