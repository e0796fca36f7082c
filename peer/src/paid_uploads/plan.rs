//! The quotes for a record, as clients keep them between quoting, paying and storing.

use super::RecordName;
use super::text::{Base64, Text};
use crate::address::Address;
use crate::limits::{MAX_CHUNK_BYTES, POINTER_BYTES};
use serde::{Deserialize, Serialize};

/// The quotes for one record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// The address of the record.
    pub address: Text<Address>,
    /// The state of a pointer. A chunk has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_id: Option<Text<Address>>,
    /// The size of the record in bytes.
    pub size: u32,
    /// The quotes, in ascending order of price and node.
    pub quotes: Vec<Quote>,
}

/// The price that one node signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Quote {
    /// The node: the BLAKE3 hash of its key.
    pub peer: Text<Address>,
    /// When the node signed, in seconds since 1970.
    pub timestamp: u64,
    /// The price in atto.
    pub price: Text<u128>,
    /// Where the node gets its reward.
    pub rewards_address: Text<super::EvmHex<20>>,
    /// The ML-DSA-65 key of the node.
    pub public_key: Text<Base64>,
    /// The ML-DSA-65 signature of the node.
    pub signature: Text<Base64>,
    /// The number of records that the price is derived from.
    pub committed_key_count: u32,
    /// The hash of the commitment to those records. A node without records has none.
    pub commitment_pin: Option<Text<Address>>,
    /// The commitment.
    pub commitment: Option<Commitment>,
}

/// The records that a node says it stores. Its node and key are those of the quote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Commitment {
    /// The root of the Merkle tree of the records.
    pub root: Text<Address>,
    /// The number of records.
    pub key_count: u32,
    /// The ML-DSA-65 signature of the node.
    pub signature: Text<Base64>,
}

impl Plan {
    /// The record that the plan is for.
    pub fn record(&self) -> RecordName {
        match self.state_id {
            None => RecordName::Chunk(self.address.0),
            Some(state) => RecordName::Pointer {
                address: self.address.0,
                state: state.0,
            },
        }
    }
}

/// A record in a request for quotes. A pointer has a state, and no size.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestedRecord {
    address: Text<Address>,
    state_id: Option<Text<Address>>,
    size: Option<u32>,
}

impl RequestedRecord {
    /// The record and its size. `None` if the size is not one that the network stores.
    pub fn parts(&self) -> Option<(RecordName, u32)> {
        let address = self.address.0;
        match (self.state_id, self.size) {
            (None, Some(size)) if (1..=MAX_CHUNK_BYTES).contains(&size) => {
                Some((RecordName::Chunk(address), size))
            }
            (Some(state), None) => Some((
                RecordName::Pointer {
                    address,
                    state: state.0,
                },
                POINTER_BYTES as u32,
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(fields: &str) -> Option<(RecordName, u32)> {
        let json = format!(r#"{{"address":"{}"{fields}}}"#, "ab".repeat(32));
        let record: RequestedRecord = serde_json::from_str(&json).ok()?;
        record.parts()
    }

    #[test]
    fn a_chunk_has_a_size_and_a_pointer_has_a_state() {
        let address = Address::from([0xab; 32]);
        assert_eq!(
            parts(r#","size":4194304"#),
            Some((RecordName::Chunk(address), 4_194_304))
        );
        let state = Address::from([0xcd; 32]);
        let pointer = format!(r#","stateId":"{state}""#);
        let named = RecordName::Pointer { address, state };
        assert_eq!(parts(&pointer), Some((named, 5303)));
        assert_eq!((named.address(), named.quoted()), (address, state));
        for fields in [
            "",
            r#","size":0"#,
            r#","size":4194305"#,
            r#","size":"1""#,
            r#","size":1,"kind":1"#,
            &format!(r#"{pointer},"size":1"#),
        ] {
            assert_eq!(parts(fields), None, "{fields}");
        }
    }
}
