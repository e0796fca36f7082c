//! The payment for many chunks at once: a Merkle tree of their addresses, and pools of nodes that may be paid for it.

use super::plan::Quote;
use super::text::Text;
use crate::address::Address;
use serde::{Deserialize, Serialize};

/// The number of nodes in a pool.
pub const POOL_NODES: usize = 16;

/// The deepest tree that nodes accept. It has 256 leaves.
pub const MAX_TREE_DEPTH: usize = 8;

/// How long nodes accept a payment after the time that its client chose, in seconds.
pub const BATCH_LIFETIME_SECONDS: u64 = 7 * 24 * 60 * 60;

/// A request for the nodes of some pools. The client has made the tree, and the peer need not know it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedPools {
    /// When the client pays, in seconds since 1970. The nodes sign it.
    pub timestamp: u64,
    /// The addresses whose closest nodes make the pools.
    pub pools: Vec<Text<Address>>,
}

/// The proof that a chunk is in a tree that was paid for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BatchProof {
    /// The address of the chunk.
    pub address: Text<Address>,
    /// The size of the chunk in bytes.
    pub size: u32,
    /// When the client paid, in seconds since 1970.
    pub timestamp: u64,
    /// The root of the tree.
    pub root: Text<Address>,
    /// From the chunk to the root.
    pub leaf: LeafBranch,
    /// The pool that the vault chose, and paid.
    pub pool: PaidPool,
}

/// The way from a chunk to the root of its tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LeafBranch {
    /// The place of the chunk among the leaves.
    pub index: usize,
    /// The random bytes that are hashed with the address.
    pub salt: Text<Address>,
    /// The neighbours on the way, from the leaves up.
    pub siblings: Vec<Text<Address>>,
}

/// A pool of nodes, with the way from its midpoint to the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PaidPool {
    /// The place of the midpoint in its row of the tree.
    pub index: usize,
    /// The midpoint: the node of the tree that the pool belongs to.
    pub midpoint: Text<Address>,
    /// The neighbours on the way, from the midpoint up.
    pub siblings: Vec<Text<Address>>,
    /// The nodes with their prices, in the order that was paid for. Their commitments may be left out.
    pub nodes: Vec<Quote>,
}

impl BatchProof {
    /// Whether all parts have the lengths that belong to a tree of this depth.
    pub fn has_valid_form(&self) -> bool {
        let depth = self.leaf.siblings.len();
        let pool_depth = depth.div_ceil(2);
        (1..=MAX_TREE_DEPTH).contains(&depth)
            && self.leaf.index < 1 << depth
            && self.pool.siblings.len() == pool_depth
            && self.pool.index < 1 << pool_depth
            && self.pool.nodes.len() == POOL_NODES
    }

    /// Whether nodes refuse the payment because of its age. `now` is in seconds since 1970.
    pub fn is_expired(&self, now: u64) -> bool {
        now.saturating_sub(self.timestamp) > BATCH_LIFETIME_SECONDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paid_uploads::{Base64, EvmHex};

    fn proof(depth: usize) -> BatchProof {
        let hash = Text(Address::from([1; 32]));
        let quote = Quote {
            peer: hash,
            timestamp: 1000,
            price: Text(1),
            rewards_address: Text(EvmHex([0; 20])),
            public_key: Text(Base64(vec![])),
            signature: Text(Base64(vec![])),
            committed_key_count: 0,
            commitment_pin: None,
            commitment: None,
        };
        BatchProof {
            address: hash,
            size: 1,
            timestamp: 1000,
            root: hash,
            leaf: LeafBranch {
                index: (1 << depth) - 1,
                salt: hash,
                siblings: vec![hash; depth],
            },
            pool: PaidPool {
                index: (1 << depth.div_ceil(2)) - 1,
                midpoint: hash,
                siblings: vec![hash; depth.div_ceil(2)],
                nodes: vec![quote; POOL_NODES],
            },
        }
    }

    #[test]
    fn a_tree_has_up_to_256_leaves_and_16_pools() {
        for depth in 1..=8 {
            assert!(proof(depth).has_valid_form(), "{depth}");
        }
        for depth in [0, 9] {
            assert!(!proof(depth).has_valid_form(), "{depth}");
        }
        let changes: [fn(&mut BatchProof); 5] = [
            |proof| proof.leaf.index += 1,
            |proof| proof.leaf.index = usize::MAX,
            |proof| proof.pool.index += 1,
            |proof| proof.pool.siblings.truncate(3),
            |proof| proof.pool.nodes.truncate(15),
        ];
        for change in changes {
            let mut changed = proof(7);
            change(&mut changed);
            assert!(!changed.has_valid_form());
        }
    }

    #[test]
    fn a_payment_expires_after_seven_days() {
        let proof = proof(6);
        let week = 7 * 24 * 60 * 60;
        assert!(!proof.is_expired(0));
        assert!(!proof.is_expired(1000 + week));
        assert!(proof.is_expired(1001 + week));
    }
}
