//! The headers in which proxies report the addresses of their clients: `X-Forwarded-For`, or `Forwarded` (RFC 7239).

use axum::http::header::FORWARDED;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// The header that the trusted proxies set. The peer reads only one: a proxy passes on the other one as the client
/// sent it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAddressHeader {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `Forwarded`.
    Forwarded,
}

impl FromStr for ClientAddressHeader {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.to_ascii_lowercase().as_str() {
            "x-forwarded-for" => Ok(Self::XForwardedFor),
            "forwarded" => Ok(Self::Forwarded),
            _ => Err("not `x-forwarded-for`, nor `forwarded`"),
        }
    }
}

impl ClientAddressHeader {
    /// The name of the header.
    pub fn name(self) -> HeaderName {
        match self {
            Self::XForwardedFor => HeaderName::from_static("x-forwarded-for"),
            Self::Forwarded => FORWARDED,
        }
    }

    /// The reported addresses, the last one first. `None` for an entry without a readable address.
    pub fn addresses(self, headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
        let lines = headers.get_all(self.name()).into_iter().rev();
        lines.flat_map(move |line| -> Box<dyn Iterator<Item = _> + '_> {
            match self {
                Self::XForwardedFor => Box::new(x_forwarded_for(line)),
                Self::Forwarded => Box::new(forwarded(line).into_iter().rev()),
            }
        })
    }
}

/// The last entry first. The client's part of the line may have any bytes, and proxies append to it.
fn x_forwarded_for(line: &HeaderValue) -> impl Iterator<Item = Option<IpAddr>> {
    let entries = line.as_bytes().rsplit(|&byte| byte == b',');
    entries.map(|entry| parse_node(str::from_utf8(entry).ok()?.trim()))
}

fn forwarded(line: &HeaderValue) -> Vec<Option<IpAddr>> {
    let Some(entries) = line.to_str().ok().and_then(|line| split_quoted(line, ',')) else {
        return vec![None];
    };
    entries.into_iter().map(parse_forwarded_entry).collect()
}

/// The address in an entry such as `for="[2001:db8::1]:80";proto=https`. `None` without exactly one `for`.
fn parse_forwarded_entry(entry: &str) -> Option<IpAddr> {
    let mut found = None;
    for pair in split_quoted(entry, ';')? {
        let (name, value) = pair.split_once('=')?;
        if !name.trim().eq_ignore_ascii_case("for") {
            continue;
        }
        if found.is_some() {
            return None;
        }
        let value = value.trim();
        let quoted = value
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        found = Some(parse_node(quoted.unwrap_or(value))?);
    }
    found
}

/// Splits at separators outside of quotation marks. `None` if a quotation mark is missing.
fn split_quoted(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (index, character) in text.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if character == separator && !is_quoted => {
                parts.push(&text[start..index]);
                start = index + separator.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (!is_quoted).then_some(parts)
}

/// An address, with or without a port.
fn parse_node(text: &str) -> Option<IpAddr> {
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let with_port = || text.parse().ok().map(|address: SocketAddr| address.ip());
    let ip = text.parse().ok().or_else(bracketed).or_else(with_port);
    ip.map(|ip: IpAddr| ip.to_canonical())
}
