//! OPEN: the response contains a data map and the chunks that its reader needs next. The files are fixtures.

use crate::session::{Session, cancel, open_request, send_all};
use crate::test_peer::{TestPeer, chunk};
use antway_peer::address::Address;
use antway_peer::limits::{
    LARGE_DATA_MAPS, MAX_CHUNK_BYTES, MAX_OPENED_CHUNKS, SMALL_DATA_MAP_BYTES,
};
use antway_peer::source::{Chunk, ChunkSource};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const TO_THE_END: u64 = 0;
const SUFFIX: u64 = u64::MAX;
const END_FIRST: u64 = u64::MAX - 1;

/// The plaintext size of a full chunk in bytes.
const FULL_CHUNK: u64 = 4_190_208;

struct File {
    address: Address,
    map_chunks: Vec<Address>,
    chunks: Vec<Address>,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/self-encryption")
}

fn addresses(infos: &Value) -> Vec<Address> {
    let infos = infos.as_array().unwrap().iter();
    infos
        .map(|info| info["dst_hash"].as_str().unwrap().parse().unwrap())
        .collect()
}

impl File {
    fn fixture(case: &str) -> Self {
        let text = fs::read(fixtures().join(format!("{case}.json"))).unwrap();
        let json: Value = serde_json::from_slice(&text).unwrap();
        let map = &json["data_map"];
        let infos = addresses(&map["infos"]);
        let (map_chunks, chunks) = match map["child"].is_null() {
            true => (Vec::new(), infos),
            false => (infos, addresses(&json["root_map"]["infos"])),
        };
        Self {
            address: map["address"].as_str().unwrap().parse().unwrap(),
            map_chunks,
            chunks,
        }
    }

    /// The expected addresses after the record, if the range needs these chunks of the file.
    fn expected_addresses(&self, chunks: &[usize]) -> Vec<Address> {
        let chunks = chunks.iter().map(|&i| self.chunks[i]);
        self.map_chunks.iter().copied().chain(chunks).collect()
    }
}

/// A peer with all chunks of the fixtures.
async fn start_with_fixtures() -> TestPeer {
    // The tests change files of the store.
    let peer = TestPeer::start(&["--memory-cache=0"]).await;
    for entry in fs::read_dir(fixtures().join("chunks")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        peer.store.put(Chunk::new(bytes.into())).await.unwrap();
    }
    peer
}

/// The status of the record, then the statuses and addresses of the following chunks. Verifies all bytes.
async fn request_open(
    session: &Session,
    address: Address,
    first: u64,
    length: u64,
) -> (u8, Vec<(u8, Address)>) {
    let answer = session
        .request(&open_request(address, first, length))
        .await
        .unwrap();
    let (status, bytes, mut rest) = split_answer(&answer);
    assert!(status != 0 || Address::of(bytes) == address);
    let mut records = Vec::new();
    while let Some((address, answer)) = rest.split_first_chunk::<32>() {
        let address = Address::from(*address);
        let (status, bytes, after) = split_answer(answer);
        assert!(status != 0 || Address::of(bytes) == address);
        records.push((status, address));
        rest = after;
    }
    assert!(rest.is_empty());
    (status, records)
}

fn split_answer(answer: &[u8]) -> (u8, &[u8], &[u8]) {
    let length = u32::from_be_bytes(answer[1..5].try_into().unwrap()) as usize;
    (answer[0], &answer[5..5 + length], &answer[5 + length..])
}

fn all_found(addresses: Vec<Address>) -> (u8, Vec<(u8, Address)>) {
    (
        0,
        addresses.into_iter().map(|address| (0, address)).collect(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn one_response_contains_the_data_map_and_the_whole_file() {
    let peer = start_with_fixtures().await;
    let session = Session::open(&peer.peer).await;
    for case in ["b3", "b1000", "text1mib"] {
        let file = File::fixture(case);
        assert_eq!(
            request_open(&session, file.address, 0, TO_THE_END).await,
            all_found(file.expected_addresses(&[0, 1, 2])),
            "{case}"
        );
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn decrypts_a_nested_map_and_sends_only_the_chunks_of_the_range() {
    let peer = start_with_fixtures().await;
    let session = Session::open(&peer.peer).await;
    let file = File::fixture("text3max17");
    assert_eq!((file.map_chunks.len(), file.chunks.len()), (3, 4));
    for (first, length, chunks) in [
        (0, TO_THE_END, &[0, 1, 2, 3][..]),
        (0, 1, &[0]),
        (FULL_CHUNK - 1, 2, &[0, 1]),
        (2 * FULL_CHUNK, FULL_CHUNK, &[2]),
        (3 * FULL_CHUNK, TO_THE_END, &[3]),
        (SUFFIX, 17, &[3]),
        (SUFFIX, 18, &[2, 3]),
        (SUFFIX, SUFFIX, &[0, 1, 2, 3]),
        (3 * FULL_CHUNK + 17, TO_THE_END, &[]),
        (SUFFIX - 2, SUFFIX, &[]),
        (END_FIRST, TO_THE_END, &[2, 3, 0, 1]),
        (END_FIRST, 1, &[2, 3, 0]),
        (SUFFIX, 0, &[]),
    ] {
        assert_eq!(
            request_open(&session, file.address, first, length).await,
            all_found(file.expected_addresses(chunks)),
            "{first}, {length}"
        );
    }
    let counted = r#"antway_peer_requests_total{transport="webtransport",op="open",outcome="ok"}"#;
    peer.wait_for_metric(counted, |n| n == 13).await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sends_only_the_record_if_it_is_missing_or_not_a_data_map() {
    let peer = start_with_fixtures().await;
    let session = Session::open(&peer.peer).await;
    for length in [0, 1000, MAX_CHUNK_BYTES as usize] {
        let raw = peer.store_chunk(1, length).await;
        assert_eq!(
            request_open(&session, raw.address(), 0, 0).await,
            (0, vec![])
        );
    }
    let absent = chunk(9, 9).address();
    assert_eq!(request_open(&session, absent, 0, 0).await, (1, vec![]));
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_a_missing_chunk_and_ends_after_a_missing_map_chunk() {
    let peer = start_with_fixtures().await;
    let session = Session::open(&peer.peer).await;
    let file = File::fixture("text3max17");
    fs::remove_file(peer.path_of(file.chunks[1])).unwrap();
    let mut expected = all_found(file.expected_addresses(&[0, 1, 2, 3]));
    expected.1[4].0 = 1;
    assert_eq!(
        request_open(&session, file.address, 0, TO_THE_END).await,
        expected
    );
    fs::remove_file(peer.path_of(file.map_chunks[0])).unwrap();
    let mut expected = all_found(file.expected_addresses(&[]));
    expected.1[0].0 = 1;
    assert_eq!(
        request_open(&session, file.address, 0, TO_THE_END).await,
        expected
    );
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_response_ends_if_a_map_chunk_cannot_be_decrypted() {
    let peer = start_with_fixtures().await;
    let session = Session::open(&peer.peer).await;
    let invalid_chunks = [1, 2, 3].map(|seed| chunk(seed, 200));
    for chunk in &invalid_chunks {
        peer.store.put(chunk.clone()).await.unwrap();
    }
    let map = Chunk::new(nested_map(&invalid_chunks).into());
    peer.store.put(map.clone()).await.unwrap();
    let expected = all_found(invalid_chunks.iter().map(Chunk::address).collect());
    assert_eq!(
        request_open(&session, map.address(), 0, TO_THE_END).await,
        expected
    );
    peer.stop().await;
}

/// The record of a nested map with these chunks.
fn nested_map(chunks: &[Chunk; 3]) -> Vec<u8> {
    let mut record = vec![0x93, 1, 0x93];
    for (index, chunk) in chunks.iter().enumerate() {
        record.extend([0x94, index as u8]);
        for _ in 0..2 {
            record.extend([0xc4, 32]);
            record.extend(chunk.address().as_bytes());
        }
        record.push(100);
    }
    record.push(1);
    record
}

/// The record of a file with `count` chunks. These three chunks repeat.
fn flat_map(chunks: &[Chunk; 3], count: u16) -> Vec<u8> {
    let mut record = vec![0x93, 1, 0xdc];
    record.extend(count.to_be_bytes());
    for index in 0..count {
        record.extend([0x94, 0xcd]);
        record.extend(index.to_be_bytes());
        for _ in 0..2 {
            record.extend([0xc4, 32]);
            record.extend(chunks[usize::from(index) % 3].address().as_bytes());
        }
        record.push(100);
    }
    record.push(0xc0);
    record
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_take_files_slowly_leave_room_for_the_maps_of_others() {
    let peer = TestPeer::start(&[]).await;
    let chunks = [1, 2, 3].map(|seed| chunk(seed, MAX_CHUNK_BYTES as usize));
    for chunk in &chunks {
        peer.store.put(chunk.clone()).await.unwrap();
    }
    let map = Chunk::new(flat_map(&chunks, 1000).into());
    assert!(map.bytes().len() > SMALL_DATA_MAP_BYTES as usize);
    peer.store.put(map.clone()).await.unwrap();
    let mut slow = Vec::new();
    for _ in 0..LARGE_DATA_MAPS {
        let session = Session::open(&peer.peer).await;
        let (mut send, mut recv) = session.stream().await;
        send_all(&mut send, &open_request(map.address(), 0, TO_THE_END)).await;
        send.quic_stream_mut().finish().unwrap();
        // Read the record, and the first address after it. The rest is never read.
        let mut some = vec![0; 5 + map.bytes().len() + 32];
        recv.read_exact(&mut some).await.unwrap();
        slow.push((session, recv));
    }
    let session = Session::open(&peer.peer).await;
    assert_eq!(
        request_open(&session, map.address(), 0, 1).await,
        all_found(vec![chunks[0].address()])
    );
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_number_of_chunks_in_a_response() {
    let peer = TestPeer::start(&[]).await;
    let chunks = [1, 2, 3].map(|seed| chunk(seed, 10));
    for chunk in &chunks {
        peer.store.put(chunk.clone()).await.unwrap();
    }
    let map = Chunk::new(flat_map(&chunks, 1100).into());
    peer.store.put(map.clone()).await.unwrap();
    let session = Session::open(&peer.peer).await;
    let (status, records) = request_open(&session, map.address(), 0, TO_THE_END).await;
    assert_eq!((status, records.len()), (0, MAX_OPENED_CHUNKS));
    let (status, records) = request_open(&session, map.address(), SUFFIX, 100).await;
    assert_eq!((status, records.len()), (0, 1), "the last chunk");
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stops_sending_a_file_when_the_client_cancels() {
    let peer = TestPeer::start(&[]).await;
    let chunks = [1, 2, 3].map(|seed| chunk(seed, MAX_CHUNK_BYTES as usize));
    for chunk in &chunks {
        peer.store.put(chunk.clone()).await.unwrap();
    }
    let map = Chunk::new(flat_map(&chunks, 200).into());
    peer.store.put(map.clone()).await.unwrap();
    let session = Session::open(&peer.peer).await;
    let (mut send, mut recv) = session.stream().await;
    send_all(&mut send, &open_request(map.address(), 0, TO_THE_END)).await;
    send.quic_stream_mut().finish().unwrap();
    let mut some = vec![0; 100_000];
    recv.read_exact(&mut some).await.unwrap();
    cancel(recv);
    peer.wait_for_metric("antway_peer_streams", |n| n == 0)
        .await;
    let sent = r#"antway_peer_sent_bytes_total{transport="webtransport"}"#;
    let sent = peer.metric(sent).await;
    assert!(
        sent < 64 << 20,
        "of 800 MiB, {sent} bytes were handed to the transport"
    );
    let cancelled =
        r#"antway_peer_requests_total{transport="webtransport",op="open",outcome="cancelled"}"#;
    assert_eq!(peer.metric(cancelled).await, 1);
    peer.stop().await;
}
