//! Quotes of the network's nodes, and paid uploads. The network itself is a stub; `test:network` has the real one.

use crate::http::{Response, request};
use crate::process::command;
use crate::test_peer::{TestPeer, chunk};
use antway_peer::address::Address;
use antway_peer::paid_uploads::{
    Base64, BatchProof, Disconnected, EvmHex, LeafBranch, NetworkPointer, Offer, PaidPool,
    PaidUpload, Plan, Quote, QuotedPlan, ReadError, RecordName, RecordPayment, RelayedNetwork,
    StoreError, Text,
};
use antway_peer::source::{
    Chunk, ChunkBody, ChunkSource, PutOutcome, PutPointerOutcome, SourceFuture, SourceStats,
};
use antway_peer::store::FolderStore;
use bytes::Bytes;
use fips204::ml_dsa_65;
use fips204::traits::{KeyGen, SerDes, Signer};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tokio::time::sleep;

pub const CHAIN: &str = "--allow-paid-uploads=31337,0x1111111111111111111111111111111111111111,0x2222222222222222222222222222222222222222";

/// A network that answers as the first byte of an address says.
#[derive(Default)]
pub struct StubNetwork {
    pub uploads: Mutex<Vec<PaidUpload>>,
    pub store_error: Mutex<Option<StoreError>>,
    /// The record that it gives for every pointer. Three nodes have it, and two others answer.
    pub pointer: Mutex<Option<Vec<u8>>>,
    pub read_error: Mutex<Option<ReadError>>,
    pub is_disconnected: bool,
    pub is_silent: bool,
    /// Only pointers are never answered.
    pub hides_pointers: bool,
    /// The requests that reached it.
    pub asked: AtomicUsize,
}

impl RelayedNetwork for StubNetwork {
    fn quote(&self, record: RecordName, size: u32) -> BoxFuture<'_, Result<Offer, Disconnected>> {
        count(&self.asked);
        async move {
            if self.is_silent {
                std::future::pending::<()>().await;
            }
            match (self.is_disconnected, record.address().as_bytes()[0]) {
                (true, _) => Err(Disconnected),
                (false, 1) => Ok(Offer::Stored),
                (false, 2) => Ok(Offer::Shortfall),
                (false, _) => Ok(Offer::Quoted(Box::new(QuotedPlan {
                    plan: plan(record, size),
                    quote_hash: [3; 32],
                    rewards_address: [4; 20],
                    amount: 11_718_750_000_000_000,
                }))),
            }
        }
        .boxed()
    }

    fn pool(
        &self,
        address: Address,
        timestamp: u64,
    ) -> BoxFuture<'_, Result<Option<Vec<Quote>>, Disconnected>> {
        count(&self.asked);
        async move {
            if self.is_silent {
                std::future::pending::<()>().await;
            }
            match (self.is_disconnected, address.as_bytes()[0]) {
                (true, _) => Err(Disconnected),
                (false, 2) => Ok(None),
                (false, _) => Ok(Some((1..=16).map(|node| quote(node, timestamp)).collect())),
            }
        }
        .boxed()
    }

    fn store(&self, upload: PaidUpload) -> BoxFuture<'_, Result<(), StoreError>> {
        count(&self.asked);
        self.uploads.lock().unwrap().push(upload);
        let error = *self.store_error.lock().unwrap();
        async move {
            if self.is_silent {
                std::future::pending::<()>().await;
            }
            error.map_or(Ok(()), Err)
        }
        .boxed()
    }

    fn read_pointer(
        &self,
        _address: Address,
    ) -> BoxFuture<'_, Result<Option<NetworkPointer>, ReadError>> {
        count(&self.asked);
        async move {
            if self.is_silent || self.hides_pointers {
                std::future::pending::<()>().await;
            }
            let record = self.pointer.lock().unwrap().clone();
            let error = *self.read_error.lock().unwrap();
            let pointer = record.map(|record| NetworkPointer {
                record: record.into(),
                holders: 3,
                others: 2,
            });
            error.map_or(Ok(pointer), Err)
        }
        .boxed()
    }
}

pub fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// A store beside the network.
struct NetworkSource {
    store: FolderStore,
    network: Arc<StubNetwork>,
}

impl ChunkSource for NetworkSource {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        self.store.get(address)
    }

    fn has(&self, address: Address) -> SourceFuture<'_, bool> {
        self.store.has(address)
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        self.store.put(chunk)
    }

    fn pointer(&self, address: Address) -> SourceFuture<'_, Option<Bytes>> {
        self.store.pointer(address)
    }

    fn put_pointer(&self, address: Address, record: Bytes) -> SourceFuture<'_, PutPointerOutcome> {
        self.store.put_pointer(address, record)
    }

    fn stats(&self) -> SourceStats {
        self.store.stats()
    }

    fn relayed_network(&self) -> Option<Arc<dyn RelayedNetwork>> {
        Some(Arc::clone(&self.network) as _)
    }
}

pub async fn start(network: StubNetwork, flags: &[&str]) -> (TestPeer, Arc<StubNetwork>) {
    let network = Arc::new(network);
    let source_network = Arc::clone(&network);
    let peer = TestPeer::start_with(TempDir::new().unwrap(), flags, |store, _| {
        Arc::new(NetworkSource {
            store,
            network: source_network,
        })
    });
    (peer.await, network)
}

fn quote(node: u8, timestamp: u64) -> Quote {
    Quote {
        peer: Text([node; 32].into()),
        timestamp,
        price: Text(3_906_250_000_000_000),
        rewards_address: Text(EvmHex([4; 20])),
        public_key: Text(Base64(vec![node; 1952])),
        signature: Text(Base64(vec![node; 3309])),
        committed_key_count: 0,
        commitment_pin: None,
        commitment: None,
    }
}

fn plan(record: RecordName, size: u32) -> Plan {
    Plan {
        address: Text(record.address()),
        state_id: match record {
            RecordName::Chunk(_) => None,
            RecordName::Pointer { state, .. } => Some(Text(state)),
        },
        size,
        quotes: (1..=7).map(|node| quote(node, 1_795_000_000)).collect(),
    }
}

pub fn address(first: u8) -> String {
    Address::from([first; 32]).to_string()
}

pub async fn quotes(peer: &TestPeer, body: &str) -> Response {
    let length = body.len().to_string();
    let headers = [("Content-Length", &*length)];
    let base = peer.peer.http();
    request(base, "POST", "/network/quotes", &headers, body.as_bytes()).await
}

fn upload_body(plan: &Plan, bytes: &[u8]) -> Vec<u8> {
    let transaction = format!("0x{}", "5a".repeat(32));
    body_of(&json!({ "plan": plan, "transaction": transaction }), bytes)
}

fn body_of(head: &Value, bytes: &[u8]) -> Vec<u8> {
    let head = head.to_string();
    let length = (head.len() as u32).to_le_bytes();
    [&length[..], head.as_bytes(), bytes].concat()
}

async fn put(peer: &TestPeer, path: &str, body: &[u8]) -> Response {
    request(peer.peer.http(), "PUT", path, &[], body).await
}

fn plan_of(chunk: &Chunk) -> Plan {
    let size = chunk.bytes().len() as u32;
    plan(RecordName::Chunk(chunk.address()), size)
}

fn path_of(chunk: &Chunk) -> String {
    format!("/network/chunk/{}", chunk.address())
}

pub fn refusal(response: &Response) -> (u16, String) {
    (response.status, response.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_flag_there_are_no_such_routes() {
    let (peer, _) = start(StubNetwork::default(), &[]).await;
    let chunk = chunk(1, 100);
    for (method, path) in [
        ("GET", "/network/info".to_owned()),
        ("GET", format!("/network/pointer/{}", address(5))),
        ("PUT", path_of(&chunk)),
    ] {
        let response = request(peer.peer.http(), method, &path, &[], b"").await;
        assert_eq!(refusal(&response), (404, "NOT_FOUND".to_owned()), "{path}");
    }
    assert_eq!(quotes(&peer, "{}").await.status, 404);
    // Nor without a network.
    let peer = TestPeer::start(&[CHAIN]).await;
    assert_eq!(peer.get("/network/info").await.status, 404);
}

#[test]
fn the_flag_needs_a_network() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().to_str().unwrap();
    let flags = [
        "--http=127.0.0.1:0",
        "--webtransport=none",
        "--store",
        store,
    ];
    for chain in ["--allow-paid-uploads=arbitrum-one", CHAIN] {
        let output = command(&flags).arg(chain).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success());
        assert!(
            message.contains("--allow-paid-uploads: needs --network"),
            "{message}"
        );
    }
    let output = command(&flags).arg("--allow-paid-uploads=mainnet").output();
    let message = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(message.contains("not `arbitrum-one`"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn info_names_the_chain_and_the_limits() {
    let (peer, _) = start(StubNetwork::default(), &[CHAIN]).await;
    let response = peer.get("/network/info").await;
    assert_eq!(response.header("cache-control"), Some("no-store"));
    assert_eq!(
        serde_json::from_slice::<Value>(&response.body).unwrap(),
        json!({
            "chainId": 31337,
            "token": format!("0x{}", "11".repeat(20)),
            "vault": format!("0x{}", "22".repeat(20)),
            "settlementVersion": 1,
            "maxQuotes": 64,
            "maxPlanBytes": 262_144,
            "maxChunkBytes": 4_194_304,
            "merkle": true,
            "maxPools": 16,
        })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn quotes_come_in_the_order_of_the_records() {
    let (peer, _) = start(StubNetwork::default(), &[CHAIN]).await;
    let records = json!({ "records": [
        { "address": address(9), "size": 1000 },
        { "address": address(1), "size": 1 },
        { "address": address(2), "size": 2 },
        { "address": address(8), "stateId": address(7) },
    ] });
    let response = quotes(&peer, &records.to_string()).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let answer: Value = serde_json::from_slice(&response.body).unwrap();
    let [first, second, third, fourth] = &answer["records"].as_array().unwrap()[..] else {
        panic!("four records");
    };
    let address_9 = RecordName::Chunk([9; 32].into());
    assert_eq!(
        *first,
        json!({
            "address": address(9),
            "status": "quoted",
            "plan": plan(address_9, 1000),
            "quoteHash": format!("0x{}", "03".repeat(32)),
            "rewardsAddress": format!("0x{}", "04".repeat(20)),
            "amount": "11718750000000000",
        })
    );
    assert_eq!(first["plan"]["quotes"][0]["price"], "3906250000000000");
    assert_eq!(
        *second,
        json!({ "address": address(1), "status": "stored" })
    );
    assert_eq!(
        *third,
        json!({ "address": address(2), "status": "unavailable", "code": "SHORTFALL" })
    );
    assert_eq!(fourth["plan"]["stateId"], address(7));
    assert_eq!(fourth["plan"]["size"], 5303);
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_other_requests_for_quotes() {
    let denied = TempDir::new().unwrap();
    let file = denied.path().join("deny.txt");
    fs::write(&file, address(66)).unwrap();
    let deny = format!("--deny-file={}", file.display());
    let (peer, _) = start(StubNetwork::default(), &[CHAIN, &deny]).await;
    let record = |first| json!({ "address": address(first), "size": 1 });
    let many: Vec<_> = (0..65).map(record).collect();
    for body in [
        "".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        json!({ "records": [] }).to_string(),
        json!({ "records": many }).to_string(),
        json!({ "records": [record(5), record(5)] }).to_string(),
        json!({ "records": [{ "address": address(5) }] }).to_string(),
        json!({ "records": [{ "address": "5", "size": 1 }] }).to_string(),
        json!({ "records": [{ "address": address(5), "size": 4_194_305 }] }).to_string(),
    ] {
        let refused = refusal(&quotes(&peer, &body).await);
        assert_eq!(refused, (400, "BAD_RECORDS".to_owned()), "{body}");
    }
    let denied = json!({ "records": [record(5), record(66)] }).to_string();
    assert_eq!(
        refusal(&quotes(&peer, &denied).await),
        (451, "DENIED".to_owned())
    );
    let long = " ".repeat(16 * 1024 + 1);
    assert_eq!(
        refusal(&quotes(&peer, &long).await),
        (413, "TOO_LARGE".to_owned())
    );
    let response = peer.get("/network/quotes").await;
    assert_eq!(refusal(&response), (405, "METHOD".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_record_counts_as_a_request() {
    let flags = [CHAIN, "--limit-loopback", "--max-requests-per-second=8"];
    let (peer, _) = start(StubNetwork::default(), &flags).await;
    let record = |first| json!({ "address": address(first), "size": 1 });
    // A client may save up the requests of five seconds.
    let records: Vec<_> = (100..160).map(record).collect();
    let body = json!({ "records": records }).to_string();
    assert_eq!(
        refusal(&quotes(&peer, &body).await),
        (429, "RATE".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bytes_of_quotes_count() {
    let flags = [CHAIN, "--limit-loopback", "--max-bytes-per-second=100kB"];
    let (peer, _) = start(StubNetwork::default(), &flags).await;
    let record = |first| json!({ "address": address(first), "size": 1 });
    let records: Vec<_> = (100..116).map(record).collect();
    let body = json!({ "records": records }).to_string();
    let response = quotes(&peer, &body).await;
    // A client may save up the bytes of five seconds.
    assert!(response.body.len() > 500_000);
    let next = quotes(&peer, &body).await;
    assert_eq!(refusal(&next), (429, "RATE".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_without_the_network_says_so() {
    let network = StubNetwork {
        is_disconnected: true,
        ..StubNetwork::default()
    };
    let (peer, _) = start(network, &[CHAIN]).await;
    let body = json!({ "records": [{ "address": address(5), "size": 1 }] }).to_string();
    let response = quotes(&peer, &body).await;
    assert_eq!(refusal(&response), (503, "DISCONNECTED".to_owned()));
    assert_eq!(response.header("retry-after"), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_quotes_does_not_delay_others() {
    let network = StubNetwork {
        is_silent: true,
        ..StubNetwork::default()
    };
    let (peer, _) = start(network, &[CHAIN]).await;
    let stored = peer.store_chunk(1, 1000).await;
    let body = json!({ "records": [{ "address": address(5), "size": 1 }] }).to_string();
    let waiting = quotes(&peer, &body);
    let path = format!("/chunk/{}", stored.address());
    tokio::select! {
        response = waiting => panic!("{}", response.status),
        response = peer.get(&path) => assert_eq!(response.status, 200),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_that_wait_for_the_network_leave_memory_to_readers() {
    let network = StubNetwork {
        is_silent: true,
        ..StubNetwork::default()
    };
    let flags = [CHAIN, "--max-chunks-in-memory=8", "--request-timeout=1s"];
    let (peer, network) = start(network, &flags).await;
    let stored = peer.store_chunk(1, 1000).await;
    let path = format!("/chunk/{}", stored.address());
    let body = json!({ "records": [{ "address": address(5), "size": 1 }] }).to_string();
    let chunk = chunk(2, 1000);
    let (upload_path, upload) = (
        path_of(&chunk),
        upload_body(&plan_of(&chunk), chunk.bytes()),
    );
    let answered = AtomicUsize::new(0);
    let asking = (0..8).map(|_| async {
        let quoting = quotes(&peer, &body).inspect(|_| count(&answered));
        let storing = put(&peer, &upload_path, &upload).inspect(|_| count(&answered));
        tokio::join!(quoting, storing)
    });
    let reading = async {
        // Each of them has got a place, or was told that there is none.
        while network.asked.load(Ordering::Relaxed) + answered.load(Ordering::Relaxed) < 16 {
            sleep(Duration::from_millis(10)).await;
        }
        assert!(network.asked.load(Ordering::Relaxed) > 0);
        assert_eq!(peer.get(&path).await.status, 200);
    };
    tokio::select! {
        _ = join_all(asking) => panic!("the network is silent"),
        () = reading => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paid_chunk_reaches_the_network_whole() {
    let (peer, network) = start(StubNetwork::default(), &[CHAIN]).await;
    let chunk = chunk(1, 4_194_304);
    let body = upload_body(&plan_of(&chunk), chunk.bytes());
    let response = put(&peer, &path_of(&chunk), &body).await;
    assert_eq!(response.status, 201);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let uploads = std::mem::take(&mut *network.uploads.lock().unwrap());
    let [upload] = &uploads[..] else {
        panic!("one upload");
    };
    let paid = RecordPayment::Single {
        plan: plan_of(&chunk),
        transaction: [0x5a; 32],
    };
    assert_eq!(upload.payment, paid);
    assert!(upload.bytes == chunk.bytes());
    // The network has it, and this peer does not.
    assert_eq!(peer.store_chunks().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paid_pointer_reaches_the_network_if_its_owner_signed_it() {
    let (peer, network) = start(StubNetwork::default(), &[CHAIN]).await;
    let (public, key) = ml_dsa_65::KG::keygen_from_seed(&[1; 32]);
    let public = public.into_bytes();
    let address = Address::from(blake3::derive_key("autonomi.pointer.address.v1", &public));
    let head = [&[1][..], &public, &7_u64.to_be_bytes(), &[0], &[9; 32]].concat();
    let signed = key.try_sign_with_seed(&[0; 32], &head, b"autonomi.pointer.head.v1");
    let mut record = [&head[..], &signed.unwrap()].concat();
    let state = Address::from([6; 32]);
    let plan = plan(RecordName::Pointer { address, state }, record.len() as u32);
    let path = format!("/network/pointer/{address}");
    let response = put(&peer, &path, &upload_body(&plan, &record)).await;
    assert_eq!(response.status, 201);
    assert!(network.uploads.lock().unwrap()[0].bytes == record);
    // A plan for a pointer does not store a chunk.
    let as_chunk = format!("/network/chunk/{address}");
    let response = put(&peer, &as_chunk, &upload_body(&plan, &record)).await;
    assert_eq!(refusal(&response), (400, "BAD_PLAN".to_owned()));
    record[5000] ^= 1;
    let response = put(&peer, &path, &upload_body(&plan, &record)).await;
    assert_eq!(refusal(&response), (422, "BAD_POINTER".to_owned()));
    assert_eq!(network.uploads.lock().unwrap().len(), 1);
}

/// The longest proof: of a chunk among 256.
fn proof_of(chunk: &Chunk) -> BatchProof {
    let hash = Text(Address::from([3; 32]));
    let timestamp = now();
    BatchProof {
        address: Text(chunk.address()),
        size: chunk.bytes().len() as u32,
        timestamp,
        root: hash,
        leaf: LeafBranch {
            index: 255,
            salt: hash,
            siblings: vec![hash; 8],
        },
        pool: PaidPool {
            index: 15,
            midpoint: hash,
            siblings: vec![hash; 4],
            nodes: (1..=16).map(|node| quote(node, timestamp)).collect(),
        },
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunk_of_a_paid_tree_reaches_the_network_whole() {
    let (peer, network) = start(StubNetwork::default(), &[CHAIN]).await;
    let chunk = chunk(1, 4_194_304);
    let proof = proof_of(&chunk);
    let body = body_of(&json!({ "merkle": proof }), chunk.bytes());
    assert_eq!(put(&peer, &path_of(&chunk), &body).await.status, 201);
    let uploads = std::mem::take(&mut *network.uploads.lock().unwrap());
    let [upload] = &uploads[..] else {
        panic!("one upload");
    };
    assert_eq!(upload.payment, RecordPayment::Batch(Box::new(proof)));
    assert!(upload.bytes == chunk.bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_chunks_of_a_tree_that_do_not_match() {
    let (peer, network) = start(StubNetwork::default(), &[CHAIN]).await;
    let (right, other) = (chunk(1, 1000), chunk(2, 1000));
    let (path, proof) = (path_of(&right), proof_of(&right));
    let transaction = format!("0x{}", "5a".repeat(32));
    let plan = plan_of(&right);
    for (path, head, bytes, status, code) in [
        (&path, json!({}), &right, 400, "BAD_PLAN"),
        (&path, json!({ "merkle": null }), &right, 400, "BAD_PLAN"),
        (&path, json!({ "plan": plan }), &right, 400, "BAD_PLAN"),
        (
            &path,
            json!({ "merkle": proof, "transaction": transaction }),
            &right,
            400,
            "BAD_PLAN",
        ),
        (
            &path,
            json!({ "merkle": proof, "plan": plan, "transaction": transaction }),
            &right,
            400,
            "BAD_PLAN",
        ),
        (
            &path_of(&other),
            json!({ "merkle": proof }),
            &other,
            400,
            "BAD_PLAN",
        ),
        (
            &format!("/network/pointer/{}", right.address()),
            json!({ "merkle": proof }),
            &right,
            400,
            "BAD_PLAN",
        ),
        (&path, json!({ "merkle": proof }), &other, 422, "MISMATCH"),
        (
            &path,
            json!({ "merkle": proof }),
            &chunk(1, 999),
            422,
            "MISMATCH",
        ),
    ] {
        let response = put(&peer, path, &body_of(&head, bytes.bytes())).await;
        assert_eq!(refusal(&response), (status, code.to_owned()), "{path}");
    }
    assert_eq!(network.uploads.lock().unwrap().len(), 0);
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

async fn pools(peer: &TestPeer, body: &str) -> Response {
    let length = body.len().to_string();
    let headers = [("Content-Length", &*length)];
    let base = peer.peer.http();
    request(base, "POST", "/network/merkle", &headers, body.as_bytes()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn pools_come_in_the_order_of_the_request() {
    let (peer, _) = start(StubNetwork::default(), &[CHAIN]).await;
    let timestamp = now();
    let asked = json!({ "timestamp": timestamp, "pools": [address(9), address(2), address(8)] });
    let response = pools(&peer, &asked.to_string()).await;
    assert_eq!(response.status, 200);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let answer: Value = serde_json::from_slice(&response.body).unwrap();
    let nodes: Vec<_> = (1..=16).map(|node| quote(node, timestamp)).collect();
    assert_eq!(
        answer,
        json!({ "pools": [
            { "address": address(9), "status": "quoted", "nodes": nodes },
            { "address": address(2), "status": "unavailable", "code": "SHORTFALL" },
            { "address": address(8), "status": "quoted", "nodes": nodes },
        ] })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_other_requests_for_pools() {
    let (peer, network) = start(StubNetwork::default(), &[CHAIN]).await;
    let time = now();
    let many: Vec<_> = (10..27).map(address).collect();
    for body in [
        "".to_owned(),
        "{}".to_owned(),
        json!({ "timestamp": time, "pools": [] }).to_string(),
        json!({ "timestamp": time, "pools": many }).to_string(),
        json!({ "timestamp": time, "pools": [address(5), address(5)] }).to_string(),
        json!({ "timestamp": time, "pools": ["5"] }).to_string(),
        json!({ "timestamp": -1, "pools": [address(5)] }).to_string(),
        json!({ "timestamp": time, "pools": [address(5)], "nodes": ["/ip4/127.0.0.1"] })
            .to_string(),
    ] {
        let refused = refusal(&pools(&peer, &body).await);
        assert_eq!(refused, (400, "BAD_POOLS".to_owned()), "{body}");
    }
    for time in [0, time - 660, time + 660, u64::MAX] {
        let body = json!({ "timestamp": time, "pools": [address(5)] }).to_string();
        let refused = refusal(&pools(&peer, &body).await);
        assert_eq!(refused, (400, "BAD_TIME".to_owned()), "{body}");
    }
    let long = " ".repeat(4 * 1024 + 1);
    assert_eq!(
        refusal(&pools(&peer, &long).await),
        (413, "TOO_LARGE".to_owned())
    );
    let response = peer.get("/network/merkle").await;
    assert_eq!(refusal(&response), (405, "METHOD".to_owned()));
    assert_eq!(network.asked.load(Ordering::Relaxed), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_pool_counts_as_two_requests_and_its_bytes_count() {
    let addresses: Vec<_> = (10..26).map(address).collect();
    let body = json!({ "timestamp": now(), "pools": addresses }).to_string();
    // A client may save up the requests and the bytes of five seconds.
    let flags = [CHAIN, "--limit-loopback", "--max-requests-per-second=6"];
    let (peer, network) = start(StubNetwork::default(), &flags).await;
    assert_eq!(
        refusal(&pools(&peer, &body).await),
        (429, "RATE".to_owned())
    );
    assert_eq!(network.asked.load(Ordering::Relaxed), 0);
    let flags = [CHAIN, "--limit-loopback", "--max-bytes-per-second=300kB"];
    let (peer, _) = start(StubNetwork::default(), &flags).await;
    assert!(pools(&peer, &body).await.body.len() > 1_500_000);
    assert_eq!(
        refusal(&pools(&peer, &body).await),
        (429, "RATE".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_without_the_network_has_no_pools() {
    let network = StubNetwork {
        is_disconnected: true,
        ..StubNetwork::default()
    };
    let (peer, _) = start(network, &[CHAIN]).await;
    let body = json!({ "timestamp": now(), "pools": [address(5)] }).to_string();
    let response = pools(&peer, &body).await;
    assert_eq!(refusal(&response), (503, "DISCONNECTED".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_uploads_that_do_not_match() {
    let denied = TempDir::new().unwrap();
    let file = denied.path().join("deny.txt");
    let denied_chunk = chunk(6, 100);
    fs::write(&file, denied_chunk.address().to_string()).unwrap();
    let deny = format!("--deny-file={}", file.display());
    let (peer, network) = start(StubNetwork::default(), &[CHAIN, &deny]).await;
    let (right, other) = (chunk(1, 1000), chunk(2, 1000));
    let path = path_of(&right);
    let plan = plan_of(&right);
    let good = upload_body(&plan, right.bytes());
    let with_length = |length: u32| [&length.to_le_bytes()[..], &good[4..]].concat();
    let too_long = [&good[..], &vec![0; 4_500_000]].concat();
    for (path, body, status, code) in [
        ("/network/chunk/zz", good.clone(), 400, "BAD_ADDRESS"),
        (&path, vec![], 400, "BAD_PLAN"),
        (&path, vec![1, 0], 400, "BAD_PLAN"),
        (&path, with_length(5), 400, "BAD_PLAN"),
        (&path, with_length(1 << 30), 400, "BAD_PLAN"),
        (&path, with_length(262_145), 400, "BAD_PLAN"),
        (&path_of(&other), good.clone(), 400, "BAD_PLAN"),
        (&path, good[..good.len() - 1].to_vec(), 422, "MISMATCH"),
        (&path, upload_body(&plan, other.bytes()), 422, "MISMATCH"),
        (&path, too_long, 413, "TOO_LARGE"),
        (
            &path_of(&denied_chunk),
            upload_body(&plan_of(&denied_chunk), denied_chunk.bytes()),
            451,
            "DENIED",
        ),
    ] {
        let response = put(&peer, path, &body).await;
        assert_eq!(refusal(&response), (status, code.to_owned()));
    }
    assert_eq!(network.uploads.lock().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn tells_why_the_network_did_not_store_a_record() {
    let (peer, network) = start(StubNetwork::default(), &[CHAIN]).await;
    let chunk = chunk(1, 1000);
    let body = upload_body(&plan_of(&chunk), chunk.bytes());
    for (error, status, code) in [
        (StoreError::BadPlan, 400, "BAD_PLAN"),
        (StoreError::Mismatch, 422, "MISMATCH"),
        (StoreError::Unpaid, 402, "UNPAID"),
        (StoreError::QuoteExpired, 410, "QUOTE_EXPIRED"),
        (StoreError::Outdated, 409, "OUTDATED"),
        (StoreError::Shortfall, 503, "SHORTFALL"),
        (StoreError::Disconnected, 503, "DISCONNECTED"),
    ] {
        *network.store_error.lock().unwrap() = Some(error);
        let response = put(&peer, &path_of(&chunk), &body).await;
        assert_eq!(refusal(&response), (status, code.to_owned()));
        let may_retry = response.header("retry-after").is_some();
        assert_eq!(may_retry, status == 503, "{code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_may_read_may_upload_what_they_paid_for() {
    let flags = [CHAIN, "--allow-origin=https://a.example"];
    let (peer, _) = start(StubNetwork::default(), &flags).await;
    for (origin, allowed) in [
        ("https://a.example", Some("https://a.example")),
        ("https://b.example", None),
    ] {
        let headers = [("Origin", origin), ("Access-Control-Request-Method", "PUT")];
        let path = path_of(&chunk(1, 10));
        let response = request(peer.peer.http(), "OPTIONS", &path, &headers, b"").await;
        assert_eq!(response.status, 204);
        assert_eq!(response.header("access-control-allow-origin"), allowed);
        let methods = response.header("access-control-allow-methods");
        assert_eq!(methods, Some("GET, HEAD, POST, PUT"));
    }
    // Its own store stays closed.
    let headers = [
        ("Origin", "https://b.example"),
        ("Access-Control-Request-Method", "PUT"),
    ];
    let response = request(peer.peer.http(), "OPTIONS", "/chunk/x", &headers, b"").await;
    let methods = response.header("access-control-allow-methods");
    assert_eq!(methods, Some("GET, HEAD"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_may_not_read_cause_no_work() {
    let flags = [CHAIN, "--allow-origin=https://a.example"];
    let (peer, network) = start(StubNetwork::default(), &flags).await;
    let base = peer.peer.http();
    let body = json!({ "records": [{ "address": address(5), "size": 1 }] }).to_string();
    let length = body.len().to_string();
    let quotes_for = async |origin: &str| {
        let headers = [("Content-Length", &*length), ("Origin", origin)];
        request(base, "POST", "/network/quotes", &headers, body.as_bytes()).await
    };
    // Browsers send such a request without a preflight.
    let refused = quotes_for("https://b.example").await;
    assert_eq!(refusal(&refused), (403, "FORBIDDEN".to_owned()));
    let asked = json!({ "timestamp": now(), "pools": [address(5)] }).to_string();
    let length = asked.len().to_string();
    let headers = [
        ("Content-Length", &*length),
        ("Origin", "https://b.example"),
    ];
    let refused = request(base, "POST", "/network/merkle", &headers, asked.as_bytes()).await;
    assert_eq!(refusal(&refused), (403, "FORBIDDEN".to_owned()));
    let chunk = chunk(1, 1000);
    let upload = upload_body(&plan_of(&chunk), chunk.bytes());
    let headers = [("Origin", "https://b.example")];
    let refused = request(base, "PUT", &path_of(&chunk), &headers, &upload).await;
    assert_eq!(refusal(&refused), (403, "FORBIDDEN".to_owned()));
    let path = format!("/network/pointer/{}", address(5));
    let refused = request(base, "GET", &path, &headers, b"").await;
    assert_eq!(refusal(&refused), (403, "FORBIDDEN".to_owned()));
    assert_eq!(network.asked.load(Ordering::Relaxed), 0);
    // The second one is the peer's own page.
    for origin in ["https://a.example", base] {
        assert_eq!(quotes_for(origin).await.status, 200, "{origin}");
    }
}
