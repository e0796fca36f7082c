//! What can be told of a pointer record without checking its signature, which the client does.
//!
//! A record has 5,303 bytes: version, owner's public key (1,952), counter (u64), kind, target (32), signature.

use crate::address::Address;
use crate::limits::POINTER_BYTES;
use bytes::Bytes;

const VERSION: u8 = 1;
const OWNER_BYTES: usize = 1952;
const COUNTER_BYTES: usize = 8;
const TARGET_BYTES: usize = 32;

/// The context in which an owner's key is hashed to the address.
const ADDRESS_CONTEXT: &str = "autonomi.pointer.address.v1";

/// Whether the record says that it belongs at `address`.
pub fn is_at(record: &[u8], address: Address) -> bool {
    if record.len() != POINTER_BYTES || record[0] != VERSION {
        return false;
    }
    let owner = &record[1..1 + OWNER_BYTES];
    Address::from(blake3::derive_key(ADDRESS_CONTEXT, owner)) == address
}

/// The newer of two records of one owner: the one with the larger counter, or else the smaller target.
pub fn newer(a: Bytes, b: Bytes) -> Bytes {
    let (counter_a, target_a) = state(&a);
    let (counter_b, target_b) = state(&b);
    let b_is_newer = counter_b > counter_a || counter_b == counter_a && target_b < target_a;
    if b_is_newer { b } else { a }
}

/// Counter and target. Both have a fixed place in a record of the right length.
fn state(record: &[u8]) -> (u64, &[u8]) {
    let rest = &record[1 + OWNER_BYTES..];
    let (counter, rest) = rest.split_at(COUNTER_BYTES);
    let counter = counter.try_into().expect("eight bytes");
    (u64::from_be_bytes(counter), &rest[1..1 + TARGET_BYTES])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn fixture(name: &str) -> Bytes {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/self-encryption");
        fs::read(folder.join(name)).unwrap().into()
    }

    #[test]
    fn a_record_belongs_to_its_owner() {
        let json: serde_json::Value = serde_json::from_slice(&fixture("pointers.json")).unwrap();
        let text = json.to_string();
        let record = fixture("pointer-s1-c0.bin");
        let owner = blake3::derive_key(ADDRESS_CONTEXT, &record[1..1953]);
        let address = Address::from(owner);
        assert!(text.contains(&address.to_string()), "{text}");
        assert!(is_at(&record, address));
        assert!(is_at(&fixture("pointer-s1-c7.bin"), address));
        assert!(!is_at(&fixture("pointer-s2-c3.bin"), address));
        assert!(!is_at(&record[1..], address));
        assert!(!is_at(b"", address));
    }

    #[test]
    fn the_larger_counter_is_newer() {
        let old = fixture("pointer-s1-c0.bin");
        let new = fixture("pointer-s1-c7.bin");
        let last = fixture("pointer-s1-c18446744073709551615.bin");
        assert_eq!(newer(old.clone(), new.clone()), new);
        assert_eq!(newer(new.clone(), old), new);
        assert_eq!(newer(last.clone(), new), last);
    }
}
