//! Checks which web pages may use this peer, based on the `Origin` header.
//!
//! Reads are public. A list of origins only saves bandwidth. Writes without a token are dangerous: any page in the
//! browser of a user who runs a peer on loopback could fill the user's disk. It could send requests directly, or
//! under its own host name that resolves to 127.0.0.1 (DNS rebinding).

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::str::FromStr;

/// The length of 32 bytes in base 32, without padding.
const SITE_LABEL_LENGTH: usize = 52;

/// The origins of `--allow-origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedOrigins {
    /// `*`: pages from all origins may read, and may write with a token.
    Any,
    /// Only pages from these origins.
    Listed(BTreeSet<String>),
    /// The default of a peer for one machine: pages of this machine, and pages from these origins. The chunks tell
    /// which sites the user opened, so other websites must not ask for them.
    Loopback(BTreeSet<String>),
}

impl AllowedOrigins {
    /// Collects the values of the flag. `*` overrides all other values.
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

    /// The same for a peer that only this machine reaches.
    pub fn on_loopback(self) -> Self {
        match self {
            Self::Listed(listed) => Self::Loopback(listed),
            other => other,
        }
    }

    /// Whether only this machine reaches the peer.
    pub fn is_loopback(&self) -> bool {
        matches!(self, Self::Loopback(_))
    }

    /// Whether pages from all origins may read.
    pub fn allows_all(&self) -> bool {
        *self == Self::Any
    }

    /// Whether a page from `origin` may read. Clients that are not browsers send no origin, and may read. `host` is the
    /// `Host` of the request: name and port. A page at another name that leads to this machine sends no origin.
    pub fn may_read(&self, origin: Option<&str>, host: &str) -> bool {
        match (self, origin) {
            (Self::Any, _) | (Self::Listed(_), None) => true,
            (Self::Listed(_), Some(origin)) => self.is_listed(origin) || is_site_of(origin, host),
            (Self::Loopback(listed), _) => {
                let is_own_host = strip_port(host).is_some_and(is_loopback_name)
                    || listed.iter().any(|origin| is_same_origin(origin, host));
                let is_own_page = |origin| {
                    let name = host_of_origin(origin).and_then(strip_port);
                    self.is_listed(origin) || name.is_some_and(is_loopback_name)
                };
                is_own_host && origin.is_none_or(is_own_page)
            }
        }
    }

    fn is_listed(&self, origin: &str) -> bool {
        match self {
            Self::Any => false,
            Self::Listed(listed) | Self::Loopback(listed) => listed.contains(origin),
        }
    }

    /// Whether a page from `origin` may write with a valid token. `host` is the `Host` of the request: name and port.
    pub fn may_write_with_token(&self, origin: Option<&str>, host: &str) -> bool {
        self.may_read(origin, host) || origin.is_some_and(|origin| is_same_origin(origin, host))
    }

    /// Whether a page from `origin` may write without a token, to a peer that only listens on loopback. A page on
    /// another name or port of the machine is another site. The site origins of a gateway may not write, not even
    /// under their own names: their pages are from strangers.
    pub fn may_write_openly(&self, origin: Option<&str>, host: &str) -> bool {
        let is_shared = |name: &str| !is_site_name(name);
        strip_port(host).is_some_and(|name| is_loopback_name(name) && is_shared(name))
            && origin.is_none_or(|origin| {
                let name = host_of_origin(origin).and_then(strip_port);
                name.is_some_and(is_shared)
                    && (self.is_listed(origin) || is_same_origin(origin, host))
            })
    }
}

/// One value of `--allow-origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowedOrigin {
    /// `*`
    Any,
    /// Scheme, host and port, as browsers send them.
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
    host_of_origin(origin).is_some_and(|origin_host| origin_host.eq_ignore_ascii_case(host))
}

/// Whether `origin` is that of a site of the gateway at `host`. Its worker asks this peer for the site's chunks.
fn is_site_of(origin: &str, host: &str) -> bool {
    host_of_origin(origin).is_some_and(|origin_host| {
        strip_port(origin_host).is_some_and(is_site_name)
            && origin_host
                .split_once('.')
                .is_some_and(|(_, root)| root.eq_ignore_ascii_case(host))
    })
}

/// The name in `name:port`, `name`, `[v6]:port` or `[v6]`. `None` for any other text.
fn strip_port(host: &str) -> Option<&str> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(name)
}

/// Whether a gateway could use this name for the origin of a site: the first label is an address in base 32.
pub fn is_site_name(name: &str) -> bool {
    name.split_once('.').is_some_and(|(label, _)| {
        label.len() == SITE_LABEL_LENGTH
            && label
                .bytes()
                .all(|b| b.is_ascii_alphabetic() || (b'2'..=b'7').contains(&b))
    })
}

/// Whether browsers and resolvers always resolve this name to the machine itself.
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
    fn accepts_a_star_or_origins() {
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
    fn a_list_of_origins_restricts_only_browsers() {
        let host = "peer.example";
        assert!(listed().may_read(None, host));
        assert!(listed().may_read(Some("https://a.example"), host));
        assert!(!listed().may_read(Some("https://b.example"), host));
        assert!(AllowedOrigins::Any.may_read(Some("https://b.example"), host));
        let site = format!("https://{}.{host}", "a2".repeat(26));
        assert!(listed().may_read(Some(&site), host));
        assert!(!listed().may_read(Some(&site), "other.example"));
    }

    #[test]
    fn on_loopback_only_pages_of_this_machine_and_listed_origins_read() {
        let origins = listed().on_loopback();
        for host in [
            "127.0.0.1:8080",
            "localhost",
            "[::1]:80",
            "antway.localhost:1",
        ] {
            assert!(origins.may_read(None, host), "{host}");
            for own in [
                "http://localhost:5173",
                "http://127.0.0.1",
                "http://[::1]:80",
                "http://x.antway.localhost",
                "https://a.example",
            ] {
                assert!(origins.may_read(Some(own), host), "{own} {host}");
            }
            for other in [
                "https://evil.example",
                "http://localhost.evil.example",
                "null",
            ] {
                assert!(!origins.may_read(Some(other), host), "{other} {host}");
            }
        }
        // A name of a stranger that leads to this machine.
        assert!(!origins.may_read(None, "evil.example:8080"));
        assert!(origins.may_read(None, "a.example"));
        assert_eq!(AllowedOrigins::Any.on_loopback(), AllowedOrigins::Any);
    }

    #[test]
    fn with_a_token_allowed_and_same_origins_may_write() {
        let host = "peer.example:8080";
        assert!(listed().may_write_with_token(Some("https://a.example"), host));
        assert!(listed().may_write_with_token(Some("http://peer.example:8080"), host));
        assert!(!listed().may_write_with_token(Some("http://peer.example"), host));
        assert!(AllowedOrigins::Any.may_write_with_token(Some("null"), host));
    }

    #[test]
    fn recognises_site_names_by_their_first_label() {
        let label = "abcdefghijklmnopqrstuvwxyz234567".repeat(2)[..52].to_owned();
        for name in ["localhost", "antway.localhost", "gateway.example"] {
            assert!(is_site_name(&format!("{label}.{name}")));
            for other in [
                &label[1..],
                &format!("{label}a"),
                &label.replace('b', "1"),
                "",
            ] {
                assert!(!is_site_name(&format!("{other}.{name}")), "{other}");
            }
            assert!(!is_site_name(name) && !is_site_name(&format!("x.{label}.{name}")));
        }
        assert!(!is_site_name(&label));
    }

    #[test]
    fn open_writes_are_allowed_for_own_pages_and_listed_origins() {
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
        let site = format!("{}.antway.localhost:8080", "a2".repeat(26));
        let of_site = format!("http://{site}");
        let listing_site = AllowedOrigins::new([of_site.parse().unwrap()]);
        for origins in [&any, &listing_site] {
            assert!(!origins.may_write_openly(None, &site));
            assert!(!origins.may_write_openly(Some(&of_site), &site));
            assert!(!origins.may_write_openly(Some(&of_site), "antway.localhost:8080"));
            assert!(!origins.may_write_openly(Some(&of_site), "127.0.0.1:8080"));
            assert!(!origins.may_write_openly(None, &site.to_uppercase()));
        }
        let rebound = "evil.example:8080";
        assert!(!any.may_write_openly(None, rebound));
        assert!(!any.may_write_openly(Some("http://evil.example:8080"), rebound));
        assert!(!any.may_write_openly(Some("http://localhost"), "127.0.0.1.evil.example"));
        for odd in [
            "",
            "[::1]evil.example",
            "[::1]:80evil.example",
            "[::1",
            "localhost:evil.example",
            "127.0.0.1:80:evil.example",
            "127.0.0.1:",
        ] {
            assert!(!any.may_write_openly(None, odd), "{odd}");
            let origin = format!("http://{odd}");
            assert!(!any.may_write_openly(Some(&origin), odd), "{odd}");
            assert!(!any.may_write_openly(Some(&origin), "127.0.0.1"), "{odd}");
        }
    }
}
