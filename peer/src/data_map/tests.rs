//! Compares with test vectors of the network's own software, in `tests/fixtures/self-encryption`.

use super::*;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const CASES: [&str; 11] = [
    "b3",
    "b4",
    "b1000",
    "text1mib",
    "rand3maxm1",
    "rand3max",
    "rand3max1",
    "rand3max17",
    "text3max17",
    "rand12mib",
    "rand60mib",
];

fn fixture(name: &str) -> Vec<u8> {
    let folder =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/self-encryption");
    fs::read(folder.join(name)).unwrap()
}

fn record(case: &str) -> Vec<u8> {
    fixture(&format!("{case}.datamap.msgpack"))
}

fn json(case: &str) -> Value {
    serde_json::from_slice(&fixture(&format!("{case}.json"))).unwrap()
}

fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap();
    let digits = (0..hex.len()).step_by(2);
    digits
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
        .collect()
}

fn addresses_of(infos: &Value) -> Vec<String> {
    let infos = infos.as_array().unwrap().iter();
    infos
        .map(|info| info["dst_hash"].as_str().unwrap().to_owned())
        .collect()
}

fn texts(addresses: Vec<Address>) -> Vec<String> {
    addresses.iter().map(Address::to_string).collect()
}

/// A map of three chunks with these sizes and invented hashes.
fn map(sizes: [u32; 3], child: Option<u64>) -> DataMap {
    let parts = sizes.iter().enumerate().map(|(i, &size)| Part {
        address: Address::of(&[i as u8]),
        source: [i as u8; HASH_BYTES],
        size,
    });
    DataMap {
        parts: parts.collect(),
        child,
    }
}

/// The record of a map, with its hashes as MessagePack binaries.
fn write(map: &DataMap) -> Vec<u8> {
    let mut bytes = vec![0x93, VERSION, 0x90 | map.parts.len() as u8];
    for (i, part) in map.parts.iter().enumerate() {
        bytes.extend([0x94, i as u8]);
        for hash in [part.address.as_bytes(), &part.source] {
            bytes.extend([0xc4, 32]);
            bytes.extend(hash);
        }
        bytes.push(0xce);
        bytes.extend(part.size.to_be_bytes());
    }
    match map.child {
        None => bytes.push(0xc0),
        Some(child) => bytes.push(child as u8),
    }
    bytes
}

#[test]
fn parses_both_encodings_of_the_test_vectors() {
    for case in CASES {
        let map = DataMap::from_record(&record(case)).unwrap();
        let expected = &json(case)["data_map"];
        assert_eq!(
            texts(map.addresses()),
            addresses_of(&expected["infos"]),
            "{case}"
        );
        assert_eq!(map.child, expected["child"].as_u64(), "{case}");
        let sealed = bytes(&expected["bincode_hex"]);
        assert_eq!(DataMap::from_sealed(&sealed), Ok(map), "{case}");
    }
}

#[test]
fn a_nested_map_decrypts_to_the_map_of_the_file() {
    let case = json("text3max17");
    let outer = DataMap::from_record(&record("text3max17")).unwrap();
    assert!(outer.is_nested());
    let mut opened = Vec::new();
    for (i, address) in outer.addresses().iter().enumerate() {
        let sealed = fixture(&format!("chunks/{address}"));
        opened.extend(outer.open(i, &sealed).unwrap());
    }
    assert_eq!(opened, bytes(&case["child_levels"][0]["plain_bincode_hex"]));
    let inner = DataMap::from_sealed(&opened).unwrap();
    assert_eq!(
        texts(inner.addresses()),
        addresses_of(&case["root_map"]["infos"])
    );
    assert!(!inner.is_nested());
    assert_eq!(inner.size(), 3 * 4_190_208 + 17);
}

#[test]
fn rejects_a_modified_or_different_chunk() {
    let outer = DataMap::from_record(&record("text3max17")).unwrap();
    let mut sealed = fixture(&format!("chunks/{}", outer.addresses()[0]));
    assert_eq!(outer.open(1, &sealed), Err(Unreadable));
    sealed[20] ^= 1;
    assert_eq!(outer.open(0, &sealed), Err(Unreadable));
    assert_eq!(outer.open(0, &sealed[..15]), Err(Unreadable));
    assert_eq!(outer.open(0, b""), Err(Unreadable));
}

#[test]
fn rejects_chunks_whose_size_differs_from_the_map() {
    let outer = DataMap::from_record(&record("text3max17")).unwrap();
    let sealed = fixture(&format!("chunks/{}", outer.addresses()[0]));
    for wrong in [109, 111, 1] {
        let mut lying = DataMap::from_record(&record("text3max17")).unwrap();
        lying.parts[0].size = wrong;
        assert_eq!(lying.open(0, &sealed), Err(Unreadable), "{wrong}");
    }
    // The Brotli extension for large windows: this stream has a window of 2^30 bytes.
    assert_eq!(decompress(&[0x11, 0x1e, 0x03], 1), Err(Unreadable));
}

#[test]
fn accepts_hashes_as_messagepack_binaries() {
    let map = map([5, 5, 6], Some(1));
    assert_eq!(DataMap::from_record(&write(&map)), Ok(map));
}

#[test]
fn rejects_truncated_and_extended_records() {
    let record = record("text3max17");
    for end in 0..record.len() {
        assert_eq!(
            DataMap::from_record(&record[..end]),
            Err(Unreadable),
            "{end}"
        );
    }
    let longer = [&record[..], &[0]].concat();
    assert_eq!(DataMap::from_record(&longer), Err(Unreadable));
    let sealed = bytes(&json("b3")["data_map"]["bincode_hex"]);
    for end in 0..sealed.len() {
        assert_eq!(
            DataMap::from_sealed(&sealed[..end]),
            Err(Unreadable),
            "{end}"
        );
    }
    let longer = [&sealed[..], &[0]].concat();
    assert_eq!(DataMap::from_sealed(&longer), Err(Unreadable));
}

#[test]
fn rejects_maps_outside_the_limits() {
    assert!(DataMap::from_record(&write(&map([1, 1, MAX_PART_BYTES], None))).is_ok());
    for bad in [
        map([1, 1, MAX_PART_BYTES + 1], None),
        map([1, 0, 1], None),
        map([1, 1, 1], Some(0)),
        map([1, 1, 1], Some(1 << 53)),
    ] {
        assert_eq!(DataMap::from_record(&write(&bad)), Err(Unreadable));
    }
    let longer = [&[0xdc, 0, 3], &write(&map([1, 1, 1], None))[1..]].concat();
    assert_eq!(DataMap::from_record(&longer), Err(Unreadable));
    let mut two = map([1, 1, 1], None);
    two.parts.pop();
    assert_eq!(DataMap::from_record(&write(&two)), Err(Unreadable));
    let mut swapped = write(&map([1, 1, 1], None));
    swapped[4] = 1;
    assert_eq!(DataMap::from_record(&swapped), Err(Unreadable));
    let mut later_version = write(&map([1, 1, 1], None));
    later_version[1] = 2;
    assert_eq!(DataMap::from_record(&later_version), Err(Unreadable));
    // A huge count in a short record must not allocate memory.
    assert_eq!(
        DataMap::from_record(&[0x93, 1, 0xdd, 255, 255, 255, 255]),
        Err(Unreadable)
    );
    let endless = [&[1][..], &u64::MAX.to_le_bytes()].concat();
    assert_eq!(DataMap::from_sealed(&endless), Err(Unreadable));
}

#[test]
fn selects_the_chunks_that_overlap_a_range() {
    let map = map([10, 10, 12], None);
    let all = map.addresses();
    let from = |first, length| map.addresses_in(Range::From { first, length });
    assert_eq!(from(0, None), all);
    assert_eq!(from(0, Some(10)), all[..1]);
    assert_eq!(from(9, Some(2)), all[..2]);
    assert_eq!(from(10, Some(1)), all[1..2]);
    assert_eq!(from(31, Some(u64::MAX)), all[2..]);
    assert_eq!(from(32, None), []);
    assert_eq!(from(u64::MAX - 1, Some(5)), []);
    assert_eq!(map.addresses_in(Range::Last(1)), all[2..]);
    assert_eq!(map.addresses_in(Range::Last(13)), all[1..]);
    assert_eq!(map.addresses_in(Range::Last(u64::MAX)), all);
    assert_eq!(map.addresses_in(Range::Last(0)), []);
}
