//! The address at which clients reach WebTransport, if it differs from the address on which the peer listens.

use std::fmt;
use std::str::FromStr;
use url::Host;

/// A host and port for clients. Without a host, clients use the host of the peer's HTTP transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvertisedEndpoint {
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    pub host: Option<String>,
    /// The UDP port.
    pub port: u16,
}

/// The text is neither `host:port` nor `:port`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidEndpoint;

impl fmt::Display for InvalidEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not host:port, nor :port")
    }
}

impl std::error::Error for InvalidEndpoint {}

impl FromStr for AdvertisedEndpoint {
    type Err = InvalidEndpoint;

    fn from_str(text: &str) -> Result<Self, InvalidEndpoint> {
        let (host, port) = text.rsplit_once(':').ok_or(InvalidEndpoint)?;
        let port = port.parse().map_err(|_| InvalidEndpoint)?;
        if port == 0 {
            return Err(InvalidEndpoint);
        }
        let host = match host {
            "" => None,
            host => {
                let host = Host::parse(host).map_err(|_| InvalidEndpoint)?;
                Some(host.to_string())
            }
        };
        Ok(Self { host, port })
    }
}

impl From<u16> for AdvertisedEndpoint {
    fn from(port: u16) -> Self {
        Self { host: None, port }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_port_with_or_without_a_host() {
        for (text, host, port) in [
            (":443", None, 443),
            ("Peer-1.example:4433", Some("peer-1.example"), 4433),
            ("203.0.113.7:1", Some("203.0.113.7"), 1),
            ("[2001:db8::1]:65535", Some("[2001:db8::1]"), 65535),
        ] {
            let host = host.map(str::to_owned);
            assert_eq!(
                text.parse(),
                Ok(AdvertisedEndpoint { host, port }),
                "{text}"
            );
        }
        for text in [
            "",
            "443",
            "peer.example",
            "peer.example:0",
            "peer.example:65536",
            "https://peer.example:443",
            "peer.example:443/v1",
            "2001:db8::1:443",
            "a b:443",
        ] {
            let parsed: Result<AdvertisedEndpoint, _> = text.parse();
            assert_eq!(parsed, Err(InvalidEndpoint), "{text}");
        }
    }
}
