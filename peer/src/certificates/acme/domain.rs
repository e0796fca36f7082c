//! The name of a peer, for which an authority issues a certificate.

use std::fmt;
use std::str::FromStr;
use url::Host;

/// A domain name in lower case, without a wildcard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcmeDomain(String);

/// Why a text is no such name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidDomain {
    /// A wildcard. The authority would check it by a DNS record.
    Wildcard,
    /// Not a domain name, such as an IP address.
    NotADomain,
}

impl fmt::Display for InvalidDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wildcard => {
                "a wildcard needs a tool with access to your DNS records, such as certbot; \
                 use its files with --cert and --key"
            }
            Self::NotADomain => "not a domain name such as peer.example",
        })
    }
}

impl std::error::Error for InvalidDomain {}

impl FromStr for AcmeDomain {
    type Err = InvalidDomain;

    fn from_str(text: &str) -> Result<Self, InvalidDomain> {
        if text.starts_with("*.") {
            return Err(InvalidDomain::Wildcard);
        }
        let Ok(Host::Domain(domain)) = Host::parse(text) else {
            return Err(InvalidDomain::NotADomain);
        };
        let is_label = |label: &str| {
            let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
            (1..=63).contains(&label.len())
                && label.chars().all(is_inner)
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        match domain.len() <= 253 && domain.split('.').all(is_label) {
            true => Ok(Self(domain)),
            false => Err(InvalidDomain::NotADomain),
        }
    }
}

impl AsRef<str> for AcmeDomain {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_name_without_a_wildcard() {
        for (text, name) in [
            ("peer.example", "peer.example"),
            ("Peer.EXAMPLE", "peer.example"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(text.parse::<AcmeDomain>().unwrap().as_ref(), name);
        }
        let long = format!("{}.example", "x".repeat(64));
        for text in [
            "",
            "203.0.113.7",
            "[::1]",
            "peer.example.",
            "a..b",
            "-a.example",
            "a_b.example",
            "a b",
            "https://peer.example",
            "peer.example:443",
            &long,
        ] {
            let parsed = text.parse::<AcmeDomain>();
            assert_eq!(parsed, Err(InvalidDomain::NotADomain), "{text}");
        }
        let wildcard = "*.peer.example".parse::<AcmeDomain>();
        assert_eq!(wildcard, Err(InvalidDomain::Wildcard));
    }
}
