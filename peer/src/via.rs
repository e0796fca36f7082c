//! The peers that forwarded a request. Peers use it to detect request loops.

use ring::rand::{SystemRandom, generate};
use std::fmt;
use std::str::FromStr;

/// The HTTP header that carries the list from one peer to the next.
pub const VIA_HEADER: &str = "antway-via";

/// The maximum number of peers that may forward a request.
const MAX_PEERS: usize = 4;

/// The id of a running peer: 16 hex digits, chosen at random at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeerId(u64);

/// The peers that forwarded a request, the first one first. Empty for a client's own request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Via(Vec<PeerId>);

/// The header is not a list of peer ids, or the list is too long.
#[derive(Debug, PartialEq, Eq)]
pub struct BadVia;

impl PeerId {
    /// A new random id.
    pub fn random() -> Self {
        let random =
            generate::<[u8; 8]>(&SystemRandom::new()).expect("the system has random bytes");
        Self(u64::from_ne_bytes(random.expose()))
    }
}

impl Via {
    /// Whether this peer forwarded the request before.
    pub fn contains(&self, id: PeerId) -> bool {
        self.0.contains(&id)
    }

    /// Whether the request comes from a client, not from a peer.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The list with `id` at its end, for the header of a forwarded request.
    pub fn with(&self, id: PeerId) -> Self {
        let ids = self.0.iter().copied().chain([id]);
        Self(ids.collect())
    }
}

impl FromStr for Via {
    type Err = BadVia;

    fn from_str(text: &str) -> Result<Self, BadVia> {
        let ids = text.split(',').map(|id| {
            let id = id.trim();
            match u64::from_str_radix(id, 16) {
                Ok(number) if id.len() == 16 && !id.starts_with('+') => Ok(PeerId(number)),
                _ => Err(BadVia),
            }
        });
        let ids: Vec<_> = ids.take(MAX_PEERS + 1).collect::<Result<_, _>>()?;
        match ids.len() {
            ..=MAX_PEERS => Ok(Self(ids)),
            _ => Err(BadVia),
        }
    }
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, id) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{:016x}", id.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_peers_grows_up_to_a_limit() {
        let ids: Vec<_> = (0..5).map(|_| PeerId::random()).collect();
        let mut via = Via::default();
        assert!(via.is_empty());
        for (n, id) in ids.iter().enumerate() {
            assert!(!via.contains(*id));
            via = via.with(*id);
            assert!(via.contains(*id));
            let read = via.to_string().parse();
            match n < MAX_PEERS {
                true => assert_eq!(read, Ok(via.clone())),
                false => assert_eq!(read, Err(BadVia)),
            }
        }
    }

    #[test]
    fn rejects_malformed_lists() {
        for bad in [
            "",
            "1",
            "0123456789abcdeg",
            "+123456789abcdef",
            "0123456789abcdef,",
        ] {
            assert_eq!(bad.parse::<Via>(), Err(BadVia), "{bad}");
        }
    }
}
