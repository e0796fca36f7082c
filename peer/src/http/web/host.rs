//! The host of a request, parsed from the `Host` header.

use crate::origins::is_site_name;
use axum::http::HeaderValue;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The host of a request, in the form that a policy needs.
#[derive(Debug, PartialEq, Eq)]
pub enum Host {
    /// The root origin: name and port.
    Root(String),
    /// A site origin.
    Site {
        /// The site origin's name and port.
        own: String,
        /// The root origin's name and port.
        root: String,
    },
    /// `127.0.0.1`, which has no subdomains: name and port.
    Loopback(String),
    /// `[::1]`, which a policy cannot name: the port with its colon, or nothing.
    Loopback6(String),
    /// A host that a policy cannot name.
    Unnamed,
}

impl Host {
    /// Parses the value of `Host`.
    pub fn from_header(value: Option<&HeaderValue>) -> Self {
        let text = value.and_then(|value| value.to_str().ok()).unwrap_or("");
        let text = text.to_ascii_lowercase();
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, format!(":{port}")),
            _ => (&*text, String::new()),
        };
        let is_port = port.len() <= 6 && port.bytes().skip(1).all(|b| b.is_ascii_digit());
        if !is_port || port == ":" {
            return Self::Unnamed;
        }
        let v6 = name
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if v6.is_some_and(|v6| v6.parse() == Ok(Ipv6Addr::LOCALHOST)) {
            return Self::Loopback6(port);
        }
        if name == Ipv4Addr::LOCALHOST.to_string() {
            return Self::Loopback(text);
        }
        // A name that ends with a digit is an IP address in some notation. Policies match no IP address except
        // 127.0.0.1.
        let is_name =
            name.split('.').all(is_label) && !name.ends_with(|last: char| last.is_ascii_digit());
        match name.split_once('.') {
            _ if !is_name => Self::Unnamed,
            Some((_, root)) if is_site_name(name) => Self::Site {
                root: format!("{root}{port}"),
                own: text,
            },
            _ => Self::Root(text),
        }
    }
}

fn is_label(label: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
    !label.is_empty() && label.bytes().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Host {
        Host::from_header(Some(&HeaderValue::from_str(text).unwrap()))
    }

    #[test]
    fn a_policy_contains_only_plain_names_and_loopback() {
        assert_eq!(host("LocalHost:1"), Host::Root("localhost:1".to_owned()));
        assert_eq!(host("a.example"), Host::Root("a.example".to_owned()));
        assert_eq!(
            host("127.0.0.1:80"),
            Host::Loopback("127.0.0.1:80".to_owned())
        );
        assert_eq!(host("[::1]:80"), Host::Loopback6(":80".to_owned()));
        assert_eq!(host("[::1]"), Host::Loopback6(String::new()));
        assert_eq!(Host::from_header(None), Host::Unnamed);
        for odd in [
            "",
            ":80",
            "a.example:",
            "a.example:x",
            "a.example:123456",
            "a.example:80:80",
            "a..example",
            "a.example.",
            ".example",
            "*.example",
            "a.example;x",
            "a.example 'self'",
            "a.example/x",
            "a_b.example",
            "[::2]:80",
            "10.0.0.1",
            "0x7f.1",
            "[::1",
            "::1",
            "a.example,b",
            "user@a.example",
            "127.1",
        ] {
            assert_eq!(host(odd), Host::Unnamed, "{odd}");
            assert!(!host(odd).policy_of("/").contains("example"), "{odd}");
        }
    }
}
