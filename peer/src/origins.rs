//! Which web pages may use this peer, by the `Origin` that browsers tell.
//!
//! Reads are public, so limiting them to origins only spares the peer other people's visitors. Writes without
//! a token are the danger: a page from anywhere runs in the browser of whoever runs a peer on loopback, and
//! must not fill its disk, neither directly nor by a name that it points to 127.0.0.1 (DNS rebinding).

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::str::FromStr;

/// The origins of `--allow-origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedOrigins {
    /// `*`: pages from everywhere may read, and with a token write.
    Any,
    /// Only pages from these.
    Listed(BTreeSet<String>),
}

impl AllowedOrigins {
    /// Builds it from the values of the flag; `*` among them wins.
    pub fn new(origins: impl IntoIterator<Item = AllowedOrigin>) -> Self {
        let mut listed = BTreeSet::new();
        for origin in origins {
            match origin {
                AllowedOrigin::Any => return Self::Any,
                AllowedOrigin::One(origin) => listed.insert(origin),
            };
        }
        Self::Listed(listed)
    }

    /// Whether pages from everywhere may read.
    pub fn are_any(&self) -> bool {
        *self == Self::Any
    }

    /// Whether a page from `origin` may read. Clients that are not browsers send none, and may.
    pub fn may_read(&self, origin: Option<&str>) -> bool {
        match (self, origin) {
            (Self::Any, _) | (_, None) => true,
            (Self::Listed(listed), Some(origin)) => listed.contains(origin),
        }
    }

    fn lists(&self, origin: &str) -> bool {
        matches!(self, Self::Listed(listed) if listed.contains(origin))
    }

    /// Whether a page from `origin` may write to a peer that it reached as `host` (name and port), given
    /// that the peer wants a token for it.
    pub fn may_write_with_token(&self, origin: Option<&str>, host: &str) -> bool {
        self.may_read(origin) || origin.is_some_and(|origin| is_same_origin(origin, host))
    }

    /// The same for a peer that lets everyone on its machine write. A page on another name or port of the
    /// machine is another site: those that a gateway serves have names of their own below its own.
    pub fn may_write_openly(&self, origin: Option<&str>, host: &str) -> bool {
        is_loopback_name(without_port(host))
            && origin.is_none_or(|origin| self.lists(origin) || is_same_origin(origin, host))
    }
}

/// One value of `--allow-origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedOrigin {
    /// `*`
    Any,
    /// Scheme, host and port, as browsers send it.
    One(String),
}

impl FromStr for AllowedOrigin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "*" {
            return Ok(Self::Any);
        }
        let is_origin = host_of_origin(text).is_some_and(|host| {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|b| b.is_ascii_graphic() && !b"/?#@*".contains(&b))
        });
        if is_origin && *text == text.to_ascii_lowercase() {
            Ok(Self::One(text.to_owned()))
        } else {
            Err("not `*` or an origin such as https://example.org (lower case, no path)")
        }
    }
}

fn host_of_origin(origin: &str) -> Option<&str> {
    let (scheme, host) = origin.split_once("://")?;
    (!scheme.is_empty()).then_some(host)
}

fn is_same_origin(origin: &str, host: &str) -> bool {
    host_of_origin(origin).is_some_and(|of_origin| of_origin.eq_ignore_ascii_case(host))
}

/// The name in `name:port`, `name`, `[v6]:port` or `[v6]`.
fn without_port(host: &str) -> &str {
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((v6, _)) => v6,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    }
}

/// Whether browsers and resolvers never take this name beyond the machine itself.
pub fn is_loopback_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_loopback_address = name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    is_loopback_address || name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> AllowedOrigins {
        AllowedOrigins::new(["https://a.example".parse().unwrap()])
    }

    #[test]
    fn values_are_a_star_or_origins() {
        for bad in [
            "",
            "example.org",
            "https://",
            "https://A.example",
            "https://a.example/",
            "https://*.example",
            "null",
        ] {
            assert!(bad.parse::<AllowedOrigin>().is_err(), "{bad}");
        }
        assert_eq!("*".parse(), Ok(AllowedOrigin::Any));
        assert!("http://[::1]:8080".parse::<AllowedOrigin>().is_ok());
        let values = ["https://a.example", "*"].map(|v| v.parse().unwrap());
        assert_eq!(AllowedOrigins::new(values), AllowedOrigins::Any);
    }

    #[test]
    fn a_list_limits_browsers_and_nothing_else() {
        assert!(listed().may_read(None));
        assert!(listed().may_read(Some("https://a.example")));
        assert!(!listed().may_read(Some("https://b.example")));
        assert!(AllowedOrigins::Any.may_read(Some("https://b.example")));
    }

    #[test]
    fn a_token_lets_allowed_and_same_origins_write() {
        let host = "peer.example:8080";
        assert!(listed().may_write_with_token(Some("https://a.example"), host));
        assert!(listed().may_write_with_token(Some("http://peer.example:8080"), host));
        assert!(!listed().may_write_with_token(Some("http://peer.example"), host));
        assert!(AllowedOrigins::Any.may_write_with_token(Some("null"), host));
    }

    #[test]
    fn open_writes_are_for_the_peers_own_pages_and_for_listed_origins() {
        let any = AllowedOrigins::Any;
        for host in [
            "127.0.0.1:8080",
            "localhost",
            "[::1]:8080",
            "x.antway.localhost:1",
        ] {
            assert!(any.may_write_openly(None, host), "{host}");
            assert!(any.may_write_openly(Some(&format!("http://{host}")), host));
            for other in [
                "http://localhost:5173",
                "http://antway.localhost",
                "http://y.x.antway.localhost:1",
                "https://evil.example",
                "http://localhost.evil.example",
                "null",
            ] {
                assert!(!any.may_write_openly(Some(other), host), "{other} {host}");
            }
            assert!(listed().may_write_openly(Some("https://a.example"), host));
        }
        let rebound = "evil.example:8080";
        assert!(!any.may_write_openly(None, rebound));
        assert!(!any.may_write_openly(Some("http://evil.example:8080"), rebound));
        assert!(!any.may_write_openly(Some("http://localhost"), "127.0.0.1.evil.example"));
        assert!(!any.may_write_openly(None, ""));
    }
}
