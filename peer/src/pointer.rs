//! Verifies and compares pointer records.
//!
//! A record has 5,303 bytes: version, owner's public key (1,952), counter (u64), kind, target (32), signature.

use crate::address::Address;
use crate::limits::POINTER_BYTES;
use bytes::Bytes;
use fips204::ml_dsa_65::PublicKey;
use fips204::traits::{SerDes, Verifier};
use std::cmp::Reverse;

const VERSION: u8 = 1;
const OWNER_BYTES: usize = 1952;
const COUNTER_BYTES: usize = 8;
const KIND_AND_TARGET_BYTES: usize = 1 + 32;

/// The key derivation context that turns an owner's key into the address.
const ADDRESS_CONTEXT: &str = "autonomi.pointer.address.v1";

/// The context of the signature, which is over everything before it.
const SIGNATURE_CONTEXT: &[u8] = b"autonomi.pointer.head.v1";

/// Whether the record's owner key belongs to `address`, and the owner signed the record.
pub fn is_valid(record: &[u8], address: Address) -> bool {
    if record.len() != POINTER_BYTES || record[0] != VERSION {
        return false;
    }
    let Some((owner, _)) = record[1..].split_first_chunk::<OWNER_BYTES>() else {
        return false;
    };
    if Address::from(blake3::derive_key(ADDRESS_CONTEXT, owner)) != address {
        return false;
    }
    let head = 1 + OWNER_BYTES + COUNTER_BYTES + KIND_AND_TARGET_BYTES;
    let (head, signature) = record.split_at(head);
    let (Ok(owner), Ok(signature)) = (PublicKey::try_from_bytes(*owner), signature.try_into())
    else {
        return false;
    };
    owner.verify(head, signature, SIGNATURE_CONTEXT)
}

/// The newest of the stored record and the upstreams' `answers`.
///
/// This is the network's rule. The larger counter wins. With equal counters, the smaller kind and target win. A
/// stored record with the maximum counter is final: nothing replaces it. For several new final records, the network
/// keeps the one that arrives first. Here the record of most answers wins, and then the smaller kind and target.
pub fn newest(stored: Option<Bytes>, answers: Vec<Bytes>) -> Option<Bytes> {
    if stored.as_deref().is_some_and(is_final) {
        return stored;
    }
    let votes: Vec<usize> = answers
        .iter()
        .map(|answer| match is_final(answer) {
            true => answers
                .iter()
                .filter(|other| state(other) == state(answer))
                .count(),
            false => 0,
        })
        .collect();
    let rank = |record: &Bytes, votes: usize| {
        let (counter, what) = state(record);
        (counter, votes, Reverse(what.to_vec()))
    };
    let stored = stored.into_iter().map(|record| (record, 0));
    let mut newest = None;
    for (record, votes) in stored.chain(answers.into_iter().zip(votes)) {
        let next = rank(&record, votes);
        match &newest {
            Some((rank, _)) if *rank >= next => {}
            _ => newest = Some((next, record)),
        }
    }
    newest.map(|(_, record)| record)
}

/// Whether a record has a kind of target that the network knows. Expects a record of valid length.
pub fn has_known_kind(record: &[u8]) -> bool {
    state(record).1[0] <= 1
}

/// Whether two records differ only in their signatures. Expects valid records of one owner.
pub fn is_same_state(record: &[u8], other: &[u8]) -> bool {
    state(record) == state(other)
}

/// Whether a record's counter is larger than another's. Expects records of valid length.
pub fn has_larger_counter(record: &[u8], other: &[u8]) -> bool {
    state(record).0 > state(other).0
}

/// Whether no other record replaces this one.
fn is_final(record: &[u8]) -> bool {
    state(record).0 == u64::MAX
}

/// The counter, and the kind with the target. A record of valid length has them at fixed offsets.
fn state(record: &[u8]) -> (u64, &[u8]) {
    let rest = &record[1 + OWNER_BYTES..];
    let (counter, rest) = rest.split_at(COUNTER_BYTES);
    let counter = counter.try_into().expect("eight bytes");
    (u64::from_be_bytes(counter), &rest[..KIND_AND_TARGET_BYTES])
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
    fn a_record_is_valid_at_the_address_of_its_owner() {
        let json: serde_json::Value = serde_json::from_slice(&fixture("pointers.json")).unwrap();
        let text = json.to_string();
        let record = fixture("pointer-s1-c0.bin");
        let owner = blake3::derive_key(ADDRESS_CONTEXT, &record[1..1953]);
        let address = Address::from(owner);
        assert!(text.contains(&address.to_string()), "{text}");
        assert!(is_valid(&record, address));
        assert!(is_valid(&fixture("pointer-s1-c7.bin"), address));
        assert!(!is_valid(&fixture("pointer-s2-c3.bin"), address));
        assert!(!is_valid(&record[1..], address));
        assert!(!is_valid(b"", address));
    }

    #[test]
    fn a_changed_record_is_invalid() {
        let record = fixture("pointer-s1-c7.bin");
        let address = Address::from(blake3::derive_key(ADDRESS_CONTEXT, &record[1..1953]));
        assert!(is_valid(&record, address));
        // The counter, the kind, the target, and the start and end of the signature.
        for position in [1960, 1961, 1993, 1994, 5302] {
            let mut changed = record.to_vec();
            changed[position] ^= 1;
            assert!(!is_valid(&changed, address), "{position}");
        }
    }

    /// A record with this state. Its signature is invalid, but only its owner and length are checked here.
    fn record(counter: u64, kind: u8, target: u8) -> Bytes {
        let mut record = fixture("pointer-s1-c7.bin").to_vec();
        record[1953..1961].copy_from_slice(&counter.to_be_bytes());
        record[1961] = kind;
        record[1962..1994].fill(target);
        record.into()
    }

    /// The newest of two records, for all orders of arrival.
    fn newest_of(a: &Bytes, b: &Bytes) -> Vec<Bytes> {
        let [a, b] = [a, b].map(Clone::clone);
        [
            newest(None, vec![a.clone(), b.clone()]),
            newest(None, vec![b.clone(), a.clone()]),
            newest(Some(a.clone()), vec![b.clone()]),
            newest(Some(b), vec![a]),
        ]
        .map(Option::unwrap)
        .to_vec()
    }

    #[test]
    fn the_larger_counter_wins() {
        let old = fixture("pointer-s1-c0.bin");
        let new = fixture("pointer-s1-c7.bin");
        let last = fixture("pointer-s1-c18446744073709551615.bin");
        assert_eq!(newest_of(&old, &new), vec![new.clone(); 4]);
        assert_eq!(newest_of(&last, &new), vec![last; 4]);
        assert_eq!(newest(Some(new.clone()), vec![]), Some(new));
        assert_eq!(newest(None, vec![]), None);
    }

    #[test]
    fn with_equal_counters_the_smaller_kind_and_target_win() {
        let counter = u64::MAX - 1;
        let [small, large] = [1, 2].map(|target| record(counter, 0, target));
        assert_eq!(newest_of(&small, &large), vec![small; 4]);
        let [chunk, pointer] = [record(counter, 0, 2), record(counter, 1, 1)];
        assert_eq!(newest_of(&chunk, &pointer), vec![chunk; 4]);
    }

    #[test]
    fn nothing_replaces_a_stored_final_state() {
        let [small, large] = [1, 2].map(|target| record(u64::MAX, 0, target));
        let pointer = record(u64::MAX, 1, 1);
        for stored in [&small, &large, &pointer] {
            for answer in [&small, &large, &pointer] {
                let answers = vec![answer.clone(); 3];
                assert_eq!(newest(Some(stored.clone()), answers), Some(stored.clone()));
            }
        }
    }

    #[test]
    fn the_final_record_of_most_answers_wins() {
        let [small, large] = [1, 2].map(|target| record(u64::MAX, 0, target));
        let stored = record(7, 0, 0);
        for stored in [None, Some(stored)] {
            let answers = [&large, &small, &large].map(Clone::clone).to_vec();
            assert_eq!(newest(stored.clone(), answers), Some(large.clone()));
            let tied = [&large, &small].map(Clone::clone).to_vec();
            assert_eq!(newest(stored, tied), Some(small.clone()));
        }
        let pointer = record(u64::MAX, 1, 2);
        let answers = vec![pointer.clone(), large, pointer.clone()];
        assert_eq!(newest(None, answers), Some(pointer));
    }
}
