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
    let chunks = sizes.iter().enumerate().map(|(i, &size)| ChunkInfo {
        address: Address::of(&[i as u8]),
        plaintext_hash: [i as u8; HASH_BYTES],
        size,
    });
    DataMap {
        chunks: chunks.collect(),
        child,
    }
}

/// The record of a map, with its hashes as MessagePack binaries.
fn write(map: &DataMap) -> Vec<u8> {
    let mut bytes = vec![0x93, VERSION, 0x90 | map.chunks.len() as u8];
    for (i, chunk) in map.chunks.iter().enumerate() {
        bytes.extend([0x94, i as u8]);
        for hash in [chunk.address.as_bytes(), &chunk.plaintext_hash] {
            bytes.extend([0xc4, 32]);
            bytes.extend(hash);
        }
        bytes.push(0xce);
        bytes.extend(chunk.size.to_be_bytes());
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
        let encrypted = bytes(&expected["bincode_hex"]);
        assert_eq!(DataMap::from_bincode(&encrypted), Ok(map), "{case}");
    }
}

#[test]
fn a_nested_map_decrypts_to_the_map_of_the_file() {
    let case = json("text3max17");
    let outer = DataMap::from_record(&record("text3max17")).unwrap();
    assert!(outer.is_nested());
    let mut decrypted = Vec::new();
    for (i, address) in outer.addresses().iter().enumerate() {
        let encrypted = fixture(&format!("chunks/{address}"));
        decrypted.extend(outer.decrypt(i, &encrypted).unwrap());
    }
    assert_eq!(
        decrypted,
        bytes(&case["child_levels"][0]["plain_bincode_hex"])
    );
    let inner = DataMap::from_bincode(&decrypted).unwrap();
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
    let mut encrypted = fixture(&format!("chunks/{}", outer.addresses()[0]));
    assert_eq!(outer.decrypt(1, &encrypted), Err(InvalidDataMap));
    encrypted[20] ^= 1;
    assert_eq!(outer.decrypt(0, &encrypted), Err(InvalidDataMap));
    assert_eq!(outer.decrypt(0, &encrypted[..15]), Err(InvalidDataMap));
    assert_eq!(outer.decrypt(0, b""), Err(InvalidDataMap));
}

#[test]
fn rejects_chunks_whose_size_differs_from_the_map() {
    let outer = DataMap::from_record(&record("text3max17")).unwrap();
    let encrypted = fixture(&format!("chunks/{}", outer.addresses()[0]));
    for wrong in [109, 111, 1] {
        let mut lying = DataMap::from_record(&record("text3max17")).unwrap();
        lying.chunks[0].size = wrong;
        assert_eq!(lying.decrypt(0, &encrypted), Err(InvalidDataMap), "{wrong}");
    }
    // The Brotli extension for large windows: this stream has a window of 2^30 bytes.
    assert_eq!(decompress(&[0x11, 0x1e, 0x03], 1), Err(InvalidDataMap));
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
            Err(InvalidDataMap),
            "{end}"
        );
    }
    let longer = [&record[..], &[0]].concat();
    assert_eq!(DataMap::from_record(&longer), Err(InvalidDataMap));
    let encrypted = bytes(&json("b3")["data_map"]["bincode_hex"]);
    for end in 0..encrypted.len() {
        assert_eq!(
            DataMap::from_bincode(&encrypted[..end]),
            Err(InvalidDataMap),
            "{end}"
        );
    }
    let longer = [&encrypted[..], &[0]].concat();
    assert_eq!(DataMap::from_bincode(&longer), Err(InvalidDataMap));
}

#[test]
fn rejects_maps_outside_the_limits() {
    assert!(DataMap::from_record(&write(&map([1, 1, MAX_PLAINTEXT_BYTES], None))).is_ok());
    for bad in [
        map([1, 1, MAX_PLAINTEXT_BYTES + 1], None),
        map([1, 0, 1], None),
        map([1, 1, 1], Some(0)),
        map([1, 1, 1], Some(1 << 53)),
    ] {
        assert_eq!(DataMap::from_record(&write(&bad)), Err(InvalidDataMap));
    }
    let longer = [&[0xdc, 0, 3], &write(&map([1, 1, 1], None))[1..]].concat();
    assert_eq!(DataMap::from_record(&longer), Err(InvalidDataMap));
    let mut two = map([1, 1, 1], None);
    two.chunks.pop();
    assert_eq!(DataMap::from_record(&write(&two)), Err(InvalidDataMap));
    let mut swapped = write(&map([1, 1, 1], None));
    swapped[4] = 1;
    assert_eq!(DataMap::from_record(&swapped), Err(InvalidDataMap));
    let mut later_version = write(&map([1, 1, 1], None));
    later_version[1] = 2;
    assert_eq!(DataMap::from_record(&later_version), Err(InvalidDataMap));
    // A huge count in a short record must not allocate memory.
    assert_eq!(
        DataMap::from_record(&[0x93, 1, 0xdd, 255, 255, 255, 255]),
        Err(InvalidDataMap)
    );
    let endless = [&[1][..], &u64::MAX.to_le_bytes()].concat();
    assert_eq!(DataMap::from_bincode(&endless), Err(InvalidDataMap));
}

#[test]
fn selects_the_chunks_that_overlap_a_range() {
    let map = map([10, 10, 12], None);
    let all = map.addresses();
    let from = |first, length| map.addresses_in_range(ByteRange::From { first, length });
    assert_eq!(from(0, None), all);
    assert_eq!(from(0, Some(10)), all[..1]);
    assert_eq!(from(9, Some(2)), all[..2]);
    assert_eq!(from(10, Some(1)), all[1..2]);
    assert_eq!(from(31, Some(u64::MAX)), all[2..]);
    assert_eq!(from(32, None), []);
    assert_eq!(from(u64::MAX - 2, Some(5)), []);
    assert_eq!(map.addresses_in_range(ByteRange::Last(1)), all[2..]);
    assert_eq!(map.addresses_in_range(ByteRange::Last(13)), all[1..]);
    assert_eq!(map.addresses_in_range(ByteRange::Last(u64::MAX)), all);
    assert_eq!(map.addresses_in_range(ByteRange::Last(0)), []);
}

#[test]
fn selects_the_end_of_a_file_before_its_beginning() {
    let tail = INDEX_TAIL_BYTES as u32;
    let end_first = |map: &DataMap, length| map.addresses_in_range(ByteRange::EndFirst(length));
    let one = map([10, 10, tail], None);
    let all = one.addresses();
    let [a, b, c] = [0, 1, 2].map(|index| all[index]);
    assert_eq!(end_first(&one, None), [c, a, b]);
    assert_eq!(end_first(&one, Some(20)), [c, a, b]);
    assert_eq!(end_first(&one, Some(10)), [c, a]);
    assert_eq!(end_first(&one, Some(u64::MAX)), [c, a, b]);
    let two = map([10, 10, tail - 1], None);
    assert_eq!(end_first(&two, None), [b, c, a], "the end has two chunks");
    let short = map([10, 10, 12], None);
    assert_eq!(end_first(&short, Some(1)), all, "the end is the whole file");
}
