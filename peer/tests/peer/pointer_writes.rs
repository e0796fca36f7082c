//! Writing pointer records.

use crate::http::{Response, request};
use crate::test_peer::TestPeer;
use antway_peer::address::Address;
use fips204::ml_dsa_65::{self, PrivateKey};
use fips204::traits::{KeyGen, SerDes, Signer};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const LAST: u64 = u64::MAX;

/// An owner who signs states of a pointer. The seed of the fixtures' first owner is 1.
pub struct Owner {
    public: Vec<u8>,
    key: PrivateKey,
}

impl Owner {
    pub fn new(seed: u8) -> Self {
        let (public, key) = ml_dsa_65::KG::keygen_from_seed(&[seed; 32]);
        Self {
            public: public.into_bytes().to_vec(),
            key,
        }
    }

    pub fn address(&self) -> Address {
        blake3::derive_key("autonomi.pointer.address.v1", &self.public).into()
    }

    fn path(&self) -> String {
        format!("/pointer/{}", self.address())
    }

    pub fn sign(&self, counter: u64, kind: u8, target: u8) -> Vec<u8> {
        let head = [
            &[1][..],
            &self.public,
            &counter.to_be_bytes(),
            &[kind],
            &[target; 32],
        ]
        .concat();
        let context = b"autonomi.pointer.head.v1";
        let signed = self.key.try_sign_with_seed(&[0; 32], &head, context);
        [&head[..], &signed.unwrap()].concat()
    }
}

async fn put(peer: &TestPeer, path: &str, record: &[u8]) -> Response {
    request(peer.peer.http(), "PUT", path, &[], record).await
}

async fn refusal(peer: &TestPeer, path: &str, record: &[u8]) -> (u16, String) {
    let response = put(peer, path, record).await;
    (response.status, response.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_a_pointer_of_the_networks_own_software() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/self-encryption");
    let record =
        |counter: u64| fs::read(fixtures.join(format!("pointer-s1-c{counter}.bin"))).unwrap();
    let path = Owner::new(1).path();
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    for counter in [0, 7, LAST] {
        let response = put(&peer, &path, &record(counter)).await;
        assert_eq!(response.status, 201, "{counter}");
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert!(peer.get(&path).await.body == record(counter));
        assert_eq!(put(&peer, &path, &record(counter)).await.status, 200);
    }
    let outdated = (409, "OUTDATED".to_owned());
    assert_eq!(refusal(&peer, &path, &record(7)).await, outdated);
    // A pointer is no chunk.
    assert_eq!(peer.store_chunks().await, 0);

    let folder = peer.stop().await;
    let peer = TestPeer::start_in(folder, &["--allow-open-writes"]).await;
    assert!(peer.get(&path).await.body == record(LAST));
    assert_eq!(refusal(&peer, &path, &record(7)).await, outdated);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replaces_a_record_only_by_a_larger_counter() {
    let owner = Owner::new(5);
    let path = owner.path();
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    assert_eq!(put(&peer, &path, &owner.sign(5, 0, 5)).await.status, 201);
    for (what, record) in [
        ("a replayed smaller counter", owner.sign(4, 0, 9)),
        ("the smallest counter", owner.sign(0, 0, 5)),
        ("the same counter, a larger target", owner.sign(5, 0, 6)),
        ("the same counter, a smaller target", owner.sign(5, 0, 4)),
        ("the same counter, another kind", owner.sign(5, 1, 5)),
    ] {
        let refused = refusal(&peer, &path, &record).await;
        assert_eq!(refused, (409, "OUTDATED".to_owned()), "{what}");
    }
    assert_eq!(put(&peer, &path, &owner.sign(6, 1, 1)).await.status, 201);
    assert_eq!(put(&peer, &path, &owner.sign(LAST, 0, 2)).await.status, 201);
    let refused = refusal(&peer, &path, &owner.sign(LAST, 0, 1)).await;
    assert_eq!(refused, (409, "OUTDATED".to_owned()), "a frozen pointer");
    assert!(peer.get(&path).await.body == owner.sign(LAST, 0, 2));
    let metric = r#"antway_peer_refused_writes_total{transport="http",reason="outdated"}"#;
    assert_eq!(peer.metric(metric).await, 6);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_records_that_the_owner_did_not_sign() {
    let [owner, other] = [5, 6].map(Owner::new);
    let path = owner.path();
    let record = owner.sign(5, 0, 5);
    let changed = |at: usize| {
        let mut record = record.clone();
        record[at] ^= 1;
        record
    };
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    for (what, record) in [
        ("no bytes", vec![]),
        ("a byte less", record[..record.len() - 1].to_vec()),
        ("another version", changed(0)),
        ("another key", changed(1)),
        ("another counter", changed(1960)),
        ("another target", changed(1993)),
        ("a wrong signature", changed(1994)),
        ("the pointer of another owner", other.sign(9, 0, 5)),
        ("a kind that is not known", owner.sign(5, 2, 5)),
    ] {
        let refused = refusal(&peer, &path, &record).await;
        assert_eq!(refused, (422, "BAD_POINTER".to_owned()), "{what}");
    }
    let large = [&record[..], b"x"].concat();
    let too_large = (413, "TOO_LARGE".to_owned());
    assert_eq!(refusal(&peer, &path, &large).await, too_large);
    let chunked = [b"14b8\r\n", &large[..], b"\r\n0\r\n\r\n"].concat();
    let headers = [("Transfer-Encoding", "chunked")];
    let response = request(peer.peer.http(), "PUT", &path, &headers, &chunked).await;
    assert_eq!((response.status, response.code()), too_large);
    let bad_address = (400, "BAD_ADDRESS".to_owned());
    assert_eq!(refusal(&peer, "/pointer/x", &record).await, bad_address);
    assert_eq!(peer.get(&path).await.status, 404);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_pointers_only_of_clients_that_may_write() {
    let owner = Owner::new(5);
    let (path, record) = (owner.path(), owner.sign(5, 0, 5));
    let closed = TestPeer::start(&[]).await;
    let forbidden = (403, "FORBIDDEN".to_owned());
    assert_eq!(refusal(&closed, &path, &record).await, forbidden);
    closed.stop().await;

    let peer = TestPeer::start(&["--write-token=top-secret"]).await;
    let unauthorized = (401, "UNAUTHORIZED".to_owned());
    assert_eq!(refusal(&peer, &path, &record).await, unauthorized);
    let right = [("Authorization", "Bearer top-secret")];
    let response = request(peer.peer.http(), "PUT", &path, &right, &record).await;
    assert_eq!(response.status, 201);
    peer.stop().await;

    let open = TestPeer::start(&["--allow-open-writes"]).await;
    for origin in ["https://site.example", "null"] {
        let headers = [("Origin", origin)];
        let response = request(open.peer.http(), "PUT", &path, &headers, &record).await;
        assert_eq!((response.status, response.code()), forbidden, "{origin}");
    }
    open.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replaces_a_damaged_record() {
    let owner = Owner::new(5);
    let folder = TempDir::new().unwrap();
    let pointers = folder.path().join("store/pointers");
    fs::create_dir_all(&pointers).unwrap();
    let name = owner.path().replace("/pointer/", "");
    fs::write(pointers.join(name), b"damaged").unwrap();
    let peer = TestPeer::start_in(folder, &["--allow-open-writes"]).await;
    assert_eq!(
        put(&peer, &owner.path(), &owner.sign(1, 0, 1)).await.status,
        201
    );
    assert_eq!(peer.get(&owner.path()).await.status, 200);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_leave_the_largest_counter() {
    let owner = Owner::new(5);
    let path = owner.path();
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    let records: Vec<_> = (1..=8).map(|counter| owner.sign(counter, 0, 1)).collect();
    let writes = records.iter().map(|record| put(&peer, &path, record));
    for response in futures_util::future::join_all(writes).await {
        assert!([201, 409].contains(&response.status));
    }
    assert!(peer.get(&path).await.body == records[7]);
    peer.stop().await;
}
