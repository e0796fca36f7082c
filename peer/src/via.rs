//! Which peers a request has come by, so that peers that ask each other do not do so forever.

use ring::rand::{SystemRandom, generate};
use std::fmt;
use std::str::FromStr;

/// The HTTP header that carries it, from one peer to the next.
pub const VIA_HEADER: &str = "antway-via";

/// The most peers that a request may come by.
const MAX_PEERS: usize = 4;

/// Names a running peer: 16 hex digits that it chose at random when it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeerId(u64);

/// The peers that a request has come by, the first one first. Empty for a client's own request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Via(Vec<PeerId>);

/// The header is no list of peers, or there are more of them than a request may come by.
#[derive(Debug, PartialEq, Eq)]
pub struct BadVia;

impl PeerId {
    /// A new one.
    pub fn random() -> Self {
        let random =
            generate::<[u8; 8]>(&SystemRandom::new()).expect("the system has random bytes");
        Self(u64::from_ne_bytes(random.expose()))
    }
}

impl Via {
    /// Whether it has come by this peer.
    pub fn contains(&self, id: PeerId) -> bool {
        self.0.contains(&id)
    }

    /// Whether a client asked this peer itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What `id` tells the peers that it asks.
    pub fn and(&self, id: PeerId) -> Self {
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
    fn the_way_grows_by_one_peer_at_a_time_up_to_a_limit() {
        let ids: Vec<_> = (0..5).map(|_| PeerId::random()).collect();
        let mut via = Via::default();
        assert!(via.is_empty());
        for (n, id) in ids.iter().enumerate() {
            assert!(!via.contains(*id));
            via = via.and(*id);
            assert!(via.contains(*id));
            let read = via.to_string().parse();
            match n < MAX_PEERS {
                true => assert_eq!(read, Ok(via.clone())),
                false => assert_eq!(read, Err(BadVia)),
            }
        }
    }

    #[test]
    fn what_no_peer_writes_is_refused() {
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
